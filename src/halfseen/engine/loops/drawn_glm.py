"""Maximum likelihood on changing actions, for the loop `halfseen.engine.loops.changing_set`.

``mean``, ``draw``, ``radius`` and the constants in capitals are filled in, as are ``choose_glm``,
``learn_glm`` and ``reset_glm``, those of the live agent. Counts are not sufficient for the
likelihood here, so every observed round is kept, d + 2 numbers each. The likelihood is refitted
when the determinant of the design has grown by `GROWTH`; until then estimate and widths do not
change. A width in the older design is at most sqrt(1 + GROWTH) times that in the current one, which
is the cost in the regret. The fits of n rounds together cost O(n d^3 / GROWTH), and each round
O(K d^2) in addition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from halfseen.draws import AVAILABILITY
from halfseen.engine.arguments import (
    ACTION,
    DESIGN,
    ESTIMATE,
    INVERSE,
    LENGTHS,
    LIMIT,
    PRIOR,
    REGULARIZATION,
    REPLICATION,
    TOLD,
)
from halfseen.engine.loops.designs import ROUNDING
from halfseen.engine.loops.glm_steps import form

if TYPE_CHECKING:
    from halfseen.engine.arguments import ChangingWorkspace, ChangingWorld, History
    from halfseen.engine.loops.live_glm import choose_glm, learn_glm, reset_glm
    from halfseen.policies.linear.lin_ucb import radius
    from halfseen.problems.action_sets import draw_action as draw
    from halfseen.problems.links import logistic_mean as mean

DRAWN = True  # actions are drawn, not read from a sequence
EXPLORES = False


def reset(world: ChangingWorld, work: ChangingWorkspace, replication: int) -> None:
    """Reset the state."""
    numbers, d = work.numbers, world.theta.size
    numbers[REGULARIZATION] = world.regularization
    numbers[LIMIT] = world.limit
    numbers[REPLICATION] = replication
    for i in range(d):
        for j in range(d):
            work.matrices[PRIOR, i, j] = world.prior[i, j]
    reset_glm(work.matrices, work.vectors, numbers)


def choose(
    world: ChangingWorld, work: ChangingWorkspace, replication: int, now: int
) -> tuple[int, float, float, float]:
    """Write the action with the largest index, the first among equals.

    Returns its place, the largest mean of all, its own mean and its squared width.
    """
    rows, x, theta, key = work.actions, work.lines[ACTION], world.theta, world.key
    availability_stream = (key[0], key[1], replication, AVAILABILITY)
    line = (now - 1) % world.offered.shape[0]
    best = -np.inf
    for k in range(rows.shape[0]):
        if DRAWN:
            draw(availability_stream, now, k, rows[k])
        else:
            for i in range(x.size):
                rows[k, i] = world.offered[line, k, i]
        reality = 0.0
        for i in range(x.size):
            reality += rows[k, i] * theta[i]
        if reality > best:
            best = reality
    chosen = choose_glm(
        rows,
        work.matrices,
        work.vectors,
        work.numbers,
        now,
        key[0],
        key[1],
        world.policy_constants,
    )
    truth = 0.0
    for i in range(x.size):
        x[i] = rows[chosen, i]
        truth += x[i] * theta[i]
    return chosen, mean(best), mean(truth), form(work.matrices[INVERSE], x)


def learn(world: ChangingWorld, work: ChangingWorkspace, history: History, gained: float) -> bool:
    """Learn a reward of the action; True if the likelihood was refitted."""
    return learn_glm(
        work.lines[ACTION],
        gained,
        work.matrices,
        work.vectors,
        work.numbers,
        history,
    )


def misses(world: ChangingWorld, work: ChangingWorkspace) -> bool:
    """Return whether theta lies outside the confidence ellipsoid of an up-to-date estimate."""
    off, estimate = work.lines[LENGTHS], work.vectors[ESTIMATE]
    for i in range(off.size):
        off[i] = estimate[i] - world.theta[i]
    error = form(work.matrices[DESIGN], off)
    if EXPLORES:
        for i in range(off.size):
            error -= world.regularization * (off[i] * off[i])
    edge = radius(work.numbers[TOLD], world.policy_constants)
    return error > ROUNDING * edge**2
