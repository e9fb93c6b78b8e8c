"""Feedback of the environment: rewards, waits until an observation, playable arms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.draws import REWARD, Stream, exponential_from, normal_from, uniform, unit, words
from halfseen.kernels.compile_hints import inline

if TYPE_CHECKING:
    from halfseen.engine.arguments import ArmWorld
    from halfseen.engine.late_arguments import LateWorld
    from halfseen.problems.links import draw_bernoulli as reward
    from halfseen.problems.reward_laws import draw_count as draw

MEAN, NOISE, HALF_RATE, WAIT_SCALE, PATIENCE = range(5)  # columns of an arm's constants
GAUSSIAN, BERNOULLI, UNIFORM, RADEMACHER = range(4)  # laws of the rewards
FIXED, RANDOM, SEQUENCE = range(3)  # kinds of action sets
LONGEST_WAIT = 2.0**52


@inline
def feedback(
    constants: Vector, arm: int, count: int, law: int, stream: Stream
) -> tuple[float, float]:
    """Return the arm's observation number `count` and the number of pulls until it is observed.

    The wait is geometric with the arm's probability of being observed: the integer part of an
    exponential number divided by -log(1-p), plus one.
    """
    high, low, wait_high, wait_low = words(stream, count, arm)
    reward = reward_from(constants, arm, count, law, stream, high, low)
    return reward, waiting(constants[arm, WAIT_SCALE], wait_high, wait_low, stream, count, arm)


@inline
def dated_feedback(
    constants: Vector, arm: int, count: int, law: int, stream: Stream
) -> tuple[float, float]:
    """Return the arm's reward number `count` and a uniform number that determines its delay."""
    high, low, delay_high, delay_low = words(stream, count, arm)
    reward = reward_from(constants, arm, count, law, stream, high, low)
    return reward, unit(delay_high, delay_low)


@inline
def reward_from(
    constants: Vector, arm: int, count: int, law: int, stream: Stream, high: int, low: int
) -> float:
    """Return a reward from two random words; a normal one occasionally draws more of them."""
    mean = constants[arm, MEAN]
    if law == GAUSSIAN:
        return mean + constants[arm, NOISE] * normal_from(high, low, stream, count, arm)
    if law == BERNOULLI:
        return 1.0 if unit(high, low) < mean else 0.0
    if law == UNIFORM:
        return mean + constants[arm, NOISE] * (math.sqrt(3.0) * (2.0 * unit(high, low) - 1.0))
    return mean + constants[arm, NOISE] * (-1.0 if high & 1 else 1.0)


@inline
def gaussian_feedback(
    constants: Vector, action: int, count: int, stream: Stream
) -> tuple[float, float]:
    """Return `feedback` with normal rewards."""
    return feedback(constants, action, count, GAUSSIAN, stream)


@inline
def link_feedback(
    constants: Vector, action: int, count: int, stream: Stream
) -> tuple[float, float]:
    """Return `feedback` with rewards drawn by ``reward``, which a link fills in."""
    _, _, high, low = words(stream, count, action)
    wait = waiting(constants[action, WAIT_SCALE], high, low, stream, count, action)
    gained = reward(constants[action, MEAN], constants[action, NOISE], stream, count, action)
    return gained, wait


@inline
def gaussian_dated(
    constants: Vector, action: int, count: int, stream: Stream
) -> tuple[float, float]:
    """Return `dated_feedback` with normal rewards."""
    return dated_feedback(constants, action, count, GAUSSIAN, stream)


@inline
def link_dated(constants: Vector, action: int, count: int, stream: Stream) -> tuple[float, float]:
    """Return `dated_feedback` with rewards drawn by ``reward``, which a link fills in."""
    _, _, high, low = words(stream, count, action)
    gained = reward(constants[action, MEAN], constants[action, NOISE], stream, count, action)
    return gained, unit(high, low)


@inline
def law_feedback(
    constants: Vector, arm: int, count: int, table: Vector, stream: Stream
) -> tuple[float, float]:
    """Do the same as `feedback`; ``draw`` is filled in with the kernel of a reward law.

    The kernel has its own stream, so that rewards and waits are independent whatever it draws.
    """
    _, _, high, low = words(stream, count, arm)
    wait = waiting(constants[arm, WAIT_SCALE], high, low, stream, count, arm)
    key0, key1, replication, _ = stream
    return draw(table, arm, count, (key0, key1, replication, REWARD)), wait


@inline
def law_dated_feedback(
    constants: Vector, arm: int, count: int, table: Vector, stream: Stream
) -> tuple[float, float]:
    """Do the same as `dated_feedback`, with the kernel of a reward law."""
    _, _, high, low = words(stream, count, arm)
    key0, key1, replication, _ = stream
    return draw(table, arm, count, (key0, key1, replication, REWARD)), unit(high, low)


@inline
def waiting(scale: float, high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return the number of pulls until an observation; `scale` is -1/log(1-p), 0 where p = 1."""
    if not scale > 0.0:
        return 1.0
    missed = scale * exponential_from(high, low, stream, count, arm)
    return LONGEST_WAIT if missed > LONGEST_WAIT else 1.0 + math.floor(missed)


def write_playable(
    world: ArmWorld | LateWorld, clock: int, stream: Stream, row: NDArray[Any]
) -> None:
    """Write into `row` which arms are playable in round `clock`.

    For random availability ``world.chances[a]`` holds the probability that arm a is playable, and
    the same probability given that no earlier arm is and some arm must be.
    """
    if world.availability == RANDOM:
        found = 0
        for arm in range(row.size):
            row[arm] = 1 if uniform(stream, clock, arm) < world.chances[arm, 1 - found] else 0
            if row[arm] == 1:
                found = 1
    else:
        line = (clock - 1) % world.available.shape[0]
        for arm in range(row.size):
            row[arm] = world.available[line, arm]


@inline
def discount(weight: float, alpha: float) -> float:
    """Return weight to the power alpha, avoiding the power function where possible."""
    if alpha == 1.0:
        return weight
    if alpha == 0.5:
        return math.sqrt(weight)
    return weight**alpha
