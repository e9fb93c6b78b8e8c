"""The arguments of a loop: three named tuples of arrays for input, workspace and output.

A *world* is the same for every replication. A *workspace* is preallocated, so that loops allocate
nothing; the functions named ``..._shapes`` return the sizes of its arrays, on a cpu and on a GPU. A
*track* has one row per replication and one column per checkpoint.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.engine.late_tracks import LateLinearTrack, LateTrack, LateWinnerTrack
from halfseen.kernels.ellipsoid import SCRATCH_ROWS
from halfseen.kernels.tournament import inner_nodes
from halfseen.problems.round_draws import Places, round_places

Shape = tuple[tuple[int, ...], Any]  # shape of an array, and the type of its elements
Shapes = dict[str, Shape]
LINE = 64  # bytes of a line of the cache
FIRST_ROUNDS = 256  # initial capacity of a history, in observed rounds

# Columns of `ArmWorkspace.arm_state`.
PULLS, SEEN, WAIT, REWARD = range(4)
# Matrices and vectors of an estimate, live or in a loop. Those of a generalized linear policy on
# changing sets follow the first four; a fixed set keeps its expected design where others keep the
# rounding errors of their sums.
INVERSE, DESIGN, REST, SCRATCH, FACTOR, BASIS = range(6)
OLDER, HESSIAN, CURVE, PRIOR, OTHER = range(4, 9)
EXPECTED_DESIGN = REST
ESTIMATE, TARGET, TARGET_REST, V, NOISE, SHAKE, GRADIENT = range(7)
EIGENVALUES = TARGET_REST
# Numbers of an estimate. STALE is above 0 when the factor of the inverse is out of date, MISS is
# the squared error in the norm of the design; SHOWN and LEFT are the number of observations on the
# unit ball and the remaining wait for the next one.
SPREAD, LEARNED, DUE, REGULARIZATION = range(4)
TOLD, FITTED_AT, EXPLORING, LIMIT, REPLICATION = range(4, 9)
STALE, MISS, SHOWN, LEFT = range(9, 13)
LINEAR_SIZES, GLM_SIZES = (5, 6), (9, 7)  # matrices and vectors on changing sets
GLM_NUMBERS, NUMBERS = 9, 13
# Rows of `FixedWorkspace.lists`, numbers kept for every action, and its curvatures.
MEANS, WIDTHS, G, SHIFTS, VALUES, COUNTS, SUMS, PULLED, OBSERVED, WAITING, REWARDS = range(11)
CURVATURE, ROOT = range(2)
# Indices into `ChangingWorkspace`: designs and lines.
EXPECTED, AXES, HONEST = range(3)
ACTION, INVERSE_VALUES, LENGTHS = range(3)


def line_aligned(shape: Any, kind: Any = np.float64) -> NDArray[Any]:
    """Return zeros that begin a line of the cache, so that no vector is read from two lines.

    >>> line_aligned((2, 3)).shape, line_aligned(5, np.uint8).ctypes.data % LINE
    ((2, 3), 0)
    """
    found = np.dtype(kind)
    size = int(np.prod(shape)) * found.itemsize
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(found).reshape(shape)


class ArmTrack(NamedTuple):
    """The output of the loop over arms: one row per replication, one column per checkpoint."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()

    def rows(self, first: int, last: int) -> ArmTrack:
        """Return the part that belongs to some replications."""
        return type(self)._make(array[first:last] for array in self)


class WinnerTrack(NamedTuple):
    """A track with the first winner declared and its round; -1 and 0 if none was declared."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]
    winner: NDArray[Any]
    winner_round: NDArray[Any]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()

    def rows(self, first: int, last: int) -> WinnerTrack:
        """Return the part that belongs to some replications."""
        return type(self)._make(array[first:last] for array in self)


class LinearTrack(NamedTuple):
    """A track with the two designs: log det W - d log lambda and the eigenvalues of W."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]
    spread: Vector
    eigenvalues: Vector

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return self._asdict()

    def rows(self, first: int, last: int) -> LinearTrack:
        """Return the part that belongs to some replications."""
        return type(self)._make(array[first:last] for array in self)


Track = ArmTrack | WinnerTrack | LinearTrack | LateTrack | LateWinnerTrack | LateLinearTrack


def blank_arms(rows: int, checkpoints: int, arms: int, alphas: int, horizon: int) -> ArmTrack:
    """Return a track of zeros."""
    shape = (rows, checkpoints)
    whole = np.int32 if horizon < 2**31 else np.int64
    return ArmTrack(
        regret=np.zeros(shape),
        pulls=np.zeros((*shape, arms), whole),
        observations=np.zeros((*shape, arms), whole),
        potential=np.zeros((*shape, alphas)),
        optimism_failed=np.zeros(shape, np.int8),
        censoring_failed=np.zeros(shape, np.int8),
    )


def blank_winners(arms: ArmTrack) -> WinnerTrack:
    """Return a track with the arrays of `arms` and empty ones for the winners."""
    rows = len(arms.regret)
    return WinnerTrack(*arms, np.full(rows, -1, np.int32), np.zeros(rows, np.int64))


def blank_linear(arms: ArmTrack, dimension: int) -> LinearTrack:
    """Return a track with the arrays of `arms` and empty ones for the designs."""
    shape = (*arms.regret.shape, 2)
    return LinearTrack(*arms, np.zeros(shape), np.zeros((*shape, dimension)))


class ArmWorld(NamedTuple):
    """An armed bandit and its censorship, with a policy's constants.

    `law` is the number of a reward law built into `feedback`, or the table of a law's kernel.
    """

    arm_constants: Vector
    law: Any
    availability: int
    available: NDArray[Any]
    chances: Vector
    policy_constants: Vector
    key: tuple[int, int]
    stops: Vector
    alphas: Vector
    regularization: float


class WinnerWorld(NamedTuple):
    """An armed bandit with a stopping rule: `rule` and `scales` are those of `winning_arm`."""

    arm_constants: Vector
    law: Any
    availability: int
    available: NDArray[Any]
    chances: Vector
    policy_constants: Vector
    key: tuple[int, int]
    stops: Vector
    alphas: Vector
    regularization: float
    rule: Vector
    scales: Vector


class ArmWorkspace(NamedTuple):
    """Workspace of the loop over arms: a tournament, the policy's and the loop's state."""

    values: Vector
    winners: NDArray[Any]
    state: Vector
    arm_state: Vector
    plays: Vector
    playable: NDArray[Any]
    potential: Vector
    stop: NDArray[Any]


class WinnerWorkspace(NamedTuple):
    """A workspace with the sums of the observed rewards and the state of `winning_arm`."""

    values: Vector
    winners: NDArray[Any]
    state: Vector
    arm_state: Vector
    plays: Vector
    playable: NDArray[Any]
    potential: Vector
    stop: NDArray[Any]
    totals: Vector
    kept: Vector


def arm_shapes(arms: int, statistics: int, orders: int) -> Shapes:
    """Return the shape and type of every array of an `ArmWorkspace`."""
    nodes = 4 * inner_nodes(arms) + 1
    return _doubles(
        values=(nodes,),
        winners=((nodes,), np.uint32),
        state=(arms, statistics),
        arm_state=(arms, 4),
        plays=(arms,),
        playable=((arms,), np.uint8),
        potential=(max(orders, 1),),
        stop=((1,), np.uint8),
    )


class FixedWorld(NamedTuple):
    """A finite set of actions, by row and by column, its bandit and a policy's constants."""

    rows: Vector
    columns: Vector
    arm_constants: Vector
    theta: Vector
    limit: float
    prior: Vector
    policy_constants: Vector
    key: tuple[int, int]
    stops: Vector
    alphas: Vector
    regularization: float
    censoring_factor: float


class FixedWorkspace(NamedTuple):
    """Workspace of the loop over a fixed set; `curvatures` are those of a likelihood."""

    matrices: Vector
    vectors: Vector
    lists: Vector
    numbers: Vector
    curvatures: Vector
    memory: Vector
    potential: Vector
    stop: NDArray[Any]


def fixed_shapes(
    actions: int, dimension: int, orders: int, *, fits: bool, memory: int = 1
) -> Shapes:
    """Return the shape and type of every array of a `FixedWorkspace`."""
    return _doubles(
        matrices=(6, dimension, dimension),
        vectors=(7, dimension),
        lists=(11, actions),
        numbers=(NUMBERS,),
        curvatures=(2, dimension, dimension) if fits else (1, 1, 1),
        memory=(memory,),
        potential=(max(orders, 1),),
        stop=((1,), np.uint8),
    )


class ChangingWorld(NamedTuple):
    """Actions that change from round to round, or the unit ball, and their bandit."""

    offered: Vector
    offers: int
    rates: Vector
    theta: Vector
    noise_scale: float
    direction: Vector
    observe_table: Vector
    cuts: Vector
    limit: float
    prior: Vector
    policy_constants: Vector
    key: tuple[int, int]
    stops: Vector
    alphas: Vector
    regularization: float
    censoring_factor: float


class History(NamedTuple):
    """Observed rounds: actions, rewards, an array of ones, and scratch of the same length."""

    kept: Vector
    paid: Vector
    ones: Vector
    z: Vector


class ChangingWorkspace(NamedTuple):
    """Workspace of the loop over changing sets.

    It holds the estimate; the rest of the loop's state; two numbers per region; the actions of a
    round by column and by row, with numbers of each; arrays for drawing them; scratch for the best
    action of the ball; the observed rounds.
    """

    matrices: Vector
    vectors: Vector
    numbers: Vector
    designs: Vector
    lines: Vector
    groups: Vector
    potential: Vector
    stop: NDArray[Any]
    columns: Vector
    actions: Vector
    means: Vector
    squares: Vector
    shifts: Vector
    truths: Vector
    g: Vector
    places: Places
    bits: Places
    normals: Vector
    ball: Vector
    history: History
    memory: Vector


def estimate_shapes(sizes: tuple[int, int], dimension: int, regions: int, orders: int) -> Shapes:
    """Return the shapes of those arrays of a `ChangingWorkspace` that do not depend on the actions.

    `sizes` are the numbers of matrices and vectors of the estimate.
    """
    matrices, vectors = sizes
    return _doubles(
        matrices=(matrices, dimension, dimension),
        vectors=(vectors, dimension),
        numbers=(NUMBERS,),
        designs=(3, dimension, dimension),
        lines=(3, dimension),
        groups=(2, regions),
        potential=(max(orders, 1),),
        stop=((1,), np.uint8),
    )


def changing_workspace(
    arrays: dict[str, Vector], count: int, dimension: int, memory: int = 1
) -> ChangingWorkspace:
    """Return a workspace for `count` actions per round; `arrays` have the `estimate_shapes`."""
    places, size = round_places(count, dimension), FIRST_ROUNDS
    return ChangingWorkspace(
        **arrays,
        columns=line_aligned((dimension, count)),
        actions=line_aligned((count, dimension)),
        means=line_aligned(count),
        squares=line_aligned(count),
        shifts=line_aligned(count),
        truths=line_aligned(count),
        g=line_aligned((2, count)),
        places=places,
        bits=line_aligned((3, places.size), np.int64),
        normals=line_aligned((2, places.size)),
        ball=line_aligned((SCRATCH_ROWS, dimension)),
        history=History(
            line_aligned((size, dimension)), line_aligned(size), np.ones(size), line_aligned(size)
        ),
        memory=line_aligned(memory),
    )


World = ArmWorld | WinnerWorld | FixedWorld | ChangingWorld
Workspace = ArmWorkspace | WinnerWorkspace | FixedWorkspace | ChangingWorkspace


def _doubles(**shapes: Any) -> Shapes:
    """Add the type float64 to every shape without a type."""
    return {
        name: shape if isinstance(shape[0], tuple) else (shape, np.float64)
        for name, shape in shapes.items()
    }
