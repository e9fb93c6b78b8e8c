"""Claims about what watching the censoring is worth; all computed exactly."""

from __future__ import annotations

import numpy as np

from halfseen.claims.arms_events import ARMS
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.laboratory import Laboratory
from halfseen.theory import (
    adaptive_potential,
    adaptivity_constant,
    effective_dimension,
    monitoring_constant,
    offline_potential,
    single_monitoring_potential,
)
from halfseen.theory.inverse_moments import InverseMoments
from halfseen.theory.power_sums import power_integral

OBSERVES = ((0.1, 0.5, 0.9), (0.3, 0.7), (0.5, 0.5))
ORDERS = (0.5, 1.0)


@claim(
    "inverse-moments",
    place="Claim “concentration Bin”",
    family=ARMS,
    says="E (X+λ)^−α ≤ (1 + C/(np)^(1/4)) (np+λ)^−α for X binomial and some C.",
    how="Exact moments: the exponent of n in the relative excess is at most −1/4 (it is −1).",
)
def inverse_moments(lab: Laboratory) -> Evidence:
    """Fit how fast the excess over the moment at the mean vanishes."""
    rows = []
    trials = np.array([10_000.0, 40_000.0])
    for observe in (0.05, 0.5):
        for alpha in ORDERS:
            p, lam = np.array([observe]), np.array([1.0])
            moments = InverseMoments(p, lam, alpha, 50_000)
            values = moments.started(0, np.zeros(1), trials)[0]
            excess = values * (observe * trials + 1.0) ** alpha - 1.0
            slope = float(np.log(excess[1] / excess[0]) / np.log(trials[1] / trials[0]))
            where = f"p = {observe:g}, α = {alpha:g}"
            rows.append(Comparison(where, Measured(slope), "at most", -0.25))
    return Evidence(tuple(rows))


@claim(
    "offline-equivalent",
    place="Lemma “asympt_off”",
    family=ARMS,
    says="The best offline potential is equivalent to d_eff ψ(T/d_eff + λ).",
    how="Exact offline optimum: its growth from T to 4T over that of the equivalent tends to 1.",
)
def offline_equivalent(lab: Laboratory) -> Evidence:
    """Divide increments, which forget the constants that vanish only like 1/log T."""
    rows, first = [], lab.size(25_000, 250_000)
    for observe in OBSERVES:
        dimension = effective_dimension(observe)
        for alpha in ORDERS:
            low, high = (
                offline_potential(observe, t, alpha, 1.0).value for t in (first, 4 * first)
            )
            start, length = first / dimension + 1.0, 3.0 * first / dimension
            grown = dimension * float(power_integral(np.array(start), np.array(length), alpha))
            where = f"p = {observe}, α = {alpha:g}, T = {first:,}"
            found = Measured((high - low) / grown)
            rows.append(Comparison(where, found, "equals", 1.0, 0.01))
    return Evidence(tuple(rows))


@claim(
    "adaptivity-gain",
    place="Proposition “Monitoring AG”, (⋆)",
    family=ARMS,
    says="Watching the censoring all along gains γ_α(p)/T^α over the best offline policy.",
    how="Exact adaptive and offline optimum: their difference times T^α over γ tends to 1.",
)
def adaptivity_gain(lab: Laboratory) -> Evidence:
    """Measure the gain of full adaptivity."""
    rows, lines = [], []
    horizons = (1000, 3000, 10_000, 30_000, *lab.size((), (100_000,)))
    for observe in OBSERVES:
        for alpha in ORDERS:
            gains = [
                (
                    adaptive_potential(observe, t, alpha, 1.0)
                    - offline_potential(observe, t, alpha, 1.0).value
                )
                * t**alpha
                / adaptivity_constant(observe, alpha)
                for t in horizons
            ]
            where = f"p = {observe}, α = {alpha:g}, T = {horizons[-1]:,}"
            rows.append(Comparison(where, Measured(gains[-1]), "equals", 1.0, 0.01))
            if alpha == 1.0:
                lines.append(Line(f"p = {observe}", horizons, [abs(1.0 - g) for g in gains]))
    title = "How far gain · T over γ is from 1, α = 1"
    curve = Curve(title, "rounds", "distance", tuple(lines), log_upwards=True)
    return Evidence(tuple(rows), curve=curve)


@claim(
    "single-monitoring",
    place="Proposition “Monitoring AG”, (⋆⋆)",
    family=ARMS,
    says="One look after βT rounds gains βγ_α(p)/T^α.",
    right="It gains what a fractional knapsack over the arms does; βγ only if all p are equal.",
    how="Two arms, T = 1000: every first allocation and every answer to every outcome, exactly.",
    expected=CORRECTED,
    erratum="monitoring",
)
def single_monitoring(lab: Laboratory) -> Evidence:
    """Try all ways to use one look."""
    printed, right, gains, horizon = [], [], {}, 1000
    shown, shares = (0.1, 0.5), (0.03, 0.1, 0.3, 0.5, 0.7, 0.9)
    for observe, looks in (((0.02, 0.5), shares[:1]), (shown, shares), ((0.2, 0.8), shares)):
        before = offline_potential(observe, horizon, 1.0, 1.0).value
        for share in looks:
            look = single_monitoring_potential(observe, horizon, 1.0, 1.0, share)
            gain = (look.value - before) * horizon
            gains[observe, share] = gain
            constant = monitoring_constant(observe, 1.0, share)
            where = f"p = {observe}, β = {share:g}"
            found = Measured(gain)
            printed.append(Comparison(where, found, "equals", constant.papers_claim, 0.08))
            right.append(Comparison(where, found, "equals", constant.value, 0.08))
    constants = [monitoring_constant(shown, 1.0, share) for share in shares]
    lines = (
        Line("exact", shares, [gains[shown, share] for share in shares]),
        Line("printed", shares, [c.papers_claim for c in constants], claimed=True),
        Line("right", shares, [c.value for c in constants], claimed=True),
    )
    curve = Curve("Gain of one look · T, p = (0.1, 0.5)", "share β", "gain", lines, False)
    return Evidence(tuple(printed), tuple(right), curve)
