"""The population limit of a log with rewards of 0 or 1, missing not at random."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from halfseen.logs.seen_rewards import SeenRewards

ROWS = 10**12  # decisions for each arm, so that no sampling error is left


def endless_rewards(
    means: Sequence[float], successes: Sequence[float], failures: Sequence[float]
) -> SeenRewards:
    """Return the rewards of an infinitely long log.

    Parameters
    ----------
    means
        The probability of a success, for each arm.
    successes, failures
        How likely a success and a failure of each arm are to be seen.

    Examples
    --------
    >>> endless_rewards([0.6, 0.5], [0.4, 0.8], [0.6, 0.5]).mean.round(3).tolist()
    [0.5, 0.615]
    """
    arms = len(means)
    mean = np.array(means)
    ones = np.round(ROWS * mean * successes).astype(np.int64)
    zeros = np.round(ROWS * (1.0 - mean) * failures).astype(np.int64)
    return SeenRewards(
        names=tuple(f"arm {i + 1}" for i in range(arms)),
        never_seen=(),
        left_out=0,
        rows=np.full(arms, float(ROWS)),
        seen=ones + zeros,
        starts=np.arange(0, 2 * arms, 2),
        values=np.tile([0.0, 1.0], arms),
        counts=np.stack([zeros, ones], axis=1).ravel().astype(float),
        within=np.zeros(2 * arms),
        least=0.0,
        most=1.0,
    )


def true_gamma(successes: Sequence[float], failures: Sequence[float]) -> float:
    """Return how many times the odds of being seen differ between a success and a failure.

    The largest over the arms; infinite if an arm's successes are always seen and its failures are
    not, or the other way round.

    Examples
    --------
    >>> true_gamma([0.4, 0.8], [0.6, 0.5])
    4.0
    """
    pairs = [(_odds(up), _odds(down)) for up, down in zip(successes, failures, strict=True)]
    ratio = max(1.0 if up == down else max(up / down, down / up) for up, down in pairs)
    return float(format(ratio, ".10g"))


def _odds(p: float) -> float:
    return math.inf if p == 1.0 else p / (1.0 - p)
