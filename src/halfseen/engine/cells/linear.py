"""One cell of a study of linear bandits, laid out as arrays."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship.link_models import LinkedCensorship
from halfseen.censorship.multi_threshold import MultiThreshold, observe_probability
from halfseen.censorship.per_action import AnyFunction
from halfseen.censorship.smallest import smallest_observe
from halfseen.censorship.uniform import Uniform
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
)
from halfseen.engine.cells.arms import arm_constants
from halfseen.engine.cells.own_actions import check_size, listed_rates, own_rounds
from halfseen.engine.loops import ball, changing_set, drawn, fixed_linear, fixed_set
from halfseen.engine.loops.feedback import gaussian_feedback
from halfseen.engine.specialise import OpenNames, fitted, leaves_open
from halfseen.errors import InvalidInput
from halfseen.policies.linear.base import LinearPolicy, LinearSetting
from halfseen.problems.action_sets import (
    FiniteActions,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    UnitBall,
    draw_action,
    sphere_scale,
)
from halfseen.problems.linear import LinearBandit
from halfseen.problems.links import draw_gaussian

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


@dataclass(frozen=True)
class LinearCell:
    """What is played, and where along the way it is looked at."""

    problem: LinearBandit
    censorship: Any
    policy: LinearPolicy
    horizon: int
    seed: int
    checkpoints: NDArray[np.int64]
    alphas: Vector

    fits: ClassVar[bool] = False  # a likelihood is maximised

    @property
    def same_actions(self) -> bool:
        """True when every round offers the same actions."""
        return isinstance(self.problem.actions, FiniteActions)

    @property
    def loop(self) -> Callable[..., None]:
        """The loop that plays this kind of actions."""
        return fixed_set.play if self.same_actions else changing_set.play

    @property
    def groups(self) -> int:
        """How many kinds of actions are counted apart: the actions, or the regions."""
        if isinstance(self.problem.actions, FiniteActions):
            return self.problem.actions.count
        return len(self._cuts()) + 1

    @property
    def jumps(self) -> bool:
        """True when nothing can change between two observations."""
        kernels = self.policy.kernels()
        waits = self.same_actions or isinstance(self.problem.actions, UnitBall)
        return waits and kernels.waits and not kernels.imputes

    @property
    def open_names(self) -> dict[str, Any]:
        """What the loop's open names stand for, beside the policy's kernels."""
        return self.names(self.jumps)

    def names(self, jumps: bool) -> dict[str, Any]:
        """Return what the loop's open names stand for, where it jumps or plays every round."""
        return self._names(jumps) | {"POWERS": bool(np.any(self.alphas != 1.0))}

    def _names(self, jumps: bool) -> dict[str, Any]:
        kernels = self.policy.kernels()
        if self.same_actions:
            names = filled(FIXED_LINEAR, kernels, ())
            return names | {"JUMPS": jumps, "feedback": gaussian_feedback}
        return self._changing_names(jumps) | {"reward": draw_gaussian}

    def _changing_names(self, jumps: bool) -> dict[str, Any]:
        """Return what is open in the loop over changing sets and in ridge regression on them."""
        actions, kernels = self.problem.actions, self.policy.kernels()
        ball = isinstance(actions, UnitBall)
        own = {
            "BALL": ball,
            "JUMPS": jumps,
            "DRAWN": isinstance(actions, RandomActions) and not self.own_actions,
            "LISTED": isinstance(self.censorship, AnyFunction),
            "draw": actions.draw if isinstance(actions, RandomActions) else draw_action,
            "scale": actions.scale if isinstance(actions, RandomActions) else sphere_scale,
            "observe_probability": getattr(
                self.censorship, "observe_probability", observe_probability
            ),
        }
        parts = filled(ON_BALL if ball else DRAWN_LINEAR, kernels, tuple(own.items()))
        return own | parts

    @property
    def own_actions(self) -> bool:
        """True when a replication's actions are its own and must be known before it is played."""
        actions = self.problem.actions
        drawn = isinstance(actions, RandomActions) and isinstance(self.censorship, AnyFunction)
        return drawn or isinstance(actions, SampledActions)

    @property
    def key(self) -> tuple[int, int]:
        """What the world's draws depend on, beside the replication: the seed and the problem."""
        return stream_key(self.seed, _label(self.problem))

    @property
    def setting(self) -> LinearSetting:
        """What the policy is told before the first round."""
        problem = self.problem
        fixed = problem.actions if isinstance(problem.actions, FiniteActions) else None
        return LinearSetting(
            problem.dimension,
            problem.noise,
            problem.norm,
            self.horizon,
            actions=None if fixed is None else fixed.actions,
            observe=None if fixed is None else self.observe(),
        )

    @property
    def censoring_factor(self) -> float:
        """The c of the event that the observed design falls below the expected one over c."""
        log = math.log(self.problem.dimension * max(self.horizon, 2))
        return 8.0 * max(log / self.policy.regularization, 1.0)

    def observe(self) -> Vector:
        """Return the probability of being observed of each action of a finite set."""
        actions = self.problem.actions
        assert isinstance(actions, FiniteActions)
        if isinstance(self.censorship, Uniform):
            return self.censorship.probabilities(actions.count)
        values: Vector = self.censorship.probabilities(actions.actions)
        return values

    def check_policy(self) -> None:
        """Refuse a policy that cannot play these actions."""
        if self.policy.knows_observe and not self.same_actions:
            self.policy.table(self.setting)
        if isinstance(self.problem.actions, UnitBall) and self.policy.on_ball is None:
            raise InvalidInput(
                "policy",
                "must have an `on_ball` kernel, which finds its action on the unit ball",
                self.policy,
                "Write one, use LinUCB(), or offer a finite set of actions.",
            )

    def check_censorship(self) -> None:
        """Refuse what no loop can play."""
        actions = self.problem.actions
        if isinstance(actions, FiniteActions):
            self.observe()
            return
        anywhere = isinstance(self.censorship, Uniform | MultiThreshold | LinkedCensorship)
        if not anywhere and isinstance(actions, UnitBall):
            raise InvalidInput(
                "censorship",
                "must be Uniform, MultiThreshold or a link model on the unit ball",
                self.censorship,
                "Choose one of those, or offer FiniteActions, RandomActions or a sequence.",
            )
        if not anywhere and not isinstance(self.censorship, AnyFunction):
            raise InvalidInput(
                "censorship",
                "must be Uniform, MultiThreshold, a link model or AnyFunction when actions change",
                self.censorship,
                "Choose one of those.",
            )
        rows = np.zeros((1, self.problem.dimension))
        if isinstance(actions, RandomActions | SampledActions) and self.own_actions:
            check_size(actions, self.horizon)
        if isinstance(actions, SampledActions):
            rows = actions.sample(np.random.default_rng(0), 1)
        elif isinstance(actions, SequenceOfActions):
            rows = actions.at(1)
        elif isinstance(actions, RandomActions):
            rows = actions.sample((0, 0, 0, 0), 1)
        if not isinstance(self.censorship, Uniform):
            self.censorship.probabilities(rows)

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
        """Return what the loop is told of the bandit, the censorship and the policy."""
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
        problem, actions, censorship = self.problem, self.problem.actions, self.censorship
        if isinstance(actions, FiniteActions):
            rows = np.ascontiguousarray(actions.actions)
            constants = arm_constants(problem.means(rows), problem.noise, self.observe())
            return FixedWorld(rows, np.ascontiguousarray(rows.T), constants, theta, *rest)
        direction, table = np.zeros(problem.dimension), np.ones(1)
        if isinstance(censorship, Uniform):
            table = np.array([censorship.observe])
        elif not isinstance(censorship, AnyFunction):
            direction, table = np.array(censorship.direction), censorship.table()
        offered = np.zeros((1, 1, problem.dimension))
        rates = offered[0]
        if isinstance(actions, SequenceOfActions):
            offered, rates = actions.array, listed_rates(censorship, actions.array)
        about = (theta, problem.noise, direction, table, self._cuts())
        return ChangingWorld(offered, self._count, rates, *about, *rest)

    @property
    def _count(self) -> int:
        """The number of actions written down in a round; of the ball, the chosen one."""
        return 1 if isinstance(self.problem.actions, UnitBall) else self.problem.actions.count

    def _likelihood(self, theta: Vector) -> tuple[Vector, float, Vector]:
        """Return theta, and the limit and the prior of a likelihood; here there is none."""
        return theta, math.inf, np.zeros((1, 1))

    def own_world(
        self, replication: int, world: ChangingWorld, draw: Callable[..., Any]
    ) -> ChangingWorld:
        """Return the world with the actions of one replication in it."""
        actions = self.problem.actions
        assert isinstance(actions, RandomActions | SampledActions)
        stream = (*self.key, replication, AVAILABILITY)
        offered = own_rounds(actions, self.horizon, stream, draw)
        return world._replace(offered=offered, rates=listed_rates(self.censorship, offered))

    def shapes(self) -> Shapes:
        """Return the shape and type of every array the loop works in, beside those of actions."""
        sizes = (self.problem.dimension, len(self.alphas))
        if self.same_actions:
            return fixed_shapes(self.groups, *sizes, fits=self.fits, memory=self._memory)
        d, orders = sizes
        return estimate_shapes(GLM_SIZES if self.fits else LINEAR_SIZES, d, self.groups, orders)

    def workspace(self) -> FixedWorkspace | ChangingWorkspace:
        """Return arrays for the loop to work in."""
        arrays = {n: np.zeros(shape, kind) for n, (shape, kind) in self.shapes().items()}
        if self.same_actions:
            return FixedWorkspace(**arrays)
        return changing_workspace(arrays, self._count, self.problem.dimension, self._memory)

    @property
    def _memory(self) -> int:
        """How many numbers the policy keeps."""
        return self.policy.memory(self._count, self.problem.dimension)

    def fit_draw(self, fit: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
        """Return what writes drawn actions into an array, plain or compiled."""
        return fit(drawn.draw_rounds, self.policy.kernels(), draw=self.open_names["draw"])

    def _cuts(self) -> Vector:
        if isinstance(self.censorship, MultiThreshold):
            return self.censorship.table()[1::2].copy()
        return np.zeros(0)


def _label(problem: LinearBandit) -> str:
    """Return what decides the world's draws: the problem, its actions in short."""
    actions = problem.actions
    if isinstance(actions, FiniteActions):
        content: Any = hashlib.sha256(actions.actions.tobytes()).hexdigest()
    elif isinstance(actions, SequenceOfActions):
        content = [list(actions.array.shape), float(actions.array[0, 0, 0])]
    elif isinstance(actions, SampledActions):
        content = [actions.count, actions.dimension]
    else:
        content = vars(actions)
    return json.dumps([problem.kind, problem.theta, problem.noise, actions.kind, content])


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
