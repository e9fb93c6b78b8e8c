"""The loop of a learner with delayed rewards: it plays one future of a log.

The names ``index`` and ``learn`` are filled in with a policy's own by `halfseen.engine.specialise`.
The n-th reward of an arm and its delay are the same for every waiting time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, POLICY, normal, words
from halfseen.draws import unit as unit_from

if TYPE_CHECKING:
    from halfseen.policies.arms.base import count_and_sum as learn
    from halfseen.policies.arms.ucb import index


class DelayedWorld(NamedTuple):
    """A bandit with delays, a policy's constants and how long its learner waits.

    Attributes
    ----------
    means, noise
        Mean and noise of each arm; a noise below 0 stands for rewards of 0 or 1.
    share, inverse
        The share of each arm's rewards that ever come, and their delays at evenly spaced levels.
    constants
        Constants of the policy's kernels.
    key
        Key of the random numbers.
    step
        Time between two decisions.
    waits
        How long the learner waits for a reward.
    settled
        1 if it learns a reward only when the wait is over, 0 if as soon as it comes.
    """

    means: Vector
    noise: Vector
    share: Vector
    inverse: Vector
    constants: Vector
    key: tuple[int, int]
    step: float
    waits: float
    settled: int


class DelayedWork(NamedTuple):
    """Preallocated workspace: the learner's state, and rewards by the decision they precede."""

    state: Vector
    values: Vector
    pulls: Vector
    first: NDArray[Any]
    following: NDArray[Any]
    arm: NDArray[Any]
    reward: Vector
    regret: Vector


def play_delayed(future: int, world: DelayedWorld, work: DelayedWork) -> None:
    """Play one future and write its regret."""
    arms, rounds = world.means.size, work.first.size
    environment = (world.key[0], world.key[1], future, ENVIRONMENT)
    policy = (world.key[0], world.key[1], future, POLICY)
    levels = world.inverse.shape[1] - 1
    best = -math.inf
    for arm in range(arms):
        work.pulls[arm] = 0.0
        for k in range(work.state.shape[1]):
            work.state[arm, k] = 0.0
        work.values[arm] = index(work.state, arm, 1, policy, world.constants)
        best = max(best, world.means[arm])
    for t in range(rounds):
        work.first[t] = -1
    regret = 0.0
    for t in range(rounds):
        back = work.first[t]
        while back >= 0:
            arm = work.arm[back]
            learn(work.state, arm, work.reward[back], world.constants)
            work.values[arm] = index(work.state, arm, t + 1, policy, world.constants)
            back = work.following[back]
        chosen = 0
        for arm in range(1, arms):
            if work.values[arm] > work.values[chosen]:
                chosen = arm
        regret += best - world.means[chosen]
        count = int(work.pulls[chosen])
        work.pulls[chosen] += 1.0
        a, b, c, d = words(environment, count, chosen)
        place = unit_from(a, b)
        if place >= world.share[chosen]:
            continue
        at = place / world.share[chosen] * levels
        cell = min(int(at), levels - 1)
        low = world.inverse[chosen, cell]
        delay = low + (at - cell) * (world.inverse[chosen, cell + 1] - low)
        if delay > world.waits:
            continue
        wait = world.waits if world.settled == 1 else delay
        slot = t + max(1, math.ceil(wait / world.step))
        if slot >= rounds:
            continue
        if world.noise[chosen] < 0.0:
            work.reward[t] = 1.0 if unit_from(c, d) < world.means[chosen] else 0.0
        else:
            noise = normal(policy, count, chosen)
            work.reward[t] = world.means[chosen] + world.noise[chosen] * noise
        work.arm[t] = chosen
        work.following[t] = work.first[slot]
        work.first[slot] = t
    work.regret[0] = regret
