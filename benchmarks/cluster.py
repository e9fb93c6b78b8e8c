"""The dask engine on this machine against the cpu engine with as many threads.

Run `python benchmarks/cluster.py [SECONDS [TURNS]]`: the size of the study is chosen so that one
thread takes about that long, 120 s if left out. All ways take turns; medians are printed. Overhead
is told twice: by the clock, and by processor seconds that any process spent outside the loops,
which stays right where others use the machine.
"""

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
from halfseen.engine import player
from halfseen.engine.backends import dask as cluster

WAYS = {
    "cpu, 1 thread": ("cpu", 1),
    "dask, 1 worker": ("dask", 1),
    "cpu, 2 threads": ("cpu", 2),
    "dask, 2 workers": ("dask", 2),
}
SPENT = "HALFSEEN_SPENT"  # names the folder in which threads note what they spent in loops


def study(replications):
    problem = ArmedBandit(0.5 - 0.5 * np.arange(10) / 10)
    return Study(problem, Uniform(0.5), UCB(), horizon=100_000, replications=replications)


def noting(cell, fit, **options):
    """Return the player of a cell that notes its processor seconds."""
    play = player.player(cell, fit, **options)

    def noted(*arguments):
        before = time.thread_time()
        play(*arguments)
        with (Path(os.environ[SPENT]) / f"{os.getpid()}").open("a") as file:
            file.write(f"{time.thread_time() - before}\n")

    return noted


cluster.player = noting  # here and in the workers, which import this file


def processor():
    """Return the processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def played(replications, engine, workers):
    """Return the result, its seconds, and its processor seconds in all and in loops."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[SPENT] = folder
        started, before = time.perf_counter(), processor()
        result = simulate(study(replications), engine=engine, workers=workers)
        seconds, spent = time.perf_counter() - started, processor() - before
        notes = " ".join(file.read_text() for file in Path(folder).iterdir())
    return result.tracks, (seconds, spent, sum(map(float, notes.split())) or spent)


def main():
    wanted = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    played(2, "cpu", 1)
    replications = max(2, int(wanted * 100 / played(100, "cpu", 1)[1][1]))
    print(f"{os.cpu_count()} cores, 2 cells of {replications:,} replications, {turns} turns")
    print("                  seconds  processor  outside loops")
    expected, times = None, {way: [] for way in WAYS}
    for _ in range(turns):
        for way, (engine, workers) in WAYS.items():
            tracks, found = played(replications, engine, workers)
            times[way].append(found)
            print(row(way, found), flush=True)
            expected = expected or tracks
            if not all(np.array_equal(expected[name], tracks[name]) for name in expected):
                sys.exit("Other numbers.")
    print("\nMedians; all ways gave the same numbers.")
    for way, found in times.items():
        print(row(way, np.median(np.array(found), axis=0)))


def row(way, found):
    """Return a line of the table: seconds, processor seconds and their share outside loops."""
    seconds, spent, loops = found
    outside = f"{spent / loops - 1.0:13.1%}" if way.startswith("dask") else ""
    return f"{way:16}  {seconds:7.1f}  {spent:9.1f}  {outside}"


if __name__ == "__main__":
    main()
