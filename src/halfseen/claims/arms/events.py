"""Claims about the two failure events for arms, and the remark on other tails."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from halfseen.censorship import PerArm
from halfseen.claims.claim import REFUTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.intervals import frequency
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.walks import excursion_probability, shortfall_probability
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.theory import censoring_failure_probability, optimism_failure_probability

ARMS = "arms"
TAIL_ORDERS = (0.5, 1.0, 2.0, 3.0)


@claim(
    "optimism-arms",
    place="Lemma B.1",
    family=ARMS,
    says="The probability that some mean ever leaves its confidence interval is at most 2d/T².",
    how=(
        "UCB on two equal arms, λ = 0.01, so few rounds that the event occurs: its frequency. The"
        " search is over p, λ and T."
    ),
)
def optimism_arms(lab: Laboratory) -> Evidence:
    """Count failures of optimism at horizons where the bound is not tiny."""
    horizons, runs = (3, 5, 8, 12, 20), lab.size(100_000, 2_000_000)
    found, proved = [], []
    for horizon in horizons:
        played = lab.play(ArmedBandit([0.0, 0.0]), PerArm([1.0, 0.9]), UCB(0.01), horizon, runs)
        found.append(frequency(played.failed("optimism")))
        proved.append(optimism_failure_probability(2, horizon))
    rows = [
        Comparison(f"T = {horizon}", seen, "at most", limit)
        for horizon, seen, limit in zip(horizons, found, proved, strict=True)
    ]
    lines = (
        Line("measured", horizons, [f.value for f in found], [f.half for f in found]),
        Line("2d/T²", horizons, proved, claimed=True),
    )
    curve = Curve("Optimism fails", "rounds", "probability", lines, log_upwards=True)
    rows.append(_closest_optimism(lab))
    return Evidence(tuple(rows), curve=curve)


def _closest_optimism(lab: Laboratory) -> Comparison:
    """Search for the p, lambda and horizon at which optimism fails closest to its bound."""

    def measure(point: Point, where: Laboratory, runs: int) -> Comparison:
        first, second, lam, horizon = (point[name] for name in ("p", "p2", "lam", "T"))
        problem, observe = ArmedBandit([0.0, 0.0]), PerArm([first, second])
        played = where.play(problem, observe, UCB(lam), int(horizon), runs)
        words = f"p = ({first:.2g}, {second:.2g}), λ = {lam:.2g}, T = {horizon:g}"
        limit = optimism_failure_probability(2, horizon)
        return Comparison(words, frequency(played.failed("optimism")), "at most", limit)

    axes = (
        Axis("p", 0.3, 1.0),
        Axis("p2", 0.3, 1.0),
        Axis("lam", 1e-4, 1.0, log=True),
        Axis("T", 3, 20, whole=True),
    )
    other = lab.elsewhere()
    return closest(
        lambda point: measure(point, other, lab.size(20_000, 100_000)),
        axes,
        lab.size(24, 60),
        lab.seed,
        confirm=lambda point: measure(point, lab, lab.size(100_000, 2_000_000)),
    )


def _missing(observe: float, horizon: int, delta: float, plays: int) -> float:
    """Return the exact probability of the censoring event for an arm played `plays` times."""
    rounds = np.arange(1, plays + 1)
    start = 24.0 * math.log(horizon) / observe + 1.0
    least = np.where(rounds >= start, (1.0 - delta) * observe * rounds, -np.inf)
    return shortfall_probability(observe, least)


@claim(
    "censoring-arms",
    place="Lemma B.2",
    family=ARMS,
    says=(
        "After an arm was played 24 log T/p + 1 times, the probability that at any time fewer than"
        " a share (1−δ)p of its rewards were observed is at most 4 d_eff/δ² · T^(−12δ²)."
    ),
    how=(
        "One arm played throughout, or two and three in turn: exact probability by recursion, for"
        " several p, δ and T. The search is over p of every arm, δ, T and the number of arms."
    ),
)
def censoring_arms(lab: Laboratory) -> Evidence:
    """Compare the exact probability of the event with its bound."""
    rows = []
    for horizon in (200, 500, lab.size(1000, 4000)):
        for observe in ((0.2,), (0.5,), (0.9,), (0.9, 0.5), (0.9, 0.9, 0.9)):
            for delta in (0.2, 0.3, 0.5):
                one = _late_shortfall(observe, horizon, delta)
                if one is not None:
                    rows.append(one)
    most = lab.size(2500, 8000)
    axes = (
        Axis("p", 0.05, 1.0, log=True),
        Axis("p2", 0.1, 1.0, log=True),
        Axis("δ", 0.2, 0.4),
        Axis("T", 500, most, log=True, whole=True),
        Axis("d", 1, 3, whole=True),
    )
    rows.append(
        closest(
            lambda at: _late_shortfall(
                (at["p"], at["p2"], at["p2"])[: int(at["d"])], int(at["T"]), at["δ"]
            ),
            axes,
            lab.size(80, 600),
            lab.seed,
        )
    )
    return Evidence(tuple(rows))


def _late_shortfall(observe: Sequence[float], horizon: int, delta: float) -> Comparison | None:
    """Compare the probability of the event with its bound; None where either is trivial.

    The arms are played in turn, and their observations are independent.
    """
    limit = 2.0 * censoring_failure_probability(list(observe), horizon, delta=delta)
    each = horizon // len(observe)
    if limit >= 1.0 or 24.0 * math.log(horizon) / max(observe) + 1.0 > each:
        return None
    kept = math.prod(1.0 - _missing(p, horizon, delta, each) for p in observe)
    words = ", ".join(f"{p:.3g}" for p in observe)
    where = f"p = ({words}), δ = {delta:.3g}, T = {horizon:,}"
    return Comparison(where, Measured(1.0 - kept), "at most", limit)


def _deviates(order: float, horizon: int) -> float:
    """Return the exact probability that fair signs leave the interval of the remark."""
    variance = 0.5 / math.log(2.0)  # the smallest σ² with P(ε ≥ x) ≤ exp(−x^(1+q)/2σ²)
    counts = np.arange(1.0, horizon + 1.0)
    inside = 6.0 * variance * (counts + 1.0) * math.log(horizon)
    return excursion_probability(inside ** (1.0 / (1.0 + order)))


@claim(
    "tails",
    place="Remark 2",
    family=ARMS,
    says=(
        "With noise of tails exp(−x^(1+q)/2σ²), widths (6σ² log T)^(1/(1+q)) N^(−q/(1+q)) fail"
        " with probability at most 2d/T², for every q > 0."
    ),
    how="One arm, noise ±1, everything observed: exact probability by recursion, for four q.",
    expected=REFUTED,
    erratum="tails",
)
def tails(lab: Laboratory) -> Evidence:
    """Compute how often bounded noise leaves the interval, which shrinks too fast."""
    horizon = lab.size(1000, 3000)
    limit = optimism_failure_probability(1, horizon)
    rows = [
        Comparison(
            f"q = {order:g}, T = {horizon:,}", Measured(_deviates(order, horizon)), "at most", limit
        )
        for order in TAIL_ORDERS
    ]
    horizons = (10, 30, 100, 300, 1000)
    lines = [
        Line(f"q = {order:g}", horizons, [_deviates(order, t) for t in horizons])
        for order in (2.0, 3.0)
    ]
    bound = Line("2d/T²", horizons, [2.0 / t**2 for t in horizons], claimed=True)
    curve = Curve("The interval fails", "rounds", "probability", (*lines, bound), log_upwards=True)
    return Evidence(tuple(rows), curve=curve)
