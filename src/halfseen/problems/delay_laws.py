"""Delay laws: how many rounds pass before a reward arrives, if it ever does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kernels.delay_times import FIXED, GEOMETRIC, LOG_NORMAL, PARETO
from halfseen.kinds import register
from halfseen.problems.delay_contract import LONGEST, DelayLaw


def _rounds(delay: Any) -> Vector:
    """Return delays rounded down; a reward that arrives during a round counts as of its start."""
    return np.floor(np.asarray(delay, dtype=float))


def _like(delay: Any, values: Any) -> Any:
    """Return a number for a number, an array for an array."""
    return float(values) if np.ndim(delay) == 0 else values


@dataclass(frozen=True)
class Fixed(DelayLaw):
    """Every reward that arrives takes the same number of rounds.

    Parameters
    ----------
    rounds
        The number of rounds, a whole number from 0 on.
    arrive
        The probability that a reward ever arrives.

    Examples
    --------
    >>> Fixed(3).arrived_by([2, 3]).tolist()
    [0.0, 1.0]
    """

    kind: ClassVar[str] = "fixed"
    rounds: int
    arrive: float = 1.0

    def __post_init__(self) -> None:
        fix = "Count the delay in whole rounds; 0 arrives before the next choice."
        rounds = checks.whole("Fixed.rounds", self.rounds, at_least=0, at_most=LONGEST, fix=fix)
        object.__setattr__(self, "rounds", rounds)
        self._check()

    @property
    def longest(self) -> float:
        """The delay."""
        return float(self.rounds)

    def arrived_by(self, delay: Any) -> Any:
        """Return the probability that a reward has arrived after `delay` rounds or fewer."""
        return _like(delay, self.arrive * (_rounds(delay) >= self.rounds))

    def numbers(self) -> tuple[float, float, float]:
        """Return the kind and the delay."""
        return FIXED, float(self.rounds), 0.0

    def in_words(self) -> str:
        """Describe the delays, as reports do."""
        return f"a delay of {self.rounds:,} rounds{self._some()}"


@dataclass(frozen=True)
class GeometricDelay(DelayLaw):
    r"""Delays without memory: :math:`P(D \le d) = 1 - (M/(1+M))^{d+1}`.

    Parameters
    ----------
    mean
        The mean delay M of the rewards that arrive, in rounds.
    arrive
        The probability that a reward ever arrives.

    Examples
    --------
    >>> round(GeometricDelay(50).arrived_by(10), 12)
    0.195736960907
    """

    kind: ClassVar[str] = "geometric"
    mean: float
    arrive: float = 1.0

    def __post_init__(self) -> None:
        self._check(mean=self.mean)

    def arrived_by(self, delay: Any) -> Any:
        """Return the probability that a reward has arrived after `delay` rounds or fewer."""
        age = np.maximum(_rounds(delay) + 1.0, 0.0)
        return _like(delay, -self.arrive * np.expm1(-age * math.log1p(1.0 / self.mean)))

    def numbers(self) -> tuple[float, float, float]:
        """Return the kind and 1/log(M/(1+M))."""
        return GEOMETRIC, -1.0 / math.log1p(1.0 / self.mean), 0.0

    def in_words(self) -> str:
        """Describe the delays, as reports do."""
        return f"geometric delays of {self.mean:g} rounds on average{self._some()}"


@dataclass(frozen=True)
class LogNormalDelay(DelayLaw):
    r"""Delays whose logarithm is normal: :math:`P(D \le d) = \Phi(\log((d+1)/m)/s)`.

    Parameters
    ----------
    median
        The median m, in rounds.
    scale
        The standard deviation s of the logarithm.
    arrive
        The probability that a reward ever arrives.

    Examples
    --------
    >>> round(LogNormalDelay(30, 1.5).arrived_by(10), 12)
    0.25178981917
    """

    kind: ClassVar[str] = "log-normal"
    median: float
    scale: float
    arrive: float = 1.0

    def __post_init__(self) -> None:
        self._check(median=self.median, scale=self.scale)

    def arrived_by(self, delay: Any) -> Any:
        """Return the probability that a reward has arrived after `delay` rounds or fewer."""
        from scipy.special import ndtr

        age = np.maximum(_rounds(delay) + 1.0, 0.0)
        with np.errstate(divide="ignore"):
            place = np.log(age / self.median) / self.scale
        return _like(delay, self.arrive * ndtr(place))

    def numbers(self) -> tuple[float, float, float]:
        """Return the kind, the median and the scale."""
        return LOG_NORMAL, self.median, self.scale

    def in_words(self) -> str:
        """Describe the delays, as reports do."""
        text = f"log-normal delays with a median of {self.median:g} rounds and scale {self.scale:g}"
        return text + self._some()


@dataclass(frozen=True)
class ParetoDelay(DelayLaw):
    r"""Delays with a heavy tail: :math:`P(D \le d) = 1 - (1 + (d+1)/c)^{-\alpha}`.

    Parameters
    ----------
    exponent
        The exponent alpha; at 1 or below the mean delay is infinite.
    scale
        The scale c, in rounds.
    arrive
        The probability that a reward ever arrives.

    Examples
    --------
    >>> round(ParetoDelay(0.7, 20, arrive=0.6).arrived_by(10), 12)
    0.158511839317
    """

    kind: ClassVar[str] = "pareto"
    exponent: float
    scale: float
    arrive: float = 1.0

    def __post_init__(self) -> None:
        self._check(exponent=self.exponent, scale=self.scale)

    def arrived_by(self, delay: Any) -> Any:
        """Return the probability that a reward has arrived after `delay` rounds or fewer."""
        age = np.maximum(_rounds(delay) + 1.0, 0.0)
        log = -self.exponent * np.log1p(age / self.scale)
        return _like(delay, -self.arrive * np.expm1(log))

    def numbers(self) -> tuple[float, float, float]:
        """Return the kind, the exponent and the scale."""
        return PARETO, self.exponent, self.scale

    def in_words(self) -> str:
        """Describe the delays, as reports do."""
        text = f"Pareto delays with exponent {self.exponent:g} and scale {self.scale:g}"
        return text + self._some()


@dataclass(frozen=True)
class EmpiricalDelay(DelayLaw):
    """Delays drawn from a sample of them.

    Parameters
    ----------
    delays
        Delays of rewards that arrived, whole numbers of rounds.
    arrive
        The probability that a reward ever arrives.

    Examples
    --------
    >>> EmpiricalDelay([0, 3, 3, 10]).arrived_by([0, 3]).tolist()
    [0.25, 0.75]
    """

    kind: ClassVar[str] = "empirical"
    delays: Sequence[int]
    arrive: float = 1.0

    def __post_init__(self) -> None:
        fix = "Count delays in whole rounds from 0 on."
        given = checks.vector("EmpiricalDelay.delays", self.delays, fix=fix)
        delays = sorted(
            checks.whole(f"EmpiricalDelay.delays[{k}]", d, at_least=0, at_most=LONGEST, fix=fix)
            for k, d in enumerate(given)
        )
        object.__setattr__(self, "delays", tuple(delays))
        self._check()

    @staticmethod
    def from_log(delays: Iterable[float | None]) -> EmpiricalDelay:
        """Return the law of a log in which None or NaN stands for a reward that never came.

        Every decision must be old enough to know. For younger ones see `halfseen.audit`, which
        estimates the delays by Kaplan-Meier.

        >>> EmpiricalDelay.from_log([0, None, 3, None])
        EmpiricalDelay(delays=(0, 3), arrive=0.5)
        """
        given = list(delays)
        came = [d for d in given if d is not None and d == d]
        if not came:
            raise InvalidInput(
                "EmpiricalDelay.delays", "must hold a delay", given, "Give a longer log."
            )
        return EmpiricalDelay(came, arrive=len(came) / len(given))  # type: ignore[arg-type]

    @property
    def longest(self) -> float:
        """The longest delay of the sample."""
        return float(max(self.delays))

    def arrived_by(self, delay: Any) -> Any:
        """Return the probability that a reward has arrived after `delay` rounds or fewer."""
        below = np.searchsorted(np.array(self.delays, float), _rounds(delay), side="right")
        return _like(delay, self.arrive * (below / len(self.delays)))

    def listed(self, most: int) -> Vector:
        """Return the different delays of the sample and the probabilities of arriving by them."""
        delays = np.unique(np.array(self.delays, dtype=float))
        return np.array([delays, self.arrived_by(delays)])

    def in_words(self) -> str:
        """Describe the delays, as reports do."""
        middle = float(np.median(self.delays))
        return f"{len(self.delays):,} logged delays with a median of {middle:g}{self._some()}"


for _law in (Fixed, GeometricDelay, LogNormalDelay, ParetoDelay, EmpiricalDelay):
    register(_law)
