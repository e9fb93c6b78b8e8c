"""Feedback that changes in steps along a direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.censorship.base import Censorship, Profile
from halfseen.censorship.directions import projections, unit_direction
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.phrases import COORDINATES, vector_in_words

RIGHT_ANGLE = math.pi / 2
ANGLE_FIX = "Give angles in radians strictly between -pi/2 and pi/2; degrees times pi / 180."


def observe_probability(projection: float, table: Vector) -> float:
    """Return the probability of being observed at <a, u>, from p_0, sin phi_1, p_1, sin phi_2, ..

    >>> float(observe_probability(0.5, np.array([0.9, 0.5, 0.2])))
    0.2
    """
    place = 0
    while place + 2 < table.size and projection >= table[place + 1]:
        place += 2
    return table[place]


@dataclass(frozen=True, repr=False)
class MultiThreshold(Censorship):
    r"""Feedback comes back with one probability per region, regions being slices along a direction.

    .. math:: p(a)=p_j \quad\text{when}\quad \sin\phi_j\le\langle a,u\rangle<\sin\phi_{j+1},
              \qquad \phi_0=-\tfrac\pi2,\ \phi_{k+1}=\tfrac\pi2

    Regions are closed on the left; the last is closed at the pole as well. This is the paper's
    model (MT). An action counts by how far it points along the direction, so that a short action
    at a steep angle can share a region with a long one at a shallow angle.

    Parameters
    ----------
    threshold_radians
        The angles phi_1 < ... < phi_k in radians, strictly inside ]-pi/2, pi/2[; none for the same
        probability everywhere.
    observe
        Probability of being observed in each of the k + 1 regions, in ]0, 1] and in any order.
    direction
        The direction u of the censorship; any non-zero vector, divided by its length.

    Notes
    -----
    The paper supposes that p never rises along the direction. Nothing here needs that: see
    `information_path` and `worst_case_potential`.

    The paper's notation table calls p_j the probability of being censored; it is that of being
    observed. Its single-threshold section prints p_0 < p_1 where p_0 > p_1 is meant.

    References
    ----------
    Guinet, Amin, Jaillet (2022), equation (MT).

    Examples
    --------
    >>> censorship = MultiThreshold([math.pi / 6], observe=[0.9, 0.2], direction=[0, 2])
    >>> censorship.probabilities([[1.0, 0.0], [0.0, 0.5], [0.6, 0.4]]).tolist()
    [0.9, 0.2, 0.9]
    >>> censorship.region([[1.0, 0.0], [0.0, 0.5], [0.6, 0.4]]).tolist()
    [0, 1, 0]
    """

    kind: ClassVar[str] = "multi-threshold"
    threshold_radians: Sequence[float]
    observe: Sequence[float]
    direction: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold_radians", _angles(self.threshold_radians))
        field = "MultiThreshold.observe"
        observe = checks.observation_probabilities(field, self.observe)
        regions = len(self.threshold_radians) + 1
        if len(observe) != regions:
            raise InvalidInput(
                field,
                f"must have {regions} entries, one more than the thresholds",
                counted_entries(len(observe)),
                "Give one probability per region.",
            )
        object.__setattr__(self, "observe", observe)
        direction = unit_direction("MultiThreshold.direction", self.direction)
        object.__setattr__(self, "direction", direction)

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of being observed over the unit ball."""
        return min(self.observe), max(self.observe)

    def table(self) -> Vector:
        """Return the constants of the kernel `observe_probability`."""
        values = np.empty(2 * len(self.threshold_radians) + 1)
        values[0::2] = self.observe
        values[1::2] = [math.sin(angle) for angle in self.threshold_radians]
        return values

    def profile(self, dimension: int) -> Profile:
        """Return how the probability depends on <a, u>; each region has a count of its own."""
        table = self.table()
        return Profile(observe_probability, np.array(self.direction), table, table[1::2].copy())

    def along_direction(self, points: int) -> tuple[Vector, Vector]:
        """Return both ends of each region along u, and its probability of being observed."""
        cuts = np.sin(self.threshold_radians)
        along = np.concatenate([[-1.0], np.repeat(cuts, 2), [1.0]])
        return along, np.repeat(np.array(self.observe), 2)

    def in_steps(self, dimension: int, regions: int) -> tuple[MultiThreshold, float]:
        """Return the model itself, which has steps."""
        return self, 0.0

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed."""
        first = self.observe[0]
        if not self.threshold_radians:
            return f"Every reward is seen with probability {first:g}."
        steps = [
            f"{p:g} from {math.sin(angle):.3g} on"
            for p, angle in zip(self.observe[1:], self.threshold_radians, strict=True)
        ]
        shown = ", ".join(steps if len(steps) <= COORDINATES else [*steps[:COORDINATES], "…"])
        return (
            f"In steps along u = {vector_in_words(self.direction)}: a reward is seen with"
            f" probability {first:g} where ⟨a, u⟩ is small, {shown}."
        )

    def region(self, actions: Any) -> NDArray[np.int64]:
        """Return the region of each row of an array (n, d), counted from 0."""
        along = projections("actions", actions, self.direction)
        return np.searchsorted(self.table()[1::2], along, side="right")

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each row of an array (n, d)."""
        return np.array(self.observe)[self.region(actions)]


def first_axis(dimension: int) -> list[float]:
    """Return the unit vector along the first coordinate."""
    return [1.0] + [0.0] * (dimension - 1)


def _angles(value: Any) -> tuple[float, ...]:
    field = "MultiThreshold.threshold_radians"
    angles = checks.vector(
        field, value, above=-RIGHT_ANGLE, at_most=RIGHT_ANGLE, may_be_empty=True, fix=ANGLE_FIX
    )
    if angles and max(angles) == RIGHT_ANGLE:
        raise InvalidInput(field, "must be below pi/2", angles, ANGLE_FIX)
    if any(later <= earlier for earlier, later in pairwise(angles)):
        raise InvalidInput(
            field, "must be strictly increasing", angles, "Sort them and drop repeated ones."
        )
    return angles
