"""GLMUCB with logistic rewards against a refit in every round, and against itself."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from halfseen import (
    GLMUCB,
    FiniteActions,
    GeneralizedLinearBandit,
    RandomActions,
    Study,
    Uniform,
)
from halfseen.engine.player import player
from halfseen.engine.specialise import compiled
from halfseen.studies.result import Result

DIMENSION, COUNT = 10, 20
TITLE = "GLMUCB, logistic, 10 coordinates, 20 actions"
REFITTED = 2000  # rounds the peer is refitted in, one in twenty of them timed


def bandit(changing=False):
    rng = np.random.default_rng(1)
    theta = rng.normal(size=DIMENSION)
    rows = rng.normal(size=(COUNT, DIMENSION))
    actions = RandomActions(COUNT, DIMENSION) if changing else FiniteActions(rows, normalize=True)
    return GeneralizedLinearBandit(theta / np.linalg.norm(theta), link="logistic", actions=actions)


def played(horizon, observe=1.0, replications=1, changing=False):
    """Return seconds per round and the regrets of one call of the compiled loop."""
    policy = GLMUCB(delta=1e-4)
    study = Study(
        bandit(changing),
        Uniform(observe),
        policy,
        horizon=horizon,
        replications=replications,
        baseline=False,
    )
    position, cell = next(study.cells())
    track = Result.empty(study).track(position, cell)
    play = player(cell, compiled)
    started = time.perf_counter()
    play(0, replications, track)
    return (time.perf_counter() - started) / (horizon * replications), track.regret[:, -1]


def refit_alone():
    """Return `refit_seconds` measured in a process of its own with one thread, like ours."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    code = "import glm; print(glm.refit_seconds())"
    printed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env=os.environ | threads,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return float(printed)


def refit_seconds():
    """Return the mean time of a refit by statsmodels over the first rounds, warm-started."""
    import statsmodels.api as sm

    problem = bandit()
    rng = np.random.default_rng(2)
    rows = problem.actions.actions[rng.integers(COUNT, size=REFITTED)]
    rewards = (rng.random(REFITTED) < problem.means(rows)).astype(float)
    family = sm.families.Binomial()
    last, seconds = None, []
    for seen in range(200, REFITTED + 1, 20):
        tries = []
        for _ in range(3):
            started = time.perf_counter()
            model = sm.GLM(rewards[:seen], rows[:seen], family=family)
            found = model.fit(start_params=last).params
            tries.append(time.perf_counter() - started)
        last = found
        seconds.append(min(tries))
    return float(np.mean(seconds))


def generalized():
    """Return the rows: against a refit per round, flat in the rounds, slower by 1/p."""
    played(100)  # compiles
    ours = min(played(100_000)[0] for _ in range(3))
    theirs = refit_alone()
    pairs = [(played(10_000, replications=10)[0], played(1_000_000)[0]) for _ in range(2)]
    short, long = (min(side) for side in zip(*pairs, strict=True))
    played(100, changing=True)
    few, many = (played(horizon, changing=True)[0] for horizon in (10_000, 100_000))
    slow = [played(40_000, 0.25, 60)[1].mean(), played(10_000, 1.0, 60)[1].mean()]
    same = played(40_000, 1.0, 60)[1].mean()
    return [
        _row(
            "100,000 rounds, all seen; statsmodels refits 2,000 rounds, taken for constant",
            _micro(ours),
            f"refit {_micro(theirs)}",
            theirs / ours,
            ">= 20x",
        ),
        _row(
            "1,000,000 rounds against 10,000", _micro(long), _micro(short), long / short, "<= 1.3x"
        ),
        _row("new actions in every round, 100,000 rounds", _micro(many), _micro(few), many / few),
        _row(
            "regret of 40,000 rounds, 1 in 4 seen, against 10,000 rounds, all seen",
            f"{slow[0]:.4g}",
            f"{slow[1]:.4g}",
            slow[0] / slow[1],
            "1/p = 4",
        ),
        _row(
            "the same against 40,000 rounds, all seen",
            f"{slow[0]:.4g}",
            f"{same:.4g}",
            slow[0] / same,
        ),
    ]


def _micro(seconds):
    return f"{1e6 * seconds:.3g} us/round"


def _row(title, ours, other, ratio, target=""):
    return {
        "benchmark": f"{TITLE}, {title}",
        "halfseen": ours,
        "other": other,
        "ratio": ratio,
        "target": target,
    }
