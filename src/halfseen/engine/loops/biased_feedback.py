"""Feedback of arms whose probability of being observed depends on the reward."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, REWARD, Stream, uniform, unit, words
from halfseen.engine.loops.feedback import LONGEST_WAIT, WAIT_SCALE, waiting
from halfseen.kernels.compile_hints import inline

if TYPE_CHECKING:
    from halfseen.censorship.base import _always as observe
    from halfseen.problems.reward_laws import draw_count as draw

BY_FUNCTION = False  # ``observe`` is a function of the user; otherwise it is logistic
STEEPEST = 700.0  # beyond this, exp overflows


@inline
def listed_feedback(
    constants: Vector, arm: int, count: int, table: Vector, stream: Stream
) -> tuple[float, float]:
    """Return an observed reward from its exact law and the wait for it, like `feedback`.

    Rows of the table are values in decreasing order, each with the cumulative share of the observed
    rewards. If the probability of being observed is the same for all, draws equal those of
    `feedback`.
    """
    high, low, wait_high, wait_low = words(stream, count, arm)
    u = unit(high, low)
    place = 0
    while place < table.shape[1] - 2 and u >= table[arm, place + 1]:
        place += 2
    wait = waiting(constants[arm, WAIT_SCALE], wait_high, wait_low, stream, count, arm)
    return table[arm, place], wait


@inline
def tried_feedback(
    constants: Vector, arm: int, count: int, table: Vector, stream: Stream
) -> tuple[float, float]:
    """Return the first reward that is observed and the number of draws needed, like `feedback`.

    Rewards are drawn one after another from this observation's own streams. A wait longer than the
    horizon is infinite.
    """
    key0, key1, _, _ = words(stream, count, arm)
    rewards = (key0, key1, stream[2], REWARD)
    chances = (key0, key1, stream[2], ENVIRONMENT)
    last = table.shape[1] - 1
    tried = 0
    while tried <= table[arm, last]:
        reward = draw(table, arm, tried, rewards)
        if BY_FUNCTION:
            chance = observe(reward, arm)
        else:
            slope = table[arm, last - 1]
            lift = table[arm, last - 2] + (slope * reward if slope != 0.0 else 0.0)
            chance = 1.0 / (1.0 + math.exp(-min(max(lift, -STEEPEST), STEEPEST)))
        tried += 1
        if uniform(chances, tried, arm) < chance:
            return reward, float(tried)
    return 0.0, LONGEST_WAIT
