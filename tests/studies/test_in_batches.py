"""Batches for those who watch: the numbers of `simulate`, no batch longer than asked."""

import time

import numpy as np
import pytest

from halfseen import UCB, ArmedBandit, Delayed, GeometricDelay, ImputeZero, PerArm, Study, simulate
from halfseen.studies.in_batches import regret_in_batches


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 60.0])
@pytest.mark.parametrize(
    "censorship", [PerArm([0.5, 0.9]), Delayed(GeometricDelay(20), window=10)], ids=["seen", "late"]
)
def test_batches_of_any_size_are_the_replications_of_the_study(censorship, seconds):
    policies = {"UCB": UCB(), "zero": ImputeZero()}
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    study = Study(arms, {"some": censorship}, policies, horizon=100, replications=7, seed=3)
    *_, before, last = regret_in_batches(study, seconds)
    assert before.shape[1] == (6 if seconds == 0.0 else 4)
    assert np.array_equal(last, simulate(study).tracks["regret"][0, 0])


def test_no_batch_takes_longer_than_asked():
    arms = ArmedBandit([0.6, 0.5], reward="bernoulli")
    study = Study(arms, PerArm([0.5, 0.9]), UCB(), horizon=2_000, replications=4_000)
    next(regret_in_batches(study, 0.05))  # compiled
    took, started = [], time.perf_counter()
    for _ in regret_in_batches(study, 0.05):
        took.append(time.perf_counter() - started)
        started = time.perf_counter()
    assert np.median(took) < 0.2
