"""Checks that every policy for generalized linear bandits must pass, including your own."""

from __future__ import annotations

from collections.abc import Iterator

from halfseen.engine.cells.glm import GLMCell
from halfseen.policies import GLMPolicy
from halfseen.problems import GeneralizedLinearBandit, Link
from halfseen.testing.contract import check_kind, promised
from halfseen.testing.linear import check_kernels, check_linear_cell, looks, playgrounds

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


def glm_cells(policy: GLMPolicy, link: str | Link, horizon: int, seed: int) -> Iterator[GLMCell]:
    """Yield the cells a policy is tested on."""
    for actions, censorship in playgrounds(horizon):
        problem = GeneralizedLinearBandit(_THETA, link=link, actions=actions)
        yield GLMCell(problem, censorship, policy, horizon, seed, *looks(horizon))
