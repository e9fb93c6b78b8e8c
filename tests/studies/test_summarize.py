"""Summaries say what the whole tracks say, in constant memory."""

import json
import tracemalloc

import numpy as np
import pytest
from example_studies import small_study
from typer.testing import CliRunner

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    FiniteActions,
    GeometricDelay,
    InvalidInput,
    LinearBandit,
    LinUCB,
    Result,
    StorageError,
    Study,
    Summary,
    Uniform,
    simulate,
    summarize,
)
from halfseen.cli import app
from halfseen.engine import reduce as fold
from halfseen.studies import summarize as module
from halfseen.studies.partial_summary import draft_of
from halfseen.studies.toml_text import to_toml

SHARES = (0.0, 0.05, 0.5, 0.95, 1.0)


def check(found, whole):
    """Demand that a summary agrees with the tracks of a result."""
    for position, cell in whole.study.cells():
        track, arrays = whole.track(position, cell), found.arrays[position]
        for name in set(fold.FOLDED) & set(track.arrays()):
            values = track.arrays()[name].astype(float)
            assert np.allclose(arrays[f"{name}_mean"], values.mean(axis=0), rtol=1e-12)
            spread = found.variance(position, name)
            assert np.allclose(spread, values.var(axis=0, ddof=1), rtol=1e-9, atol=1e-12)
            assert np.array_equal(arrays[f"{name}_least"], values.min(axis=0))
            assert np.array_equal(arrays[f"{name}_largest"], values.max(axis=0))
        for name in fold.BINNED:
            values = track.arrays()[name]
            assert np.all(arrays[f"{name}_histogram"].sum(axis=-1) == len(values))
            for share in SHARES:
                exact = np.quantile(values, share, axis=0, method="inverted_cdf")
                near = found.quantile(position, name, share)
                assert np.allclose(near, exact, rtol=1.0001 * fold.ACCURACY, atol=1e-6)
                assert np.all((values.min(axis=0) <= near) & (near <= values.max(axis=0)))


def same(found, other):
    """Demand the same bits of two summaries."""
    assert found.arrays.keys() == other.arrays.keys()
    for position, arrays in found.arrays.items():
        for name, array in arrays.items():
            assert np.array_equal(array, other.arrays[position][name]), name


@pytest.mark.slow
@pytest.mark.parametrize("batch_bytes", [1 << 28, 3_000, 1])
def test_a_summary_agrees_with_the_whole_tracks(monkeypatch, batch_bytes):
    monkeypatch.setattr(module, "BATCH_BYTES", batch_bytes)
    study, calls = small_study(replications=37), []
    found = summarize(study, progress=lambda done, total, cell: calls.append(done))
    check(found, simulate(study))
    same(found, summarize(study, engine="reference"))
    assert calls[-1] == 6 * 37


def test_linear_bandits_and_no_potential():
    actions = FiniteActions(np.eye(2))
    study = Study(
        LinearBandit([0.6, 0.4], actions=actions),
        Uniform(0.5),
        LinUCB(),
        horizon=40,
        replications=9,
    )
    check(summarize(study, engine="reference"), simulate(study, engine="reference"))
    bare = small_study(alphas=())
    check(summarize(bare), simulate(bare))


def test_a_summary_counts_what_is_pending_and_lost(tmp_path):
    late = Delayed(GeometricDelay(5, arrive=0.7), window=20)
    problem = LinearBandit([0.6, 0.5], 0.2, FiniteActions(np.eye(2)))
    study = Study(problem, {"late": late}, LinUCB(), horizon=100, replications=5)
    found, whole = (play(study, engine="reference") for play in (summarize, simulate))
    check(found, whole)
    assert "pending_mean" in found.arrays[0, 0, 0]
    for brief, row in zip(found.table().records(), whole.summary().records(), strict=True):
        for share in ("share seen", "share pending", "share lost"):
            assert brief[share] == pytest.approx(row[share], abs=1e-12)
    summarize(study, engine="reference", out=tmp_path)
    same(Summary.load(tmp_path), found)


@pytest.mark.slow
def test_memory_does_not_grow_with_replications(monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 100_000)
    peaks = []
    for replications in (2_000, 20_000):
        study = Study(
            ArmedBandit([0.6, 0.5]),
            Uniform(0.5),
            UCB(),
            horizon=5,
            replications=replications,
            baseline=False,
        )
        summarize(study)  # compiles
        tracemalloc.start()
        summarize(study, workers=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_summary_is_kept_and_read_back(tmp_path, monkeypatch):
    study = small_study()
    found = summarize(study, out=tmp_path / "out")
    again = Summary.load(tmp_path / "out")
    assert str(again.table()) == str(found.table())
    with monkeypatch.context() as patch:
        patch.setattr(module, "_play", lambda *_: pytest.fail("it was played again"))
        summarize(study, out=tmp_path / "out")  # reads, plays nothing
    with pytest.raises(StorageError, match=r"holds a summary, not every replication. Read it"):
        Result.load(tmp_path / "out")
    next((tmp_path / "out" / "summaries" / "cells").iterdir()).rename(tmp_path / "gone")
    with pytest.raises(StorageError, match="unfinished summary"):
        Summary.load(tmp_path / "out")
    with pytest.raises(StorageError, match="holds no study"):
        Summary.load(tmp_path / "nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [1, 30, 37, 50])
def test_a_summary_goes_on_where_it_was_stopped(tmp_path, monkeypatch, stop_at):
    monkeypatch.setattr(module, "BATCH_BYTES", 20_000)
    study, counts = small_study(replications=37), []

    def stop(done, total, cell):
        if done >= stop_at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        summarize(study, out=tmp_path / "out", workers=1, progress=stop)
    monkeypatch.setattr(module, "BATCH_BYTES", 7_000)
    found = summarize(
        study, out=tmp_path / "out", progress=lambda done, total, cell: counts.append(done)
    )
    assert counts[-1] == 6 * 37
    assert counts[0] > 0 or stop_at == 1
    same(found, summarize(study))
    same(Summary.load(tmp_path / "out"), found)
    assert not list((tmp_path / "out").rglob("parts"))


def test_a_damaged_draft_is_a_sentence(tmp_path):
    study = small_study()
    folder = tmp_path / "summaries"
    cell = next(study.cells())[1]
    started = draft_of(cell, study.fingerprints().cells[0, 0, 0], folder)
    track = cell.blank(3, cell.groups, 0)
    started.add(fold.Part.of(track))
    started.keep()
    assert draft_of(cell, started.digest, folder).fold.count == 3
    kept = next(folder.rglob("regret_mean.npy"))
    kept.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(StorageError, match=r"regret_mean.npy is damaged. Delete the folder"):
        draft_of(cell, started.digest, folder)


def test_the_command(tmp_path):
    (tmp_path / "study.toml").write_text(to_toml(small_study()))
    arguments = ["study", str(tmp_path / "study.toml"), "--summary", "--out", str(tmp_path / "out")]
    ended = CliRunner().invoke(app, [*arguments, "--json"])
    assert ended.exit_code == 0, ended.output
    printed = json.loads(ended.stdout)["summary"]
    regrets = simulate(small_study()).tracks["regret"][..., -1].mean(axis=-1).ravel()
    assert np.allclose([row["regret"] for row in printed], regrets)
    ended = CliRunner().invoke(app, arguments)
    assert "4 replications a cell" in ended.stdout
    assert not (tmp_path / "out" / "report.html").exists()


def test_what_is_refused():
    with pytest.raises(InvalidInput, match="`scheduler` must be left out on the cpu engine"):
        summarize(small_study(), scheduler="tcp://127.0.0.1:9")
    with pytest.raises(InvalidInput, match="`workers` must be left out with a scheduler; got 2"):
        summarize(small_study(), engine="dask", workers=2, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(InvalidInput, match="`name` must be one of regret, potential"):
        summarize(small_study()).quantile((0, 0, 0), "pulls", 0.5)
