"""Decisions and outcomes of `halfseen serve` against an empty POST of the same framework.

`python benchmarks/service.py [--database ADDRESS] [--seconds S] [--rounds N]` needs wrk. One
process each, uvloop and httptools, 16 connections, in turns; SQLite with synchronous=FULL unless a
PostgreSQL address is given, so every answer is on disk. Also: how long the service takes to start
from a snapshot, how much memory pending decisions take, and for how long a snapshot of them holds
up the others (`--start`, `--pending`, `--snapshot`).
"""

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

EMPTY = """
from fastapi import FastAPI
app = FastAPI()

@app.post("/empty")
async def empty():
    return {}
"""
LOOPS = """
[loops.bench]
arms = ["a", "b", "c"]
policy = { kind = "POLICY" }
reward = "bernoulli"
window = 600
"""
PAIRS = """
local ids = {}
request = function()
  local id = table.remove(ids)
  if id then
    return wrk.format("POST", "/v1/decisions/" .. id .. "/outcome", wrk.headers, '{"reward":1}')
  end
  return wrk.format("POST", "/v1/loops/bench/decisions", wrk.headers, "{}")
end
response = function(status, headers, body)
  if status == 201 then ids[#ids + 1] = body:match('"id":"(%w+)"') end
end
"""
DECISIONS = """
request = function() return wrk.format("POST", PATH, wrk.headers, "{}") end
"""
HEADERS = 'wrk.headers["Content-Type"] = "application/json"\n'
CONNECTIONS = 16


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def started(command, port, **options):
    """Start a server and wait until it listens."""
    server = subprocess.Popen([str(part) for part in command], **options)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            return server
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(command)


def processor_seconds(server):
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(server, port, script, seconds):
    """Return requests per second, p99 in ms, failures, and processor microseconds a request."""
    before = processor_seconds(server)
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(script)]
    said = subprocess.run(
        [*command, f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True
    ).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    p99 = float(value) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]
    requests = int(re.search(r"(\d+) requests in", said)[1])
    used = 1e6 * (processor_seconds(server) - before) / requests
    return rate, p99, int(failed[1]) if failed else 0, used


def compare(folder, database, policy, seconds, rounds):
    """Measure in turns, and print the medians and their ratios to the empty POST."""
    (folder / "empty_app.py").write_text(EMPTY)
    loops = folder / "loops.toml"
    loops.write_text(LOOPS.replace("POLICY", policy))
    scripts = {
        "empty": HEADERS + DECISIONS.replace("PATH", '"/empty"'),
        "decisions": HEADERS + DECISIONS.replace("PATH", '"/v1/loops/bench/decisions"'),
        "decisions and outcomes": HEADERS + PAIRS,
    }
    for name, text in scripts.items():
        (folder / f"{name}.lua").write_text(text)
    first, second = free_port(), free_port()
    uvicorn = [sys.executable, "-m", "uvicorn", "empty_app:app", "--port", first]
    uvicorn += [
        "--loop",
        "uvloop",
        "--http",
        "httptools",
        "--no-access-log",
        "--log-level",
        "error",
    ]
    serve = [sys.executable, "-m", "halfseen", "serve", "--open", "--database", database]
    serve += ["--loops", loops, "--port", second]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    servers = [started(uvicorn, first, cwd=folder), started(serve, second, **quiet)]
    found = {name: [] for name in scripts}
    try:
        for turn in range(rounds + 1):
            for name in scripts:
                server, port = (servers[0], first) if name == "empty" else (servers[1], second)
                result = wrk(server, port, folder / f"{name}.lua", seconds if turn else 1)
                if turn:
                    found[name].append(result)
        metrics = urllib.request.urlopen(f"http://127.0.0.1:{second}/metrics").read().decode()
    finally:
        for server in servers:
            server.terminate()
            server.wait()
    commits = dict(re.findall(r"halfseen_commit_seconds_(sum|count)\S* (\S+)", metrics))
    figures = {}
    for name, results in found.items():
        columns = zip(*results, strict=True)
        rate, p99, failed, used = (statistics.median(values) for values in columns)
        ratios = [a[0] / b[0] for a, b in zip(results, found["empty"], strict=True)]
        tails = [a[1] / b[1] for a, b in zip(results, found["empty"], strict=True)]
        figures[name] = {
            "requests/s": round(rate),
            "p99 ms": round(p99, 2),
            "ratio": round(statistics.median(ratios), 3),
            "p99 ratio": round(statistics.median(tails), 2),
            "failed": failed,
            "processor us": round(used, 1),
        }
    figures["commits"] = commits
    print(json.dumps(figures, indent=1))


def fill(path, events):
    """Write a log of decisions and outcomes straight into a database, without serving it."""
    from halfseen.service.database import Database
    from halfseen.service.event_log import EventLog
    from halfseen.service.loop_config import loop_config
    from halfseen.service.loop_events import Event
    from halfseen.service.loop_table import create

    given = {"name": "bench", "arms": ["a", "b", "c"], "policy": {"kind": "ucb"}, "window": 600.0}
    database = Database(path)
    log = EventLog(database)
    create(log, loop_config(given), 0)
    log.execute("PRAGMA synchronous = OFF")
    for start in range(0, events, 100_000):
        log.begin([1])
        rows = []
        for seq in range(start + 1, min(start + 100_000, events) + 1):
            number, outcome = divmod(seq - 1, 2)
            kind, more = ("observed", {"reward": 1.0}) if outcome else ("decided", {})
            if not outcome:
                more = {"arm": "abc"[number % 3], "probability": 0.5, "version": seq - 1}
                more["request"] = 0
            rows.append(Event(1, seq, 1, f"d{number:031d}", kind, seq * 1000, **more))
        log.append(rows)
        log.commit()
    log.close()
    database.close()


def start_seconds(folder, events):
    """Print how long a service takes to open with a full replay, and then with a snapshot."""
    from halfseen.service.decision_service import Service

    path = folder / "start.sqlite"
    fill(path, events)

    async def opened():
        began = time.perf_counter()
        service = await Service.open(path, sweep=False)
        took = time.perf_counter() - began
        await service.close()
        return took

    replay, snapshot = asyncio.run(opened()), asyncio.run(opened())
    print(json.dumps({"events": events, "replay s": replay, "snapshot s": snapshot}))


def peak_megabytes():
    """The most memory this program has held; ru_maxrss would count that of its parent too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024.0


def pending_memory(folder, decisions):
    """Print the memory of a service with so many pending decisions."""
    from halfseen.service.decision_service import Service
    from halfseen.service.exchange import Decide
    from halfseen.service.loop_config import loop_config

    given = {"name": "bench", "arms": ["a", "b", "c"], "policy": {"kind": "ucb"}, "window": 86400.0}

    async def run():
        service = await Service.open(folder / "pending.sqlite", snapshot_every=10**9)
        await service.create_loop(loop_config(given))
        for _ in range(decisions // 1000):
            await service.submit("bench", [Decide() for _ in range(1000)])
        assert service.loop("bench").state.tally.pending == decisions // 1000 * 1000
        print(json.dumps({"pending": decisions, "MB": round(peak_megabytes())}))
        service.writer._closing = True

    asyncio.run(run())


def snapshot_stall(folder, decisions):
    """Print the longest time nobody was answered, without a snapshot and during two of them."""
    from halfseen.service.decision_service import Service
    from halfseen.service.exchange import Decide
    from halfseen.service.loop_config import loop_config

    given = {"name": "bench", "arms": ["a", "b", "c"], "policy": {"kind": "ucb"}, "window": 86400.0}

    async def longest(waiting):
        """Return the longest gap of a task that runs every millisecond, in ms."""
        gaps, last = [], time.perf_counter()
        task = asyncio.ensure_future(waiting)
        while not task.done():
            await asyncio.sleep(0.001)
            gaps.append(time.perf_counter() - last)
            last += gaps[-1]
        return round(1000.0 * max(gaps), 1)

    async def run():
        service = await Service.open(folder / "stall.sqlite", snapshot_every=10**9)
        await service.create_loop(loop_config(given))
        for _ in range(decisions // 1000):
            await service.submit("bench", [Decide() for _ in range(1000)])
        found = {"pending": decisions, "ms without": await longest(asyncio.sleep(1.0))}
        live = service.loop("bench")
        found["ms"] = [await longest(service._write_snapshot(live)) for _ in range(2)]
        print(json.dumps(found))
        service.writer._closing = True

    asyncio.run(run())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database")
    parser.add_argument("--policy", default="kl-ucb")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--start", type=int, metavar="EVENTS")
    parser.add_argument("--pending", type=int, metavar="DECISIONS")
    parser.add_argument("--snapshot", type=int, metavar="DECISIONS")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.start:
            start_seconds(folder, given.start)
        elif given.pending:
            pending_memory(folder, given.pending)
        elif given.snapshot:
            snapshot_stall(folder, given.snapshot)
        else:
            database = given.database or folder / "log.sqlite"
            compare(folder, database, given.policy, given.seconds, given.rounds)


if __name__ == "__main__":
    main()
