"""Ridge regression on the unit ball, for the loop `halfseen.engine.loops.changing_set`.

``on_ball`` and the constants in capitals are filled in; the other open names are those of
`halfseen.engine.loops.drawn`. An observation costs O(d^3) if the policy samples, or if it or an
order of the potential needs the eigenvectors of the design, otherwise O(d^2); a round costs O(d^2)
in addition.

For every policy, observation number n has the same noise, and occurs when the rounds since the
previous one have used up the same exponential number; a round observed with probability p uses
-log(1-p) of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfseen.checks import Vector
from halfseen.draws import POLICY, Stream, exponential_from, words
from halfseen.engine.arguments import (
    ACTION,
    AXES,
    DESIGN,
    ESTIMATE,
    INVERSE,
    INVERSE_VALUES,
    LEFT,
    LENGTHS,
    SCRATCH,
    SHAKE,
    SHOWN,
    SPREAD,
)
from halfseen.engine.loops.drawn import shake
from halfseen.engine.loops.feedback import LONGEST_WAIT
from halfseen.kernels.compile_hints import inline, shared
from halfseen.kernels.jacobi import eigen
from halfseen.policies.linear.base import BallKnowledge

if TYPE_CHECKING:
    from halfseen.engine.arguments import ChangingWorkspace, ChangingWorld
    from halfseen.policies.linear.lin_ucb import most_optimistic as on_ball

JUMPS = False  # the choice changes only on an observation
SAMPLES = False  # the policy is given a random shift every round


@inline
def choose(
    world: ChangingWorld, work: ChangingWorkspace, replication: int, now: int
) -> tuple[int, float, float, float]:
    """Write the action of the ball with the largest index.

    Returns 0, the largest mean of all actions, its own mean and its squared width.
    """
    vectors, x, theta = work.vectors, work.lines[ACTION], world.theta
    inverse = work.matrices[INVERSE]
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    if SAMPLES:
        shake(work, policy_stream, now)
    known = BallKnowledge(
        vectors[ESTIMATE],
        vectors[SHAKE],
        work.lines[LENGTHS],
        work.designs[AXES],
        work.numbers[SPREAD],
    )
    on_ball(known, now, policy_stream, world.policy_constants, work.ball, x)
    best = 0.0
    truth = 0.0
    width = 0.0
    for i in range(x.size):
        best += theta[i] * theta[i]
        truth += x[i] * theta[i]
        total = 0.0
        for j in range(x.size):
            total += inverse[i, j] * x[j]
        width += total * x[i]
    return 0, math.sqrt(best), truth, width


@inline
def respond(numbers: Vector, rate: float, observed: bool, stream: Stream, now: int) -> float:
    """Return the number of rounds until a reward is observed, if the action stays the same."""
    if observed:
        shown = int(numbers[SHOWN])
        _, _, high, low = words(stream, shown, 0)
        numbers[LEFT] = exponential_from(high, low, stream, shown, 0)
    if not rate < 1.0:
        return 1.0
    missed = numbers[LEFT] / -math.log1p(-rate)
    if not JUMPS:
        numbers[LEFT] += math.log1p(-rate)
    return LONGEST_WAIT if missed > LONGEST_WAIT else 1.0 + math.floor(missed)


@shared
def decompose(work: ChangingWorkspace) -> None:
    """Write the eigenvalues and eigenvectors of the design, and the eigenvalues' inverses."""
    scratch, design, lengths = work.matrices[SCRATCH], work.matrices[DESIGN], work.lines[LENGTHS]
    for i in range(lengths.size):
        for j in range(lengths.size):
            scratch[i, j] = design[i, j]
    eigen(scratch, lengths, work.designs[AXES])
    for i in range(lengths.size):
        work.lines[INVERSE_VALUES, i] = 1.0 / lengths[i]
