"""Maximum likelihood on a fixed set of actions, for the loop `halfseen.engine.loops.fixed_set`.

``fit`` is `halfseen.kernels.glm_newton.maximise` of the bandit's link; it and ``radius`` are filled
in. The likelihood is kept as a count and a sum per action: an observation costs O(K d^2 + d^3)
whatever the round, and usually one Newton step, which starts from the last estimate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfseen.draws import Stream
from halfseen.engine.arguments import (
    COUNTS,
    CURVATURE,
    DESIGN,
    DUE,
    ESTIMATE,
    EXPLORING,
    FACTOR,
    GRADIENT,
    INVERSE,
    LEARNED,
    MEANS,
    NOISE,
    ROOT,
    SHAKE,
    SPREAD,
    SUMS,
    TARGET,
    WIDTHS,
    G,
    V,
)
from halfseen.engine.loops.designs import ROUNDING
from halfseen.engine.loops.glm_steps import shake_by_curve, squared_error
from halfseen.kernels.cholesky import exceeds, lower_factor
from halfseen.kernels.compile_hints import shared
from halfseen.kernels.glm_newton import Likelihood, NewtonWork
from halfseen.kernels.ridge import (
    gather,
    next_refactor,
    observe_action,
    refactor,
    refresh_actions,
    update_actions,
)
from halfseen.policies.glm.base import SEEN_ONCE

if TYPE_CHECKING:
    from halfseen.engine.arguments import FixedWorkspace, FixedWorld
    from halfseen.kernels.glm_newton import maximise as fit
    from halfseen.policies.linear.lin_ucb import radius

SAMPLES = False
EXPLORES = False


def reset(world: FixedWorld, work: FixedWorkspace) -> None:
    """Reset the curvature to that of the prior."""
    if SAMPLES:
        lower_factor(world.prior, work.curvatures[ROOT])
    work.numbers[EXPLORING] = 1.0 if EXPLORES else 0.0


def shake(work: FixedWorkspace, stream: Stream, now: int) -> None:
    """Write a normal vector whose covariance is the inverse of the last curvature."""
    vectors = work.vectors
    shake_by_curve(stream, now, work.curvatures[ROOT], vectors[NOISE], vectors[SHAKE])


def learn(world: FixedWorld, work: FixedWorkspace, chosen: int, gained: float) -> None:
    """Learn a reward of an action, and maximise the likelihood unless exploring."""
    lists, numbers, d = work.lists, work.numbers, world.theta.size
    widen(world, work, chosen, gained)
    left = False  # whether exploration ends with this round
    if EXPLORES and numbers[EXPLORING] > 0.0:
        left = seen_everywhere(world, work)
        numbers[EXPLORING] = 0.0 if left else 1.0
    if numbers[LEARNED] == numbers[DUE] or left:
        start_afresh(world, work, EXPLORES and numbers[EXPLORING] == 0.0)
    if numbers[EXPLORING] == 0.0:
        size, vectors, curvatures = lists.shape[1], work.vectors, work.curvatures
        given = Likelihood(world.rows, size, lists[COUNTS], lists[SUMS], world.limit, world.prior)
        newton = NewtonWork(
            lists[MEANS], vectors[GRADIENT], vectors[V], curvatures[CURVATURE], curvatures[ROOT]
        )
        fit(given, vectors[ESTIMATE], newton)
        if EXPLORES:
            numbers[SPREAD] = d * math.log1p(2.0 * numbers[LEARNED] / d)


@shared
def widen(world: FixedWorld, work: FixedWorkspace, chosen: int, gained: float) -> None:
    """Count an observation, and update the inverse and the widths."""
    lists, numbers, v = work.lists, work.numbers, work.vectors[V]
    lists[SUMS, chosen] += gained
    lists[COUNTS, chosen] += 1.0
    numbers[LEARNED] += 1.0
    s = observe_action(work.matrices[INVERSE], world.rows[chosen], v)
    update_actions(world.columns, v, s, 0.0, lists[G], lists[MEANS], lists[WIDTHS])
    numbers[SPREAD] += math.log(1.0 + s)


def gather_plain(world: FixedWorld, work: FixedWorkspace) -> None:
    """Write the design without a ridge, with 1 along directions that no action spans."""
    lists, design = work.lists, work.matrices[DESIGN]
    gather(world.columns, lists[COUNTS], lists[SUMS], 0.0, design, work.vectors[TARGET])
    for i in range(design.shape[0]):
        for j in range(design.shape[0]):
            design[i, j] += world.prior[i, j]


@shared
def seen_everywhere(world: FixedWorld, work: FixedWorkspace) -> bool:
    """Return whether every direction was observed at least once."""
    gather_plain(world, work)
    design = work.matrices[DESIGN]
    return exceeds(design, design, 0.0, SEEN_ONCE, work.matrices[FACTOR])


@shared
def start_afresh(world: FixedWorld, work: FixedWorkspace, plain: bool) -> None:
    """Recompute inverse, widths and spread from the counts, without a ridge if `plain`."""
    matrices, lists, vectors, numbers = work.matrices, work.lists, work.vectors, work.numbers
    inverse, design, target = matrices[INVERSE], matrices[DESIGN], vectors[TARGET]
    lam, d = world.regularization, world.theta.size
    if plain:
        gather_plain(world, work)
    else:
        gather(world.columns, lists[COUNTS], lists[SUMS], lam, design, target)
    logdet = refactor(design, target, matrices[FACTOR], inverse, vectors[V])
    numbers[SPREAD] = logdet - d * math.log(lam)
    refresh_actions(world.columns, inverse, vectors[ESTIMATE], lists[MEANS], lists[WIDTHS])
    numbers[DUE] = next_refactor(int(numbers[LEARNED]), d)


def misses(world: FixedWorld, work: FixedWorkspace) -> bool:
    """Return whether theta lies outside the confidence ellipsoid of an up-to-date estimate."""
    if work.numbers[EXPLORING] > 0.0:
        return False
    ridge = 0.0 if EXPLORES else world.regularization
    estimate, edge = work.vectors[ESTIMATE], radius(work.numbers[SPREAD], world.policy_constants)
    error = squared_error(world.rows, work.lists[COUNTS], ridge, estimate, world.theta)
    return error > ROUNDING * edge**2
