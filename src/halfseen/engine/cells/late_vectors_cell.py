"""Cells of linear and generalized linear bandits whose feedback comes late."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship import Censorship, Delayed, Uniform
from halfseen.checks import Vector
from halfseen.engine.arguments import Shapes, line_aligned
from halfseen.engine.cells.glm import GLMCell
from halfseen.engine.cells.linear import LinearCell, filled
from halfseen.engine.late_tracks import LateLinearTrack
from halfseen.engine.late_vectors import LateVectorWorkspace, LateVectorWorld, late_vector_shapes
from halfseen.engine.loops import feedback, fixed_set, late_changing_set, late_fixed_set
from halfseen.errors import InvalidInput, counted_entries
from halfseen.policies.glm.base import GLMPolicy
from halfseen.policies.linear.base import LinearPolicy
from halfseen.problems.delay_contract import law_rows
from halfseen.problems.delay_laws import Fixed
from halfseen.problems.glm import GeneralizedLinearBandit
from halfseen.problems.linear import LinearBandit
from halfseen.problems.links import DRAWS, draw_gaussian, line, one

FIXED_CHOICE = (fixed_set.choose, fixed_set.choose_freely)


def linear_cell(
    problem: LinearBandit,
    censorship: Censorship,
    policy: LinearPolicy,
    horizon: int,
    seed: int,
    checkpoints: NDArray[np.int64],
    alphas: Vector,
) -> LinearCell:
    """Return the cell that plays a policy on vectors, with or without delays."""
    late = censorship.comes_late or policy.counts_pulls
    if isinstance(problem, GeneralizedLinearBandit):
        kind: Callable[..., LinearCell] = LateGLMCell if late else GLMCell
    else:
        kind = LateLinearCell if late else LinearCell
    return kind(problem, censorship, policy, horizon, seed, checkpoints, alphas)


def positive_share(mean: float) -> float:
    """Return the probability that a Poisson count is above 0."""
    return -math.expm1(-mean)


@dataclass(frozen=True, eq=False)
class LateLinearCell(LinearCell):
    """A cell in which every round is played and its reward is tracked until it arrives.

    It is also used for policies that count their plays, under any censorship: without delays
    rewards are observed immediately or never.
    """

    late: ClassVar[bool] = True

    @property
    def delayed(self) -> Delayed:
        """The censorship as delays."""
        if self.censorship.delayed is not None:
            return self.censorship.delayed
        if isinstance(self.censorship, Uniform):
            return Delayed(Fixed(0, arrive=self.censorship.observe), window=0)
        return Delayed([Fixed(0, arrive=p) for p in self.observe().tolist()], window=0)

    @property
    def loop(self) -> Callable[..., None]:
        """The loop that plays this kind of actions."""
        return late_fixed_set.play if self.same_actions else late_changing_set.play

    @property
    def jumps(self) -> bool:
        """False: every round is played."""
        return False

    @property
    def open_names(self) -> dict[str, Any]:
        """What is substituted into the loop, in addition to the policy's kernels."""
        names, kernels = self.names(super().jumps), self.policy.kernels()
        if self.same_actions:
            return names | filled(FIXED_CHOICE, kernels, ()) | self._dated()
        return names | {"sent_share": self._sent_share}

    def _dated(self) -> dict[str, Any]:
        """Return the kernel that draws a reward, and a uniform for its delay."""
        if self._reward is draw_gaussian:
            return {"dated_feedback": feedback.gaussian_dated}
        opened = (("reward", self._reward),)
        drawn = filled((feedback.link_dated,), self.policy.kernels(), opened)
        return {"dated_feedback": drawn["link_dated"]}

    @property
    def _reward(self) -> Callable[..., float]:
        """The kernel that draws a reward."""
        return DRAWS[self.problem.law]

    @property
    def _sent_share(self) -> Callable[[float], float]:
        """The probability that a reward is sent, as a function of its mean."""
        if self.delayed.sends == "all":
            return one
        return line if self.problem.law == "bernoulli" else positive_share

    def check_censorship(self) -> None:
        """Raise if the delays do not fit the problem."""
        if self.censorship.delayed is None:
            super().check_censorship()
            if not (self.same_actions or isinstance(self.censorship, Uniform)):
                raise InvalidInput(
                    "censorship",
                    "must be Uniform or Delayed where actions change and the policy counts plays",
                    self.censorship,
                    "Choose one of those, or another policy.",
                )
            return
        if self.delayed.sends == "conversions" and self.problem.law not in ("bernoulli", "poisson"):
            raise InvalidInput(
                "Delayed.sends",
                f"must be all for {self.problem.law} rewards, which may be below 0",
                "conversions",
                'Use LinearBandit(..., reward="bernoulli"), or a GeneralizedLinearBandit with'
                ' link="logistic", "probit" or "poisson".',
            )
        if not self.same_actions and self.delayed.by_place:
            raise InvalidInput(
                "Delayed.laws",
                "must be one law for all actions where actions change from round to round",
                counted_entries(len(self.delayed.laws)),  # type: ignore[arg-type]
                "Give one law, or offer FiniteActions.",
            )
        super().check_censorship()

    def check_policy(self) -> None:
        """Raise if the policy cannot play these actions, or needs a window."""
        super().check_policy()
        if self.policy.counts_pulls and self.delayed.window is None:
            raise InvalidInput(
                type(self.policy).__name__,
                "must be played with a window, after which a decision is given up",
                "no window",
                "Add a window to Delayed.",
            )

    def blank(self, rows: int, groups: int, dimension: int) -> LateLinearTrack:  # type: ignore[override]
        """Return an empty track with room for `rows` replications."""
        track = super().blank(rows, groups, dimension)
        return LateLinearTrack(*track, np.zeros_like(track.pulls))

    def size(self) -> dict[str, float]:
        """Return the dimension and d / p_min, NaN where p is not defined."""
        return super().size() | ({"d/p_min": math.nan} if self.delayed.depends_on_reward else {})

    def _message_rates(self) -> Vector:
        """Return the probability that a message arrives, for each action of a fixed set."""
        pairs = self.delayed.pairs(self.groups)
        window = math.inf if self.delayed.window is None else self.delayed.window
        rates = np.array([[law.arrived_by(window) for law in pair] for pair in pairs])
        means = self.problem.means(self.problem.actions.fixed)
        if self.delayed.sends == "conversions":
            return rates[:, 1] * np.array([self._sent_share(mean) for mean in means])
        if self.problem.law == "bernoulli":
            return (1.0 - means) * rates[:, 0] + means * rates[:, 1]
        return np.where(rates[:, 0] == rates[:, 1], rates[:, 1], 0.0)

    def world(self) -> LateVectorWorld:  # type: ignore[override]
        """Return the loop's input for the bandit, the delays and the policy."""
        own = super().world()
        if self.same_actions:
            own.arm_constants[:, feedback.HALF_RATE] = 0.5 * self._message_rates()  # type: ignore[union-attr]
        laws = [law for pair in self._pairs for law in pair]
        delays, lists = law_rows(laws, self.reach)
        window = math.inf if self.delayed.window is None else float(self.delayed.window)
        conversions = 1 if self.delayed.sends == "conversions" else 0
        return LateVectorWorld(own, delays, lists, window, conversions)

    @property
    def _pairs(self) -> list[Any]:
        """The two delay laws of every action, or of all where actions change."""
        return self.delayed.pairs(self.groups if self.same_actions else 1)

    @property
    def reach(self) -> int:
        """The longest delay of a message that can matter."""
        window = self.delayed.window
        longest = max(law.longest for pair in self._pairs for law in pair)
        return int(min(longest if window is None else float(window), self.horizon))

    def own_world(  # type: ignore[override]
        self, replication: int, world: LateVectorWorld, draw: Callable[..., Any]
    ) -> LateVectorWorld:
        """Return the world with the actions of one replication in it."""
        return world._replace(own=super().own_world(replication, world.own, draw))

    def late_shapes(self) -> Shapes:
        """Return the shape and type of every array of messages."""
        fixed, d = self.same_actions, self.problem.dimension
        return late_vector_shapes(self.groups, d, self.reach + 1, fixed=fixed)

    def workspace(self) -> LateVectorWorkspace:  # type: ignore[override]
        """Return arrays for the loop to work in."""
        arrays = {n: line_aligned(shape, kind) for n, (shape, kind) in self.late_shapes().items()}
        return LateVectorWorkspace(super().workspace(), **arrays)


@dataclass(frozen=True, eq=False)
class LateGLMCell(LateLinearCell, GLMCell):
    """The same for a generalized linear bandit."""

    problem: GeneralizedLinearBandit
    policy: GLMPolicy

    @property
    def _reward(self) -> Callable[..., float]:
        """The kernel that draws a reward."""
        return self.problem.curve.kernels.reward
