r"""The exact largest potential when the counts are seen only at given times, called looks.

Between two looks a fixed plan is followed. With :math:`N` the counts at a look and :math:`m` the
plan up to the next,

.. math:: V(N)=\max_m\ \sum_a\sum_{j<m_a}\mathbb E\,(N_a+\mathrm{Bin}(j,p_a)+\lambda_a)^{-\alpha}
          +\mathbb E\,V'\big(N+\mathrm{Bin}(m,p)\big),

solved backwards from the last look. After it no more counts are seen, and the best plan takes the
largest moments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.theory import inputs
from halfseen.theory.arms.adaptivity import offline_potential
from halfseen.theory.arms.inverse_moments import InverseMoments

MOST_WORK = 4e11  # most multiplications, which take ten seconds to a minute


class PlannedPotential(NamedTuple):
    """The largest expected potential with a given set of looks.

    Attributes
    ----------
    value
        The largest expected potential, exact to rounding.
    first
        Rounds to give each arm before the first look.
    """

    value: float
    first: tuple[int, ...]


def monitored_potential(
    observe: Sequence[float] | Vector,
    horizon: int,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    looks: Sequence[int],
) -> PlannedPotential:
    r"""Return the largest expected potential when counts are seen after some rounds only.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, a whole number.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda, one number or one per arm.
    looks
        Numbers of rounds after which the counts are seen, each between 0 and T, in any order;
        empty for a plan fixed in advance. A look at 0 or T changes nothing.

    Returns
    -------
    PlannedPotential
        The value and the plan up to the first look, or of all rounds if there is none.

    Notes
    -----
    The gain over no look at all is neither concave in the time of a look nor submodular in the set
    of looks: see `theory/adaptivity` for counterexamples with T = 4. In the limit of long horizons
    only the last look counts.

    The cost grows like the number of counts a look can show, to the power of the number of arms,
    times the number of plans; computations that would take minutes are refused.

    References
    ----------
    Guinet, Amin, Jaillet (2022), remark after proposition 3.7.

    Examples
    --------
    >>> [round(24 * (monitored_potential([0.5, 0.5], 4, 1.0, 1.0, looks).value - 3.5), 9)
    ...     for looks in ([1], [2], [3], [1, 3])]
    [1.0, 3.0, 1.5, 3.0]
    """
    game = _game(observe, horizon, alpha, regularization)
    given = {checks.whole("looks", time, at_least=0, at_most=game.horizon) for time in looks}
    times = sorted(given - {0, game.horizon})
    starts = [0, *times]
    _affordable(
        sum(game.work(start, end) for start, end in itertools.pairwise([*starts, game.horizon]))
    )
    if not times:
        best = offline_potential(game.p, game.horizon, alpha, regularization)
        return PlannedPotential(best.value, tuple(best.allocation.tolist()))
    later = game.blind(times[-1])
    for start, end in reversed(list(itertools.pairwise(starts))):
        if start == 0:
            return _first(game, end, later)
        later = game.interval(start, end, later)
    raise AssertionError("the first interval starts at 0")


def freely_monitored_potential(
    observe: Sequence[float] | Vector,
    horizon: int,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    looks: int,
) -> float:
    """Return the largest expected potential with a given number of looks at adaptive times.

    After every look the time of the next is chosen given the counts.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, a whole number.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda, one number or one per arm.
    looks
        Number of looks, at least 0.

    Returns
    -------
    float
        The value, exact to rounding. It is at least that of the best times fixed in advance.

    References
    ----------
    Goes beyond Guinet, Amin, Jaillet (2022), remark after proposition 3.7.

    Examples
    --------
    >>> round(freely_monitored_potential([0.5, 0.25], 10, 1.0, 1.0, 2), 9)
    7.575355275
    """
    game = _game(observe, horizon, alpha, regularization)
    count = checks.whole("looks", looks, at_least=0)
    total = game.horizon
    pairs = list(itertools.combinations(range(total), 2))
    _affordable(min(count, total) * sum(game.work(start, end) for start, end in pairs))
    worth = [game.blind(start) for start in range(total)]
    for left in range(count):
        last = left == count - 1
        better = list(worth)
        for start in (0,) if last else range(total):
            for end in range(start + 1, total):
                tried = game.interval(start, end, worth[end])
                better[start] = np.maximum(better[start], tried)
        if not last and all(
            np.array_equal(new, old) for new, old in zip(better, worth, strict=True)
        ):
            break
        worth = better
    return float(worth[0].flat[0])


class _Game:
    """The arms, and the value of an interval without looks from every count."""

    def __init__(self, p: Vector, lam: Vector, alpha: float, horizon: int) -> None:
        self.p, self.horizon, self.arms = p, horizon, len(p)
        self.moments = InverseMoments(p, lam, alpha, horizon)
        self._laws = [np.ones((1, 1)) for _ in p]

    def work(self, start: int, end: int) -> float:
        """Return roughly how many multiplications an interval takes."""
        length, counts = end - start, start + 1.0
        plans = math.comb(length + self.arms - 1, self.arms - 1)
        if end == self.horizon:  # sorted, not enumerated
            return counts**self.arms * self.arms * length * 20.0
        if start == 0:
            return plans * (end + 1.0) ** 2 * self.arms
        return plans * counts * (end + 1.0) ** self.arms

    def sums(self, start: int, length: int) -> list[Vector]:
        """Return, per arm, the value of 0, 1, 2, ... plays from each count up to `start`."""
        counts, plays = np.arange(start + 1.0), np.arange(float(length))
        rows = (self.moments.started(arm, counts, plays) for arm in range(self.arms))
        return [np.hstack([np.zeros((start + 1, 1)), np.cumsum(row, axis=1)]) for row in rows]

    def blind(self, start: int) -> Vector:
        """Return the value of the rounds from `start` to the end without any look."""
        length = self.horizon - start
        sums = self.sums(start, length)
        if self.arms == 1:
            return sums[0][:, -1]
        best = sums[0]
        for arm in range(1, self.arms):
            best = _best_split(best, sums[arm], only_all=arm == self.arms - 1)
        return best[..., -1]

    def interval(self, start: int, end: int, later: Vector) -> Vector:
        """Return the value from each count at `start`, given `later`, that at the next look."""
        sums = self.sums(start, end - start)
        best = np.full((start + 1,) * self.arms, -math.inf)
        for plan, expected in self._expected(later, start, end - start, ()):
            now = expected
            for arm, rounds in enumerate(plan):
                shape = [1] * self.arms
                shape[arm] = -1
                now = now + sums[arm][:, rounds].reshape(shape)
            np.maximum(best, now, out=best)
        return best

    def _expected(
        self, later: Vector, start: int, left: int, plan: tuple[int, ...]
    ) -> Iterator[tuple[tuple[int, ...], Vector]]:
        """Yield every plan of an interval with the mean of `later` after it, arm by arm."""
        arm = len(plan)
        for rounds in (left,) if arm == self.arms - 1 else range(left + 1):
            law = self.law(arm, rounds, start, later.shape[arm] - 1)
            mean = np.moveaxis(np.tensordot(law, later, axes=(1, arm)), 0, arm)
            if arm == self.arms - 1:
                yield (*plan, rounds), mean
            else:
                yield from self._expected(mean, start, left - rounds, (*plan, rounds))

    def law(self, arm: int, rounds: int, start: int, top: int) -> Vector:
        """Return the distribution of the count, up to `top`, after `rounds` plays.

        There is one row per initial count up to `start`.
        """
        chances = self.laws(arm, max(rounds, top - start))[rounds]
        matrix = np.zeros((start + 1, top + 1))
        for count in range(start + 1):
            room = min(rounds, top - count) + 1
            matrix[count, count : count + room] = chances[:room]
        return matrix

    def laws(self, arm: int, most: int) -> Vector:
        """Return the binomial distribution for 0, 1, 2, ... plays of an arm, one row each."""
        known = self._laws[arm]
        if len(known) <= most:
            rows = np.zeros((most + 1, most + 1))
            rows[0, 0] = 1.0
            for plays in range(1, most + 1):
                rows[plays] = (1.0 - self.p[arm]) * rows[plays - 1]
                rows[plays, 1:] += self.p[arm] * rows[plays - 1, :-1]
            self._laws[arm] = known = rows
        return known[: most + 1, : most + 1]


def _game(observe: object, horizon: object, alpha: object, regularization: object) -> _Game:
    p, order = inputs.observation(observe), inputs.order(alpha)
    lam = inputs.regularization(regularization, len(p))
    return _Game(p, lam, order, checks.whole("horizon", horizon, at_least=1))


def _affordable(work: float) -> None:
    if work > MOST_WORK:
        raise InvalidInput(
            "horizon",
            f"must be short enough for {MOST_WORK:.0e} multiplications",
            f"about {work:.0e}",
            "Take a shorter horizon, fewer arms or looks, or single_monitoring_potential.",
        )


def _first(game: _Game, end: int, later: Vector) -> PlannedPotential:
    """Return the best plan up to the first look, starting from counts of 0."""
    sums = [row[0] for row in game.sums(0, end)]

    def plans(
        values: Vector, left: int, plan: tuple[int, ...]
    ) -> Iterator[tuple[float, tuple[int, ...]]]:
        arm = len(plan)
        laws = game.laws(arm, end)
        if arm == game.arms - 1:
            worth = float(laws[left] @ values) + float(sums[arm][left])
            yield worth, (*plan, left)
            return
        means = np.tensordot(laws[: left + 1], values, axes=(1, 0))
        for rounds in range(left + 1):
            for worth, whole in plans(means[rounds], left - rounds, (*plan, rounds)):
                yield worth + float(sums[arm][rounds]), whole

    best, plan = max(plans(later, end, ()), key=lambda pair: pair[0])
    return PlannedPotential(best, plan)


def _best_split(first: Vector, second: Vector, *, only_all: bool) -> Vector:
    """Return the best value of splitting 0, 1, 2, ... plays between two arms.

    With `only_all`, only the value for the largest number of plays is returned.
    """
    plays = first.shape[-1]
    rows = first.reshape(-1, plays)
    if only_all:
        turned = second[:, ::-1]
        best = np.array([(row + turned).max(axis=1) for row in rows])[..., None]
    else:
        best = np.stack(
            [
                (rows[:, None, : m + 1] + second[None, :, : m + 1][..., ::-1]).max(axis=-1)
                for m in range(plays)
            ],
            axis=-1,
        )
    return best.reshape(*first.shape[:-1], len(second), -1)
