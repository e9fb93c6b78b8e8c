"""Running a study: the same numbers from any engine, worker count or chunk; folders respected."""

import json
import sys

import numpy as np
import pytest
from example_studies import broad_study, small_study

import halfseen
from halfseen import (
    UCB,
    ArmedBandit,
    InvalidInput,
    Result,
    StorageError,
    Study,
    Uniform,
    simulate,
    summarize,
    sweep,
)
from halfseen.engine.backends import cpu
from halfseen.studies.simulate import ENGINES


def same(first, second):
    return first.study == second.study and all(
        np.array_equal(first.tracks[name], second.tracks[name]) for name in first.tracks
    )


def over_rates(study, **options):
    return sweep(study, "censorships.*.observe", [0.25, 1.0], **options)


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def played(monkeypatch):
    """Return a list that grows by the policy of every cell that is really played."""
    cells = []

    class Counting:
        @staticmethod
        def run(cell, track, *, report, workers):
            cells.append(cell.policy)
            ENGINES["reference"].run(cell, track, report=report, workers=workers)

    monkeypatch.setitem(ENGINES, "cpu", Counting)
    return cells


def test_the_function_is_not_hidden_by_its_module():
    assert "halfseen.studies.simulate" in sys.modules
    assert callable(halfseen.simulate)
    assert callable(simulate)


@pytest.mark.parametrize("play", [simulate, summarize, over_rates])
def test_progress_that_cannot_be_called_is_refused_before_anything_is_played(play, tmp_path):
    study = Study(ArmedBandit([0.5, 0.2]), Uniform(0.5), UCB(), horizon=10, replications=2)
    with pytest.raises(InvalidInput, match="`progress` must be a function of the replications"):
        play(study, out=tmp_path / "study", progress=False)
    assert not (tmp_path / "study").exists()


def test_results_do_not_depend_on_workers_or_engine():
    study = small_study(replications=23)
    expected = simulate(study, engine="reference")
    for workers in (1, 2, 3):
        assert same(simulate(study, workers=workers), expected), workers


@pytest.mark.parametrize("seconds", [0.0, 1e-6, 1e9])
def test_results_do_not_depend_on_chunks(monkeypatch, seconds):
    study = small_study(replications=23)
    expected = simulate(study, engine="reference")
    monkeypatch.setattr(cpu, "CHUNK_SECONDS", seconds)
    assert same(simulate(study, workers=2), expected)


def test_more_replications_keep_the_first_ones():
    few, many = small_study(replications=3), small_study(replications=7)
    few, many = simulate(few, engine="reference"), simulate(many, engine="reference")
    assert np.array_equal(many.tracks["regret"][:, :, :, :3], few.tracks["regret"])


@pytest.mark.slow
def test_cells_do_not_depend_on_their_neighbours():
    whole = simulate(broad_study(), engine="reference")
    policy = whole.study.policies["random"]
    alone = small_study(
        problems=whole.study.problems["random"],
        censorships=whole.study.censorships["uniform"],
        policies=policy,
        horizon=30,
        replications=2,
        seed=0,
        checkpoints=50,
        baseline=False,
    )
    found = simulate(alone, engine="reference").tracks["pulls"][0, 0, 0]
    place = [list(g).index(k) for g, k in ((whole.study.problems, "random"),)]
    cell = whole.tracks["pulls"][place[0], list(whole.study.censorships).index("uniform")]
    assert np.array_equal(found, cell[list(whole.study.policies).index("random")])


def test_seeds_change_results():
    first, second = (simulate(small_study(seed=s), engine="reference") for s in (1, 2))
    assert not np.array_equal(first.tracks["regret"], second.tracks["regret"])


def test_progress_counts_every_replication_and_names_the_cell():
    calls = []
    study = small_study()
    simulate(study, engine="reference", progress=lambda *call: calls.append(call))
    done = [call[0] for call in calls]
    assert done == sorted(done)
    assert done[-1] == 24
    assert {call[1] for call in calls} == {24}
    assert calls[0] == (0, 24, "arms · some · plain")
    assert calls[-1][2] == "arms · everything seen · wrong"


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True, False, 10**6])
def test_workers_are_refused(tmp_path, workers):
    with pytest.raises(InvalidInput, match="`workers` must be a whole number of at least 1"):
        simulate(small_study(), workers=workers, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ["gpu", "", None, "CPU"])
def test_engines_are_refused(tmp_path, engine):
    with pytest.raises(InvalidInput, match="`engine` must be one of cpu, cuda, dask"):
        simulate(small_study(), engine=engine, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_finished_cells_are_not_played_again(tmp_path, played):
    first = simulate(small_study(), out=tmp_path / "out")
    assert len(played) == 6
    before = files(tmp_path)
    second = simulate(small_study(), out=tmp_path / "out")
    assert len(played) == 6
    assert same(first, second)
    assert first.facts == second.facts
    assert files(tmp_path) == before
    assert same(Result.load(tmp_path / "out"), first)


def test_the_folder_may_exist_if_it_is_empty(tmp_path, played):
    simulate(small_study(policies=UCB()), out=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "cells", "study.json"]
    assert json.loads((tmp_path / "study.json").read_text())["study"]["horizon"] == 60


def test_another_study_is_not_overwritten(tmp_path, played):
    simulate(small_study(), out=tmp_path / "out")
    before = files(tmp_path)
    with pytest.raises(
        InvalidInput, match="`out` must be a new folder, not one that holds another"
    ):
        simulate(small_study(seed=4), out=tmp_path / "out")
    assert files(tmp_path) == before
    assert len(played) == 6


def test_foreign_files_are_left_alone(tmp_path, played):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="must be a new or empty folder, not one that holds oth"):
        simulate(small_study(), out=tmp_path)
    with pytest.raises(InvalidInput, match=r"`out` must be a folder; got .*Choose another name"):
        simulate(small_study(), out=tmp_path / "notes.txt")
    with pytest.raises(StorageError, match=r"Cannot write .*: Not a directory"):
        simulate(small_study(), out=tmp_path / "notes.txt" / "out")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "study.json").write_text('{"patients": 12}')
    with pytest.raises(StorageError, match=r"is not a study.*Choose another folder"):
        simulate(small_study(), out=tmp_path / "theirs")
    assert {p.name for p in files(tmp_path)} == {"notes.txt", "study.json"}
    assert played == []


@pytest.mark.parametrize("name", ["x" * 300, "a\0b"])
def test_impossible_folders_are_a_sentence(tmp_path, played, name):
    with pytest.raises(StorageError, match=r"Cannot (use|write) "):
        simulate(small_study(), out=tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_long_horizons_have_room_to_count():
    study = small_study(
        problems=ArmedBandit([0.5, 0.4]),
        censorships=Uniform(1e-9),
        policies=UCB(),
        horizon=2**33,
        replications=2,
        baseline=False,
    )
    pulls = simulate(study, engine="reference").tracks["pulls"]
    assert pulls.dtype == np.int64
    assert np.all(pulls[..., -1, :].sum(axis=-1) == 2**33)


@pytest.mark.slow
def test_progress_says_when_a_loop_is_compiled(monkeypatch, tmp_path):
    from halfseen.engine.specialise import compiled

    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path))
    compiled.cache_clear()
    calls = []
    study = Study(
        ArmedBandit([0.5, 0.4]), Uniform(0.5), UCB(), horizon=50, replications=3, baseline=False
    )
    simulate(study, progress=lambda *call: calls.append(call))
    labels = [label for _, _, label in calls]
    assert labels[1] == f"compiling {labels[0]}"
    assert not any(label.startswith("compiling") for label in labels[2:])
    calls.clear()
    simulate(study, progress=lambda *call: calls.append(call))
    assert not any(label.startswith("compiling") for _, _, label in calls)
