"""Which vectors may be played in a round of a linear bandit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream, normal_from, words
from halfseen.errors import InvalidInput
from halfseen.kinds import register
from halfseen.phrases import counted
from halfseen.problems.action_arrays import checked_actions, mapped
from halfseen.problems.base import DrawKernels, LinearActions

MOST_PLACES = 10_000_000  # pairs of coordinates in a round: a draw's place has 24 bits for them
SECOND = 1 << 30  # offset of the counter for redraws of the second number of a pair
Draw = Callable[[Stream, int, int, Vector], None]
Scale = Callable[[float, int], float]


def fill_normals(stream: Stream, clock: int, k: int, out: Vector) -> float:
    """Write independent standard normal numbers into `out` and return the sum of their squares."""
    pairs = (out.size + 1) // 2
    square = 0.0
    for pair in range(pairs):
        place = k * pairs + pair
        high, low, second_high, second_low = words(stream, clock, place)
        x = normal_from(high, low, stream, clock, place)
        out[2 * pair] = x
        square += x * x
        if 2 * pair + 1 < out.size:
            x = normal_from(second_high, second_low, stream, clock, place + SECOND)
            out[2 * pair + 1] = x
            square += x * x
    return square


def sphere_scale(square: float, dimension: int) -> float:
    """Return the factor that scales a normal vector to length 1; 0 for the zero vector."""
    return 1.0 / math.sqrt(square) if square > 0.0 else 0.0


def gaussian_scale(square: float, dimension: int) -> float:
    """Return the factor that gives a normal vector variance 1/d and length at most 1."""
    return 1.0 / math.sqrt(max(square, dimension))


def draw_action(stream: Stream, clock: int, k: int, out: Vector) -> None:
    """Write action k of round `clock` into `out`: uniform on the unit sphere."""
    scale = sphere_scale(fill_normals(stream, clock, k, out), out.size)
    for i in range(out.size):
        out[i] *= scale
    if scale == 0.0:
        out[0] = 1.0


def draw_gaussian_action(stream: Stream, clock: int, k: int, out: Vector) -> None:
    """Write action k of round `clock` into `out`: normal of variance 1/d, of length at most 1."""
    scale = gaussian_scale(fill_normals(stream, clock, k, out), out.size)
    for i in range(out.size):
        out[i] *= scale


DRAWS: dict[str, Draw] = {"sphere": draw_action, "gaussian": draw_gaussian_action}
SCALES: dict[str, Scale] = {"sphere": sphere_scale, "gaussian": gaussian_scale}
LAWS = {
    "sphere": "uniform on the unit sphere",
    "gaussian": "normal, shortened to length 1 where longer",
}


@register
@dataclass(frozen=True, eq=False, repr=False)
class FiniteActions(LinearActions):
    """The same finite set of actions in every round.

    Parameters
    ----------
    actions
        An array (K, d), one action per row, each of length at most 1.
    normalize
        Divide every action by its length first (one of length 0 stays). Done once, then False.

    Examples
    --------
    >>> FiniteActions([[3.0, 4.0], [0.0, 2.0]], normalize=True).actions.tolist()
    [[0.6, 0.8], [0.0, 1.0]]
    """

    kind: ClassVar[str] = "finite"
    same_every_round: ClassVar[bool] = True
    actions: Any
    normalize: bool = False

    def __post_init__(self) -> None:
        normalize = checks.yes_or_no("FiniteActions.normalize", self.normalize)
        rows = checked_actions("FiniteActions.actions", self.actions, 2, normalize)
        object.__setattr__(self, "actions", rows)
        object.__setattr__(self, "normalize", False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteActions) and np.array_equal(self.actions, other.actions)

    def __hash__(self) -> int:
        return hash(self.actions.shape)  # 0.0 equals -0.0, whose bytes differ

    @property
    def count(self) -> int:
        """The number of actions."""
        return len(self.actions)

    @property
    def dimension(self) -> int:
        """The number of coordinates of an action."""
        return int(self.actions.shape[1])

    @property
    def fixed(self) -> Vector:
        """The actions."""
        rows: Vector = self.actions
        return rows


@register
@dataclass(frozen=True)
class RandomActions(LinearActions):
    """A new set of independent random actions in every round.

    Parameters
    ----------
    count
        Number of actions on offer in a round.
    dimension
        Number of coordinates of an action.
    law
        ``"sphere"``, uniform on the unit sphere (a Gaussian vector divided by its length), or
        ``"gaussian"``, normal with variance 1/d in every coordinate, shortened to length 1 where
        it is longer.

    Notes
    -----
    Action k of a round is a pure function of the stream, the round and k: any engine, in any
    order, draws the same numbers.

    Examples
    --------
    >>> RandomActions(count=3, dimension=2).sample((1, 2, 0, 1), clock=1).shape
    (3, 2)
    """

    kind: ClassVar[str] = "random-actions"
    count: int
    dimension: int
    law: str = "sphere"

    def __post_init__(self) -> None:
        _sizes(self, "count", "dimension")
        places = self.count * ((self.dimension + 1) // 2)
        if places > MOST_PLACES:
            raise InvalidInput(
                "RandomActions.count",
                f"times half the dimension must be at most {MOST_PLACES:,}",
                places,
                "Offer fewer actions.",
            )
        checks.one_of("RandomActions.law", self.law, DRAWS)

    @property
    def draw(self) -> Draw:
        """The kernel ``(stream, clock, k, out)`` that writes action k of a round into `out`."""
        return DRAWS[self.law]

    @property
    def scale(self) -> Scale:
        """The kernel ``(square, dimension)`` that returns the factor of a normal vector."""
        return SCALES[self.law]

    @property
    def kernels(self) -> DrawKernels:
        """The kernels `draw` and `scale`."""
        return DrawKernels(self.draw, self.scale)

    def label(self) -> Any:
        """Return the fields, on which draws depend."""
        return vars(self)

    def in_words(self) -> str:
        """Return what is on offer, as reports say it."""
        return f"{counted('action', self.count)} drawn anew every round, {LAWS[self.law]}"

    def offer(self, rng: np.random.Generator, clock: int) -> Vector:
        """Return actions of the same distribution, drawn with a NumPy generator."""
        stream = tuple(rng.integers(0, 2**32, 2).tolist())
        return self.sample((stream[0], stream[1], 0, 0), clock)

    def sample(self, stream: Stream, clock: int) -> Vector:  # type: ignore[override]
        """Return the actions (K, d) on offer in round `clock`, counted from 1."""
        rows = np.empty((self.count, self.dimension))
        for k in range(self.count):
            self.draw(stream, clock, k, rows[k])
        return rows


@register
@dataclass(frozen=True, repr=False)
class SampledActions(LinearActions):
    """A new set of actions in every round, from your own sampler.

    Parameters
    ----------
    sampler
        Called with a `numpy.random.Generator` and the round, counted from 1; returns an array
        (K, d).
    count
        Number K of actions it returns.
    dimension
        Number d of coordinates of an action.
    normalize
        Divide every action by its length.

    Notes
    -----
    In a study every replication is sampled before it is played, from a generator that depends on
    the seed, the problem and the replication alone: every policy and censorship is offered the
    same actions. One replication's actions are held in memory. A stored study is keyed by the
    sampler's code; to read it back, give the study again.

    Examples
    --------
    >>> def sampler(rng, clock):
    ...     return rng.uniform(-0.5, 0.5, size=(3, 2))
    >>> SampledActions(sampler, count=3, dimension=2).sample(np.random.default_rng(1), 1).shape
    (3, 2)
    """

    kind: ClassVar[str] = "sampled"
    sampler: Callable[[np.random.Generator, int], Any]
    count: int
    dimension: int
    normalize: bool = False

    def __post_init__(self) -> None:
        if not callable(self.sampler):
            raise InvalidInput(
                "SampledActions.sampler",
                "must be a function of a generator and a round",
                self.sampler,
                "Give for example lambda rng, clock: rng.uniform(-0.5, 0.5, size=(3, 2)).",
            )
        _sizes(self, "count", "dimension")
        checks.yes_or_no("SampledActions.normalize", self.normalize)

    def offer(self, rng: np.random.Generator, clock: int) -> Any:
        """Return the sampler's actions for a round."""
        return self.sampler(rng, clock)

    @property
    def _offered(self) -> str:
        return "SampledActions.sampler"

    def in_words(self) -> str:
        """Return what is on offer, as reports say it."""
        return f"{counted('action', self.count)} sampled anew every round by a Python function"


@register
@dataclass(frozen=True)
class UnitBall(LinearActions):
    """Every vector of length at most 1, in every round.

    Parameters
    ----------
    dimension
        Number of coordinates of an action.
    """

    kind: ClassVar[str] = "ball"
    whole_ball: ClassVar[bool] = True
    dimension: int

    def __post_init__(self) -> None:
        _sizes(self, "dimension")

    @property
    def count(self) -> int:
        """The number of actions stored per round: only the chosen one."""
        return 1

    def label(self) -> Any:
        """Return the dimension."""
        return vars(self)

    def in_words(self) -> str:
        """Return what is on offer, as reports say it."""
        return "every vector of length at most 1"


@register
@dataclass(frozen=True, eq=False, repr=False)
class SequenceOfActions(LinearActions):
    """A given sequence of finite sets of actions, one per round, chosen before the game starts.

    Parameters
    ----------
    rounds
        An array (T, K, d), or the path of a ``.npy`` file of float64 that holds one. A file is
        not read into memory but mapped; it must not change while it is used. A sequence shorter
        than the horizon starts again from its beginning.
    normalize
        Divide every action by its length. This reads a file into memory.

    Examples
    --------
    >>> sequence = SequenceOfActions([[[1.0, 0.0]], [[0.0, 1.0]]])
    >>> sequence.at(1).tolist(), sequence.at(4).tolist()
    ([[1.0, 0.0]], [[0.0, 1.0]])
    """

    kind: ClassVar[str] = "sequence-of-actions"
    rounds: Any
    normalize: bool = False

    def __post_init__(self) -> None:
        field = "SequenceOfActions.rounds"
        normalize = checks.yes_or_no("SequenceOfActions.normalize", self.normalize)
        if isinstance(self.rounds, str | Path):
            object.__setattr__(self, "rounds", str(self.rounds))
            array = checked_actions(field, mapped(field, self.rounds), 3, normalize)
        else:
            array = checked_actions(field, self.rounds, 3, normalize)
            object.__setattr__(self, "rounds", array)
            object.__setattr__(self, "normalize", False)
        object.__setattr__(self, "_array", array)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, SequenceOfActions) and self.normalize == other.normalize
        return same and np.array_equal(self.rounds, other.rounds)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.array.shape)

    @property
    def array(self) -> Vector:
        """The actions, a read-only array (T, K, d)."""
        return self._array  # type: ignore[attr-defined]

    @property
    def count(self) -> int:
        """The number of actions on offer in a round."""
        return self.array.shape[1]

    @property
    def dimension(self) -> int:
        """The number of coordinates of an action."""
        return self.array.shape[2]

    @property
    def given(self) -> Vector:
        """The actions, an array (T, K, d)."""
        return self.array

    def decisive(self) -> dict[str, Any]:
        """Return the actions; for a file, its present contents."""
        return {"rounds": self.array}

    def in_words(self) -> str:
        """Return what is on offer, as reports say it."""
        return f"{counted('action', self.count)} per round, from a given sequence"

    def at(self, clock: int) -> Vector:
        """Return the actions (K, d) on offer in round `clock`, counted from 1."""
        return self.array[(clock - 1) % len(self.array)]


def _sizes(actions: RandomActions | SampledActions | UnitBall, *entries: str) -> None:
    for entry in entries:
        name = f"{type(actions).__name__}.{entry}"
        value = checks.whole(name, getattr(actions, entry), at_least=1)
        object.__setattr__(actions, entry, value)
