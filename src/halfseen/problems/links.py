"""How a generalized linear reward depends on <a, theta>, and how it is drawn.

The kernels are plain scalar functions: they run as they are in the reference engine and compiled
in the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.display import ShownAsCall
from halfseen.draws import Stream, normal_from, poisson, unit, words
from halfseen.errors import InvalidInput
from halfseen.fingerprint import NoFingerprint, fingerprint
from halfseen.kernels.reachable import renewed

Curve = Callable[[float], float]
Evidence = Callable[[float, float, float], float]
Draw = Callable[[float, float, Stream, int, int], float]
GRID = 2001  # points at which slopes are evaluated, both ends and 0 among them
LARGEST_MEAN = 1e9
_ROOT_HALF = math.sqrt(0.5)
_DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)
_FAR = 300.0  # exp is cut off here, so that its products do not overflow


def logistic_mean(z: float) -> float:
    """Return 1 / (1 + exp(-z))."""
    small = math.exp(-abs(z))
    return (1.0 if z >= 0.0 else small) / (1.0 + small)


def logistic_slope(z: float) -> float:
    """Return the derivative of the logistic curve."""
    small = math.exp(-abs(z))
    return small / ((1.0 + small) * (1.0 + small))


def exponential(z: float) -> float:
    """Return exp(z), which is also its slope; constant beyond 300."""
    return math.exp(z if z < _FAR else _FAR)


def normal_mean(z: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-z * _ROOT_HALF)


def normal_slope(z: float) -> float:
    """Return the standard normal density."""
    return _DENSITY_AT_0 * math.exp(-0.5 * z * z)


def hazard(z: float) -> float:
    """Return density over distribution function at z, without loss of digits far out.

    >>> round(hazard(0.0), 12), round(hazard(-40.0), 9), hazard(40.0) < 1e-300
    (0.797884560803, 40.024968847, True)
    """
    if z > -12.0:
        return normal_slope(z) / normal_mean(z)
    x = -z
    rest = x
    for k in range(24, 0, -1):  # Laplace's continued fraction
        rest = x + k / rest
    return rest


def probit_score(count: float, total: float, z: float) -> float:
    """Return the derivative in z of the log-likelihood of `total` successes in `count` trials."""
    return total * hazard(z) - (count - total) * hazard(-z)


def probit_curvature(count: float, total: float, z: float) -> float:
    """Return minus the second derivative in z of the log-likelihood."""
    up, down = hazard(z), hazard(-z)
    return total * (up * (up + z)) + (count - total) * (down * (down - z))


def line(z: float) -> float:
    """Return z."""
    return z


def one(z: float) -> float:
    """Return 1."""
    return 1.0


def draw_gaussian(mean: float, noise: float, stream: Stream, count: int, arm: int) -> float:
    """Draw a normal reward."""
    high, low, _, _ = words(stream, count, arm)
    return mean + noise * normal_from(high, low, stream, count, arm)


def draw_bernoulli(mean: float, noise: float, stream: Stream, count: int, arm: int) -> float:
    """Draw a reward of 0 or 1."""
    high, low, _, _ = words(stream, count, arm)
    return 1.0 if unit(high, low) < mean else 0.0


def draw_poisson(mean: float, noise: float, stream: Stream, count: int, arm: int) -> float:
    """Draw a count."""
    return poisson(mean, stream, count, arm)


DRAWS: dict[str, Draw] = {
    "gaussian": draw_gaussian,
    "bernoulli": draw_bernoulli,
    "poisson": draw_poisson,
}


def canonical(mean: Curve, slope: Curve) -> tuple[Evidence, Evidence]:
    r"""Return the score :math:`S-N\mu(z)` and its curvature :math:`N\mu'(z)`."""

    def score(count: float, total: float, z: float) -> float:
        return total - count * mean(z)

    def curvature(count: float, total: float, z: float) -> float:
        return count * slope(z)

    return score, curvature


@dataclass(frozen=True)
class LinkKernels:
    """The functions of a link that are filled into the loops and into the fit."""

    mean: Curve
    reward: Draw
    score: Evidence
    curvature: Evidence

    def names(self) -> dict[str, Any]:
        """Return the functions by the names under which the loops call them."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False, repr=False)
class Link(ShownAsCall):
    r"""An increasing curve :math:`\mu` that turns <a, theta> into a mean reward.

    Parameters
    ----------
    name
        The link's name in studies. It refers to the latest link of that name; bandits made earlier
        keep theirs. Links of the same code are equal.
    mean
        The curve, a function of one number.
    slope
        Its derivative, above 0.
    reward
        The law of the rewards: ``"gaussian"``, ``"bernoulli"`` or ``"poisson"``, or a function
        ``(mean, noise, stream, count, arm)`` that draws one with `halfseen.draws`.
    score, curvature
        Derivative and minus the second derivative in z of the log-likelihood, functions
        ``(count, total, z)`` of how often an action was observed and what it paid in all. Left
        out, :math:`S-N\mu(z)` and :math:`N\mu'(z)`: the likelihood where the link is the law's
        natural one, and else the equation :math:`\sum(y-\mu)a=0`, for which the bounds hold too.

    Notes
    -----
    Functions may use only numbers, `math` and other such functions, so that they can be
    compiled. ``slope`` is compared with differences of ``mean`` when a bandit is made.

    Examples
    --------
    >>> import math
    >>> def mean(z):
    ...     return 0.5 + math.atan(z) / math.pi
    >>> def slope(z):
    ...     return 1.0 / (math.pi * (1.0 + z * z))
    >>> Link("cauchit", mean, slope, reward="bernoulli").slopes(1.0)[0] == slope(1.0)
    True
    """

    name: str
    mean: Curve
    slope: Curve
    reward: str | Draw = "gaussian"
    score: Evidence | None = None
    curvature: Evidence | None = None

    def __post_init__(self) -> None:
        for field in ("mean", "slope"):
            if not callable(getattr(self, field)):
                raise InvalidInput(
                    f"Link.{field}",
                    "must be a function of one number",
                    getattr(self, field),
                    "Give for example a function that returns 1 / (1 + math.exp(-z)).",
                )
        if not isinstance(self.name, str) or not self.name.isprintable() or not self.name.strip():
            raise InvalidInput("Link.name", "must be a printable name", self.name, "Name it.")
        if not callable(self.reward) and self.reward not in DRAWS:
            raise InvalidInput(
                "Link.reward",
                f"must be one of {', '.join(DRAWS)} or a function",
                self.reward,
                "Choose one of those.",
            )
        if (self.score is None) != (self.curvature is None):
            raise InvalidInput(
                "Link.score", "must come with its curvature", self.score, "Give both or neither."
            )
        score, curvature = self.score, self.curvature
        if score is None or curvature is None:
            score, curvature = canonical(self.mean, self.slope)
        draw = self.reward if callable(self.reward) else DRAWS[self.reward]
        kernels = LinkKernels(self.mean, draw, score, curvature)
        object.__setattr__(self, "_kernels", kernels)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Link):
            return self is other
        return self._code() == other._code()

    def __hash__(self) -> int:
        return hash(self._code())

    def _code(self) -> str:
        try:
            return fingerprint(self)
        except NoFingerprint:  # then links are equal only if they are the same object
            return str(id(self))

    @property
    def kernels(self) -> LinkKernels:
        """The functions that the engines fill into their loops."""
        first: LinkKernels = self._kernels  # type: ignore[attr-defined]
        return LinkKernels(**{name: renewed(kernel) for name, kernel in vars(first).items()})

    @property
    def law(self) -> str:
        """The law of the rewards by name, ``"custom"`` where it is a function."""
        return self.reward if isinstance(self.reward, str) else "custom"

    def usual_noise(self, limit: float) -> float:
        """Return the default scale of rewards around their mean."""
        scales = {"bernoulli": 0.5, "poisson": math.sqrt(abs(self.mean(limit)))}
        return scales.get(self.law, 1.0)

    def means(self, z: Any) -> Vector:
        """Return the curve at each number of an array."""
        flat = np.ravel(np.asarray(z, dtype=np.float64))
        return np.array([self.mean(value) for value in flat.tolist()]).reshape(np.shape(z))

    def slopes(self, limit: float) -> tuple[float, float]:
        """Return the smallest and the largest slope of the curve on [-limit, limit]."""
        values = [self.slope(z) for z in _grid(limit)]
        return min(values), max(values)

    def bends(self, limit: float) -> tuple[float, float]:
        r"""Return the smallest curvature of one observation and the largest weight of its error.

        For the natural link these are the smallest slope and 1. Else rewards are 0 or 1, and the
        score of one is :math:`w(z)(y-\mu(z))`.
        """
        if self.score is None:
            return self.slopes(limit)[0], 1.0
        curvature, score = self.kernels.curvature, self.kernels.score
        grid = _grid(limit)
        least = min(curvature(1.0, y, z) for z in grid for y in (0.0, 1.0))
        return least, max(score(1.0, 1.0, z) - score(1.0, 0.0, z) for z in grid)

    def check(self, field: str, limit: float) -> None:
        """Refuse a curve that does not increase on [-limit, limit] or whose slope is wrong."""
        grid = _grid(max(limit, 1e-3))
        means, slopes = self.means(grid), np.array([self.slope(z) for z in grid])
        fine = bool(np.isfinite(means).all() and np.isfinite(slopes).all())
        if not fine or not (np.diff(means) > 0.0).all() or not (slopes > 0.0).all():
            raise InvalidInput(
                field,
                f"must be finite and increasing between -{limit:g} and {limit:g}",
                self.name,
                "Choose another curve, or shorten theta.",
            )
        rises = np.diff(means) / np.diff(grid)
        middle = 0.5 * (slopes[:-1] + slopes[1:])
        if np.max(np.abs(rises - middle) / (rises + middle)) > 1e-3:
            raise InvalidInput(
                f"{field}.slope", "must be the derivative of mean", self.name, "Correct it."
            )
        if np.abs(means).max() > LARGEST_MEAN:
            raise InvalidInput(
                field,
                f"must keep means below {LARGEST_MEAN:g}",
                float(np.abs(means).max()),
                "Shorten theta.",
            )


def _grid(limit: float) -> list[float]:
    return [float(z) for z in np.linspace(-limit, limit, GRID)]


LOGISTIC = Link("logistic", logistic_mean, logistic_slope, "bernoulli")
POISSON = Link("poisson", exponential, exponential, "poisson")
PROBIT = Link("probit", normal_mean, normal_slope, "bernoulli", probit_score, probit_curvature)
IDENTITY = Link("identity", line, one, "gaussian")
LINKS: dict[str, Link] = {link.name: link for link in (LOGISTIC, POISSON, PROBIT, IDENTITY)}


_BUILT_IN = dict(LINKS)


def link_named(field: str, value: Any) -> Link:
    """Return a link by its name; a link of your own is registered, replacing one of its name."""
    if isinstance(value, Link):
        if _BUILT_IN.get(value.name, value) != value:
            raise InvalidInput(
                field, "must not take the name of a built-in link", value.name, "Rename it."
            )
        LINKS[value.name] = value
        return value
    from halfseen import checks

    return LINKS[checks.one_of(field, value, LINKS)]
