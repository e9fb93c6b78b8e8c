"""The contract of a policy for linear bandits."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import ShownAsCall
from halfseen.draws import Stream
from halfseen.equality import ByValue, ComparedByField
from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed


@dataclass(frozen=True, eq=False)
class LinearSetting(ByValue):
    """What a policy may know before the first round of a linear bandit.

    Attributes
    ----------
    dimension
        Number of coordinates of an action.
    noise
        Sub-Gaussian scale of the rewards.
    bound
        A number the length of theta does not exceed.
    horizon
        The number of rounds that will be played.
    actions, observe
        The actions of a finite set, an array (K, d), and the probability of being observed of each;
        None when actions change. For adversaries only (`knows_observe`): a learner that reads
        `observe` uses information not available in practice.
    """

    dimension: int
    noise: float
    bound: float
    horizon: int
    actions: Vector | None = field(default=None, compare=False, repr=False, kw_only=True)
    observe: Vector | None = field(default=None, compare=False, repr=False, kw_only=True)


class LinearKnowledge(NamedTuple):
    """The inputs of a `choose` kernel.

    Attributes
    ----------
    estimate
        The ridge estimate of theta.
    factor
        A lower triangular L with L L' = W^-1.
    learned
        How many rewards were learned.
    plays, seen
        How often each action was played and observed; where actions change, each region.
    observe
        The probability of being observed of each action. A learner that reads it uses information
        not available in practice.
    same
        1 if every round offers the same actions, else 0.
    """

    estimate: Vector
    factor: Vector
    learned: float
    plays: Vector
    seen: Vector
    observe: Vector
    same: int


class LateKnowledge(NamedTuple):
    """The inputs of a policy that counts its plays (`counts_pulls`).

    Attributes
    ----------
    estimate
        V^-1 b: b is the sum of the actions times their arrived rewards.
    factor
        A lower triangular F with F F' = V^-1: V is lambda I plus all plays.
    actions
        Actions that were played, an array (n, d).
    recent, open
        How many decisions for each of `actions` are younger than the window, and how many of
        those have no answer yet.
    """

    estimate: Vector
    factor: Vector
    actions: Vector
    recent: Vector
    open: Vector


class BallKnowledge(NamedTuple):
    """The inputs of an `on_ball` kernel.

    Attributes
    ----------
    estimate
        The ridge estimate of theta.
    shake
        A random eta, normal of covariance W^-1, if the policy `samples`, else zeros.
    lengths, vectors
        The eigenvalues of W, ascending, and its eigenvectors, if the policy is `spectral`.
    spread
        log det W - d log lambda.
    """

    estimate: Vector
    shake: Vector
    lengths: Vector
    vectors: Vector
    spread: float


Choice = Callable[[Vector, Any, Vector, int, Stream, Vector], int]
BallKernel = Callable[[BallKnowledge, int, Stream, Vector, Vector, Vector], None]


@dataclass(frozen=True)
class LinearKernels:
    """The algorithm of a linear policy, apart from its parameters."""

    index: Callable[[float, float, float, float, int, int, Stream, Vector], float] | None
    radius: Callable[[float, Vector], float] | None
    samples: bool
    imputes: bool
    waits: bool
    on_ball: BallKernel | None = field(default=None, kw_only=True)
    spectral: bool = field(default=False, kw_only=True)
    choose: Choice | None = field(default=None, kw_only=True)
    counts_pulls: bool = field(default=False, kw_only=True)

    def names(self) -> dict[str, Any]:
        """Return the kernels by the names under which the loop calls them."""
        return {
            "index": self.index or _no_index,
            "own_choice": self.choose or _no_choice,
            "CHOOSES": self.choose is not None,
            "radius": self.radius or _no_radius,
            "HAS_RADIUS": self.radius is not None,
            "SAMPLES": self.samples,
            "IMPUTES": self.imputes,
            "WAITS": self.waits,
            "on_ball": self.on_ball or _nowhere,
            "SPECTRAL": self.spectral,
            "PULLS_COUNT": self.counts_pulls,
        }


class LinearPolicy(ShownAsCall, ComparedByField, ABC):
    """How to choose a vector from what has been seen.

    The engine owns the ridge regression on observed rounds and plays the action with the largest
    index (the first among equals, up to a relative 1e-12).

    Attributes
    ----------
    index
        Kernel ``(mean, square, spread, shift, action, clock, stream, table) -> float`` of an
        action's estimated mean <a, theta_hat>, squared width a' W^-1 a,
        log det W - d log lambda, a random shift <a, eta> with eta normal of covariance W^-1 (if
        `samples`, otherwise 0), its number, the round from 1, a stream for `halfseen.draws` and
        the policy's constants.
    choose
        Kernel ``(rows, known, memory, clock, stream, table) -> int`` or None: a policy that draws
        from the posterior, compares actions or needs to know how often each was observed gives
        this kernel instead of an `index`. It returns the number of one of the `rows`; `known` is
        a `LinearKnowledge`, `memory` an array of its own, as long as :meth:`memory` says and 0 at
        the beginning; of actions that change, nothing in it is kept from round to round.
    radius
        Kernel ``(spread, table) -> float`` or None: the radius of the confidence ellipsoid.
    samples
        True to be given a random shift every round.
    counts_pulls
        True for a policy with a `choose` kernel whose design counts every play at once, whether
        or not its reward arrives; `known` is then a `LateKnowledge`. For fixed sets of actions.
    imputes
        True to learn a reward of 0 where feedback is missing: a mistake, offered as a baseline.
    waits
        True when the choice among the same actions can change only on an observation.
    randomises
        False when the choice is a function of the state, the round and the actions on offer. None
        means False for a policy that `waits`, and unknown for others.
    knows_observe
        True for an adversary that knows how often each action of a finite set is observed.
    on_ball
        Kernel ``(known, clock, stream, table, scratch, out)`` or None: writes the action of the
        whole unit ball with the largest index into `out`. `known` is a `BallKnowledge`, `scratch`
        an array (3, d). Without one the policy is refused on `UnitBall`.
    spectral
        True when `on_ball` reads the eigenvalues and eigenvectors, O(d^3) per observation.
    regularization
        The ridge's lambda.
    """

    kind: ClassVar[str]
    index: ClassVar[
        staticmethod[[float, float, float, float, int, int, Stream, Vector], float] | None
    ] = None
    choose: ClassVar[staticmethod[..., int] | None] = None
    radius: ClassVar[staticmethod[[float, Vector], float] | None] = None
    samples: ClassVar[bool] = False
    imputes: ClassVar[bool] = False
    counts_pulls: ClassVar[bool] = False
    waits: ClassVar[bool] = False
    randomises: ClassVar[bool | None] = None
    knows_observe: ClassVar[bool] = False
    on_ball: ClassVar[staticmethod[..., None] | None] = None
    spectral: ClassVar[bool] = False
    regularization: float = 1.0

    @abstractmethod
    def table(self, setting: LinearSetting) -> Vector:
        """Return the constants of the kernels."""

    def memory(self, actions: int, dimension: int) -> int:
        """Return how many numbers `choose` keeps."""
        return 1

    @property
    def imputed(self) -> str | None:
        """What is learned for a missing reward, in words, else None."""
        return "0" if self.imputes else None

    def without_imputation(self) -> LinearPolicy:
        """Return the policy without imputation of missing rewards, itself unless it imputes."""
        return self

    def check_live(self) -> None:
        """Refuse to be used by a live agent; by default every policy can be."""

    @property
    def is_random(self) -> bool:
        """Whether the choice may be random."""
        return not self.waits if self.randomises is None else self.randomises

    def probabilities(self, rows: Vector, estimate: Vector, clock: int) -> Vector | None:
        """Return the probability that each row is chosen; None, the default, if it is not known.

        Called only for policies that randomise. Where it is not known, live agents estimate it.
        """
        return None

    def failure(self, setting: LinearSetting) -> float:
        """Return the delta in use: the policy's own, or 1 over the horizon."""
        delta: float | None = getattr(self, "delta", None)
        return 1.0 / max(setting.horizon, 2) if delta is None else delta

    def kernels(self) -> LinearKernels:
        """Return the algorithm without its parameters."""
        if self.index is None and self.choose is None:
            raise InvalidInput(
                "policy", "must have a kernel `index` or `choose`", self, "Write one of them."
            )
        return LinearKernels(
            renewed(self.index),
            renewed(self.radius),
            self.samples,
            self.imputes,
            self.waits,
            on_ball=renewed(self.on_ball),
            spectral=self.spectral,
            choose=renewed(self.choose),
            counts_pulls=self.counts_pulls,
        )

    def _keep(self, name: str, **limits: Any) -> None:
        """Check a numeric parameter and keep it as a float; None where that is its default."""
        value = getattr(self, name)
        if value is not None or getattr(type(self), name) is not None:
            field = f"{type(self).__name__}.{name}"
            object.__setattr__(self, name, checks.number(field, value, **limits))


def toward(x: Vector, out: Vector) -> None:
    """Write the best action of the unit ball for a theta: its direction, any one for zero."""
    largest = 0.0
    for i in range(x.size):
        largest = max(largest, abs(x[i]))
    square = 0.0
    for i in range(x.size):
        out[i] = x[i] / largest if largest > 0.0 else 0.0
        square += out[i] * out[i]
    if square > 0.0:
        for i in range(x.size):
            out[i] /= math.sqrt(square)
    else:
        out[0] = 1.0


def _no_index(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    return 0.0


def _no_choice(
    rows: Vector,
    known: LinearKnowledge,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> int:
    return 0


def _nowhere(
    known: BallKnowledge, clock: int, stream: Stream, table: Vector, scratch: Vector, out: Vector
) -> None:
    out[0] = 1.0


def _no_radius(spread: float, table: Vector) -> float:
    return 0.0
