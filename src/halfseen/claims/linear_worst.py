"""Claims about the largest potential under thresholds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.integration import follow, spots
from halfseen.claims.intervals import mean
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear_events import LINEAR
from halfseen.claims.linear_path import thresholds, told
from halfseen.policies import DesignExploration, LinUCB, OptimalOrder
from halfseen.problems import LinearBandit
from halfseen.theory import (
    information_path,
    potential_control_factor,
    region_actions,
    worst_case_potential,
)

LATE = (1e9, 1e12)  # where growth is measured


def potential_of(pieces: Sequence[tuple[float, float, float]], d: int, lam: float) -> float:
    """Return the integral of a'W^-1 a over pieces (p, sin^2, duration), each around its circle.

    >>> round(potential_of([(0.5, 1 / 3, 10.0)], 3, 1.0), 9) == round(6 * math.log1p(5 / 3), 9)
    True
    """
    x = y = lam
    total = 0.0
    for p, q, duration in pieces:
        gain_x, gain_y = p * (1.0 - q) * duration / (d - 1), p * q * duration
        total += ((d - 1) * math.log1p(gain_x / x) + math.log1p(gain_y / y)) / p
        x, y = x + gain_x, y + gain_y
    return total


def _stay(model: MultiThreshold, horizon: float, lam: float = 1.0) -> float:
    """Return the potential of playing the most censored region alone, at its lowest angle."""
    d = len(model.direction)
    level = max(math.sin(model.thresholds[-1]) ** 2, 1.0 / d)
    return potential_of([(model.observe[-1], level, horizon)], d, lam)


GROWING = (
    thresholds([70], [1.0, 0.5]),
    thresholds([60], [1.0, 0.75]),
    thresholds([40, 75], [0.55, 0.5, 0.45]),
    thresholds([40, 75], [1.0, 0.5, 0.45]),
    thresholds([60], [1.0, 0.3]),
    thresholds([30, 55, 80], [0.6, 0.57, 0.54, 0.5], d=5),
)


@claim(
    "theorem-thresholds",
    place="Theorem “THM Linear Optim MTM”",
    family=LINEAR,
    says="The largest path integral over all policies is d_eff log T + o(log T), d_eff by (D).",
    right="It is (d/p_min) log T + O(1). (D) is the growth of one path, the greedy one.",
    how=(
        "Six models, growth per log T from 10⁹ to 10¹² rounds: of the largest value, and of staying"
        " in the most censored region, a closed form."
    ),
    expected=CORRECTED,
    erratum="theorem-thresholds",
)
def theorem_thresholds(lab: Laboratory) -> Evidence:
    """Measure how the largest potential grows."""
    printed, right = [], []
    for model in GROWING:
        best = [worst_case_potential(model, horizon=t).value for t in LATE]
        stay = [_stay(model, t) for t in LATE]
        paper = information_path(model).effective_dimension
        proved = len(model.direction) / model.observe[-1]
        for values, relation, name in ((best, "equals", "largest"), (stay, "at most", "staying")):
            slope = Measured((values[1] - values[0]) / math.log(LATE[1] / LATE[0]))
            where = f"{told(model)}, {name}"
            printed.append(Comparison(where, slope, relation, paper, 1e-4))
            right.append(Comparison(where, slope, relation, proved, 1e-4))
    return Evidence(tuple(printed), tuple(right), _growth(GROWING[0]))


def _growth(model: MultiThreshold) -> Curve:
    """Draw the largest potential, that of staying and that of the paper's path."""
    rounds = np.geomspace(1.0, 1e6, 25).tolist()
    paper = information_path(model)
    lines = (
        Line("largest", rounds, [worst_case_potential(model, horizon=t).value for t in rounds]),
        Line("staying above 70°", rounds, [_stay(model, t) for t in rounds]),
        Line("printed as largest", rounds, [paper.potential(t) for t in rounds], claimed=True),
    )
    return Curve("Path integral, 70°, p = (1, 0.5)", "round", "J", lines)


@claim(
    "single-threshold-largest",
    place="new",
    family=LINEAR,
    says=(
        "One threshold, d sin²φ > 1: J* = J_pure + (1/p_1)[d log β + (d−1)/r · log(1+(r/c)(1−β)/β)]"
        " + o(1), and the equator is taken up at βT, β = (dr−d+1)/(d(r−c))."
    ),
    how="d = 2, 3, 5, T = 10⁸: the concave program, less the closed form of staying above.",
)
def single_threshold_largest(lab: Laboratory) -> Evidence:
    """Solve the program at a large horizon and subtract what staying gives."""
    rows, horizon = [], 1e8
    for d, degrees, first, second in ((3, 70, 1.0, 0.5), (5, 45, 0.9, 0.2), (2, 80, 0.6, 0.5)):
        model = thresholds([degrees], [first, second], d)
        c, r = math.cos(math.radians(degrees)) ** 2, first / second
        beta = (d * r - d + 1) / (d * (r - c))
        extra = d * math.log(beta) + (d - 1) / r * math.log1p(r / c * (1.0 - beta) / beta)
        worst = worst_case_potential(model, horizon=horizon)
        more = Measured(worst.value - _stay(model, horizon))
        rows.append(Comparison(f"{told(model)}, J* − J_pure", more, "equals", extra / second, 1e-4))
        switch = Measured(worst.switch_times[0] / horizon)
        rows.append(Comparison(f"{told(model)}, switch over T", switch, "equals", beta, 1e-4))
    return Evidence(tuple(rows))


def _best_found(model: MultiThreshold, lam: float, horizon: float) -> float:
    """Return the largest potential a general optimiser finds over times and angles."""
    from scipy.optimize import minimize

    d, p = len(model.direction), np.array(model.observe[::-1])
    edges = np.sin(np.maximum([-1.0, *model.thresholds, math.pi / 2], 0.0))[::-1] ** 2
    highs, lows = edges[:-1], edges[1:]
    count = len(p)

    def loss(z: Vector) -> float:
        shares = np.abs(z[:count]) / np.abs(z[:count]).sum()
        return -potential_of([*zip(p, z[count:], shares * horizon, strict=True)], d, lam)

    found = minimize(
        loss,
        np.concatenate([np.full(count, 1.0 / count), lows + 0.05 * (highs - lows)]),
        method="SLSQP",
        bounds=[(1e-9, 1.0)] * count + [*zip(lows, highs, strict=True)],
        options={"maxiter": 300, "ftol": 1e-10},
    )
    return -float(found.fun)


def _at_random(
    model: MultiThreshold, lam: float, horizon: float, tries: int, rng: np.random.Generator
) -> float:
    """Return the largest potential of plans with times, angles and order drawn at random."""
    d = len(model.direction)
    region, along, observe = spots(model)
    best = 0.0
    for _ in range(tries):
        chosen = rng.choice(len(region), int(rng.integers(1, 6)))
        times = rng.dirichlet(np.ones(len(chosen))) * horizon
        plan = [*zip(observe[chosen].tolist(), along[chosen].tolist(), times.tolist(), strict=True)]
        best = max(best, potential_of(plan, d, lam))
    return best


@claim(
    "largest-potential",
    place="new",
    family=LINEAR,
    says=(
        "The largest path integral is J* = max Σ(1/p_n − 1/p_n+1) log det(λI + Σ_{m≤n} p_m Ω_m)"
        " − (d/p_min) log λ: most censored first, each region at its lowest angle."
    ),
    how=(
        "Four models: a general optimiser over times and angles reaches it; greedy paths per"
        " observation and per round, staying and plans at random never pass it."
    ),
)
def largest_potential(lab: Laboratory) -> Evidence:
    """Look for a plan that beats the concave program."""
    rng = np.random.default_rng(lab.seed)
    rows = []
    for model, lam, horizon in (
        (thresholds([70], [1.0, 0.5]), 1.0, 1e3),
        (thresholds([40, 75], [0.55, 0.5, 0.45]), 1.0, 1e3),
        (thresholds([40, 75], [1.0, 0.5, 0.2]), 2.0, 1e4),
        (thresholds([30, 55, 80], [0.9, 0.5, 0.3, 0.1], d=5), 0.5, 1e3),
    ):
        best = worst_case_potential(model, regularization=lam, horizon=horizon).value
        where = f"{told(model, lam)}, T = {horizon:g}"
        found = Measured(_best_found(model, lam, horizon))
        rows.append(Comparison(f"{where}: optimiser", found, "equals", best, 1e-3))
        others = {
            "optimiser, no more": found.value,
            "per observation": follow(model, lam, horizon, 2e-3).potential,
            "per round": follow(model, lam, horizon, 2e-3, per_round=True).potential,
            "staying": _stay(model, horizon, lam),
            "at random": _at_random(model, lam, horizon, lab.size(2000, 50_000), rng),
        }
        for name, value in others.items():
            rows.append(Comparison(f"{where}: {name}", Measured(value), "at most", best, 1e-9))
    return Evidence(tuple(rows))


@claim(
    "largest-expected-potential",
    place="new",
    family=LINEAR,
    says="E V_1 ≤ κ J*(T), κ = 1/(λ log(1+1/λ)), for every policy; the plan of J* comes to ≥ J*.",
    how=(
        "The plan of J*, exploration and LinUCB on actions at the regions’ lowest angles,"
        " λ = 0.3, 1, 20: measured potential."
    ),
)
def largest_expected_potential(lab: Laboratory) -> Evidence:
    """Let an adversary who knows p collect as much potential as it can, and others."""
    rows, horizon, runs = [], lab.size(2000, 20_000), lab.size(100, 1000)
    for model in (thresholds([70], [1.0, 0.5]), thresholds([40, 75], [1.0, 0.5, 0.2])):
        actions = region_actions(model)
        problem = LinearBandit([0.1] * 3, 0.5, actions)
        for lam in (0.3, 1.0, 20.0):
            best = worst_case_potential(model, regularization=lam, horizon=horizon).value
            limit = potential_control_factor(lam) * best
            for policy in (OptimalOrder, DesignExploration, LinUCB):
                played = lab.play(problem, model, policy(lam), horizon, runs)
                found = mean(played.potential())
                where = f"{policy.__name__}, {told(model, lam)}, T = {horizon:,}"
                rows.append(Comparison(where, found, "at most", limit))
                if policy is OptimalOrder:
                    rows.append(Comparison(f"{where}, J*", found, "at least", best))
    return Evidence(tuple(rows))
