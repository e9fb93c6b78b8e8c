"""Feedback that comes late, or only if it is a conversion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship.base import Censorship, Profile
from halfseen.censorship.multi_threshold import observe_probability
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.phrases import counted
from halfseen.problems.delay_contract import LONGEST, DelayLaw, delay_law

SENDS = ("all", "conversions")
Pair = tuple[DelayLaw, DelayLaw]  # laws of rewards of 0 or less, and of rewards above 0


@dataclass(frozen=True)
class Delayed(Censorship):
    r"""Rewards arrive late, and count as missing after a window.

    A reward of round s with delay D has arrived before round t if :math:`s + D \le t - 1`. Within a
    window of m rounds a reward with :math:`D \le m` arrives and a later one is lost, so that arm a
    is observed with probability :math:`p_a(m) = P(D_a \le m)`.

    Parameters
    ----------
    laws
        A delay law for all arms, or one per arm. The entry of an arm may also be a pair of laws,
        for rewards of 0 (or less) and for rewards above 0. What is missing then depends on the
        reward, and observed means are biased.
    window
        Rounds after which a decision without feedback is given up; left out, none is.
    sends
        ``"all"`` rewards, or ``"conversions"`` only: a reward of 0 is never sent, so that a
        decision without feedback is a 0 or a late reward, which cannot be distinguished.

    Examples
    --------
    >>> from halfseen import GeometricDelay
    >>> Delayed(GeometricDelay(50), window=10).probabilities(2).round(6).tolist()
    [0.195737, 0.195737]
    """

    kind: ClassVar[str] = "delayed"
    laws: DelayLaw | Sequence[DelayLaw | Sequence[DelayLaw]]
    window: int | None = None
    sends: str = "all"

    def __post_init__(self) -> None:
        object.__setattr__(self, "laws", _laws("Delayed.laws", self.laws))
        if self.window is not None:
            fix = "Count it in whole rounds, or leave it out to wait for ever."
            window = checks.whole(
                "Delayed.window", self.window, at_least=0, at_most=LONGEST, fix=fix
            )
            object.__setattr__(self, "window", window)
        checks.one_of("Delayed.sends", self.sends, SENDS)
        self._check_arrivals()

    @property
    def by_place(self) -> bool:  # type: ignore[override]
        """True when arms have laws of their own."""
        return not isinstance(self.laws, DelayLaw)

    @property
    def depends_on_reward(self) -> bool:
        """True when how long a reward takes, or whether it is sent, depends on its value."""
        return self.sends == "conversions" or self.by_reward

    @property
    def by_reward(self) -> bool:  # type: ignore[override]
        """True when some arm has two delay laws, one for rewards of 0 and one for others."""
        return any(zero != other for zero, other in self._entries())

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of arriving within the window."""
        values = [self._arrives(law) for pair in self._entries() for law in pair]
        return min(values), max(values)

    @property
    def sees_everything(self) -> bool:
        """True when every reward arrives before the next choice."""
        at_once = all(law.arrived_by(0) == 1.0 for pair in self._entries() for law in pair)
        return at_once and self.sends == "all"

    @property
    def delayed(self) -> Delayed:
        """The censorship itself."""
        return self

    @property
    def comes_late(self) -> bool:
        """True when some rewards do not arrive before the next choice."""
        return not self.sees_everything

    def pairs(self, arms: int) -> list[Pair]:
        """Return every arm's two laws: of rewards of 0 or less, and of those above 0."""
        entries = self._entries()
        if isinstance(self.laws, DelayLaw):
            return entries * arms
        if len(entries) != arms:
            raise InvalidInput(
                "Delayed.laws",
                f"must have {arms} entries, one per arm",
                counted_entries(len(entries)),
                "Match the problem's means, or give one law for all arms.",
            )
        return entries

    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of arriving within the window; the smaller one of two laws."""
        count = actions if isinstance(actions, Integral) else len(actions)
        return np.array([min(map(self._arrives, pair)) for pair in self.pairs(int(count))])

    def profile(self, dimension: int) -> Profile | None:
        """Return the same probability along any direction; None where actions have their own."""
        if not isinstance(self.laws, DelayLaw):
            return None
        return Profile(observe_probability, np.zeros(dimension), np.array([self.observe_range[0]]))

    def message_rates(self, problem: Any) -> Vector:
        """Return the probability that playing an arm brings a message; NaN where not known."""
        window = math.inf if self.window is None else self.window
        pairs = self.pairs(problem.arms)
        rates = np.array([[law.arrived_by(window) for law in pair] for pair in pairs])
        if self.sends == "conversions":
            rates[:, 0] = 0.0
        if problem.law.kind == "bernoulli":
            means = np.array(problem.means)
            return (1.0 - means) * rates[:, 0] + means * rates[:, 1]
        return np.where(rates[:, 0] == rates[:, 1], rates[:, 1], np.nan)

    def in_words(self) -> str:
        """Return a sentence on how late rewards are."""
        parts = ["Only rewards above 0 are sent." if self.sends == "conversions" else ""]
        found = dict.fromkeys(law.in_words() for pair in self._entries() for law in pair)
        laws = list(found)
        many = "" if len(laws) <= 3 else f"; and {counted('other law', len(laws) - 3)}"
        parts.append(f"Feedback comes late: {'; '.join(laws[:3])}{many}.")
        if self.window is not None:
            parts.append(f"Rewards that take over {self.window:,} rounds are lost.")
        if self.by_reward:
            parts.append(
                "The delay of a reward depends on its value: rewards are missing not at random, and"
                " observed means are biased."
            )
        return " ".join(part for part in parts if part)

    def _entries(self) -> list[Pair]:
        laws = (self.laws,) if isinstance(self.laws, DelayLaw) else self.laws
        return [(law, law) if isinstance(law, DelayLaw) else (law[0], law[1]) for law in laws]

    def _check_arrivals(self) -> None:
        """Refuse laws by which nothing can arrive within the window."""
        for place, pair in enumerate(self._entries()):
            last = min(pair, key=self._arrives)
            if self._arrives(last) > 0.0:
                continue
            within, fix = "", "Give an `arrive` above 0"
            if self.window is not None and last.arrive > 0.0:
                within = f" within the window of {counted('round', self.window)}"
                fix = "Lengthen the window"
            raise InvalidInput(
                f"Delayed.laws, arm {place}" if self.by_place else "Delayed.laws",
                f"must let some rewards arrive{within}",
                last,
                f"{fix}, or leave the arm out." if self.by_place else f"{fix}.",
            )

    def _arrives(self, law: DelayLaw) -> float:
        return law.arrive if self.window is None else float(law.arrived_by(self.window))


def _laws(field: str, value: Any) -> Any:
    """Return a law, or a tuple of laws and pairs of laws, checked."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, DelayLaw) or not isinstance(value, Sequence) or isinstance(value, str):
        return delay_law(field, value)
    if not value:
        raise InvalidInput(field, "must not be empty", value, "Give one law, or one per arm.")
    result: list[Any] = []
    for place, entry in enumerate(value):
        name = f"{field}[{place}]"
        if isinstance(entry, DelayLaw) or not isinstance(entry, Sequence) or len(entry) != 2:
            result.append(delay_law(name, entry))
        else:
            result.append(tuple(delay_law(f"{name}[{k}]", law) for k, law in enumerate(entry)))
    return tuple(result)
