"""Evaluating a policy on a long log: how long it takes and how much memory."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

ROWS = 10_000_000
MAKE = """
COPY (
    SELECT 'context ' || hash(range + 1) % 2 AS context,
           'arm ' || hash(range) % 10 AS arm,
           CASE WHEN hash(range + 7) % 1000 < 300 + hash(range) % 10 * 60
                THEN {reward} END AS reward,
           {chance} AS chance
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""
LOGS = {
    "rewards of 0 and 1": ("CAST(hash(range * 3) % 10 < 3 AS INTEGER)", "0.1"),
    "real rewards": ("(hash(range * 3) % 100000) / 1000.0", "0.1"),
    "a propensity for each row": (
        "CAST(hash(range * 3) % 10 < 3 AS INTEGER)",
        "0.05 + (hash(range * 5) % 1000003) / 1e7",
    ),
}


def evaluate(rows=ROWS):
    """Return the time and peak memory of `halfseen value` on Parquet, two contexts by ten arms."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        for title, (reward, chance) in LOGS.items():
            with duckdb.connect() as connection:
                connection.execute("SET memory_limit = '2GB'; SET preserve_insertion_order = false")
                connection.execute(MAKE.format(rows=rows, path=path, reward=reward, chance=chance))
            seconds, busy, peak = _evaluated(path)
            found.append(
                {
                    "benchmark": f"value of a policy from {rows:.0e} rows of Parquet, {title}",
                    "halfseen": f"{seconds:.1f} s ({busy:.1f} s of CPU), {peak:.2f} GiB",
                    "other": "",
                    "ratio": None,
                    "target": "< 20 s, < 1 GB for 2 contexts x 10 arms",
                }
            )
    return found


def _evaluated(path):
    """Return seconds, CPU seconds and peak GiB of the command."""
    options = "--action arm --reward reward --context context --propensity chance"
    command = [sys.executable, "-m", "halfseen", "value", str(path), *options.split()]
    started = time.perf_counter()
    child = subprocess.Popen([*command, "--always", "arm 3"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)  # of this process alone
    if status:
        raise SystemExit("halfseen value failed")
    seconds = time.perf_counter() - started
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024**2


if __name__ == "__main__":
    for row in evaluate(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(row)
