"""One cell of a study: a problem, a censorship and a policy laid out as arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.censorship.base import SeenKernels
from halfseen.checks import Vector
from halfseen.draws import stream_key
from halfseen.engine.arguments import (
    ArmWorkspace,
    ArmWorld,
    Shapes,
    Track,
    WinnerWorkspace,
    WinnerWorld,
    arm_shapes,
    blank_arms,
    blank_winners,
    line_aligned,
)
from halfseen.engine.loops import biased_feedback, feedback
from halfseen.engine.loops.arms import play
from halfseen.engine.specialise import fitted
from halfseen.equality import ByValue
from halfseen.kernels.kullback_leibler import GAUSSIAN
from halfseen.kernels.winning import SMALLEST_SCALE
from halfseen.policies import Policy
from halfseen.policies.arms.families import FAMILIES
from halfseen.problems import ArmedBandit
from halfseen.problems.rewards import RewardKernels

RHO = 10.0  # parameter of the rule that declares a winner, the default of `theory.winner`


@dataclass(frozen=True, eq=False)
class Cell(ByValue):
    """A problem, a censorship and a policy, with the rounds recorded."""

    problem: ArmedBandit
    censorship: Censorship
    policy: Policy
    horizon: int
    seed: int
    checkpoints: NDArray[np.int64]
    alphas: Vector
    level: float | None = None  # at which a winner is declared, None to declare none

    loop: ClassVar[Callable[..., None]] = staticmethod(play)
    late: ClassVar[bool] = False
    own_actions: ClassVar[bool] = False  # True if replications have different actions

    @property
    def groups(self) -> int:
        """The number of separately counted kinds of actions: the arms."""
        return self.problem.arms

    @property
    def open_names(self) -> dict[str, Any]:
        """What is substituted into the loop, in addition to the policy's kernels."""
        names = {"JUMPS": self.jumps, "DECLARES": self.level is not None}
        return names | self.own_feedback

    @property
    def own_feedback(self) -> dict[str, Any]:
        """The loop's open name for a kernel of feedback that is not built in."""
        kernel = self.feedback
        return {} if kernel is feedback.feedback else {"feedback": kernel}

    @property
    def feedback(self) -> Callable[..., tuple[float, float]]:
        """The kernel that draws an arm's next reward and the wait for it."""
        seen = self.censorship.seen_draws(self.problem, self.horizon)
        if seen is not None:
            return seen_feedback(seen.kernels)
        law = self.problem.law
        return feedback.feedback if law.loop_number is not None else law_feedback(law.kernels())

    @property
    def jumps(self) -> bool:
        """True when nothing can change between two observations."""
        kernels = self.policy.kernels()
        same = self.problem.actions.same_every_round
        return kernels.waits and kernels.fill is None and same

    def check_censorship(self) -> None:
        """Raise if the censorship does not fit the problem."""
        self.censorship.rates(self.problem)

    def check_policy(self) -> None:
        """Raise if the policy does not fit the problem."""
        self.policy.check(self.problem.setting(self.horizon))

    def blank(self, rows: int, groups: int, dimension: int) -> Track:
        """Return an empty track with room for `rows` replications."""
        track = blank_arms(rows, len(self.checkpoints), groups, len(self.alphas), self.horizon)
        return track if self.level is None else blank_winners(track)

    def size(self) -> dict[str, float]:
        """Return the number of arms and the effective dimension, as the summary shows them."""
        observe = self.censorship.rates(self.problem)[self.problem.playable]
        return {"arms": len(observe), "effective dimension": float(np.sum(1.0 / observe))}

    def world(self) -> ArmWorld | WinnerWorld:
        """Return the loop's input for the bandit, the censorship and the policy."""
        world = self.arm_world()
        return world if self.level is None else WinnerWorld(*world, *self._winner_rule(self.level))

    def arm_world(self) -> ArmWorld:
        """Return the input of every loop over arms."""
        problem = self.problem
        observe = self.censorship.rates(problem)
        constants = arm_constants(problem.means, problem.scale, observe)
        constants[:, feedback.PATIENCE] = 24.0 * np.log(self.horizon) / observe + 1.0
        kind, available, chances = _availability(problem)
        law, parts = problem.law, asdict(problem)
        parts["reward"] = [law.kind, parts["reward"]] if is_dataclass(problem.reward) else law.kind
        label = json.dumps([problem.kind, parts], sort_keys=True)
        return ArmWorld(
            constants,
            self._reward_table(),
            kind,
            available,
            chances,
            checks.row_per_arm(self.policy, self.policy_table(), problem.arms),
            stream_key(self.seed, label),
            self.checkpoints.astype(float),
            self.alphas,
            float(self.policy.regularization),
        )

    def _reward_table(self) -> Vector | int:
        """Return what `feedback` takes as the law of the rewards."""
        seen = self.censorship.seen_draws(self.problem, self.horizon)
        if seen is not None:
            return seen.table
        number = self.problem.law.loop_number
        return _law_table(self.problem) if number is None else number

    def policy_table(self) -> Vector:
        """Return the constants of the policy's kernels."""
        return self.policy.table(self.problem.setting(self.horizon))

    def _winner_rule(self, level: float) -> tuple[Vector, Vector]:
        """Return the thresholds of the rule and the scale of each arm's rewards."""
        arms, half = len(self.problem.playable), (1.0 - level) / 2.0
        family = FAMILIES.get(self.problem.law.kind, GAUSSIAN)
        rule = [np.log(max(arms - 1, 1) / half), np.log(arms / half), RHO, family]
        scales = np.full(self.problem.arms, -1.0)
        playable = self.problem.playable
        scales[playable] = np.maximum(self.problem.scale[playable], SMALLEST_SCALE)
        return np.array(rule, dtype=float), scales

    def shapes(self) -> Shapes:
        """Return the shape and type of every array the loop works in."""
        return arm_shapes(self.groups, self.policy.kernels().statistics, len(self.alphas))

    def workspace(self) -> ArmWorkspace | WinnerWorkspace:
        """Return arrays for the loop to work in."""
        arrays = {n: line_aligned(shape, kind) for n, (shape, kind) in self.shapes().items()}
        work = ArmWorkspace(**arrays)
        if self.level is None:
            return work
        return WinnerWorkspace(*work, np.zeros(self.groups), np.zeros((self.groups, 2)))


def arm_constants(means: Any, noise: Any, observe: Vector) -> Vector:
    """Return the constants of every arm, its patience left at 0."""
    constants = np.zeros((len(means), 5))
    constants[:, feedback.MEAN] = means
    constants[:, feedback.NOISE] = noise
    constants[:, feedback.HALF_RATE] = 0.5 * observe
    partly = observe < 1.0
    constants[partly, feedback.WAIT_SCALE] = -1.0 / np.log1p(-observe[partly])
    return constants


@cache
def law_feedback(kernels: RewardKernels) -> Callable[..., tuple[float, float]]:
    """Return the kernel that draws an arm's next reward from a law, and the wait for it."""
    return fitted(feedback.law_feedback, kernels)


@cache
def seen_feedback(kernels: SeenKernels | None) -> Callable[..., tuple[float, float]]:
    """Return the kernel that draws an arm's next seen reward under reward-dependent censorship."""
    if kernels is None:
        return biased_feedback.listed_feedback
    return fitted(biased_feedback.tried_feedback, kernels)


def _law_table(problem: ArmedBandit) -> Vector:
    noise = problem.scale if problem.noise is None else np.array(problem.noise)
    table = problem.law.table(np.array(problem.means), noise)
    return checks.row_per_arm(problem.law, table, problem.arms)


def _availability(problem: ArmedBandit) -> tuple[int, NDArray[np.uint8], Vector]:
    actions, arms = problem.actions, problem.arms
    chances, probabilities = np.zeros((arms, 2)), actions.chances(arms)
    available = np.zeros((len(actions.subsets(arms)), arms), np.uint8)
    for row, subset in enumerate(actions.subsets(arms)):
        available[row, list(subset)] = 1
    if probabilities is None:
        kind = feedback.FIXED if actions.same_every_round else feedback.SEQUENCE
        return kind, available, chances
    chances[:, 0] = probabilities
    with np.errstate(divide="ignore"):
        none_left = np.cumsum(np.log1p(-chances[::-1, 0]))[::-1]
    some_left = -np.expm1(none_left)
    reached = some_left > 0.0
    chances[reached, 1] = chances[reached, 0] / some_left[reached]
    chances[np.flatnonzero(chances[:, 0])[-1], 1] = 1.0
    return feedback.RANDOM, available, chances
