"""How often each warning of the audit is wrong, and how often it finds what it is for.

Run `python benchmarks/false_alarms.py [LOGS [clean|defects]]`: both tables of the documentation
page "What each warning tests", from the made logs of the tests; 100 logs of a kind if left out.
Every core takes a log at a time.
"""

import os
import sys
from collections import Counter
from multiprocessing import Pool, current_process
from multiprocessing.pool import Pool as Workers
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from logs.warnings.made_logs import CLEAN, DEFECTS, DELAYS_DIFFER, TRUE_OF_CLEAN, UNDECIDABLE, kinds

CASES = dict(CLEAN | DELAYS_DIFFER)
CASES |= {kind: case[0] for kind, case in (DEFECTS | UNDECIDABLE).items()}


def keep_to_one_core() -> None:
    """Bind a worker to a core, so that the database in it starts no threads for all of them."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[current_process()._identity[0] % len(cores)]})


def one(case: tuple[str, int]) -> set[str]:
    """Return the warnings of the log of a kind and a seed."""
    kind, seed = case
    return kinds(kind, CASES[kind], seed)


def clean(logs: int, pool: Workers) -> None:
    """Print how many clean logs of each kind raise a warning."""
    print("| clean log | any warning | which |\n|---|---|---|")
    for kind in CLEAN | DELAYS_DIFFER:
        true = TRUE_OF_CLEAN.get(kind, set())
        found = pool.map(one, [(kind, seed) for seed in range(logs)], chunksize=1)
        wrong = Counter(name for names in found for name in names - true)
        which = ", ".join(f"`{name}` {times}" for name, times in wrong.most_common())
        rightly = "".join(f"; rightly `{t}` {sum(t in names for names in found)}" for t in true)
        together = sum(bool(names - true) for names in found)
        print(f"| {kind} | {together} of {logs} | {which or '–'}{rightly} |", flush=True)


def defects(logs: int, pool: Workers) -> None:
    """Print how many logs with a defect raise its warning."""
    print("| defect | warning | found |\n|---|---|---|")
    for kind, case in (DEFECTS | UNDECIDABLE).items():
        found = pool.map(one, [(kind, seed) for seed in range(logs)], chunksize=1)
        hidden = " (leaves no trace)" if kind in UNDECIDABLE else ""
        times = sum(case[1] in names for names in found)
        print(f"| {kind}{hidden} | `{case[1]}` | {times} of {logs} |", flush=True)


if __name__ == "__main__":
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with Pool(initializer=keep_to_one_core if hasattr(os, "sched_setaffinity") else None) as pool:
        for part in (clean, defects):
            if len(sys.argv) < 3 or sys.argv[2] == part.__name__:
                part(logs, pool)
