"""A cell with late feedback, or with a policy that counts its plays."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship import Censorship, Delayed, WithCovariate
from halfseen.checks import Vector
from halfseen.engine.arguments import Shapes, line_aligned
from halfseen.engine.cells.arms import Cell
from halfseen.engine.late_arguments import LateWorkspace, LateWorld, late_shapes
from halfseen.engine.late_tracks import LateTrack, LateWinnerTrack
from halfseen.engine.loops import feedback
from halfseen.engine.loops.late_arms import play
from halfseen.engine.specialise import fitted
from halfseen.errors import InvalidInput
from halfseen.policies import Policy
from halfseen.problems import ArmedBandit, Setting
from halfseen.problems.delay_contract import law_rows
from halfseen.problems.delay_laws import Fixed
from halfseen.problems.rewards import RewardKernels


def arm_cell(
    problem: ArmedBandit,
    censorship: Censorship,
    policy: Policy,
    horizon: int,
    seed: int,
    checkpoints: NDArray[np.int64],
    alphas: Vector,
) -> Cell:
    """Return the cell that plays a policy on arms, with or without delays."""
    kernels = policy.kernels()
    late = censorship.comes_late or kernels.counts_pulls or kernels.queues
    kind = LateCell if late else Cell
    return kind(problem, censorship, policy, horizon, seed, checkpoints, alphas)


@cache
def law_dated_feedback(kernels: RewardKernels) -> Callable[..., tuple[float, float]]:
    """Return the kernel that draws an arm's reward from a law, and a uniform for its delay."""
    return fitted(feedback.law_dated_feedback, kernels)


@dataclass(frozen=True, eq=False)
class LateCell(Cell):
    """A cell in which every round is played and its reward is tracked until it arrives.

    Under a censorship without delays rewards are observed immediately or never, with the same draws
    as in cells that jump from one observation to the next.
    """

    loop: ClassVar[Callable[..., None]] = staticmethod(play)
    late: ClassVar[bool] = True

    @property
    def delayed(self) -> Delayed | None:
        """The censorship, if it has delays."""
        return self.censorship.delayed

    @property
    def covariate(self) -> WithCovariate | None:
        """The censorship, if it has a covariate that the policy observes."""
        known = isinstance(self.censorship, WithCovariate) and self.policy.uses_covariate
        return self.censorship if known else None  # type: ignore[return-value]

    @property
    def jumps(self) -> bool:
        """False: every round is played."""
        return False

    @property
    def open_names(self) -> dict[str, Any]:
        """What is substituted into the loop, in addition to the policy's kernels."""
        told = self.covariate is not None
        names = {"LATE": self.delayed is not None or told, "COVARIATE": told} | self.own_feedback
        names["DECLARES"] = self.level is not None
        law = self.problem.law
        if law.loop_number is None:
            names["dated_feedback"] = law_dated_feedback(law.kernels())
        return names

    @property
    def setting(self) -> Setting:
        """The setting passed to the policy, with the delays."""
        arms = self.problem.arms
        told = self.problem.setting(self.horizon)
        if self.delayed is None:
            observe = self.censorship.rates(self.problem).tolist()
            return replace(told, delays=tuple(Fixed(0, arrive=p) for p in observe), window=0)
        laws = tuple(other for _, other in self.delayed.pairs(arms))
        return replace(told, delays=laws, window=self.delayed.window)

    def check_censorship(self) -> None:
        """Raise if the delays do not fit the problem."""
        super().check_censorship()
        if self.delayed is None or self.problem.non_negative:
            return
        if self.delayed.sends == "conversions":
            raise InvalidInput(
                "Delayed.sends",
                f"must be all for these {self.problem.law.kind} rewards, which may be below 0",
                "conversions",
                'Use reward="bernoulli", "poisson" or "exponential", or "uniform" with larger'
                " means.",
            )

    def check_policy(self) -> None:
        """Raise if the policy does not fit the problem."""
        self.policy.check(self.setting)
        levels = getattr(self.policy, "levels", 0)
        if self.covariate is not None and levels < self.covariate.levels:
            raise InvalidInput(
                f"{type(self.policy).__name__}.levels",
                f"must be at least {self.covariate.levels}, the values the covariate has",
                levels,
                "Raise it.",
            )

    def blank(self, rows: int, groups: int, dimension: int) -> LateTrack | LateWinnerTrack:
        """Return an empty track with room for `rows` replications."""
        track = super().blank(rows, groups, dimension)
        kind: Any = LateTrack if self.level is None else LateWinnerTrack
        return kind(*track, np.zeros_like(track.pulls))

    def message_rates(self) -> Vector:
        """Return the probability that playing an arm sends a message that arrives, or NaN."""
        if self.delayed is None:
            return self.censorship.rates(self.problem)
        return self.delayed.message_rates(self.problem)

    def size(self) -> dict[str, float]:
        """Return the number of arms and the effective dimension, NaN where p is not defined."""
        size = super().size()
        biased = self.delayed is not None and self.delayed.depends_on_reward
        return size | ({"effective dimension": math.nan} if biased else {})

    def world(self) -> LateWorld:  # type: ignore[override]
        """Return the loop's input for the bandit, the delays and the policy."""
        world = self.arm_world()
        constants, rates = world.arm_constants, self.message_rates()
        known = np.where(rates > 0.0, rates, 1.0)
        constants[:, feedback.HALF_RATE] = np.where(rates > 0.0, 0.5 * rates, 0.0)
        constants[:, feedback.PATIENCE] = 24.0 * np.log(self.horizon) / known + 1.0
        if self.delayed is None:
            if self.covariate is not None:
                world = world._replace(law=self.covariate.joint_table(self.problem))
            delays, lists = law_rows([Fixed(0)], 0)
            return LateWorld(*world, delays, lists, 0.0, 0, *self._rule())
        constants[:, feedback.WAIT_SCALE] = 0.0
        laws = [law for pair in self.delayed.pairs(self.problem.arms) for law in pair]
        delays, lists = law_rows(laws, self.reach)
        window = math.inf if self.delayed.window is None else float(self.delayed.window)
        conversions = 1 if self.delayed.sends == "conversions" else 0
        return LateWorld(*world, delays, lists, window, conversions, *self._rule())

    def _rule(self) -> tuple[Vector, Vector]:
        """Return the constants of the stopping rule, empty without one."""
        return (np.zeros(0), np.zeros(0)) if self.level is None else self._winner_rule(self.level)

    def policy_table(self) -> Vector:
        """Return the constants of the policy's kernels, which may know the delays."""
        return self.policy.table(self.setting)

    @property
    def reach(self) -> int:
        """The longest delay of a message that can matter."""
        if self.delayed is None:
            return 0
        window = self.delayed.window
        laws = [law for pair in self.delayed.pairs(self.problem.arms) for law in pair]
        longest = max(law.longest for law in laws) if window is None else float(window)
        return int(min(longest, self.horizon))

    def shapes(self) -> Shapes:
        """Return the shape and type of every array the loop works in."""
        kernels = self.policy.kernels()
        slots = self.reach + 1
        messages = max(slots, min(self.policy.remembers(self.setting), self.horizon) + 1)
        if kernels.queues:
            messages = max(messages, self.horizon + 1)
        statistics, orders = kernels.statistics, len(self.alphas)
        return late_shapes(self.groups, statistics, orders, messages, slots)

    def workspace(self) -> LateWorkspace:  # type: ignore[override]
        """Return arrays for the loop to work in."""
        arrays = {n: line_aligned(shape, kind) for n, (shape, kind) in self.shapes().items()}
        return LateWorkspace(**arrays)
