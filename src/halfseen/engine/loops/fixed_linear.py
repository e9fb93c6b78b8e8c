"""Ridge regression on a fixed set of actions, for the loop `halfseen.engine.loops.fixed_set`.

``radius`` is filled in. An observation costs O(K d + d^2), other rounds cost nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfseen.draws import Stream
from halfseen.engine.arguments import (
    COUNTS,
    DESIGN,
    DUE,
    ESTIMATE,
    FACTOR,
    INVERSE,
    LEARNED,
    MEANS,
    MISS,
    NOISE,
    SHAKE,
    SPREAD,
    STALE,
    SUMS,
    TARGET,
    WIDTHS,
    G,
    V,
)
from halfseen.engine.loops.designs import ROUNDING
from halfseen.engine.loops.feedback import MEAN
from halfseen.kernels.cholesky import correlate, lower_factor
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.ridge import (
    gather,
    next_refactor,
    observe_action,
    refactor,
    refresh_actions,
    update_actions,
)
from halfseen.problems.action_sets import fill_normals

if TYPE_CHECKING:
    from halfseen.engine.arguments import FixedWorkspace, FixedWorld
    from halfseen.policies.linear.lin_ucb import radius


def reset(world: FixedWorld, work: FixedWorkspace) -> None:
    """Set the squared error to that of a zero estimate, in the norm of the design."""
    miss = 0.0
    for i in range(world.theta.size):
        miss += world.regularization * world.theta[i] ** 2
    work.numbers[MISS] = miss


@inline
def shake(work: FixedWorkspace, stream: Stream, now: int) -> None:
    """Write a normal vector whose covariance is the inverse of the design."""
    factor, vectors = work.matrices[FACTOR], work.vectors
    if work.numbers[STALE] > 0.0:
        lower_factor(work.matrices[INVERSE], factor)
        work.numbers[STALE] = 0.0
    fill_normals(stream, now, 0, vectors[NOISE])
    correlate(factor, vectors[NOISE], vectors[SHAKE])


@inline
def learn(world: FixedWorld, work: FixedWorkspace, chosen: int, gained: float) -> None:
    """Learn a reward of an action."""
    lists, numbers, v = work.lists, work.numbers, work.vectors[V]
    means, widths = lists[MEANS], lists[WIDTHS]
    truth = world.arm_constants[chosen, MEAN]
    off = means[chosen] - truth
    error = gained - truth
    s = observe_action(work.matrices[INVERSE], world.rows[chosen], v)
    step = (gained - means[chosen]) / (1.0 + s)
    update_actions(world.columns, v, s, step, lists[G], means, widths)
    numbers[SPREAD] += math.log(1.0 + s)
    numbers[MISS] += error * (2.0 * off + error * s) - (off + error * s) ** 2 / (1.0 + s)
    lists[COUNTS, chosen] += 1.0
    lists[SUMS, chosen] += gained
    numbers[LEARNED] += 1.0
    numbers[STALE] = 1.0
    if numbers[LEARNED] == numbers[DUE]:
        start_afresh(world, work)


@shared
def start_afresh(world: FixedWorld, work: FixedWorkspace) -> None:
    """Recompute the estimate from each action's number of observations and sum of rewards."""
    matrices, lists, numbers = work.matrices, work.lists, work.numbers
    inverse, design, estimate = matrices[INVERSE], matrices[DESIGN], work.vectors[ESTIMATE]
    target, lam, d = work.vectors[TARGET], world.regularization, world.theta.size
    gather(world.columns, lists[COUNTS], lists[SUMS], lam, design, target)
    logdet = refactor(design, target, matrices[FACTOR], inverse, estimate)
    numbers[SPREAD] = logdet - d * math.log(lam)
    refresh_actions(world.columns, inverse, estimate, lists[MEANS], lists[WIDTHS])
    numbers[DUE] = next_refactor(int(numbers[LEARNED]), d)
    miss = 0.0
    for i in range(d):
        miss += lam * (estimate[i] - world.theta[i]) ** 2
    for k in range(lists.shape[1]):
        miss += lists[COUNTS, k] * (lists[MEANS, k] - world.arm_constants[k, MEAN]) ** 2
    numbers[MISS] = miss


@inline
def misses(world: FixedWorld, work: FixedWorkspace) -> bool:
    """Return whether theta lies outside the confidence ellipsoid."""
    edge = radius(work.numbers[SPREAD], world.policy_constants)
    return work.numbers[MISS] > ROUNDING * edge**2
