"""Policies for generalized linear bandits: their constants and what they refuse."""

import math

import numpy as np
import pytest

from halfseen import GLMUCB, GLMThompson, ImputeZeroGLMUCB, InvalidInput, LinUCB, RidgeGLMUCB
from halfseen.policies.glm.base import GLMSetting
from halfseen.policies.linear.base import LinearSetting
from halfseen.problems.links import LINKS


def setting(link="logistic", bound=1.0, noise=0.5, reach=0.8):
    return GLMSetting(3, noise, bound, 1000, LINKS[link], reach)


def test_width_of_glmucb():
    policy = GLMUCB(delta=0.01)
    table = policy.table(setting())
    kappa = LINKS["logistic"].slope(0.8)
    spread = 3 * math.log(1 + 2 * 50 / 3)
    right = math.sqrt(3) * 0.5 / kappa * math.sqrt(spread / 2 + math.log(100))
    assert policy.radius(spread, table) == pytest.approx(right)
    index = policy.index(0.3, 0.25, spread, 0.0, 0, 1, (1, 2, 3, 4), table)
    assert index == pytest.approx(0.3 + right / 2)
    printed = GLMUCB(delta=0.01, width="paper").table(setting())
    assert table[0] / printed[0] == pytest.approx(math.sqrt(3))


def test_identity_gives_linucb_its_table():
    told = setting("identity", bound=2.0, noise=0.3)
    plain = LinearSetting(3, 0.3, 2.0, 1000)
    np.testing.assert_allclose(RidgeGLMUCB(0.7).table(told), LinUCB(0.7).table(plain), rtol=1e-14)
    assert RidgeGLMUCB(0.7).penalty(told) == 0.7


def test_constants_can_be_given():
    policy = GLMUCB(bound=2.0, noise=0.4, kappa=0.1, delta=0.5, width="paper")
    assert policy.limit(setting()) == 1.6
    assert policy.table(setting())[0] == pytest.approx(4.0 / math.sqrt(2))
    probit = GLMUCB(delta=0.5, width="paper")
    least, weight = LINKS["probit"].bends(0.8)
    ratio = 0.5 * weight / least
    assert probit.table(setting("probit"))[0] == pytest.approx(ratio / math.sqrt(2))
    assert GLMThompson(inflation=2.0).table(setting()).tolist() == [2.0]
    assert ImputeZeroGLMUCB().imputes
    assert ImputeZeroGLMUCB().penalty(setting()) == 0.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: GLMUCB(delta=0.0), "GLMUCB.delta"),
        (lambda: GLMUCB(kappa=0.0), "GLMUCB.kappa"),
        (lambda: GLMUCB(width="wide"), "GLMUCB.width"),
        (lambda: RidgeGLMUCB(0.0), "RidgeGLMUCB.regularization"),
        (lambda: GLMThompson(inflation=-1.0), "GLMThompson.inflation"),
        (lambda: GLMUCB().table(setting(bound=800.0)), "some slope"),
        (lambda: GLMUCB().table(LinearSetting(3, 1.0, 1.0, 10)), "generalized linear"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(InvalidInput, match=said):
        make()
