"""Time other bandit libraries, each in its own virtual environment.

Run it with `python benchmarks/peers.py [peer ...] [--linear] [--json]`. Every peer is installed at
the version pinned in `peers/requirements`, then plays through its own public interface: ten arms
(`peers/*_arms.py`), the same with late feedback (`peers/*_late.py`), or LinUCB with 20 actions of
10 features (`peers/*_linear.py`).
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVERS = HERE / "peers"
PINS = DRIVERS / "requirements"
VENVS = HERE / "venvs"
ARMS, LINEAR, LATE = "arms", "linear", "late"
_BOTH = ("pymab", "banditlab", "obp", "river", "coba", "MABWiser")
PEERS = {ARMS: _BOTH, LINEAR: (*_BOTH, "contextualbandits"), LATE: ("banditlab",)}
INSTALL_LIMIT = 1800
RUN_LIMIT = 300
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMEXPR")}


def call(command, limit, env=None):
    """Run a command; return its output, or raise RuntimeError with one sentence."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"no answer in {limit} s") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")]
        raise RuntimeError((errors or lines or [f"exit status {done.returncode}"])[-1])
    return done.stdout


def install(key):
    """Make the peer's environment unless it already holds these pins; return its Python.

    A peer whose own pins no longer install has its real needs in `<peer>-needs.txt`; those go in
    first, then the peer alone.
    """
    home = VENVS / key
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    peer, needs = PINS / f"{key}.txt", PINS / f"{key}-needs.txt"
    pins = "".join(file.read_text() for file in (needs, peer) if file.exists())
    stamp = home / "installed.txt"
    if python.exists() and stamp.exists() and stamp.read_text() == pins:
        return python
    call([sys.executable, "-m", "venv", "--clear", str(home)], INSTALL_LIMIT)
    pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    alone = []
    if needs.exists():
        call([*pip, "-r", str(needs)], INSTALL_LIMIT)
        alone = ["--no-deps", "--ignore-requires-python"]
    call([*pip, *alone, "-r", str(peer)], INSTALL_LIMIT)
    stamp.write_text(pins)
    return python


def drive(key, python, work):
    """Run the peer's driver on one thread and read its JSON line."""
    env = {**os.environ, **ONE_THREAD}
    env.pop("PYTHONPATH", None)
    output = call([str(python), str(DRIVERS / f"{key}_{work}.py")], RUN_LIMIT, env)
    return json.loads(output.splitlines()[-1])


def row(name, work=ARMS):
    """Measure one peer; a failure becomes a row with one sentence under `error`."""
    key = name.lower()
    step = "install"
    try:
        if key not in {peer.lower() for peer in PEERS[work]}:
            return {"peer": name, "error": f"unknown peer; known are {', '.join(PEERS[work])}"}
        python = install(key)
        step = "run"
        return drive(key, python, work)
    except Exception as problem:
        return {"peer": name, "error": f"{step} failed: {problem}"}


def measure(names=None, work=ARMS):
    """Return one dict per peer, in the order asked for (all of them by default).

    Keys: peer, version, policy, rounds, seconds, rounds_per_second, decision_us (median of one
    choose and update), way (the fastest public way tried), ways (rounds per second of each),
    rewards, mean_reward. A peer that fails has peer and error only.
    """
    return [row(name, work) for name in (PEERS[work] if names is None else names)]


def table(rows):
    """Lay the rows out as plain text."""
    lines = [f"{'peer':<18}{'rounds/s':>10}{'us/decision':>13}  {'policy':<46}way"]
    for r in rows:
        label = f"{r['peer']} {r.get('version', '')}".strip()
        if "error" in r:
            lines.append(f"{label:<18}{r['error']}")
            continue
        latency = "-" if r["decision_us"] is None else f"{r['decision_us']:.1f}"
        speed = f"{r['rounds_per_second']:,}"
        lines.append(f"{label:<18}{speed:>10}{latency:>13}  {r['policy']:<46}{r['way']}")
    return "\n".join(lines)


def main(argv=None):
    """Print the table, or JSON with --json; exit 1 if any peer failed."""
    parser = argparse.ArgumentParser(description="Time other bandit libraries.")
    known = ", ".join(PEERS[LINEAR])
    parser.add_argument("peers", nargs="*", help=f"any of: {known}; all by default")
    parser.add_argument("--linear", action="store_true", help="LinUCB in place of ten arms")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    args = parser.parse_args(argv)
    rows = measure(args.peers or None, LINEAR if args.linear else ARMS)
    print(json.dumps(rows, indent=2) if args.json else table(rows))
    return int(any("error" in r for r in rows))


if __name__ == "__main__":
    sys.exit(main())
