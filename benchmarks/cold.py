"""The first run of a newcomer: CPU seconds from an empty cache of compiled code."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from command import SMALL

LINEAR = """
horizon = 1000
replications = 1
baseline = false
[problems.contexts]
kind = "linear"
theta = [0.6, 0.3, 0.1]
actions = { kind = "random-actions", count = 5, dimension = 3 }
[censorships.half]
kind = "uniform"
observe = 0.5
[policies.linucb]
kind = "lin-ucb"
"""


def cpu_seconds(spec, cache):
    """Return the CPU seconds of one study with the given cache."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(spec)
        return _cpu_seconds(PLAY, path, HALFSEEN_CACHE_DIR=str(cache))


def further_seconds(first, second, cache):
    """Return the CPU seconds of a second study in the process that has played the first."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("first.toml", "second.toml")]
        for path, spec in zip(paths, (first, second), strict=True):
            path.write_text(spec)
        printed = subprocess.run(
            [sys.executable, "-c", PLAY_BOTH, *paths],
            env=os.environ | {"HALFSEEN_CACHE_DIR": str(cache)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return float(printed.split()[-1])


def _cpu_seconds(code, *arguments, **environment):
    """Return the CPU seconds of a program in a new Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


PLAY = """
import sys
from halfseen import simulate
from halfseen.studies.spec import read_spec
simulate(read_spec(sys.argv[1]))
"""

# CPU seconds of the second of two studies in one process.
PLAY_BOTH = """
import sys, time
from halfseen import simulate
from halfseen.studies.spec import read_spec
simulate(read_spec(sys.argv[1]))
before = time.process_time()
simulate(read_spec(sys.argv[2]))
print(time.process_time() - before)
"""

# What numba takes for a loop of three lines: the least a first study can take, on any machine.
PLAIN = """
import numba, numpy
@numba.njit
def add(values):
    total = 0.0
    for value in values:
        total += value
    return total
add(numpy.ones(3))
"""


def first_runs(repeats=3):
    """Return rows for arms and linear bandits: a first policy and a second one on the same loop.

    The ratio is to numba compiling a loop of three lines in the same run: seconds say as much of
    the machine, whose speed can double within a day, as of the code.
    """
    other = {
        "arms": SMALL.replace(
            '[policies.ucb]\nkind = "ucb"', '[policies.ts]\nkind = "gaussian-thompson"'
        ),
        "linear": LINEAR.replace('kind = "lin-ucb"', 'kind = "lin-thompson"'),
    }
    rows = []
    for name, first, target in (("arms", SMALL, 3.0), ("linear", LINEAR, 6.0)):
        cold, warm, second, further, plain = [], [], [], [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(cpu_seconds(first, cache))
                warm.append(cpu_seconds(first, cache))
                second.append(cpu_seconds(other[name], cache))
                plain.append(_cpu_seconds(PLAIN))
            with tempfile.TemporaryDirectory() as cache:
                further.append(further_seconds(first, other[name], cache))
        for what, seconds, most in (
            (f"first {name} study, empty cache", min(cold), target),
            (f"another {name} policy in the same process", min(further), 1.5),
            (f"another {name} policy in a new process", min(second), None),
            (f"{name} study, everything compiled", min(warm), None),
        ):
            rows.append(
                {
                    "benchmark": what,
                    "halfseen": f"{seconds:.1f} s of CPU",
                    "other": f"numba, three lines: {min(plain):.1f} s",
                    "ratio": seconds / min(plain),
                    "target": "" if most is None else f"< {most:g} s",
                }
            )
    return rows
