"""The environment is one to Gymnasium, and hides what it should."""

import sys
from importlib import import_module

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from halfseen import ArmedBandit, InvalidInput, PerArm, Uniform
from halfseen.integrations.gymnasium import CensoredBandit


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reward", ["gaussian", "bernoulli"])
def test_gymnasium_checks(reward):
    check_env(CensoredBandit(ArmedBandit([0.6, 0.5], reward=reward), Uniform(0.5), 50))


def test_rewards_and_what_is_seen():
    environment = CensoredBandit(ArmedBandit([2.0, 1.0], noise=0.1), PerArm([0.2, 0.9]), 4000)
    environment.reset(seed=3)
    steps = [environment.step(i % 2) for i in range(4000)]
    assert [step[3] for step in steps[-2:]] == [False, True]
    for arm, (observe, mean) in enumerate([(0.2, 2.0), (0.9, 1.0)]):
        seen = [step[1] for step in steps[arm::2] if step[4]["observed"]]
        assert len(seen) / 2000 == pytest.approx(observe, abs=0.04)
        assert np.mean(seen) == pytest.approx(mean, abs=0.03)
        assert {step[1] for step in steps[arm::2] if not step[4]["observed"]} == {0.0}
        assert {step[4]["regret"] for step in steps[arm::2]} == {float(arm)}


def test_bad_input():
    with pytest.raises(InvalidInput, match="horizon"):
        CensoredBandit(ArmedBandit([1, 2]), Uniform(0.5), 0)
    with pytest.raises(InvalidInput, match="reward"):
        CensoredBandit(ArmedBandit([1, 2], reward="uniform"), Uniform(0.5))


@pytest.mark.parametrize("extra", ["gymnasium", "sklearn"])
def test_without_its_package_an_integration_says_what_to_install(monkeypatch, extra):
    module = f"halfseen.integrations.{extra}"
    monkeypatch.delitem(sys.modules, module, raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == extra]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, extra, None)
    said = rf"^{module} needs a package .* pip install 'halfseen\[{extra}\]'\.$"
    with pytest.raises(ImportError, match=said):
        import_module(module)
