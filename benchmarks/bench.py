"""Every figure of speed and memory, measured in one run and printed as one table.

`make bench` runs all of it; name some of the parts to run only those:
loop, arms, linear, command, memory, live, logs, peers.
"""

import sys

import command
import decisions
import linear
import logs
import loop
import peers

from halfseen.tables import table


def against_peers():
    """Return one row per library and way to run it: our rounds per second on one core over theirs.

    Both sides are the best of three. pymab's ten policies share one check of the results and the
    reward draws, so that its row with one policy is the one to compare with.
    """
    seconds = min(loop.engine_seconds(10, 1.0, 20, [0.5, 1.0])[0] for _ in range(3))
    ours = 20 * loop.HORIZON / seconds
    rows = []
    for peer in peers.measure():
        title = f"{peer['peer']} {peer.get('version', '')}"
        if "error" in peer:
            rows.append(_row(title, "", peer["error"], None))
            continue
        for way, theirs in peer["ways"].items():
            name = f"{title}, {peer['policy']}, {way}"
            rows.append(_row(name, f"{ours:.3g} rounds/s", f"{theirs:.3g} rounds/s", ours / theirs))
    return rows


def _row(title, halfseen, other, ratio):
    return {
        "benchmark": title,
        "halfseen": halfseen,
        "other": other,
        "ratio": ratio,
        "target": ">= 100x" if ratio else "",
    }


PARTS = {
    "loop": loop.against_c,
    "arms": loop.many_arms,
    "linear": linear.against_c,
    "command": command.startup,
    "memory": command.memory,
    "live": decisions.live,
    "logs": logs.audit,
    "peers": against_peers,
}


def main():
    """Run the parts that were named, or all of them."""
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"Unknown part {unknown[0]!r}; choose from {', '.join(PARTS)}.")
    rows = []
    for name in chosen:
        print(f"measuring {name} ...", file=sys.stderr)
        rows += PARTS[name]()
    print(table(rows))


if __name__ == "__main__":
    main()
