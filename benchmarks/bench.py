"""Every figure of speed and memory, measured in one run and printed as one table.

`make bench` runs all of it; name some of the parts to run only those:
loop, arms, late, linear, optimal, glm, lower, command, cold, memory, live, logs, peers,
linear-peers.
"""

import sys

import cold
import command
import decisions
import glm
import late
import linear
import logs
import loop
import lower_bounds
import optimal
import peers
import values

from halfseen.tables import table


def against_peers():
    """Return one row per library and way to run it: our rounds per second on one core over theirs.

    Both sides are the best of three. pymab's ten policies share one check of the results and the
    reward draws, so that its row with one policy is the one to compare with.
    """
    seconds = min(loop.engine_seconds(10, 1.0, 20, [0.5, 1.0])[0] for _ in range(3))
    ours = 20 * loop.HORIZON / seconds
    return _peer_rows(peers.measure(), lambda way: ours, 100)


def against_linear_peers():
    """Return the same for LinUCB with 20 actions of 10 features, new ones in every round.

    A round is 20 means and widths in 10 dimensions and one update on either side. Most libraries
    have one theta per arm and a context for all of them; ours, and coba's, is one theta and a
    vector per action. Contexts are drawn inside the run on both sides where the way says so, and
    are ready before the clock starts elsewhere.
    """
    drawn, given = (linear.rounds_per_second(kind) for kind in ("gaussian", "given"))
    rows = peers.measure(work=peers.LINEAR)
    return _peer_rows(rows, lambda way: drawn if "drawn" in way else given, 30)


def _peer_rows(measured, ours_for, target):
    rows = []
    for peer in measured:
        title = f"{peer['peer']} {peer.get('version', '')}"
        found = {"benchmark": title, "halfseen": "", "other": "", "ratio": None, "target": ""}
        if "error" in peer:
            rows.append(found | {"other": peer["error"]})
            continue
        for way, theirs in peer["ways"].items():
            ours = ours_for(way)
            rows.append(
                {
                    "benchmark": f"{title}, {peer['policy']}, {way}",
                    "halfseen": f"{ours:.3g} rounds/s",
                    "other": f"{theirs:.3g} rounds/s",
                    "ratio": ours / theirs,
                    "target": f">= {target}x",
                }
            )
    return rows


PARTS = {
    "loop": loop.against_c,
    "arms": loop.many_arms,
    "late": late.delays,
    "linear": linear.against_c,
    "optimal": optimal.costs,
    "glm": glm.generalized,
    "lower": lower_bounds.constant,
    "command": command.startup,
    "cold": cold.first_runs,
    "memory": command.memory,
    "live": decisions.live,
    "logs": logs.audit,
    "values": values.evaluate,
    "peers": against_peers,
    "linear-peers": against_linear_peers,
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
