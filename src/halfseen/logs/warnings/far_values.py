"""Codes that stand for a missing reward: values far outside all others, and lone negative ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.warnings.log_warning import LogWarning
from halfseen.logs.warnings.off_scale_values import OFTEN, OFTEN_SHARE
from halfseen.logs.warnings.sampled_rewards import Rewards
from halfseen.tables import percent, show

KINDS_OF_SENTINEL = 6  # distinct values needed to call one that is no usual code unusual
BELOW_COUNTS = {-1.0, -9.0, -99.0, -999.0, -9999.0}  # usually written for missing counts
NINES = [10.0**digits - 1.0 for digits in range(2, 16)]
LARGEST = [2.0**bits - 1.0 for bits in (15, 16, 31, 32, 63)]  # of whole-number types
CODES = np.array([*NINES, *LARGEST, *(-x for x in NINES), *(-1.0 - x for x in LARGEST)])
AMOUNTS = 20  # so many whole numbers, or such with gaps, look like amounts with a fee beside them
FAR, VERY_FAR = 3.0, 10.0  # spans of the other values between a code and these
REPEATED = 3  # how often a value that is very far away must occur
STEP = 2.0  # the widest step of a scale, such as stars or -1 and 1; wider ones may be of prices


def often(rewards: Rewards) -> NDArray[np.bool_]:
    """Return which values are common."""
    return np.asarray(rewards.times >= max(OFTEN, OFTEN_SHARE * rewards.times.sum()))


def far_places(rewards: Rewards) -> list[int]:
    """Return the places of values far outside all others.

    At either end: common ones that are `FAR` from the others, and ones that only repeat but are
    `VERY_FAR` from them. Usual codes (nines, the largest number of a type) are compared with all
    values that are none, of which there must be two.
    """
    values, times = rewards.values, rewards.times
    codes = np.isin(values, CODES)
    found = {
        int(i)
        for i in np.flatnonzero(codes & (times >= REPEATED))
        if _very_far(float(values[i]), values[~codes])
    }
    if len(values) < KINDS_OF_SENTINEL:
        return sorted(found)
    for place, others in ((0, values[1:]), (len(values) - 1, values[:-1])):
        value = float(values[place])
        low, high = np.quantile(others, [0.05, 0.95])
        gap = np.abs(others - value).min()
        common = often(rewards)[place] and gap >= FAR * (high - low)
        if value and (common or (times[place] >= REPEATED and _very_far(value, others))):
            found.add(place)
    return sorted(found)


def _very_far(value: float, others: Vector) -> bool:
    """Return whether a value lies many spans of the others away from all of them."""
    if len(others) < 2:
        return False
    gap = max(others[0] - value, value - others[-1])
    return bool(gap >= VERY_FAR * (others[-1] - others[0]))


def code_places(rewards: Rewards) -> list[int]:
    """Return the places of values far outside all others that look like a code.

    Beside few other values only if these are a scale: 99 may be a price beside 0 and 5.
    """
    values = rewards.values
    far = far_places(rewards)
    found = [i for i in far if values[i] < 0.0 or values[i] in CODES]
    return found if _is_scale(np.delete(values, far)) else []


def _is_scale(values: Vector) -> bool:
    """Return whether values mostly have small steps, or are many."""
    small = len(values) > 1 and float(np.median(np.diff(values))) <= STEP
    return small or len(values) >= AMOUNTS


def far_from_others(rewards: Rewards) -> list[str]:
    """Return a note on a value far outside all others that need not be a code."""
    return [
        f"{percent(rewards.times[i] / rewards.times.sum())} of the rewards are"
        f" {show(float(rewards.values[i]))}, far from every other value. Is it a code for a missing"
        " reward, or an outcome such as a prize or a timeout? If it is a code, rates are too high"
        " and every mean is wrong; the values cannot tell."
        for i in sorted(set(far_places(rewards)) - set(code_places(rewards)))
    ]


def lone_negative(rewards: Rewards) -> bool:
    """Return whether the least value is common and the only one below 0, among three or more."""
    values = rewards.values
    enough = len(values) >= 3
    return bool(enough and values[0] < 0.0 <= values[1] and often(rewards)[0])


def sentinel(rewards: Rewards) -> LogWarning | None:
    """Warn of a code that stands for missing, or ask whether a usual code is one."""
    found = code_places(rewards)
    if not found:
        return _question(rewards) if _coded_negative(rewards) else None
    names = [show(float(rewards.values[i])) for i in found]
    named = " or ".join(names)
    share = float(rewards.times[found].sum() / rewards.times.sum())
    most = max(found, key=lambda i: int(rewards.times[i]))
    return LogWarning(
        "sentinel",
        f"{percent(share)} of the rewards are {named}, far from every other value.",
        "It looks like a code for a missing reward. Taken as a number, it makes rates too high and"
        " every mean wrong.",
        f"Leave the reward empty where {named} means that it is missing.",
        {"value": float(rewards.values[most]), "share": share},
        voids=True,
    )


def _coded_negative(rewards: Rewards) -> bool:
    """Return whether a lone negative value is a usual code, and no fee beside whole amounts."""
    values = rewards.values
    enough = len(values) >= KINDS_OF_SENTINEL and lone_negative(rewards)
    if not enough or float(values[0]) not in BELOW_COUNTS:
        return False
    spread = len(values) > AMOUNTS or float(np.median(np.diff(values[1:]))) > 1.0
    amounts = spread and bool((values == np.rint(values)).all())
    return not amounts or bool(values[1] == 0.0 and often(rewards)[1])


def _question(rewards: Rewards) -> LogWarning:
    value, share = float(rewards.values[0]), float(rewards.times[0] / rewards.times.sum())
    return LogWarning(
        "sentinel",
        f"{share:.1%} of the rewards are {show(value)}, the only value below 0. Is it a code for a"
        " missing reward, or an outcome such as a cost without a sale? The values cannot tell.",
        "If it is a code, rates are too high and every mean is wrong; if it is an outcome, all is"
        " well.",
        f"Leave the reward empty where {show(value)} means that it is missing.",
        {"value": value, "share": share},
    )


def negative_at_the_edge(rewards: Rewards) -> list[str]:
    """Return a note on a lone negative value that is no usual code: an outcome, or missing."""
    if not lone_negative(rewards) or 0 in far_places(rewards) or _coded_negative(rewards):
        return []
    return [str(_question(rewards))]
