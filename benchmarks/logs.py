"""Auditing a long log: how long it takes and how much memory."""

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
    SELECT CAST(hash(range) % 50 AS INTEGER) AS action,
           CASE WHEN hash(range + 7) % 1000 < 100 + hash(range) % 50 * 15
                THEN (hash(range * 3) % 1000) / 1000.0 END AS reward,
           epoch_ms(1700000000000 + range) AS moment
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""


def audit(rows=ROWS):
    """Return the time and peak memory of `halfseen audit` on Parquet, report included."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        with duckdb.connect() as connection:
            connection.execute(MAKE.format(rows=rows, path=path))
        for title, more in (("rates", []), ("rates, drift and warnings", ["--time", "moment"])):
            command = [sys.executable, "-m", "halfseen", "audit", path, "--action", "action"]
            command += ["--reward", "reward", "--out", Path(folder) / "out", *more]
            started = time.perf_counter()
            child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(child.pid, 0)  # of this process alone
            seconds = time.perf_counter() - started
            if status:
                raise SystemExit("halfseen audit failed")
            peak, busy = used.ru_maxrss / 1024**2, used.ru_utime + used.ru_stime
            found.append(
                {
                    "benchmark": f"audit of {rows:.0e} rows of Parquet, {title}, with report",
                    "halfseen": f"{seconds:.1f} s ({busy:.1f} s of CPU), {peak:.2f} GiB",
                    "other": "",
                    "ratio": None,
                    "target": "< 15 s, < 1 GB for 1e8",
                }
            )
    return found


if __name__ == "__main__":
    for row in audit(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(row)
