"""A linear policy in live use: choose among vectors, then observe or miss."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from halfseen import checks
from halfseen.agents.base import DRAWS, LiveAgent, estimated
from halfseen.agents.decisions import LinearDecision, check_choice
from halfseen.agents.elsewhere import Turn
from halfseen.agents.ledger import HELD, REMEMBER, Entry, Identity, moment, same_row
from halfseen.agents.offered_rows import offered_rows
from halfseen.agents.saved_code import check_code, code_of
from halfseen.agents.saved_state import (
    SavedLinear,
    in_range,
    is_of_observations,
    of_unit_length,
    renewed_linear,
)
from halfseen.agents.shown_best import estimated_actions, named_winner
from halfseen.checks import Vector
from halfseen.draws import POLICY, stream_key
from halfseen.engine.arguments import (
    ESTIMATE,
    INVERSE,
    LEARNED,
    REGULARIZATION,
)
from halfseen.engine.loops import live_linear as live
from halfseen.engine.specialise import compiled
from halfseen.errors import DecisionError, InvalidInput, shorten
from halfseen.policies import GLMPolicy, LinearPolicy
from halfseen.policies.linear.base import LinearSetting
from halfseen.problems.action_arrays import action_rows
from halfseen.problems.arms import LARGEST
from halfseen.studies.plain_values import describe
from halfseen.studies.spec import linear_policy_from

if TYPE_CHECKING:
    from halfseen.tables import Table
    from halfseen.theory.anytime.winning_action import WinningAction


class LinearAgent(LiveAgent):
    """A linear policy with its state, used one decision at a time.

    The actions on offer may change from call to call. Feedback may come at once, late, in any
    order, or never, as for `Agent`.

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
    floor
        The least probability with which every action on offer is played, as for `Agent`; at most
        one over their number.
    probabilities
        False to leave out the probabilities of policies that randomise. Where no formula gives
        them, such as in Thompson sampling, 400 draws estimate them, which takes milliseconds.
    remember
        How many settled decisions are remembered, to recognise repeated and late outcomes.

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
        floor: float = 0.0,
        probabilities: bool = True,
        remember: int = REMEMBER,
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
        self._begin(seed, floor, probabilities, remember)

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

    def _begin(self, seed: int, floor: float, probabilities: bool, remember: int) -> None:
        """Initialise the state and compile the kernels."""
        name = type(self).__name__
        self.seed = checks.seed(f"{name}.seed", seed)
        self.probabilities = checks.yes_or_no(f"{name}.probabilities", probabilities)
        self._imputes = self.policy.imputes
        self._table = np.ascontiguousarray(self.policy.table(self.setting), dtype=float)
        self._key = stream_key(self.seed, "agent")
        self.floor = checks.number(f"{name}.floor", floor, at_least=0.0, at_most=1.0)
        self._floor_stream = (*stream_key(self.seed, "floor"), 0, POLICY)
        self._open_ledger(remember)
        d = self.setting.dimension
        self._reset()
        self._chosen(np.zeros((1, d)), 1, self._key)
        self._learn(np.zeros(d), 0.0)
        self._reset()

    def _reset(self) -> None:
        live.reset(self._matrices, self._vectors, self._numbers)

    def _learn(self, action: Vector, reward: float) -> None:
        self._absorb(action, reward, self._matrices, self._vectors, self._numbers)

    @property
    def _state(self) -> tuple[Vector, Vector, Vector]:
        return self._matrices, self._vectors, self._numbers

    def _arrays(self) -> tuple[Any, ...]:
        return self._state

    @property
    def pending(self) -> dict[Identity, Vector]:
        """The id and the action of every decision that waits for its outcome."""
        with self._lock:
            return {entry.id: entry.payload.copy() for entry in self._ledger.pending()}

    @property
    def estimate(self) -> Vector:
        """The ridge estimate of the unknown vector theta."""
        with self._lock:
            return self._vectors[ESTIMATE].copy()

    @overload
    def choose(
        self, actions: Any, *, id: str | None = None, at: Any = None, hold: bool = False
    ) -> LinearDecision: ...

    @overload
    def choose(
        self, actions: Any, *, at: Any = None, hold: bool = False, count: int
    ) -> list[LinearDecision]: ...

    def choose(
        self,
        actions: Any,
        *,
        id: str | None = None,
        at: Any = None,
        hold: bool = False,
        count: int | None = None,
    ) -> LinearDecision | list[LinearDecision]:
        """Choose one of the rows of `actions`, an array (K, d), and remember the decision.

        `id`, `at`, `hold` and `count` are those of `Agent.choose`.
        """
        rows = offered_rows(actions, self.setting.dimension)
        if count is not None:
            times = range(self._times(count, id))
            with self._lock:
                return [self.choose(rows, at=at, hold=hold) for _ in times]
        now = None if at is None else moment("at", at)
        with self._lock:
            entry = None if id is None else self._again(id)
            if entry is not None and not same_row(rows, entry):
                raise DecisionError(
                    f"Decision {shorten(id)} was made already, for another action than row"
                    f" {entry.choice} of these. Nothing was changed."
                )
            if entry is None:
                entry = self._decide(rows, self._turn())
                entry.at = now
                if id is not None:
                    entry.id = id
                if hold:
                    entry.state = HELD
                self._ledger.add(entry)
            chance, error = entry.probability, entry.error
            return LinearDecision(entry.id, entry.choice, chance, entry.at, error)

    def _decide(self, rows: Vector, turn: Turn) -> Entry:
        clock = turn.clock
        chosen = self._chosen(rows, clock, turn.key)
        if chosen < 0:
            place = -1 - chosen
            raise InvalidInput(
                f"actions[{place}]",
                "must be finite and of length at most 1",
                rows[place].tolist(),
                "Divide it by its length, or leave it out.",
            )
        taken, floor, left = self._floored(len(rows), turn)
        shown = chosen if taken is None else taken
        chance, error = self._probability(rows, chosen, shown, turn)
        if chance is not None:
            chance, error = left * chance + floor, left * error
        return Entry(clock, clock, shown, rows[shown].copy(), chance, error)

    def _chosen(self, rows: Vector, clock: int, key: tuple[int, int]) -> int:
        """Return the policy's choice, or -1-k if row k is not finite or too long."""
        if self.policy.choose is None:
            chosen: int = self._select(rows, *self._state, clock, *key, self._table)
            return chosen
        plays = self._ledger.observed + self._ledger.censored
        known = live.knowledge(self._state, len(rows), plays, self._ledger.observed)
        memory, stream = np.zeros(self.policy.memory(*rows.shape)), (*key, 0, POLICY)
        inverse = self._matrices[INVERSE]
        free: int = self._select(rows, known, inverse, memory, clock, stream, self._table)
        return free if free < 0 else check_choice(self.policy, free, [1] * len(rows))

    def _probability(
        self, rows: Vector, own: int, chosen: int, turn: Turn
    ) -> tuple[float | None, float]:
        """Return the probability with which the policy chooses a row, and its standard error."""
        if not self.policy.is_random or len(rows) == 1:
            return (1.0 if chosen == own else 0.0), 0.0
        if not self.probabilities:
            return None, 0.0
        chances = self.policy.probabilities(rows, self._vectors[ESTIMATE], turn.clock)
        if chances is not None:
            return float(chances[chosen]), 0.0
        keys = ((turn.key[0] ^ (draw + 1), turn.key[1]) for draw in range(DRAWS))
        hits = sum(self._chosen(rows, turn.clock, key) == chosen for key in keys)
        return estimated(hits, DRAWS)

    def served(self, decision: Any, action: Any, *, probability: float | None = None) -> None:
        """Report that another action, a vector of features, was shown than the one chosen.

        What is observed is then learned for it. `probability` is that of its being shown, if it
        is known.
        """
        shown = action_rows([action])[0]
        if shown.shape != (self.setting.dimension,) or not of_unit_length(shown):
            raise InvalidInput(
                "action",
                f"must have {self.setting.dimension} features and length at most 1",
                shown.tolist(),
                "Divide it by its length.",
            )
        with self._lock:
            self._serve(self._open(decision), shown, probability)

    def _learn_from(self, entry: Entry, reward: float, late: bool) -> None:
        if not (late and self._imputes):
            self._learn(entry.payload, reward)

    def _learn_missing(self, entry: Entry) -> None:
        if self._imputes:
            self._learn(entry.payload, 0.0)

    def _name(self, choice: int) -> int:
        return choice

    def winner(self, actions: Any = None, level: float = 0.95) -> WinningAction:
        """Return which row of `actions` is shown to be the best, if one is; valid at any time.

        An action that is not the best is ever named with probability at most 1 - `level`, whatever
        was offered and played. See `halfseen.theory.winning_action`.
        """
        return named_winner(self, actions, level)

    def estimates(self, actions: Any, level: float = 0.95) -> Table:
        """Return the mean of each row of `actions`, with limits that hold at all times together."""
        return estimated_actions(self, actions, level)

    def _content(self) -> dict[str, Any]:
        return {
            "policy": describe(self.policy),
            "code": self._code(),
            "setting": self._told,
            "seed": self.seed,
            "probabilities": self.probabilities,
            "floor": self.floor,
            "matrices": self._matrices.tolist(),
            "vectors": self._vectors.tolist(),
            "numbers": self._numbers.tolist(),
        } | self._history()

    def _code(self) -> dict[str, str]:
        """Return the fingerprints of the agent's code."""
        return code_of(policy=self.policy)

    @staticmethod
    def _check_known(source: str, setting: dict[str, Any]) -> None:
        """Refuse a setting that needs an undefined link or kind."""

    def _history(self) -> dict[str, Any]:
        """Return what is saved besides the arrays."""
        return {}

    @classmethod
    def _made(cls, content: dict[str, Any], source: str) -> Self:
        saved = SavedLinear.model_validate_json(json.dumps(content))
        cls._check_known(source, saved.setting)
        policy = linear_policy_from(saved.policy)
        more = {"probabilities": saved.probabilities, "floor": saved.floor}
        options: Any = saved.setting | more
        agent = cls(policy, seed=saved.seed, **options)
        check_code(source, saved.code, agent._code())
        return agent

    def _payload(self, stored: Any) -> Vector | None:
        if stored is None:
            return None
        action = np.array(stored, dtype=float)
        if action.shape != (self.setting.dimension,) or not of_unit_length(action):
            raise ValueError("action")
        return action

    @classmethod
    def _renewed(cls, content: dict[str, Any]) -> dict[str, Any]:
        return renewed_linear(content)

    def _restore(self, content: dict[str, Any]) -> None:
        self._take_over(SavedLinear.model_validate_json(json.dumps(content)))

    def _take_over(self, saved: SavedLinear) -> None:
        """Restore a saved state; ValueError if it does not fit this agent."""
        for name in ("matrices", "vectors", "numbers"):
            array, stored = getattr(self, f"_{name}"), np.array(getattr(saved, name))
            if stored.shape != array.shape:
                raise ValueError(name)
            array[...] = stored
        learned = self._numbers[LEARNED]
        inverse = self._matrices[INVERSE]
        ledger = self._ledger
        seen, settled = ledger.observed, ledger.observed + ledger.censored
        fits = (
            self._numbers[REGULARIZATION] == self.policy.regularization
            and float(learned).is_integer()
            and 0 <= learned <= settled
            and (seen - ledger.late <= learned if self._imputes else seen == learned)
            and all(entry.payload is not None for entry in ledger.open.values())
            and np.array_equal(inverse, inverse.T)
            and bool(np.all(np.diag(inverse) > 0.0))
            and in_range(*self._state, self.policy.regularization, self._longest_spread())
            and is_of_observations(
                self._matrices, learned, self.policy.regularization, self._inverts_design()
            )
        )
        if not fits:
            raise ValueError("state")

    def _inverts_design(self) -> bool:
        """Return whether the stored inverse is the inverse of the stored design."""
        return True

    def _longest_spread(self) -> float:
        """Return an upper bound on the log-determinant of any design."""
        learned, lam = self._numbers[LEARNED], self.policy.regularization
        return self.setting.dimension * (math.log1p(2.0 * learned / lam) + abs(math.log(lam)) + 1.0)
