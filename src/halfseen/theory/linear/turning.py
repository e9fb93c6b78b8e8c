"""The line on which regions gain as much as a base, which turns as the base is played."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.theory.linear.kept_regions import LOWER
from halfseen.theory.linear.reachability import (
    Reachability,
    dual_reachability_threshold,
    reachability_threshold,
)

if TYPE_CHECKING:
    from halfseen.theory.linear.path import InformationPath


@dataclass(frozen=True)
class Base:
    """A base region of a path, and the line on which other regions gain as much as it.

    Attributes
    ----------
    number, angle, observe
        The region.
    dimension
        Number of coordinates of an action.
    """

    number: int
    angle: float
    observe: float
    dimension: int

    @property
    def sine(self) -> float:
        """The squared sine of the angle."""
        return squared_sine(self.angle)

    @property
    def limit(self) -> float:
        """The limit of the ratio y/x of the design when only the base is played."""
        return (self.dimension - 1) * self.sine / (1.0 - self.sine)

    def line(self, sine: Any, turned: float) -> Any:
        """Return the ratio of p to the base's at which a region gains as much, at a given y/x."""
        return ((1.0 - sine) * turned + sine) / ((1.0 - self.sine) * turned + self.sine)

    def turned_to(self, height: float) -> float:
        """Return the y/x at which the line has a given height at the equator."""
        return height * self.sine / (1.0 - height * (1.0 - self.sine))

    def meeting(self, pair: Reachability) -> float:
        """Return the y/x at which a reachable region gains as much as the base."""
        return self.sine * (pair.ratio - pair.l) / ((1.0 - self.sine) * (pair.u - pair.ratio))

    def time(self, turned: float, regularization: float) -> float:
        """Return the time at which the design, isotropic at first, reaches the ratio y/x."""
        pace = self.observe * (self.sine - turned * (1.0 - self.sine) / (self.dimension - 1))
        return regularization * (turned - 1.0) / pace

    def ratios(self, sine: Any) -> tuple[Any, Any, Any, Any]:
        """Return u, l, r* and r-dagger of a region with the given squared sine."""
        u, l = (1.0 - sine) / (1.0 - self.sine), sine / self.sine  # noqa: E741
        star = reachability_threshold(u, l, self.dimension)
        return u, l, star, dual_reachability_threshold(u, l, self.dimension)


def base_of(path: InformationPath, number: int) -> Base:
    """Return a region of a path as a base."""
    place = path.numbers.index(number)
    base = Base(number, path.angles_radians[place], path.observe[place], path.dimension)
    if len(path.numbers) < 2 or path.edge != LOWER or path.dimension * base.sine <= 1.0:
        degrees = round(math.degrees(base.angle), 1)
        raise InvalidInput(
            "path",
            "must start in a region that favours the direction of the censorship",
            f"region {number} at {degrees:g}° in {path.dimension} dimensions",
            "Raise the dimension, or the least observed region, until d sin² of it is above 1.",
        )
    return base


def squared_sine(angle: float) -> float:
    """Return the squared sine of an angle in radians."""
    return math.sin(angle) ** 2
