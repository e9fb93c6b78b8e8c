"""Simulated futures, each a separate bandit problem, followed day by day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.engine.backends.cpu import cores
from halfseen.engine.cells.arms import Cell
from halfseen.engine.crew import Crew
from halfseen.engine.player import blank_track, player
from halfseen.engine.specialise import compiled
from halfseen.equality import ByValue
from halfseen.policies import Policy
from halfseen.problems import ArmedBandit

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Followed(ByValue):
    """What happened up to the end of each day: one row per future, one column per day.

    Attributes
    ----------
    decisions
        Decisions made so far, per day.
    good
        Those that went to a best arm, or one close enough to it.
    regret
        Reward lost so far compared with always playing a best arm.
    """

    decisions: Vector
    good: Vector
    regret: Vector


@dataclass(frozen=True, eq=False)
class Futures(ByValue):
    """What is simulated.

    Attributes
    ----------
    means, observe
        Mean reward and probability of being seen: one row per future, one column per arm.
    noise
        Standard deviation of the rewards, one number or one per arm; None for rewards of 0 or 1.
    reward
        The law of the rewards.
    """

    means: Vector
    observe: Vector
    noise: float | tuple[float, ...] | None
    reward: str

    def all_seen(self) -> Futures:
        """Return the same futures with every reward seen."""
        return Futures(self.means, np.ones_like(self.observe), self.noise, reward=self.reward)

    def problem(self, future: int) -> ArmedBandit:
        """Return the bandit of one future."""
        return ArmedBandit(tuple(self.means[future].tolist()), self.noise, reward=self.reward)


def follow(
    futures: Futures,
    policy: Policy,
    *,
    traffic: float,
    days: int,
    close: float = 0.0,
    seed: int = 0,
    report: Callable[[], None] | None = None,
) -> Followed:
    """Play one run of every future and count at the end of each day.

    Parameters
    ----------
    futures
        The bandits.
    policy
        The policy that decides; it starts without data.
    traffic, days
        Decisions per day, and days.
    close
        Arms whose mean is at most this much below the best one count as best.
    seed
        Seed of the rewards and of what is seen; futures have streams of their own.
    report
        Called after every future.
    """
    ends = np.rint(traffic * np.arange(1, days + 1))
    stops = np.unique(ends[ends > 0.0]).astype(np.int64)
    place = np.searchsorted(stops, ends)
    count = len(futures.means)
    good, regret = np.zeros((count, days)), np.zeros((count, days))
    stop = np.zeros(1, np.uint8)

    def play(i: int) -> None:
        problem = futures.problem(i)
        cell = Cell(
            problem,
            PerArm(tuple(futures.observe[i].tolist())),
            policy,
            horizon=max(int(stops[-1]), 2),
            seed=seed,
            checkpoints=stops,
            alphas=np.empty(0),
        )
        cell.check_policy()
        track: Any = blank_track(cell, 1)
        player(cell, compiled, stop=stop)(i, i + 1, track, i)
        best = np.asarray(problem.gaps) <= close
        some = ends > 0.0
        good[i, some] = track.pulls[0][:, best].sum(axis=1)[place[some]]
        regret[i, some] = track.regret[0][place[some]]

    crew = Crew(cores())
    try:
        crew.run(partial(play, 0))  # the first run compiles
        for i in range(1, count):
            crew.submit(partial(play, i))
        for i in range(count):
            if i:
                crew.result()
            if report is not None:
                report()
    except BaseException:
        stop[0] = 1
        raise
    finally:
        crew.close()
    return Followed(ends, good, regret)
