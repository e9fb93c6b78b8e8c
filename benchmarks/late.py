"""Late feedback: its cost a round over that of the undelayed loop, and against another library."""

import time

import peers

from halfseen import UCB, UCB1, ArmedBandit, Delayed, GeometricDelay, Study, Uniform
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled
from halfseen.studies.result import Result

HORIZON = 1_000_000
MEANS = [0.5 - 0.05 * k for k in range(10)]
LATE = Delayed(GeometricDelay(50), window=500)


def ns_a_round(censorship, policy, repeats=5, clock=time.thread_time):
    """Return the fewest nanoseconds of a round, in CPU time of one core by default."""
    study = Study(
        ArmedBandit(MEANS), censorship, policy, horizon=HORIZON, replications=1, baseline=False
    )
    position, cell = next(study.cells())
    track = Result.empty(study).track(position, cell)
    play = player(cell, compiled)
    play(0, 1, track)
    times = []
    for _ in range(repeats):
        started = clock()
        play(0, 1, track)
        times.append(clock() - started)
    return 1e9 * min(times) / HORIZON


def delays():
    """Return the rows of the table."""
    rows = []
    for policy, name in ((UCB(), "UCB"), (UCB1(), "UCB1")):
        plain, late = (ns_a_round(censorship, policy) for censorship in (Uniform(1.0), LATE))
        rows.append(
            {
                "benchmark": f"{name}, 10 arms, delays of 50 rounds on average, window 500",
                "halfseen": f"{late:.3g} ns/round",
                "other": f"no delays: {plain:.3g} ns/round",
                "ratio": late / plain,
                "target": "<= 3x",
            }
        )
    late = ns_a_round(LATE, UCB1(), clock=time.perf_counter)  # as the peers are timed
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
