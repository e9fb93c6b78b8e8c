"""Every figure of speed and memory, measured in one run and printed as one table.

`make bench` runs all of it; name some of the parts to run only those:
loop, arms, linear, command, memory, live, peers.
"""

import sys

import command
import decisions
import linear
import loop
import peers

from halfseen.tables import table


def against_peers():
    """Return one row per library: our rounds per second on one core over theirs."""
    ours = 1e9 / (1e9 * loop.engine_seconds(10, 1.0, 20, [0.5, 1.0])[0] / 20 / loop.HORIZON)
    rows = []
    for peer in peers.measure():
        if "error" in peer:
            rows.append(_row(peer["peer"], "", peer["error"], None))
            continue
        title = f"{peer['peer']} {peer['version']}, {peer['policy']}, {peer['way']}"
        theirs = peer["rounds_per_second"]
        rows.append(_row(title, f"{ours:.3g} rounds/s", f"{theirs:.3g} rounds/s", ours / theirs))
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
