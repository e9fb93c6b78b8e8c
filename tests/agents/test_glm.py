"""Generalized linear policies in live use."""

import json

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    GeneralizedLinearBandit,
    GLMAgent,
    InvalidInput,
    LinearAgent,
    LinUCB,
    RandomActions,
    StorageError,
    Uniform,
)
from halfseen.draws import AVAILABILITY, ENVIRONMENT, unit, words
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.glm_fit import fit
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """An agent that lived through the rounds of a simulation, with its file and that simulation."""
    problem = GeneralizedLinearBandit([0.7, -0.6], link="logistic", actions=RandomActions(4, 2))
    cell = GLMCell(problem, Uniform(0.6), GLMUCB(), 150, 2, np.array([150]), np.array([1.0]))
    track = cell.blank(1, cell.groups, 2)
    player(cell, fitted)(0, 1, track)
    key = cell.key
    agent = GLMAgent(GLMUCB(), 2, bound=problem.norm, horizon=150)
    regret, rounds = 0.0, ([], [])
    for clock in range(1, 151):
        offer = problem.actions.sample((*key, 0, AVAILABILITY), clock)
        decision = agent.choose(offer)
        means = problem.means(offer)
        regret += means.max() - means[decision.action]
        world = (*key, 0, ENVIRONMENT)
        _, _, high, low = words(world, clock, 0)
        if unit(high, low) >= 0.6:
            agent.miss(decision)
            continue
        draw = problem.curve.kernels.reward
        reward = draw(means[decision.action], 0.5, world, clock, 0)
        agent.observe(decision, reward)
        rounds[0].append(offer[decision.action])
        rounds[1].append(reward)
    path = tmp_path_factory.mktemp("agent") / "agent.json"
    agent.save(path)
    return agent, path, track, regret, rounds


def test_live_and_simulated_decisions_are_the_same(used):
    agent, _, track, regret, rounds = used
    assert agent.observations == track.observations[0, -1, 0] == len(rounds[1])
    assert regret == pytest.approx(track.regret[0, -1], rel=1e-12)
    assert not agent.exploring


def test_the_estimate_is_that_of_some_recent_round(used):
    agent, _, _, _, (actions, rewards) = used
    limit = agent.setting.bound
    recent = [
        fit(actions[:n], rewards[:n], limit=limit) for n in range(len(rewards) - 15, len(rewards))
    ]
    assert min(np.abs(agent.estimate - theta).max() for theta in recent) < 1e-6


def test_a_saved_agent_goes_on_bit_for_bit(used):
    _, path, _, _, _ = used
    one, two = GLMAgent.load(path), GLMAgent.load(path)
    rng = np.random.default_rng(1)
    for clock in range(40):
        offer = rng.normal(size=(3, 2)) / 4
        decisions = one.choose(offer), two.choose(offer)
        assert decisions[0] == decisions[1]
        for agent, decision in zip((one, two), decisions, strict=True):
            agent.observe(decision, float(clock % 2))
    assert one.estimate.tolist() == two.estimate.tolist()


def test_a_file_that_does_not_fit_is_refused(used, tmp_path):
    from halfseen.studies.storage import sealed

    _, path, _, _, _ = used
    content = json.loads(path.read_text())
    content["paid"] = content["paid"][:-1]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(content))
    with pytest.raises(StorageError, match="altered"):
        GLMAgent.load(other)
    content.pop("seal", None)
    other.write_text(json.dumps(sealed(content)))
    with pytest.raises(StorageError, match="altered"):
        GLMAgent.load(other)
    with pytest.raises(StorageError):
        LinearAgent.load(path)


def test_policies_go_with_their_agent():
    with pytest.raises(InvalidInput, match=r"GLMAgent\.policy"):
        GLMAgent(LinUCB(), 2)
    with pytest.raises(InvalidInput, match="or GLMAgent"):
        LinearAgent(GLMUCB(), 2)
    with pytest.raises(InvalidInput, match=r"GLMAgent\.link"):
        GLMAgent(GLMUCB(), 2, link="cubic")
    with pytest.raises(InvalidInput, match=r"GLMAgent\.dimension"):
        GLMAgent(GLMUCB(), 0)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("kept", (12, 0), -1e308),
        ("kept", (0, 1), 1.5),
        ("paid", (3,), 1e308),
        ("numbers", (5,), 1e308),  # where the likelihood was maximised last
        ("numbers", (6,), 2.0),  # whether it explores
        ("numbers", (7,), 1e308),  # the limit
        ("matrices", (7, 0, 0), 1e308),  # the prior
        ("matrices", (5, 1, 1), 1e308),  # the curvature
        ("vectors", (6, 0), -1e308),  # the gradient
    ],
)
def test_a_state_out_of_range_is_refused(used, tmp_path, name, place, value):
    from halfseen.studies.storage import sealed

    content = json.loads(used[1].read_text())
    part = content[name]
    for k in place[:-1]:
        part = part[k]
    part[place[-1]] = value
    other = tmp_path / "other.json"
    other.write_text(json.dumps(sealed(content)))
    with pytest.raises(StorageError, match="altered"):
        GLMAgent.load(other)
