"""Measured regret, potential and events against what is proved about them."""

import math

import numpy as np
import pytest

from halfseen import UCB, ArmedBandit, FixedArms, PerArm, RandomArms, Study, simulate, theory

HORIZON, REPLICATIONS = 5000, 300
GRID = [
    # means, noise, observe, lambda
    ((0.9, 0.8, 0.7, 0.5, 0.2), 1.0, (0.9, 0.1, 0.5, 0.3, 0.05), 1.0),
    ((0.9, 0.8, 0.7, 0.5, 0.2), 0.2, (0.9, 0.1, 0.5, 0.3, 0.05), 0.01),
    ((0.5, 0.0), (0.1, 1.0), (0.02, 1.0), 1.0),
    ((0.5, 0.0), (0.1, 0.3), (1.0, 0.02), 0.1),
    ((2.0, 1.0, 0.0), (0.3, 0.2, 0.1), (0.3, 0.6, 0.9), 50.0),
    ((0.0, -1.0, -2.0), (0.5, 0.5, 0.0), (1.0, 1.0, 1.0), 10.0),
    ((0.1, 0.05), 0.05, (0.5, 0.05), 5.0),
    ((1.0, 0.9, 0.0, 0.0), 0.1, (0.1, 0.1, 0.02, 0.02), 0.5),
    ((-1.0, 1.0), 0.0, (0.2, 0.5), 3.0),
]


def measured(problem, observe, policy):
    study = Study(
        problem,
        PerArm(observe),
        policy,
        horizon=HORIZON,
        replications=REPLICATIONS,
        seed=8,
        baseline=False,
    )
    return simulate(study)


@pytest.mark.slow
@pytest.mark.parametrize("actions", ["all", "fixed", "random"])
@pytest.mark.parametrize(("means", "noise", "observe", "regularization"), GRID)
def test_regret_stays_below_every_bound(means, noise, observe, regularization, actions):
    extra = {
        "all": {},
        "fixed": {"actions": FixedArms(range(1, len(means)))},
        "random": {"actions": RandomArms([0.6] * len(means))},
    }[actions]
    problem, policy = ArmedBandit(means, noise=noise, **extra), UCB(regularization)
    regret = measured(problem, observe, policy).tracks["regret"][0, 0, 0, :, -1]
    bounds = theory.regret_bounds(problem, PerArm(observe), policy, HORIZON)
    surely = regret.mean() - 4 * regret.std() / math.sqrt(REPLICATIONS)
    for bound in bounds:
        assert not bound.applies or surely <= bound.value * (1 + 1e-12), bound.name


@pytest.mark.slow
@pytest.mark.parametrize(("means", "noise", "observe", "regularization"), GRID)
@pytest.mark.parametrize("order", [0, 1])
def test_potential_stays_below_its_fluid_bound(means, noise, observe, regularization, order):
    result = measured(ArmedBandit(means, noise=noise), observe, UCB(regularization))
    potential = result.tracks["potential"][0, 0, 0, :, :, order]
    surely = potential.mean(axis=0) - 4 * potential.std(axis=0) / math.sqrt(REPLICATIONS)
    for rounds, value in zip(result.study.rounds_recorded, surely, strict=True):
        bound = theory.fluid_potential(observe, rounds, (0.5, 1.0)[order], regularization)
        assert value <= bound * (1 + 1e-9)


@pytest.mark.slow
def test_events_are_as_rare_as_proved():
    """At T = 12 the proved probabilities are not zero; the frequencies stay below them."""
    study = Study(
        ArmedBandit([0.5, 0.3]),
        PerArm([0.9, 0.8]),
        UCB(),
        horizon=12,
        replications=200_000,
        baseline=False,
    )
    frequencies = theory.event_frequencies(simulate(study)).isel(checkpoint=-1).squeeze()
    lower = dict(zip(frequencies.event.values.tolist(), frequencies.lower.values, strict=True))
    proved = [
        theory.optimism_failure_probability(2, 12),
        theory.censoring_failure_probability([0.9, 0.8], 12),
    ]
    assert all(value <= limit for value, limit in zip(lower.values(), proved, strict=True))
    assert len(lower) == 2


@pytest.mark.slow
def test_splitting_arms_explains_the_effective_dimension():
    """Uniform p = 1/3 has the regret of three copies of every arm, within 3%."""
    means = [0.5, 0.3, 0.1]
    censored = Study(
        ArmedBandit(means),
        PerArm([1 / 3] * 3),
        UCB(),
        horizon=20_000,
        replications=1500,
        baseline=False,
    )
    split = Study(
        ArmedBandit(list(np.repeat(means, 3))),
        PerArm([1.0] * 9),
        UCB(),
        horizon=20_000,
        replications=1500,
    )
    ratio = (
        simulate(censored).tracks["regret"][..., -1].mean()
        / simulate(split).tracks["regret"][..., -1].mean()
    )
    assert ratio == pytest.approx(1.0, abs=0.03)
