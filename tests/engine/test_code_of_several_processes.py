"""Code that several processes compiled is told apart when one process loads all of it."""

import os
import subprocess
import sys

import pytest

PLAY = """
import sys
import numpy as np
from halfseen import (
    IMED, UCB, ArmedBandit, FiniteActions, LinearBandit, LinThompson, LinUCB, Study,
    Uniform, simulate,
)

ARMED = {"ucb": UCB(), "imed": IMED()}
LINEAR = {"lin-ucb": LinUCB(), "thompson": LinThompson()}
line = LinearBandit([0.6, 0.2], 0.5, FiniteActions([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]))
SIZES = {"replications": 3}, {"replications": 1, "checkpoints": 1}  # arrays of another layout
for size in SIZES:
    for name in sys.argv[1:]:
        problem = ArmedBandit([0.6, 0.5], noise=0.5) if name in ARMED else line
        policy = (ARMED | LINEAR)[name]
        study = Study(problem, Uniform(0.5), policy, horizon=60, baseline=False, **size)
        fast, plain = simulate(study), simulate(study, engine="reference")
        for track in fast.tracks:
            assert np.array_equal(fast.tracks[track], plain.tracks[track]), (name, track)
"""


def play(cache, *policies):
    environment = os.environ | {"HALFSEEN_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PLAY, *policies], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "policies", [("ucb", "imed"), ("lin-ucb", "thompson", "ucb")], ids=" ".join
)
def test_loops_that_different_processes_compiled_do_not_stand_in_for_each_other(tmp_path, policies):
    for policy in policies:
        play(tmp_path, policy)
    play(tmp_path, *policies)
