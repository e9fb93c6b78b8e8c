"""The contract of a censorship: how likely the reward of an action is to be observed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from halfseen.checks import SMALLEST_OBSERVE, Vector
from halfseen.display import ShownAsCall
from halfseen.equality import ComparedByField
from halfseen.errors import InvalidInput
from halfseen.kinds import check_overridden, declare

if TYPE_CHECKING:
    from halfseen.censorship.delayed import Delayed


class Profile(NamedTuple):
    """A probability of being observed that depends on an action's projection <a, u> alone.

    Attributes
    ----------
    kernel
        A plain function ``(projection, table) -> float``, which the loops compile.
    direction
        The direction u.
    table
        The constants of the kernel.
    cuts
        Edges between the projections that are counted separately; empty for a single count.
    """

    kernel: Callable[[float, Vector], float]
    direction: Vector
    table: Vector
    cuts: Vector = np.zeros(0)


@dataclass(frozen=True)
class SeenKernels:
    """Kernels by which rewards are drawn until one is seen.

    ``draw`` is that of a reward law. ``observe(reward, arm)`` is the probability of being seen;
    None for a logistic one, whose intercept and slope are in the table.
    """

    draw: Callable[..., float]
    observe: Callable[[float, int], float] | None

    def names(self) -> dict[str, Any]:
        """Return the kernels by the names under which the loops call them."""
        observe = self.observe or _always
        return {"draw": self.draw, "observe": observe, "BY_FUNCTION": self.observe is not None}


class SeenDraws(NamedTuple):
    """How seen rewards are drawn where being seen depends on the reward.

    Attributes
    ----------
    table
        Without kernels, a row per arm with the law of its seen rewards: values and cumulated
        shares in turn. With them, a row per arm with the constants of the reward law, an
        intercept, a slope and the horizon.
    kernels
        To draw rewards until one is seen; None where the table suffices.
    """

    table: Vector
    kernels: SeenKernels | None = None


class Censorship(ShownAsCall, ComparedByField, ABC):
    """How likely the reward of an action is to be observed, whatever the reward is.

    A censorship is a frozen dataclass of parameters. It must implement :meth:`probabilities`;
    with that alone it works on arms and on finite sets of actions, in studies on every engine and
    in all theory that needs probabilities only. The other methods are optional: they make it
    faster, or describe it.

    Attributes
    ----------
    kind
        The censorship's name in a spec.
    by_place
        True when probabilities belong to positions in a list of actions, not to the actions
        themselves; the list must then be the same in every round.
    by_reward
        True when being seen, or how late, depends on the value of the reward: no bound holds then.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from halfseen import UCB, ArmedBandit, Study
    >>> @dataclass(frozen=True)
    ... class Fading(Censorship):
    ...     kind = "fading"
    ...     rate: float
    ...     def probabilities(self, actions):
    ...         return self.rate ** np.arange(1, actions + 1)
    >>> study = Study(ArmedBandit([0.6, 0.5]), Fading(0.5), UCB(), horizon=1000)
    >>> study.censorships["fading"].probabilities(3).tolist()
    [0.5, 0.25, 0.125]
    """

    kind: ClassVar[str]
    by_place: ClassVar[bool] = False
    by_reward: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_overridden(cls, "probabilities", "profile", Censorship)

    @abstractmethod
    def probabilities(self, actions: Any) -> Vector:
        """Return the probability of being observed of each action, above 0 and at most 1.

        Parameters
        ----------
        actions
            The number of arms, or an array (n, d) with one action per row. The same action must
            always give the same answer.
        """

    @property
    def observe_range(self) -> tuple[float, float]:
        """The smallest and the largest probability of being observed; NaN where not known."""
        return math.nan, math.nan

    @property
    def sees_everything(self) -> bool:
        """True when no feedback goes missing."""
        return self.observe_range == (1.0, 1.0)

    @property
    def delayed(self) -> Delayed | None:
        """The censorship itself if it is `Delayed`, otherwise None."""
        return None

    @property
    def comes_late(self) -> bool:
        """True when some rewards arrive only after the next choice."""
        return False

    @property
    def depends_on_reward(self) -> bool:
        """True when observed rewards are a biased sample of all rewards."""
        return self.by_reward

    @property
    def informs(self) -> bool:
        """True when something that is seen in every round says something about the reward."""
        return False

    def seen_by(self, policy: Any) -> Censorship:
        """Return what a policy sees of it: another censorship where it does not look at all."""
        return self

    def rates(self, problem: Any) -> Vector:
        """Return how likely the reward of each arm of a bandit is to be observed."""
        return self.checked(problem.arms)

    def message_rates(self, problem: Any) -> Vector:
        """Return the probability that playing each arm of a problem ever brings feedback."""
        return self.rates(problem)

    def seen_draws(self, problem: Any, horizon: int) -> SeenDraws | None:
        """Return how seen rewards are drawn; None where being seen does not depend on them."""
        return None

    def profile(self, dimension: int) -> Profile | None:
        """Return how the probability depends on a projection, or None if it does not.

        With a profile a censorship also works on the unit ball, and compiled loops compute it
        instead of listing it before a replication is played.
        """
        return None

    def along_direction(self, points: int) -> tuple[Vector, Vector] | None:
        """Return projections <a, u> from -1 to 1 and the probability of being observed there.

        What reports draw; None where no direction decides, and by default. A smooth censorship
        returns that many points, one in steps both ends of each step.
        """
        return None

    def in_steps(self, dimension: int, regions: int) -> Any | None:
        """Return a `MultiThreshold` and its largest error in probability, as a pair.

        What the theory of the unit ball asks for; None, the default, where p is no function of a
        projection <a, u>. A censorship with steps of its own returns them and 0; a smooth one the
        nearest model with that many regions. One with a `direction` is asked in its dimension.
        """
        return None

    def written(self) -> dict[str, Any]:
        """Return the fields whose stored form differs from the attribute."""
        return {}

    def in_words(self) -> str:
        """Return a sentence on how likely a reward is to be observed, as reports say it."""
        given = [f"{entry.name} {getattr(self, entry.name)!s:.60}" for entry in fields(self)]  # type: ignore[arg-type]
        return f"How often a reward is seen follows {self.kind} ({', '.join(given)})."

    def checked(self, actions: Any) -> Vector:
        """Return :meth:`probabilities` after checking that each action has a valid one."""
        count = actions if isinstance(actions, Integral) else len(actions)
        field = f"{type(self).__name__}.probabilities"
        try:
            values = np.asarray(self.probabilities(actions))
        except (TypeError, IndexError, ValueError) as error:
            if not isinstance(actions, Integral) or isinstance(error, InvalidInput):
                raise
            raise InvalidInput(
                field,
                f"must take a number of arms ({error})",
                int(actions),
                "Use PerArm or Uniform on armed bandits.",
            ) from error
        if values.dtype.kind not in "fiu" or values.shape != (count,):
            raise InvalidInput(
                field,
                f"must return {count} numbers, one per action",
                values if values.dtype.kind not in "fiu" else f"shape {values.shape}",
                "Return an array of one probability per action.",
            )
        wrong = ~((values >= SMALLEST_OBSERVE) & (values <= 1.0))
        if wrong.any():
            place = int(np.argmax(wrong))
            tiny = 0.0 < values[place] < SMALLEST_OBSERVE
            raise InvalidInput(
                f"{field}[{place}]",
                f"must not be below {SMALLEST_OBSERVE:g}"
                if tiny
                else "must be above 0 and at most 1",
                float(values[place]),
                "Return the probability that feedback is seen.",
            )
        return values.astype(np.float64, copy=False)


def _always(reward: float, arm: int) -> float:
    return 1.0


CENSORSHIPS: dict[str, type[Censorship]] = {}
declare(Censorship, "censorship", CENSORSHIPS)


def arm_count(name: str, actions: Any) -> int:
    """Return the number of arms; refuse vectors, since the censorship is indexed by arm."""
    if isinstance(actions, Integral):
        return int(actions)
    raise InvalidInput(
        "censorship",
        "must know where actions point, or list them as PerAction does",
        name,
        "Use PerAction on finite sets of vectors.",
    )


def is_censorship(value: Any) -> bool:
    """Return whether something is a censorship a study can hold: a named dataclass."""
    return (
        isinstance(value, Censorship)
        and is_dataclass(value)
        and isinstance(getattr(value, "kind", None), str)
    )
