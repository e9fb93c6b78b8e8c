"""The contracts of problems and action sets."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from halfseen.checks import Vector
from halfseen.display import ShownAsCall
from halfseen.draws import Stream
from halfseen.equality import ComparedByField
from halfseen.errors import InvalidInput
from halfseen.kinds import check_overridden, declare
from halfseen.phrases import counted
from halfseen.problems.action_arrays import NORMALIZE, check_block, checked_actions, row_blocks


class Problem(ShownAsCall, ComparedByField, ABC):
    """A bandit, or parameters from which one is built.

    Your own problem is a frozen dataclass that implements :meth:`bandit`. It is simulated, stored
    and reported like the bandit it returns, and a spec holds its own parameters.

    Attributes
    ----------
    kind
        The problem's name in a spec.
    linear
        True for bandits whose actions are vectors, generalized linear ones included.
    generalized
        True for generalized linear bandits.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from halfseen import ArmedBandit
    >>> @dataclass(frozen=True)
    ... class EqualGaps(Problem):
    ...     kind = "equal-gaps"
    ...     arms: int
    ...     gap: float
    ...     def bandit(self):
    ...         return ArmedBandit([1.0] + [1.0 - self.gap] * (self.arms - 1))
    >>> EqualGaps(3, 0.5).bandit().means
    (1.0, 0.5, 0.5)
    """

    kind: ClassVar[str]
    linear: ClassVar[bool] = False
    generalized: ClassVar[bool] = False

    @abstractmethod
    def bandit(self) -> Any:
        """Return the `ArmedBandit`, `LinearBandit` or `GeneralizedLinearBandit` that is played."""

    def decisive(self) -> Any:
        """Return what determines the problem's effect on the numbers: its fields and its code."""
        return self, self.bandit().decisive()


class ActionSet(ShownAsCall, ComparedByField, ABC):
    """What may be played in each round.

    Attributes
    ----------
    kind
        The set's name in a spec.
    same_every_round
        True when every round offers the same actions.
    """

    kind: ClassVar[str]
    same_every_round: ClassVar[bool] = False

    def in_words(self) -> str:
        """Return what is on offer, as reports say it."""
        return f"actions of kind {self.kind}"


class ArmActions(ActionSet):
    """Which arms may be played in each round.

    Your own set is a frozen dataclass that implements :meth:`subsets`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from halfseen import ArmedBandit
    >>> @dataclass(frozen=True)
    ... class OneByOne(ArmActions):
    ...     kind = "one-by-one"
    ...     def subsets(self, arms):
    ...         return [[0, arm] for arm in range(1, arms)]
    >>> ArmedBandit([0.5, 0.4, 0.3], actions=OneByOne()).actions.subsets(3)
    [[0, 1], [0, 2]]
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_overridden(cls, "subsets", "chances", ArmActions)

    @abstractmethod
    def subsets(self, arms: int) -> Sequence[Sequence[int]]:
        """Return the playable arms of each round, counted from 0, out of a number of them.

        The sequence repeats after its last round. With `same_every_round` it has one entry.
        """

    def chances(self, arms: int) -> Vector | None:
        """Return the probability that each arm may be played, or None to leave it to `subsets`."""
        return None

    def playable(self, arms: int) -> Sequence[int]:
        """Return the arms that can ever be played if the set is the same every round, else all."""
        return self.subsets(arms)[0] if self.same_every_round else range(arms)

    def check(self, arms: int) -> None:
        """Refuse a set that does not fit the number of arms."""
        field = f"{type(self).__name__}.subsets"
        rounds = self.subsets(arms)
        listed = isinstance(rounds, Sequence | np.ndarray)
        if not listed or len(rounds) == 0 or (self.same_every_round and len(rounds) != 1):
            wanted = "one list of arms" if self.same_every_round else "a list of arms per round"
            raise InvalidInput(field, f"must return {wanted}", rounds, "Return [[0, 1]].")
        for t, row in enumerate(rounds):
            listed = isinstance(row, Sequence | np.ndarray)
            if (
                not listed
                or len(row) == 0
                or not all(isinstance(arm, Integral) and not isinstance(arm, bool) for arm in row)
                or len(set(row)) < len(row)
                or not set(row) <= set(range(arms))
            ):
                raise InvalidInput(
                    f"{field}[{t}]",
                    f"must name different arms from 0 to {arms - 1}",
                    list(row) if listed else row,
                    "Name each playable arm of the round once.",
                )


class DrawKernels(NamedTuple):
    """Kernels that draw the actions of a round from normal numbers.

    ``draw(stream, clock, k, out)`` writes action k of a round, ``scale(square, dimension)`` is
    the factor by which a normal vector of that squared length is multiplied.
    """

    draw: Callable[[Stream, int, int, Vector], None]
    scale: Callable[[float, int], float]


class LinearActions(ActionSet):
    """Which vectors may be played in each round.

    Your own set is a frozen dataclass with `count`, `dimension` and one of three things: `fixed`,
    the same actions in every round; `given`, a sequence of sets; or :meth:`offer`, which makes the
    actions of a round from a random generator before a replication is played.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from halfseen import LinearBandit
    >>> @dataclass(frozen=True)
    ... class Axes(LinearActions):
    ...     kind = "axes"
    ...     same_every_round = True
    ...     dimension: int
    ...     @property
    ...     def count(self):
    ...         return self.dimension
    ...     @property
    ...     def fixed(self):
    ...         return np.eye(self.dimension)
    >>> round(LinearBandit([0.6, 0.8], actions=Axes(2)).largest_gap, 3)
    0.2
    """

    whole_ball: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_overridden(cls, "offer", "kernels", LinearActions)

    if TYPE_CHECKING:  # a subclass defines them as fields or properties

        @property
        def dimension(self) -> int:
            """The number of coordinates of an action."""

        @property
        def count(self) -> int:
            """The number of actions on offer in a round; 1 for the whole ball."""

    @property
    def fixed(self) -> Vector | None:
        """The actions (K, d), if they are the same in every round."""
        return None

    @property
    def given(self) -> Vector | None:
        """The actions (T, K, d) of a sequence of rounds, which begins again after its end."""
        return None

    @property
    def kernels(self) -> DrawKernels | None:
        """Kernels that draw actions while a round is played, if there are any."""
        return None

    def offer(self, rng: np.random.Generator, clock: int) -> Any:
        """Return the actions (K, d) of round `clock`, counted from 1."""
        raise InvalidInput(
            type(self).__name__,
            "must have `fixed`, `given` or `offer`",
            self,
            "Define one of the three, as LinearActions describes.",
        )

    def sample(self, rng: np.random.Generator, clock: int) -> Vector:
        """Return the actions (K, d) on offer in round `clock`, checked."""
        return self._checked(self.offer(rng, clock), clock)

    def sample_rounds(self, rng: np.random.Generator, rounds: int) -> Vector:
        """Return the actions (T, K, d) on offer in the first rounds, checked."""
        array = np.empty((rounds, self.count, self.dimension))
        for clock in range(1, rounds + 1):
            rows = self.offer(rng, clock)
            plain = isinstance(rows, np.ndarray) and rows.dtype == np.float64
            if not plain or rows.shape != array.shape[1:]:
                rows = self._checked(rows, clock)
            array[clock - 1] = rows
        done = 0
        for block in row_blocks(array):
            try:
                check_block(self._offered, block, done, self._normalizes)
            except InvalidInput:  # check again round by round, so that the message names the round
                for place, rows in enumerate(block):
                    self._checked(rows, done + place + 1)
            done += len(block)
        return array

    @property
    def _offered(self) -> str:
        return f"{type(self).__name__}.offer"

    @property
    def _normalizes(self) -> bool:
        return bool(getattr(self, "normalize", False))

    def _checked(self, value: Any, clock: int) -> Vector:
        field = f"{self._offered} in round {clock}"
        fix = NORMALIZE if hasattr(self, "normalize") else "Divide every action by its length."
        rows = checked_actions(field, value, 2, self._normalizes, fix)
        if rows.shape != (self.count, self.dimension):
            raise InvalidInput(
                field,
                f"must return an array of shape ({self.count}, {self.dimension})",
                rows.shape,
                "Match count and dimension.",
            )
        return rows

    def label(self) -> Any:
        """Return what the draws depend on besides the kind: the actions, abbreviated."""
        if self.fixed is not None:
            return hashlib.sha256(np.ascontiguousarray(self.fixed).tobytes()).hexdigest()
        if self.given is not None:
            return [list(self.given.shape), float(self.given[0, 0, 0])]
        return [self.count, self.dimension]

    def decisive(self) -> dict[str, Any]:
        """Return what determines the numbers besides the fields."""
        return {} if type(self).__module__.startswith("halfseen.") else {"code": self}

    def in_words(self) -> str:
        """Return what is on offer, as reports say it."""
        many = counted("action", self.count)
        return f"the same {many} in every round" if self.same_every_round else f"{many} per round"


PROBLEMS: dict[str, type[Problem]] = {}
ARM_ACTIONS: dict[str, type[ArmActions]] = {}
LINEAR_ACTIONS: dict[str, type[LinearActions]] = {}
declare(Problem, "problem", PROBLEMS)
declare(ArmActions, "set of arms", ARM_ACTIONS)
declare(LinearActions, "set of vectors", LINEAR_ACTIONS)


def is_kind(value: Any, base: type[Any]) -> bool:
    """Return whether a value is a named dataclass derived from a base class."""
    named = isinstance(getattr(value, "kind", None), str)
    return isinstance(value, base) and is_dataclass(value) and named


def plain_fields(noun: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name."""
    return {entry.name: getattr(noun, entry.name) for entry in fields(noun)}
