"""Late feedback: its cost a round over that of the undelayed loop, and against another library."""

import time

import peers

from halfseen import UCB, UCB1, ArmedBandit, Delayed, Fixed, GeometricDelay, Study, Uniform
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled
from halfseen.studies.result import Result

HORIZON = 1_000_000
MEANS = [0.5 - 0.05 * k for k in range(10)]
LATE, AT_ONCE = Delayed(GeometricDelay(50), window=500), Delayed(Fixed(0))


def late_study(censorship, policy, horizon=HORIZON):
    """Return a study of one replication."""
    return Study(
        ArmedBandit(MEANS), censorship, policy, horizon=horizon, replications=1, baseline=False
    )


def ns_a_round(censorships, policy, repeats=5, clock=time.thread_time):
    """Return the fewest nanoseconds of a round under each, in turns; CPU time by default."""
    players = []
    for censorship in censorships:
        study = late_study(censorship, policy)
        position, cell = next(study.cells())
        players.append((player(cell, compiled), Result.empty(study).track(position, cell)))
    times = [[] for _ in players]
    for turn in range(repeats + 1):  # the first compiles
        for (play, track), taken in zip(players, times, strict=True):
            started = clock()
            play(0, 1, track)
            if turn > 0:
                taken.append(clock() - started)
    return [1e9 * min(taken) / HORIZON for taken in times]


def kilobytes(window, horizon):
    """Return how much memory one replication of UCB works in."""
    _, cell = next(late_study(Delayed(GeometricDelay(50), window=window), UCB(), horizon).cells())
    return sum(array.nbytes for array in cell.workspace()) / 1e3


def delays():
    """Return the rows of the table."""
    rows = []
    for policy, name in ((UCB(), "UCB"), (UCB1(), "UCB1")):
        plain, late, zero = ns_a_round((Uniform(1.0), LATE, AT_ONCE), policy)
        rows.append(
            {
                "benchmark": f"{name}, 10 arms, delays of 50 rounds on average, window 500",
                "halfseen": f"{late:.3g} ns/round",
                "other": f"no delays: {plain:.3g} ns/round",
                "ratio": late / plain,
                "target": "<= 3x",
            }
        )
        rows.append(
            {
                "benchmark": f"{name}, 10 arms, delays of 0",
                "halfseen": f"{zero:.3g} ns/round",
                "other": f"no delays: {plain:.3g} ns/round",
                "ratio": zero / plain,
                "target": "1x",
            }
        )
    short, long = kilobytes(500, 10**4), kilobytes(500, 10**9)
    rows.append(
        {
            "benchmark": "memory of a replication, window 500, 10^9 rounds",
            "halfseen": f"{long:.3g} kB",
            "other": f"10^4 rounds: {short:.3g} kB; window 5,000: {kilobytes(5_000, 10**9):.3g} kB",
            "ratio": long / short,
            "target": "1x",
        }
    )
    (late,) = ns_a_round((LATE,), UCB1(), clock=time.perf_counter)  # as the peers are timed
    for peer in peers.measure(work=peers.LATE):
        if "error" in peer:
            title = {"benchmark": peer["peer"], "halfseen": "", "other": peer["error"]}
            rows.append(title | {"ratio": None, "target": ""})
            continue
        for way, theirs in peer["ways"].items():
            rows.append(
                {
                    "benchmark": f"{peer['peer']} {peer['version']}, {peer['policy']}, {way}",
                    "halfseen": f"{1e9 / late:.3g} rounds/s",
                    "other": f"{theirs:.3g} rounds/s",
                    "ratio": 1e9 / late / theirs,
                    "target": ">= 100x",
                }
            )
    return rows
