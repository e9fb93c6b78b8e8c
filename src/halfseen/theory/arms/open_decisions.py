"""The number of outstanding rewards with late feedback, and their cost in a regret bound."""

from __future__ import annotations

import math

import numpy as np

from halfseen import checks
from halfseen.censorship import Delayed
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.problems import DelayLaw
from halfseen.problems.delay_contract import delay_law

SINGLE = 2**20  # number of ages that are summed one by one
GROWTH = 1e-4  # length of the blocks of later ages, relative to the age
EXPONENT = 3.0  # the bound fails in a given round with probability at most T^-3, for each arm


def expected_under_way(law: DelayLaw, horizon: int, *, window: int | None = None) -> float:
    r"""Return the mean number of outstanding rewards if an arm were played in every round.

    .. math:: \mu = \sum_{j=0}^{m-1} (\tau(m) - \tau(j)),

    the mean delay of what arrives within the window m, times the probability that it does.

    Parameters
    ----------
    law
        The delay law, with distribution function tau.
    horizon
        Number of rounds T; delays beyond it are equivalent.
    window
        Number of rounds m after which a message is lost; by default none is lost.

    Returns
    -------
    float
        The mean; beyond a million rounds ages are grouped, which overestimates it by less than
        0.01%.

    References
    ----------
    Joulani, Gyorgy, Szepesvari, *Online learning under delayed feedback*, 2013, for the role it
    plays in regret.

    Examples
    --------
    >>> from halfseen import Fixed, GeometricDelay
    >>> expected_under_way(Fixed(3), 100), round(expected_under_way(GeometricDelay(50), 10**4), 6)
    (3.0, 50.0)
    """
    delay_law("law", law)
    last = checks.whole("horizon", horizon, at_least=1)
    most = last if window is None else min(checks.whole("window", window, at_least=0), last)
    comes = law.arrive if window is None else float(law.arrived_by(window))
    ages, widths = _blocks(int(min(most, law.longest)))
    return float(np.sum(widths * (comes - np.asarray(law.arrived_by(ages), dtype=float))))


def _blocks(most: int) -> tuple[Vector, Vector]:
    """Return ages below `most` and how many ages each represents: single ones, then blocks."""
    starts = np.arange(min(most, SINGLE), dtype=float)
    if most > SINGLE:
        count = math.ceil(math.log(most / SINGLE) / GROWTH)
        starts = np.append(starts, np.floor(np.geomspace(SINGLE, most, count, endpoint=False)))
    return starts, np.diff(starts, append=float(most))


def most_under_way(law: DelayLaw, horizon: int, *, window: int | None = None) -> float:
    r"""Return a high-probability bound on the outstanding messages of one arm, over all rounds.

    The largest q with :math:`q\log(q/\mu) - q + \mu \le 3\log T`, and at most the window: a sum of
    independent indicators exceeds q with probability at most :math:`T^{-3}` (Chernoff), hence in
    some round with probability at most :math:`T^{-2}`, however rounds are chosen.

    Parameters
    ----------
    law, horizon, window
        As for `expected_under_way`.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Joulani, Gyorgy, Szepesvari, *Online learning under delayed feedback*, 2013.

    Examples
    --------
    >>> from halfseen import Fixed, GeometricDelay
    >>> round(most_under_way(GeometricDelay(50), 10_000, window=500), 6)
    111.093532
    >>> most_under_way(Fixed(0), 10_000)
    0.0
    """
    mean = expected_under_way(law, horizon, window=window)
    if mean == 0.0:
        return 0.0
    level = EXPONENT * math.log(horizon)
    q = mean + level + math.sqrt(level * (2.0 * mean + level))  # from above: the rate is convex
    for _ in range(100):
        step = (q * math.log(q / mean) - q + mean - level) / math.log(q / mean)
        q -= step
        if not step > 1e-14 * q:
            break
    limits = [float(horizon), law.longest] + ([] if window is None else [float(window)])
    return min(q, *limits)


def late_messages(censorship: Delayed, arms: int, horizon: int) -> Vector:
    """Return `most_under_way` of every arm; raise if delays depend on the rewards."""
    if censorship.depends_on_reward:
        raise InvalidInput(
            "censorship",
            "must delay every reward independently of its value",
            censorship,
            "No bound is proved if missingness depends on the reward.",
        )
    laws = [law for law, _ in censorship.pairs(arms)]
    found = {
        law: most_under_way(law, horizon, window=censorship.window) for law in dict.fromkeys(laws)
    }
    return np.array([found[law] for law in laws])
