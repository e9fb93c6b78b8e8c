"""Claims about the largest potential of multi-threshold models."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.greedy_path import follow, spots
from halfseen.claims.intervals import mean
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.events import LINEAR
from halfseen.claims.linear.path import thresholds, told
from halfseen.claims.linear.programs import (
    best_plan,
    best_rings,
    design_growth,
    potential_of,
    ring_growth,
)
from halfseen.policies import DesignExploration, LinUCB, OptimalOrder
from halfseen.problems import LinearBandit
from halfseen.theory import (
    PotentialBounds,
    information_path,
    potential_bounds,
    potential_control_factor,
    region_actions,
    worst_case_potential,
)

LATE = (1e9, 1e12)  # rounds between which growth is measured
FOUND = 1e-5  # relative error allowed for the largest value found by a general optimiser


def _stay(model: MultiThreshold, horizon: float, lam: float = 1.0) -> float:
    """Return the potential of playing only the most censored region, at its lowest angle."""
    d = len(model.direction)
    level = max(math.sin(model.threshold_radians[-1]) ** 2, 1.0 / d)
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
    place="Theorem 4.6",
    family=LINEAR,
    says="The largest path integral over all policies is d_eff log T + o(log T), d_eff by (D).",
    right="It is (d/p_min) log T + O(1). (D) is the growth of one path, the greedy one.",
    how=(
        "Six models, growth per log T from 10⁹ to 10¹² rounds: of the largest value that a general"
        " optimiser finds over order, times and angles, and of staying in the most censored region."
    ),
    expected=CORRECTED,
    erratum="theorem-thresholds",
)
def theorem_thresholds(lab: Laboratory) -> Evidence:
    """Measure how the largest potential grows."""
    printed, right = [], []
    rng = np.random.default_rng(lab.seed)
    for model in GROWING:
        best = [best_rings(model, 1.0, t, lab.size(1, 6), rng) for t in LATE]
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
    """Plot the largest potential, that of staying and that of the paper's path."""
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
        " + o(1), and the plan switches to the equator at βT, β = (dr−d+1)/(d(r−c))."
    ),
    how=(
        "d = 2, 3, 5, T = 10⁸: the value of the best switch, by a one-dimensional search, minus"
        " that of staying above; and the best of a general optimiser over order, times and angles."
    ),
)
def single_threshold_largest(lab: Laboratory) -> Evidence:
    """Solve the program at a large horizon and subtract the value of staying."""
    rows, horizon, rng = [], 1e8, np.random.default_rng(lab.seed)
    for d, degrees, first, second in ((3, 70, 1.0, 0.5), (5, 45, 0.9, 0.2), (2, 80, 0.6, 0.5)):
        model = thresholds([degrees], [first, second], d)
        c, r = math.cos(math.radians(degrees)) ** 2, first / second
        beta = (d * r - d + 1) / (d * (r - c))
        extra = d * math.log(beta) + (d - 1) / r * math.log1p(r / c * (1.0 - beta) / beta)
        share, best = _best_switch(first, second, 1.0 - c, horizon, d)
        wide = best_rings(model, 1.0, horizon, lab.size(1, 6), rng)
        for name, value in (("J*", best), ("general optimiser", wide)):
            more = Measured(value - _stay(model, horizon))
            where = f"{told(model)}, {name} − J_pure"
            rows.append(Comparison(where, more, "equals", extra / second, 1e-4))
        where = f"{told(model)}, switch over T"
        rows.append(Comparison(where, Measured(share), "equals", beta, 1e-4))
    return Evidence(tuple(rows))


def _best_switch(
    first: float, second: float, along: float, horizon: float, d: int
) -> tuple[float, float]:
    """Return the best switch from the upper region to the equator, as a share, and the value."""
    from scipy.optimize import minimize_scalar

    def loss(share: float) -> float:
        plan = [(second, along, share * horizon), (first, 0.0, (1.0 - share) * horizon)]
        return -potential_of(plan, d, 1.0)

    found = minimize_scalar(loss, bounds=(1e-6, 1.0), method="bounded", options={"xatol": 1e-10})
    return float(found.x), -float(found.fun)


def _at_random(
    model: MultiThreshold, lam: float, horizon: float, tries: int, rng: np.random.Generator
) -> float:
    """Return the largest potential of plans with random times, angles and order."""
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
        "Four models: a general optimiser over order, times and angles attains it; greedy paths per"
        " observation and per round, staying and random plans never exceed it."
    ),
)
def largest_potential(lab: Laboratory) -> Evidence:
    """Search for a plan better than the solution of the concave program."""
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
        found = Measured(best_rings(model, lam, horizon, lab.size(2, 6), rng))
        rows.append(Comparison(f"{where}: optimiser", found, "equals", best, 1e-6))
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
    says="E V_1 ≤ κ J*(T), κ = 1/(λ log(1+1/λ)), for every policy; the plan of J* reaches ≥ J*.",
    how=(
        "The plan of J*, exploration and LinUCB on actions at the regions’ lowest angles,"
        " λ = 0.3, 1, 20: measured potential."
    ),
)
def largest_expected_potential(lab: Laboratory) -> Evidence:
    """Compare the potential of an adversary who knows p with that of other policies."""
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


@claim(
    "potential-bounds",
    place="new",
    family=LINEAR,
    says=(
        "`potential_bounds`: J* between (d/p) log(1 + pT/(dλ)) at p_max and at p_min, J* itself,"
        " its growth d/p_min, κJ*, and the growth of the greedy path."
    ),
    how=(
        "Three models on the sphere and two sets of actions, λ = 0.5 and 2: the largest value a"
        " general optimiser finds; designs from every pair of angles or the multiplicative"
        " algorithm; LinUCB’s regret in simulation stays below the bound on it."
    ),
)
def bounds_of_potential(lab: Laboratory) -> Evidence:
    """Compare each number of the table with independent programs."""
    rng, rows, horizon = np.random.default_rng(lab.seed), [], 1000
    for model, lam in ((GROWING[0], 0.5), (GROWING[2], 2.0), (GROWING[5], 0.5)):
        table = potential_bounds(model, regularization=lam, horizon=horizon)
        found = Measured(best_rings(model, lam, horizon, lab.size(1, 4), rng))
        d, where = len(model.direction), told(model, lam)
        _, along, observe = spots(model)
        growth = ring_growth(observe, along, d)
        rows += _table(table, found, d / min(model.observe), growth, lam, where)
        lower = d / max(model.observe) * math.log1p(max(model.observe) * horizon / (d * lam))
        rows.append(Comparison(f"{where}: lower", Measured(lower), "equals", table.lower, 1e-9))
        rows.append(Comparison(f"{where}: above", found, "at least", table.lower))
        problem = LinearBandit([0.1] * d, 1.0, region_actions(model))
        played = lab.play(problem, model, LinUCB(lam), horizon, lab.size(40, 400))
        rows.append(Comparison(f"{where}: regret", mean(played.regret), "at most", table.regret))
    for number, d in enumerate((2, 3)):
        lengths = rng.uniform(0.4, 1.0, (d + 2, 1))
        rays = rng.normal(size=(d + 2, d))
        actions = lengths * rays / np.linalg.norm(rays, axis=1, keepdims=True)
        chances = rng.uniform(0.2, 1.0, d + 2)
        table = potential_bounds(chances, regularization=1.0, horizon=horizon, actions=actions)
        found = Measured(best_plan(actions, chances, 1.0, horizon, lab.size(2, 4), rng))
        bases = (list(c) for c in combinations(range(d + 2), d))
        heaviest = max(float((1.0 / chances[b]).sum()) for b in bases)
        growth = design_growth(actions, chances)
        rows += _table(table, found, heaviest, growth, 1.0, f"set {number + 1}, d = {d}")
    return Evidence(tuple(rows))


def _table(
    table: PotentialBounds,
    found: Measured,
    dimension: float,
    growth: float,
    lam: float,
    where: str,
) -> list[Comparison]:
    """Compare the numbers defined both on the sphere and on a set of actions."""
    kappa = Measured(found.value / (lam * math.log(1.0 + 1.0 / lam)))
    numbers = (
        ("J*", found, table.worst_case, 1e-4),
        ("κJ*", kappa, table.expected, 1e-4),
        ("growth", Measured(dimension), table.dimension, 1e-9),
        ("greedy growth", Measured(growth), float(table.information_dimension or 0.0), 1e-4),
    )
    rows = [Comparison(f"{where}: {n}", v, "equals", c, off) for n, v, c, off in numbers]
    return [*rows, Comparison(f"{where}: below", found, "at most", table.upper)]


@claim(
    "log-scaling",
    place="Lemma 4.5",
    family=LINEAR,
    says=(
        "The largest path integral lies between (d/p_max) log(1 + p_min T/(dλ)) and"
        " (d/p_min) log(1 + p_max T/(dλ))."
    ),
    how=(
        "Thresholds on the sphere, and sets of a basis and three more random actions, each with its"
        " own p: the largest value a general optimiser finds. The searches, one for each side, are"
        " over d, p, λ and T. With p_min and p_max exchanged inside the logarithms both bounds are"
        " sharper."
    ),
)
def log_scaling(lab: Laboratory) -> Evidence:
    """Compare the largest path integral found with both bounds."""
    rng = np.random.default_rng(lab.seed)
    rows = []
    for model in (GROWING[0], GROWING[2], thresholds([20, 50], [1.0, 0.4, 0.1], d=4)):
        for horizon in (10.0, 1000.0, 1e6):
            found = best_rings(model, 1.0, horizon, 1, rng)
            where, d = f"{told(model)}, T = {horizon:,g}", len(model.direction)
            rows += _between(found, d, np.array(model.observe), 1.0, horizon, where)
    for number in range(lab.size(4, 12)):
        d = int(rng.integers(2, 5))
        more = rng.normal(size=(3, d))
        actions = np.vstack([np.eye(d), more / np.linalg.norm(more, axis=1, keepdims=True)])
        observe, horizon = rng.uniform(0.05, 1.0, d + 3), float(10.0 ** rng.uniform(0, 5))
        found = best_plan(actions, observe, 1.0, horizon, 2, rng)
        where = f"set {number + 1} at random, d = {d}, T = {horizon:,.0f}"
        rows += _between(found, d, observe, 1.0, horizon, where)
    axes = (
        Axis("d", 2, 4, whole=True),
        Axis("p", 0.05, 1.0, log=True),
        Axis("ratio", 0.05, 1.0, log=True),
        Axis("λ", 0.1, 10.0, log=True),
        Axis("T", 1, 1e4, log=True),
    )
    for side in (0, 1):
        rows.append(closest(partial(_basis, side), axes, lab.size(16, 60), lab.seed))
    return Evidence(tuple(rows))


def _between(
    found: float, d: int, observe: Vector, lam: float, horizon: float, where: str
) -> list[Comparison]:
    """Compare a largest path integral with the lower and the upper bound of the lemma."""
    least, most = float(observe.min()), float(observe.max())
    lower = d / most * math.log1p(least * horizon / (d * lam))
    upper = d / least * math.log1p(most * horizon / (d * lam))
    return [
        Comparison(f"{where}, lower", Measured(found), "at least", lower, FOUND),
        Comparison(f"{where}, upper", Measured(found), "at most", upper),
    ]


def _basis(side: int, at: Point) -> Comparison:
    """Compare the best plan on coordinates, one observed less often, with a side of the lemma."""
    d, horizon, lam = int(at["d"]), at["T"], at["λ"]
    observe = np.full(d, at["p"])
    observe[0] *= at["ratio"]
    found = best_plan(np.eye(d), observe, lam, horizon, 1, np.random.default_rng(1))
    where = f"basis, p = ({observe[0]:.2g}, {at['p']:.2g}, …), d = {d}, λ = {lam:.2g}"
    return _between(found, d, observe, lam, horizon, f"{where}, T = {horizon:,.4g}")[side]
