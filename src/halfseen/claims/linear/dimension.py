"""Claims about the effective dimension of multi-threshold models, by optimal designs."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector
from halfseen.claims.arms.potential import nearest
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.greedy_path import spots
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.events import LINEAR
from halfseen.claims.linear.path import thresholds, told
from halfseen.claims.linear.programs import design_growth, ring_growth
from halfseen.theory import (
    bi_region_dimension,
    information_path,
    optimal_design_dimension,
    reachability_threshold,
    region_actions,
    smallest_bi_region_dimension,
)


def random_model(rng: np.random.Generator) -> MultiThreshold:
    """Return a model with random thresholds and random p, decreasing along its direction."""
    d, cuts = int(rng.integers(2, 9)), int(rng.integers(1, 6))
    angles = np.sort(rng.uniform(-0.3, 1.55, cuts))
    observe = np.sort(rng.uniform(rng.choice([0.05, 0.7]), 1.0, cuts + 1))[::-1]
    return MultiThreshold(angles.tolist(), observe.tolist(), [0.0] * (d - 1) + [1.0])


@claim(
    "path-dimension",
    place="Theorem 4.6, (D), and lemma D.3",
    family=LINEAR,
    says=(
        "The path grows like d_eff log T, d_eff = d/p_j in one region and, with r = p_i/p_j,"
        " (1/p_j)[(d−1)(1−l)/(r−l) + (u−1)/(u−r)] in two."
    ),
    how=(
        "Hundreds of random models: d times the mean of 1/p under the D-optimal design of a/√p,"
        " found by trying every pair of angles; the models with the largest errors are shown. Also"
        " six actions, by the multiplicative algorithm."
    ),
)
def path_dimension(lab: Laboratory) -> Evidence:
    """Compare closed forms with optimal designs on random models."""
    rng = np.random.default_rng(lab.seed)
    tries: dict[str, list[Comparison]] = {}
    for _ in range(lab.size(400, 4000)):
        model = random_model(rng)
        path = information_path(model)
        _, along, observe = spots(model)
        design = ring_growth(observe, along, len(model.direction))
        where = f"{path.regime}, {told(model)}"
        one = Comparison(where, Measured(design), "equals", path.effective_dimension, 1e-9)
        tries.setdefault(path.regime, []).append(one)
    golden = thresholds([70], [1.0, 0.5])
    around = region_actions(golden)
    few = design_growth(around.actions, golden.probabilities(around.actions))
    claimed = information_path(golden).effective_dimension
    rows = [nearest(found) for found in tries.values()]
    rows.append(Comparison(f"6 actions, {told(golden)}", Measured(few), "equals", claimed, 1e-5))
    return Evidence(tuple(rows), curve=_over_ratios())


def _over_ratios() -> Curve:
    """Plot the effective dimension of two regions against the ratio of their probabilities."""
    degrees, ratios = 60, np.linspace(1.0, 3.2, 24)
    u, values = 1.0 / math.cos(math.radians(degrees)) ** 2, []
    for r in ratios.tolist():
        values.append(ring_growth([1.0, 1.0 / r], [0.0, 1.0 - 1.0 / u], 3) / r)
    lines = (
        Line("optimal design", ratios.tolist(), values),
        Line(
            "formula",
            ratios.tolist(),
            bi_region_dimension(u, 0.0, ratios, 3).tolist(),
            claimed=True,
        ),
    )
    return Curve("p_1 d_eff, one threshold at 60°, d = 3", "p_0/p_1", "p_1 d_eff", lines, False)


@claim(
    "design-dimension",
    place="new",
    family=LINEAR,
    says=(
        "`optimal_design_dimension` is d times the mean of 1/p under the D-optimal design of a/√p,"
        " on the ball with p in any order and on finite sets of actions of any length."
    ),
    how=(
        "Random models: every pair of angles. Random sets of actions, each action with its own p:"
        " the multiplicative algorithm. Those with the largest errors are shown."
    ),
)
def design_dimension(lab: Laboratory) -> Evidence:
    """Compare the function with exhaustive search and the multiplicative algorithm."""
    rng = np.random.default_rng(lab.seed)
    ball, sets = [], []
    for number in range(lab.size(100, 1000)):
        model = random_model(rng)
        if number % 2:
            observe = rng.permutation(np.array(model.observe)).tolist()
            model = MultiThreshold(model.threshold_radians, observe, model.direction)
        _, along, observe = spots(model)
        found = Measured(ring_growth(observe, along, len(model.direction)))
        claimed = optimal_design_dimension(model).dimension
        ball.append(Comparison(f"ball, {told(model)}", found, "equals", claimed, 1e-6))
    for number in range(lab.size(6, 40)):
        d, count = int(rng.integers(2, 5)), int(rng.integers(5, 9))
        actions = rng.normal(size=(count, d)) / math.sqrt(d)
        chances = rng.uniform(0.1, 1.0, count)
        found = Measured(design_growth(actions, chances))
        claimed = optimal_design_dimension(chances, actions=actions).dimension
        where = f"set {number + 1}: {count} actions, d = {d}"
        sets.append(Comparison(where, found, "equals", claimed, 1e-4))
    worst = [sorted(rows, key=lambda one: -one.strain)[:3] for rows in (ball, sets)]
    return Evidence((*worst[0], *worst[1]))


@claim(
    "smallest-dimension",
    place="Figure 2 and text after theorem 4.6",
    family=LINEAR,
    says=(
        "Over p_i/p_j the dimension is smallest inside ]r†, r*[, where (D) is:"
        " p_j d_eff = (√((d−1)(1−l)) + √(u−1))²/(u−l)."
    ),
    right="Only where that is above r†; otherwise it is smallest at r†: d/r†.",
    how="d = 3, two pairs of regions: the smallest trace of the optimal design over many ratios.",
    expected=CORRECTED,
    erratum="smallest-dimension",
)
def smallest_dimension(lab: Laboratory) -> Evidence:
    """Search for the ratio at which the optimal design has the smallest trace."""
    printed: list[Comparison] = []
    right: list[Comparison] = []
    for low, high in ((0.0, 0.75), (0.75, 0.9)):
        u, l = (1.0 - low) / (1.0 - high), low / high  # noqa: E741
        ratios = np.linspace(1.0, reachability_threshold(u, l, 3), lab.size(500, 5000))
        found = min(_two_rings(low, high, r) for r in ratios.tolist())
        formula = (math.sqrt(2.0 * (1.0 - l)) + math.sqrt(u - 1.0)) ** 2 / (u - l)
        where = f"sin² = {low:g} and {high:g}"
        best = smallest_bi_region_dimension(u, l, 3).dimension
        printed.append(Comparison(where, Measured(found), "equals", formula, 0.005))
        right.append(Comparison(where, Measured(found), "equals", best, 0.005))
    return Evidence(tuple(printed), tuple(right))


def _two_rings(low: float, high: float, ratio: float) -> float:
    """Return p_j d_eff of two rings alone, by the best of many mixtures in three dimensions."""
    share = np.linspace(0.0, 1.0, 2001)
    across = share * (1.0 - low) / ratio + (1.0 - share) * (1.0 - high)
    along = share * low / ratio + (1.0 - share) * high
    best = int((2.0 * np.log(across / 2.0) + np.log(along + 1e-300)).argmax())
    return float(3.0 * (across[best] + along[best]))


def _corollary(d: int, first: float, second: float, q: float) -> float:
    """Return d_eff of one threshold by the corollary's formula."""
    if first / second >= (d - 1) / (d * (1.0 - q)):
        return d / second
    return (d - 1) / first + q / (second / first - (1.0 - q)) / first


def _sphere(q: float, first: float, second: float) -> tuple[Vector, Vector]:
    """Return actions in three dimensions at -90°, at 0° and on both sides of a threshold, and p."""
    up = math.sqrt(q)
    rings = [(s, second if s >= up else first) for s in (-1.0, -up, 0.0, up, 1.0)]
    rows, observe = [], []
    for sine, p in rings:
        for angle in np.arange(3) * 2.0 * math.pi / 3.0:
            out = math.sqrt(max(1.0 - sine * sine, 0.0))
            rows.append([out * math.cos(angle), out * math.sin(angle), sine])
            observe.append(p)
    return np.array(rows), np.array(observe)


@claim(
    "single-threshold",
    place="Corollary D.3.1",
    family=LINEAR,
    says="One threshold with p_0 < p_1: d_eff = (d−1)/p_0 + sin²/(p_1/p_0 − cos²)/p_0, or d/p_1.",
    right="The same with p_0 > p_1, which the model assumes; with p_0 < p_1 it is d/p_0.",
    how="d = 3, 60° to 80°, p in either order: growth of the D-optimal design on rings of actions.",
    expected=CORRECTED,
    erratum="single-threshold",
)
def single_threshold(lab: Laboratory) -> Evidence:
    """Compute the optimal design with the probabilities in either order."""
    printed: list[Comparison] = []
    right: list[Comparison] = []
    for degrees, more, less in ((70, 1.0, 0.5), (60, 1.0, 0.75), (80, 0.9, 0.1), (60, 1.0, 0.3)):
        q = math.sin(math.radians(degrees)) ** 2
        for first, second in ((less, more), (more, less)):
            actions, observe = _sphere(q, first, second)
            found = Measured(design_growth(actions, observe))
            claimed, where = (
                _corollary(3, first, second, q),
                f"{degrees}°, p = {first:g}, {second:g}",
            )
            if first < second:
                printed.append(Comparison(where, found, "equals", claimed, 1e-5))
                claimed = 3.0 / first
            right.append(Comparison(where, found, "equals", claimed, 1e-5))
    return Evidence(tuple(printed), tuple(right))
