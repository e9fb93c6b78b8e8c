"""Every registered generalized linear policy keeps the contract on every engine."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import GLMUCB, Link, RidgeGLMUCB
from halfseen.draws import uniform
from halfseen.policies import GLM_POLICIES
from halfseen.testing import check_glm_policy
from halfseen.testing.glm import glm_cells
from halfseen.testing.linear import check_linear_cell


def fraction(z):
    return z / (1.0 + abs(z))


def fraction_slope(z):
    return 1.0 / ((1.0 + abs(z)) * (1.0 + abs(z)))


def box(mean, noise, stream, count, arm):
    return mean + noise * math.sqrt(3.0) * (2.0 * uniform(stream, count, arm) - 1.0)


OWN = Link("fraction, for tests", fraction, fraction_slope, reward=box)


@pytest.mark.slow
def test_engines_agree_on_fixed_and_changing_sets():
    cells = list(glm_cells(GLMUCB(), "logistic", 60, 5))
    for cell in (cells[2], cells[7]):
        check_linear_cell(cell)


PAIRS = [("glm-ucb", link) for link in ("probit", "poisson", "identity", OWN)]
PAIRS += [(kind, "logistic") for kind in sorted(GLM_POLICIES)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "link"), PAIRS)
def test_policy_keeps_the_contract(kind, link):
    check_glm_policy(GLM_POLICIES[kind](), link=link, horizon=120)


def impatient(mean, square, spread, shift, action, clock, stream, table):
    return mean + table[0] * square + 0.1 * clock * (action == 1)


@dataclass(frozen=True)
class Impatient(RidgeGLMUCB):
    kind: ClassVar[str] = "impatient"
    index = staticmethod(impatient)


@pytest.mark.slow
def test_policy_that_hides_its_use_of_the_clock_is_caught():
    with pytest.raises(AssertionError, match=r"jumping .* and playing every round differ"):
        check_linear_cell(next(glm_cells(Impatient(), "logistic", 60, 5)))


def test_a_link_of_your_own_is_played():
    cell = next(glm_cells(GLMUCB(), OWN, 60, 5))
    assert cell.problem.curve is OWN
    assert np.isfinite(cell.world().limit)
    from halfseen.engine.backends import reference

    track = cell.blank(1, cell.groups, 3)
    reference.run(cell, track, report=lambda n: None, workers=1)
    assert track.regret[0, -1] > 0
