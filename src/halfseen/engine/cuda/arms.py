"""The loops of a GPU: one thread plays one replication of an armed bandit.

``index``, ``learn``, ``width`` and the constants in capitals are filled in with a policy's own. A
core of a cpu hides the time a draw takes by knowing every arm's next reward in advance
(`halfseen.engine.loops.arms`). A GPU hides it behind other threads and is short of memory instead,
so here a reward is drawn when its arm is chosen. The draws and the trajectories are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY
from halfseen.engine.loops.feedback import HALF_RATE, MEAN, PATIENCE, discount, feedback
from halfseen.policies.policy import COUNT

if TYPE_CHECKING:
    from halfseen.policies.policy import count_and_sum as learn
    from halfseen.policies.ucb import index, width

HAS_WIDTH = False
STATISTICS = 2
ARMS = 2
ORDERS = 1
REAL = np.float64


def leap(
    replication: int,
    row: int,
    facts: Vector,
    table: Vector,
    state: NDArray[Any],
    pulled: NDArray[Any],
    values: NDArray[Any],
    spent: NDArray[Any],
    law: int,
    menu: NDArray[Any],
    key: tuple[int, int],
    checkpoints: NDArray[Any],
    alphas: Vector,
    regularization: float,
    regret: NDArray[Any],
    pulls: NDArray[Any],
    observations: NDArray[Any],
    potential: NDArray[Any],
    optimism_failed: NDArray[Any],
    censoring_failed: NDArray[Any],
) -> None:
    """Play one replication of a policy that changes its mind only on observations."""
    world = (key[0], key[1], replication, ENVIRONMENT)
    mind = (key[0], key[1], replication, POLICY)
    for arm in range(ARMS):
        for k in range(STATISTICS):
            state[arm, k] = 0.0
        pulled[arm] = 0.0
        values[arm] = -np.inf
    best = REAL(-np.inf)
    for arm in range(ARMS):
        if menu[0, arm] == 1:
            values[arm] = index(state, arm, 1, mind, table)
            best = max(best, facts[arm, MEAN])
    for k in range(ORDERS):
        spent[k] = 0.0
    optimism = 0
    censoring = 0
    start = np.float64(0.0)
    arm = largest(values)
    reward, wait = feedback(facts, arm, 0, law, world)

    for checkpoint in range(checkpoints.size):
        stop = checkpoints[checkpoint]
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
                    spent[k] += span * discount(weight, alphas[k])
            total = pulled[arm] + span
            pulled[arm] = total
            if total >= facts[arm, PATIENCE]:
                before = total - 1.0 if observed else total
                half = facts[arm, HALF_RATE]
                if before >= facts[arm, PATIENCE] and seen < half * before:
                    censoring = 1
                if observed and seen + 1.0 < half * total:
                    censoring = 1
            if observed:
                learn(state, arm, reward, table)
                clock = int(stop - left)
                value = index(state, arm, clock, mind, table)
                if HAS_WIDTH:
                    below = value - 2.0 * width(state, arm, clock, table)
                    if facts[arm, MEAN] > value or facts[arm, MEAN] < below:
                        optimism = 1
                for k in range(ARMS):  # no address depends on the arm: the values stay in registers
                    values[k] = value if k == arm else values[k]
                arm = largest(values)
                reward, wait = feedback(facts, arm, int(state[arm, COUNT]), law, world)
        lost = np.float64(0.0)
        for k in range(ARMS):
            lost += pulled[k] * (best - facts[k, MEAN])
            pulls[row, checkpoint, k] = int(pulled[k])
            observations[row, checkpoint, k] = int(state[k, COUNT])
        regret[row, checkpoint] = lost
        optimism_failed[row, checkpoint] = optimism if HAS_WIDTH else -1
        censoring_failed[row, checkpoint] = censoring
        for k in range(ORDERS):
            potential[row, checkpoint, k] = spent[k]


def largest(values: NDArray[Any]) -> Any:
    """Return the place of the largest value, the first among equals, unsigned."""
    place = np.uint32(0)
    top = values[0]
    for k in range(1, ARMS):
        if values[k] > top:
            top = values[k]
            place = np.uint32(k)
    return place
