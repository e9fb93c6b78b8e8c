"""Largest potentials of arms by dynamic programming and enumeration.

These programs assume nothing that `halfseen.theory` proves: not that the greedy policy is optimal,
that costs are concave, or that water-filling is optimal. They share no code with it and are slow;
its closed forms and fast algorithms are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from halfseen.checks import Vector

NEGLIGIBLE = 1e-150


def best_adaptive(
    observe: Sequence[float],
    horizon: int,
    alpha: float,
    regularization: float,
    weights: Sequence[float] | None = None,
) -> float:
    """Return the largest expected potential of any policy, by backward induction over counts.

    Time and memory grow like horizon^arms; at each count every arm is tried.

    Examples
    --------
    >>> round(best_adaptive([0.3, 0.7], 12, 0.5, 1.0), 9)
    9.360032155
    """
    arms = len(observe)
    cost = (np.arange(horizon + 1.0) + regularization) ** -alpha
    scale = np.ones(arms) if weights is None else np.asarray(weights, dtype=float)
    ahead = np.zeros((horizon + 2,) * arms)
    for left in range(1, horizon + 1):
        counts = horizon - left + 1  # largest number of observations so far, plus one
        here = tuple(slice(counts) for _ in range(arms))
        best = np.full((counts,) * arms, -np.inf)
        for arm, p in enumerate(observe):
            seen = list(here)
            seen[arm] = slice(1, counts + 1)
            now = scale[arm] * cost[:counts].reshape([-1 if k == arm else 1 for k in range(arms)])
            np.maximum(best, now + p * ahead[tuple(seen)] + (1.0 - p) * ahead[here], out=best)
        ahead = np.zeros((counts + 1,) * arms)
        ahead[here] = best
    return float(ahead[(0,) * arms])


def expected_costs(
    observe: float, horizon: int, alphas: Sequence[float], regularization: float
) -> Vector:
    """Return E(Bin(n, p) + lambda)^-alpha for n below the horizon, a row per alpha.

    Examples
    --------
    >>> expected_costs(0.5, 2, [1.0], 1.0).tolist()
    [[1.0, 0.75]]
    """
    counts = np.arange(horizon + 1.0)
    cost = np.array([(counts + regularization) ** -alpha for alpha in alphas])
    law = np.zeros(horizon + 1)
    law[0] = 1.0
    found = np.empty((len(alphas), horizon))
    for trials in range(horizon):
        found[:, trials] = cost[:, : trials + 1] @ law[: trials + 1]
        law[1 : trials + 2] = (1.0 - observe) * law[1 : trials + 2] + observe * law[: trials + 1]
        law[0] *= 1.0 - observe
    return found


def best_offline(costs: Sequence[Vector], horizon: int) -> float:
    """Return the largest total of an allocation fixed in advance, trying all of them.

    Parameters
    ----------
    costs
        For each arm, the expected cost of its first, second, ... round.
    horizon
        Rounds to allocate.

    Examples
    --------
    >>> rows = [expected_costs(p, 12, [0.5], 1.0)[0] for p in (0.3, 0.7)]
    >>> round(best_offline(rows, 12), 9)
    9.237669609
    """
    total = np.append(0.0, np.cumsum(costs[0][:horizon]))
    for row in costs[1:]:
        other = np.append(0.0, np.cumsum(row[:horizon]))
        rounds = range(horizon, horizon + 1) if row is costs[-1] else range(horizon + 1)
        best = np.zeros(horizon + 1)
        for t in rounds:
            best[t] = (total[: t + 1] + other[t::-1]).max()
        total = best
    return float(total[horizon])


def best_with_looks(
    observe: tuple[float, float],
    horizon: int,
    alpha: float,
    regularization: float,
    looks: Sequence[int] = (),
) -> float:
    """Return the largest expected potential of two arms when counts are seen only at given times.

    Every plan of every interval between looks is tried, after every outcome.

    Examples
    --------
    >>> round(best_with_looks((0.5, 0.25), 10, 1.0, 1.0, (5, 8)), 9)
    7.575080617
    """
    times = [0, *sorted(looks), horizon]
    ahead = np.zeros((1, 1))
    for start, end in reversed([*pairwise(times)]):
        most, last = end - start, end == horizon
        parts = [_interval(p, start, most, alpha, regularization, not last) for p in observe]
        best = np.full((start + 1, start + 1), -np.inf)
        for m in range(most + 1):
            (laws, costs), (others, more) = parts
            value = costs[m][:, None] + more[most - m][None, :]
            if not last:
                # einsum uses one thread; BLAS threads would cost more than they save here
                half = np.einsum("nk,kl->nl", laws[m], ahead)
                value = value + np.einsum("nl,ml->nm", half, others[most - m])
            np.maximum(best, value, out=best)
        ahead = best
    return float(ahead[0, 0])


def _interval(
    observe: float, counts: int, most: int, alpha: float, regularization: float, keep: bool
) -> tuple[list[Vector], Vector]:
    """Return distributions and costs of playing one arm m = 0, 1, ... rounds from every count.

    ``laws[m][n, k]`` is the probability of k observations in total, ``costs[m, n]`` the expected
    cost of these rounds. Distributions are only returned on request.
    """
    cost = (np.arange(counts + most + 1.0) + regularization) ** -alpha
    from_count = np.ascontiguousarray(sliding_window_view(cost, most + 1))  # [n, k]: cost at n + k
    law = np.zeros(most + 1)  # distribution of the observations in m rounds
    law[0] = 1.0
    costs, laws = np.zeros((most + 1, counts + 1)), []
    for m in range(most + 1):
        if keep:
            laws.append(_shifted(law, counts))
        if m < most:
            costs[m + 1] = costs[m] + from_count @ law
            law = (1.0 - observe) * law + observe * np.append(0.0, law[:-1])
            law[law < NEGLIGIBLE] = 0.0  # products of subnormal numbers are very slow
    return laws, costs


def _shifted(law: Vector, counts: int) -> Vector:
    """Return the law of a starting count plus a random number, a row per starting count."""
    rows = np.zeros((counts + 1, counts + len(law)))
    for n in range(counts + 1):
        rows[n, n : n + len(law)] = law
    return rows


class _Exact:
    """Laws of counts and expected costs of arms at alpha = 1, as fractions."""

    def __init__(self, observe: Sequence[Fraction], regularization: int) -> None:
        self.observe, self.regularization = observe, regularization
        self.law, self.cost = cache(self._law), cache(self._cost)

    def _law(self, arm: int, rounds: int) -> tuple[Fraction, ...]:
        if rounds == 0:
            return (Fraction(1),)
        p, before = self.observe[arm], self.law(arm, rounds - 1)
        stay = [(1 - p) * x for x in before] + [Fraction(0)]
        return tuple(x + (p * before[k - 1] if k else 0) for k, x in enumerate(stay))

    def _cost(self, arm: int, count: int, rounds: int) -> Fraction:
        return sum(
            (
                chance / (count + seen + self.regularization)
                for played in range(rounds)
                for seen, chance in enumerate(self.law(arm, played))
            ),
            Fraction(0),
        )

    def best(
        self, counts: tuple[int, ...], rounds: int, later: Callable[[tuple[int, ...]], Fraction]
    ) -> Fraction:
        """Return the largest value of a number of rounds without a look plus the later value."""
        return max(self._worth(counts, plan, later) for plan in _plans(rounds, len(counts)))

    def _worth(
        self,
        counts: tuple[int, ...],
        plan: tuple[int, ...],
        later: Callable[[tuple[int, ...]], Fraction],
    ) -> Fraction:
        now = sum((self.cost(a, counts[a], m) for a, m in enumerate(plan)), Fraction(0))
        for seen in product(*(range(m + 1) for m in plan)):
            chance = Fraction(1)
            for arm, k in enumerate(seen):
                chance *= self.law(arm, plan[arm])[k]
            now += chance * later(tuple(map(sum, zip(counts, seen, strict=True))))
        return now


def exact_with_looks(
    observe: Sequence[Fraction], horizon: int, regularization: int, looks: Sequence[int] = ()
) -> Fraction:
    """Do the same as `best_with_looks` at alpha = 1 in rational arithmetic, for any arms.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> exact_with_looks([half, half], 4, 1), exact_with_looks([half, half], 4, 1, [2])
    (Fraction(7, 2), Fraction(29, 8))
    """
    times = [0, *sorted(looks), horizon]
    arms = _Exact(observe, regularization)

    @cache
    def value(part: int, counts: tuple[int, ...]) -> Fraction:
        if part == len(times) - 1:
            return Fraction(0)
        rounds = times[part + 1] - times[part]
        return arms.best(counts, rounds, lambda seen: value(part + 1, seen))

    return value(0, (0,) * len(observe))


def exact_free_looks(
    observe: Sequence[Fraction], horizon: int, regularization: int, looks: int
) -> Fraction:
    """Do the same as `exact_with_looks` for a given number of looks at adaptive times.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> exact_free_looks([half, half], 4, 1, 0), exact_free_looks([half, half], 4, 1, 1)
    (Fraction(7, 2), Fraction(29, 8))
    """
    arms = _Exact(observe, regularization)

    @cache
    def value(time: int, counts: tuple[int, ...], left: int) -> Fraction:
        if time == horizon:
            return Fraction(0)
        ends = range(time + 1, horizon + 1) if left else (horizon,)
        return max(
            arms.best(counts, end - time, partial(value, end, left=max(left - 1, 0)))
            if end < horizon
            else arms.best(counts, end - time, lambda seen: Fraction(0))
            for end in ends
        )

    return value(0, (0,) * len(observe), looks)


def _plans(rounds: int, arms: int) -> list[tuple[int, ...]]:
    """Return all ways to distribute a number of rounds over the arms."""
    if arms == 1:
        return [(rounds,)]
    return [
        (first, *rest) for first in range(rounds + 1) for rest in _plans(rounds - first, arms - 1)
    ]


def play_greedily(
    observe: Sequence[float],
    horizons: Sequence[int],
    alphas: Sequence[float],
    regularization: float,
    runs: int,
    seed: int,
) -> Vector:
    """Return potentials of always playing the least observed arm, by simulation.

    Returns
    -------
    numpy.ndarray
        Shape (horizons, alphas, runs).

    Examples
    --------
    >>> play_greedily([1.0, 1.0], [4], [1.0], 1.0, runs=1, seed=1).tolist()
    [[[3.0]]]
    """
    rng, p = np.random.default_rng(seed), np.asarray(observe, dtype=float)
    counts = np.zeros((runs, len(p)))
    rows, total, found = np.arange(runs), np.zeros((len(alphas), runs)), []
    for t in range(1, max(horizons) + 1):
        arm = counts.argmin(axis=1)
        least = counts[rows, arm] + regularization
        for order, alpha in enumerate(alphas):
            total[order] += least**-alpha
        counts[rows, arm] += rng.random(runs) < p[arm]
        if t in horizons:
            found.append(total.copy())
    return np.array(found)
