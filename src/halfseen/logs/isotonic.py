"""Falling curves and staircases by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.equality import ByValue


@dataclass(frozen=True, eq=False)
class Curve(ByValue):
    """A falling step function: blocks in which the share seen is constant.

    Attributes
    ----------
    first, last
        Where each block begins and ends.
    rows, seen
        Its trials and successes.
    """

    first: Vector
    last: Vector
    rows: Vector
    seen: Vector

    @property
    def rates(self) -> Vector:
        """The share seen in each block."""
        return self.seen / self.rows


def isotonic(along: Vector, seen: Vector, rows: Vector) -> Curve:
    """Return the most likely falling curve.

    Parameters
    ----------
    along
        Positions, in any order; equal ones are joined.
    seen, rows
        Successes and trials at each.

    Examples
    --------
    >>> seen, rows = np.array([1.0, 2.0, 0.0]), np.full(3, 2.0)
    >>> isotonic(np.array([0.0, 1.0, 2.0]), seen, rows).rates.tolist()
    [0.75, 0.0]
    """
    from scipy.optimize import isotonic_regression

    spots, place = np.unique(along, return_inverse=True)
    n = np.bincount(place, rows)
    k = np.bincount(place, seen)
    blocks = isotonic_regression(k / n, weights=n, increasing=False).blocks
    starts = blocks[:-1]
    return Curve(
        first=spots[starts],
        last=spots[blocks[1:] - 1],
        rows=np.add.reduceat(n, starts),
        seen=np.add.reduceat(k, starts),
    )


def log_likelihood(curve: Curve, edges: NDArray[Any]) -> float:
    """Return the binomial log-likelihood when blocks are joined from each edge to the next."""
    return float(
        binomial_likelihood(
            np.add.reduceat(curve.seen, edges), np.add.reduceat(curve.rows, edges)
        ).sum()
    )


def merge_blocks(curve: Curve, most: int) -> list[NDArray[np.int64]]:
    """Return the most likely staircase of 1, 2, ..., `most` steps that joins blocks of a curve.

    Parameters
    ----------
    curve
        A falling curve of m blocks.
    most
        At most how many steps; no more than m are possible.

    Returns
    -------
    list of arrays
        For each number of steps, the first block of every step. Exact, by dynamic programming.
    """
    blocks = len(curve.rows)
    n = np.concatenate([[0.0], np.cumsum(curve.rows)])
    k = np.concatenate([[0.0], np.cumsum(curve.seen)])
    size, hits = n[None, 1:] - n[:-1, None], k[None, 1:] - k[:-1, None]
    later = np.triu(np.ones((blocks, blocks), dtype=bool))
    gain = np.full((blocks, blocks), -np.inf)  # log-likelihood of joining the blocks i to j
    gain[later] = binomial_likelihood(hits[later], size[later])
    best = gain[0].copy()
    choices: list[NDArray[np.int64]] = []
    found = [np.array([0])]
    for _ in range(1, min(most, blocks)):
        total = np.full((blocks, blocks), -np.inf)
        total[1:] = best[:-1, None] + gain[1:]  # the last step begins at block i
        choices.append(np.argmax(total, axis=0))
        best = total.max(axis=0)
        edges, end = [], blocks - 1
        for choice in reversed(choices):
            edges.append(int(choice[end]))
            end = edges[-1] - 1
        found.append(np.array([0, *reversed(edges)]))
    return found


def binomial_likelihood(k: Vector, n: Vector) -> Vector:
    """Return the largest log-likelihood of k successes in n trials, without its constant."""
    from scipy.special import xlogy

    return np.asarray(xlogy(k, k / n) + xlogy(n - k, 1.0 - k / n))
