"""Pipes and folders in the place of a study's files are refused; unfinished cells played again."""

import os

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    UCB,
    ArmedBandit,
    FiniteActions,
    GeneralizedLinearBandit,
    Link,
    Result,
    StorageError,
    Study,
    Uniform,
    simulate,
)

STUDY = Study(ArmedBandit([0.2, 0.8]), Uniform(0.7), UCB(), horizon=20, replications=2)


def play(folder):
    return simulate(STUDY, engine="reference", out=folder).data["regret"].values


@pytest.mark.parametrize("name", [".lock", "study.json"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_refused(tmp_path, name, make):
    make(tmp_path / name)
    with pytest.raises(StorageError, match="not a regular file"):
        play(tmp_path)


def test_a_cell_without_its_facts_is_played_again(tmp_path):
    first = play(tmp_path)
    for path in tmp_path.glob("cells/*/cell.json"):
        path.unlink()
    np.testing.assert_array_equal(play(tmp_path), first)
    np.testing.assert_array_equal(Result.load(tmp_path).data["regret"].values, first)


def mean(z):
    return 0.5 + 0.4 * z


def slope(z):
    return 0.4


@pytest.mark.slow
def test_what_was_played_and_saved_in_one_process_is_loaded_there(tmp_path):
    link = Link("bent-and-saved", mean, slope, reward="bernoulli")
    problem = GeneralizedLinearBandit([0.5, 0.0], link=link, actions=FiniteActions(np.eye(2)))
    bent = Study(problem, Uniform(0.5), GLMUCB(), horizon=20, replications=2)
    for name, study in (("first", STUDY), ("bent", bent), ("second", STUDY)):
        result = simulate(study, engine="cpu")
        result.save(tmp_path / name)
    for name in ("first", "bent", "second"):
        assert Result.load(tmp_path / name).study.horizon == 20
