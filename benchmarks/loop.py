"""The cpu engine on one core against a hand-written C loop, and its cost as arms grow."""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from halfseen import UCB, ArmedBandit, Study, Uniform
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled
from halfseen.studies.result import Result

HORIZON = 1_000_000


def engine_seconds(arms, observe, replications, alphas, horizon=HORIZON):
    """Return seconds and mean regret of one call of the compiled loop."""
    problem = ArmedBandit(0.5 - 0.5 * np.arange(arms) / arms)
    study = Study(
        problem,
        Uniform(observe),
        UCB(),
        horizon=horizon,
        replications=replications,
        alphas=alphas,
        baseline=False,
    )
    position, cell = next(study.cells())
    track = Result.empty(study).track(position, cell)
    play = player(cell, compiled)
    play(0, 1, track)
    started = time.perf_counter()
    play(0, replications, track)
    return time.perf_counter() - started, float(track.regret[:, -1].mean())


def build_c(folder):
    """Compile the C loop and return its path."""
    binary = Path(folder) / "arms"
    source = Path(__file__).with_name("arms.c")
    subprocess.run(["gcc", "-O3", "-march=native", "-o", binary, source, "-lm"], check=True)
    return binary


def c_seconds(binary, arms, observe, replications, track, horizon=HORIZON):
    """Return seconds and mean regret of the C loop."""
    command = [binary, arms, horizon, replications, observe, track]
    printed = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True
    ).stdout.split()
    return float(printed[0]), float(printed[1])


def against_c(repeats=5):
    """Return one row per observation probability and set of tracks."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        binary = build_c(folder)
        for observe, replications, target in ((1.0, 20, 0.95), (0.1, 100, 3.0), (0.01, 400, 18.0)):
            for track, alphas in ((0, []), (1, [0.5, 1.0])):
                c_runs = min(replications, 40)
                pairs = [
                    (
                        c_seconds(binary, 10, observe, c_runs, track)[0] / c_runs,
                        engine_seconds(10, observe, replications, alphas)[0] / replications,
                    )
                    for _ in range(repeats)
                ]
                c, ours = (1e9 * min(side) / HORIZON for side in zip(*pairs, strict=True))
                rows.append(
                    {
                        "benchmark": f"10 arms, p={observe:g}, "
                        + ("regret and potentials" if track else "regret only"),
                        "halfseen": f"{ours:.3g} ns/round",
                        "other": f"C: {c:.3g} ns/round",
                        "ratio": c / ours,
                        "target": f">= {target:g}x",
                    }
                )
    return rows


def many_arms(repeats=3):
    """Return the cost per observed round of 10,000 arms over that of 10."""
    rows = []
    for observe, few, many in ((1.0, 20, 5), (0.1, 100, 20)):
        cost = [
            min(engine_seconds(arms, observe, n, [0.5, 1.0])[0] / n for _ in range(repeats))
            * 1e9
            / HORIZON
            / observe
            for arms, n in ((10, few), (10_000, many))
        ]
        rows.append(
            {
                "benchmark": f"10,000 arms, p={observe:g}, per observed round",
                "halfseen": f"{cost[1]:.3g} ns",
                "other": f"10 arms: {cost[0]:.3g} ns",
                "ratio": cost[1] / cost[0],
                "target": "<= 4x",
            }
        )
    return rows
