"""One cell of a study: a problem, a censorship and a policy laid out as arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.draws import stream_key
from halfseen.engine.loops import feedback as world
from halfseen.engine.loops.arms import play
from halfseen.errors import InvalidInput
from halfseen.policies import Policy
from halfseen.problems import (
    REWARDS,
    ArmedBandit,
    FixedArms,
    RandomArms,
    SequenceOfArms,
)


@dataclass(frozen=True)
class Cell:
    """What is played, and where along the way it is looked at."""

    problem: ArmedBandit
    censorship: Censorship
    policy: Policy
    horizon: int
    seed: int
    checkpoints: NDArray[np.int64]
    alphas: Vector

    loop: ClassVar[Callable[..., None]] = staticmethod(play)

    @property
    def groups(self) -> int:
        """How many kinds of actions are counted apart: the arms."""
        return self.problem.arms

    @property
    def open_names(self) -> dict[str, Any]:
        """What the loop's open names stand for, beside the policy's kernels."""
        return {"JUMPS": self.jumps}

    @property
    def jumps(self) -> bool:
        """True when nothing can change between two observations."""
        kernels = self.policy.kernels()
        varies = isinstance(self.problem.actions, RandomArms | SequenceOfArms)
        return kernels.waits and kernels.fill is None and not varies

    def check_censorship(self) -> None:
        """Refuse a censorship that does not fit the problem."""
        if not isinstance(self.censorship, Censorship):
            raise InvalidInput(
                "censorship",
                "must be PerArm or Uniform on armed bandits",
                self.censorship,
                "Use PerArm.",
            )
        self.censorship.probabilities(self.problem.arms)

    def check_policy(self) -> None:
        """Refuse a policy that does not fit the problem."""
        self.policy.check(self.problem.setting(self.horizon))

    def blank(self, rows: int, groups: int, dimension: int) -> Track:
        """Return an empty track with room for `rows` replications."""
        return Track.empty(rows, len(self.checkpoints), groups, len(self.alphas), self.horizon)

    def size(self) -> dict[str, float]:
        """Return the number of arms and the effective dimension, as the summary shows them."""
        observe = self.censorship.probabilities(self.problem.arms)[self.problem.playable]
        return {"arms": len(observe), "effective dimension": float(np.sum(1.0 / observe))}

    def arguments(self) -> tuple[Any, ...]:
        """Return the loop's arguments between the replications and the tracks."""
        problem = self.problem
        observe = self.censorship.probabilities(problem.arms)
        facts = np.zeros((problem.arms, 5))
        facts[:, world.MEAN] = problem.means
        facts[:, world.NOISE] = problem.scale
        facts[:, world.HALF_RATE] = 0.5 * observe
        partly = observe < 1.0
        facts[partly, world.WAIT_SCALE] = -1.0 / np.log1p(-observe[partly])
        facts[:, world.PATIENCE] = 24.0 * np.log(self.horizon) / observe + 1.0
        kind, menu, chances = _menu(problem)
        label = json.dumps([problem.kind, asdict(problem)], sort_keys=True)
        return (
            self.horizon,
            facts,
            REWARDS.index(problem.reward),
            kind,
            menu,
            chances,
            np.ascontiguousarray(self.policy.table(problem.setting(self.horizon)), dtype=float),
            stream_key(self.seed, label),
            self.checkpoints,
            self.alphas,
            float(self.policy.regularization),
        )


@dataclass(frozen=True)
class Track:
    """What the loop writes: one row per replication, one column per checkpoint."""

    regret: Vector
    pulls: NDArray[Any]
    observations: NDArray[Any]
    potential: Vector
    optimism_failed: NDArray[np.int8]
    censoring_failed: NDArray[np.int8]

    @staticmethod
    def empty(replications: int, checkpoints: int, arms: int, alphas: int, horizon: int) -> Track:
        """Return a track with room for the given numbers of things."""
        shape = (replications, checkpoints)
        whole = np.int32 if horizon < 2**31 else np.int64
        return Track(
            regret=np.zeros(shape),
            pulls=np.zeros((*shape, arms), whole),
            observations=np.zeros((*shape, arms), whole),
            potential=np.zeros((*shape, alphas)),
            optimism_failed=np.zeros(shape, np.int8),
            censoring_failed=np.zeros(shape, np.int8),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, in the order the loop takes them."""
        return dict(vars(self))

    def rows(self, first: int, last: int) -> list[NDArray[Any]]:
        """Return the part of every array that belongs to some replications."""
        return list(self.part(first, last).values())

    def part(self, first: int, last: int) -> dict[str, NDArray[Any]]:
        """Return the same by name."""
        return {name: array[first:last] for name, array in self.arrays().items()}


def _menu(problem: ArmedBandit) -> tuple[int, NDArray[np.uint8], Vector]:
    actions, arms = problem.actions, problem.arms
    chances = np.zeros((arms, 2))
    if isinstance(actions, RandomArms):
        chances[:, 0] = actions.available
        with np.errstate(divide="ignore"):
            none_left = np.cumsum(np.log1p(-chances[::-1, 0]))[::-1]
        some_left = -np.expm1(none_left)
        reached = some_left > 0.0
        chances[reached, 1] = chances[reached, 0] / some_left[reached]
        chances[np.flatnonzero(chances[:, 0])[-1], 1] = 1.0
        return world.RANDOM, np.ones((1, arms), np.uint8), chances
    subsets: Any = [range(arms)]
    if isinstance(actions, FixedArms):
        subsets = [actions.arms]
    elif isinstance(actions, SequenceOfArms):
        subsets = actions.rounds
    menu = np.zeros((len(subsets), arms), np.uint8)
    for row, subset in enumerate(subsets):
        menu[row, list(subset)] = 1
    kind = world.SEQUENCE if isinstance(actions, SequenceOfArms) else world.FIXED
    return kind, menu, chances
