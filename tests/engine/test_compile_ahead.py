"""Loops compiled ahead in other processes: the same code, no process left, never in the way."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from dataclasses import dataclass

import psutil
import pytest

import halfseen
from halfseen import UCB, ArmedBandit, GaussianThompson, Study, Uniform
from halfseen.engine import compile_ahead
from halfseen.engine.compile_ahead import Pool, compiling_ahead
from halfseen.engine.specialise import compiled
from halfseen.policies import EpsilonGreedy

SOURCE = os.path.dirname(os.path.dirname(halfseen.__file__))


def cells(*policies):
    study = Study(
        ArmedBandit([0.6, 0.5]),
        Uniform(0.5),
        {type(policy).__name__: policy for policy in policies},
        horizon=20,
        replications=1,
        baseline=False,
    )
    return [cell for _, cell in study.cells()]


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """Return an empty cache on an idle machine of two cores."""
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("HALFSEEN_COMPILE_AHEAD")
    monkeypatch.setattr(compile_ahead, "spare_cores", lambda: 1)
    compiled.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def started(monkeypatch):
    """Return the processes that were started."""
    found = []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.environment = options["env"]
            found.append(self)

    monkeypatch.setattr(compile_ahead.subprocess, "Popen", Noted)
    return found


@pytest.mark.parametrize(
    "hindrance", ["one cell", "one thread", "busy", "told not to", "read-only", "embedded"]
)
def test_nothing_is_started_where_it_could_not_help(hindrance, cold, started, monkeypatch):
    known = cells(UCB(), GaussianThompson())
    if hindrance == "one cell":
        known = known[:1]
    elif hindrance == "busy":
        monkeypatch.setattr(compile_ahead, "spare_cores", lambda: 0)
    elif hindrance == "told not to":
        monkeypatch.setenv("HALFSEEN_COMPILE_AHEAD", "0")
    elif hindrance == "read-only":
        cold.write_text("a file where the folder should be")
    elif hindrance == "embedded":
        monkeypatch.setattr(sys, "executable", "/usr/bin/uwsgi")
    with compiling_ahead(known, 1 if hindrance == "one thread" else 2) as settle:
        settle(known[-1])
    assert started == []


def test_worlds_that_share_a_loop_are_compiled_once(cold, started):
    problems = {"two": ArmedBandit([0.6, 0.5]), "three": ArmedBandit([0.3, 0.2, 0.1])}
    study = Study(problems, Uniform(0.5), UCB(), horizon=20)
    with compiling_ahead([cell for _, cell in study.cells()], 2):
        assert started == []


@dataclass(frozen=True)
class Unpicklable(EpsilonGreedy):
    kind = "unpicklable"

    def __reduce__(self):
        raise TypeError("not to be written")


def test_a_policy_that_cannot_be_sent_is_compiled_here(cold, started):
    with compiling_ahead(cells(UCB(), Unpicklable()), 2) as settle:
        settle(cells(Unpicklable())[0])
    assert started == []


def test_jobs_of_processes_that_cannot_be_started_or_die_are_left_to_who_plays(cold, monkeypatch):
    def refused(*arguments, **options):
        raise OSError("no more processes")

    both = cells(UCB(), GaussianThompson())
    monkeypatch.setattr(compile_ahead, "WORKER", "raise SystemExit(3)")
    monkeypatch.setattr(compile_ahead, "announce", lambda: None)
    began = time.monotonic()
    with compiling_ahead(both, 2) as settle:
        settle(both[1])
    monkeypatch.setattr(compile_ahead.subprocess, "Popen", refused)
    with compiling_ahead(both, 2) as settle:
        settle(both[1])
        settle(both[1])  # another world with the same loop
    assert time.monotonic() - began < compile_ahead.PATIENCE


def test_an_error_leaves_no_process(cold, started):
    def fail():
        with compiling_ahead(cells(UCB(), GaussianThompson()), 2):
            assert started[0].poll() is None
            assert started[0].environment["HALFSEEN_COMPILE_AHEAD"] == "0"  # starts none itself
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert started[0].poll() is not None


def test_who_waits_compiles_the_last_job_in_the_meantime(monkeypatch):
    here = []
    pool = Pool()
    first, second, third = (compile_ahead.Job(name, b"") for name in ("first", "second", "third"))

    def compile_here(cell):
        here.append(cell)
        first.ended.set()

    monkeypatch.setattr(compile_ahead, "_compile_here", compile_here)
    pool.start([first, second, third], 0)
    assert pool._take(0) is first  # as a process would
    pool.settle(first)
    assert here == ["third"]
    pool.settle(third)
    pool.settle(second)  # left to the caller
    assert here == ["third"]
    pool.close()


SCRIPT = """
    import sys
    from halfseen import UCB, ArmedBandit, GaussianThompson, Study, Uniform, simulate
    from halfseen.engine import compile_ahead
    from halfseen.engine.player import cell_loop
    from halfseen.engine.specialise import compiled
    print("the script runs", flush=True)
    compile_ahead.spare_cores = lambda: 1
    policies = {"one": UCB(), "other": GaussianThompson()}
    study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), policies, horizon=20, baseline=False)
    start = compile_ahead.Pool.start
    def noted(pool, jobs, most):
        start(pool, jobs, most)
        print(*(process.pid for process in pool._processes), flush=True)
    compile_ahead.Pool.start = noted
    labels = []
    simulate(study, workers=2, progress=lambda done, total, label: labels.append(label))
    print(*sorted({label for label in labels if label.startswith("compiling")}), sep=", ")
    loops = [cell_loop(cell, compiled) for _, cell in study.cells()]
    print(*(sum(loop.stats.cache_hits.values()) for loop in loops))
    compiled.cache_clear()
    simulate(study, workers=2)
    print("the script ends")
"""


def script(tmp_path):
    path = tmp_path / "plain_script.py"
    path.write_text(textwrap.dedent(SCRIPT))
    environment = os.environ | {
        "HALFSEEN_CACHE_DIR": str(tmp_path / "cache"),
        "HALFSEEN_COMPILE_AHEAD": "1",
        "PYTHONPATH": SOURCE,
    }
    return subprocess.Popen(
        [sys.executable, path],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_a_plain_script_has_its_second_policy_compiled_once_by_another_process(tmp_path):
    with script(tmp_path) as process:
        printed, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    begins, pid, _, hits, ends, nothing = printed.split("\n")
    assert (begins, ends, nothing) == ("the script runs", "the script ends", "")
    assert int(pid) != process.pid
    assert hits == "0 1"


def alive(pid):
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_when_the_study_is_stopped_or_killed(how, tmp_path):
    with script(tmp_path) as process:
        assert process.stdout.readline() == "the script runs\n"
        (pid,) = map(int, process.stdout.readline().split())
        assert alive(pid)
        process.send_signal(how)
        process.communicate(timeout=60)
        deadline = time.monotonic() + 60.0
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not alive(pid)
