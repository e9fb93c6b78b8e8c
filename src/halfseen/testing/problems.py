"""The checks every problem and every law of rewards must pass, yours included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.censorship import Uniform
from halfseen.checks import Vector
from halfseen.draws import REWARD, Stream
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.specialise import compiled
from halfseen.errors import InvalidInput
from halfseen.policies import LinRandom, RandomChoice, RidgeGLMUCB
from halfseen.problems import (
    ArmedBandit,
    GeneralizedLinearBandit,
    LinearBandit,
    Problem,
    RewardLaw,
)
from halfseen.testing.contract import arguments_of, check_engines, check_kind, check_pure, compiling

if TYPE_CHECKING:
    from halfseen.problems.reward_laws import draw_normal as draw

_DRAWS = 4000
_ERRORS = 6.0  # standard errors: a right law fails with probability 2e-9
_PLAYED: dict[type[Any], tuple[Any, Any]] = {
    ArmedBandit: (Cell, RandomChoice()),
    LinearBandit: (LinearCell, LinRandom()),
    GeneralizedLinearBandit: (GLMCell, RidgeGLMUCB()),
}


def check_problem(problem: Problem, *, horizon: int = 40, seed: int = 5) -> None:
    """Raise AssertionError unless a problem keeps the contract of `Problem`.

    It demands that

    - it is a frozen dataclass with a name, made of code and values;
    - `bandit` returns the same bandit every time, one of the three that can be played;
    - rewards have the means that regret is counted by (`check_reward_law`);
    - its actions are the same whenever they are asked for, and of length at most 1;
    - the regret that is played is that of the means: what the best action of each round would
      have paid, less what was paid on average;
    - plain Python and compiled loops give the same trajectory, to the last bit.

    Examples
    --------
    >>> from halfseen import ArmedBandit
    >>> check_problem(ArmedBandit([0.6, 0.5], reward="poisson"), horizon=20)
    """
    check_kind(problem, Problem)
    name = type(problem).__name__
    bandit = problem.bandit()
    assert type(bandit) in _PLAYED, (
        f"{name}.bandit must return an ArmedBandit, LinearBandit or GeneralizedLinearBandit, not"
        f" {type(bandit).__name__}"
    )
    assert problem.bandit() == bandit, (
        f"{name}.bandit must return the same bandit every time: no randomness, no state"
    )
    if isinstance(bandit, ArmedBandit):
        check_reward_law(bandit.law, means=bandit.means, noise=bandit.noise)
    else:
        _check_actions(bandit)
    build, policy = _PLAYED[type(bandit)]
    checkpoints = np.array([horizon])
    cell = build(bandit, Uniform(0.5), policy, horizon, seed, checkpoints, np.array([1.0]))
    track = check_engines(cell, problem)
    if isinstance(bandit, ArmedBandit) and bandit.actions.same_every_round:
        lost = track.pulls[:, -1] @ bandit.gaps
        assert np.allclose(track.regret[:, -1], lost, rtol=1e-9), (
            f"{name}: the regret played, {track.regret[:, -1].tolist()}, must be the gaps times the"
            f" pulls, {lost.tolist()}"
        )
    gap = getattr(bandit, "largest_gap", None)
    assert gap is None or track.regret.max() <= horizon * gap * (1.0 + 1e-9), (
        f"{name}: no round may lose more than largest_gap, {gap}"
    )


def _check_actions(bandit: LinearBandit) -> None:
    actions, name = bandit.actions, type(bandit.actions).__name__
    for what in ("fixed", "given"):
        rows = getattr(actions, what)
        if rows is None:
            continue
        again = getattr(actions, what)
        assert np.array_equal(rows, again), f"{name}.{what} must be the same whenever asked for"
        axes = 2 if what == "fixed" else 3
        shape = (actions.count, actions.dimension)
        assert rows.ndim == axes, f"{name}.{what} must have {axes} axes"
        assert rows.shape[-2:] == shape, (
            f"{name}.{what} must hold {shape} actions, not {rows.shape}"
        )
        longest = float(np.linalg.norm(rows, axis=-1).max())
        assert longest <= 1.0 + 1e-9, f"{name}.{what} must be of length at most 1, not {longest:g}"
    assert actions.same_every_round == (actions.fixed is not None), (
        f"{name} must set same_every_round to True exactly where it has `fixed`"
    )
    if actions.fixed is None and actions.given is None and not actions.whole_ball:
        try:
            first, second = (actions.sample_rounds(np.random.default_rng(3), 5) for _ in range(2))
        except InvalidInput as error:
            raise AssertionError(str(error)) from None
        assert np.array_equal(first, second), (
            f"{name}.offer must be decided by the generator it is given: no other randomness"
        )


def check_reward_law(
    law: RewardLaw, *, means: Any = (0.5, 0.25, 1.0), noise: Any = None, seed: int = 5
) -> None:
    """Raise AssertionError unless a law of rewards keeps the contract of `RewardLaw`.

    It demands that

    - it is a frozen dataclass with a name, made of code and values;
    - the kernel `draw` returns a finite number, the same at the same place of the same stream, and
      writes to nothing;
    - compiled it draws the same numbers, to the last bit;
    - over many draws their mean is that of the arm and, for a law that says `sub_gaussian`, their
      standard deviation is not above the scale.

    Examples
    --------
    >>> from halfseen import StudentT
    >>> check_reward_law(StudentT(2.5))
    """
    check_kind(law, RewardLaw)
    name = f"{type(law).__name__}.draw"
    assert callable(getattr(law, "draw", None)), f"{name} must be a kernel"
    assert arguments_of(law.draw) == 4, f"{name} must take (table, arm, count, stream)"
    bandit = ArmedBandit(means, noise=noise if law.takes_noise else None, reward=law)
    truth = np.array(bandit.means)
    spread = np.ones(len(truth)) if bandit.noise is None else np.array(bandit.noise)
    table = np.ascontiguousarray(law.table(truth, spread), dtype=float)
    assert table.ndim == 2, f"{type(law).__name__}.table must return a row of constants per arm"
    assert len(table) == len(truth), f"{type(law).__name__}.table must return a row per arm"
    stream = (seed, 2, 3, REWARD)
    for arm in range(len(truth)):
        value = check_pure(name, law.draw, table, arm, arm, stream)
        assert math.isfinite(value), f"{name} must return a finite number, not {value}"
    drawn = _drawn(law, table, stream)
    scale = bandit.scale
    for arm, row in enumerate(drawn):
        error = _ERRORS * max(float(row.std()), 1e-12) / math.sqrt(_DRAWS)
        assert abs(row.mean() - truth[arm]) <= error, (
            f"{name} must have the arm's mean, by which regret is counted: {_DRAWS} draws of arm"
            f" {arm} have a mean of {row.mean():.4g}, not {truth[arm]:g}"
        )
        if law.sub_gaussian:
            assert row.std() <= scale[arm] * (1.0 + 4.0 / math.sqrt(_DRAWS)) + 1e-12, (
                f"{type(law).__name__}.scale must not be below the standard deviation: arm {arm}"
                f" has {row.std():.4g}, told {scale[arm]:g}"
            )


def draw_many(table: Vector, stream: Stream, out: Vector) -> None:
    """Write the first rewards of every arm; ``draw`` is filled in with a law's kernel."""
    for arm in range(out.shape[0]):
        for count in range(out.shape[1]):
            out[arm, count] = draw(table, arm, count, stream)


def _drawn(law: RewardLaw, table: Vector, stream: Stream) -> Vector:
    """Return many draws of every arm, compiled, after comparing some with plain Python."""
    name = f"{type(law).__name__}.draw"
    found = np.empty((len(table), _DRAWS))
    with compiling(law):
        compiled(draw_many, law.kernels())(table, stream, found)
    for arm in range(len(table)):
        plain = [law.draw(table, arm, count, stream) for count in range(50)]
        assert np.array_equal(found[arm, :50], plain), f"{name}: compiled, it draws other numbers"
    return found
