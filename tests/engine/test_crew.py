"""Threads that work while the main thread waits."""

import signal
import subprocess
import sys
import threading
import time

import pytest

from halfseen.engine.crew import Crew, stepwise


def test_results_come_back_and_errors_are_raised_where_they_are_waited_for():
    crew = Crew(2)
    crew.submit(lambda: 3)
    assert crew.result() == 3
    crew.submit(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        crew.result()
    crew.close()


def test_an_interrupt_is_heard_while_a_task_goes_on():
    crew, never = Crew(1), threading.Event()
    crew.submit(never.wait)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = time.monotonic()
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            crew.result()
        crew.close()
    finally:
        signal.signal(signal.SIGINT, before)
        never.set()
    assert time.monotonic() - started < 20


def test_closing_drops_what_was_not_begun():
    crew, begun, go = Crew(1), threading.Event(), threading.Event()
    done = []
    crew.submit(lambda: (begun.set(), go.wait()))
    crew.submit(lambda: done.append(1))
    begun.wait()
    crew.close(patience=0.01)
    go.set()
    time.sleep(0.05)
    assert not done


def test_an_iterator_is_stepped_in_another_thread():
    def steps():
        for _ in range(3):
            yield threading.current_thread()

    seen = list(stepwise(steps()))
    assert len(seen) == 3
    assert threading.main_thread() not in seen


BODY = """
import importlib
from halfseen.engine.crew import Crew, stepwise
crew = Crew(1)
found = crew.run(lambda: importlib.import_module(__name__))
steps = list(stepwise(importlib.import_module(__name__) for _ in range(2)))
"""
STUDY = """
import numpy as np
from dataclasses import dataclass
from halfseen import ArmedBandit, Policy, Study, Uniform, simulate
def fewest(state, arm, clock, stream, table):
    return -state[arm, 0]
@dataclass(frozen=True)
class Fewest(Policy):
    kind = "fewest"
    index = staticmethod(fewest)
    def table(self, setting):
        return np.zeros((setting.arms, 1))
study = Study(ArmedBandit([0.5, 0.4]), Uniform(0.5), Fewest(), horizon=20, replications=5)
found = simulate(study)
"""


@pytest.mark.parametrize("body", [BODY, pytest.param(STUDY, marks=pytest.mark.slow)])
def test_a_module_that_simulates_while_it_is_imported_does_not_wait_for_itself(body, tmp_path):
    (tmp_path / "experiment.py").write_text(body)
    code = "from experiment import found; print('imported')"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert ended.stdout.endswith("imported\n"), ended.stderr
