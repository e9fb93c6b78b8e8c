"""Search for the instance on which an inequality comes closest to failing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import qmc

from halfseen.checks import Vector
from halfseen.claims.claim import Comparison

Point = dict[str, float]
SHARES = (0.7, 0.3)  # shares of the local search that start from the best point and the second
STEP = 0.15  # first step of the search, in the unit cube
LONGER, SHORTER = 1.5, 0.8  # factors of the step after an improvement, and after none


@dataclass(frozen=True)
class Axis:
    """One parameter of the instances searched.

    Parameters
    ----------
    name
        The parameter's name, the key in the point passed to the measurement.
    low, high
        Its range.
    log
        Search on a log scale.
    whole
        Round it to a whole number.

    Examples
    --------
    >>> Axis("T", 1, 100, log=True).at(0.5), Axis("d", 1, 4, whole=True).at(0.9)
    (10.0, 4.0)
    """

    name: str
    low: float
    high: float
    log: bool = False
    whole: bool = False

    def at(self, place: float) -> float:
        """Return the value at a place in [0, 1]."""
        if self.log:
            value = self.low * (self.high / self.low) ** place
        else:
            value = self.low + (self.high - self.low) * place
        return float(round(value)) if self.whole else float(min(max(value, self.low), self.high))


def closest(
    measure: Callable[[Point], Comparison | None],
    axes: Sequence[Axis],
    tries: int,
    seed: int,
    confirm: Callable[[Point], Comparison | None] | None = None,
) -> Comparison:
    """Search for the comparison that is closest to a contradiction.

    Parameters
    ----------
    measure
        Returns the comparison at a point, or None if the statement does not apply there.
    axes
        The parameters and their ranges.
    tries
        Number of instances measured: half of them spread over the ranges, the others by local
        search from the best.
    seed
        Seed of the search.
    confirm
        For simulated measurements: measures the point found again, with new draws. This avoids the
        selection bias of the largest of many noisy numbers.

    Returns
    -------
    Comparison
        The comparison found, with the number of instances searched.

    Examples
    --------
    >>> from halfseen.claims.claim import Measured
    >>> def parabola(point):
    ...     return Comparison("", Measured(1.0 - (point["x"] - 0.3) ** 2), "at most", 1.0)
    >>> found = closest(parabola, [Axis("x", 0.0, 1.0)], 60, seed=1)
    >>> found.strain > 0.9999, found.searched
    (True, 60)
    """
    rng = np.random.default_rng([seed, 20221])
    known: list[tuple[float, Vector, Comparison]] = []

    def look(place: Vector) -> float:
        point = {axis.name: axis.at(float(x)) for axis, x in zip(axes, place, strict=True)}
        found = measure(point)
        if found is None:
            return -math.inf
        known.append((found.strain, place, found))
        return found.strain

    spread = qmc.LatinHypercube(len(axes), rng=rng).random(max(1, tries // 2))
    for place in spread:
        look(place)
    if not known:
        raise ValueError("no instance searched is covered by the statement")
    rest = tries - len(spread)
    starts = sorted(known, key=lambda entry: -entry[0])[: len(SHARES)]
    second = round(SHARES[1] * rest) if len(starts) > 1 else 0
    for (height, start, _), steps in zip(starts, (rest - second, second), strict=False):
        _climb(look, start, height, steps, rng)
    _, place, best = max(known, key=lambda entry: entry[0])
    if confirm is not None:
        point = {axis.name: axis.at(float(x)) for axis, x in zip(axes, place, strict=True)}
        best = confirm(point) or best
    return replace(best, searched=tries)


def _climb(
    look: Callable[[Vector], float],
    place: Vector,
    height: float,
    tries: int,
    rng: np.random.Generator,
) -> None:
    """Search locally from a point, with random steps that are kept if the value increases."""
    step = STEP
    for _ in range(tries):
        ahead = np.clip(place + step * rng.normal(size=len(place)), 0.0, 1.0)
        there = look(ahead)
        if there > height:
            place, height, step = ahead, there, min(LONGER * step, 0.5)
        else:
            step = max(SHORTER * step, 1e-4)
