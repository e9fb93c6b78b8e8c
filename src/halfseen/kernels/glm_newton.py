r"""Maximum likelihood for generalized linear rewards, on observed rounds.

With :math:`N_k` observations of action :math:`a_k` and a sum of rewards :math:`S_k`, the estimate
maximises

.. math:: \sum_k \ell(N_k,S_k;z_k)-\tfrac12\theta'P\theta,\qquad z_k=\langle a_k,\theta\rangle,

where the link gives the score :math:`\ell'` and the curvature :math:`-\ell''` in z. Counts and sums
are sufficient statistics for a fixed set of K actions, so a Newton step costs O(K d^2) whatever the
number of rounds.

Beyond a limit Z, which no :math:`|\langle a,\theta\rangle|` exceeds, the score is extrapolated
linearly. This changes nothing if the estimate lies within the limit. It keeps the estimate finite
where the likelihood has its supremum at infinity (separable data, counts that are all 0), prevents
overflow of the exponential, and keeps the curvature above its smallest value on [-Z, Z], as the
width of `GLMUCB` requires.

The kernel works on preallocated arrays. It allocates nothing and runs as plain Python or compiled,
with the link's ``score`` and ``curvature`` filled in.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from halfseen.checks import Vector
from halfseen.kernels.cholesky import exceeds

if TYPE_CHECKING:
    from halfseen.problems.links import probit_curvature as curvature
    from halfseen.problems.links import probit_score as score

TOLERANCE = 1e-16  # squared distance to the maximum, in standard errors, at which steps end
MOST_STEPS = 100
MOST_JITTERS = 40  # most increases of the jitter, from 1e-12 of the trace, tenfold each time
KEEP = 0.01  # reuse the factor if a step left less than this share of the gradient


class Likelihood(NamedTuple):
    """Counts and sums of rewards per row, of which the first `size` are used, and the penalty."""

    rows: Vector
    size: int
    counts: Vector
    sums: Vector
    limit: float
    prior: Vector


class NewtonWork(NamedTuple):
    """Workspace of `maximise`: <a, theta> of every row, the next step and the curvature."""

    z: Vector
    gradient: Vector
    step: Vector
    hessian: Vector
    factor: Vector


def maximise(given: Likelihood, theta: Vector, work: NewtonWork) -> int:
    """Move `theta` to the maximum by Newton steps and return the number of steps.

    `z` is set to <a, theta> of each row, `factor` to the Cholesky factor of the last curvature
    computed. A step is halved until the objective's derivative along it, at its end, is at least
    minus a quarter of that at its start. If the gradient shrank a hundredfold, the same factor is
    used for the next step. Returns -1 if `MOST_STEPS` were not enough or the curvature is not
    finite.
    """
    d, gradient, step = theta.size, work.gradient, work.step
    project_rows(given.rows, given.size, theta, work.z)
    fresh = True  # whether the curvature has to be computed
    steps = 0
    for i in range(d):
        step[i] = 0.0
    before = math.inf
    share = 0.0
    rise = 0.0
    while True:
        write_gradient(given, theta, work, share)
        if share > 0.0:
            along = 0.0
            for i in range(d):
                along += gradient[i] * step[i]
            if along < -0.25 * rise and share > 1e-12:
                share *= 0.5
                continue
            fresh = share < 1.0
            for i in range(d):
                theta[i] += share * step[i]
            project_rows(given.rows, given.size, theta, work.z)
        for _ in range(2):
            if fresh:
                write_curvature(given, work)
                if not factor_curvature(work.hessian, work.factor):
                    return -1
            rise = write_step(work)
            if fresh or rise <= KEEP * before:
                break
            fresh = True
        stalled = rise < 1e-8 and rise > 0.25 * before  # rounding errors prevent further progress
        if rise <= TOLERANCE or stalled:
            return steps
        if steps == MOST_STEPS:
            return -1
        steps += 1
        before = rise
        share = 1.0


def project_rows(rows: Vector, size: int, theta: Vector, z: Vector) -> None:
    """Write <a, theta> of each row."""
    for k in range(size):
        total = 0.0
        for i in range(theta.size):
            total += rows[k, i] * theta[i]
        z[k] = total


def write_gradient(given: Likelihood, theta: Vector, work: NewtonWork, share: float) -> None:
    """Write the gradient at theta + share * step."""
    d, rows, limit, prior = theta.size, given.rows, given.limit, given.prior
    z, gradient, step = work.z, work.gradient, work.step
    for i in range(d):
        total = 0.0
        for j in range(d):
            total -= prior[i, j] * (theta[j] + share * step[j])
        gradient[i] = total
    for k in range(given.size):
        along = z[k]
        if share > 0.0:
            for i in range(d):
                along += share * (rows[k, i] * step[i])
        inside = limit if along > limit else -limit if along < -limit else along
        pull = score(given.counts[k], given.sums[k], inside)
        if along != inside:
            pull -= curvature(given.counts[k], given.sums[k], inside) * (along - inside)
        for i in range(d):
            gradient[i] += pull * rows[k, i]


def write_curvature(given: Likelihood, work: NewtonWork) -> None:
    """Write the lower half of the curvature at the last theta."""
    rows, limit, prior, z, hessian = given.rows, given.limit, given.prior, work.z, work.hessian
    d = hessian.shape[0]
    for i in range(d):
        for j in range(d):
            hessian[i, j] = prior[i, j]
    for k in range(given.size):
        inside = limit if z[k] > limit else -limit if z[k] < -limit else z[k]
        weight = curvature(given.counts[k], given.sums[k], inside)
        if weight > 0.0:
            for i in range(d):
                scaled = weight * rows[k, i]
                for j in range(i + 1):
                    hessian[i, j] += scaled * rows[k, j]


def factor_curvature(hessian: Vector, factor: Vector) -> bool:
    """Write the Cholesky factor, with jitter on the diagonal if needed; False if none helps."""
    jitter = 0.0
    tries = 0
    while not exceeds(hessian, hessian, 0.0, -jitter, factor):
        if tries == MOST_JITTERS:
            return False
        tries += 1
        trace = 0.0
        for i in range(hessian.shape[0]):
            trace += hessian[i, i]
        jitter = 10.0 * jitter + 1e-12 * trace + 1e-300
    return True


def write_step(work: NewtonWork) -> float:
    """Write the Newton step and return its squared length in standard errors."""
    factor, gradient, step = work.factor, work.gradient, work.step
    d = step.size
    for i in range(d):
        total = gradient[i]
        for j in range(i):
            total -= factor[i, j] * step[j]
        step[i] = total / factor[i, i]
    rise = 0.0
    for i in range(d):
        rise += step[i] * step[i]
    for i in range(d - 1, -1, -1):
        total = step[i]
        for j in range(i + 1, d):
            total -= factor[j, i] * step[j]
        step[i] = total / factor[i, i]
    return rise


def unreachable(design: Vector) -> Vector:
    """Return the projection (d, d) onto the null space of a design.

    >>> unreachable(np.diag([2.0, 0.0])).tolist()
    [[0.0, 0.0], [0.0, 1.0]]
    """
    values, vectors = np.linalg.eigh(design)
    empty = vectors[:, values <= 1e-10 * max(float(values[-1]), 1e-300)]
    return np.asarray(empty @ empty.T) + 0.0
