r"""What the spread of the seen rewards does not tell: the reward that chance may have left out.

Where k of n rewards are 1 and the others 0, the error of their mean is
:math:`\sqrt{k(n-k)}/n^{3/2}`: 0 if k is 0, and too small if k is a few. With four ones and four
zeros more, about the square of the normal quantile of 95%, an interval around k/n covers. Of
rewards with more than two values nothing tells how large the rare ones are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.group_sums import sum_by
from halfseen.values.cell_errors import CellMeans
from halfseen.values.influence import Sample
from halfseen.values.log_groups import LogGroups
from halfseen.values.target_policy import PolicyOnLog

MORE = 4.0  # rewards of each of two values that errors count besides the seen ones
RARE = 8  # rewards of either of two values, below which a bootstrap is too short
NOTICED = 0.05  # share of a policy's decisions from which an arm of equal rewards is trouble


def two_values(sample: Sample) -> tuple[float, float] | None:
    """Return the two values that all seen rewards have; None if they have more, or one."""
    rewards = sample.reward[sample.seen]
    least, most = float(rewards.min()), float(rewards.max())
    slack = 1e-9 * (most - least)
    between = (rewards > least + slack) & (rewards < most - slack)
    return None if between.any() or least == most else (least, most)


def lacking_variance(sample: Sample, units: Sequence[NDArray[np.int64]], slopes: Vector) -> float:
    """Return what the squared error of an estimate from rewards of two values lacks.

    Parameters
    ----------
    sample
        The decisions.
    units
        Numbers of each group's arm, or arm and context; of all these the one counts for which most
        is lacking.
    slopes
        The derivative of each decision's value in its reward.
    """
    ends = two_values(sample)
    if ends is None:
        return 0.0
    seen, found = np.where(sample.seen, sample.count, 0.0), 0.0
    for unit in units:
        n, squares = sum_by(unit, seen), sum_by(unit, seen * slopes**2)
        k = sum_by(unit, seen * (sample.reward > sum(ends) / 2.0))
        spread = k * (n - k) / np.maximum(n, 1.0) ** 2
        smoothed = (k + MORE) * (n - k + MORE) * n / (n + 2.0 * MORE) ** 3
        smoothed = np.where(n == 1.0, 0.0, smoothed)  # it has the spread of its arm
        found = max(found, float((squares * np.maximum(smoothed - spread, 0.0)).max()))
    return found * (ends[1] - ends[0]) ** 2 / sample.size**2


def equal_rewards(log: LogGroups, policies: Sequence[PolicyOnLog]) -> tuple[str, ...]:
    """Return arms, in a context, that a policy plays often and whose seen rewards are all equal.

    None where rewards have two values: `lacking_variance` counts what was not seen.
    """
    sample, found = log.sample, []
    if two_values(sample) is not None:
        return ()
    for by_context in (False, True):
        means = CellMeans(log, by_context)
        away = np.abs(sample.reward - means.mean[means.cell])
        equal = means.total(away + sample.within) <= 1e-12 * means.total(np.abs(sample.reward))
        for policy in policies:
            often = means.played(policy) > NOTICED * sample.size
            for cell in np.flatnonzero(often & equal & (means.seen > 0.0)):
                context, arm = divmod(int(cell), len(log.arms))
                several = by_context and len(log.contexts) > 1
                found.append(log.arms[arm] + (f" in {log.contexts[context]}" if several else ""))
    return tuple(dict.fromkeys(found))


def rare_value(log: LogGroups, policies: Sequence[PolicyOnLog]) -> float:
    """Return how often the rarer of two rewards was seen of an arm that a policy plays.

    Of the arm for which that is least; infinite if rewards have more than two values.
    """
    ends = two_values(log.sample)
    if ends is None:
        return float("inf")
    means = CellMeans(log, by_context=False)
    share = (means.mean - ends[0]) / (ends[1] - ends[0])
    rare = means.seen * np.minimum(share, 1.0 - share)
    return float(min(rare[means.played(policy) > 0.0].min() for policy in policies))
