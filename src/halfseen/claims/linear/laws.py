"""Empirical laws of LinUCB's potential: its slope in log T."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import Censorship, MultiThreshold, PerAction, Uniform
from halfseen.checks import Vector
from halfseen.claims.claim import Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.intervals import mean
from halfseen.claims.laboratory import Laboratory, Played
from halfseen.claims.linear.events import LINEAR
from halfseen.policies import LinUCB
from halfseen.problems import FiniteActions, LinearBandit, RandomActions, UnitBall
from halfseen.theory import expected_slope


def slope_from(played: Played, start: float) -> Measured:
    """Return the growth of the potential per unit of log T since round `start`."""
    first = int(np.searchsorted(played.rounds, start))
    grown = played.potential() - played.potential(0, first)
    return mean(grown / math.log(played.rounds[-1] / played.rounds[first]))


def drawn(played: Played, name: str, law: float) -> Curve:
    """Return the measured potential and a line with the law's slope through its last point."""
    seen = [mean(played.potential(0, k)) for k in range(len(played.rounds))]
    rounds = played.rounds.tolist()
    line = [max(seen[-1].value + law * math.log(t / rounds[-1]), 0.0) for t in rounds]
    lines = (
        Line("LinUCB", rounds, [s.value for s in seen], [s.half for s in seen]),
        Line(f"slope {law:.3g}", rounds, line, claimed=True),
    )
    return Curve(f"Potential of order 1: {name}", "round", "potential", lines)


@claim(
    "law-sphere",
    place="new",
    family=LINEAR,
    says="On the unit ball LinUCB’s potential grows like (d+1)/(2p) · log T.",
    how="d = 2, 3, 4 with p = 0.5, 0.3, 0.7: slope over the last factor of ten of the rounds.",
)
def law_sphere(lab: Laboratory) -> Evidence:
    """Measure the slope on the whole ball."""
    rows, horizon, curve = [], lab.size(100_000, 1_000_000), None
    for d, observe in ((2, 0.5), (3, 0.3), (4, 0.7)):
        problem = LinearBandit([1.0] + [0.0] * (d - 1), 0.1, UnitBall(d))
        played = lab.play(problem, Uniform(observe), LinUCB(), horizon, 16, 60)
        law = expected_slope("sphere", observe, dimension=d)
        where = f"d = {d}, p = {observe:g}, T = {horizon:,}"
        rows.append(Comparison(where, slope_from(played, horizon / 10), "equals", law, 0.05))
        curve = curve or drawn(played, "unit disc, p = 0.5", law)
    return Evidence(tuple(rows), curve=curve)


@claim(
    "law-fixed",
    place="new",
    family=LINEAR,
    says="On a fixed finite set the potential of LinUCB grows like log T/p(best action).",
    how="Four actions, p(best) = 0.2 and 0.05: slope over the last factor of ten of the rounds.",
)
def law_fixed(lab: Laboratory) -> Evidence:
    """Measure the slope on a fixed set with one best action."""
    actions = FiniteActions([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.6, 0.6, 0.5]])
    rows, horizon = [], lab.size(1_000_000, 10_000_000)
    for observe in (0.2, 0.05):
        problem = LinearBandit([0.9, 0.3, 0.1], 0.1, actions)
        censorship = PerAction([observe, 0.5, 0.5, 0.5])
        played = lab.play(problem, censorship, LinUCB(), horizon, 12, 60)
        law = expected_slope("fixed", observe)
        where = f"p = {observe:g}, T = {horizon:,}"
        rows.append(Comparison(where, slope_from(played, horizon / 10), "equals", law, 0.05))
    return Evidence(tuple(rows))


@claim(
    "law-ties",
    place="new",
    family=LINEAR,
    says="With d equally good actions in the most censored region it grows like (d/p_k) log T.",
    how="d = 2, 3, 5 with p = 1, 0.1, 0.3, 300,000 rounds: slope from round 3,000 on.",
)
def law_ties(lab: Laboratory) -> Evidence:
    """Measure the slope when d equally good directions are played forever."""
    rows, horizon, curve = [], lab.size(300_000, 3_000_000), None
    for d, observe in ((3, 0.1), (5, 0.3), (2, 1.0)):
        u = np.ones(d) / math.sqrt(d)
        actions = FiniteActions(np.vstack([np.eye(d), -0.5 * u]))
        problem = LinearBandit((0.8 * u).tolist(), 0.1, actions)
        censorship = MultiThreshold([0.1], observe=[1.0, observe], direction=u.tolist())
        played = lab.play(problem, censorship, LinUCB(), horizon, 12, 50)
        law = expected_slope("fixed", observe, ties=d)
        where = f"d = {d}, p = {observe:g}, T = {horizon:,}"
        rows.append(Comparison(where, slope_from(played, 3000), "equals", law, 0.03))
        curve = curve or drawn(played, "3 equally good actions, p = 0.1", law)
    return Evidence(tuple(rows), curve=curve)


@claim(
    "law-contexts",
    place="new",
    family=LINEAR,
    says="With i.i.d. actions it grows like Tr(E[p aa′]⁻¹ E[aa′]) log T, a the best on offer.",
    how="Four random actions per round, d = 3, thresholds or p = 0.25: slope in log T.",
)
def law_contexts(lab: Laboratory) -> Evidence:
    """Measure the slope with random actions against the law's trace, from a sample."""
    problem = LinearBandit([0.5, 0.4, -0.2], 0.3, RandomActions(4, 3))
    steps = MultiThreshold([0.0, 0.8], observe=[0.9, 0.3, 0.1], direction=[1, 0, 0])
    worlds: dict[str, Censorship] = {"thresholds": steps, "p = 0.25": Uniform(0.25)}
    best = _best_on_offer(problem, lab.size(400_000, 2_000_000))
    rows, curve = [], None
    horizon, start = lab.size(60_000, 1_000_000), lab.size(3000, 30_000)
    for name, censorship in worlds.items():
        played = lab.play(problem, censorship, LinUCB(), horizon, lab.size(12, 16), 50)
        law = expected_slope(best, censorship.probabilities(best))
        where = f"{name}, T = {horizon:,}"
        rows.append(Comparison(where, slope_from(played, start), "equals", law, 0.06))
        curve = curve or drawn(played, "random actions, thresholds", law)
    return Evidence(tuple(rows), curve=curve)


def _best_on_offer(problem: LinearBandit, draws: int) -> Vector:
    """Return a sample of the best of the random actions on offer."""
    actions = problem.actions
    assert isinstance(actions, RandomActions)
    rng = np.random.default_rng(1)
    offer = rng.normal(size=(draws, actions.count, problem.dimension))
    offer /= np.linalg.norm(offer, axis=2, keepdims=True)
    chosen: Vector = offer[np.arange(draws), (offer @ np.array(problem.theta)).argmax(axis=1)]
    return chosen
