"""The dask engine: the numbers of one core, whatever dies on the way."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import dask.utils
import distributed
import numpy as np
import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    Delayed,
    GeometricDelay,
    HalfseenError,
    InvalidInput,
    LinearBandit,
    LinUCB,
    PerArm,
    Policy,
    QueuedPolicy,
    RandomActions,
    RandomChoice,
    Result,
    SequenceOfArms,
    Study,
    Summary,
    Uniform,
    simulate,
    summarize,
)
from halfseen.engine.backends import dask as cluster
from halfseen.studies.toml_text import to_toml


@pytest.fixture(scope="module")
def machines():
    """Return a cluster of two worker processes."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


def study(horizon=2_000, replications=40):
    return Study(
        ArmedBandit([0.6, 0.5, 0.2], reward="bernoulli"),
        PerArm([0.3, 0.9, 1.0]),
        {"ucb": UCB(), "coin": RandomChoice()},
        horizon=horizon,
        replications=replications,
        checkpoints=5,
    )


def same(first, second):
    if isinstance(first, Summary):
        pairs = [(first.arrays[place], second.arrays[place]) for place in second.arrays]
        return all(np.array_equal(a[name], b[name]) for a, b in pairs for name in b)
    return all(np.array_equal(first.tracks[name], second.tracks[name]) for name in first.tracks)


@pytest.fixture
def small_chunks(monkeypatch):
    """Make chunks small enough that a cell has many."""
    monkeypatch.setattr(cluster, "CHUNK_SECONDS", 0.02)


@pytest.mark.slow
def test_the_numbers_of_one_core(machines, tmp_path):
    design, calls = study(), []
    found = simulate(
        design,
        engine="dask",
        scheduler=machines.scheduler_address,
        out=tmp_path / "out",
        progress=lambda done, total, label: calls.append((done, total)),
    )
    assert same(found, simulate(design, workers=1))
    assert calls[-1] == (160, 160)
    assert calls == sorted(calls)
    assert same(Result.load(tmp_path / "out"), found)
    assert not (tmp_path / "out" / "parts").exists()
    assert {facts["engine"] for facts in found.facts.values()} == {"dask"}


def last_index(state, arm, clock, stream, table):
    return float(arm)


@dataclass(frozen=True)
class Last(Policy):
    kind: ClassVar[str] = "last"
    index = staticmethod(last_index)

    def table(self, setting):
        return np.zeros((setting.arms, 1))


@pytest.mark.slow
def test_linear_bandits_and_policies_of_your_own(machines):
    address = machines.scheduler_address
    problem = LinearBandit([0.5, 0.2], actions=RandomActions(3, 2))
    linear = Study(problem, Uniform(0.5), LinUCB(), horizon=50, replications=5)
    assert same(simulate(linear, engine="dask", scheduler=address), simulate(linear))
    arms, late = ArmedBandit([0.6, 0.5]), Delayed(GeometricDelay(4), window=9)
    delayed = Study(arms, late, QueuedPolicy(UCB()), horizon=50, replications=5)
    assert same(simulate(delayed, engine="dask", scheduler=address), simulate(delayed))
    late_vectors = Study(problem, late, LinUCB(), horizon=50, replications=5)
    assert same(simulate(late_vectors, engine="dask", scheduler=address), simulate(late_vectors))
    own = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), Last(), horizon=50, replications=5)
    found = simulate(own, engine="dask", scheduler=address)
    assert np.all(found.tracks["pulls"][..., -1, 1] == 50)


@pytest.mark.slow
@pytest.mark.parametrize("play", [simulate, summarize])
def test_a_killed_worker_loses_nothing(machines, tmp_path, small_chunks, play):
    design, killed = study(horizon=20_000), []
    pids = distributed.Client(machines).run(os.getpid)

    def kill(done, total, label):
        if done > 20 and not killed:
            killed.append(pids.popitem()[1])
            os.kill(killed[0], signal.SIGKILL)

    found = play(
        design, engine="dask", scheduler=machines.scheduler_address, out=tmp_path, progress=kill
    )
    assert killed
    assert same(found, play(design))


@pytest.mark.slow
@pytest.mark.parametrize("play", [simulate, summarize])
def test_a_killed_client_goes_on_from_its_chunks(machines, tmp_path, small_chunks, play):
    design = study(horizon=40_000, replications=60)
    (tmp_path / "study.toml").write_text(to_toml(design))
    code = "from halfseen.engine.backends import dask as cluster; cluster.CHUNK_SECONDS = 0.02\n"
    code += "from halfseen.studies import partial_summary as draft; draft.KEEP_SECONDS = 0.0\n"
    code += "from halfseen.cli import main; main()"
    options = ["--scheduler", machines.scheduler_address, "--out", "out"]
    options += ["--summary"] if play is summarize else []
    process = subprocess.Popen(
        [sys.executable, "-c", code, "study", "study.toml", "--engine", "dask", *options],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    )

    def kept():
        places = (tmp_path / "out").rglob("parts/*/cells")
        if play is summarize:  # the name of a draft is its number of replications
            drafts = [[int(path.name) for path in p.glob("[0-9]*")] for p in places]
            return sum(max(counts, default=0) for counts in drafts)
        return sum(b - a for place in places for a, b in cluster.finished_chunks(place))

    deadline = time.monotonic() + 60
    while kept() < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    process.kill()
    process.communicate()
    before, done = kept(), []
    found = play(
        design,
        engine="dask",
        scheduler=machines.scheduler_address,
        out=tmp_path / "out",
        progress=lambda rows, total, label: done.append(rows),
    )
    assert done[len(list(design.cells())) - 1] >= before >= 3, "what was kept counts"
    assert same(found, play(design))
    assert not list((tmp_path / "out").rglob("parts"))


@pytest.mark.slow
def test_a_large_cell_is_sent_once_to_a_worker(machines, small_chunks, monkeypatch):
    """Chunks name their cell: the rounds of a long sequence do not travel with each of them."""
    problem = ArmedBandit([0.6, 0.5, 0.2], actions=SequenceOfArms([[0, 1], [1, 2]] * 1_000))
    coins = {"a": RandomChoice(), "b": RandomChoice()}
    design = Study(problem, Uniform(0.5), coins, horizon=2_000, replications=12, baseline=False)
    sizes, keys, submit = [], [], distributed.Client.submit

    def weighed(self, function, *arguments, **options):
        sizes.append(len(pickle.dumps(arguments)))
        keys.append(dask.utils.key_split(options["key"]))
        return submit(self, function, *arguments, **options)

    monkeypatch.setattr(distributed.Client, "submit", weighed)
    found = simulate(design, engine="dask", scheduler=machines.scheduler_address)
    assert same(found, simulate(design))
    assert len(sizes) >= 4
    assert max(sizes) < 1_000
    assert keys[0] == "halfseen at 0%", "what the dashboard shows"
    done = [int(key.removeprefix("halfseen at ").removesuffix("%")) for key in keys]
    assert done == sorted(done)
    assert 0 < done[-1] < 100


@pytest.mark.slow
def test_control_c_on_a_cluster_of_its_own(tmp_path):
    design = study(horizon=40_000, replications=100)
    (tmp_path / "study.toml").write_text(to_toml(design))
    code = "from halfseen.engine.backends import dask as cluster; cluster.CHUNK_SECONDS = 0.02\n"
    code += "from halfseen.cli import main; main()"
    options = ["--engine", "dask", "--workers", "1", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "study", "study.toml", *options],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out").rglob("parts/*/cells/*-*")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    address, *rest = errors.strip().splitlines()
    assert address.startswith("Dask's dashboard: http://")
    assert [line for line in rest if line] == [
        "Stopped. What is finished is kept in out; run the same command to go on."
    ]
    found = simulate(design, engine="dask", workers=1, out=tmp_path / "out")
    assert same(found, simulate(design))


@pytest.mark.slow
def test_an_address_without_a_scheduler_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere", "", "foo://u:hunter2@127.0.0.1:1", 5):
        wanted = "`scheduler` must be the address of a running"
        with pytest.raises(InvalidInput, match=wanted) as raised:
            simulate(study(), engine="dask", scheduler=address, out=tmp_path / "out")
        assert "hunter2" not in str(raised.value)
        del raised
        gc.collect()  # a client that was left half made would raise here
    with pytest.raises(InvalidInput, match="`scheduler` must be left out on the cpu engine"):
        simulate(study(), scheduler="tcp://127.0.0.1:9", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_the_package_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"Install halfseen\[dask\]"):
        simulate(study(), engine="dask", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_workers_with_other_versions_are_refused(machines, monkeypatch):
    mine = cluster.packages()
    monkeypatch.setattr(cluster, "packages", lambda: mine | {"numba": "0.1"})
    with pytest.raises(
        HalfseenError, match=r"A worker has numba .*, this machine has 0.1. Install"
    ):
        simulate(study(), engine="dask", scheduler=machines.scheduler_address)


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up():
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, dashboard_address=":0", silence_logs=50
        ) as empty,
        distributed.Client(empty) as client,
        pytest.raises(HalfseenError, match="cluster was lost"),
    ):
        cluster.run_on(client, [], wait_seconds=0.1)


@pytest.mark.slow
def test_chunks_grow_with_the_time_they_take_and_leave_work_for_all():
    design = study(replications=1_000)
    cell = next(design.cells())[1]
    job = cluster.Job(cell, [(0, 300), (400, 1_000)], None, None)
    assert job.next_chunk(slots=2) == (0, 1)
    job.fit_size(1, seconds=0.001)
    assert job.size == cluster.GROWTH
    job.fit_size(500, seconds=10.0)
    assert job.size == 100
    assert job.next_chunk(slots=2) == (1, 101)
    assert job.next_chunk(slots=100) == (101, 107), "a sixteenth at least"
    job.size = 160
    assert job.next_chunk(slots=1) == (107, 267)
    assert job.next_chunk(slots=1) == (267, 300), "up to the next gap"
    assert job.next_chunk(slots=2) == (400, 475), "a quarter of what each worker will get"
    job.size = 10_000
    assert job.next_chunk(slots=1) == (475, 1_000)
    assert not job.lacks
