"""Checks that every policy must pass, including your own."""

from __future__ import annotations

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
from halfseen.errors import InvalidInput, shorten
from halfseen.policies import Policy
from halfseen.policies.arms.base import COUNT, Kernels, State
from halfseen.problems import ArmedBandit, Fixed, FixedArms, RandomArms, SequenceOfArms
from halfseen.testing.choice_chances import check_arm_chances
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
    promised,
)
from halfseen.testing.watched_kernels import check_engines, watched_fill

_MEANS = (0.5, 0.7, 0.2, 0.6)
_SIGNATURES = {
    "index": "state, arm, clock, stream, table",
    "choose": "state, plays, playable, clock, stream, table",
    "learn": "state, arm, reward, table",
    "width": "state, arm, clock, table",
    "fill": "state, arm, table",
    "pull": "state, arm, table",
    "mature": "state, recent, clock, table",
}


@promised
def check_policy(policy: Policy, *, horizon: int = 120, seed: int = 5) -> None:
    """Raise AssertionError unless a policy fulfils the contract of `halfseen.policies.Policy`.

    Over a grid of problems, censorships and action sets it checks that

    - compiled code and plain Python give the same trajectory, to the last bit;
    - the results do not depend on the number of workers or the chunk size;
    - jumping from observation to observation gives the same trajectory as playing every round;
    - the live agent, if it supports the policy, makes the same choices as the simulation;
    - an index is a number, the same for the same arguments, `choose` returns an arm that is
      playable, learning adds one to the count and does not change other arms, and no kernel writes
      to the table;
    - in every round of every test study, nothing is drawn unless choices may be random, and where
      `waits` is set an index does not depend on the clock;
    - arms are chosen as often as `probabilities` says, if it says so, and the choice of a policy
      with `steady` set changes only on an observation.

    Examples
    --------
    >>> from halfseen import UCB1
    >>> check_policy(UCB1(), horizon=40)
    """
    check_kind(policy, Policy)
    for kernel, arguments in _SIGNATURES.items():
        check_signature(policy, kernel, arguments)
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
        live = not policy.only_in_studies
        if live and cell.problem.actions.same_every_round:
            _check_agent(cell, plain)
    assert tried > 0, f"{policy} accepted none of the settings it was tested on"


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
    name, kernels = type(policy).__name__, policy.kernels()
    problem = ArmedBandit(_MEANS, reward="bernoulli")
    setting = replace(problem.setting(50), delays=(Fixed(0),) * problem.arms, window=0)
    table = check_constants(policy, setting)
    assert table.ndim == 2 and len(table) == problem.arms, (  # noqa: PT018
        f"{name}.table must return one row of constants per arm: an array of shape"
        f" ({problem.arms}, n), not {table.shape}"
    )
    assert isinstance(kernels.statistics, int) and kernels.statistics >= 1, (  # noqa: PT018
        f"{name}.statistics must be a whole number of at least 1: state[arm, 0] is the count"
    )
    check_attributes(policy, "waits", "queues")
    assert not (kernels.waits and kernels.counts_pulls), (
        f"{name}.waits must be False where it has a `pull` or `mature`: each round may change it"
    )
    kept = table.copy()
    state = np.zeros((problem.arms, kernels.statistics))
    for step in range(1, 6):
        for arm in range(problem.arms):
            _check_choice(name, kernels, state, arm, step, table)
            if kernels.index is not None and not policy.is_random:
                check_no_draws(f"{name}.index", kernels.index, state, arm, step, STREAM, table)
            before = state.copy()
            call_kernel(f"{name}.learn", kernels.learn, state, arm, 1.0, table)
            assert state[arm, COUNT] == step, (
                f"{name}.learn must add one to state[arm, 0], the number of observations: it went"
                f" from {before[arm, COUNT]:g} to {state[arm, COUNT]:g}"
            )
            others = np.arange(problem.arms) != arm
            assert np.array_equal(state[others], before[others]), (
                f"{name}.learn must change the row state[arm] only"
            )
    assert np.array_equal(table, kept, equal_nan=True), (
        f"The kernels of {name} must not write to the table"
    )


def _check_choice(
    name: str, kernels: Kernels, state: State, arm: int, step: int, table: Vector
) -> None:
    stream = STREAM
    if kernels.index is not None:
        given = (state, arm, step, stream, table)
        value = check_pure(f"{name}.index", kernels.index, *given)
        if kernels.waits:
            later = call_kernel(f"{name}.index", kernels.index, state, arm, 40, stream, table)
            assert value == later, (
                f"{name}.index must not depend on the clock where `waits` is True: it is {value:g}"
                f" in round {step} and {later:g} in round 40. Set waits = False"
            )
            others = 2.0 * state + 1.0
            others[arm] = state[arm]
            apart = call_kernel(f"{name}.index", kernels.index, others, *given[1:])
            assert value == apart, (
                f"{name}.index must depend on state[arm] alone where `waits` is True: it is"
                f" {value:g}, and {apart:g} after observations of other arms. Set waits = False"
            )
    if kernels.choose is not None:
        playable = np.ones(len(state), np.uint8)
        playable[arm] = 0
        given_to = [state, state[:, COUNT].copy(), playable, step, stream, table]
        chosen = call_kernel(f"{name}.choose", kernels.choose, *given_to)
        assert isinstance(chosen, int | np.integer), (
            f"{name}.choose must return the number of an arm, not {shorten(chosen)}"
        )
        assert 0 <= chosen < len(state), (
            f"{name}.choose returned {chosen}: arms are numbered from 0 to {len(state) - 1}"
        )
        assert playable[chosen] == 1, (
            f"{name}.choose returned arm {chosen}, which is not playable: playable[{chosen}] is 0"
        )
        if kernels.waits:
            given_to[3] = 40
            later = call_kernel(f"{name}.choose", kernels.choose, *given_to)
            assert chosen == later, (
                f"{name}.choose must not depend on the clock where `waits` is True: it is arm"
                f" {chosen} in round {step} and {later} in round 40. Set waits = False"
            )
    if kernels.width is not None and state[arm, COUNT] > 0.0:
        width = check_pure(f"{name}.width", kernels.width, state, arm, step, table)
        assert width >= 0.0, f"{name}.width must be at least 0, not {width:g}"
    if kernels.fill is not None:
        what = f"{name}.fill"
        filled = call_kernel(what, watched_fill(what, kernels.fill), state, arm, table)
        assert isinstance(filled, int | float | np.integer | np.floating), (
            f"{what} must return a number, or NaN to learn nothing, not {shorten(filled)}"
        )


def _check_rounds(cell: Cell, expected: Track) -> None:
    loop = fitted(cell.loop, cell.policy.kernels(), **cell.open_names | {"JUMPS": False})
    track = blank_track(cell, REPLICATIONS)
    loop(0, REPLICATIONS, cell.world(), cell.workspace(), track)
    for name, array in track.arrays().items():
        assert np.allclose(array, expected.arrays()[name], rtol=1e-9, atol=1e-9), (
            f"{name}: jumping from observation to observation and playing every round differ for"
            f" {cell.policy}. Set waits = False if its choice can change without an observation"
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
    agent._key, agent._table = key, cell.policy_table()  # of a study, which may offer fewer arms
    stream = (*key, 0, ENVIRONMENT)
    upcoming = [cell.feedback(constants, arm, 0, law, stream) for arm in range(setting.arms)]
    seen, pulls = [0] * setting.arms, [0] * setting.arms
    available = np.flatnonzero(game.available[0]).tolist()
    check_arm_chances(agent, available)
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
    assert pulls == expected.pulls[0, -1].tolist(), (
        f"The live agent and the engine choose differently for {cell.policy}"
    )
    check_arm_chances(agent, available)
