"""A linear policy in live use: choose among vectors, then observe or miss."""

from __future__ import annotations

import json
import math
from pathlib import Path
from threading import RLock
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from halfseen import checks
from halfseen.agents.arms import reward_value, settle
from halfseen.agents.saved_code import check_code, code_of
from halfseen.agents.saved_state import is_of_observations, of_unit_length
from halfseen.checks import Vector
from halfseen.draws import POLICY, stream_key
from halfseen.engine.arguments import (
    DESIGN,
    DUE,
    ESTIMATE,
    INVERSE,
    LEARNED,
    REGULARIZATION,
    SPREAD,
    TARGET,
)
from halfseen.engine.loops import live_linear as live
from halfseen.engine.specialise import compiled
from halfseen.errors import InvalidInput, StorageError
from halfseen.policies import GLMPolicy, LinearPolicy
from halfseen.policies.linear.base import LinearSetting
from halfseen.problems.action_arrays import action_rows
from halfseen.problems.arms import LARGEST
from halfseen.studies.spec import describe, linear_policy_from
from halfseen.studies.storage import read_json, sealed, write_text

FORMAT = 2
_Matrix = list[list[float]]


class _Saved(BaseModel):
    """The content of a file that `LinearAgent.save` writes; only types are checked here."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

    policy: dict[str, Any]
    code: dict[str, str]
    setting: dict[str, Any]
    seed: int
    decisions: Annotated[int, Field(ge=0, le=2**48)]
    matrices: list[_Matrix]
    vectors: _Matrix
    numbers: list[float]
    pending: list[tuple[int, int, list[float]]]
    kept: _Matrix = []
    paid: list[float] = []


class LinearDecision(NamedTuple):
    """One choice of a linear agent: its number, from 1, and which of the actions to play."""

    number: int
    action: int


class LinearAgent:
    """A linear policy with its state, used one decision at a time.

    The actions on offer may change from call to call. Feedback may come at once, late, in any
    order, or never. A decision is settled by one call of `observe` or `miss`; a second one raises
    `DecisionError` and changes nothing.

    Parameters
    ----------
    policy
        The policy that chooses, for example `LinUCB`.
    dimension
        Number of coordinates of an action.
    noise
        Sub-Gaussian scale of the rewards.
    bound
        A number the length of the unknown vector does not exceed.
    horizon
        The approximate number of decisions that will be made, for policies that use it.
    seed
        Seed of the draws of randomised policies.

    Notes
    -----
    Several threads may use one agent: each call is finished before the next one begins.

    Examples
    --------
    >>> from halfseen import LinearAgent, LinUCB
    >>> agent = LinearAgent(LinUCB(), dimension=2, noise=0.1)
    >>> first = agent.choose([[1.0, 0.0], [0.0, 1.0]])
    >>> second = agent.choose([[0.0, 1.0], [0.6, 0.8], [0.0, -1.0]])
    >>> agent.observe(second, 0.7)
    >>> agent.miss(first)
    >>> agent.observations, sorted(agent.pending)
    (1, [])
    """

    def __init__(
        self,
        policy: LinearPolicy,
        dimension: int,
        *,
        noise: float = 1.0,
        bound: float = 1.0,
        horizon: int = 100_000,
        seed: int = 0,
    ) -> None:
        if not isinstance(policy, LinearPolicy) or isinstance(policy, GLMPolicy):
            raise InvalidInput(
                "LinearAgent.policy",
                "must be a linear policy",
                policy,
                "Use LinUCB(), or GLMAgent for a generalized linear one.",
            )
        self.policy = policy
        told = {"dimension": dimension, "noise": noise, "bound": bound, "horizon": horizon}
        self._told: dict[str, Any] = self._checked(told)
        self.setting = LinearSetting(**self._told)
        policy.check_live()
        d = self.setting.dimension
        kernels = policy.kernels()
        select = live.select_freely if kernels.choose else live.select_action
        self._select = compiled(select, kernels)
        self._absorb = compiled(live.absorb_action, kernels)
        self._matrices, self._vectors = np.zeros((4, d, d)), np.zeros((6, d))
        self._numbers = np.array([0.0, 0.0, 0.0, policy.regularization])
        self._begin(seed)

    def _checked(self, told: dict[str, Any]) -> dict[str, Any]:
        """Validate the parameters that describe the problem."""
        name = type(self).__name__
        limits: Any = {"at_least": 0.0, "at_most": LARGEST}
        d, horizon = told["dimension"], told["horizon"]
        return {
            "dimension": checks.whole(f"{name}.dimension", d, at_least=1, at_most=10_000),
            "noise": checks.number(f"{name}.noise", told["noise"], **limits),
            "bound": checks.number(f"{name}.bound", told["bound"], **limits),
            "horizon": checks.whole(f"{name}.horizon", horizon, at_least=1, at_most=2**48),
        }

    def _begin(self, seed: int) -> None:
        """Allocate an empty state and compile the kernels."""
        self.seed = checks.seed(f"{type(self).__name__}.seed", seed)
        self._imputes = self.policy.imputes
        self._table = np.ascontiguousarray(self.policy.table(self.setting), dtype=float)
        self._key = stream_key(self.seed, "agent")
        self._lock = RLock()
        self._clock = 0
        self._pending: dict[int, tuple[int, Vector]] = {}
        self._seen = 0
        d = self.setting.dimension
        self._reset()
        self._chosen(np.zeros((1, d)), 1)
        self._learn(np.zeros(d), 0.0)
        self._reset()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = RLock()

    def _reset(self) -> None:
        live.reset(self._matrices, self._vectors, self._numbers)

    def _learn(self, action: Vector, reward: float) -> None:
        self._absorb(action, reward, self._matrices, self._vectors, self._numbers)

    @property
    def _state(self) -> tuple[Vector, Vector, Vector]:
        return self._matrices, self._vectors, self._numbers

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._clock

    @property
    def observations(self) -> int:
        """How many rewards were observed."""
        return self._seen

    @property
    def pending(self) -> dict[int, Vector]:
        """The number and the action of every decision that is not settled."""
        with self._lock:
            return {number: action.copy() for number, (_, action) in self._pending.items()}

    @property
    def estimate(self) -> Vector:
        """The ridge estimate of the unknown vector theta."""
        with self._lock:
            return self._vectors[ESTIMATE].copy()

    def choose(self, actions: Any) -> LinearDecision:
        """Choose one of the rows of `actions`, an array (K, d), and remember the decision."""
        rows = actions
        if type(rows) is not np.ndarray or rows.dtype != np.float64 or not rows.flags.c_contiguous:
            rows = action_rows(actions)
        if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] != self.setting.dimension:
            raise InvalidInput(
                "actions",
                f"must be an array (K, {self.setting.dimension}), one action per row, not empty",
                f"shape {rows.shape}",
                "Offer at least one action of the right dimension.",
            )
        with self._lock:
            clock = self._clock + 1
            chosen = self._chosen(rows, clock)
            if chosen < 0:
                place = -1 - chosen
                raise InvalidInput(
                    f"actions[{place}]",
                    "must be finite and of length at most 1",
                    rows[place].tolist(),
                    "Divide it by its length, or leave it out.",
                )
            self._clock = clock
            self._pending[clock] = (chosen, rows[chosen].copy())
            return LinearDecision(clock, chosen)

    def _chosen(self, rows: Vector, clock: int) -> int:
        """Return the policy's choice, or -1-k if row k is not finite or too long."""
        if self.policy.choose is None:
            chosen: int = self._select(rows, *self._state, clock, *self._key, self._table)
            return chosen
        known = live.knowledge(self._state, len(rows), clock - 1 - len(self._pending), self._seen)
        memory, stream = np.zeros(self.policy.memory(*rows.shape)), (*self._key, 0, POLICY)
        inverse = self._matrices[INVERSE]
        free: int = self._select(rows, known, inverse, memory, clock, stream, self._table)
        return free

    def observe(self, decision: LinearDecision | int, reward: float | None) -> None:
        """Learn the reward of a decision; None or NaN is the same as `miss`."""
        value = reward_value(reward)
        if value is None:
            return self.miss(decision)
        with self._lock:
            _, action = settle(self._pending, self._clock, decision)
            self._learn(action, value)
            self._seen += 1
            return None

    def miss(self, decision: LinearDecision | int) -> None:
        """Settle a decision whose reward will not come."""
        with self._lock:
            _, action = settle(self._pending, self._clock, decision)
            if self._imputes:
                self._learn(action, 0.0)

    def expire(self, age: int) -> int:
        """Miss every unsettled decision made at least `age` decisions ago; return how many."""
        with self._lock:
            limit = self._clock - checks.whole("age", age, at_least=0)
            old = [number for number in self._pending if number <= limit]
            for number in old:
                self.miss(number)
            return len(old)

    def winner(self) -> None:
        """Refuse: the actions on offer may change, and no rule for a winner among them is known."""
        raise InvalidInput(
            f"{type(self).__name__}.winner",
            "does not apply to actions with features: a winner is declared among arms",
            f"{self.setting.dimension} features",
            "Use an Agent with one arm per action.",
        )

    def save(self, path: Path | str) -> None:
        """Write the whole state as JSON; `load` continues from it bit for bit."""
        with self._lock:
            content = {
                "format": FORMAT,
                "policy": describe(self.policy),
                "code": self._code(),
                "setting": self._told,
                "seed": self.seed,
                "decisions": self._clock,
                "observations": self._seen,
                "matrices": self._matrices.tolist(),
                "vectors": self._vectors.tolist(),
                "numbers": self._numbers.tolist(),
                "pending": [
                    [number, chosen, action.tolist()]
                    for number, (chosen, action) in self._pending.items()
                ],
            } | self._history()
        write_text(Path(path), json.dumps(sealed(content), indent=1) + "\n")

    def _code(self) -> dict[str, str]:
        """Return the fingerprints of what decides how the agent works."""
        return code_of(policy=self.policy)

    @staticmethod
    def _check_known(path: Path | str, setting: dict[str, Any]) -> None:
        """Refuse a setting that needs something which is not defined here."""

    def _history(self) -> dict[str, Any]:
        """Return what is saved besides the arrays."""
        return {}

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read an agent that `save` wrote; a damaged or altered file is refused."""
        content = read_json(Path(path))
        refusal = StorageError(
            f"{path} is not a linear agent's state, or was cut short or altered."
            " Use an earlier copy."
        )
        if not isinstance(content, dict) or sealed(content) != content:
            raise refusal
        if content.get("format") != FORMAT:
            raise StorageError(f"{path} was written by another version. Use that version.")
        try:
            saved = _Saved.model_validate_json(json.dumps(content))
            cls._check_known(path, saved.setting)
            agent = cls(linear_policy_from(saved.policy), seed=saved.seed, **saved.setting)
            check_code(path, saved.code, agent._code())
            agent._restore(saved, content["observations"])
        except InvalidInput as error:
            raise StorageError(f"{path} cannot be used: {error}")
        except (ValidationError, KeyError, TypeError, ValueError, RecursionError):
            raise refusal from None
        return agent

    def _restore(self, saved: _Saved, seen: Any) -> None:
        """Restore a saved state; raise ValueError if it cannot be that of such an agent."""
        for name in ("matrices", "vectors", "numbers"):
            array, stored = getattr(self, f"_{name}"), np.array(getattr(saved, name))
            if stored.shape != array.shape:
                raise ValueError(name)
            array[...] = stored
        learned = self._numbers[LEARNED]
        inverse = self._matrices[INVERSE]
        pending = {
            number: (chosen, np.array(action, dtype=float))
            for number, chosen, action in saved.pending
        }
        settled = saved.decisions - len(pending)
        fits = (
            self._numbers[REGULARIZATION] == self.policy.regularization
            and float(learned).is_integer()
            and type(seen) is int
            and 0 <= seen <= learned <= settled
            and (self._imputes or seen == learned)
            and len(pending) == len(saved.pending)
            and all(1 <= number <= saved.decisions for number in pending)
            and all(
                chosen >= 0 and action.shape == (self.setting.dimension,)
                for chosen, action in pending.values()
            )
            and all(of_unit_length(action) for _, action in pending.values())
            and np.array_equal(inverse, inverse.T)
            and bool(np.all(np.diag(inverse) > 0.0))
            and self._in_range()
            and is_of_observations(
                self._matrices, learned, self.policy.regularization, self._inverts_design()
            )
        )
        if not fits:
            raise ValueError("state")
        self._clock, self._seen, self._pending = saved.decisions, seen, pending

    def _inverts_design(self) -> bool:
        """Return whether the stored inverse is the inverse of the stored design."""
        return True

    def _longest_spread(self) -> float:
        """Return an upper bound on the log-determinant of any design."""
        learned, lam = self._numbers[LEARNED], self.policy.regularization
        return self.setting.dimension * (math.log1p(2.0 * learned / lam) + abs(math.log(lam)) + 1.0)

    def _in_range(self) -> bool:
        """Return whether actions and rewards of admissible size could have led to the state."""
        learned, lam = self._numbers[LEARNED], self.policy.regularization
        d, due = self.setting.dimension, self._numbers[DUE]
        width = 2.0 * max(1.0, 1.0 / lam)
        gained = LARGEST * (1.0 + learned)
        return bool(
            np.all(np.abs(self._matrices[DESIGN]) <= (lam + learned) * (1.0 + 1e-6))
            and np.all(np.abs(self._matrices[INVERSE]) <= width)
            and np.all(np.abs(self._matrices) <= gained * max(lam, width))
            and np.all(np.abs(self._vectors[TARGET]) <= gained)
            and np.all(np.abs(self._vectors) <= gained * max(1.0, d * width))
            and abs(self._numbers[SPREAD]) <= self._longest_spread()
            and learned < due <= 2.0**53
        )
