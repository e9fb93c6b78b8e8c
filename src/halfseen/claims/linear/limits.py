"""Claims about the limits of (D), and about the paper's figures of reachability."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from halfseen.claims.claim import CORRECTED, Comparison, Evidence, Measured, claim
from halfseen.claims.greedy_path import follow
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.dimension import random_model
from halfseen.claims.linear.events import LINEAR
from halfseen.claims.linear.path import told
from halfseen.claims.linear.programs import Matrix, ring_growth
from halfseen.theory import (
    InformationPath,
    dual_reachability_threshold,
    information_path,
    reachability_threshold,
)

MORE = 1e-6  # smallest difference of two numbers that counts as strictly greater
NEAR = 1e-7  # relative distance of a ratio from its limit
RINGS = ((3, 0.0, 0.75), (3, 0.75, 0.9), (4, 0.5, 0.8), (5, 0.2, 0.6), (2, 0.3, 0.9), (6, 0.1, 0.5))


def _thresholds(d: int, low: float, high: float) -> tuple[float, float, float, float]:
    """Return u, l, r* and r† of two angles by their squared sines."""
    u, l = (1.0 - low) / (1.0 - high), low / high  # noqa: E741
    return u, l, reachability_threshold(u, l, d), dual_reachability_threshold(u, l, d)


@claim(
    "threshold-limits",
    place="Text after theorem 4.6, both limits",
    family=LINEAR,
    says=(
        "As p_i/p_j goes to r* the dimension goes to d/p_j, and so it does at the other end,"
        " max(1, r†), “under additional mild assumptions”."
    ),
    right=(
        "The first is true. At the other end it tends to d/p_j if and only if d sin²φ_i ≤ 1;"
        " otherwise to d/p_i, which is smaller."
    ),
    how="Six pairs of circles: growth of their D-optimal design at ratios close to both ends.",
    expected=CORRECTED,
    erratum="threshold-limits",
)
def threshold_limits(lab: Laboratory) -> Evidence:
    """Compute the growth of two circles just inside the interval of ratios."""
    printed, right = [], []
    for d, low, high in RINGS:
        _, _, star, dagger = _thresholds(d, low, high)
        begin = max(1.0, dagger)
        for name, ratio in (("r*", star * (1.0 - NEAR)), ("lower end", begin * (1.0 + NEAR))):
            scaled = Measured(ring_growth([ratio, 1.0], [low, high], d))
            where = f"d = {d}, sin² = {low:g} and {high:g}, {name}"
            printed.append(Comparison(where, scaled, "equals", float(d), 1e-4))
            limit = d / begin if name != "r*" and d * low > 1.0 else float(d)
            right.append(Comparison(where, scaled, "equals", limit, 1e-4))
    return Evidence(tuple(printed), tuple(right))


def _spread_on(d: int, along: float) -> Matrix:
    """Return the mean of aa' over a circle of squared sine `along`."""
    return np.diag([(1.0 - along) / (d - 1)] * (d - 1) + [along])


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the point at which a condition ceases to hold, by bisection."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return 0.5 * (low + high)


def _gains(design: Matrix, other: Matrix) -> bool:
    """Return whether mixing in a small share of another design raises the determinant."""
    share = 1e-7
    mixed = np.linalg.slogdet((1.0 - share) * design + share * other)[1]
    return bool(mixed > np.linalg.slogdet(design)[1])


@claim(
    "thresholds-between",
    place="Remark after the proof of theorem 4.6",
    family=LINEAR,
    says="r* < u and r† > l for every pair of regions, so (D) is a weighted average of distances.",
    right="l ≤ r† < r* < u, and r† = l = 0 where region i reaches down to the equator.",
    how=(
        "Six pairs of circles: r* and r† found by bisection, as the ratios at which a small share"
        " of the other circle begins and ceases to raise the determinant. “Greater” is interpreted"
        " as greater by at least 10⁻⁶."
    ),
    expected=CORRECTED,
    erratum="thresholds-between",
)
def thresholds_between(lab: Laboratory) -> Evidence:
    """Find both thresholds from determinants and compare them with u and l."""
    printed, right = [], []
    for d, low, high in RINGS:
        u, l, star, dagger = _thresholds(d, low, high)  # noqa: E741
        base, other = _spread_on(d, high), _spread_on(d, low)

        def reached(r: float, base: Matrix = base, other: Matrix = other) -> bool:
            return _gains(base, other / r)

        def alone(r: float, base: Matrix = base, other: Matrix = other) -> bool:
            return not _gains(other / r + 1e-12 * np.eye(len(base)), base)

        top, bottom = _last(reached, 0.0, 2.0 * u), _last(alone, 0.0, u)
        where = f"d = {d}, sin² = {low:g} and {high:g}"
        below = Comparison(f"{where}, r* < u", Measured(top), "at most", u - MORE)
        above = Comparison(f"{where}, r† > l", Measured(bottom), "at least", l + MORE)
        printed += [below, above]
        right += [below, Comparison(f"{where}, r*", Measured(top), "equals", star, 1e-5)]
        if low > 0.0:
            right.append(above)
            right.append(Comparison(f"{where}, r†", Measured(bottom), "equals", dagger, 1e-5))
        else:
            right.append(Comparison(f"{where}, 1 + r†", Measured(1.0 + bottom), "equals", 1.0))
    return Evidence(tuple(printed), tuple(right))


def _models(lab: Laboratory, count: int) -> Iterator[InformationPath]:
    """Yield paths of random models whose most censored region favours the direction."""
    rng = np.random.default_rng(lab.seed)
    while count:
        path = information_path(random_model(rng))
        if path.dimension * math.sin(path.angles_radians[-1]) ** 2 > 1.05 and len(path.numbers) > 1:
            count -= 1
            yield path


def _gain(path: InformationPath, place: int, x: Any, y: Any) -> Any:
    """Return a region's gain per observation at its lowest angle."""
    along = math.sin(path.angles_radians[place]) ** 2
    return ((1.0 - along) / x + along / y) / path.observe[place]


def _reached(path: InformationPath) -> dict[int, float]:
    """Return when each region first gains more than the base, if only the base is played."""
    base = len(path.numbers) - 1
    found: dict[int, float] = {}
    along = math.sin(path.angles_radians[base]) ** 2
    times = np.geomspace(1e-4, 1e9, 100_000)
    x = 1.0 + path.observe[base] * times * (1.0 - along) / (path.dimension - 1)
    y = 1.0 + path.observe[base] * times * along
    for place in range(base):
        ahead = _gain(path, place, x, y) > _gain(path, base, x, y)
        if ahead.any():
            found[path.numbers[place]] = float(times[ahead.argmax()])
    return found


def _clear(path: InformationPath) -> bool:
    """Return whether all regions are far enough from both lines for a simulation to decide."""
    pairs = [pair for pair in path.reachability if pair.base == path.numbers[-1]]
    return all(
        abs(pair.ratio / pair.r_star - 1.0) > 1e-4 and abs(pair.ratio - pair.r_dagger) > 1e-2
        for pair in pairs
    )


@claim(
    "figure-reachable",
    place="Figure 3",
    family=LINEAR,
    says=(
        "A region is reachable from the base if and only if its ratio p_i/p_k lies below the line"
        " r*; the first one reached is the first met by the line that turns as time goes on."
    ),
    how=(
        "Random models, only the base played up to T = 10⁹: which regions come to gain more than"
        " it per observation, and which of them first. Share of models in which both agree."
    ),
)
def figure_reachable(lab: Laboratory) -> Evidence:
    """Play only the base and record which regions overtake it."""
    agree, first = [], []
    for path in _models(lab, lab.size(40, 400)):
        if not _clear(path):
            continue
        below = {p.region for p in path.reachability if p.base == path.numbers[-1] and p.reachable}
        found = _reached(path)
        agree.append(below == set(found))
        if found:
            first.append(min(found, key=lambda region: found[region]) == path.regions[1])
    return Evidence(
        (
            Comparison("reachable if below r*", _share(agree), "equals", 1.0),
            Comparison("the first is the next of the path", _share(first), "equals", 1.0),
        )
    )


def _share(agree: list[bool]) -> Measured:
    return Measured(sum(agree) / len(agree))


def _keeps_both(path: InformationPath, place: int) -> bool:
    """Return whether base and region are both played forever, once they gain the same.

    Only these two are played, in steps of equal information, each time the one that gains more.
    """
    base = len(path.numbers) - 1
    along = [math.sin(path.angles_radians[k]) ** 2 for k in (place, base)]
    x = y = 1.0
    late, steps = [0, 0], 2500 * path.dimension
    for step in range(steps):
        gains = [_gain(path, k, x, y) for k in (place, base)]
        best = int(gains[1] >= gains[0])
        size = 6e-3 / (gains[best] * path.observe[(place, base)[best]])
        x += size * (1.0 - along[best]) / (path.dimension - 1)
        y += size * along[best]
        late[best] += step >= 2 * steps // 3
    return min(late) > 0


@claim(
    "figure-dual-reachable",
    place="Figure 4",
    family=LINEAR,
    says=(
        "Of the regions below the line r* those above the line r† are dual reachable: base and"
        " region are both played forever; those below it replace the base."
    ),
    how=(
        "Random models: only the base and one reachable region are played, in small steps,"
        " whichever gains more per observation. Share of pairs that behave as the lines predict."
    ),
)
def figure_dual_reachable(lab: Laboratory) -> Evidence:
    """Play two regions and record whether both are kept."""
    both: list[bool] = []
    one: list[bool] = []
    for path in _models(lab, lab.size(25, 100)):
        if not _clear(path):
            continue
        for pair in path.reachability:
            if pair.base == path.numbers[-1] and pair.reachable:
                kept = _keeps_both(path, path.numbers.index(pair.region))
                (both if pair.dual_reachable else one).append(kept == pair.dual_reachable)
    return Evidence(
        (
            Comparison(f"between the lines, {len(both)} pairs", _share(both), "equals", 1.0),
            Comparison(f"below both, {len(one)} pairs", _share(one), "equals", 1.0),
        )
    )


@claim(
    "figure-switch",
    place="Figure 5",
    family=LINEAR,
    says=(
        "When a reached region is not dual reachable it becomes the base, both lines move to it,"
        " and the line continues to turn from its position, which determines the next region."
    ),
    how="Random models with two switches or more: times of first visits, step by step.",
)
def figure_switch(lab: Laboratory) -> Evidence:
    """Follow the greedy path through two switches or more."""
    rng = np.random.default_rng(lab.seed)
    rows: list[Comparison] = []
    while len(rows) < lab.size(8, 40):
        model = random_model(rng)
        path = information_path(model)
        times = path.switch_times
        if len(times) < 2 or times[-1] > 300.0 or not _apart(times):
            continue
        seen = follow(model, 1.0, 1.2 * times[-1] + 1.0, lab.size(1e-3, 1e-4))
        visits = {region: visit[0] for region, visit in seen.first.items()}
        for time, region in zip(times, path.regions[1:], strict=True):
            found = Measured(visits.get(region, math.inf))
            rows.append(Comparison(f"{told(model)}: to {region} at", found, "equals", time, 0.03))
    return Evidence(tuple(rows))


def _apart(times: tuple[float, ...]) -> bool:
    """Return whether switches are far enough from 0 and each other to be distinguished."""
    return times[0] > 0.1 and min(np.diff(times)) > 0.05 * times[-1]
