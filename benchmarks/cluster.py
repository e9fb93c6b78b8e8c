"""The dask engine on this machine against the cpu engine with as many workers.

Run `python benchmarks/cluster.py [SECONDS]`: the size of the study is chosen so that the cpu engine
takes about that long, 60 s if left out. Both run the same study, the cpu engine before and after.
"""

import os
import sys
import time

import numpy as np

from halfseen import UCB, ArmedBandit, Study, Uniform, simulate

WORKERS = os.cpu_count() or 1


def study(replications):
    problem = ArmedBandit(0.5 - 0.5 * np.arange(10) / 10)
    return Study(problem, Uniform(0.5), UCB(), 100_000, replications)


def seconds(replications, engine):
    started = time.perf_counter()
    result = simulate(study(replications), engine=engine, workers=WORKERS)
    return time.perf_counter() - started, result


def main():
    wanted = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    seconds(2, "cpu")
    replications = max(2, int(wanted * 100 / seconds(100, "cpu")[0]))
    before, expected = seconds(replications, "cpu")
    spread, found = seconds(replications, "dask")
    after, _ = seconds(replications, "cpu")
    same = all(np.array_equal(expected.tracks[k], found.tracks[k]) for k in expected.tracks)
    cpu = (before + after) / 2
    print(
        f"{WORKERS} workers, {replications:,} replications: cpu {before:.1f} and {after:.1f} s,"
        f" dask {spread:.1f} s, ratio {spread / cpu:.3f}; same numbers: {same}"
    )


if __name__ == "__main__":
    main()
