"""LinUCB on one core against hand-written C, for 10 coordinates and 20 actions."""

import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from halfseen import (
    FiniteActions,
    LinearBandit,
    LinUCB,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
)
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled
from halfseen.studies.result import Result

DIMENSION, COUNT = 10, 20
KINDS = {"contexts": "drawn"}
CASES = (
    # what, C loop, p, rounds, our runs, C runs, least ratio
    ("the same actions, every width recomputed", "recompute", 1.0, 200_000, 10, 3, 2.5),
    ("the same actions, widths updated", "incremental", 1.0, 200_000, 10, 10, 0.9),
    ("the same actions, every width recomputed", "recompute", 0.1, 200_000, 60, 3, 20.0),
    ("new actions in every round", "contexts", 1.0, 20_000, 5, 5, 2.4),
)


def actions_of(kind, horizon):
    """Return the same actions in every round, or new ones, drawn in the loop or given."""
    rng = np.random.default_rng(1)
    if kind == "given":
        return SequenceOfActions(rng.normal(size=(horizon, COUNT, DIMENSION)), normalize=True)
    if kind == "fixed":
        return FiniteActions(rng.normal(size=(COUNT, DIMENSION)), normalize=True)
    return RandomActions(COUNT, DIMENSION, "gaussian" if kind == "gaussian" else "sphere")


def engine_seconds(kind, observe, replications, horizon, alphas=(1.0,)):
    """Return seconds and mean regret of one call of the compiled loop."""
    theta = np.random.default_rng(2).normal(size=DIMENSION)
    actions = actions_of(kind, horizon)
    problem = LinearBandit(theta / np.linalg.norm(theta), 1.0, actions)
    study = Study(
        problem,
        Uniform(observe),
        LinUCB(),
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
    binary = Path(folder) / "linear"
    source = Path(__file__).with_name("linear.c")
    subprocess.run(["gcc", "-O3", "-march=native", "-o", binary, source, "-lm"], check=True)
    return binary


def c_seconds(binary, way, observe, runs, horizon):
    """Return seconds and mean regret of the C loop."""
    command = [binary, way, horizon, runs, observe]
    printed = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=True
    ).stdout.split()
    return float(printed[0]), float(printed[1])


def against_c(repeats=5):
    """Return one row per way to write the loop in C."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        binary = build_c(folder)
        for what, way, observe, horizon, runs, c_runs, target in CASES:
            pairs = [
                (
                    c_seconds(binary, way, observe, c_runs, horizon)[0] / c_runs,
                    engine_seconds(KINDS.get(way, "fixed"), observe, runs, horizon)[0] / runs,
                )
                for _ in range(repeats)
            ]
            c, ours = (1e9 * min(side) / horizon for side in zip(*pairs, strict=True))
            rows.append(
                {
                    "benchmark": f"LinUCB, 10 coordinates, 20 actions, p={observe:g}, {what}",
                    "halfseen": f"{ours:.3g} ns/round",
                    "other": f"C: {c:.3g} ns/round",
                    "ratio": c / ours,
                    "target": f">= {target:g}x",
                }
            )
    return rows


def rounds_per_second(kind, horizon=20_000, replications=5, repeats=3):
    """Return our rounds per second on one core, everything seen, the best of three."""
    seconds = min(engine_seconds(kind, 1.0, replications, horizon)[0] for _ in range(repeats))
    return horizon * replications / seconds
