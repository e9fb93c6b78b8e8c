"""A saved agent belongs to the code it was saved with."""

import json
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    UCB,
    Agent,
    GLMAgent,
    LinearAgent,
    Link,
    LinUCB,
    Policy,
    StorageError,
)
from halfseen.policies import POLICIES
from halfseen.problems.links import LINKS
from halfseen.studies.storage import sealed

SIGN = 1.0
ROWS = [[1.0, 0.0], [0.0, 1.0]]


def index(state, arm, clock, stream, table):
    return SIGN * arm


@dataclass(frozen=True)
class Saved(Policy):
    """Play the arm with the largest number, or the smallest."""

    kind: ClassVar[str] = "saved-with-its-code"
    index = staticmethod(index)

    def table(self, setting):
        return np.zeros((setting.arms, 1))


@pytest.mark.slow
def test_an_agent_is_refused_under_other_code_of_its_policy(tmp_path, monkeypatch):
    monkeypatch.setitem(POLICIES, Saved.kind, Saved)
    path = tmp_path / "agent.json"
    Agent(Saved(), arms=2).save(path)
    assert Agent.load(path).choose().arm == 1
    monkeypatch.setitem(globals(), "SIGN", -1.0)
    with pytest.raises(StorageError, match=r"other code of its policy.*begin a new agent"):
        Agent.load(path)


def curve(z):
    return 0.5 + math.atan(z) / math.pi


def slope(z):
    return 1.0 / (math.pi * (1.0 + z * z))


def three(z):
    return 3.0 * z


def slope_of_three(z):
    return 3.0


def learned(agent, rounds=20):
    for step in range(rounds):
        agent.observe(agent.choose(ROWS), step % 2)
    return agent


@pytest.mark.slow
def test_an_agent_is_refused_under_another_link_of_the_same_name_or_none(tmp_path, monkeypatch):
    path = tmp_path / "agent.json"
    link = Link("bent-for-agents", curve, slope, reward="bernoulli")
    learned(GLMAgent(GLMUCB(), dimension=2, link=link)).save(path)
    assert GLMAgent.load(path).observations == 20
    other = Link("bent-for-agents", three, slope_of_three, reward="gaussian")
    GLMAgent(GLMUCB(), dimension=2, link=other)
    with pytest.raises(StorageError, match="other code of its link"):
        GLMAgent.load(path)
    monkeypatch.delitem(LINKS, "bent-for-agents")
    with pytest.raises(StorageError, match="Make the link first"):
        GLMAgent.load(path)


@pytest.mark.parametrize("kind", ["arms", "linear", "glm"])
def test_every_kind_of_agent_says_so_when_its_code_was_another(kind, tmp_path):
    path = tmp_path / "agent.json"
    agent = {
        "arms": lambda: Agent(UCB(), arms=2),
        "linear": lambda: LinearAgent(LinUCB(), dimension=2),
        "glm": lambda: GLMAgent(GLMUCB(), dimension=2),
    }[kind]()
    agent.save(path)
    content = json.loads(path.read_text())
    content["code"]["policy"] = "another"
    path.write_text(json.dumps(sealed(content)))
    with pytest.raises(StorageError, match="other code of its policy"):
        type(agent).load(path)


@pytest.mark.parametrize(
    "agent", [LinearAgent(LinUCB(), 2), GLMAgent(GLMUCB(), 2)], ids=["linear", "glm"]
)
@pytest.mark.parametrize("matrix", [0, 1, 2])
def test_matrices_that_no_observations_give_are_refused(agent, matrix, tmp_path):
    path = tmp_path / "agent.json"
    learned(agent).save(path)
    assert type(agent).load(path).observations == agent.observations
    for value in (1e15, 0.9):
        content = json.loads(path.read_text())
        content["matrices"][matrix][0][1] = content["matrices"][matrix][1][0] = value
        (tmp_path / "altered.json").write_text(json.dumps(sealed(content)))
        with pytest.raises(StorageError, match="altered"):
            type(agent).load(tmp_path / "altered.json")
