r"""The point of an ellipsoid farthest from 0, which is the most optimistic action of the unit ball.

In the eigenbasis of W it is found from one equation in one unknown, the *secular equation* of
trust-region methods; see `halfseen.theory.farthest_point`.
"""

from __future__ import annotations

import math

from halfseen.checks import Vector

CENTER, PULL, SPREAD = range(3)  # rows of the scratch array
SCRATCH_ROWS = 3
MOST_STEPS = 200
CLOSE = 1e-12  # relative step below which one more Newton step is exact up to rounding
TINY, HUGE = 1e-150, 1e150  # beyond these, squares underflow or overflow and no longer matter


def write_farthest(
    center: Vector,
    eigenvalues: Vector,
    eigenvectors: Vector,
    radius: float,
    scratch: Vector,
    action: Vector,
) -> float:
    """Write the best action into `action` and return its value, without validation or allocation.

    `scratch` is an array (3, d). The function runs as plain Python or compiled.
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

    Newton's method is applied to one over the square root of the sum, which is concave, from a
    point left of the root, so that steps never overshoot; bisection is the fallback for rounding
    errors. Entries with b_i = 0 are left out.
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
        square += share * share  # not a power, as C's and Python's differ in the last bit
    length = largest * math.sqrt(square)
    for j in range(d):
        action[j] = 0.0
    for j in range(d):
        total = 0.0
        for i in range(d):
            total += eigenvectors[j, i] * (scratch[CENTER, i] / length)
        action[j] = total
    return length
