"""The contract of a reward law: how an arm's n-th reward is drawn."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import ShownAsCall
from halfseen.draws import Stream
from halfseen.equality import ComparedByField
from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed
from halfseen.kinds import declare

Draw = Callable[[Vector, int, int, Stream], float]
MEAN, NOISE = 0, 1  # columns of the table, unless a law has its own
FAMILIES = ("gaussian", "bernoulli", "poisson", "exponential")  # laws with limits of their means


@dataclass(frozen=True)
class RewardKernels:
    """The kernel of a reward law, to be filled into the loops."""

    draw: Draw

    def names(self) -> dict[str, Any]:
        """Return the kernel by the name under which the loops call it."""
        return {"draw": self.draw}


class RewardLaw(ShownAsCall, ComparedByField, ABC):
    """How the rewards of an arm are distributed around its mean.

    A law is a frozen dataclass of parameters, if it has any, with one kernel, `draw`: a plain
    function of numbers and arrays, without allocations and without ``self``.

    Attributes
    ----------
    kind
        The law's name in a spec.
    draw
        Kernel ``(table, arm, count, stream) -> float``: observation number ``count`` of an arm,
        from 0. ``table[arm]`` holds the arm's row of what :meth:`table` returned, and ``stream``
        is the key for `halfseen.draws`, with the counter ``(count, arm)``. Draws must be
        independent, with the mean of the arm and a standard deviation of at most :meth:`scale`.
    takes_noise
        False when the means alone decide how widely rewards spread, so that no noise may be given.
    sub_gaussian
        True when :meth:`scale` is a sub-Gaussian scale, on which the regret bounds rest.
    non_negative
        True when no reward is below 0, so that conversions can be sent alone.
    support
        What every reward is, in words; None when it can be any number.

    Examples
    --------
    Rewards of twice the mean or nothing:

    >>> from halfseen.draws import uniform
    >>> def double_or_nothing(table, arm, count, stream):
    ...     return 2.0 * table[arm, 0] if uniform(stream, count, arm) < 0.5 else 0.0
    >>> @dataclass(frozen=True)
    ... class Coin(RewardLaw):
    ...     kind = "coin"
    ...     takes_noise = False
    ...     draw = staticmethod(double_or_nothing)
    ...     def scale(self, means, noise):
    ...         return np.abs(means)
    >>> from halfseen import ArmedBandit
    >>> ArmedBandit([0.5, 0.25], reward=Coin()).scale.tolist()
    [0.5, 0.25]
    """

    kind: ClassVar[str]
    draw: ClassVar[staticmethod[[Vector, int, int, Stream], float]]
    takes_noise: ClassVar[bool] = True
    sub_gaussian: ClassVar[bool] = False
    non_negative: ClassVar[bool] = False
    support: ClassVar[str | None] = None
    loop_number: ClassVar[int | None] = None  # of a law that is built into the loops

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        owner = next(each for each in cls.__mro__ if "loop_number" in vars(each))
        built_in = owner.__module__.startswith("halfseen.") and all(
            getattr(cls, name, None) is getattr(owner, name, None) for name in ("draw", "table")
        )
        if cls.loop_number is not None and not built_in:  # they would draw rewards of another law
            cls.loop_number = None

    def check(self, means: Sequence[float]) -> None:
        """Refuse means this law cannot have; by default all are accepted."""

    @staticmethod
    def possible(reward: float) -> bool:
        """Return whether a reward of this law can have a value; by default all are possible."""
        return True

    def limits(self, means: Vector, noise: Vector) -> tuple[Vector, Vector]:
        """Return the smallest and largest reward of each arm; by default nothing is known."""
        return np.full(len(means), -np.inf), np.full(len(means), np.inf)

    @property
    def finite_variance(self) -> bool:
        """Whether the rewards have a variance; by default they have."""
        return True

    def scale(self, means: Vector, noise: Vector) -> Vector:
        """Return the scale of each arm's noise, as passed to policies; by default the noise given.

        It is the standard deviation, or a bound on it, where there is one. It must not reveal the
        means.
        """
        return noise

    def values(self, mean: float, noise: float) -> tuple[tuple[float, float], ...]:
        """Return the values a reward can have, each with its probability; none if infinitely many.

        What `RewardDependent` tables need, and what makes them exact and fast.
        """
        return ()

    def table(self, means: Vector, noise: Vector) -> Vector:
        """Return the constants of the kernel, one row per arm; by default its mean and noise."""
        return np.column_stack([means, noise])

    def kernels(self) -> RewardKernels:
        """Return the kernel without the parameters."""
        return RewardKernels(renewed(self.draw))

    def in_words(self) -> str:
        """Describe the rewards, as reports do."""
        return f"rewards of law {self.kind}"


REWARD_LAWS: dict[str, type[RewardLaw]] = {}
OTHER_NAMES = {"normal": "gaussian", "binary": "bernoulli", "counts": "poisson"}
declare(RewardLaw, "reward law", REWARD_LAWS)


def family_of(law: RewardLaw | type[RewardLaw]) -> str | None:
    """Return the family by whose limits a mean of a law is judged; None if there is none."""
    if law.kind in FAMILIES:
        return law.kind
    return "gaussian" if law.sub_gaussian else None


def law_named(field: str, value: Any) -> RewardLaw:
    """Return a law by its name, with its default parameters, or the law given."""
    if isinstance(value, RewardLaw):
        named = isinstance(getattr(value, "kind", None), str)
        if not named or not is_dataclass(value) or not callable(getattr(value, "draw", None)):
            raise InvalidInput(
                field,
                "must be a dataclass with a name, `kind`, and a kernel, `draw`",
                value,
                "Write @dataclass(frozen=True) above the class and give it both.",
            )
        return value
    if isinstance(value, type) and issubclass(value, RewardLaw):
        fix = f"Write {value.__name__}() with its parameters, if it has any."
        raise InvalidInput(field, "must be an object, not a class", value, fix)
    kind = REWARD_LAWS[checks.one_of(field, value, REWARD_LAWS, OTHER_NAMES)]
    try:
        law = kind()
    except TypeError:
        raise InvalidInput(
            field, "must come with its parameters", value, f"Give {kind.__name__}(...)."
        ) from None
    return law_named(field, law)


def usual_noise(law: RewardLaw, bound: float) -> float:
    """Return the default scale for policies, where no mean exceeds `bound`.

    Examples
    --------
    >>> usual_noise(law_named("reward", "bernoulli"), 1.0)
    0.5
    >>> usual_noise(law_named("reward", "poisson"), 9.0)
    3.0
    """
    return float(law.scale(np.array([bound]), np.ones(1))[0])
