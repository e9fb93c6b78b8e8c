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
from halfseen.engine.arguments import ArmWorkspace, ArmWorld, Shapes, Track, arm_shapes, blank_arms
from halfseen.engine.loops import feedback
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
        return blank_arms(rows, len(self.checkpoints), groups, len(self.alphas), self.horizon)

    def size(self) -> dict[str, float]:
        """Return the number of arms and the effective dimension, as the summary shows them."""
        observe = self.censorship.probabilities(self.problem.arms)[self.problem.playable]
        return {"arms": len(observe), "effective dimension": float(np.sum(1.0 / observe))}

    def world(self) -> ArmWorld:
        """Return what the loop is told of the bandit, the censorship and the policy."""
        problem = self.problem
        observe = self.censorship.probabilities(problem.arms)
        constants = arm_constants(problem.means, problem.scale, observe)
        constants[:, feedback.PATIENCE] = 24.0 * np.log(self.horizon) / observe + 1.0
        kind, available, chances = _availability(problem)
        label = json.dumps([problem.kind, asdict(problem)], sort_keys=True)
        table = self.policy.table(problem.setting(self.horizon))
        return ArmWorld(
            constants,
            REWARDS.index(problem.reward),
            kind,
            available,
            chances,
            np.ascontiguousarray(table, dtype=float),
            stream_key(self.seed, label),
            self.checkpoints.astype(float),
            self.alphas,
            float(self.policy.regularization),
        )

    def shapes(self) -> Shapes:
        """Return the shape and type of every array the loop works in."""
        return arm_shapes(self.groups, self.policy.kernels().statistics, len(self.alphas))

    def workspace(self) -> ArmWorkspace:
        """Return arrays for the loop to work in."""
        arrays = {n: np.zeros(shape, kind) for n, (shape, kind) in self.shapes().items()}
        return ArmWorkspace(**arrays)


def arm_constants(means: Any, noise: Any, observe: Vector) -> Vector:
    """Return the constants of every arm, its patience left at 0."""
    constants = np.zeros((len(means), 5))
    constants[:, feedback.MEAN] = means
    constants[:, feedback.NOISE] = noise
    constants[:, feedback.HALF_RATE] = 0.5 * observe
    partly = observe < 1.0
    constants[partly, feedback.WAIT_SCALE] = -1.0 / np.log1p(-observe[partly])
    return constants


def _availability(problem: ArmedBandit) -> tuple[int, NDArray[np.uint8], Vector]:
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
        return feedback.RANDOM, np.ones((1, arms), np.uint8), chances
    subsets: Any = [range(arms)]
    if isinstance(actions, FixedArms):
        subsets = [actions.arms]
    elif isinstance(actions, SequenceOfArms):
        subsets = actions.rounds
    available = np.zeros((len(subsets), arms), np.uint8)
    for row, subset in enumerate(subsets):
        available[row, list(subset)] = 1
    kind = feedback.SEQUENCE if isinstance(actions, SequenceOfArms) else feedback.FIXED
    return kind, available, chances
