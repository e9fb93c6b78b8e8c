"""Largest path integrals and D-optimal designs by general optimisers.

As in `halfseen.claims.arms.programs`, nothing here uses what `halfseen.theory` proves: which region
follows which, that the most censored comes first, which angle of a region is best. The optimisers
see only the objective.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution, minimize

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector

Matrix = NDArray[np.float64]
HALVINGS = 80  # bisections for the best share of two points


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


def regions_of(model: MultiThreshold) -> list[tuple[float, float, float]]:
    """Return p and the smallest and largest squared sine of every region of the sphere.

    >>> regions_of(MultiThreshold([-0.5, 0.0], [1.0, 0.5, 0.2], [0, 1]))[2]
    (0.2, 0.0, 1.0)
    """
    ends = np.sin([-math.pi / 2, *model.threshold_radians, math.pi / 2])
    found = []
    for p, low, high in zip(model.observe, ends, ends[1:], strict=False):
        squares = sorted((float(low) ** 2, float(high) ** 2))
        least = 0.0 if low < 0.0 < high else squares[0]
        found.append((p, least, squares[1]))
    return found


def best_rings(
    model: MultiThreshold, lam: float, horizon: float, starts: int, rng: np.random.Generator
) -> float:
    """Return the largest path integral that a general optimiser finds over order, times, angles.

    Each start uses a different order of the regions, the first start the most censored first, and
    runs differential evolution followed by a local optimiser. Times are searched on a log scale.

    Examples
    --------
    >>> model = MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1])
    >>> round(best_rings(model, 1.0, 1e3, 1, np.random.default_rng(1)), 6)
    27.895908
    """
    d, regions = len(model.direction), regions_of(model)
    best = 0.0
    for turn in range(starts):
        order = rng.permutation(len(regions)) if turn else np.argsort([r[0] for r in regions])
        p, low, high = (np.array([regions[k][i] for k in order]) for i in range(3))

        def loss(z: Vector, p: Vector = p) -> float:
            times = np.exp(z[: len(p)] - z[: len(p)].max())
            times *= horizon / times.sum()
            plan = [*zip(p.tolist(), z[len(p) :].tolist(), times.tolist(), strict=True)]
            return -potential_of(plan, d, lam)

        bounds = [(-6.0, 0.0)] * len(p) + [*zip(low, high, strict=True)]
        wide = differential_evolution(
            loss, bounds, popsize=8, maxiter=40, tol=0.0, polish=False, rng=rng
        )
        options = {"maxiter": 300, "ftol": 1e-14}
        found = minimize(loss, wide.x, method="L-BFGS-B", bounds=bounds, options=options)
        best = max(best, -float(found.fun))
    return best


def best_plan(
    actions: Matrix,
    observe: Vector,
    lam: float,
    horizon: float,
    starts: int,
    rng: np.random.Generator,
) -> float:
    """Return the largest path integral found on a finite set of actions, over order and times.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> found = best_plan(np.eye(2), np.array([0.5, 0.5]), 1.0, 10.0, 2, rng)
    >>> round(found, 6) == round(4 * math.log(1 + 2.5), 6)
    True
    """
    dimension = actions.shape[1]
    best = 0.0
    for turn in range(starts):
        order = rng.permutation(len(observe)) if turn else np.argsort(observe)
        p, rows = observe[order], actions[order]

        def integral(z: Vector, p: Vector = p, rows: Matrix = rows) -> float:
            times = np.exp(z - z.max())
            times *= horizon / times.sum()
            grown = (p * times)[:, None, None] * rows[:, :, None] * rows[:, None, :]
            designs = lam * np.eye(dimension) + np.cumsum(grown, axis=0)
            logs = np.append(dimension * math.log(lam), np.linalg.slogdet(designs)[1])
            return float(-(np.diff(logs) / p).sum())

        bounds = [(-8.0, 0.0)] * len(p)
        wide = differential_evolution(
            integral, bounds, popsize=8, maxiter=30, tol=0.0, polish=False, rng=rng
        )
        options = {"maxiter": 200, "ftol": 1e-14}
        found = minimize(integral, wide.x, method="L-BFGS-B", bounds=bounds, options=options)
        best = max(best, -float(found.fun))
    return best


def ring_growth(observe: Any, along: Any, d: int) -> float:
    """Return the growth in log T of the greedy path per observation, on circles.

    The D-optimal design of the points (cos^2/(d-1), sin^2)/p lies on the segment between two of
    them: every pair is tried, and its best share is found by bisection. The growth is d times the
    mean of 1/p under the design.

    Examples
    --------
    >>> round(ring_growth([1.0, 0.75], [0.0, 0.75], 3), 6)
    3.5
    """
    p, q = np.asarray(observe, dtype=float), np.asarray(along, dtype=float)
    across, up = (1.0 - q) / (d - 1) / p, q / p
    first, second = (index.ravel() for index in np.indices((len(p), len(p))))
    low, high = np.zeros(len(first)), np.ones(len(first))

    def mixed(share: Vector) -> tuple[Vector, Vector]:
        x = (1.0 - share) * across[first] + share * across[second]
        return x, (1.0 - share) * up[first] + share * up[second]

    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            x, y = mixed(middle)
            slope = (d - 1) * (across[second] - across[first]) / x + (up[second] - up[first]) / y
            low, high = np.where(slope > 0.0, middle, low), np.where(slope > 0.0, high, middle)
        share = 0.5 * (low + high)
        x, y = mixed(share)
        value = (d - 1) * np.log(x) + np.log(y)
    best = int(np.nanargmax(value))
    part = float(share[best])
    return float(d * ((1.0 - part) / p[first[best]] + part / p[second[best]]))


def design_growth(actions: Matrix, observe: Vector, rounds: int = 20_000) -> float:
    """Do the same as `ring_growth` for a finite set of actions, by the multiplicative algorithm.

    Weights are multiplied by the gain of their action divided by the mean gain d until convergence.

    Examples
    --------
    >>> round(design_growth(np.eye(2) * [0.5, 1.0], np.array([1.0, 1.0])), 6)
    2.0
    """
    rows = actions / np.sqrt(observe)[:, None]
    dimension = actions.shape[1]
    weights = np.full(len(rows), 1.0 / len(rows))
    for _ in range(rounds):
        design = (weights[:, None] * rows).T @ rows
        gains = np.einsum("ij,ij->i", rows @ np.linalg.inv(design), rows)
        weights = weights * gains / dimension
        weights[weights < 1e-12] = 0.0
        if gains.max() < dimension * (1.0 + 1e-9):
            break
    return float(dimension * (weights / observe).sum() / weights.sum())
