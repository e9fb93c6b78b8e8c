"""Compiled code is found again on disk, and only then."""

import os
import subprocess
import sys
from dataclasses import replace
from types import FunctionType

import numba
import numpy as np
import pytest

from halfseen import UCB
from halfseen.engine.loops.arms import play
from halfseen.engine.loops.live import select
from halfseen.engine.specialise import compiled, fitted
from halfseen.kernels.reachable import _walk
from halfseen.policies import UCB1


def fingerprint(function):
    notes = []
    _walk(function, {}, notes.append)
    return b"|".join(notes)


def test_fingerprint_sees_kernels_callees_and_constants():
    base = fitted(play, UCB().kernels(), JUMPS=True)
    again = fitted(play, UCB().kernels(), JUMPS=True)
    other = fitted(play, UCB1().kernels(), JUMPS=False)
    assert fingerprint(base) == fingerprint(again)
    assert fingerprint(base) != fingerprint(other)
    changed = fitted(play, UCB().kernels(), JUMPS=True)
    inner = changed.__globals__["play_once"].__globals__
    inner["feedback"] = fitted(inner["feedback"], UCB().kernels(), JUMPS=True)
    inner["feedback"].__globals__["NOISE"] = 7
    assert fingerprint(base) != fingerprint(changed)


def test_fingerprint_sees_defaults():
    def tolerant(x, tolerance=1e-9):
        return x > tolerance

    before = fingerprint(tolerant)
    tolerant.__defaults__ = (1e-6,)
    assert fingerprint(tolerant) != before


def test_each_policy_and_mode_is_compiled_once_per_process():
    assert compiled(play, UCB().kernels(), JUMPS=True) is compiled(
        play, UCB(2.0).kernels(), JUMPS=True
    )


def test_code_that_cannot_be_imported_again_is_not_kept(tmp_path):
    """A policy typed into exec compiles every time instead of failing the second time."""
    source = (
        "def index(state, arm, clock, stream, table):\n    return state[arm, 1] + table[arm, 0]\n"
    )
    for _ in range(2):
        names = {"__name__": "nowhere"}
        exec(source, names)
        kernels = replace(UCB().kernels(), index=names["index"], width=None)
        select_arm = compiled(select, kernels)
        state, table = np.zeros((2, 2)), np.array([[1.0], [2.0]])
        plays, playable = np.zeros(2), np.ones(2, np.uint8)
        assert select_arm(state, plays, playable, 1, 0, 0, table) == 1
        assert not select_arm.stats.cache_hits


SCRIPT = """
import sys
import numba
import numpy as np
from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
from halfseen.engine.loops.arms import play
from halfseen.engine.specialise import compiled
study = Study(ArmedBandit([0.5, 0.4]), Uniform(0.5), UCB(), horizon=50, replications=3)
simulate(study)
stats = compiled(play, UCB().kernels(), **next(study.cells())[1].open_names).stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
print("scipy.linalg" in sys.modules)
"""


@pytest.mark.slow
def test_second_process_compiles_nothing_and_imports_nothing_of_the_compiler(tmp_path):
    """The first run in an empty cache compiles; the second finds everything on disk."""
    environment = os.environ | {"HALFSEEN_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert outputs == [["0", "1", "True"], ["1", "0", "False"]]


def test_without_jit_loops_are_plain_python(monkeypatch):
    """NUMBA_DISABLE_JIT=1, for a debugger, ended in an AttributeError."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    loop = compiled(play, UCB().kernels(), JUMPS=True, NOTE="plain")
    assert isinstance(loop, FunctionType)
