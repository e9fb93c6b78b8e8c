"""Checks that every policy for linear bandits must pass, including your own."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.agents.linear import LinearAgent
from halfseen.censorship import Logistic, MultiThreshold, PerAction, Uniform
from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT, unit, words
from halfseen.engine.arguments import Track
from halfseen.engine.backends import reference
from halfseen.engine.cells.late_vectors_cell import linear_cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import blank_track
from halfseen.engine.specialise import fitted
from halfseen.errors import shorten
from halfseen.kernels.ellipsoid import SCRATCH_ROWS
from halfseen.policies import LinearPolicy
from halfseen.policies.linear.base import (
    BallKnowledge,
    Choice,
    LateKnowledge,
    LinearKnowledge,
    LinearSetting,
)
from halfseen.problems import (
    FiniteActions,
    LinearBandit,
    RandomActions,
    SequenceOfActions,
    UnitBall,
)
from halfseen.problems.action_arrays import SLACK
from halfseen.problems.links import draw_gaussian
from halfseen.testing.choice_chances import check_row_chances
from halfseen.testing.contract import (
    REPLICATIONS,
    STREAM,
    call_kernel,
    check_attributes,
    check_constants,
    check_kind,
    check_no_draws,
    check_pure,
    check_signature,
    compiling,
    ignore,
    promised,
)
from halfseen.testing.watched_kernels import check_engines

_THETA = (0.5, -0.3, 0.6)
_DIRECTION = (1.0, 0.5, -0.2)
_ALPHAS = (0.5, 1.0, 2.0)
SIGNATURES = {
    "index": "mean, square, spread, shift, action, clock, stream, table",
    "choose": "rows, known, memory, clock, stream, table",
    "radius": "spread, table",
    "on_ball": "known, clock, stream, table, scratch, out",
}


@promised
def check_linear_policy(policy: LinearPolicy, *, horizon: int = 60, seed: int = 5) -> None:
    """Raise AssertionError unless a policy fulfils the contract of `LinearPolicy`.

    Over a grid of action sets and censorships it checks that

    - compiled code and plain Python give the same trajectory, to the last bit;
    - the results do not depend on the number of workers or the chunk size;
    - jumping from observation to observation gives the same trajectory as playing every round;
    - the live agent makes the same choices as the simulation;
    - an index is a number, the same for the same arguments in every call, the radius is a number of
      at least 0 that never decreases with more observations, and no kernel modifies its arguments;
    - `choose`, if there is one, returns an action and does not read the observation probabilities;
    - nothing is drawn unless choices may be random, and actions are chosen as often as
      `probabilities` says, if it says so;
    - `on_ball`, if there is one, writes a vector of the unit ball with the largest index.

    The first call compiles the policy for every kind of action set, which takes seconds.

    Examples
    --------
    >>> from halfseen import UCB
    >>> check_linear_policy(UCB())
    Traceback (most recent call last):
    ...
    AssertionError: UCB(regularization=1.0, bound=None) must be derived from LinearPolicy
    """
    check_kind(policy, LinearPolicy)
    cells = list(linear_cells(policy, horizon, seed))
    cells[0].check_policy()
    check_kernels(cells[0])
    if policy.on_ball is not None:
        _check_ball(policy)
    for cell in cells:
        check_linear_cell(cell)
        if cell.problem.actions.given is not None:
            check_live_agent(cell)


def linear_cells(policy: LinearPolicy, horizon: int, seed: int) -> Iterator[LinearCell]:
    """Yield the cells a policy is tested on, with as few loops to compile as possible."""
    grid = playgrounds(horizon)
    if policy.on_ball is not None:
        grid += [(UnitBall(3), censorship) for _, censorship in grid[6:9:2]]
    for actions, censorship in grid:
        if (policy.knows_observe or policy.counts_pulls) and not actions.same_every_round:
            continue
        problem = LinearBandit(_THETA, 0.4, actions)
        yield linear_cell(problem, censorship, policy, horizon, seed, *looks(horizon))


def looks(horizon: int) -> tuple[NDArray[np.int64], Vector]:
    """Return the checkpoints and the orders of the potential that cells are tested with."""
    return np.unique(np.array([1, max(1, horizon // 3), horizon])), np.array(_ALPHAS)


def playgrounds(horizon: int) -> list[tuple[Any, Any]]:
    """Return pairs of actions and censorship."""
    steps = MultiThreshold([-0.3, 0.4], observe=[0.9, 0.5, 0.1], direction=_DIRECTION)
    smooth = Logistic(_DIRECTION, slope=-2.0, offset=0.3)
    rows = _vectors(7)
    fixed, sphere, given = (
        FiniteActions(rows),
        RandomActions(4, 3),
        SequenceOfActions(_vectors(4 * horizon).reshape(horizon, 4, 3)),
    )
    return [
        (fixed, Uniform(0.3)),
        (fixed, Uniform(1.0)),
        (fixed, steps),
        (fixed, smooth),
        (fixed, PerAction([0.9, 0.05, 1.0, 0.3, 0.5, 0.2, 0.7])),
        (FiniteActions(rows[:1]), Uniform(0.5)),
        (sphere, Uniform(1.0)),
        (sphere, Uniform(0.3)),
        (sphere, steps),
        (given, smooth),
    ]


def check_linear_cell(cell: LinearCell) -> None:
    """Raise AssertionError unless all engines and loops give the same tracks for a cell."""
    plain = check_engines(cell, cell.policy)
    if cell.open_names.get("JUMPS"):
        _check_rounds(cell, plain)


def check_live_agent(cell: LinearCell) -> None:
    """Raise AssertionError unless the live agent makes the same choices as the engine."""
    problem, policy = cell.problem, cell.policy
    told = {"noise": problem.noise, "bound": problem.norm, "horizon": cell.horizon}
    with compiling(policy):
        agent = LinearAgent(policy, problem.dimension, **told)  # type: ignore[arg-type]
    theta = np.array(problem.theta)
    play_live(agent, cell, lambda rows: rows @ theta, draw_gaussian)


def play_live(
    agent: LinearAgent,
    cell: LinearCell,
    means: Callable[[Vector], Vector],
    draw: Callable[..., float],
) -> None:
    """Raise AssertionError unless an agent makes the choices of the engine, and checks its chances.

    Parameters
    ----------
    agent
        An agent that has not decided yet.
    cell
        A cell with a given sequence of actions.
    means
        The function from actions to the means of their rewards.
    draw
        The kernel that draws a reward.
    """
    rows, policy, noise = cell.problem.actions.given, cell.policy, cell.problem.noise
    assert rows is not None
    expected = blank_track(cell, 1)
    reference.run(cell, expected, report=ignore, workers=1)
    agent._key = cell.key
    stream, lost = (*cell.key, 0, ENVIRONMENT), 0.0
    for clock in range(1, cell.horizon + 1):
        offered = rows[(clock - 1) % len(rows)]
        decision = agent.choose(offered)
        x, there = offered[decision.action], means(offered)
        lost += float(there.max() - there[decision.action])
        _, _, high, low = words(stream, clock, 0)
        if unit(high, low) < cell.censorship.probabilities(x[None])[0]:
            agent.observe(decision, draw(there[decision.action], noise, stream, clock, 0))
        else:
            agent.miss(decision)
    played = float(expected.regret[0, -1])
    assert math.isclose(lost, played, rel_tol=1e-6, abs_tol=1e-9), (
        f"The live agent and the engine choose differently for {policy}: regrets {lost:g} and"
        f" {played:g}"
    )
    check_row_chances(agent, offered)


def check_kernels(cell: LinearCell) -> None:
    """Raise AssertionError unless the kernels of a cell's policy fulfil their contract."""
    policy, name = cell.policy, type(cell.policy).__name__
    for kernel, arguments in SIGNATURES.items():
        check_signature(policy, kernel, arguments)
    kernels = policy.kernels()
    table = check_constants(policy, cell.setting)
    assert table.ndim == 1, f"{name}.table must return a vector of constants, not {table.shape}"
    check_attributes(policy, "waits", "samples", "knows_observe", "counts_pulls")
    kept = table.copy()
    for clock in range(1, 6):
        spread = math.log(clock)
        for action, (mean, square) in enumerate(((0.0, 1.0), (-0.4, 0.2), (0.7, 0.0))):
            shift = 0.3 if kernels.samples else 0.0
            if kernels.index is not None:
                given = (mean, square, spread, shift, action, clock, STREAM, table)
                check_pure(f"{name}.index", kernels.index, *given)
                if not policy.is_random:
                    check_no_draws(f"{name}.index", kernels.index, *given)
    if kernels.radius is not None:
        _check_radius(f"{name}.radius", kernels.radius, table)
    if kernels.choose is not None:
        _check_choice(policy, kernels.choose, table)
    assert np.array_equal(table, kept, equal_nan=True), (
        f"The kernels of {name} must not write to the table"
    )


def _check_radius(what: str, radius: Callable[..., float], table: Vector) -> None:
    last = 0.0
    for spread in np.linspace(0.0, 50.0, 201).tolist():
        value = check_pure(what, radius, spread, table)
        assert value >= last, (
            f"{what} must be at least 0 and must not decrease with more observations: {last:g},"
            f" then {value:g}"
        )
        last = value


def _check_choice(policy: LinearPolicy, choose: Choice, table: Vector) -> None:
    rows, ones, name = _vectors(5), np.ones(5), type(policy).__name__
    size = policy.memory(5, 3)
    assert isinstance(size, int | np.integer) and size >= 0, (  # noqa: PT018
        f"{name}.memory must return a whole number of at least 0, not {shorten(size)}"
    )
    memory, stream = np.zeros(size), STREAM
    for clock in range(1, 20):
        estimate, factor = rows[clock % 5].copy(), np.eye(3) / clock
        known: Any = LinearKnowledge(
            estimate, factor, float(clock), 2.0 * ones, ones, 0.5 * ones, 1
        )
        if policy.counts_pulls:
            known = LateKnowledge(estimate, factor, rows.copy(), 2.0 * ones, ones)
        before = memory.copy()
        chosen = call_kernel(f"{name}.choose", choose, rows, known, memory, clock, stream, table)
        assert isinstance(chosen, int | np.integer) and 0 <= chosen < 5, (  # noqa: PT018
            f"{name}.choose must return the number of one of 5 rows, from 0 to 4, not"
            f" {shorten(chosen)}"
        )
        if policy.counts_pulls or policy.knows_observe:
            continue
        told = known._replace(observe=np.array([0.4, 0.1, 0.7, 0.2, 1.0]))
        other = call_kernel(f"{name}.choose", choose, rows, told, before, clock, stream, table)
        assert chosen == other, (
            f"{name}.choose must not read known.observe, which no learner knows: it chose row"
            f" {chosen}, and {other} once other rates were written there"
        )


def _check_ball(policy: LinearPolicy) -> None:
    kernels, name = policy.kernels(), type(policy).__name__
    assert kernels.on_ball is not None
    assert kernels.index is not None, f"{name} has `on_ball`, so it must have an `index` too"
    setting = LinearSetting(3, 0.4, 1.0, 50)
    table = np.ascontiguousarray(policy.table(setting), dtype=float)
    rng = np.random.default_rng(1)
    others = rng.normal(size=(500, 3))
    others /= np.linalg.norm(others, axis=1)[:, None]
    for clock in range(1, 30):
        rows = rng.normal(size=(clock, 3))
        design = policy.regularization * np.eye(3) + rows.T @ rows
        inverse = np.linalg.inv(design)
        lengths, vectors = np.linalg.eigh(design)
        spread = float(np.linalg.slogdet(design / policy.regularization)[1])
        estimate = rng.normal(size=3)
        shake = rng.normal(size=3) if kernels.samples else np.zeros(3)
        stream, action = STREAM, np.full(3, np.nan)
        known = BallKnowledge(estimate, shake, lengths, vectors, spread)
        given = (known, clock, stream, table, np.zeros((SCRATCH_ROWS, 3)), action)
        call_kernel(f"{name}.on_ball", kernels.on_ball, *given)
        assert np.isfinite(action).all(), f"{name}.on_ball must write its action into `out`"
        values = [
            kernels.index(x @ estimate, x @ inverse @ x, spread, x @ shake, 0, clock, stream, table)
            for x in (action, *others)
        ]
        assert action @ action <= (1.0 + SLACK) ** 2, (
            f"{name}.on_ball must write a vector of length at most 1"
        )
        assert values[0] >= max(values) - 1e-9, (
            f"{name}.on_ball must find the largest index of the ball: {values[0]:g} is below"
            f" {max(values):g}, at another vector"
        )


def _check_rounds(cell: LinearCell, expected: Track) -> None:
    loop = fitted(cell.loop, cell.policy.kernels(), **cell.names(jumps=False))
    track = blank_track(cell, REPLICATIONS)
    loop(0, REPLICATIONS, cell.world(), cell.workspace(), track)
    for name, array in track.arrays().items():
        right = expected.arrays()[name]
        close = (
            np.allclose(array, right, rtol=1e-9, atol=1e-9)
            if array.dtype.kind == "f"
            else np.array_equal(array, right)
        )
        assert close, (
            f"{name}: jumping from observation to observation and playing every round differ for"
            f" {cell.policy}. Set waits = False if its choice can change without an observation"
        )


def _vectors(count: int) -> Vector:
    """Return vectors of different lengths below 1, the same ones every time."""
    rows = np.random.default_rng(1).normal(size=(count, 3))
    lengths = np.linalg.norm(rows, axis=1)
    return rows * ((0.5 + 0.45 * np.sin(np.arange(count)) ** 2) / lengths)[:, None]
