"""Checks that every problem must pass, including your own."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from halfseen.censorship import Uniform
from halfseen.draws import REWARD
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.linear import LinearCell
from halfseen.errors import InvalidInput
from halfseen.kinds import registries
from halfseen.policies import LinRandom, RandomChoice, RidgeGLMUCB
from halfseen.problems import (
    ArmedBandit,
    GeneralizedLinearBandit,
    LinearBandit,
    Problem,
)
from halfseen.studies.spec import study_from
from halfseen.studies.study import Study
from halfseen.testing.contract import (
    check_kind,
    check_methods,
    check_pickled,
    promised,
)
from halfseen.testing.drawn_rewards import check_reward_law
from halfseen.testing.watched_kernels import check_engines

_DRAWS, _ERRORS = 2000, 6.0  # draws of a link, and tolerance in standard errors
_PLAYED: dict[type[Any], tuple[Any, Any]] = {
    ArmedBandit: (Cell, RandomChoice()),
    LinearBandit: (LinearCell, LinRandom()),
    GeneralizedLinearBandit: (GLMCell, RidgeGLMUCB()),
}


@promised
def check_problem(problem: Problem, *, horizon: int = 40, seed: int = 5) -> None:
    """Raise AssertionError unless a problem fulfils the contract of `Problem`.

    It checks that

    - it is a frozen dataclass with a name, made of code and values;
    - `bandit` returns the same bandit every time, one of the three that can be played;
    - rewards have the means from which regret is computed (`check_reward_law`);
    - its actions are the same in every call, and of length at most 1;
    - the simulated regret is computed from the means: the mean of the best action of each round
      minus the mean of the action played;
    - no round has a negative regret;
    - draws of a link have the mean given by its curve;
    - it survives pickling and, if it is registered, being written to a spec and read again;
    - plain Python and compiled loops give the same trajectory, to the last bit.

    Examples
    --------
    >>> from halfseen import ArmedBandit
    >>> check_problem(ArmedBandit([0.6, 0.5], reward="poisson"), horizon=20)
    """
    check_kind(problem, Problem)
    name, before = type(problem).__name__, copy.deepcopy(problem)
    bandit = problem.bandit()
    assert type(bandit) in _PLAYED, (
        f"{name}.bandit must return an ArmedBandit, LinearBandit or GeneralizedLinearBandit, not"
        f" {type(bandit).__name__}"
    )
    assert problem.bandit() == bandit, (
        f"{name}.bandit must return the same bandit every time: no randomness, no state"
    )
    assert problem == before, f"{name}.bandit must not change the fields of {name}"
    if isinstance(bandit, ArmedBandit):
        check_methods(bandit.actions, subsets="arms")
        _check_subsets(bandit)
        check_reward_law(bandit.law, means=bandit.means, noise=bandit.noise)
    else:
        _check_actions(bandit)
    if isinstance(bandit, GeneralizedLinearBandit):
        _check_link(bandit, seed)
    check_pickled(problem)
    build, policy = _PLAYED[type(bandit)]
    _check_spec(problem, policy)
    checkpoints = np.arange(1, horizon + 1)
    cell = build(bandit, Uniform(0.5), policy, horizon, seed, checkpoints, np.array([1.0]))
    track = check_engines(cell, problem)
    if isinstance(bandit, ArmedBandit) and bandit.actions.same_every_round:
        lost = track.pulls[:, -1] @ bandit.gaps
        assert np.allclose(track.regret[:, -1], lost, rtol=1e-9), (
            f"{name}: the regret played, {track.regret[:, -1].tolist()}, must be the gaps times the"
            f" pulls, {lost.tolist()}"
        )
    losses = np.diff(track.regret, axis=1, prepend=0.0)
    assert losses.min() >= -1e-9 * max(1.0, float(track.regret.max())), (
        f"{name}: a round lost {losses.min():g}; no action can pay more than the best one on offer"
    )
    gap = getattr(bandit, "largest_gap", None)
    assert gap is None or track.regret.max() <= horizon * gap * (1.0 + 1e-9), (
        f"{name}: no round may lose more than largest_gap, {gap}"
    )


def _check_subsets(bandit: ArmedBandit) -> None:
    actions, name = bandit.actions, type(bandit.actions).__name__
    first, *others = ([list(row) for row in actions.subsets(bandit.arms)] for _ in range(4))
    assert all(other == first for other in others), (
        f"{name}.subsets must return the same every time: no randomness, no state"
    )


def _check_actions(bandit: LinearBandit) -> None:
    actions, name = bandit.actions, type(bandit.actions).__name__
    for what in ("fixed", "given"):
        rows = getattr(actions, what)
        if rows is None:
            continue
        again = getattr(actions, what)
        assert np.array_equal(rows, again), f"{name}.{what} must be the same in every call"
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
            f"{name}.offer must depend only on the generator it is given: no other randomness"
        )


def _check_spec(problem: Problem, policy: Any) -> None:
    """Raise AssertionError unless a registered problem is the same after a round trip to a spec."""
    study = Study(problem, Uniform(0.5), policy, horizon=1)
    known = {kind for _, kinds in registries() for kind in kinds.values()}
    if study.functions or not set(map(type, _dataclasses(problem))) <= known:
        return
    again = next(iter(study_from(study.to_dict()).problems.values()))
    assert again == problem, (
        f"{problem} must survive a round trip to a spec; read again it is {again}"
    )


def _dataclasses(part: Any) -> Iterator[Any]:
    """Yield a dataclass and those in its fields."""
    if is_dataclass(part):
        yield part
        for entry in fields(part):
            yield from _dataclasses(getattr(part, entry.name))


def _check_link(bandit: GeneralizedLinearBandit, seed: int) -> None:
    """Raise AssertionError unless the rewards of a link have the mean given by its curve."""
    curve, name = bandit.curve, type(bandit).__name__
    for place, along in enumerate((-0.5, 0.0, 0.5)):
        mean = curve.mean(along * bandit.reach * bandit.norm)
        stream = (seed, place, 3, REWARD)
        row = np.array(
            [curve.kernels.reward(mean, bandit.noise, stream, n, 0) for n in range(_DRAWS)]
        )
        error = _ERRORS * max(float(row.std()), bandit.noise, 1e-12) / math.sqrt(_DRAWS)
        assert abs(row.mean() - mean) <= error, (
            f"{name}.link: rewards drawn with mean {mean:g} have the mean {row.mean():g}"
        )
