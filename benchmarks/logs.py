"""Auditing a long log: how long it takes, next to a plain group-by, and how much memory."""

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
    SELECT CAST(hash(range) % {arms} AS INTEGER) AS action,
           CASE WHEN hash(range + 7) % 1000 < 100 + hash(range) % 50 * 15
                THEN (hash(range * 3) % 1000) / 1000.0 END AS reward,
           epoch_ms(1700000000000 + range) AS moment
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""
PLAIN = "SELECT action, count(*), count(reward), avg(reward) FROM '{path}' GROUP BY action"
TITLES = {"rates": [], "rates, drift and warnings": ["--time", "moment"]}


def audit(rows=ROWS):
    """Return the time and peak memory of `halfseen audit` on Parquet, report included."""
    found = in_one_process(2 * rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        plain = _made(path, rows, 50)
        for title, more in TITLES.items():
            seconds, busy, peak = _audited(path, [*more, "--out", Path(folder) / "out"])
            found.append(
                {
                    "benchmark": f"audit of {rows:.0e} rows of Parquet, {title}, with report",
                    "halfseen": f"{seconds:.1f} s ({busy:.1f} s of CPU), {peak:.2f} GiB",
                    "other": f"plain group-by in DuckDB: {plain:.1f} s of CPU",
                    "ratio": busy / plain,
                    "target": "< 15 s, < 1 GB for 1e8",
                }
            )
        many = Path(folder) / "many.parquet"
        plain = _made(many, rows // 2, 1_000_000)
        seconds, busy, peak = _audited(many, [])
        found.append(
            {
                "benchmark": f"audit of {rows // 2:.0e} rows of 1e6 arms",
                "halfseen": f"{seconds:.1f} s ({busy:.1f} s of CPU), {peak:.2f} GiB",
                "other": f"plain group-by in DuckDB: {plain:.1f} s of CPU",
                "ratio": busy / plain,
                "target": "< 1 GB",
            }
        )
    return found


def in_one_process(rows):
    """Return the CPU time of `halfseen.audit` next to a plain group-by, in turns in one process."""
    import halfseen

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "log.parquet"
        _made(path, rows, 50)
        ways = {
            "plain": lambda: connection.execute(PLAIN.format(path=path)).fetchnumpy(),
            "without time": lambda: halfseen.audit(path, action="action", reward="reward"),
            "with time": lambda: halfseen.audit(
                path, action="action", reward="reward", time="moment"
            ),
        }
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(4):  # the first turn loads what it needs
            for name, play in ways.items():
                started = time.process_time()
                play()
                best[name] = min(best[name], time.process_time() - started)
    return [
        {
            "benchmark": f"halfseen.audit of {rows:.0e} rows of Parquet, {name}",
            "halfseen": f"{best[name]:.2f} s of CPU",
            "other": f"plain group-by in DuckDB: {best['plain']:.2f} s of CPU",
            "ratio": best[name] / best["plain"],
            "target": target,
        }
        for name, target in (("without time", "< 3.9"), ("with time", "< 6"))
    ]


def _made(path, rows, arms):
    """Write a log and return the CPU seconds of a plain group-by of it."""
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '2GB'; SET preserve_insertion_order = false")
        connection.execute(MAKE.format(rows=rows, path=path, arms=arms))
        times = []
        for _ in range(3):
            started = time.process_time()
            connection.execute(PLAIN.format(path=path)).fetchnumpy()
            times.append(time.process_time() - started)
    return min(times)


def _audited(path, more):
    """Return seconds, CPU seconds and peak GiB of the command."""
    command = [sys.executable, "-m", "halfseen", "audit", path, "--action", "action"]
    command += ["--reward", "reward", *more]
    started = time.perf_counter()
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)  # of this process alone
    if status:
        raise SystemExit("halfseen audit failed")
    seconds = time.perf_counter() - started
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024**2


if __name__ == "__main__":
    for row in audit(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(row)
