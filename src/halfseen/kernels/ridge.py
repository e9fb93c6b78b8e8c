r"""Ridge regression on observed rounds, one observation at a time.

With :math:`W=\lambda I+\sum x x'` and :math:`b=\sum y\,x` over the observed rounds, the state is
:math:`W^{-1}`, :math:`\log\det W` and :math:`\hat\theta=W^{-1}b`; for a fixed finite set of actions
also each action's mean :math:`a'\hat\theta` and squared width :math:`a'W^{-1}a`. Rounds that are
not observed change nothing.

The kernels work on preallocated arrays; they allocate nothing and run as plain Python or compiled.
One observation costs O(d^2), or O(d^2 + K d) with K actions. They lose about a unit in the last
place per observation, so the state is recomputed on a schedule (`next_refactor`) from quantities
that are kept exactly: W and b, or the counts and sums of a fixed set.

Actions are passed as `columns`, an array (d, K) with one action per column: loops over the last
index are then the long ones.

Examples
--------
>>> import numpy as np
>>> inverse, theta, v = np.eye(2), np.zeros(2), np.zeros(2)
>>> x = np.array([1.0, 0.0])
>>> s = observe_action(inverse, x, v)
>>> step = update_estimate(theta, x, v, s, reward=1.0)
>>> inverse.tolist(), theta.tolist(), float(s), float(step)
([[0.5, 0.0], [0.0, 1.0]], [0.5, 0.0], 1.0, 0.5)
"""

from __future__ import annotations

import math

from halfseen.checks import Vector
from halfseen.kernels.compile_hints import inline, shared

REFACTOR_SPACING = 64  # times the dimension: a refactor then costs under 2% of the updates


@inline
def observe_action(inverse: Vector, x: Vector, v: Vector) -> float:
    r"""Add one observed action to the design and return its squared width before.

    .. math:: v=W^{-1}x,\quad s=x'v,\quad (W+xx')^{-1}=W^{-1}-\frac{vv'}{1+s},\quad
              \log\det(W+xx')=\log\det W+\log(1+s)

    `inverse` is updated and stays symmetric to the last bit; `v` is written. The caller adds
    ``math.log1p(s)`` to its log-determinant.
    """
    d = x.size
    s = 0.0
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += inverse[i, j] * x[j]
        v[i] = total
        s += x[i] * total
    scale = 1.0 / (1.0 + s)
    for i in range(d):
        for j in range(d):
            inverse[i, j] -= (v[i] * v[j]) * scale
    return s


@inline
def update_estimate(theta: Vector, x: Vector, v: Vector, s: float, reward: float) -> float:
    r"""Add one reward to the estimate and return the step taken along `v`.

    .. math:: \hat\theta \leftarrow \hat\theta + v\,\frac{y-x'\hat\theta}{1+s}
    """
    predicted = 0.0
    for j in range(theta.size):
        predicted += x[j] * theta[j]
    step = (reward - predicted) / (1.0 + s)
    for j in range(theta.size):
        theta[j] += v[j] * step
    return step


@inline
def update_actions(
    columns: Vector, v: Vector, s: float, step: float, g: Vector, means: Vector, widths: Vector
) -> None:
    r"""Update the means and squared widths of a fixed set of actions.

    .. math:: g_k=a_k'v,\qquad \text{mean}_k \leftarrow \text{mean}_k + g_k\,\text{step},\qquad
              \text{width}^2_k \leftarrow \text{width}^2_k - \frac{g_k^2}{1+s}

    `v` and `s` come from `observe_action`, `step` from `update_estimate`; `g` is scratch.
    """
    actions = means.size
    for k in range(actions):
        g[k] = 0.0
    for i in range(v.size):
        for k in range(actions):
            g[k] += columns[i, k] * v[i]
    scale = 1.0 / (1.0 + s)
    for k in range(actions):
        means[k] += g[k] * step
        left = widths[k] - (g[k] * g[k]) * scale
        widths[k] = left if left > 0.0 else 0.0


@inline
def accumulate(
    design: Vector,
    design_rest: Vector,
    target: Vector,
    target_rest: Vector,
    x: Vector,
    reward: float,
) -> None:
    """Add one observation to W and b, from which everything can be recomputed.

    Sums are compensated (Kahan): `design_rest` and `target_rest` hold the rounding errors and start
    at 0. Without them, adding the same action a million times loses five digits of W.
    """
    d = x.size
    for i in range(d):
        missing = reward * x[i] - target_rest[i]
        total = target[i] + missing
        target_rest[i] = (total - target[i]) - missing
        target[i] = total
        for j in range(d):
            missing = x[i] * x[j] - design_rest[i, j]
            total = design[i, j] + missing
            design_rest[i, j] = (total - design[i, j]) - missing
            design[i, j] = total


@inline
def gather(
    columns: Vector,
    counts: Vector,
    sums: Vector,
    regularization: float,
    design: Vector,
    target: Vector,
) -> None:
    r"""Write W and b of a fixed set of actions from the counts and sums of each.

    .. math:: W=\lambda I+\sum_k N_k a_k a_k',\qquad b=\sum_k S_k a_k

    Counts are whole numbers and therefore exact, however many rounds were played.
    """
    d = target.size
    for i in range(d):
        total = 0.0
        for k in range(counts.size):
            total += columns[i, k] * sums[k]
        target[i] = total
        for j in range(i + 1):
            total = regularization if i == j else 0.0
            for k in range(counts.size):
                total += counts[k] * (columns[i, k] * columns[j, k])
            design[i, j] = total
            design[j, i] = total


@shared
def refactor(
    design: Vector, target: Vector, factor: Vector, inverse: Vector, theta: Vector
) -> float:
    r"""Recompute the inverse and the estimate and return log det W.

    By Cholesky: :math:`W=LL'`, :math:`W^{-1}=L^{-\top}L^{-1}`,
    :math:`\log\det W=2\sum_i\log L_{ii}`. `factor` is scratch (d, d). Returns NaN, and writes
    nothing to `inverse` and `theta`, if W is not positive definite.
    """
    d = target.size
    logdet = 0.0
    for i in range(d):
        for j in range(i):
            left = design[i, j]
            for k in range(j):
                left -= factor[i, k] * factor[j, k]
            factor[i, j] = left / factor[j, j]
        left = design[i, i]
        for k in range(i):
            left -= factor[i, k] * factor[i, k]
        if not left > 0.0:
            return math.nan
        factor[i, i] = math.sqrt(left)
        logdet += math.log(left)
    for j in range(d):  # L is overwritten by its inverse
        factor[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, d):
            left = 0.0
            for k in range(j, i):
                left -= factor[i, k] * factor[k, j]
            factor[i, j] = left / factor[i, i]
    for i in range(d):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, d):
                total += factor[k, i] * factor[k, j]
            inverse[i, j] = total
            inverse[j, i] = total
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += inverse[i, j] * target[j]
        theta[i] = total
    return logdet


@inline
def refresh_actions(
    columns: Vector, inverse: Vector, theta: Vector, means: Vector, widths: Vector
) -> None:
    """Recompute the means and squared widths of a fixed set of actions, in O(K d^2)."""
    d, actions = columns.shape
    for k in range(actions):
        means[k] = 0.0
        widths[k] = 0.0
    for i in range(d):
        for k in range(actions):
            means[k] += columns[i, k] * theta[i]
        for j in range(d):
            for k in range(actions):
                widths[k] += inverse[i, j] * (columns[i, k] * columns[j, k])
    for k in range(actions):
        widths[k] = widths[k] if widths[k] > 0.0 else 0.0


@inline
def project(columns: Vector, vector: Vector, out: Vector) -> None:
    """Write the product of every action with a vector, in O(K d)."""
    for k in range(out.size):
        out[k] = 0.0
    for i in range(vector.size):
        weight = vector[i]
        for k in range(out.size):
            out[k] += columns[i, k] * weight


@inline
def project_both(
    columns: Vector, vector: Vector, other: Vector, out: Vector, other_out: Vector
) -> None:
    """Write the products of every action with two vectors, as `project` does, in one pass."""
    d = vector.size
    first, second = (vector[0], other[0]) if d % 2 == 1 else (0.0, 0.0)
    for k in range(out.size):
        out[k] = 0.0 + columns[0, k] * first
        other_out[k] = 0.0 + columns[0, k] * second
    for i in range(d % 2, d, 2):
        for k in range(out.size):
            x = columns[i, k]
            y = columns[i + 1, k]
            out[k] = (out[k] + x * vector[i]) + y * vector[i + 1]
            other_out[k] = (other_out[k] + x * other[i]) + y * other[i + 1]


@inline
def square_widths(columns: Vector, inverse: Vector, g: Vector, widths: Vector) -> None:
    r"""Write the squared width of every action, in O(K d^2); `g` (2, K) is scratch.

    .. math:: a'W^{-1}a=2\sum_i a_i\Big(\tfrac12 W^{-1}_{ii}a_i+\sum_{j<i}W^{-1}_{ij}a_j\Big)

    Two rows i and two terms j are processed at a time, which takes a quarter of the memory traffic.
    """
    d = columns.shape[0]
    for k in range(widths.size):
        widths[k] = 0.0
    for i in range(0, d - 1, 2):
        add_two_rows(columns, inverse, i, g, widths)
    if d % 2 == 1:
        add_row(columns, inverse, d - 1, g, widths)
    for k in range(widths.size):
        widths[k] = 2.0 * widths[k] if widths[k] > 0.0 else 0.0


@inline
def add_two_rows(columns: Vector, inverse: Vector, i: int, g: Vector, widths: Vector) -> None:
    """Add the rows i and i + 1, of i even, to half the squared widths."""
    first, second = 0.5 * inverse[i, i], 0.5 * inverse[i + 1, i + 1]
    for k in range(widths.size):
        g[0, k] = first * columns[i, k]
        g[1, k] = second * columns[i + 1, k]
    for j in range(0, i, 2):
        add_two_terms(columns, inverse, i, j, g)
    second = inverse[i + 1, i]
    for k in range(widths.size):
        x = columns[i, k]
        widths[k] = (widths[k] + g[0, k] * x) + (g[1, k] + second * x) * columns[i + 1, k]


@inline
def add_two_terms(columns: Vector, inverse: Vector, i: int, j: int, g: Vector) -> None:
    """Add the terms j and j + 1 of the rows i and i + 1 of the inverse times every action."""
    a, b = inverse[i, j], inverse[i, j + 1]
    p, q = inverse[i + 1, j], inverse[i + 1, j + 1]
    for k in range(g.shape[1]):
        x = columns[j, k]
        y = columns[j + 1, k]
        g[0, k] = (g[0, k] + a * x) + b * y
        g[1, k] = (g[1, k] + p * x) + q * y


@inline
def add_row(columns: Vector, inverse: Vector, i: int, g: Vector, widths: Vector) -> None:
    """Add the row i to half the squared widths."""
    for k in range(widths.size):
        g[0, k] = 0.5 * inverse[i, i] * columns[i, k]
    for j in range(i):
        for k in range(widths.size):
            g[0, k] += inverse[i, j] * columns[j, k]
    for k in range(widths.size):
        widths[k] += g[0, k] * columns[i, k]


@inline
def next_refactor(observed: int, dimension: int) -> int:
    """Return the number of observations at which to recompute the state next.

    It is recomputed after 1, 2, 4, ... observations, while the inverse shrinks fast and early
    errors would dominate, and then every `REFACTOR_SPACING` times d observations.

    >>> next_refactor(0, 5), next_refactor(8, 5), next_refactor(512, 5)
    (1, 16, 832)
    """
    longest = REFACTOR_SPACING * dimension
    if observed < 1:
        return 1
    return observed + (observed if observed < longest else longest)
