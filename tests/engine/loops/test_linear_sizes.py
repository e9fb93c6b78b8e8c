"""Linear loops where numbers are large, tiny or many."""

import tracemalloc
import warnings

import numpy as np
import pytest

from halfseen import (
    FiniteActions,
    LinearBandit,
    LinThompson,
    LinUCB,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted

RNG = np.random.default_rng(7)


def sphere(*shape):
    rows = RNG.normal(size=shape)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def last(problem, censorship, policy, horizon, alphas=(1.0,), **others):
    study = Study(
        problem,
        censorship,
        policy,
        horizon=horizon,
        replications=1,
        checkpoints=1,
        alphas=alphas,
        baseline=False,
    )
    return {name: a[0, 0, 0, 0, -1] for name, a in simulate(study, **others).tracks.items()}


def right_designs(track, rows, rate):
    """Check both designs against the counts of the actions."""
    for place, counts in enumerate((track["observations"], rate * track["pulls"])):
        design = np.eye(rows.shape[1]) + (rows.T * counts) @ rows
        np.testing.assert_allclose(
            track["eigenvalues"][place], np.linalg.eigvalsh(design), rtol=1e-9
        )
        assert track["spread"][place] == pytest.approx(np.linalg.slogdet(design)[1], rel=1e-9)


def test_two_hundred_coordinates():
    rows = sphere(50, 200)
    track = last(LinearBandit(sphere(200), 0.1, FiniteActions(rows)), Uniform(0.5), LinUCB(), 600)
    assert track["pulls"].sum() == 600
    right_designs(track, rows, 0.5)


@pytest.mark.slow
def test_two_hundred_coordinates_that_change():
    problem = LinearBandit(sphere(200), 0.1, RandomActions(5, 200))
    track = last(problem, Uniform(0.5), LinUCB(), 200)
    assert np.isfinite(track["eigenvalues"]).all()
    assert track["potential"][0] > 100


def test_ten_thousand_actions_in_little_memory():
    rows = sphere(10_000, 10)
    problem = LinearBandit(sphere(10), 0.1, FiniteActions(rows))
    last(problem, Uniform(0.1), LinUCB(), 10)
    tracemalloc.start()
    track = last(problem, Uniform(0.1), LinUCB(), 20_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert track["pulls"].sum() == 20_000
    right_designs(track, rows, 0.1)
    assert peak < 20e6  # a table of all pairs would take 800


@pytest.mark.slow
def test_ten_thousand_actions_that_change():
    problem = LinearBandit(sphere(10), 0.1, RandomActions(10_000, 10))
    track = last(problem, Uniform(0.5), LinUCB(), 30)
    assert track["pulls"].sum() == 30


def test_a_long_run_stays_with_a_fresh_inverse():
    """After 300,000 updates the estimate's own tracks still fit the counts."""
    rows = sphere(6, 3)
    track = last(
        LinearBandit([0.1, 0.1, 0.1], 1.0, FiniteActions(rows)), Uniform(1.0), LinUCB(), 300_000
    )
    right_designs(track, rows, 1.0)
    assert track["optimism_failed"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("regularization", [1e-12, 1e-6, 1e6])
@pytest.mark.parametrize("policy", [LinUCB, LinThompson])
@pytest.mark.parametrize("kind", ["finite", "sequence"])
def test_extreme_regularizations_stay_finite(kind, policy, regularization):
    rows = sphere(3, 6)  # fewer actions than coordinates
    actions = (
        FiniteActions(rows) if kind == "finite" else SequenceOfActions(np.tile(rows, (300, 1, 1)))
    )
    cell = LinearCell(
        LinearBandit(sphere(6), 0.1, actions),
        Uniform(0.7),
        policy(regularization),
        300,
        1,
        np.array([1, 300]),
        np.array([1.0, 0.5, 2.0]),
    )
    track = cell.blank(1, cell.groups, 6)
    play = player(cell, fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(0, 1, track)
    for name, array in track.arrays().items():
        assert np.isfinite(array).all(), name
    assert (track.eigenvalues >= regularization).all()


@pytest.mark.parametrize("kind", ["finite", "sequence"])
def test_an_action_of_length_0_costs_and_teaches_nothing(kind):
    rows = np.array([[0.0, 0.0], [0.0, 0.0]])
    actions = (
        FiniteActions(rows) if kind == "finite" else SequenceOfActions(np.tile(rows, (50, 1, 1)))
    )
    problem = LinearBandit([0.6, 0.8], 0.5, actions)
    track = last(problem, Uniform(0.5), LinUCB(), 50, engine="reference")
    assert track["potential"].tolist() == [0.0]
    assert track["regret"] == 0.0
    assert track["spread"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["finite", "sequence"])
def test_without_noise_the_ellipsoid_never_fails(kind):
    """Theta then lies on its edge until something is learned along it, whatever rounding does."""
    for angle in np.linspace(0.1, 1.4, 40):
        theta = np.array([np.cos(angle), np.sin(angle)]) * 0.7
        rows = np.array([[-np.sin(angle), np.cos(angle)]])
        if kind == "finite":
            actions = FiniteActions(rows, normalize=True)
        else:
            actions = SequenceOfActions(np.tile(rows, (30, 1, 1)), normalize=True)
        problem = LinearBandit(theta, 0.0, actions)
        track = last(problem, Uniform(1.0), LinUCB(0.3), 30, engine="reference")
        assert track["optimism_failed"] == 0
