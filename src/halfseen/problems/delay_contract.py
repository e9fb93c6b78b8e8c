"""The contract of a delay law: how likely a reward is to have arrived by a certain age."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.equality import ComparedByField
from halfseen.errors import InvalidInput
from halfseen.kernels.delay_times import LISTED, delay_time
from halfseen.kinds import declare

LONGEST = 2**48  # rounds of a study, at most


class DelayLaw(ComparedByField, ABC):
    r"""How many whole rounds pass before a reward arrives.

    A reward of round s with delay D has arrived before round t if :math:`s + D \le t - 1`; with D =
    0 it is known before the next choice. Your own law is a frozen dataclass that implements
    :meth:`arrived_by`.

    Attributes
    ----------
    kind
        The law's name in a spec.
    arrive
        The probability that a reward ever arrives.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class AtOnceOrTomorrow(DelayLaw):
    ...     kind = "at-once-or-tomorrow"
    ...     day: int
    ...     arrive: float = 1.0
    ...     def arrived_by(self, delay):
    ...         delay = np.asarray(delay, dtype=float)
    ...         return self.arrive * np.where(delay < 0, 0.0, np.where(delay < self.day, 0.5, 1.0))
    >>> AtOnceOrTomorrow(24).arrived_by([0, 23, 24]).tolist()
    [0.5, 0.5, 1.0]
    """

    kind: ClassVar[str]
    arrive: float

    @abstractmethod
    def arrived_by(self, delay: Any) -> Any:
        """Return the probability that a reward has arrived after `delay` rounds or fewer."""

    @property
    def longest(self) -> float:
        """The longest delay of a reward that arrives; infinite where there is none."""
        return math.inf

    def numbers(self) -> tuple[float, float, float] | None:
        """Return the kind and parameters as `delay_time` takes them, None to be listed."""
        return None

    def listed(self, most: int) -> Vector:
        """Return delays up to `most` and the probabilities of arriving by them, as two rows."""
        delays = np.arange(most + 1, dtype=float)
        return np.array([delays, np.asarray(self.arrived_by(delays), dtype=float)])

    def delay(self, u: float, *, most: int = 10_000) -> float:
        """Return the delay that a uniform number in [0, 1[ stands for, infinite if none arrives.

        Parameters
        ----------
        u
            A number in [0, 1[.
        most
            The longest delay looked for in a law without a closed form.

        Examples
        --------
        >>> from halfseen import GeometricDelay
        >>> GeometricDelay(50).delay(0.5)
        35.0
        """
        place = checks.number("u", u, at_least=0.0, below=1.0)
        rows, lists = law_rows([self], most)
        return delay_time(rows, 0, place, lists)

    def in_words(self) -> str:
        """Describe the delays, as reports do."""
        return f"delays of law {self.kind}"

    def _check(self, **positive: float) -> None:
        """Keep the probability of arriving and positive parameters as floats."""
        owner = type(self).__name__
        for name, value in positive.items():
            kept = checks.number(f"{owner}.{name}", value, above=0.0, at_most=1e15)
            object.__setattr__(self, name, kept)
        fix = "Give the probability that a reward ever arrives."
        arrive = checks.number(f"{owner}.arrive", self.arrive, at_least=0.0, at_most=1.0, fix=fix)
        object.__setattr__(self, "arrive", arrive)

    def _some(self) -> str:
        return "" if self.arrive == 1.0 else f" ({1.0 - self.arrive:.3g} of them never arrive)"


DELAY_LAWS: dict[str, type[DelayLaw]] = {}
declare(DelayLaw, "delay law", DELAY_LAWS)


def law_rows(laws: Sequence[DelayLaw], most: int) -> tuple[Vector, Vector]:
    """Return laws as rows of numbers, and the lists of those that need one; see `delay_time`."""
    rows, lists, length = [], [np.zeros((2, 0))], 0
    for law in laws:
        numbers = law.numbers()
        if numbers is None:
            listed = law.listed(most)
            _check_listed(law, listed)
            numbers = (LISTED, float(length), float(length + listed.shape[1] - 1))
            lists.append(listed)
            length += listed.shape[1]
        rows.append((numbers[0], law.arrive, *numbers[1:]))
    return np.array(rows, dtype=float), np.ascontiguousarray(np.hstack([*lists, np.zeros((2, 1))]))


def _check_listed(law: DelayLaw, listed: Vector) -> None:
    arrived = listed[1]
    steps = np.diff(arrived, prepend=0.0)
    if not (np.all(steps >= 0.0) and arrived[-1] <= law.arrive):
        place = int(np.argmin((steps >= 0.0) & (arrived <= law.arrive)))
        raise InvalidInput(
            f"{type(law).__name__}.arrived_by({listed[0, place]:g})",
            "must not fall as the delay grows, nor exceed `arrive`",
            float(arrived[place]),
            "Return the probability of having arrived by then.",
        )


def delay_law(field: str, value: Any) -> DelayLaw:
    """Return a delay law, or refuse what is none."""
    named = isinstance(getattr(value, "kind", None), str)
    if isinstance(value, DelayLaw) and named:
        return value
    raise InvalidInput(field, "must be a delay law", value, "Use for example GeometricDelay(50).")
