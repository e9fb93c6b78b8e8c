"""Claims about how the regret of UCB scales, as fitted exponents and ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from halfseen.censorship import PerArm, Uniform
from halfseen.checks import Vector
from halfseen.claims.arms.events import ARMS
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, claim
from halfseen.claims.intervals import exponent, independent_ratio, mean
from halfseen.claims.laboratory import Laboratory
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.theory import instance_dimension

GAPS = (1.5, 2.0, 2.5, 3.0, 4.0)  # gaps in units of sqrt(d_eff log T / T)


def worst_gap(lab: Laboratory, observe: float, horizon: int, runs: int) -> Vector:
    """Return the regret of UCB on two arms with the gap at which it is largest."""
    unit = math.sqrt(2.0 / observe * math.log(horizon) / horizon)
    played = [
        lab.play(
            ArmedBandit([0.5 * factor * unit, -0.5 * factor * unit]),
            Uniform(observe),
            UCB(0.1),
            horizon,
            runs,
        ).regret
        for factor in GAPS
    ]
    return max(played, key=lambda regret: float(regret.mean()))


def _drawn(
    title: str, across: str, x: Sequence[float], samples: list[Vector], slopes: dict[str, float]
) -> Curve:
    """Return the measured points and a line of each slope through their middle."""
    points = [mean(s) for s in samples]
    lines = [Line("measured", x, [p.value for p in points], [p.half for p in points])]
    logs = np.log(np.array(x, dtype=float))
    height = float(np.mean(np.log([p.value for p in points])))
    for name, slope in slopes.items():
        y = np.exp(height + slope * (logs - logs.mean())).tolist()
        lines.append(Line(name, x, y, claimed=True))
    return Curve(title, across, "regret", tuple(lines), log_upwards=True)


@claim(
    "scaling-dimension",
    place="Summary of results",
    family=ARMS,
    says="The regret scales like d_eff √T: with the first power of the effective dimension.",
    right="Like √(d_eff T), as the theorem says: with its square root.",
    how="UCB on two arms at the worst gap, d_eff from 2 to 200 at fixed T: fitted exponent.",
    expected=CORRECTED,
    erratum="summary",
)
def scaling_dimension(lab: Laboratory) -> Evidence:
    """Fit the exponent of the effective dimension in the worst-case regret."""
    horizon, runs = lab.size(30_000, 100_000), lab.size(600, 1500)
    rates = (1.0, 0.3, 0.1, 0.03, 0.01)
    samples = [worst_gap(lab, p, horizon, runs) for p in rates]
    sizes = [2.0 / p for p in rates]
    found = exponent(sizes, samples)
    where = f"d_eff = 2 to 200, T = {horizon:,}"
    printed = Comparison(where, found, "equals", 1.0, 0.05)
    right = Comparison(where, found, "equals", 0.5, 0.05)
    slopes = {"d_eff": 1.0, "√d_eff": 0.5}
    curve = _drawn("Regret at the worst gap", "effective dimension", sizes, samples, slopes)
    return Evidence((printed,), (right,), curve)


@claim(
    "scaling-horizon",
    place="Theorem 3.1, rate",
    family=ARMS,
    says="The worst-case regret grows like √T, up to the square root of a logarithm.",
    how="UCB on two arms at the worst gap, d_eff = 20: exponent of T in regret/√log T.",
)
def scaling_horizon(lab: Laboratory) -> Evidence:
    """Fit the exponent of the horizon in the worst-case regret."""
    horizons = lab.size(
        (1000, 3000, 10_000, 30_000, 100_000), (1000, 5000, 25_000, 125_000, 600_000)
    )
    runs = lab.size(600, 1500)
    samples = [worst_gap(lab, 0.1, t, runs) for t in horizons]
    scaled = [s / math.sqrt(math.log(t)) for s, t in zip(samples, horizons, strict=True)]
    found = exponent(horizons, scaled)
    where = f"T = {horizons[0]:,} to {horizons[-1]:,}"
    curve = _drawn("Regret at the worst gap", "rounds", horizons, samples, {"√T": 0.5})
    return Evidence((Comparison(where, found, "equals", 0.5, 0.05),), curve=curve)


@claim(
    "scaling-instance",
    place="Proposition 3.2, rate",
    family=ARMS,
    says="At fixed gaps the regret is at most a constant times log T · Σ σ_a²/(p_a Δ_a).",
    how="UCB on three arms, rounds up to 10⁷: the constant stays below 24, and tends to 6.",
)
def scaling_instance(lab: Laboratory) -> Evidence:
    """Divide the regret by its claimed growth."""
    problem, observe = ArmedBandit([0.5, 0.0, -0.5], noise=0.5), PerArm([0.02, 0.1, 0.3])
    size = instance_dimension(problem, observe)
    horizons = (10**4, 10**5, 10**6, 10**7)
    runs = lab.size(100, 1000)
    found = [
        mean(lab.play(problem, observe, UCB(0.1), t, runs).regret / (math.log(t) * size))
        for t in horizons
    ]
    rows = [
        Comparison(f"T = {t:,}", seen, "at most", 24.0)
        for t, seen in zip(horizons, found, strict=True)
    ]
    rows.append(Comparison("T = 10,000,000, the limit", found[-1], "equals", 6.0, 0.08))
    lines = (
        Line("measured", horizons, [f.value for f in found], [f.half for f in found]),
        Line("bound’s constant, 24", horizons, [24.0] * 4, claimed=True),
        Line("limit, 6", horizons, [6.0] * 4, claimed=True),
    )
    title = "Regret over log T · Σ σ²/(pΔ)"
    return Evidence(tuple(rows), curve=Curve(title, "rounds", "constant", lines))


@claim(
    "arm-splitting",
    place="Section 3.1",
    family=ARMS,
    says="At first order the regret is that of the uncensored problem with d_eff arms.",
    how="p = 1/3 against three copies of every arm, the best included: ratio of the regrets.",
)
def arm_splitting(lab: Laboratory) -> Evidence:
    """Compare a censored problem with its uncensored copy."""
    means, horizon, runs = [0.5, 0.3, 0.1], 20_000, lab.size(1500, 20_000)
    censored = lab.play(ArmedBandit(means), Uniform(1 / 3), UCB(), horizon, runs)
    copies = ArmedBandit(np.repeat(means, 3).tolist())
    split = lab.play(copies, Uniform(1.0), UCB(), horizon, runs)
    found = independent_ratio(censored.regret, split.regret)
    return Evidence((Comparison(f"T = {horizon:,}", found, "equals", 1.0, 0.03),))
