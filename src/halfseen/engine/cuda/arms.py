"""The loops of a GPU: one thread plays one replication of an armed bandit.

``index``, ``choose``, ``learn``, ``width`` and the constants in capitals are filled in with a
policy's own. On a cpu the latency of a draw is hidden by drawing every arm's next reward in advance
(`halfseen.engine.loops.arms`). A GPU hides it behind other threads but has little fast memory, so
here a reward is drawn when its arm is chosen. The draws and the trajectories are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY
from halfseen.engine.arguments import ArmTrack, ArmWorld
from halfseen.engine.loops.feedback import HALF_RATE, MEAN, PATIENCE, discount, feedback
from halfseen.engine.loops.record import record
from halfseen.kernels.ties import outside
from halfseen.policies.arms.base import COUNT

if TYPE_CHECKING:
    from halfseen.policies.arms.base import count_and_sum as learn
    from halfseen.policies.arms.imed import choose
    from halfseen.policies.arms.ucb import index, width

HAS_WIDTH = False
CHOOSES = False
STATISTICS = 2
ARMS = 2
ORDERS = 1
REAL = np.float64


class NearArmWorkspace(NamedTuple):
    """Workspace of a thread: constants and state in shared memory, values in its registers."""

    arm_constants: Vector
    policy_constants: Vector
    state: NDArray[Any]
    pulled: NDArray[Any]
    values: NDArray[Any]
    potential: NDArray[Any]


def leap(
    replication: int, row: int, world: ArmWorld, work: NearArmWorkspace, track: ArmTrack
) -> None:
    """Play one replication of a policy whose choice changes only on observations."""
    constants, policy_constants = work.arm_constants, work.policy_constants
    state, pulled, values, potential = work.state, work.pulled, work.values, work.potential
    law, alphas, regularization = world.law, world.alphas, world.regularization
    environment_stream = (world.key[0], world.key[1], replication, ENVIRONMENT)
    policy_stream = (world.key[0], world.key[1], replication, POLICY)
    for k in range(ARMS):
        for i in range(STATISTICS):
            state[k, i] = 0.0
        pulled[k] = 0.0
        values[k] = -np.inf
    best = REAL(-np.inf)
    for k in range(ARMS):
        if world.available[0, k] == 1:
            if not CHOOSES:
                values[k] = index(state, k, 1, policy_stream, policy_constants)
            best = max(best, constants[k, MEAN])
    for k in range(ORDERS):
        potential[k] = 0.0
    optimism = 0
    censoring = 0
    start = np.float64(0.0)
    playable = world.available[0]
    arm: Any
    if CHOOSES:
        arm = np.uint32(choose(state, pulled, playable, 1, policy_stream, policy_constants))
    else:
        arm = largest(values)
    reward, wait = feedback(constants, arm, 0, law, environment_stream)

    for checkpoint in range(world.stops.size):
        stop = world.stops[checkpoint]
        left = REAL(stop - start)
        start = stop
        while left > 0.0:
            span = REAL(wait)
            if span > left:
                span = left
            left -= span
            wait -= span
            observed = wait == 0.0
            seen = state[arm, COUNT]
            if ORDERS > 0:
                weight = 1.0 / (seen + regularization)
                for k in range(ORDERS):
                    potential[k] += span * discount(weight, alphas[k])
            total = pulled[arm] + span
            pulled[arm] = total
            if total >= constants[arm, PATIENCE]:
                before = total - 1.0 if observed else total
                half = constants[arm, HALF_RATE]
                if before >= constants[arm, PATIENCE] and seen < half * before:
                    censoring = 1
                if observed and seen + 1.0 < half * total:
                    censoring = 1
            if observed:
                learn(state, arm, reward, policy_constants)
                clock = int(stop - left)
                if HAS_WIDTH or not CHOOSES:
                    value = index(state, arm, clock, policy_stream, policy_constants)
                    reach = width(state, arm, clock, policy_constants) if HAS_WIDTH else 0.0
                    if HAS_WIDTH and outside(constants[arm, MEAN], value, reach):
                        optimism = 1
                    for k in range(ARMS):  # constant indices keep the values in registers
                        values[k] = value if k == arm else values[k]
                if CHOOSES:
                    arm = np.uint32(
                        choose(state, pulled, playable, clock + 1, policy_stream, policy_constants)
                    )
                else:
                    arm = largest(values)
                count = int(state[arm, COUNT])
                reward, wait = feedback(constants, arm, count, law, environment_stream)
        regret = np.float64(0.0)
        for k in range(ARMS):
            regret += pulled[k] * (best - constants[k, MEAN])
        failed = optimism if HAS_WIDTH else -1
        record(track, (row, checkpoint), regret, failed, censoring, pulled, state[:, COUNT])
        for k in range(ORDERS):  # known at compile time, so they stay in registers
            track.potential[row, checkpoint, k] = potential[k]


def largest(values: NDArray[Any]) -> Any:
    """Return the index of the largest value, the first among equals, unsigned."""
    place = np.uint32(0)
    top = values[0]
    for k in range(1, ARMS):
        if values[k] > top:
            top = values[k]
            place = np.uint32(k)
    return place
