"""Studies are played once."""

import numpy as np

from halfseen import UCB, ArmedBandit, PerArm, Study, simulate
from halfseen.claims import Laboratory, laboratory


def test_plays_what_simulate_plays_and_only_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        laboratory, "simulate", lambda study, **more: calls.append(1) or simulate(study, **more)
    )
    lab = Laboratory(seed=5)
    world = (ArmedBandit([0.5, 0.2]), PerArm([0.5, 0.9]), UCB())
    played = lab.play(*world, 200, 30, 7)
    again = lab.play(*world, 200, 30, 7)
    assert again is played
    assert len(calls) == 1
    study = Study(*world, horizon=200, replications=30, seed=5, checkpoints=7, baseline=False)
    right = simulate(study)
    assert np.array_equal(played.rounds, study.rounds_recorded)
    assert np.array_equal(played.regret, right.tracks["regret"][0, 0, 0, :, -1])
    assert np.array_equal(played.potential(1, 2), right.tracks["potential"][0, 0, 0, :, 2, 1])
    failed = right.tracks["optimism_failed"][0, 0, 0, :, -1]
    assert np.array_equal(played.failed("optimism"), failed)
    lab.play(*world, 201, 30, 7)
    assert len(calls) == 2


def test_two_sizes():
    assert Laboratory(quick=True).size(1, 2) == 1
    assert Laboratory(quick=False).size(1, 2) == 2


def test_a_search_plays_with_other_draws_and_keeps_nothing():
    lab = Laboratory(seed=5)
    world = (ArmedBandit([0.5, 0.2]), PerArm([0.5, 0.9]), UCB())
    other = lab.elsewhere()
    searched = other.play(*world, 200, 30)
    assert not np.array_equal(searched.regret, lab.play(*world, 200, 30).regret)
    assert other.play(*world, 200, 30) is not searched
    assert np.array_equal(other.play(*world, 200, 30).regret, searched.regret)
