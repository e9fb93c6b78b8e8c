"""Every row of the linear errata: what is printed, what is right, and that they differ."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from halfseen import LinearAgent, LinUCB
from halfseen.theory import confidence_factor, continuous_potential_bracket, elliptical_potential

ERRATA = Path(__file__).parents[3] / "docs" / "errata.md"


def test_bonus_is_measured_in_the_inverse_design():
    """After 50 rewards of 0 along the first axis the second is the uncertain one."""
    agent = LinearAgent(LinUCB(), dimension=2)
    design = np.eye(2)
    for _ in range(50):
        agent.observe(agent.choose([[1.0, 0.0]]), 0.0)
        design[0, 0] += 1.0
    printed = int(np.argmax(np.diag(design)))
    right = int(np.argmax(np.diag(np.linalg.inv(design))))
    assert (printed, right) == (0, 1)
    assert agent.choose([[1.0, 0.0], [0.0, 1.0]]).action == right


def test_radius_scales_with_the_unit_of_the_rewards():
    """Rewards in cents instead of euros make the ellipsoid 100 times as wide."""
    d, horizon, lam, delta = 3, 1000, 1.0, 0.01
    right = [confidence_factor(d, horizon, lam, unit, unit, delta) for unit in (1.0, 100.0)]
    assert right[1] == pytest.approx(100.0 * right[0], rel=1e-12)

    def printed(unit):
        spread = unit**2 * d * math.log1p(horizon / (d * lam))
        return math.sqrt(spread + 2.0 * math.log(1.0 / delta)) + math.sqrt(lam) * unit

    assert printed(100.0) < 90.0 * printed(1.0)
    assert printed(100.0) < 0.9 * right[1]


def test_uncensored_potential_of_order_one_lost_the_dimension():
    """Playing the axes in turn exceeds the printed bound and stays below the right one."""
    d, horizon, lam = 3, 999, 1.0
    played = d * sum(1.0 / (lam + n) for n in range(horizon // d))
    printed = (1.0 + 1.0 / lam) * math.log1p(horizon / (lam * d))
    assert played > 1.5 * printed
    assert played <= elliptical_potential(d, horizon, 1.0, lam)


def test_bracket_has_its_own_probability_inside_each_logarithm():
    """As printed, p_min and p_max exchanged, it holds but is wider on both sides."""
    d, horizon, lam, low, high = 3, 1000, 1.0, 0.05, 0.9
    bracket = continuous_potential_bracket(d, low, horizon, lam, observe_max=high)
    upper = d / low * math.log1p(high * horizon / (d * lam))
    lower = d / high * math.log1p(low * horizon / (d * lam))
    assert lower < 0.8 * bracket.lower < bracket.upper < 0.8 * upper


def test_the_page_names_these_tests_and_no_others():
    section = ERRATA.read_text().split("\n## Linear bandits\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`(test_\w+)`", section))
    here = {name for name in globals() if name.startswith("test_")}
    assert named == here - {"test_the_page_names_these_tests_and_no_others"}
