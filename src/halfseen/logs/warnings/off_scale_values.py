"""A value off the scale of the others: no whole number among whole ones, or a code among few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector

OFTEN, OFTEN_SHARE = 20, 0.01  # how often a value must occur to be called common
DECIMALS = 6  # to which a written mean is compared at most
OUTCOMES = 20  # multiples of 1/20, such as 0.5 and 0.75, are taken for outcomes


class OffScale(NamedTuple):
    """A value that is no whole number, the only one: how often it occurs, and if it is a mean."""

    value: float
    share: float
    is_mean: bool


def off_scale(reward: Vector) -> OffScale | None:
    """Return the only common value among rewards that is no whole number, if there is one.

    It is called a mean if it is that of the others, as far as its decimals say, and no multiple of
    1/20.
    """
    odd = reward != np.rint(reward)
    times = int(odd.sum())
    if times < max(OFTEN, OFTEN_SHARE * len(reward)) or len(reward) - times < OFTEN:
        return None
    value = float(reward[odd][0])
    others = reward[~odd]
    if (reward[odd] != value).any() or others.min() == others.max():
        return None
    digits = next((d for d in range(DECIMALS) if round(value, d) == value), DECIMALS)
    near = abs(value - float(others.mean())) <= 0.5000001 * 10.0**-digits
    return OffScale(value, times / len(reward), near and round(value * OUTCOMES, 9) % 1.0 != 0.0)


def arms_with_means(arm: NDArray[np.int64], reward: Vector) -> tuple[int, int, float]:
    """Return the arms whose only broken value is their own mean, all judged, and its share."""
    sizes = np.bincount(arm)
    groups = np.split(reward[np.argsort(arm, kind="stable")], np.cumsum(sizes)[:-1])
    judged = [off_scale(group) for group in groups if len(group) >= 2 * OFTEN]
    shares = [found.share for found in judged if found is not None and found.is_mean]
    return len(shares), len(judged), float(np.mean(shares)) if shares else 0.0
