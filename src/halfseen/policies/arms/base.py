"""The contract of a policy: parameters that never change, and kernels in plain Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import ShownAsCall
from halfseen.draws import Stream
from halfseen.equality import ComparedByField
from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed
from halfseen.problems.setting import Setting

State = NDArray[Any]
COUNT, TOTAL, PULLED, STRATUM = 0, 1, 2, 3


def count_and_sum(state: State, arm: int, reward: float, table: Vector) -> None:
    """Add one observed reward to the arm's count and sum."""
    state[arm, COUNT] += 1.0
    state[arm, TOTAL] += reward


def count_pull(state: State, arm: int, table: Vector) -> None:
    """Add one to the number of rounds in which the arm was played."""
    state[arm, PULLED] += 1.0


@dataclass(frozen=True)
class Kernels:
    """The algorithm of a policy, apart from its parameters. The fields are those of `Policy`."""

    index: Callable[[State, int, int, Stream, Vector], float] | None
    learn: Callable[[State, int, float, Vector], None]
    width: Callable[[State, int, int, Vector], float] | None
    fill: Callable[[State, int, Vector], float] | None
    statistics: int
    waits: bool
    choose: Callable[[State, Vector, NDArray[Any], int, Stream, Vector], int] | None = None
    pull: Callable[[State, int, Vector], None] | None = None
    mature: Callable[[State, NDArray[Any], int, Vector], None] | None = None
    queues: bool = False

    @property
    def counts_pulls(self) -> bool:
        """True when unobserved rounds matter."""
        return self.pull is not None or self.mature is not None

    def names(self) -> dict[str, Any]:
        """Return the kernels by the names under which the loop calls them."""
        return {
            "index": self.index or _no_index,
            "choose": self.choose or _no_choice,
            "learn": self.learn,
            "width": self.width or _no_width,
            "fill": self.fill or _no_fill,
            "pull": self.pull or count_pull,
            "mature": self.mature or _no_age,
            "HAS_WIDTH": self.width is not None,
            "CHOOSES": self.choose is not None,
            "FILLS": self.fill is not None,
            "PULLS_COUNT": self.pull is not None,
            "MATURES": self.mature is not None,
            "QUEUES": self.queues,
            "WAITS": self.waits,
            "STATISTICS": self.statistics,
        }


class Policy(ShownAsCall, ComparedByField, ABC):
    """How to choose an arm from what has been seen.

    A policy is a frozen dataclass of parameters. Its algorithm is a few *kernels*: plain functions
    of numbers and arrays, without allocations and without ``self``. The engines own the loop and
    the state; in every round they play the playable arm with the largest index (the lowest number
    among equals).

    Attributes
    ----------
    kind
        The policy's name in a spec.
    index
        Kernel ``(state, arm, clock, stream, table) -> float``. ``state[arm]`` holds the arm's
        statistics, ``clock`` is the round, from 1, ``stream`` is the key for `halfseen.draws`, and
        ``table[arm]`` holds the arm's row of what :meth:`table` returned.
    choose
        Kernel ``(state, plays, playable, clock, stream, table) -> int`` or None. A policy that
        compares arms with one another, for example with the largest mean, gives this kernel
        instead of an `index`: it returns a number of an arm with ``playable[arm] == 1``.
        ``plays[arm]`` counts the rounds in which the arm was played, observed or not, up to its
        last observation.
    learn
        Kernel ``(state, arm, reward, table)``: adds one observed reward to ``state[arm]``.
        ``state[arm, 0]`` must be the number of rewards added. The rest is the policy's own.
    width
        Kernel ``(state, arm, clock, table) -> float`` or None: half the length of the confidence
        interval whose upper end is the index. With it, results record whether the interval ever
        missed the truth; it is evaluated whenever the arm has learned a reward.
    fill
        Kernel ``(state, arm, table) -> float`` or None: a reward to learn when feedback is missing,
        NaN for none. None, the right choice, skips missing rewards.
    pull
        Kernel ``(state, arm, table)`` or None: called whenever an arm is played, before anything
        of that round is observed. For policies that learn from having played; they cannot wait.
    mature
        Kernel ``(state, recent, clock, table)`` or None: called at the end of every round, for
        policies to which the age of a decision matters. ``recent[s % recent.size]`` is the arm of
        round s, for the last ``remembers(setting)`` rounds at least.
    queues
        True when the policy receives a reward only when it selects its arm: `QueuedPolicy`.
    statistics
        How many numbers are kept per arm.
    waits
        True when an index can change only when that arm's state does or, with `choose`, when the
        choice among the same arms can change only on an observation: the kernel is then called
        only after an observation. The engines jump from one observation to the next.
    randomises
        False when the choice is a function of the state, the round and the arms on offer. None
        means False for a policy that `waits`, and unknown for others.
    steady
        True when the probabilities of the choices change only on an observation.
    regularization
        The lambda of the potential reported for this policy.
    optimistic
        True for a policy that plays the arm with the largest upper confidence bound; reports
        explain the consequences.
    uses_covariate
        True for a policy that observes the covariate of `WithCovariate`: before `pull` and `learn`
        ``state[arm, 3]`` is its value in this round, counted from 0.
    imputed
        What a policy with `fill` learns for a missing reward, in words, else None.
    """

    kind: ClassVar[str]
    index: ClassVar[staticmethod[[State, int, int, Stream, Vector], float] | None] = None
    choose: ClassVar[staticmethod[..., int] | None] = None
    learn: ClassVar[staticmethod[[State, int, float, Vector], None]] = staticmethod(count_and_sum)
    width: ClassVar[staticmethod[[State, int, int, Vector], float] | None] = None
    fill: ClassVar[staticmethod[[State, int, Vector], float] | None] = None
    pull: ClassVar[staticmethod[[State, int, Vector], None] | None] = None
    mature: ClassVar[staticmethod[[State, NDArray[Any], int, Vector], None] | None] = None
    queues: ClassVar[bool] = False
    statistics: ClassVar[int] = 2
    waits: ClassVar[bool] = False
    randomises: ClassVar[bool | None] = None
    steady: ClassVar[bool] = False
    optimistic: ClassVar[bool] = False
    imputed: ClassVar[str | None] = None
    uses_covariate: ClassVar[bool] = False
    regularization: float = 1.0

    @abstractmethod
    def table(self, setting: Setting) -> Vector:
        """Return the constants of the kernels: a float array with one row per arm."""

    def without_imputation(self) -> Policy:
        """Return the policy without imputation of missing rewards, itself unless it imputes."""
        return self

    def check(self, setting: Setting) -> None:
        """Refuse a setting this policy cannot work in; by default every setting is accepted."""

    @property
    def is_random(self) -> bool:
        """Whether the choice may be random."""
        return not self.waits if self.randomises is None else self.randomises

    @property
    def only_in_studies(self) -> bool:
        """Whether live agents lack what the policy needs: queues, ages or a covariate."""
        return self.queues or self.mature is not None or self.uses_covariate

    def probabilities(
        self, state: State, playable: NDArray[Any], clock: int, table: Vector
    ) -> Vector | None:
        """Return the probability that each arm is chosen; None, the default, if it is not known.

        Called only for policies that randomise. Where it is not known, live agents estimate it.
        """
        return None

    def remembers(self, setting: Setting) -> int:
        """Return how many rounds back the kernel `mature` looks."""
        return 0

    def _keep(self, name: str, **limits: Any) -> None:
        """Check a numeric parameter, if it is given, and keep it as a float."""
        value = getattr(self, name)
        if value is not None:
            field = f"{type(self).__name__}.{name}"
            object.__setattr__(self, name, checks.number(field, value, **limits))

    def kernels(self) -> Kernels:
        """Return the algorithm without its parameters."""
        if self.index is None and self.choose is None:
            raise InvalidInput(
                "policy", "must have a kernel `index` or `choose`", self, "Write one of them."
            )
        return Kernels(
            renewed(self.index),
            renewed(self.learn),
            renewed(self.width),
            renewed(self.fill),
            self.statistics,
            self.waits,
            renewed(self.choose),
            renewed(self.pull),
            renewed(self.mature),
            self.queues,
        )


def _no_index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    return 0.0


def _no_choice(
    state: State, plays: Vector, playable: NDArray[Any], clock: int, stream: Stream, table: Vector
) -> int:
    return 0


def _no_width(state: State, arm: int, clock: int, table: Vector) -> float:
    return 0.0


def _no_age(state: State, recent: NDArray[Any], clock: int, table: Vector) -> None:
    pass


def _no_fill(state: State, arm: int, table: Vector) -> float:
    return 0.0
