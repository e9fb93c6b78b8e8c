"""The live agent for linear policies."""

import json
import math
import sys
import threading

import numpy as np
import pytest

from halfseen import (
    VIDS,
    DecisionError,
    InvalidInput,
    LinearAgent,
    LinearBandit,
    LinUCB,
    MultiThreshold,
    SequenceOfActions,
    StorageError,
    Study,
    Uniform,
    simulate,
)
from halfseen.draws import ENVIRONMENT, normal_from, unit, words
from halfseen.engine.cells.linear import LinearCell
from halfseen.policies import LINEAR_POLICIES
from halfseen.studies.storage import sealed

THETA = np.array([0.5, 0.3, -0.4])
LEARNERS = sorted(
    kind
    for kind, policy in LINEAR_POLICIES.items()
    if not policy.knows_observe and not policy.counts_pulls
)


def offers(rounds, seed=0):
    rows = np.random.default_rng(seed).normal(size=(rounds, 5, 3))
    return rows / np.linalg.norm(rows, axis=2, keepdims=True)


def play(agent, rounds, seed=1):
    """Play some rounds with late, missing and out-of-order feedback; return what was chosen."""
    generator = np.random.default_rng(seed)
    chosen, late = [], []
    for rows in offers(rounds, seed):
        decision = agent.choose(rows)
        chosen.append(decision.action)
        reward = float(rows[decision.action] @ THETA + 0.1 * generator.normal())
        kind = generator.integers(4)
        if kind == 0:
            agent.miss(decision)
        elif kind == 1:
            late.append((decision, reward))
        else:
            agent.observe(decision, reward)
        if len(late) > 3:
            agent.observe(*late.pop(int(generator.integers(4))))
    return chosen


def frozen(agent):
    return [array.copy() for array in agent._state], agent.decisions, sorted(agent.pending)


def same(one, two):
    return all(np.array_equal(a, b) for a, b in zip(one[0], two[0], strict=True)) and (
        one[1:] == two[1:]
    )


each_learner = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] if kind == "vids" else [])  # long to compile
        for kind in LEARNERS
    ],
)


@each_learner
@pytest.mark.parametrize("observe", [1.0, 0.4])
def test_agent_makes_the_choices_of_the_engine(kind, observe):
    policy, rows = LINEAR_POLICIES[kind](), offers(150)
    if kind == "vids":
        policy = VIDS(observe="ignored")  # an agent knows nothing of regions
    problem = LinearBandit(THETA, 0.2, SequenceOfActions(rows))
    censorship = MultiThreshold([0.1], [observe, observe / 2], [1.0, 0.0, 0.0])
    study = Study(
        problem,
        censorship,
        policy,
        horizon=150,
        replications=1,
        alphas=[1.0],
        baseline=False,
        checkpoints=1,
    )
    tracks = simulate(study, engine="reference").tracks
    cell = next(study.cells())[1]
    assert isinstance(cell, LinearCell)
    key = cell.key
    agent = LinearAgent(policy, 3, noise=0.2, bound=problem.norm, horizon=150)
    agent._key = key
    world, regret, seen = (*key, 0, ENVIRONMENT), 0.0, 0
    for clock, menu in enumerate(rows, start=1):
        decision = agent.choose(menu)
        x = menu[decision.action]
        regret += (menu @ THETA).max() - x @ THETA
        high, low, coin_high, coin_low = words(world, clock, 0)
        if unit(coin_high, coin_low) < censorship.probabilities(x[None])[0]:
            agent.observe(decision, x @ THETA + 0.2 * normal_from(high, low, world, clock, 0))
            seen += 1
        else:
            agent.miss(decision)
    assert tracks["observations"].sum() == seen
    np.testing.assert_allclose(tracks["regret"].squeeze(), regret, rtol=1e-9)


def test_estimate_is_ridge_regression_on_what_was_observed():
    agent, rows = LinearAgent(LinUCB(0.5), 3), offers(40)
    design, target = 0.5 * np.eye(3), np.zeros(3)
    for clock, menu in enumerate(rows):
        decision = agent.choose(menu)
        if clock % 3:
            x, reward = menu[decision.action], math.sin(clock)
            agent.observe(decision, reward)
            design += np.outer(x, x)
            target += reward * x
    np.testing.assert_allclose(agent.estimate, np.linalg.solve(design, target), rtol=1e-10)
    assert agent.observations == 26
    assert len(agent.pending) == 14
    assert agent.expire(10) == 10
    assert len(agent.pending) == 4


@each_learner
def test_saved_agents_continue_bit_for_bit(kind, tmp_path):
    agent = LinearAgent(LINEAR_POLICIES[kind](), 3, noise=0.2, seed=9)
    play(agent, 70)
    agent.save(tmp_path / "agent.json")
    again = LinearAgent.load(tmp_path / "agent.json")
    assert same(frozen(agent), frozen(again))
    assert play(agent, 50, seed=2) == play(again, 50, seed=2)
    assert same(frozen(agent), frozen(again))


def test_settling_twice_or_out_of_nowhere_changes_nothing():
    agent, rows = LinearAgent(LinUCB(), 3), offers(2)
    first, second = agent.choose(rows[0]), agent.choose(rows[1])
    agent.observe(second, 0.3)
    before = frozen(agent)
    for decision, words_said in (
        (second, "observed already"),
        (2, "observed already"),
        (3, "never made"),
        (0, "never made"),
        ("1", "never made"),
        ((1, first.action + 1), "another agent"),
    ):
        for settle in (lambda d: agent.observe(d, 1.0), agent.miss):
            with pytest.raises(DecisionError, match=words_said):
                settle(decision)
    assert same(frozen(agent), before)
    agent.observe(first, None)
    assert agent.observations == 1


@pytest.mark.parametrize(
    ("actions", "words_said"),
    [
        ([], "shape"),
        ([[1.0, 0.0]], "shape"),
        (np.zeros((0, 3)), "not empty"),
        ([[1.0, 0.0, math.nan]], r"actions\[0\]"),
        ([[1.0, 0.0, 0.0], [math.inf, 0.0, 0.0]], r"actions\[1\]"),
        ([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], r"actions\[1\].*length"),
        ([["a", "b", "c"]], "numbers"),
        ([[1.0, 0.0, 0.0], [1.0]], "numbers"),
        (None, "numbers"),
    ],
)
def test_bad_actions_are_refused_and_the_state_untouched(actions, words_said):
    agent = LinearAgent(LinUCB(), 3)
    play(agent, 5)
    before = frozen(agent)
    with pytest.raises(InvalidInput, match=words_said):
        agent.choose(actions)
    assert same(frozen(agent), before)


@pytest.mark.parametrize("reward", [math.inf, "1", [1.0], 1e300])
def test_bad_rewards_are_refused_and_the_state_untouched(reward):
    agent = LinearAgent(LinUCB(), 3)
    decision = agent.choose(offers(1)[0])
    before = frozen(agent)
    with pytest.raises(InvalidInput, match="reward"):
        agent.observe(decision, reward)
    assert same(frozen(agent), before)


def test_whole_numbers_and_other_layouts_are_fine():
    agent = LinearAgent(LinUCB(), 2)
    assert agent.choose([[1, 0], [0, 1]]).action == 0
    assert agent.choose(np.asfortranarray([[0.5, 0.0], [0.0, 1.0]])).action == 1


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": [0.0]},
        {"matrices": [[[1.0]]]},
        {"ledger": {}},
        {"policy": {"kind": "ucb"}},
        {"policy": {"kind": "nothing"}},
        {"setting": {"dimension": 2}},
        {"setting": {"dimension": "3"}},
        {"vectors": "no"},
        {"format": 99},
    ],
)
def test_altered_files_are_refused(change, tmp_path):
    agent, path = LinearAgent(LinUCB(), 3), tmp_path / "agent.json"
    play(agent, 20)
    agent.save(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | change))
    with pytest.raises(StorageError):
        LinearAgent.load(path)
    path.write_text(json.dumps(sealed(content | change)))
    with pytest.raises(StorageError):
        LinearAgent.load(path)
    path.write_text(json.dumps(content)[:-40])
    with pytest.raises(StorageError):
        LinearAgent.load(path)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"dimension": 0}, "dimension"),
        ({"noise": -1.0}, "noise"),
        ({"bound": math.nan}, "bound"),
        ({"horizon": 0}, "horizon"),
        ({"policy": Uniform(0.5)}, "policy"),
    ],
)
def test_bad_parameters_are_named(arguments, field):
    with pytest.raises(InvalidInput, match=f"LinearAgent.{field}"):
        LinearAgent(**({"policy": LinUCB(), "dimension": 3} | arguments))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("matrices", (0, 1, 1)),  # the inverse
        ("matrices", (1, 0, 0)),  # the design
        ("matrices", (3, 0, 0)),  # scratch
        ("vectors", (0, 0)),  # the estimate
        ("vectors", (1, 2)),  # the sums of rewards
        ("numbers", (0,)),  # the logarithm of the determinant
        ("numbers", (2,)),  # when to compute the state afresh
        ("ledger", ("open", 0, 3, 0)),  # an action that waits
        ("ledger", ("decisions",)),
        ("ledger", ("observed",)),
    ],
)
@pytest.mark.parametrize("value", [1e308, -1e308])
def test_a_state_out_of_range_is_refused(name, place, value, tmp_path):
    agent, path = LinearAgent(LinUCB(), 3), tmp_path / "agent.json"
    play(agent, 20)
    agent.choose(np.eye(3))
    agent.save(path)
    assert LinearAgent.load(path).decisions == agent.decisions
    content = json.loads(path.read_text())
    part = content[name]
    for k in place[:-1]:
        part = part[k]
    part[place[-1]] = value
    path.write_text(json.dumps(sealed(content)))
    with pytest.raises(StorageError, match="altered"):
        LinearAgent.load(path)


@pytest.mark.slow
def test_large_rewards_stay_within_the_range_of_a_saved_state(tmp_path):
    agent, path = LinearAgent(LinUCB(regularization=1e-3), 2), tmp_path / "agent.json"
    for k in range(200):
        agent.observe(agent.choose(np.eye(2)), 1e100 if k % 3 else -1e100)
        agent.save(path)
        if k % 20 == 0:
            assert LinearAgent.load(path).estimate.tolist() == agent.estimate.tolist()


def test_threads_that_share_a_linear_agent_lose_no_decision(tmp_path):
    agent, each = LinearAgent(LinUCB(), 2), 500
    numbers = [[] for _ in range(4)]

    def use(own):
        for _ in range(each):
            decision = agent.choose(np.eye(2))
            own.append(decision.id)
            agent.observe(decision, 0.5)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=use, args=(own,)) for own in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(n for own in numbers for n in own) == list(range(1, 4 * each + 1))
    assert agent.observations == 4 * each
    agent.save(tmp_path / "agent.json")
    assert LinearAgent.load(tmp_path / "agent.json").observations == 4 * each
