"""Feedback that changes smoothly along a direction: logistic and other links."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship, Profile
from halfseen.censorship.directions import projections, unit_direction
from halfseen.censorship.multi_threshold import MultiThreshold
from halfseen.checks import SMALLEST_OBSERVE, Vector
from halfseen.errors import InvalidInput
from halfseen.phrases import signed, vector_in_words

LINKS = ("logit", "probit", "cloglog")
LOGIT, PROBIT, CLOGLOG = range(3)  # values of table[LINK]
LINK, OFFSET, SLOPE = range(3)  # columns of the kernel's constants
MOST_REGIONS = 100_000
_ROOT_HALF = math.sqrt(0.5)
_CERTAIN = 40.0  # exp(-exp(40)) is 0, exp(800) overflows


def observe_probability(projection: float, table: Vector) -> float:
    """Return the probability of being observed at <a, u>, from the link's number, offset and slope.

    >>> observe_probability(0.0, np.array([LOGIT, 0.0, -2.0]))
    0.5
    """
    z = table[OFFSET] + table[SLOPE] * projection
    if table[LINK] == LOGIT:
        if z >= 0.0:
            return 1.0 / (1.0 + math.exp(-z))
        small = math.exp(z)
        return small / (1.0 + small)
    if table[LINK] == PROBIT:
        return 0.5 * math.erfc(-z * _ROOT_HALF)
    if z > _CERTAIN:
        return 1.0
    return -math.expm1(-math.exp(z))


def projection_at(probability: float, table: Vector) -> float:
    """Return the <a, u> at which the probability of being observed is `probability`.

    >>> projection_at(0.5, np.array([LOGIT, 1.0, -2.0]))
    0.5
    """
    from scipy import special

    if table[LINK] == LOGIT:
        z = float(special.logit(probability))
    elif table[LINK] == PROBIT:
        z = float(special.ndtri(probability))
    else:
        z = math.log(-math.log1p(-probability))
    return float((z - table[OFFSET]) / table[SLOPE])


class LinkedCensorship(Censorship):
    """Base of the models p(a) = link^-1(offset + slope <a, u>)."""

    direction: Sequence[float]
    slope: float
    offset: float

    def __post_init__(self) -> None:
        name = type(self).__name__
        direction = unit_direction(f"{name}.direction", self.direction)
        object.__setattr__(self, "direction", direction)
        object.__setattr__(self, "slope", checks.number(f"{name}.slope", self.slope))
        object.__setattr__(self, "offset", checks.number(f"{name}.offset", self.offset))
        checks.one_of(f"{name}.link", self._link, LINKS)
        smallest, _ = self.observe_range
        if smallest < SMALLEST_OBSERVE:
            raise InvalidInput(
                f"{name}.offset",
                "must give every action of the unit ball a positive probability of being observed",
                self.offset,
                "Raise it, or bring the slope nearer to 0.",
            )

    @property
    def _link(self) -> str:
        return getattr(self, "link", "logit")

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of being observed over the unit ball."""
        table = self.table()
        ends = (observe_probability(-1.0, table), observe_probability(1.0, table))
        return min(ends), max(ends)

    def table(self) -> Vector:
        """Return the constants of the kernel `observe_probability`."""
        return np.array([LINKS.index(self._link), self.offset, self.slope], dtype=np.float64)

    def profile(self, dimension: int) -> Profile:
        """Return how the probability depends on <a, u>."""
        return Profile(observe_probability, np.array(self.direction), self.table())

    def along_direction(self, points: int) -> tuple[Vector, Vector]:
        """Return values of <a, u> from -1 to 1 and the probability of being observed there."""
        along = np.linspace(-1.0, 1.0, points)
        return along, self.along(along)

    def in_steps(self, dimension: int, regions: int) -> tuple[MultiThreshold, float]:
        """Return steps of equal height and half that height, their error: see `staircase`."""
        steps = checks.whole("regions", regions, at_least=1, at_most=MOST_REGIONS)
        lowest, highest = self.observe_range
        sign = 1.0 if self.slope < 0.0 else -1.0
        direction = [sign * entry for entry in self.direction]
        if lowest == highest:
            return MultiThreshold([], [lowest], direction), 0.0
        height = (highest - lowest) / steps
        observe = [highest - (step + 0.5) * height for step in range(steps)]
        table = self.table()
        along = [sign * projection_at(highest - step * height, table) for step in range(1, steps)]
        try:
            angles = [math.asin(min(max(s, -1.0), 1.0)) for s in along]
            return MultiThreshold(angles, observe, direction), 0.5 * height
        except InvalidInput:
            raise InvalidInput(
                "regions",
                "must be few enough for neighbouring thresholds to differ",
                steps,
                "Ask for fewer regions.",
            )

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed."""
        names = {"logit": "logistic", "probit": "probit", "cloglog": "complementary log-log"}
        ends = ", ".join(f"{p:.3g}" for p in self.along([-1.0, 0.0, 1.0]))
        return (
            f"Smoothly along u = {vector_in_words(self.direction)}, {names[self._link]} with slope"
            f" {signed(self.slope)} and offset {signed(self.offset)}: the probability of being seen"
            f" is {ends} at ⟨a, u⟩ = −1, 0, 1."
        )

    def along(self, projection: Any) -> Vector:
        """Return the probability of being observed at each value of <a, u>."""
        table = self.table()
        return np.array([observe_probability(s, table) for s in np.asarray(projection).tolist()])

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each row of an array (n, d)."""
        return self.along(projections("actions", actions, self.direction))


@dataclass(frozen=True, repr=False)
class LinkModel(LinkedCensorship):
    r"""Feedback comes back with a probability that rises or falls smoothly along a direction.

    .. math:: p(a)=g^{-1}(\text{offset}+\text{slope}\,\langle a,u\rangle)

    with :math:`g^{-1}(z)=1/(1+e^{-z})` for ``"logit"``, :math:`\Phi(z)` for ``"probit"`` and
    :math:`1-e^{-e^z}` for ``"cloglog"`` (complementary log-log).

    Parameters
    ----------
    direction
        The direction u; any non-zero vector, divided by its length.
    slope
        How fast feedback changes along the direction; negative for less feedback further along.
    offset
        The value of the linear predictor at <a, u> = 0.
    link
        ``"logit"``, ``"probit"`` or ``"cloglog"``.

    References
    ----------
    McCullagh, Nelder, *Generalized linear models*, 1989.

    Examples
    --------
    >>> LinkModel([0, 1], slope=-1.0, link="probit").probabilities([[1, 0], [0, 1]]).round(6)
    array([0.5     , 0.158655])
    """

    kind: ClassVar[str] = "link"
    direction: Sequence[float]
    slope: float
    offset: float = 0.0
    link: str = "logit"


@dataclass(frozen=True, repr=False)
class Logistic(LinkedCensorship):
    r"""Feedback comes back with a logistic probability along a direction.

    .. math:: p(a)=\frac{1}{1+\exp\big(-(\text{offset}+\text{slope}\,\langle a,u\rangle)\big)}

    Parameters
    ----------
    direction
        The direction u; any non-zero vector, divided by its length.
    slope
        How fast feedback changes along the direction; negative for less feedback further along.
    offset
        The log-odds of being observed at <a, u> = 0.

    Examples
    --------
    >>> Logistic([0, 1], slope=-2.0, offset=1.0).probabilities([[1, 0], [0, 0.5]]).round(6)
    array([0.731059, 0.5     ])
    """

    kind: ClassVar[str] = "logistic"
    direction: Sequence[float]
    slope: float
    offset: float = 0.0
