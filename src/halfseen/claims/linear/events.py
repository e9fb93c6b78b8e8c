"""Claims about the two failure events for linear bandits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from halfseen.censorship import Uniform
from halfseen.claims.claim import CORRECTED, Comparison, Evidence, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.intervals import frequency
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.walks import shortfall_probability
from halfseen.policies import LinUCB
from halfseen.problems import FiniteActions, LinearBandit
from halfseen.theory import censoring_factor, papers_censoring_factor

LINEAR = "linear bandits"
ACTIONS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6]]
DELTAS = (0.5, 0.2, 0.05)


def _escapes(lab: Laboratory, noise: float, delta: float, observe: float) -> Measured:
    """Return how often the ellipsoid of LinUCB misses a tiny theta."""
    problem = LinearBandit([1e-3, 0.0], noise, FiniteActions(ACTIONS))
    played = lab.play(problem, Uniform(observe), LinUCB(delta=delta), 300, lab.size(4000, 100_000))
    return frequency(played.failed("optimism"))


@claim(
    "optimism-linear",
    place="Lemma C.1",
    family=LINEAR,
    says="The confidence ellipsoid ever misses θ with probability at most δ.",
    how=(
        "LinUCB on four actions in the plane, δ = 0.5, 0.2, 0.05, p = 1 or 0.3: frequency. The"
        " search is over δ, p, λ, σ, T and the angle between two actions."
    ),
)
def optimism_linear(lab: Laboratory) -> Evidence:
    """Count the runs in which the ellipsoid misses."""
    rows = [
        Comparison(
            f"δ = {delta:g}, p = {observe:g}", _escapes(lab, 1.0, delta, observe), "at most", delta
        )
        for delta in DELTAS
        for observe in (1.0, 0.3)
    ]
    return Evidence((*rows, _closest_escape(lab)))


def _closest_escape(lab: Laboratory) -> Comparison:
    """Search for two actions in the plane whose ellipsoid fails most often relative to δ."""

    def measure(at: Point, where: Laboratory, runs: int) -> Comparison:
        actions = [[1.0, 0.0], [math.cos(at["angle"]), math.sin(at["angle"])]]
        problem = LinearBandit([1e-6, 0.0], at["σ"], FiniteActions(actions))
        policy = LinUCB(at["λ"], delta=at["δ"])
        played = where.play(problem, Uniform(at["p"]), policy, int(at["T"]), runs)
        found = frequency(played.failed("optimism"))
        words = f"angle {math.degrees(at['angle']):.0f}°, λ = {at['λ']:.2g}, σ = {at['σ']:.2g}"
        words += f", δ = {at['δ']:.2g}, p = {at['p']:.2g}, T = {at['T']:g}"
        return Comparison(words, found, "at most", at["δ"])

    axes = (
        Axis("angle", 0.1, math.pi / 2),
        Axis("λ", 1e-3, 10.0, log=True),
        Axis("σ", 0.1, 10.0, log=True),
        Axis("δ", 0.05, 0.5),
        Axis("p", 0.2, 1.0),
        Axis("T", 1, 300, log=True, whole=True),
    )
    other = lab.elsewhere()
    return closest(
        lambda point: measure(point, other, lab.size(500, 5000)),
        axes,
        lab.size(24, 120),
        lab.seed,
        confirm=lambda point: measure(point, lab, lab.size(4000, 100_000)),
    )


@claim(
    "optimism-linear-proof",
    place="Lemma C.1, proof",
    family=LINEAR,
    says="With probability 1−δ the noise term is at most σ² log(det W/det λI) + 2 log(1/δ).",
    right="The last term is 2σ² log(1/δ), as in the lemma itself.",
    how="The same with σ = 3 and δ = 0.05: widths with and without σ² in the last term.",
    expected=CORRECTED,
    erratum="optimism-linear-proof",
)
def optimism_linear_proof(lab: Laboratory) -> Evidence:
    """Omit σ², which is equivalent to replacing δ by δ to the power 1/σ²."""
    noise, delta = 3.0, 0.05
    where = f"σ = {noise:g}, δ = {delta:g}, p = 0.3"
    printed = _escapes(lab, noise, delta ** (1.0 / noise**2), 0.3)
    right = _escapes(lab, noise, delta, 0.3)
    return Evidence(
        (Comparison(where, printed, "at most", delta),),
        (Comparison(where, right, "at most", delta),),
    )


Factor = Callable[[int, float, float], float]


def _falls_behind(lab: Laboratory, factor: Factor) -> tuple[Comparison, ...]:
    """Compute the exact probability that a coordinate falls behind when they are played in turn."""
    horizon = lab.size(600, 3000)
    rows = [
        _shortfall(factor, dimension, lam, delta, observe, horizon)
        for dimension in (1, 3)
        for lam in (0.3, 1.0, 10.0)
        for delta in DELTAS
        for observe in (0.05, 0.5)
    ]
    axes = (
        Axis("d", 1, 20, whole=True),
        Axis("λ", 0.02, 30.0, log=True),
        Axis("δ", 0.01, 0.5, log=True),
        Axis("p", 0.01, 1.0, log=True),
    )

    def measure(at: Point) -> Comparison:
        return _shortfall(factor, int(at["d"]), at["λ"], at["δ"], at["p"], horizon)

    return (*rows, closest(measure, axes, lab.size(100, 300), lab.seed))


def _shortfall(
    factor: Factor, dimension: int, lam: float, delta: float, observe: float, horizon: int
) -> Comparison:
    """Compare the exact probability that some coordinate falls behind with δ."""
    rounds = np.arange(1.0, horizon + 1.0)
    least = (lam + observe * rounds) / factor(dimension, lam, delta) - lam
    once = min(shortfall_probability(observe, least - 1e-9), 1.0 - 1e-16)
    some = -math.expm1(dimension * math.log1p(-once))
    where = f"d = {dimension}, λ = {lam:.3g}, δ = {delta:.3g}, p = {observe:.3g}"
    return Comparison(where, Measured(some), "at most", delta)


@claim(
    "censoring-linear",
    place="Lemma C.2",
    family=LINEAR,
    says="P(the observed design ever falls below W/c) ≤ δ for c = 8 max(log(d/δ)/λ, 1).",
    how=(
        "Coordinates played in turn: exact probability by recursion for 36 choices of d, λ, δ, p."
        " The search is over all four."
    ),
)
def censoring_linear(lab: Laboratory) -> Evidence:
    """Compare the exact probability with δ for the paper's factor."""
    return Evidence(_falls_behind(lab, papers_censoring_factor))


@claim(
    "censoring-linear-sharp",
    place="new",
    family=LINEAR,
    says="The same with c = θ/(1−e^−θ), θ − 1 + e^−θ = log(d/δ)/λ, which is smaller.",
    how="The same 36 choices, and the same search.",
)
def censoring_linear_sharp(lab: Laboratory) -> Evidence:
    """Compare the exact probability with δ for the smaller factor."""
    return Evidence(_falls_behind(lab, censoring_factor))
