"""How often each warning of the audit is wrong, and how often it finds what it is for.

Run `python benchmarks/false_alarms.py [LOGS [clean|defects]]`: both tables of the documentation
page "What each warning tests", from the made logs of the tests; 100 logs of a kind if left out.
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from logs.warnings.made_logs import CLEAN, DEFECTS, DELAYS_DIFFER, TRUE_OF_CLEAN, UNDECIDABLE, kinds


def clean(logs: int) -> None:
    """Print how many clean logs of each kind raise a warning."""
    print("| clean log | any warning | which |\n|---|---|---|")
    for kind, change in (CLEAN | DELAYS_DIFFER).items():
        true = TRUE_OF_CLEAN.get(kind, set())
        found = [kinds(kind, change, seed) for seed in range(logs)]
        wrong = Counter(name for names in found for name in names - true)
        which = ", ".join(f"`{name}` {times}" for name, times in wrong.most_common())
        rightly = "".join(f"; rightly `{t}` {sum(t in names for names in found)}" for t in true)
        together = sum(bool(names - true) for names in found)
        print(f"| {kind} | {together} of {logs} | {which or '–'}{rightly} |", flush=True)


def defects(logs: int) -> None:
    """Print how many logs with a defect raise its warning."""
    print("| defect | warning | found |\n|---|---|---|")
    cases = [(kind, *case[:2]) for kind, case in DEFECTS.items()]
    cases += [(kind, *case) for kind, case in UNDECIDABLE.items()]
    for kind, change, warning in cases:
        times = sum(warning in kinds(kind, change, seed) for seed in range(logs))
        hidden = " (leaves no trace)" if kind in UNDECIDABLE else ""
        print(f"| {kind}{hidden} | `{warning}` | {times} of {logs} |", flush=True)


if __name__ == "__main__":
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for part in (clean, defects):
        if len(sys.argv) < 3 or sys.argv[2] == part.__name__:
            part(logs)
