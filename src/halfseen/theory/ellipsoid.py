r"""The most optimistic action of the whole unit ball.

Over the ball, :math:`\langle a,\hat\theta\rangle+\beta\|a\|_{W^{-1}}` is largest at the direction
of the point of the ellipsoid :math:`\{\theta:\|\theta-\hat\theta\|_W\le\beta\}` farthest from 0,
and the maximum is that point's distance. In the eigenbasis of W it is found from one equation in
one unknown, the *secular equation* of trust-region methods.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput

CENTER, PULL, SPREAD = range(3)  # rows of the scratch array
SCRATCH_ROWS = 3
MOST_STEPS = 200
CLOSE = 1e-12  # one more Newton step from here is exact to rounding
TINY, HUGE = 1e-150, 1e150  # beyond, squares underflow or overflow and no longer matter


class FarthestPoint(NamedTuple):
    """Where optimism leads.

    Attributes
    ----------
    action
        The best action, of length 1.
    value
        Its mean plus width: the distance of the farthest point of the ellipsoid.
    """

    action: Vector
    value: float


def farthest_point(
    center: Any, shape_eigenvalues: Any, eigenvectors: Any, radius: float
) -> FarthestPoint:
    r"""Return the action of the unit ball with the largest mean plus width, exactly.

    .. math:: \max_{\|a\|\le 1}\ \langle a,\hat\theta\rangle+\beta\|a\|_{W^{-1}}
              \ =\ \max_{\|\theta-\hat\theta\|_W\le\beta}\|\theta\|

    Parameters
    ----------
    center
        The estimate, d numbers.
    shape_eigenvalues
        The eigenvalues of W, all positive, in any order.
    eigenvectors
        The eigenvectors of W, one per column, as `numpy.linalg.eigh` gives them.
    radius
        The width factor beta, at least 0.

    Returns
    -------
    FarthestPoint
        The action and the value.

    Notes
    -----
    With eigenvalues w_i, coordinates c_i of the center and v the smallest eigenvalue, the farthest
    point is c_i + z_i with z_i = c_i / (w_i (1 + nu) / v - 1), and nu >= 0 solves

    .. math:: \sum_i \Big(\frac{b_i}{d_i+\nu}\Big)^2 = 1,\qquad
              b_i=\frac{v\,c_i}{\beta\sqrt{w_i}},\qquad d_i=1-\frac{v}{w_i}.

    In the *hard case*, where the center is orthogonal to the widest directions (b_i = 0 wherever
    d_i = 0) and the left side stays below 1, nu = 0 and the rest of the radius goes into a widest
    direction; of the two points that are then farthest, the one with the positive coordinate is
    returned. When both center and radius are 0 every action is best, and a widest one is returned.

    References
    ----------
    Conn, Gould, Toint, *Trust-region methods*, 2000, section 7.3.

    Examples
    --------
    >>> action, value = farthest_point([1.0, 0.0], [4.0, 1.0], np.eye(2), radius=1.5)
    >>> action.round(6).tolist(), round(value, 6)
    ([0.704361, 0.709842], 1.892969)
    """
    origin = np.array(checks.vector("center", center))
    d = len(origin)
    values = np.array(checks.vector("shape_eigenvalues", shape_eigenvalues, above=0.0))
    vectors = np.array(eigenvectors, dtype=np.float64)
    if len(values) != d or vectors.shape != (d, d):
        raise InvalidInput(
            "eigenvectors",
            f"must be {d} columns with one eigenvalue each, like the center",
            f"shape {vectors.shape} and {len(values)} eigenvalues",
            "Match the three dimensions.",
        )
    if not np.allclose(vectors.T @ vectors, np.eye(d), atol=1e-8):
        raise InvalidInput(
            "eigenvectors", "must be orthonormal columns", eigenvectors, "Use numpy.linalg.eigh."
        )
    beta = checks.number("radius", radius, at_least=0.0)
    action = np.empty(d)
    value = write_farthest(origin, values, vectors, beta, np.empty((SCRATCH_ROWS, d)), action)
    return FarthestPoint(action, float(value))


def write_farthest(
    center: Vector,
    eigenvalues: Vector,
    eigenvectors: Vector,
    radius: float,
    scratch: Vector,
    action: Vector,
) -> float:
    """Write the best action into `action` and return its value; nothing is checked or allocated.

    `scratch` is an array (3, d). Runs as it is or compiled.
    """
    d = center.size
    widest = 0
    for i in range(d):
        if eigenvalues[i] < eigenvalues[widest]:
            widest = i
    smallest = eigenvalues[widest]
    largest_center = 0.0
    largest_pull = 0.0
    for i in range(d):
        along = 0.0
        for j in range(d):
            along += eigenvectors[j, i] * center[j]
        scratch[CENTER, i] = along
        scratch[SPREAD, i] = (eigenvalues[i] - smallest) / eigenvalues[i]
        scratch[PULL, i] = abs(along) * (smallest / math.sqrt(eigenvalues[i]))
        largest_center = max(largest_center, abs(along))
        largest_pull = max(largest_pull, scratch[PULL, i])
    if radius == 0.0 and largest_center == 0.0:
        scratch[CENTER, widest] = 1.0
        _write_unit(scratch, eigenvectors, action)
        return 0.0
    if radius == 0.0 or largest_pull > HUGE * radius:
        length = _write_unit(scratch, eigenvectors, action)
        width = 0.0
        for i in range(d):
            width += scratch[CENTER, i] * scratch[CENTER, i] / eigenvalues[i]
        return length + radius * math.sqrt(width) / length
    for i in range(d):
        pull = scratch[PULL, i] / radius
        scratch[PULL, i] = pull if pull > TINY else 0.0

    nu = solve_secular(scratch[PULL], scratch[SPREAD])
    used = 0.0
    for i in range(d):
        share = 0.0
        if scratch[PULL, i] > 0.0:
            share = scratch[PULL, i] / (scratch[SPREAD, i] + nu)
        scratch[PULL, i] = share
        used += share * share
    if used < 1.0 and nu == 0.0:
        scratch[PULL, widest] = math.sqrt(1.0 - used)
        used = 1.0
    scale = radius / math.sqrt(used)
    for i in range(d):
        move = scale * scratch[PULL, i] / math.sqrt(eigenvalues[i])
        scratch[CENTER, i] += move if scratch[CENTER, i] >= 0.0 else -move
    return _write_unit(scratch, eigenvectors, action)


def solve_secular(pulls: Vector, spreads: Vector) -> float:
    r"""Return the :math:`\nu\ge 0` with :math:`\sum_i(b_i/(d_i+\nu))^2=1`, or 0 if it stays below.

    Newton's method on one over the root of the sum, which is concave, from a point left of the
    root: steps never overshoot, and a bisection stands by for rounding. Entries with b_i = 0 are
    left out.
    """
    total = 0.0
    low = 0.0
    unbounded = False
    for i in range(pulls.size):
        if pulls[i] > 0.0:
            total += pulls[i] * pulls[i]
            low = max(low, pulls[i] - spreads[i])
            unbounded = unbounded or spreads[i] == 0.0
    high = math.sqrt(total)
    if not unbounded:
        most = 0.0
        for i in range(pulls.size):
            share = pulls[i] / spreads[i] if pulls[i] > 0.0 else 0.0
            most += share * share if share < 1.0 else 1.0 + share
        if most <= 1.0:
            return 0.0
    nu = low
    for _ in range(MOST_STEPS):
        square = 0.0
        slope = 0.0
        for i in range(pulls.size):
            if pulls[i] > 0.0:
                share = pulls[i] / (spreads[i] + nu)
                square += share * share
                slope += share * share / (spreads[i] + nu)
        root = math.sqrt(square)
        if root > 1.0:
            low = nu
        else:
            high = nu
        ahead = nu + (root - 1.0) * square / slope
        if not low <= ahead <= high:
            ahead = 0.5 * (low + high)
        if abs(root - 1.0) <= CLOSE or ahead == nu:
            return ahead
        nu = ahead
    return nu


def _write_unit(scratch: Vector, eigenvectors: Vector, action: Vector) -> float:
    """Turn the coordinates in the eigenbasis into a vector of length 1 and return their length."""
    d = action.size
    largest = 0.0
    for i in range(d):
        largest = max(largest, abs(scratch[CENTER, i]))
    square = 0.0
    for i in range(d):
        share = scratch[CENTER, i] / largest
        square += share * share  # not a power: C's and Python's differ in the last bit
    length = largest * math.sqrt(square)
    for j in range(d):
        action[j] = 0.0
    for j in range(d):
        total = 0.0
        for i in range(d):
            total += eigenvectors[j, i] * (scratch[CENTER, i] / length)
        action[j] = total
    return length
