"""Which arms may be played in a round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kinds import register
from halfseen.problems.base import ArmActions


@register
@dataclass(frozen=True)
class AllArms(ArmActions):
    """Every arm may be played in every round."""

    kind: ClassVar[str] = "all"
    same_every_round: ClassVar[bool] = True

    def subsets(self, arms: int) -> Sequence[Sequence[int]]:
        """Return all arms."""
        return [range(arms)]

    def check(self, arms: int) -> None:
        """Accept any number of arms."""

    def in_words(self) -> str:
        """Return an empty string: reports do not mention that all arms are playable."""
        return ""


@register
@dataclass(frozen=True, repr=False)
class FixedArms(ArmActions):
    """The same subset of the arms may be played in every round.

    Parameters
    ----------
    arms
        The playable arms, counted from 0.
    """

    kind: ClassVar[str] = "fixed"
    same_every_round: ClassVar[bool] = True
    arms: Sequence[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", _subset("FixedArms.arms", self.arms))

    def subsets(self, arms: int) -> Sequence[Sequence[int]]:
        """Return the playable arms."""
        return [self.arms]

    def in_words(self) -> str:
        """Return how many may be played."""
        return f"only {len(self.arms):,} of them may be played"

    def check(self, arms: int) -> None:
        """Refuse a subset that names an arm the problem does not have."""
        _inside("FixedArms.arms", self.arms, arms)


@register
@dataclass(frozen=True, repr=False)
class RandomArms(ArmActions):
    """Each arm may be played with its own probability, independently from round to round.

    A round in which no arm would be playable is drawn again: the law is that of independent
    coin tosses given at least one success.

    Parameters
    ----------
    available
        Probability that each arm may be played, one number per arm, not all 0.
    """

    kind: ClassVar[str] = "random"
    available: Sequence[float]

    def __post_init__(self) -> None:
        field = "RandomArms.available"
        values = checks.vector(field, self.available, at_least=0.0, at_most=1.0)
        if max(values) == 0.0:
            raise InvalidInput(field, "must not be all 0", values, "Raise at least one of them.")
        object.__setattr__(self, "available", values)

    def subsets(self, arms: int) -> Sequence[Sequence[int]]:
        """Return all arms: each may be playable in some round."""
        return [range(arms)]

    def chances(self, arms: int) -> Vector:
        """Return the probability that each arm may be played."""
        return np.array(self.available)

    def in_words(self) -> str:
        """Describe how the playable arms of a round are determined."""
        return "which may be played is drawn anew every round"

    def check(self, arms: int) -> None:
        """Refuse a list that does not have one probability per arm."""
        checks.vector("RandomArms.available", self.available, length=arms)


@register
@dataclass(frozen=True, repr=False)
class SequenceOfArms(ArmActions):
    """A given sequence of playable subsets, one per round, chosen before the game starts.

    Parameters
    ----------
    rounds
        For each round the playable arms, counted from 0. A sequence shorter than the horizon
        starts again from its beginning.
    """

    kind: ClassVar[str] = "sequence"
    rounds: Sequence[Sequence[int]]

    def __post_init__(self) -> None:
        field = "SequenceOfArms.rounds"
        given = list(self.rounds) if isinstance(self.rounds, Iterable) else []
        if isinstance(self.rounds, str | dict | set | frozenset) or not given:
            raise InvalidInput(
                field,
                "must list the playable arms of each round",
                self.rounds,
                "Give for example [[0, 1], [1, 2]].",
            )
        rows = tuple(_subset(f"{field}[{t}]", row) for t, row in enumerate(given))
        object.__setattr__(self, "rounds", rows)

    def subsets(self, arms: int) -> Sequence[Sequence[int]]:
        """Return the playable arms of each round."""
        return self.rounds

    def in_words(self) -> str:
        """Describe how the playable arms of a round are determined."""
        return "which may be played follows a given sequence"

    def check(self, arms: int) -> None:
        """Refuse a sequence that names an arm the problem does not have."""
        for t, row in enumerate(self.rounds):
            _inside(f"SequenceOfArms.rounds[{t}]", row, arms)


def _subset(field: str, value: Sequence[int]) -> tuple[int, ...]:
    try:
        entries = list(value)
    except TypeError:
        raise InvalidInput(field, "must be a list of arms", value, "Give for example [0, 2].")
    if not entries:
        raise InvalidInput(field, "must name at least one arm", value, "Add an arm.")
    arms = tuple(
        sorted(checks.whole(f"{field}[{i}]", a, at_least=0) for i, a in enumerate(entries))
    )
    if len(set(arms)) < len(arms):
        raise InvalidInput(field, "must name each arm once", value, "Drop the repeated arm.")
    return arms


def _inside(field: str, subset: Sequence[int], arms: int) -> None:
    if subset[-1] >= arms:
        raise InvalidInput(
            field,
            f"must name arms below {arms}",
            subset[-1],
            f"The problem has arms 0 to {arms - 1}.",
        )
