"""The compiled rule for a winner against the theory's, after every observation."""

import math

import numpy as np
import pytest

from halfseen.kernels.kullback_leibler import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from halfseen.kernels.winning import NONE, SMALLEST_SCALE, one_sided, winning_arm
from halfseen.theory import winner
from halfseen.theory.anytime.confidence import one_sided_deviations

RHO = 10.0
LAWS = {
    GAUSSIAN: "gaussian",
    BERNOULLI: "bernoulli",
    POISSON: "poisson",
    EXPONENTIAL: "exponential",
}


def rule(arms, level, family):
    half = (1.0 - level) / 2.0
    return np.array([math.log(max(arms - 1, 1) / half), math.log(arms / half), RHO, family])


def followed(rewards, chosen, scales, level, family):
    """Return what the kernel and the theory say after every observation."""
    arms = len(scales)
    observed, totals, kept = np.zeros(arms), np.zeros(arms), np.zeros((arms, 2))
    law = LAWS[family]
    for arm, reward in zip(chosen, rewards, strict=True):
        observed[arm] += 1.0
        totals[arm] += reward
        found = winning_arm(observed, totals, kept, rule(arms, level, family), scales, arm)
        said = winner(observed, totals, level=level, noise=scales, rho=RHO, reward=law)
        yield found, said


@pytest.mark.slow
@pytest.mark.parametrize("family", list(LAWS), ids=LAWS.get)
@pytest.mark.parametrize(("shares", "rounds"), [((0.4, 0.3, 0.3), 100), ((0.8, 0.1, 0.1), 250)])
def test_the_winner_is_the_theorys_after_every_observation(family, shares, rounds):
    generator = np.random.default_rng(3)
    means, scales = np.array([0.95, 0.2, 0.1]), np.array([0.3, 0.5, 0.4])
    chosen = generator.choice(3, rounds, p=shares)
    if family == BERNOULLI:
        rewards = (generator.random(rounds) < means[chosen]).astype(float)
    elif family == POISSON:
        rewards = generator.poisson(3.0 * means[chosen]).astype(float)
    elif family == EXPONENTIAL:
        rewards = generator.exponential(means[chosen])
    else:
        rewards = generator.normal(means[chosen], scales[chosen])
    shown = set()
    for found, said in followed(rewards, chosen, scales, 0.9, family):
        assert found == (NONE if said.arm is None else said.arm)
        shown |= set(said.shown_by)
    assert found == 0
    assert ("pairwise" if shares[0] < 0.5 else "separate") in shown


@pytest.mark.parametrize("family", [POISSON, EXPONENTIAL], ids=LAWS.get)
def test_few_or_no_events_of_an_arm_are_no_error(family):
    """Sums of 0, and the infinite upper limit of a few exponential rewards."""
    rewards = [0.0, 0.0, 1.0, 0.0, 400.0] if family == POISSON else [1e-3, 2.0, 1e-9, 3.0, 1e6]
    for found, said in followed(rewards, [0, 1, 0, 1, 1], np.ones(2), 0.9, family):
        assert found == (NONE if said.arm is None else said.arm)


def test_without_noise_the_larger_mean_wins_once_both_were_seen():
    scales = np.full(2, SMALLEST_SCALE)
    found = [f for f, _ in followed([0.5, 0.6], [0, 1], scales, 0.95, GAUSSIAN)]
    assert found == [NONE, 1]


def test_arms_that_are_never_played_are_no_rivals():
    observed, totals, kept = np.array([900.0, 900.0, 0.0]), np.zeros(3), np.full((3, 2), np.nan)
    totals[0] = 900.0
    limits = rule(2, 0.95, GAUSSIAN)
    assert winning_arm(observed, totals, kept, limits, np.array([1.0, 1.0, -1.0]), 0) == 0
    assert winning_arm(observed, totals, kept, limits, np.array([1.0, 1.0, 1.0]), 0) == NONE


def test_the_one_sided_mixture_is_the_one_the_limits_solve():
    target = np.array([1.0, 3.0, 12.0])
    roots = one_sided_deviations(target)
    assert [one_sided(s) for s in roots] == pytest.approx(target, rel=1e-12)
