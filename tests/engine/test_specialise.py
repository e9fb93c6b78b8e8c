"""Compiled code is found again on disk, and only then."""

import subprocess
import sys

import numpy as np

from halfseen import UCB
from halfseen.engine.rounds import play
from halfseen.engine.specialise import _walk, compiled, fitted
from halfseen.policies import UCB1


def fingerprint(function):
    notes = []
    _walk(function, {}, notes.append)
    return b"|".join(notes)


def test_fingerprint_sees_kernels_callees_and_constants():
    base = fitted(play, UCB().kernels(), True)
    again = fitted(play, UCB().kernels(), True)
    other = fitted(play, UCB1().kernels(), False)
    assert fingerprint(base) == fingerprint(again)
    assert fingerprint(base) != fingerprint(other)
    changed = fitted(play, UCB().kernels(), True)
    changed.__globals__["feedback"] = fitted(changed.__globals__["feedback"], UCB().kernels(), True)
    changed.__globals__["feedback"].__globals__["LONGEST_WAIT"] = 7.0
    assert fingerprint(base) != fingerprint(changed)


def test_each_policy_and_mode_is_compiled_once_per_process():
    assert compiled(play, UCB().kernels(), True) is compiled(play, UCB(2.0).kernels(), True)


SCRIPT = """
import sys
import numpy as np
from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
from halfseen.engine.rounds import play
from halfseen.engine.specialise import compiled
simulate(Study(ArmedBandit([0.5, 0.4]), Uniform(0.5), UCB(), 50, 3))
stats = compiled(play, UCB().kernels(), True).stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def test_second_process_compiles_nothing(tmp_path):
    """The first run in an empty cache compiles; the second finds everything on disk."""
    import os

    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
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
    assert outputs == [["0", "1"], ["1", "0"]]
    assert np.array(outputs).shape == (2, 2)
