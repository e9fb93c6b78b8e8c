"""Regret bounds of LinUCB: every constant by hand, and simulation below them."""

import math

import numpy as np
import pytest

from halfseen.errors import InvalidInput
from halfseen.theory.linear.bounds import (
    confidence_factor,
    linear_regret_bounds,
    papers_potential_control,
)
from halfseen.theory.linear.potential import censoring_factor
from halfseen.theory.proved_bounds import Bound, RegretBounds

WORLD = {
    "dimension": 4,
    "horizon": 10**6,
    "observe_min": 0.3,
    "largest_gap": 1.6,
    "bound": 0.9,
    "noise": 0.5,
    "regularization": 0.7,
}


def by_hand(potential):
    d, t, lam = 4, 10**6, 0.7
    delta = d / t**2
    beta = 0.5 * math.sqrt(d * math.log(1 + t / (d * lam)) + 2 * math.log(1 / delta))
    beta += math.sqrt(lam) * 0.9
    return 2 * beta * math.sqrt(t * potential) + delta * t * 1.6


def test_every_constant():
    bounds = linear_regret_bounds(**WORLD, potential=30.0)
    assert isinstance(bounds, RegretBounds)
    d, t, lam, p = 4, 10**6, 0.7, 0.3
    delta = d / t**2
    even = d / p * math.log(1 + p * t / (d * lam))
    kappa = 1 / (lam * math.log(1 + 1 / lam))
    ratio = math.log(d / delta) / lam
    printed = delta * t / lam + 8 * (lam + 1) * max(ratio, 1) / lam * even
    tilt = censoring_factor(d, lam, delta)
    sharper = delta * t / lam + tilt * (1 + 1 / lam) * even
    for name, value in {
        "potential": by_hand(kappa * even),
        "potential from d/p_min": by_hand(kappa * even),
        "measured potential": by_hand(30.0),
        "paper's theorem, sharper factor": by_hand(sharper),
        "paper's theorem": by_hand(printed),
        "trivial": t * 1.6,
    }.items():
        assert bounds[name].value == pytest.approx(value, rel=1e-12), name
        assert math.fsum(bounds[name].terms.values()) == bounds[name].value
        assert bounds[name].paper == (name == "paper's theorem")
        assert isinstance(bounds[name], Bound)
    values = [bound.value for bound in bounds]
    assert values[2] < values[0] == values[1] < values[3] < values[4]
    assert bounds.smallest.name == "measured potential"
    assert "LinUCB" not in str(bounds)
    assert bounds.to_dict()["smallest"] == "measured potential"


def test_without_a_measured_potential():
    bounds = linear_regret_bounds(**WORLD)
    assert not bounds["measured potential"].applies
    assert bounds["measured potential"].to_dict()["value"] is None
    assert bounds.smallest.name == "potential"
    assert "needs the expected potential" in str(bounds)


def test_short_horizons_fall_back_to_the_trivial_bound():
    bounds = linear_regret_bounds(dimension=5, horizon=2, observe_min=0.5, largest_gap=1.0)
    assert bounds.smallest.name == "trivial"
    assert bounds["potential"].terms["optimism fails"] == 2.0


def test_less_feedback_costs_more_and_delta_is_respected():
    values = [
        linear_regret_bounds(**(WORLD | {"observe_min": p}))["potential"].value
        for p in (0.05, 0.3, 1.0)
    ]
    assert values == sorted(values, reverse=True)
    bounds = linear_regret_bounds(**WORLD, delta=0.01)
    assert bounds["potential"].terms["optimism fails"] == pytest.approx(0.01 * 1e6 * 1.6)


def test_papers_control_with_another_factor():
    loose = papers_potential_control(3, 0.5, 1000, 1.0, delta=0.1)
    tight = papers_potential_control(3, 0.5, 1000, 1.0, delta=0.1, factor=1.0)
    even = 6.0 * math.log(1 + 500 / 3)
    assert tight == pytest.approx(100.0 + 2.0 * even)
    assert loose == pytest.approx(100.0 + 2.0 * 8.0 * math.log(30.0) * even)


def lin_ucb(rng, actions, theta, observe, horizon, noise, lam, norm, delta):
    """Play the textbook policy on a fixed set and return its regret and its potential."""
    d = len(theta)
    inverse, total, logdet = np.eye(d) / lam, np.zeros(d), 0.0
    means = actions @ theta
    lost = spent = 0.0
    for _ in range(horizon):
        estimate = inverse @ total
        widths = np.einsum("ki,ij,kj->k", actions, inverse, actions)
        beta = noise * math.sqrt(logdet + 2 * math.log(1 / delta)) + math.sqrt(lam) * norm
        assert beta <= confidence_factor(d, horizon, lam, noise, norm, delta)
        k = int(np.argmax(actions @ estimate + beta * np.sqrt(widths)))
        lost += means.max() - means[k]
        spent += widths[k]
        if rng.random() < observe[k]:
            v = inverse @ actions[k]
            inverse -= np.outer(v, v) / (1 + widths[k])
            logdet += math.log1p(widths[k])
            total += actions[k] * (means[k] + noise * rng.normal())
    return lost, spent


@pytest.mark.slow
@pytest.mark.parametrize(("d", "lam", "noise"), [(2, 1.0, 0.1), (3, 0.3, 0.05), (5, 2.0, 0.02)])
def test_simulated_regret_is_below_every_bound(d, lam, noise):
    rng = np.random.default_rng(d)
    horizon, runs = 1500, 6
    actions = rng.normal(size=(8, d))
    actions /= np.linalg.norm(actions, axis=1, keepdims=True)
    theta = 0.5 * actions[0]
    observe = rng.uniform(0.2, 1.0, size=8)
    delta = d / horizon**2
    played = np.array(
        [
            lin_ucb(rng, actions, theta, observe, horizon, noise, lam, 0.5, delta)
            for _ in range(runs)
        ]
    )
    regret, potential = played.mean(axis=0) + 4 * played.std(axis=0, ddof=1) / math.sqrt(runs)
    bounds = linear_regret_bounds(
        dimension=d,
        horizon=horizon,
        observe_min=float(observe.min()),
        largest_gap=float(np.ptp(actions @ theta)),
        bound=0.5,
        noise=noise,
        regularization=lam,
        potential=float(potential),
    )
    assert all(regret < bound.value for bound in bounds)
    assert bounds["measured potential"].value < bounds["potential"].value


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"dimension": 0}, "dimension"),
        ({"horizon": 0}, "horizon"),
        ({"observe_min": 0.0}, "observe_min"),
        ({"largest_gap": -1.0}, "largest_gap"),
        ({"bound": -1.0}, "bound"),
        ({"noise": math.nan}, "noise"),
        ({"regularization": 0.0}, "regularization"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.5}, "delta"),
        ({"potential": -1.0}, "potential"),
    ],
)
def test_bad_values_are_named(change, field):
    with pytest.raises(InvalidInput) as caught:
        linear_regret_bounds(**(WORLD | change))
    assert caught.value.field == field
    with pytest.raises(InvalidInput, match="factor"):
        papers_potential_control(3, 0.5, 1000, 1.0, delta=0.1, factor=0.0)
