"""One cell of a study of linear bandits, laid out as arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship import Censorship, Profile
from halfseen.censorship.multi_threshold import observe_probability
from halfseen.censorship.smallest import smallest_observe
from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, stream_key
from halfseen.engine.arguments import (
    GLM_SIZES,
    LINEAR_SIZES,
    ChangingWorkspace,
    ChangingWorld,
    FixedWorkspace,
    FixedWorld,
    LinearTrack,
    Shapes,
    blank_arms,
    blank_linear,
    changing_workspace,
    estimate_shapes,
    fixed_shapes,
    line_aligned,
)
from halfseen.engine.cells.arms import arm_constants
from halfseen.engine.cells.own_actions import check_size, listed_rates, own_rounds
from halfseen.engine.loops import ball, changing_set, drawn, fixed_linear, fixed_set
from halfseen.engine.loops.feedback import gaussian_feedback, link_feedback
from halfseen.engine.specialise import OpenNames, fitted, leaves_open
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed
from halfseen.policies.linear.base import LinearPolicy, LinearSetting
from halfseen.problems.action_sets import draw_action, sphere_scale
from halfseen.problems.base import DrawKernels
from halfseen.problems.linear import LinearBandit
from halfseen.problems.links import DRAWS

FIXED_LINEAR = (fixed_linear.reset, fixed_linear.shake, fixed_linear.learn, fixed_linear.misses)
DRAWN_LINEAR = (
    drawn.reset,
    drawn.choose,
    drawn.respond,
    drawn.learn,
    drawn.misses,
    drawn.decompose,
    drawn.longer,
)
ON_BALL = (
    drawn.reset,
    ball.choose,
    ball.respond,
    drawn.learn,
    drawn.misses,
    ball.decompose,
    drawn.longer,
)


@dataclass(frozen=True, eq=False)
class LinearCell(ByValue):
    """A problem, a censorship and a policy, with the rounds recorded."""

    problem: LinearBandit
    censorship: Censorship
    policy: LinearPolicy
    horizon: int
    seed: int
    checkpoints: NDArray[np.int64]
    alphas: Vector

    fits: ClassVar[bool] = False  # a likelihood is maximised
    late: ClassVar[bool] = False

    @property
    def same_actions(self) -> bool:
        """True when every round offers the same actions."""
        return self.problem.actions.fixed is not None

    @property
    def loop(self) -> Callable[..., None]:
        """The loop that plays this kind of actions."""
        return fixed_set.play if self.same_actions else changing_set.play

    @property
    def groups(self) -> int:
        """The number of separately counted kinds of actions: the actions, or the regions."""
        return self.problem.actions.count if self.same_actions else len(self._profile.cuts) + 1

    @property
    def jumps(self) -> bool:
        """True when nothing can change between two observations."""
        kernels = self.policy.kernels()
        waits = self.same_actions or self.problem.actions.whole_ball
        return waits and kernels.waits and not kernels.imputes

    @property
    def open_names(self) -> dict[str, Any]:
        """What is substituted into the loop, in addition to the policy's kernels."""
        return self.names(self.jumps)

    def names(self, jumps: bool) -> dict[str, Any]:
        """Return what is substituted into the loop, which jumps or plays every round."""
        return self._names(jumps) | {"POWERS": bool(np.any(self.alphas != 1.0))}

    def _names(self, jumps: bool) -> dict[str, Any]:
        kernels = self.policy.kernels()
        if self.same_actions:
            names = filled(FIXED_LINEAR, kernels, ())
            return names | {"JUMPS": jumps, "feedback": self._feedback()}
        return self._changing_names(jumps) | {"reward": DRAWS[self.problem.law]}

    def _feedback(self) -> Callable[..., Any]:
        """Return the kernel that draws an action's next reward and the wait for it."""
        if self.problem.law == "gaussian":
            return gaussian_feedback
        opened = (("reward", DRAWS[self.problem.law]),)
        return filled((link_feedback,), self.policy.kernels(), opened)["link_feedback"]

    def _changing_names(self, jumps: bool) -> dict[str, Any]:
        """Return what is substituted into the loop over changing sets and its ridge regression."""
        actions, kernels = self.problem.actions, self.policy.kernels()
        drawn = actions.kernels or DrawKernels(draw_action, sphere_scale)
        own = {
            "BALL": actions.whole_ball,
            "JUMPS": jumps,
            "DRAWN": actions.kernels is not None and not self.own_actions,
            "LISTED": self._listed,
            "draw": renewed(drawn.draw),
            "scale": renewed(drawn.scale),
            "observe_probability": renewed(self._profile.kernel),
        }
        if kernels.counts_pulls:  # the loop calls it itself
            own["CHOOSES"] = False
        parts = filled(ON_BALL if actions.whole_ball else DRAWN_LINEAR, kernels, tuple(own.items()))
        return own | parts

    @property
    def _profile(self) -> Profile:
        """The censorship's profile; a placeholder where its probabilities are listed."""
        d = self.problem.dimension
        none = Profile(observe_probability, np.zeros(d), np.ones(1))
        return self.censorship.profile(d) or none

    @property
    def _listed(self) -> bool:
        """True when the probabilities are computed before a replication is played."""
        return self.censorship.profile(self.problem.dimension) is None

    @property
    def own_actions(self) -> bool:
        """True if each replication has its own actions, computed before it is played."""
        actions = self.problem.actions
        if actions.whole_ball or actions.fixed is not None or actions.given is not None:
            return False
        return actions.kernels is None or self._listed

    @property
    def key(self) -> tuple[int, int]:
        """The key of the world's draws, besides the replication: the seed and the problem."""
        return stream_key(self.seed, _label(self.problem))

    @property
    def setting(self) -> LinearSetting:
        """The setting passed to the policy before the first round."""
        problem = self.problem
        return LinearSetting(
            problem.dimension,
            problem.noise,
            problem.norm,
            self.horizon,
            actions=problem.actions.fixed,
            observe=self.observe() if self.same_actions else None,
        )

    @property
    def censoring_factor(self) -> float:
        """The c of the event that the observed design falls below 1/c of the expected one."""
        log = math.log(self.problem.dimension * max(self.horizon, 2))
        return 8.0 * max(log / self.policy.regularization, 1.0)

    def observe(self) -> Vector:
        """Return the probability of being observed of each action of a finite set."""
        return self.censorship.checked(self.problem.actions.fixed)

    def check_policy(self) -> None:
        """Raise if the policy cannot play these actions."""
        if self.policy.counts_pulls and self.policy.choose is None:
            fix = "Write one, or omit `counts_pulls`."
            requirement = "must have a kernel `choose` if it `counts_pulls`"
            raise InvalidInput("policy", requirement, self.policy, fix)
        if self.policy.knows_observe and not self.same_actions:
            self.policy.table(self.setting)
        if self.problem.actions.whole_ball and self.policy.on_ball is None:
            raise InvalidInput(
                "policy",
                "must have an `on_ball` kernel, which finds its action on the unit ball",
                self.policy,
                "Write one, use LinUCB(), or offer a finite set of actions.",
            )

    def check_censorship(self) -> None:
        """Raise if no loop supports the censorship."""
        if self.censorship.by_reward and self.censorship.delayed is None:
            self.censorship.rates(self.problem)
        actions = self.problem.actions
        if self.same_actions:
            self.observe()
            return
        if self.censorship.by_place:
            raise InvalidInput(
                "censorship",
                "must be Uniform, MultiThreshold, a link model or AnyFunction when actions change",
                self.censorship,
                "Choose one of those.",
            )
        if actions.whole_ball and self._listed:
            raise InvalidInput(
                "censorship",
                "must have a `profile` on the unit ball, as Uniform, MultiThreshold and link models"
                " do",
                self.censorship,
                "Choose one of those, or offer FiniteActions, RandomActions or a sequence.",
            )
        if self.own_actions:
            check_size(actions, self.horizon)
        rows = np.zeros((1, self.problem.dimension))
        if actions.given is not None:
            rows = actions.given[0]
        elif actions.kernels is not None:
            rows = np.empty((actions.count, self.problem.dimension))
            for k in range(actions.count):
                actions.kernels.draw((0, 0, 0, 0), 1, k, rows[k])
        elif not actions.whole_ball:
            rows = actions.sample(np.random.default_rng(0), 1)
        self.censorship.checked(rows)

    def blank(self, rows: int, groups: int, dimension: int) -> LinearTrack:
        """Return an empty track with room for `rows` replications."""
        sizes = (rows, len(self.checkpoints), groups, len(self.alphas))
        return blank_linear(blank_arms(*sizes, self.horizon), dimension)

    def size(self) -> dict[str, float]:
        """Return the dimension and its worst case d / p_min, as the summary shows them."""
        d = self.problem.dimension
        least = smallest_observe(self.problem, self.censorship)
        return {"dimension": d, "d/p_min": d / least}

    def world(self) -> FixedWorld | ChangingWorld:
        """Return the loop's input for the bandit, the censorship and the policy."""
        theta, limit, prior = self._likelihood(np.array(self.problem.theta))
        rest: Any = (
            limit,
            prior,
            np.ascontiguousarray(self.policy.table(self.setting), dtype=float),
            self.key,
            self.checkpoints.astype(float),
            self.alphas,
            float(self.policy.regularization),
            self.censoring_factor,
        )
        problem, actions = self.problem, self.problem.actions
        if actions.fixed is not None:
            rows = np.ascontiguousarray(actions.fixed)
            constants = arm_constants(problem.means(rows), problem.noise, self.observe())
            return FixedWorld(rows, rows.T.copy(), constants, theta, *rest)
        offered = np.zeros((1, 1, problem.dimension))
        rates = offered[0]
        if actions.given is not None:
            offered, rates = actions.given, self._rates(actions.given)
        along = self._profile
        about = (theta, problem.noise, along.direction, along.table, along.cuts)
        return ChangingWorld(offered, actions.count, rates, *about, *rest)

    def _rates(self, offered: Vector) -> Vector:
        """Return the probability of every action of a sequence, if they are listed."""
        return listed_rates(self.censorship, offered) if self._listed else np.zeros((1, 1))

    def _likelihood(self, theta: Vector) -> tuple[Vector, float, Vector]:
        """Return theta, and placeholders for the limit and the prior of a likelihood."""
        return theta, math.inf, np.zeros((1, 1))

    def own_world(
        self, replication: int, world: ChangingWorld, draw: Callable[..., Any]
    ) -> ChangingWorld:
        """Return the world with the actions of one replication in it."""
        stream = (*self.key, replication, AVAILABILITY)
        offered = own_rounds(self.problem.actions, self.horizon, stream, draw)
        offered.setflags(write=False)  # like a given sequence, to share compiled code
        return world._replace(offered=offered, rates=self._rates(offered))

    def shapes(self) -> Shapes:
        """Return the shape and type of every array the loop works in, except those of actions."""
        sizes = (self.problem.dimension, len(self.alphas))
        if self.same_actions:
            return fixed_shapes(self.groups, *sizes, fits=self.fits, memory=self._memory)
        d, orders = sizes
        return estimate_shapes(GLM_SIZES if self.fits else LINEAR_SIZES, d, self.groups, orders)

    def workspace(self) -> FixedWorkspace | ChangingWorkspace:
        """Return arrays for the loop to work in."""
        arrays = {n: line_aligned(shape, kind) for n, (shape, kind) in self.shapes().items()}
        if self.same_actions:
            return FixedWorkspace(**arrays)
        count = self.problem.actions.count
        return changing_workspace(arrays, count, self.problem.dimension, self._memory)

    @property
    def _memory(self) -> int:
        """The number of values in the policy's memory."""
        return self.policy.memory(self.problem.actions.count, self.problem.dimension)

    def fit_draw(self, fit: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
        """Return the function that writes drawn actions into an array, plain or compiled."""
        return fit(drawn.draw_rounds, self.policy.kernels(), draw=self.open_names["draw"])


def _label(problem: LinearBandit) -> str:
    """Return the label that determines the world's draws: the problem, actions abbreviated."""
    actions = problem.actions
    parts = [problem.kind, problem.theta, problem.noise, actions.kind, actions.label()]
    parts += [] if problem.reward == "gaussian" else [problem.reward]
    return json.dumps(parts)


@cache
def filled(
    functions: tuple[Callable[..., Any], ...], kernels: OpenNames, names: tuple[Any, ...]
) -> dict[str, FunctionType]:
    """Return functions by name, with a policy's kernels and other open names filled in."""
    opened = {*kernels.names(), *dict(names)}
    return {
        part.__name__: fitted(part, kernels, **dict(names)) if leaves_open(part, opened) else part
        for part in functions
        if isinstance(part, FunctionType)
    }
