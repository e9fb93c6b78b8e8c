"""The command as a user feels it: how soon it starts, how much memory it takes."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SMALL = """
horizon = 1000
replications = 1
baseline = false
[problems.two]
kind = "arms"
means = [0.6, 0.5]
[censorships.half]
kind = "uniform"
observe = 0.5
[policies.ucb]
kind = "ucb"
"""

LARGE = """
horizon = 1_000_000
replications = 100_000
checkpoints = 50
baseline = false
[problems.ten]
kind = "arms"
means = [0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05]
[censorships.rare]
kind = "uniform"
observe = 0.01
[policies.ucb]
kind = "ucb"
"""


def halfseen(*arguments):
    """Run the command and return its wall-clock seconds."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "halfseen", *map(str, arguments)],
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


def startup(repeats=3):
    """Return how long the help takes and how soon a second run has finished its first cell."""
    help_seconds = min(halfseen("--help") for _ in range(repeats))
    first_cell = []
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "small.toml"
        spec.write_text(SMALL)
        for run in range(repeats + 1):
            out = Path(folder) / f"out{run}"
            started = time.time()
            halfseen("study", spec, "--out", out)
            if run > 0:
                written = next(out.glob("cells/*/cell.json")).stat().st_mtime
                first_cell.append(written - started)
    return [
        {
            "benchmark": "halfseen --help",
            "halfseen": f"{help_seconds:.2f} s",
            "other": "",
            "ratio": None,
            "target": "< 0.4 s",
        },
        {
            "benchmark": "second run: first cell played and on disk",
            "halfseen": f"{min(first_cell):.2f} s",
            "other": "",
            "ratio": None,
            "target": "< 1.5 s",
        },
    ]


def memory():
    """Return the peak memory of 100,000 replications of 1,000,000 rounds."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "large.toml"
        spec.write_text(LARGE)
        seconds = halfseen("study", spec, "--out", Path(folder) / "out")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    return [
        {
            "benchmark": "100,000 x 1,000,000 rounds, p=0.01, 50 checkpoints, report included",
            "halfseen": f"{peak:.2f} GiB, {seconds:.0f} s",
            "other": "",
            "ratio": None,
            "target": "< 1.5 GB",
        }
    ]


if __name__ == "__main__":
    for row in startup() + memory():
        print(row)
