"""The largest continuous potential over a finite set of actions."""

from __future__ import annotations

import math
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship.directions import action_rows
from halfseen.checks import Vector
from halfseen.problems import FiniteActions, LinearActions
from halfseen.theory import inputs
from halfseen.theory.linear import best_shares as simplex
from halfseen.theory.linear.largest_potential import ROUNDING, WorstCase, assembled, level_weights

DEPENDENT = 1e-10  # largest relative component of a dependent action outside the span
TOGETHER = 40  # actions solved for at once; others are added if they are worth playing
ACCURACY = 1e-10  # duality gap, relative to the value, at which iterations end
ROUNDS = 200  # largest number of times that actions are added
NODES = 8  # number of horizons of a curve at which the program is solved


def seen_actions(censorship: Any, actions: Any) -> tuple[Vector, Vector]:
    """Return the actions of a finite set as rows, and their probabilities of being observed."""
    rows = actions.fixed if isinstance(actions, LinearActions) else actions
    rows = FiniteActions(action_rows("actions", rows)).actions
    return rows, inputs.action_observation(censorship, rows)


def heaviest_basis(rows: Vector, observe: Vector) -> NDArray[np.int64]:
    """Return the independent actions with the largest sum of 1/p, most censored first.

    >>> heaviest_basis(np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]]), np.array([0.5, 0.1, 1.0]))
    array([1, 2])
    """
    return _staged_basis(rows, observe)[0]


def worst_case_of(rows: Vector, observe: Vector, lam: float, time: float) -> WorstCase:
    """Return the largest potential of `time` rounds, for validated inputs."""
    return _solved(rows.tobytes(), rows.shape[1], observe.tobytes(), lam, time)


def ceilings(rows: Vector, observe: Vector, lam: float, times: Vector) -> Vector:
    """Return nearly tight upper bounds on the largest potential at many horizons.

    The program is solved at a few of them. At the others, the plans of the neighbouring ones,
    rescaled to the horizon, certify a bound.
    """
    wanted = np.unique(times[times > 0.0])
    if len(wanted) == 0 or not rows.any():
        return np.zeros(len(times))
    found = _curve(rows.tobytes(), rows.shape[1], observe.tobytes(), lam, wanted.tobytes())
    after = np.minimum(np.searchsorted(wanted, times), len(wanted) - 1)
    return np.where(times > 0.0, found[after], 0.0)


@lru_cache(maxsize=256)
def _curve(content: bytes, d: int, levels: bytes, lam: float, horizons: bytes) -> Vector:
    rows, observe = np.frombuffer(content).reshape(-1, d), np.frombuffer(levels)
    wanted, ordered = np.frombuffer(horizons), _Ordered(rows, observe)
    nodes = np.unique(np.linspace(0, len(wanted) - 1, NODES).round().astype(int))
    plans = {int(node): worst_case_of(rows, observe, lam, float(wanted[node])) for node in nodes}
    found = np.empty(len(wanted))
    for place, time in enumerate(wanted):
        if place in plans:
            found[place] = plans[place].upper
            continue
        designs = Designs(ordered.rows, ordered.observe, float(time) / lam)
        right = int(np.searchsorted(nodes, place))
        bounds = [ordered.ceiling(float(time), lam)]
        for node in nodes[right - 1 : right + 1]:
            tried = simplex.certified(designs, ordered.shares(plans[int(node)]))
            bounds.append(tried.value * (1.0 + ROUNDING) + tried.gap)
        found[place] = min(bounds)
    return found


class _Ordered:
    """A finite set of actions, most censored first, in coordinates of its heaviest basis."""

    def __init__(self, rows: Vector, observe: Vector) -> None:
        self.order = np.argsort(observe, kind="stable")
        self.observe = observe[self.order]
        self.chosen, basis = _staged_basis(rows[self.order], self.observe)
        self.rows = rows[self.order] @ basis
        self.rank = len(self.chosen)
        self.longest = float(np.square(rows).sum(axis=1).max())

    def ceiling(self, time: float, lam: float) -> float:
        least = float(self.observe[0])
        ratio = least * self.longest * time / (self.rank * lam)
        return self.rank / least * math.log1p(ratio)

    def shares(self, plan: WorstCase) -> Vector:
        played = np.zeros(len(self.order))
        played[list(plan.durations)] = list(plan.durations.values())
        result: Vector = played[self.order] / played.sum()
        return result


@lru_cache(maxsize=1024)
def _solved(content: bytes, d: int, levels: bytes, lam: float, time: float) -> WorstCase:
    world = _Ordered(np.frombuffer(content).reshape(-1, d), np.frombuffer(levels))
    if world.rank == 0 or time == 0.0:
        alone = MappingProxyType({int(world.order[0]): time})
        return WorstCase(0.0, alone, (), 0.0, 0.0, 0.0, 0.0)
    whole = Designs(world.rows, world.observe, time / lam)
    count = len(world.rows)
    active, accuracy = np.arange(count), ACCURACY
    if count > TOGETHER:
        steep = np.argsort(-whole.slopes(np.zeros(count)), kind="stable")
        active, accuracy = np.union1d(world.chosen, steep[: world.rank]), 1e-3
    for _ in range(ROUNDS):
        few = Designs(world.rows[active], world.observe[active], time / lam)
        part = simplex.largest(few, len(active), accuracy)
        shares = np.zeros(count)
        shares[active] = part.shares
        found = simplex.certified(whole, shares)
        if len(active) == count or found.gap <= ACCURACY * found.value:
            break
        accuracy = max(0.03 * found.gap / float(found.slopes.max()), 0.1 * ACCURACY)
        active = _wider(active, part, found.slopes, world.rank)
    ceiling = world.ceiling(time, lam)
    return assembled(found, tuple(world.order.tolist()), world.observe, time, ceiling)


def _wider(
    active: NDArray[np.int64], part: simplex.Optimum, slopes: Vector, rank: int
) -> NDArray[np.int64]:
    """Return the actions in use and those of the others with the largest slope."""
    outside = np.setdiff1d(np.arange(len(slopes)), active)
    worth = outside[slopes[outside] > part.slopes @ part.shares]
    steepest = worth[np.argsort(-slopes[worth], kind="stable")][: 2 * rank + 8]
    return np.union1d(active, steepest)


def _staged_basis(rows: Vector, observe: Vector) -> tuple[NDArray[np.int64], Vector]:
    """Return the heaviest basis and its orthonormalization, whose columns are in order of use.

    The actions up to any level of observation lie in the span of the first columns, so that the
    designs of early levels have exact zeros elsewhere.
    """
    lengths = np.linalg.norm(rows, axis=1)
    left = rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    chosen: list[int] = []
    columns: list[Vector] = []
    for level in np.unique(observe):
        members = np.flatnonzero(observe == level)
        while len(columns) < rows.shape[1]:
            sizes = np.linalg.norm(left[members], axis=1)
            place = int(members[sizes.argmax()])
            if sizes.max() <= DEPENDENT:
                break
            column = left[place] / np.linalg.norm(left[place])
            for earlier in columns:
                column = column - (column @ earlier) * earlier
            column = column / np.linalg.norm(column)
            columns.append(column)
            chosen.append(place)
            for _ in range(2):
                left = left - np.outer(left @ column, column)
    basis = np.array(columns).T if columns else np.zeros((rows.shape[1], 0))
    return np.array(chosen, dtype=np.int64), basis


class Designs:
    """The potential of a plan over actions, as a function of the shares of time.

    Rows come sorted by how often they are observed; coordinates in the order levels reach them.
    """

    def __init__(self, rows: Vector, observe: Vector, rounds: float) -> None:
        self.rows = rows
        levels, starts = np.unique(observe, return_index=True)
        self.last = np.append(starts[1:], len(rows)) - 1  # the last row of each level
        self.weights = level_weights(levels)
        self.played = np.arange(len(rows)) <= self.last[:, None]
        scaled = rows * np.sqrt(observe * rounds)[:, None]
        reached = np.abs(scaled) > DEPENDENT * np.linalg.norm(scaled, axis=1)[:, None]
        self.scaled = np.where(
            np.logical_or.accumulate(reached[:, ::-1], axis=1)[:, ::-1], scaled, 0.0
        )

    def value(self, shares: Vector) -> float:
        """Return the sum of weighted log determinants, relative to the start."""
        eigenvalues = np.linalg.eigvalsh(self._grown(shares))
        return math.fsum(self.weights * np.log1p(np.maximum(eigenvalues, 0.0)).sum(axis=1))

    def slopes(self, shares: Vector) -> Vector:
        """Return the gradient with respect to the share of each action."""
        squares = np.square(self._narrow(shares)).sum(axis=1)
        result: Vector = self.weights @ np.where(self.played, squares, 0.0)
        return result

    def bends(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the gradient and the negative of the Hessian."""
        narrow = np.where(self.played[:, None, :], self._narrow(shares), 0.0)
        curved = np.zeros((len(shares), len(shares)))
        for weight, part, last in zip(self.weights, narrow, self.last, strict=True):
            seen = part[:, : last + 1]
            curved[: last + 1, : last + 1] += weight * np.square(seen.T @ seen)
        total: Vector = self.weights @ np.square(narrow).sum(axis=1)
        return total, curved

    def _grown(self, shares: Vector) -> Vector:
        """Return the contribution of the actions up to each level to the design."""
        weighted = self.scaled * shares[:, None]
        return np.cumsum(weighted[:, :, None] * self.scaled[:, None, :], axis=0)[self.last]

    def _narrow(self, shares: Vector) -> Vector:
        """Return the actions, whitened by the design at the end of each level."""
        root = np.linalg.cholesky(self._grown(shares) + np.eye(self.scaled.shape[1]))
        return np.linalg.solve(root, self.scaled.T)
