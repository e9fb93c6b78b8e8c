"""Claims about the two events set aside for linear bandits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from halfseen.censorship import Uniform
from halfseen.claims.claim import CORRECTED, Comparison, Evidence, Measured, claim
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
    """Return how often the ellipsoid of LinUCB misses a theta of almost nothing."""
    problem = LinearBandit([1e-3, 0.0], noise, FiniteActions(ACTIONS))
    played = lab.play(problem, Uniform(observe), LinUCB(delta=delta), 300, lab.size(4000, 100_000))
    return frequency(played.failed("optimism"))


@claim(
    "optimism-linear",
    place="Lemma “Optimistic Lemma Linear”",
    family=LINEAR,
    says="The confidence ellipsoid ever misses θ with probability at most δ.",
    how="LinUCB on four actions of the plane, δ = 0.5, 0.2, 0.05, all or 0.3 seen: frequency.",
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
    return Evidence(tuple(rows))


@claim(
    "optimism-linear-proof",
    place="Lemma “Optimistic Lemma Linear”, proof",
    family=LINEAR,
    says="With probability 1−δ the noise term is at most σ² log(det W/det λI) + 2 log(1/δ).",
    right="The last term is 2σ² log(1/δ), as in the lemma itself.",
    how="The same with σ = 3 and δ = 0.05: widths with and without σ² in the last term.",
    expected=CORRECTED,
    erratum="optimism-linear-proof",
)
def optimism_linear_proof(lab: Laboratory) -> Evidence:
    """Leave σ² out, which is the same as a δ to the power 1/σ²."""
    noise, delta = 3.0, 0.05
    where = f"σ = {noise:g}, δ = {delta:g}, p = 0.3"
    printed = _escapes(lab, noise, delta ** (1.0 / noise**2), 0.3)
    right = _escapes(lab, noise, delta, 0.3)
    return Evidence(
        (Comparison(where, printed, "at most", delta),),
        (Comparison(where, right, "at most", delta),),
    )


def _falls_behind(
    lab: Laboratory, factor: Callable[[int, float, float], float]
) -> tuple[Comparison, ...]:
    """Play the coordinates one after the other: exact probability that one falls behind."""
    rows, horizon = [], lab.size(600, 3000)
    for dimension in (1, 3):
        for lam in (0.3, 1.0, 10.0):
            for delta in DELTAS:
                for observe in (0.05, 0.5):
                    rounds = np.arange(1.0, horizon + 1.0)
                    least = (lam + observe * rounds) / factor(dimension, delta, lam) - lam
                    once = shortfall_probability(observe, least - 1e-9)
                    some = -math.expm1(dimension * math.log1p(-once))
                    where = f"d = {dimension}, λ = {lam:g}, δ = {delta:g}, p = {observe:g}"
                    rows.append(Comparison(where, Measured(some), "at most", delta))
    return tuple(rows)


@claim(
    "censoring-linear",
    place="Lemma “CEN Lemma Linear”",
    family=LINEAR,
    says="The observed design ever falls below W/c, c = 8 max(log(d/δ)/λ, 1), with chance ≤ δ.",
    how="Coordinates played in turn: exact probability by recursion for 36 choices of d, λ, δ, p.",
)
def censoring_linear(lab: Laboratory) -> Evidence:
    """Compare the exact probability with δ for the paper's factor."""
    return Evidence(_falls_behind(lab, papers_censoring_factor))


@claim(
    "censoring-linear-sharp",
    place="new",
    family=LINEAR,
    says="The same with c = θ/(1−e^−θ), θ − 1 + e^−θ = log(d/δ)/λ, which is smaller.",
    how="The same 36 choices.",
)
def censoring_linear_sharp(lab: Laboratory) -> Evidence:
    """Compare the exact probability with δ for the smaller factor."""
    return Evidence(_falls_behind(lab, censoring_factor))
