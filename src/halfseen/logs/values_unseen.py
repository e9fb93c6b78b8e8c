r"""Correction of standard errors for values that by chance were not observed.

The error of a mean of equal rewards is 0, whatever their number. With four rewards of either
extreme of the log more, about the square of the normal quantile of 95%, an interval around 0 of n
holds as much as Clopper and Pearson's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from halfseen.logs.seen_rewards import SeenRewards

MORE = 4.0  # rewards of either extreme that errors count besides the seen ones
ENOUGH, ENOUGH_OF_TWO = 50, 10  # rewards from which a mean is about normal; of two values


def has_two_values(rewards: SeenRewards) -> bool:
    """Return whether all rewards of a log have one of two values."""
    ends = (rewards.values == rewards.least) | (rewards.values == rewards.most)
    return bool((ends & (rewards.within == 0.0)).all())


def enough_rewards(rewards: SeenRewards) -> NDArray[np.bool_]:
    """Return of which arms enough rewards were seen for their errors to be trusted."""
    return np.asarray(rewards.seen >= (ENOUGH_OF_TWO if has_two_values(rewards) else ENOUGH))


def with_values_unseen(rewards: SeenRewards) -> SeenRewards | None:
    r"""Return rewards with pseudo-counts for values absent by chance; None if not needed.

    Of two values seen k and n - k times, shares :math:`(k + 4) / (n + 8)` and the rest. The same
    for an arm of which all rewards are equal, with the least and the largest reward of the log;
    other arms stay as they are.

    Parameters
    ----------
    rewards
        The rewards seen.
    """
    least, most, starts = rewards.least, rewards.most, rewards.starts
    kinds = np.add.reduceat(rewards.counts > 0.0, starts, dtype=float)
    equal = (kinds == 1.0) & (np.maximum.reduceat(rewards.within, starts) == 0.0)
    equal |= has_two_values(rewards)
    if least == most or not equal.any():
        return None
    arm, chosen = np.repeat(np.arange(len(rewards)), rewards.sizes), np.flatnonzero(equal)
    scale = np.where(equal, rewards.seen / (rewards.seen + 2.0 * MORE), 1.0)
    none = np.zeros(len(chosen))
    parts = [(arm, rewards.values, rewards.counts * scale[arm], rewards.within)]
    parts += [(chosen, none + end, MORE * scale[chosen], none) for end in (least, most)]
    arm, values, counts, within = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((values, arm))
    return replace(
        rewards,
        starts=np.searchsorted(arm[order], np.arange(len(rewards))),
        values=values[order],
        counts=counts[order],
        within=within[order],
    )
