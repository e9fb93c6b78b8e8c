"""One cell of a study of linear bandits, laid out as arrays."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.censorship.link_models import LinkedCensorship
from halfseen.censorship.multi_threshold import MultiThreshold, observe_probability
from halfseen.censorship.per_action import AnyFunction
from halfseen.censorship.uniform import Uniform
from halfseen.checks import Vector
from halfseen.draws import AVAILABILITY, stream_key
from halfseen.engine.cells.arms import Track
from halfseen.engine.cells.own_actions import check_size, listed_rates, own_rounds
from halfseen.engine.loops import feedback as world
from halfseen.engine.loops.ball import play_ball
from halfseen.engine.loops.changing_set import draw_rounds, play_contexts
from halfseen.engine.loops.fixed_set import play_linear
from halfseen.errors import InvalidInput
from halfseen.policies.linear_policy import LinearPolicy, LinearSetting
from halfseen.problems.contexts import (
    FiniteActions,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    UnitBall,
    draw_action,
    sphere_scale,
)
from halfseen.problems.linear import LinearBandit
from halfseen.theory.linear_bounds import smallest_observe


@dataclass(frozen=True)
class LinearTrack(Track):
    """A track with the two designs: log det W - d log lambda and the eigenvalues of W."""

    spread: Vector
    eigenvalues: Vector

    @staticmethod
    def sized(
        replications: int, checkpoints: int, groups: int, alphas: int, horizon: int, dimension: int
    ) -> LinearTrack:
        """Return a track with room for the given numbers of things."""
        blank = Track.empty(replications, checkpoints, groups, alphas, horizon)
        shape = (replications, checkpoints, 2)
        return LinearTrack(
            **blank.arrays(), spread=np.zeros(shape), eigenvalues=np.zeros((*shape, dimension))
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

    @property
    def same_actions(self) -> bool:
        """True when every round offers the same actions."""
        return isinstance(self.problem.actions, FiniteActions)

    @property
    def loop(self) -> Callable[..., None]:
        """The loop that plays this kind of actions."""
        if self.same_actions:
            return play_linear
        return play_ball if isinstance(self.problem.actions, UnitBall) else play_contexts

    @property
    def groups(self) -> int:
        """How many kinds of actions are counted apart: the actions, or the regions."""
        if isinstance(self.problem.actions, FiniteActions):
            return self.problem.actions.count
        return len(self._cuts()) + 1

    @property
    def open_names(self) -> dict[str, Any]:
        """What the loop's open names stand for, beside the policy's kernels."""
        kernels = self.policy.kernels()
        jumps = kernels.waits and not kernels.imputes
        if self.same_actions:
            return {"JUMPS": jumps}
        actions = self.problem.actions
        kernel = getattr(self.censorship, "observe_probability", observe_probability)
        if isinstance(actions, UnitBall):
            return {"JUMPS": jumps, "observe_probability": kernel}
        return {
            "DRAWN": isinstance(actions, RandomActions) and not self.own_actions,
            "LISTED": isinstance(self.censorship, AnyFunction),
            "draw": actions.draw if isinstance(actions, RandomActions) else draw_action,
            "scale": actions.scale if isinstance(actions, RandomActions) else sphere_scale,
            "observe_probability": kernel,
        }

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

    def blank(self, rows: int, groups: int, dimension: int) -> Track:
        """Return an empty track with room for `rows` replications."""
        sizes = (rows, len(self.checkpoints), groups, len(self.alphas))
        return LinearTrack.sized(*sizes, self.horizon, dimension)

    def size(self) -> dict[str, float]:
        """Return the dimension and its worst case d / p_min, as the summary shows them."""
        d = self.problem.dimension
        least = smallest_observe(self.problem, self.censorship)
        return {"dimension": d, "d/p_min": d / least}

    def arguments(self) -> tuple[Any, ...]:
        """Return the loop's arguments between the replications and the tracks."""
        problem = self.problem
        shared = (
            np.ascontiguousarray(self.policy.table(self.setting), dtype=float),
            self.key,
            self.checkpoints,
            self.alphas,
            float(self.policy.regularization),
            self.censoring_factor,
        )
        theta = np.array(problem.theta)
        if isinstance(problem.actions, FiniteActions):
            rows = np.ascontiguousarray(problem.actions.actions)
            observe = self.observe()
            facts = np.zeros((len(rows), 5))
            facts[:, world.MEAN] = problem.means(rows)
            facts[:, world.NOISE] = problem.noise
            facts[:, world.HALF_RATE] = 0.5 * observe
            partly = observe < 1.0
            facts[partly, world.WAIT_SCALE] = -1.0 / np.log1p(-observe[partly])
            columns = np.ascontiguousarray(rows.T)
            return (self.horizon, rows, columns, facts, theta, *shared)
        censorship = self.censorship
        direction, table = np.zeros(problem.dimension), np.ones(1)
        if isinstance(censorship, Uniform):
            table = np.array([censorship.observe])
        elif not isinstance(censorship, AnyFunction):
            direction, table = np.array(censorship.direction), censorship.table()
        rest = (theta, problem.noise, direction, table, self._cuts(), *shared)
        actions = problem.actions
        if isinstance(actions, UnitBall):
            return (self.horizon, *rest)
        if isinstance(actions, SequenceOfActions):
            rates = listed_rates(censorship, actions.array)
            return (self.horizon, actions.array, actions.count, *rest, rates)
        nothing = np.zeros((1, 1, problem.dimension))
        return (self.horizon, nothing, actions.count, *rest, nothing[0])

    def own_arguments(
        self, replication: int, arguments: tuple[Any, ...], draw: Callable[..., Any]
    ) -> tuple[Any, ...]:
        """Return the arguments with the actions of one replication in them."""
        actions = self.problem.actions
        assert isinstance(actions, RandomActions | SampledActions)
        stream = (*self.key, replication, AVAILABILITY)
        offered = own_rounds(actions, self.horizon, stream, draw)
        rates = listed_rates(self.censorship, offered)
        return (self.horizon, offered, *arguments[2:-1], rates)

    def fit_draw(self, fit: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
        """Return what writes drawn actions into an array, plain or compiled."""
        return fit(draw_rounds, self.policy.kernels(), draw=self.open_names["draw"])

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
