"""Stopping a run, on purpose or not, loses no finished cell and changes no number."""

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from example_studies import small_study

from halfseen import Result, StorageError, simulate
from halfseen.studies import storage
from halfseen.studies.simulate import ENGINES
from halfseen.studies.toml_text import to_toml

CELLS = 6


def same(first, second):
    return all(np.array_equal(first.tracks[name], second.tracks[name]) for name in first.tracks)


@pytest.fixture
def played(monkeypatch):
    """Return a list that grows by one with every cell that is really played."""
    cells, run = [], ENGINES["cpu"].run

    class Counting:
        @staticmethod
        def run(cell, track, **options):
            cells.append(cell)
            run(cell, track, **options)

    monkeypatch.setitem(ENGINES, "cpu", Counting)
    return cells


def finished(folder):
    names = [path.name for path in (folder / "cells").iterdir()]
    assert not [name for name in names if name.startswith(".")], "a draft was left behind"
    return len(names)


@pytest.mark.slow
def test_an_interrupted_study_goes_on_where_it_stopped(tmp_path, played):
    study = small_study(replications=9)
    expected = simulate(study)
    played.clear()

    def interrupt(done, total, label):
        if done > 2 * study.replications:  # in the middle of the third cell
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(study, out=tmp_path / "out", progress=interrupt)
    assert len(played) == 3
    assert finished(tmp_path / "out") == 2
    with pytest.raises(StorageError, match="unfinished study"):
        Result.load(tmp_path / "out")
    played.clear()
    assert same(simulate(study, out=tmp_path / "out"), expected)
    assert len(played) == CELLS - 2
    assert same(Result.load(tmp_path / "out"), expected)


def test_an_interrupt_while_writing_leaves_no_draft(tmp_path, monkeypatch):
    study, save = small_study(), storage.save_array

    def interrupted(path, array, **options):
        if path.name == "pulls.npy" and (tmp_path / "out" / "cells").exists():
            raise KeyboardInterrupt
        save(path, array, **options)

    monkeypatch.setattr(storage, "save_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        simulate(study, engine="reference", out=tmp_path / "out")
    assert finished(tmp_path / "out") == 0


@pytest.mark.parametrize("which", [1, 3, 6])
def test_a_full_disk_keeps_finished_cells(tmp_path, monkeypatch, played, which):
    study, save, saved = small_study(), storage.save_array, []
    expected = simulate(study)
    played.clear()

    def full(path, array, **options):
        saved.append(path.parent)
        if len(set(saved)) == which and path.name == "potential.npy":
            path.write_bytes(b"half of it")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        save(path, array, **options)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "save_array", full)
        with pytest.raises(
            StorageError, match=r"^Cannot write .*: No space left on device. No partial"
        ):
            simulate(study, out=tmp_path / "out")
    assert finished(tmp_path / "out") == which - 1
    assert len(played) == which
    played.clear()
    assert same(simulate(study, out=tmp_path / "out"), expected)
    assert len(played) == CELLS - which + 1


def run_command(folder, limit=None, **options):
    """Start `halfseen study` on `folder`/study.toml; `limit` is the largest file it may write."""

    def restrict():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "halfseen",
            "study",
            "study.toml",
            "--out",
            "out",
            *options.pop("extra", ()),
        ],
        cwd=folder,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # nor would a module be whole
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=restrict,
    )


@pytest.mark.slow
def test_a_disk_that_really_takes_no_more(tmp_path):
    study = small_study(replications=60, checkpoints=50)  # its largest array has 36 kB
    (tmp_path / "study.toml").write_text(to_toml(study))
    process = run_command(tmp_path, limit=20_000, extra=("--engine", "reference"))
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.startswith("halfseen: Cannot write ")
    assert errors.count("\n") == 1
    assert "None" not in errors
    assert finished(tmp_path / "out") == 0


@pytest.mark.slow
def test_control_c_in_the_command(tmp_path, played):
    study = small_study(horizon=150_000, replications=40)
    (tmp_path / "study.toml").write_text(to_toml(study))
    process = run_command(tmp_path)
    cells = tmp_path / "out" / "cells"
    deadline = time.monotonic() + 300
    while not cells.exists() or not [p for p in cells.iterdir() if not p.name.startswith(".")]:
        assert time.monotonic() < deadline
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)
            pytest.fail(f"ended before it was stopped: {process.communicate()}")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "What is finished is kept in out; run the same command to go on." in errors
    assert "Traceback" not in errors
    assert output == ""
    kept = finished(tmp_path / "out")
    assert 1 <= kept < CELLS
    with pytest.raises(StorageError, match="unfinished"):
        Result.load(tmp_path / "out")
    resumed = simulate(study, out=tmp_path / "out")
    assert len(played) == CELLS - kept
    assert same(resumed, simulate(study))


ENDLESS = {
    "arms": """
problems.two = { kind = "arms", means = [0.6, 0.5] }
censorships.all = { kind = "uniform", observe = 1.0 }
policies.ucb = { kind = "ucb" }
""",
    "fixed": """
problems.two.kind = "linear"
problems.two.theta = [0.6, 0.5]
problems.two.actions = { kind = "finite", actions = [[1, 0], [0, 1]] }
censorships.all = { kind = "uniform", observe = 1.0 }
policies.ucb = { kind = "lin-ucb" }
""",
    "changing": """
problems.two.kind = "linear"
problems.two.theta = [0.6, 0.5]
problems.two.actions = { kind = "random-actions", count = 2, dimension = 2 }
censorships.all = { kind = "uniform", observe = 1.0 }
policies.ucb = { kind = "lin-ucb" }
""",
}
STOPS = "What is finished is kept in out; run the same command to go on."


def stop_after(process, seconds, times):
    """Interrupt a command `times` times; return the seconds it took to end and its errors."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=seconds)
        pytest.fail("ended before it was stopped")
    started = time.monotonic()
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, errors = process.communicate(timeout=60)
    return time.monotonic() - started, errors


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["arms", "changing", "fixed"])
@pytest.mark.parametrize("times", [1, 3])
def test_control_c_stops_inside_one_endless_replication(tmp_path, loop, times):
    study = f"horizon = {10**12}\nreplications = 1\ncheckpoints = 3\n{ENDLESS[loop]}"
    (tmp_path / "study.toml").write_text(study)
    process = run_command(tmp_path)
    deadline = time.monotonic() + 120
    while not (tmp_path / "out").exists():  # from then on the study is played, or compiled first
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    _, errors = stop_after(process, 4, times)
    assert process.returncode == 130, errors
    assert STOPS in errors
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.parametrize("extra", [(), ("--summary",)])
def test_control_c_at_any_moment_of_the_start_prints_no_traceback(tmp_path, extra):
    (tmp_path / "study.toml").write_text(to_toml(small_study(horizon=10**9)))
    for delay in (0.15, 0.5, 1.0, 1.6):
        process = run_command(tmp_path, extra=extra)
        _, errors = stop_after(process, delay, 2)
        if "import site" in errors or "<frozen" in errors:  # Python itself was still starting
            continue
        assert process.returncode in (130, -signal.SIGINT), errors
        if delay > 0.2:
            assert "Traceback" not in errors
