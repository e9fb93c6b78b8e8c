"""The dask engine on this machine against the cpu engine with as many threads.

Run `python benchmarks/cluster.py [SECONDS [REPEATS]]`: the size of the study is chosen so that one
thread takes about that long, 120 s if left out. All ways take turns; medians are printed. Processor
seconds count every process and tell the overhead even where others use the machine.
"""

import os
import resource
import statistics
import sys
import time

import numpy as np

from halfseen import UCB, ArmedBandit, Study, Uniform, simulate

WAYS = {
    "cpu, 1 thread": ("cpu", 1),
    "dask, 1 worker": ("dask", 1),
    "cpu, 2 threads": ("cpu", 2),
    "dask, 2 workers": ("dask", 2),
}


def study(replications):
    problem = ArmedBandit(0.5 - 0.5 * np.arange(10) / 10)
    return Study(problem, Uniform(0.5), UCB(), 100_000, replications)


def processor():
    """Return the processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def played(replications, engine, workers):
    """Return the result, its seconds and its processor seconds."""
    started, before = time.perf_counter(), processor()
    result = simulate(study(replications), engine=engine, workers=workers)
    return result, time.perf_counter() - started, processor() - before


def main():
    wanted = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    played(2, "cpu", 1)
    replications = max(2, int(wanted * 100 / played(100, "cpu", 1)[2]))
    print(f"{os.cpu_count()} cores, 2 cells of {replications:,} replications, {repeats} turns")
    expected, times = None, {way: [] for way in WAYS}
    for turn in range(repeats):
        for way, (engine, workers) in WAYS.items():
            result, *seconds = played(replications, engine, workers)
            times[way].append(seconds)
            expected = expected or result.tracks
            same = all(np.array_equal(expected[name], result.tracks[name]) for name in expected)
            print(
                f"turn {turn + 1}, {way}: {seconds[0]:.1f} s, processor {seconds[1]:.1f} s", end=""
            )
            print(flush=True) if same else sys.exit(": other numbers")
    print(f"\n{'':16}  seconds  processor seconds  over the cpu engine")
    middle = {way: np.median(np.array(found), axis=0) for way, found in times.items()}
    for way, (engine, workers) in WAYS.items():
        cpu = f"cpu, {workers} thread" + "s" * (workers > 1)
        ratios = [(a / b - 1) for (_, a), (_, b) in zip(times[way], times[cpu], strict=True)]
        over = "" if engine == "cpu" else f"{statistics.median(ratios):+.1%} processor"
        print(f"{way:16}  {middle[way][0]:7.1f}  {middle[way][1]:17.1f}  {over}")


if __name__ == "__main__":
    main()
