"""Checks that every policy for generalized linear bandits must pass, including your own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from halfseen.agents.glm import GLMAgent
from halfseen.censorship import Uniform
from halfseen.engine.cells.glm import GLMCell
from halfseen.policies import GLMPolicy
from halfseen.problems import GeneralizedLinearBandit, Link, SequenceOfActions
from halfseen.testing.contract import check_kind, compiling, promised
from halfseen.testing.linear import (
    check_kernels,
    check_linear_cell,
    looks,
    play_live,
    playgrounds,
)

_THETA = (0.9, -0.5, 0.7)


@promised
def check_glm_policy(
    policy: GLMPolicy, *, link: str | Link = "logistic", horizon: int = 60, seed: int = 5
) -> None:
    """Raise AssertionError unless a policy fulfils the contract of `halfseen.policies.GLMPolicy`.

    It makes the same checks as `check_linear_policy`, on the same grid of action sets and
    censorships, with rewards of the given link. The first call compiles the policy for every kind
    of action set, which takes seconds.
    """
    check_kind(policy, GLMPolicy)
    cells = list(glm_cells(policy, link, horizon, seed))
    cells[0].check_policy()
    check_kernels(cells[0])
    for cell in cells:
        check_linear_cell(cell)
    check_live_agent(policy, link, horizon, seed)


def check_live_agent(policy: GLMPolicy, link: str | Link, horizon: int, seed: int) -> None:
    """Raise AssertionError unless the live agent makes the same choices as the engine."""
    rows = np.random.default_rng(seed).normal(size=(horizon, 4, len(_THETA)))
    rows /= np.linalg.norm(rows, axis=2)[:, :, None]  # agents suppose that lengths go up to 1
    problem = GeneralizedLinearBandit(_THETA, link=link, actions=SequenceOfActions(rows))
    cell = GLMCell(problem, Uniform(0.6), policy, horizon, seed, *looks(horizon))
    told = {"noise": problem.noise, "bound": problem.norm, "horizon": horizon}
    with compiling(policy):
        agent = GLMAgent(policy, len(_THETA), link=link, **told)  # type: ignore[arg-type]
    play_live(agent, cell, problem.means, problem.curve.kernels.reward)


def glm_cells(policy: GLMPolicy, link: str | Link, horizon: int, seed: int) -> Iterator[GLMCell]:
    """Yield the cells a policy is tested on."""
    for actions, censorship in playgrounds(horizon):
        problem = GeneralizedLinearBandit(_THETA, link=link, actions=actions)
        yield GLMCell(problem, censorship, policy, horizon, seed, *looks(horizon))
