r"""The D-optimal design under censorship, computed directly.

Where an observation of action a costs 1 / p(a) rounds, the design that spreads information most
evenly is the :math:`M^\star` with the largest determinant in the convex hull of
:math:`aa'/p(a)`. By Kiefer and Wolfowitz it is optimal exactly when no action has
:math:`a'M^{-1}a/p(a)` above d, so that the largest excess certifies the answer.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from halfseen.censorship.directions import action_rows
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.theory import inputs
from halfseen.theory.linear.stepped import Steps, as_steps

CLOSE_ENOUGH = 1e-9  # largest excess of a design that is returned
SMALLEST_PRODUCT = 1e-18  # weight times slack at convergence; zero weights are then below 1e-9
FALL = 0.1  # factor of that product from one Newton step to the next
RESOLVED = 4e-16  # ridge relative to the trace, for weights that are not unique
MOST_NEWTON_STEPS = 40
NEGLIGIBLE = 1e-6  # weights below this are tried at 0
ROUNDING = 1e-13
MOST_ROUNDS = 500
AT_ONCE = 50  # largest number of actions solved for together; others are added if needed


class OptimalDesign(NamedTuple):
    """The D-optimal design and its certificate.

    Attributes
    ----------
    dimension
        d times the mean of 1/p over the weights: the growth in log T of the information path.
    weights
        Weight of each action in the design, or of each region of the censorship; they add up to 1.
    gap
        Largest value of a'M^-1 a / (p(a) d) over all actions, less 1. The log-determinant is
        within d times this of the largest.
    """

    dimension: float
    weights: Vector
    gap: float


def optimal_design_dimension(
    censorship: Any, dimension: int | None = None, *, actions: Any = None, regions: int = 8
) -> OptimalDesign:
    r"""Return the effective dimension from the D-optimal design.

    .. math:: d_{\mathrm{eff}}=d\sum_a\frac{w_a}{p_a},\qquad
              w=\operatorname{argmax}\Big\{\log\det\sum_aw_a\frac{aa'}{p(a)}:\
              w\ge0,\ \sum_aw_a=1\Big\}

    With actions of length 1 this is d times the trace of the best design, as in the paper.

    Parameters
    ----------
    censorship
        A censorship of actions; for a finite set, also the probability of each.
    dimension
        Number d of coordinates of an action; by default the length of the censorship's direction.
        Not used with `actions`.
    actions
        An array (n, d), one action per row; by default the whole unit ball.
    regions
        For a smooth censorship of the ball, the number of steps that approximate it.

    Returns
    -------
    OptimalDesign
        The dimension, the weights and the gap that certifies them.

    Notes
    -----
    If the optimal weights are not unique and actions are shorter than 1, the growth of the path
    may depend on how ties are broken; the dimension is that of the weights returned.

    On the ball the design has eigenvalue x across the direction of the censorship and y along it,
    and its maximum lies on an edge of a polygon. On a finite set the weights are found by a
    primal-dual interior-point method.

    References
    ----------
    Kiefer, Wolfowitz, *The equivalence of two extremum problems*, 1960.

    Examples
    --------
    >>> from halfseen.censorship import MultiThreshold
    >>> design = optimal_design_dimension(MultiThreshold([math.pi / 3], [1, 0.75], [0, 0, 1]))
    >>> round(design.dimension, 9), design.weights.round(9).tolist()
    (3.5, [0.5, 0.5])
    >>> design = optimal_design_dimension([0.5, 0.25], actions=[[1, 0], [0, 1]])
    >>> round(design.dimension, 9)
    6.0
    """
    if actions is None:
        return _on_ball(as_steps(censorship, dimension, regions))
    rows = action_rows("actions", actions)
    return _on_rows(rows, inputs.action_observation(censorship, rows))


def _on_ball(steps: Steps) -> OptimalDesign:
    d = steps.dimension
    points = np.array(_corners(steps))
    least = min(steps.model.observe)
    region = points[:, 0].astype(np.int64)
    across, along = points[:, 1] * least, points[:, 2] * least
    if d == 1:
        across = np.zeros_like(across)
    best = (math.inf, 0, 0, 0.0)
    for i, j in _edges(across, along):
        share = _best_share(across[i], along[i], across[j], along[j], d)
        x = across[i] + share * (across[j] - across[i])
        y = along[i] + share * (along[j] - along[i])
        if y > 0.0 and (x > 0.0 or d == 1):
            with np.errstate(over="ignore"):
                ratio = along / y + ((d - 1) * across / x if d > 1 else 0.0)
            best = min(best, (float(ratio.max()) / d - 1.0, i, j, share))
    gap, i, j, share = best
    weights = np.zeros(len(steps.model.observe))
    weights[region[i]] += 1.0 - share
    weights[region[j]] += share
    growth = d * float(weights @ (1.0 / np.array(steps.model.observe)))
    return OptimalDesign(growth, weights, gap)


def _corners(steps: Steps) -> list[tuple[int, float, float]]:
    """Return region, c/p and q/p of the unit actions at the ends of each region and the equator."""
    angles = (-math.pi / 2, *steps.model.threshold_radians, math.pi / 2)
    corners = []
    for j, ((low, high), p) in enumerate(zip(pairwise(angles), steps.model.observe, strict=True)):
        for angle in {low, high, min(max(low, 0.0), high)}:
            pole = abs(angle) == math.pi / 2
            sine, cosine = math.sin(angle) ** 2, 0.0 if pole else math.cos(angle) ** 2
            corners.append((j, cosine / p, sine / p))
    return corners


def _edges(across: Vector, along: Vector) -> list[tuple[int, int]]:
    """Return the edges of the polygon that face away from the origin, and its two end points."""
    hull: list[int] = []
    for k in np.lexsort((along, across)).tolist():
        while hull and along[hull[-1]] <= along[k]:
            hull.pop()
        while len(hull) > 1 and _turns_out(across, along, hull[-2], hull[-1], k):
            hull.pop()
        hull.append(k)
    return [*pairwise(hull), (hull[0], hull[0]), (hull[-1], hull[-1])]


def _turns_out(across: Vector, along: Vector, a: int, b: int, c: int) -> bool:
    """Return whether b lies on the line from a to c or on its inner side."""
    first = (across[b] - across[a]) * (along[c] - along[a])
    return bool(first >= (along[b] - along[a]) * (across[c] - across[a]))


def _best_share(x0: float, y0: float, x1: float, y1: float, d: int) -> float:
    """Return the weight of the second of two points that maximises (d - 1) log x + log y.

    Along an edge that faces away from the origin x grows while y falls.
    """
    rise, fall = x1 - x0, y0 - y1
    if rise <= 0.0 or fall <= 0.0:
        return 0.0
    share = ((d - 1) * rise * y0 - fall * x0) / (d * rise * fall)
    return min(max(share, 0.0), 1.0)


def _on_rows(rows: Vector, observe: Vector) -> OptimalDesign:
    n, d = rows.shape
    if np.linalg.matrix_rank(rows) < d:
        raise InvalidInput(
            "actions",
            f"must span all {d} coordinates",
            f"{n} actions that do not",
            "Add actions, or drop the coordinates that are never used.",
        )
    points = np.linalg.qr(rows / np.sqrt(observe / observe.min())[:, None])[0]
    try:
        weights, gap = _search(points)
    except np.linalg.LinAlgError:
        gap = math.inf
    if gap > CLOSE_ENOUGH:
        raise InvalidInput(
            "actions",
            "must determine an optimal design to floating point precision",
            f"an excess of {gap:.1g}",
            "Drop actions that are nearly multiples of one another, or hardly ever observed.",
        )
    return OptimalDesign(d * float(weights @ (1.0 / observe)), weights, gap)


def _search(points: Vector) -> tuple[Vector, float]:
    """Return optimal weights and their gap, solving for few actions at a time."""
    chosen = _spread_out(points) if len(points) > AT_ONCE else np.arange(len(points))
    for _ in range(MOST_ROUNDS):
        weights, excess = _weigh_some(points, chosen)
        outside = np.setdiff1d(np.flatnonzero(excess > CLOSE_ENOUGH / 10.0), chosen)
        if outside.size == 0:
            break
        worst = outside[np.argsort(-excess[outside])[:AT_ONCE]]
        chosen = np.union1d(chosen[weights[chosen] > CLOSE_ENOUGH], worst)
    trimmed, after = _weigh_some(points, np.flatnonzero(weights > NEGLIGIBLE))
    if after.max() <= max(excess.max(), ROUNDING):
        weights, excess = trimmed, after
    return weights, float(excess.max())


def _weigh_some(points: Vector, chosen: Any) -> tuple[Vector, Vector]:
    """Return the optimal weights on some points, and the excess of every point."""
    n, d = points.shape
    weights = np.zeros(n)
    weights[chosen] = _weigh(points[chosen])
    factor = np.linalg.cholesky(points.T @ (points * weights[:, None]))
    return weights, (np.linalg.solve(factor, points.T) ** 2).sum(axis=0) / d - 1.0


def _spread_out(points: Vector) -> Any:
    """Return d actions that span the space, each the farthest from the span of those before it."""
    left, chosen = points.copy(), []
    for _ in range(points.shape[1]):
        chosen.append(int((left**2).sum(axis=1).argmax()))
        unit = left[chosen[-1]] / np.linalg.norm(left[chosen[-1]])
        left -= np.outer(left @ unit, unit)
    return np.array(sorted(chosen))


def _weigh(points: Vector) -> Vector:
    """Return the weights that minimise d sum(w) - logdet M(w), all at least 0.

    Each Newton step aims at w (d - leverage) = a small number for every action, by a primal-dual
    method with the slack z of each leverage below d.
    """
    n, d = points.shape
    weights, slack = np.full(n, 1.0 / n), np.full(n, float(d))
    for _ in range(MOST_NEWTON_STEPS):
        product = weights * slack
        if product.max() < SMALLEST_PRODUCT:
            break
        factor = np.linalg.cholesky(points.T @ (points * weights[:, None]))
        white = np.linalg.solve(factor, (points * np.sqrt(weights)[:, None]).T)
        overlap = white.T @ white
        short = weights * d - np.diag(overlap)  # weight times (d - leverage)
        curve = overlap**2
        ridge = np.maximum(product, RESOLVED * curve.trace())
        step = np.linalg.solve(curve + np.diag(ridge), FALL * product.mean() - short)
        move = (curve @ step + short - product) / product  # relative change of the slack
        length = min(1.0, 0.99 / max(float(-step.min()), float(-move.min()), 0.99))
        weights, slack = weights * (1.0 + length * step), slack * (1.0 + length * move)
    total: Vector = weights / weights.sum()
    return total
