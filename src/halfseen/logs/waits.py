"""The regret of a learner that waits a given time for rewards, by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import stream_key
from halfseen.engine.specialise import compiled
from halfseen.logs.counts import Counts
from halfseen.logs.delayed_loop import DelayedWork, DelayedWorld, play_delayed
from halfseen.logs.maturity import Maturity
from halfseen.logs.posterior import spreads
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit

LEVELS = 1024  # levels at which quantiles of delays are stored


def delay_quantiles(maturity: Maturity, arm: int) -> tuple[float, Vector]:
    """Return the share of an arm's rewards that ever come, and their delays at even levels."""
    cells = maturity.cells
    last = int(np.searchsorted(cells.ends, maturity.windows[arm] * (1.0 + 1e-9), "right")) - 1
    law = cells.law(arm).share[: max(last, 0) + 1]
    top = float(law[-1])
    levels = top * np.linspace(0.0, 1.0, LEVELS + 1)
    if cells.exact:
        place = np.searchsorted(law, levels * (1.0 - 1e-12))
        return top, cells.ends[np.minimum(place, len(law) - 1)]
    before = np.concatenate([[0.0], law])
    times = np.concatenate([[0.0], cells.ends[: len(law)]])
    rising = np.concatenate([[True], np.diff(before) > 0.0])
    starts = np.concatenate([rising[1:], [True]])
    keep = rising | starts
    return top, np.interp(levels, before[keep], times[keep])


def simulate_waits(
    means: Vector,
    arms: Counts,
    share: Vector,
    inverse: Vector,
    waits: Vector,
    *,
    step: float,
    rounds: int,
    settled: bool,
    seed: int = 0,
) -> Vector:
    """Return the regret of `UCB` for every future (row) and every wait (column).

    Until an arm's first reward is learned all such arms look alike: the learner plays one of them
    alone, then the next, in an order drawn for each future.

    Parameters
    ----------
    means
        One row per future, one column per arm.
    arms
        Counts of the arms, from which the noise is taken.
    share, inverse
        What `delay_quantiles` returned, per arm.
    waits
        How long the learner waits.
    step, rounds
        Time between two decisions, and how many there are.
    settled
        True if a reward is used when the wait is over, False if when it comes.
    seed
        Seed of the random numbers.
    """
    policy, binary = UCB(), arms.binary
    usual = np.maximum(spreads(arms), 1e-12)
    kernels = policy.kernels()
    play = compiled(play_delayed, kernels)
    count = len(usual)
    work = DelayedWork(
        np.zeros((count, kernels.statistics)),
        np.zeros(count),
        np.zeros(count),
        np.zeros(rounds, np.int64),
        np.zeros(rounds, np.int64),
        np.zeros(rounds, np.int64),
        np.zeros(rounds),
        np.zeros(1),
    )
    key = stream_key(seed, "waits")
    rng = np.random.default_rng(seed)
    found = np.zeros((len(means), len(waits)))
    for i, unshuffled in enumerate(means):
        order = rng.permutation(count)
        row, scale = unshuffled[order], usual[order]
        law: dict[str, Any] = (
            {"reward": "bernoulli"} if binary else {"noise": tuple(scale.tolist())}
        )
        problem = ArmedBandit(tuple(row.tolist()), **law)
        world = DelayedWorld(
            np.ascontiguousarray(row),
            np.full(count, -1.0) if binary else scale,
            share[order],
            np.ascontiguousarray(inverse[order]),
            np.ascontiguousarray(policy.table(problem.setting(rounds)), dtype=float),
            key,
            step,
            0.0,
            int(settled),
        )
        for j, wait in enumerate(waits.tolist()):
            play(i, world._replace(waits=wait), work)
            found[i, j] = work.regret[0]
    return found
