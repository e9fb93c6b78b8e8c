"""The checks every policy must pass, yours included."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from halfseen.agents.arms import Agent
from halfseen.censorship import PerArm, Uniform
from halfseen.checks import Vector
from halfseen.draws import ENVIRONMENT
from halfseen.engine.arguments import Track
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.late_cell import arm_cell
from halfseen.engine.player import blank_track
from halfseen.engine.specialise import fitted
from halfseen.errors import InvalidInput
from halfseen.policies import Policy
from halfseen.policies.arms.base import COUNT, Kernels, State
from halfseen.problems import ArmedBandit, Fixed, FixedArms, RandomArms, SequenceOfArms
from halfseen.testing.contract import REPLICATIONS, check_engines, check_kind, check_pure

_MEANS = (0.5, 0.7, 0.2, 0.6)


def check_policy(policy: Policy, *, horizon: int = 120, seed: int = 5) -> None:
    """Raise AssertionError unless a policy keeps the contract of `halfseen.policies.Policy`.

    Over a grid of problems, censorships and action sets it demands that

    - compiled code and plain Python give the same trajectory, to the last bit;
    - neither the number of workers nor their chunks change anything;
    - jumping from observation to observation gives the same trajectory as playing every round;
    - the live agent makes the same choices as the simulation, if one can play the policy;
    - an index is a number, the same for the same arguments, `choose` returns an arm that is
      playable, learning adds one to the count and leaves other arms alone, and no kernel writes to
      the table.

    Examples
    --------
    >>> from halfseen import UCB1
    >>> check_policy(UCB1(), horizon=40)
    """
    check_kind(policy, Policy)
    _check_kernels(policy)
    tried = 0
    for cell in _cells(policy, horizon, seed):
        try:
            cell.check_policy()
        except InvalidInput:
            continue
        tried += 1
        plain = check_engines(cell, policy)
        if cell.jumps:
            _check_rounds(cell, plain)
        live = not (policy.kernels().queues or policy.kernels().mature)
        if live and cell.problem.actions.same_every_round:
            _check_agent(cell, plain)
    assert tried > 0, f"{policy} accepted none of the settings it was offered"


def _cells(policy: Policy, horizon: int, seed: int) -> Iterator[Cell]:
    checkpoints = np.unique(np.array([1, horizon // 3, horizon]))
    base = ArmedBandit(_MEANS, noise=(0.1, 0.2, 0.4, 0.0))
    problems = [
        base,
        ArmedBandit(_MEANS, reward="bernoulli"),
        replace(base, reward="uniform"),
        replace(base, reward="rademacher"),
        replace(base, actions=FixedArms([0, 2, 3])),
        ArmedBandit(_MEANS, reward="bernoulli", actions=RandomArms([0.5, 0.1, 0.9, 0.4])),
        replace(base, actions=SequenceOfArms([[0, 1], [2], [1, 2, 3]])),
        ArmedBandit([0.3]),
    ]
    for problem in problems:
        for censorship in (Uniform(1.0), PerArm([0.9, 0.3, 1.0, 0.05][: problem.arms])):
            yield arm_cell(
                problem, censorship, policy, horizon, seed, checkpoints, np.array([0.5, 1.0, 1.3])
            )


def _check_kernels(policy: Policy) -> None:
    kernels = policy.kernels()
    problem = ArmedBandit(_MEANS, reward="bernoulli")
    setting = replace(problem.setting(50), delays=(Fixed(0),) * problem.arms, window=0)
    table = np.ascontiguousarray(policy.table(setting), dtype=float)
    assert table.ndim == 2, "table() must return one row per arm"
    assert len(table) == problem.arms, "table() must return one row per arm"
    kept = table.copy()
    state = np.zeros((problem.arms, kernels.statistics))
    for step in range(1, 6):
        for arm in range(problem.arms):
            _check_choice(type(policy).__name__, kernels, state, arm, step, table)
            before = state.copy()
            kernels.learn(state, arm, 1.0, table)
            assert state[arm, COUNT] == step, "learn must add one to state[arm, 0]"
            others = np.arange(problem.arms) != arm
            assert np.array_equal(state[others], before[others]), "learn must leave other arms be"
    assert np.array_equal(table, kept), "kernels must not write to the table"


def _check_choice(
    name: str, kernels: Kernels, state: State, arm: int, step: int, table: Vector
) -> None:
    stream = (1, 2, 3, 4)
    if kernels.index is not None:
        given = (state, arm, step, stream, table)
        value = check_pure(f"{name}.index", kernels.index, *given)
        assert not math.isnan(value), f"index of arm {arm} is NaN at count {step - 1}"
    if kernels.choose is not None:
        playable = np.ones(len(state), np.uint8)
        playable[arm] = 0
        chosen = kernels.choose(state, state[:, COUNT].copy(), playable, step, stream, table)
        assert 0 <= chosen < len(state), f"choose returned {chosen}, which is no arm"
        assert playable[chosen] == 1, f"choose returned arm {chosen}, which is not playable"


def _check_rounds(cell: Cell, expected: Track) -> None:
    loop = fitted(cell.loop, cell.policy.kernels(), **cell.open_names | {"JUMPS": False})
    track = blank_track(cell, REPLICATIONS)
    loop(0, REPLICATIONS, cell.world(), cell.workspace(), track)
    for name, array in track.arrays().items():
        assert np.allclose(array, expected.arrays()[name], rtol=1e-9, atol=1e-9), (
            f"{name}: jumping and playing every round differ for {cell.policy}"
        )


def _check_agent(cell: Cell, expected: Track) -> None:
    game = cell.world()
    constants, law, key = game.arm_constants, game.law, game.key
    setting = cell.problem.setting(cell.horizon)
    agent = Agent(
        cell.policy,
        setting.arms,
        noise=setting.noise.tolist(),
        bound=setting.bound,
        horizon=setting.horizon,
        reward=setting.reward,
    )
    agent._key = key
    stream = (*key, 0, ENVIRONMENT)
    upcoming = [cell.feedback(constants, arm, 0, law, stream) for arm in range(setting.arms)]
    seen, pulls = [0] * setting.arms, [0] * setting.arms
    available = np.flatnonzero(game.available[0]).tolist()
    for _ in range(cell.horizon):
        decision = agent.choose(available if len(available) < setting.arms else None)
        arm = decision.arm
        pulls[arm] += 1
        reward, wait = upcoming[arm]
        if wait > 1.0:
            upcoming[arm] = (reward, wait - 1.0)
            agent.miss(decision)
        else:
            seen[arm] += 1
            upcoming[arm] = cell.feedback(constants, arm, seen[arm], law, stream)
            agent.observe(decision, reward)
    assert pulls == expected.pulls[0, -1].tolist(), f"agent and engine differ for {cell.policy}"
