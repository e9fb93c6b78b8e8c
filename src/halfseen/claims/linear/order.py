"""Claims about censorship that is not monotone, or does not depend on one direction."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector
from halfseen.claims.claim import Comparison, Evidence, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.greedy_path import follow, spots
from halfseen.claims.intervals import mean
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.events import LINEAR
from halfseen.claims.linear.path import FINE, thresholds, told
from halfseen.claims.linear.programs import Matrix, best_plan, best_rings, ring_growth
from halfseen.policies import DesignExploration, LinUCB
from halfseen.problems import LinearBandit
from halfseen.theory import (
    information_path,
    layered_potential,
    potential_control_factor,
    region_actions,
    worst_case_dimension,
    worst_case_potential,
)

MODELS = (  # models in which p is not decreasing along the direction, with lambda
    (thresholds([30, 70], [1.0, 0.3, 0.6]), 1.0),
    (thresholds([-50, -15, 15, 50], [1.0, 0.4, 0.25, 0.4, 1.0]), 1.0),
    (thresholds([-65, -20, 35, 50, 80], [0.2, 0.7, 0.9, 0.5, 0.8, 0.3], d=4), 1.0),
    (thresholds([-60, -18, -8, 8, 18, 60], [0.5, 0.9, 0.33, 0.3, 0.33, 0.9, 0.5], d=5), 2.0),
)


@claim(
    "any-order",
    place="Text after theorem 4.1, conjecture",
    family=LINEAR,
    says=(
        "The regret bound still holds if p is not monotone along the direction: the potential is at"
        " most κJ*(T), J* ~ (d/p_min) log T where the most censored region spans."
    ),
    how=(
        "The paper conjectures that some d_eff remains; κJ* is ours. LinUCB and exploration on"
        " actions at the ends of regions, four models that are not monotone: measured potential"
        " against κ times the J* of a general optimiser; growth of that J* from 10⁹ to 10¹² rounds"
        " against d/p_min."
    ),
)
def any_order(lab: Laboratory) -> Evidence:
    """Play policies in models that the paper excludes."""
    rng, rows = np.random.default_rng(lab.seed), []
    horizon = lab.size(1000, 10_000)
    for model, lam in MODELS:
        d = len(model.direction)
        slope = [best_rings(model, lam, t, lab.size(1, 4), rng) for t in (1e9, 1e12)]
        grown = Measured((slope[1] - slope[0]) / math.log(1e3))
        limit = d / min(model.observe)
        rows.append(Comparison(f"{told(model)}, growth", grown, "equals", limit, 1e-3))
        known = worst_case_dimension(model)
        rows.append(Comparison(f"{told(model)}, dimension", grown, "equals", known, 1e-3))
        largest = best_rings(model, lam, horizon, lab.size(1, 4), rng)
        known = worst_case_potential(model, regularization=lam, horizon=horizon).value
        where = f"{told(model, lam)}, J*, T = {horizon:,}"
        rows.append(Comparison(where, Measured(largest), "equals", known, 1e-3))
        for policy in (LinUCB, DesignExploration):
            problem = LinearBandit([0.1] * d, 0.3, region_actions(model))
            played = lab.play(problem, model, policy(lam), horizon, lab.size(40, 400))
            where = f"{policy.__name__}, {told(model, lam)}, T = {horizon:,}"
            limit = potential_control_factor(lam) * largest
            rows.append(Comparison(where, mean(played.potential()), "at most", limit))
    return Evidence(tuple(rows))


@claim(
    "any-order-path",
    place="new",
    family=LINEAR,
    says=(
        "Without monotone p the path still ends in one region or two and grows like (D), with lower"
        " or upper ends of regions; `information_path` and `worst_case_potential` take p in any"
        " order."
    ),
    how=(
        "Four models that are not monotone and random ones: growth of the D-optimal design over"
        " both ends of every region; J at T = 1,000 step by step; J* of a general optimiser. Of the"
        " random models, those with the largest errors are shown."
    ),
)
def any_order_path(lab: Laboratory) -> Evidence:
    """Compare path, growth and largest value with programs that do not use the order."""
    rng, rows = np.random.default_rng(lab.seed), []
    for model, lam in MODELS:
        path = information_path(model, regularization=lam)
        rows.append(_growth_of(model))
        seen = follow(model, lam, 1e3, lab.size(1e-3, 1e-4))
        whole = path.potential(1e3)
        rows.append(
            Comparison(f"{told(model, lam)}: J", Measured(seen.potential), "equals", whole, FINE)
        )
        best = Measured(best_rings(model, lam, 1e3, lab.size(2, 6), rng))
        largest = worst_case_potential(model, regularization=lam, horizon=1e3).value
        rows.append(Comparison(f"{told(model, lam)}: J*", best, "equals", largest, 1e-3))
        rows.append(Comparison(f"{told(model, lam)}: J*, no more", best, "at most", largest, 1e-9))
    tries = [_growth_of(_any_model(rng)) for _ in range(lab.size(100, 800))]
    rows += sorted(tries, key=lambda one: -one.strain)[:3]
    return Evidence(tuple(rows))


def _growth_of(model: MultiThreshold) -> Comparison:
    """Compare the growth of the optimal design with the effective dimension of the path."""
    _, along, observe = spots(model)
    growth = Measured(ring_growth(observe, along, len(model.direction)))
    claimed = information_path(model).effective_dimension
    return Comparison(f"{told(model)}: growth", growth, "equals", claimed, 1e-6)


def _any_model(rng: np.random.Generator) -> MultiThreshold:
    """Return a model with random thresholds and random probabilities in any order."""
    d, cuts = int(rng.integers(2, 7)), int(rng.integers(1, 7))
    angles = np.sort(rng.uniform(-1.5, 1.5, cuts))
    observe = rng.uniform(rng.choice([0.05, 0.6]), 1.0, cuts + 1)
    return MultiThreshold(angles.tolist(), observe.tolist(), [0.0] * (d - 1) + [1.0])


def _random_set(rng: np.random.Generator) -> tuple[Matrix, Vector]:
    """Return random actions of length at most 1 and a random probability for each."""
    d, count = int(rng.integers(2, 4)), int(rng.integers(4, 7))
    actions = rng.normal(size=(count, d))
    actions *= rng.uniform(0.3, 1.0, (count, 1)) / np.linalg.norm(actions, axis=1, keepdims=True)
    return actions, rng.uniform(0.1, 1.0, count)


def _heaviest_basis(actions: Matrix, observe: Vector) -> float:
    """Return the largest sum of 1/p over a basis, by trying all."""
    d = actions.shape[1]
    bases = (list(c) for c in combinations(range(len(actions)), d))
    spanning = [b for b in bases if abs(np.linalg.det(actions[b])) > 1e-9]
    return max(float((1.0 / observe[b]).sum()) for b in spanning)


@claim(
    "any-observe",
    place="Text after theorem 4.1, on the radial property",
    family=LINEAR,
    says=(
        "p need not depend on one direction only, which the paper considers necessary: on every"
        " finite set J* grows like D* log T, D* the largest sum of 1/p over a basis, at most"
        " d/p_min."
    ),
    how=(
        "Random sets of 4 to 6 actions, each action with its own p: growth from 10¹⁰ to 10¹⁴"
        " rounds of the best plan a general optimiser finds, against the best of all bases."
    ),
)
def any_observe(lab: Laboratory) -> Evidence:
    """Compare the growth of the best plan with the heaviest basis."""
    rng, rows = np.random.default_rng(lab.seed), []
    for number in range(lab.size(4, 12)):
        actions, observe = _random_set(rng)
        ends = [best_plan(actions, observe, 1.0, t, lab.size(1, 3), rng) for t in (1e10, 1e14)]
        slope = Measured((ends[1] - ends[0]) / math.log(1e4))
        claimed = _heaviest_basis(actions, observe)
        where = f"set {number + 1}: {len(observe)} actions, d = {actions.shape[1]}"
        rows.append(Comparison(where, slope, "equals", claimed, 0.02))
        known = worst_case_dimension(observe, actions=actions)
        rows.append(Comparison(f"{where}, all bases", Measured(claimed), "equals", known))
    return Evidence(tuple(rows))


@claim(
    "layer-cake",
    place="new",
    family=LINEAR,
    says=(
        "On every path J ≤ Σ_n (1/p_n − 1/p_n+1)(log det W_n(T) − d log λ), p_0 < p_1 < …, W_n the"
        " design of actions observed with probability at most p_n, for p in any order."
    ),
    how=(
        "Random paths of many short pieces on random sets. The search is over paths of three pieces"
        " on three actions in the plane, with equality if they are sorted by p."
    ),
)
def layer_cake(lab: Laboratory) -> Evidence:
    """Compare the path integral of plans with the sum over layers."""
    rng, rows = np.random.default_rng(lab.seed), []
    for _ in range(lab.size(20, 200)):
        actions, observe = _random_set(rng)
        order = rng.integers(len(observe), size=12)
        times, lam = 10.0 ** rng.uniform(-1, 3, 12), float(10.0 ** rng.uniform(-1, 1))
        rows.append(_layers(actions[order], observe[order], times, lam, "at random"))
    rows = sorted(rows, key=lambda one: -one.strain)[:5]

    def measure(at: Point) -> Comparison:
        turns = np.array([0.0, at["turn"], at["turn2"]])
        actions = np.stack([np.cos(turns), np.sin(turns)], axis=1)
        observe = np.array([at["p"], at["p2"], at["p3"]])
        times = np.array([at["t"], at["t2"], at["t3"]])
        return _layers(actions, observe, times, at["λ"], "three pieces")

    axes = (
        *(Axis(name, 0.05, 1.0) for name in ("p", "p2", "p3")),
        *(Axis(name, 0.1, 1e3, log=True) for name in ("t", "t2", "t3")),
        *(Axis(name, 0.1, 3.0) for name in ("turn", "turn2")),
        Axis("λ", 0.1, 10.0, log=True),
    )
    return Evidence((*rows, closest(measure, axes, lab.size(150, 1500), lab.seed)))


def _layers(actions: Matrix, observe: Vector, times: Vector, lam: float, name: str) -> Comparison:
    """Compare J of a path of pieces with the sum over its layers."""
    d = actions.shape[1]
    pieces = (observe * times)[:, None, None] * actions[:, :, None] * actions[:, None, :]
    designs = lam * np.eye(d) + np.cumsum(pieces, axis=0)
    logs = np.append(d * math.log(lam), np.linalg.slogdet(designs)[1])
    integral = float((np.diff(logs) / observe).sum())
    limit = layered_potential(actions, observe, times, regularization=lam)
    words = ", ".join(f"{p:.2g}" for p in observe[:6])
    where = f"{name}, d = {d}, λ = {lam:.2g}, p = ({words}{', …' if len(observe) > 6 else ''})"
    return Comparison(where, Measured(integral), "at most", limit)
