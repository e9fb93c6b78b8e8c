"""A policy in live use: choose, then observe or miss."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from halfseen import checks
from halfseen.agents.saved_arms import SavedAgent
from halfseen.agents.saved_code import check_code, code_of
from halfseen.draws import stream_key
from halfseen.engine.loops.live import absorb, pass_over, select
from halfseen.engine.specialise import compiled
from halfseen.errors import DecisionError, InvalidInput, StorageError, shorten
from halfseen.policies import Policy
from halfseen.problems import REWARD_LAWS, Setting
from halfseen.problems.arms import LARGEST
from halfseen.studies.spec import describe, policy_from
from halfseen.studies.storage import read_json, sealed, write_text

if TYPE_CHECKING:
    from halfseen.theory.anytime.winning_arm import Winner

FORMAT = 2


class Decision(NamedTuple):
    """One choice of an agent: its number, from 1, and the arm to play."""

    number: int
    arm: int


class Agent:
    """A policy with its state, used one decision at a time.

    Feedback may come at once, late, in any order, or never. A decision is settled by one call of
    `observe` or `miss`; a second one raises `DecisionError` and changes nothing.

    Parameters
    ----------
    policy
        The policy that chooses.
    arms
        The number of arms.
    noise
        Sub-Gaussian scale of the rewards, one number or one per arm; 1/2 for rewards in [0, 1].
    bound
        A number no mean reward exceeds in absolute value.
    horizon
        The approximate number of decisions that will be made, for policies that use it.
    reward
        The law of the rewards, for policies that depend on it.
    seed
        Seed of the draws of randomised policies.

    Notes
    -----
    Several threads may use one agent: each call is finished before the next one begins.

    Examples
    --------
    >>> from halfseen import UCB, Agent
    >>> agent = Agent(UCB(), arms=3, noise=0.5, horizon=1000)
    >>> first = agent.choose()
    >>> second = agent.choose(available=[1, 2])
    >>> agent.observe(second, 1.0)
    >>> agent.miss(first)
    >>> first.arm, second.arm, agent.observations_per_arm.tolist()
    (0, 1, [0, 1, 0])
    """

    def __init__(
        self,
        policy: Policy,
        arms: int,
        *,
        noise: float | Sequence[float] = 1.0,
        bound: float = 1.0,
        horizon: int = 100_000,
        reward: str = "gaussian",
        seed: int = 0,
    ) -> None:
        if not isinstance(policy, Policy):
            raise InvalidInput("Agent.policy", "must be a policy", policy, "Use for example UCB().")
        arms = checks.whole("Agent.arms", arms, at_least=1, at_most=10_000_000)
        limits: Any = {"at_least": 0.0, "at_most": LARGEST}
        if isinstance(noise, Iterable) and not isinstance(noise, str | bytes):
            scales = checks.vector("Agent.noise", noise, length=arms, **limits)
        else:
            scales = (checks.number("Agent.noise", noise, **limits),) * arms
        self.policy = policy
        self.setting = Setting(
            noise=np.array(scales),
            bound=checks.number("Agent.bound", bound, **limits),
            horizon=checks.whole("Agent.horizon", horizon, at_least=1, at_most=2**48),
            reward=checks.one_of("Agent.reward", reward, REWARD_LAWS),
        )
        self.seed = checks.seed("Agent.seed", seed)
        policy.check(self.setting)
        kernels = policy.kernels()
        self._select = compiled(select, kernels)
        self._absorb = compiled(absorb, kernels)
        self._pass_over = compiled(pass_over, kernels) if kernels.fill else None
        self._waits = kernels.waits
        self._binary = reward == "bernoulli"
        self._table = np.ascontiguousarray(policy.table(self.setting), dtype=float)
        self._state = np.zeros((arms, kernels.statistics))
        self._seen = [0] * arms
        self._plays = np.zeros(arms)  # up to the last observation of each arm
        self._missed = [0] * arms  # since then
        self._totals: list[float] | None = [0.0] * arms  # of the observed rewards
        self._everything = np.ones(arms, np.uint8)
        self._key = stream_key(self.seed, "agent")
        self._lock = RLock()
        self._clock = 0
        self._pending: dict[int, int] = {}
        self._best: int | None = None
        self._select(self._state, self._plays, self._everything, 1, *self._key, self._table)
        self._absorb(self._state.copy(), 0, 0.0, self._table)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = RLock()

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._clock

    @property
    def pending(self) -> dict[int, int]:
        """The number and arm of every decision that is not settled."""
        with self._lock:
            return dict(self._pending)

    @property
    def observations(self) -> int:
        """How many rewards were observed."""
        with self._lock:
            return int(sum(self._seen))

    @property
    def observations_per_arm(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many rewards of each arm were observed."""
        with self._lock:
            return np.array(self._seen)

    def choose(self, available: Iterable[int] | None = None) -> Decision:
        """Choose an arm, among `available` if it is given, and remember the decision."""
        with self._lock:
            clock = self._clock + 1
            playable = self._everything if available is None else self._playable(available)
            arm = self._best if available is None else None
            if arm is None:
                arm = self._select(
                    self._state, self._plays, playable, clock, *self._key, self._table
                )
                if self._waits and available is None:
                    self._best = arm
            self._clock = clock
            self._pending[clock] = arm
            return Decision(clock, arm)

    def observe(self, decision: Decision | int, reward: float | None) -> None:
        """Learn the reward of a decision; None or NaN is the same as `miss`."""
        value = reward_value(reward)
        if value is None:
            return self.miss(decision)
        if self._binary and value != 0.0 and value != 1.0:
            raise InvalidInput(
                "reward", "must be 0 or 1 for Bernoulli rewards", reward, "Declare another law."
            )
        with self._lock:
            arm = settle(self._pending, self._clock, decision)
            self._absorb(self._state, arm, value, self._table)
            self._seen[arm] += 1
            self._plays[arm] += 1.0 + self._missed[arm]
            self._missed[arm] = 0
            if self._totals is not None:
                self._totals[arm] += value
            self._best = None
            return None

    def miss(self, decision: Decision | int) -> None:
        """Settle a decision whose reward will not come."""
        with self._lock:
            arm = settle(self._pending, self._clock, decision)
            self._missed[arm] += 1
            if self._pass_over is not None:
                self._pass_over(self._state, arm, self._table)
                self._best = None

    def expire(self, age: int) -> int:
        """Miss every unsettled decision made at least `age` decisions ago; return how many."""
        with self._lock:
            limit = self._clock - checks.whole("age", age, at_least=0)
            old = [number for number in self._pending if number <= limit]
            for number in old:
                self.miss(number)
            return len(old)

    def winner(self, level: float = 0.95, *, rule: str = "either", rho: float = 10.0) -> Winner:
        """Return the arm shown to be the best, if one is, however often this is asked.

        Whatever the policy plays and whichever feedback is missing, an arm that is not the best is
        ever named with probability at most 1 - `level`. See `halfseen.theory.winner`.
        """
        from halfseen.theory import winner

        if not REWARD_LAWS[self.setting.reward].sub_gaussian:
            raise InvalidInput(
                "Agent.reward",
                "must be a sub-Gaussian law to name a winner",
                self.setting.reward,
                "Declare Gaussian rewards with a scale that covers them.",
            )
        with self._lock:
            totals = self._totals
            if totals is None:
                raise StorageError(
                    "The agent was saved by a version that kept no sums of rewards. Start anew."
                )
            law = "bernoulli" if self._binary else "gaussian"
            options: Any = {"level": level, "rule": rule, "rho": rho, "rewards": law}
            return winner(self._seen, totals, noise=self.setting.noise, **options)

    def save(self, path: Path | str) -> None:
        """Write the whole state as JSON; `load` continues from it bit for bit."""
        with self._lock:
            content = self._content()
        write_text(Path(path), json.dumps(sealed(content), indent=1) + "\n")

    @staticmethod
    def load(path: Path | str) -> Agent:
        """Read an agent that `save` wrote; a damaged or altered file is refused."""
        content = read_json(Path(path))
        refusal = StorageError(
            f"{path} is not an agent's state, or was cut short or altered. Use an earlier copy."
        )
        if not isinstance(content, dict) or sealed(content) != content:
            raise refusal
        if content.get("format") != FORMAT:
            raise StorageError(f"{path} was written by another version. Use that version.")
        try:
            saved = SavedAgent.model_validate(content)
            policy = policy_from(saved.policy)
            setting = saved.setting
            agent = Agent(policy, len(setting["noise"]), seed=saved.seed, **setting)
            check_code(path, saved.code, code_of(policy=policy))
        except InvalidInput as error:
            raise StorageError(f"{path} cannot be used: {error}")
        except (ValidationError, KeyError, TypeError, RecursionError):
            raise refusal from None
        if not saved.fits(agent):
            raise refusal
        agent._state[...] = saved.state
        agent._seen = saved.observations
        if saved.plays is not None and saved.missed is not None:
            agent._plays[...], agent._missed = saved.plays, saved.missed
        agent._totals = saved.totals
        agent._clock = saved.decisions
        agent._pending = {entry[0]: entry[1] for entry in saved.pending}
        return agent

    def _content(self) -> dict[str, Any]:
        setting = self.setting
        return {
            "format": FORMAT,
            "policy": describe(self.policy),
            "code": code_of(policy=self.policy),
            "setting": {
                "noise": setting.noise.tolist(),
                "bound": setting.bound,
                "horizon": setting.horizon,
                "reward": setting.reward,
            },
            "seed": self.seed,
            "decisions": self._clock,
            "observations": list(self._seen),
            "missed": list(self._missed),
            "totals": self._totals,
            "plays": self._plays.astype(int).tolist(),
            "state": self._state.tolist(),
            "pending": [list(entry) for entry in self._pending.items()],
        }

    def _playable(self, available: Iterable[int]) -> np.ndarray[Any, np.dtype[np.uint8]]:
        arms = len(self._seen)
        playable = np.zeros(arms, np.uint8)
        if not isinstance(available, Iterable):
            raise InvalidInput("available", "must name arms in a list", available, "Use [0, 1].")
        offered = list(available)
        for arm in offered:
            whole = isinstance(arm, int | np.integer) and not isinstance(arm, bool)
            if not whole or not 0 <= arm < arms:
                raise InvalidInput(
                    "available", f"must name arms from 0 to {arms - 1}", arm, "Leave it out."
                )
            playable[arm] = 1
        if not offered:
            raise InvalidInput("available", "must name at least one arm", offered, "Add an arm.")
        return playable


def settle(pending: dict[int, Any], made: int, decision: Any) -> Any:
    """Take a decision's entry out of those pending, or refuse and change nothing.

    An entry is what was chosen, or a tuple that begins with it.
    """
    number: Any = decision
    played = None
    if isinstance(decision, tuple) and len(decision) == 2:
        number, played = decision
    known = type(number) is int or isinstance(number, np.integer)
    entry = pending.get(number) if known else None
    if entry is None:
        reason = "is settled already" if known and 1 <= number <= made else "was never made"
        raise DecisionError(f"Decision {shorten(number)} {reason}. Nothing was changed.")
    chosen = entry[0] if isinstance(entry, tuple) else entry
    if played is not None and played != chosen:
        raise DecisionError(
            f"Decision {number} was for choice {chosen}, not {shorten(played)}; it comes from"
            " another agent. Nothing was changed."
        )
    del pending[number]
    return entry


def reward_value(reward: Any) -> float | None:
    """Return a reward as a float, None if it is missing, or refuse it."""
    if reward is None:
        return None
    value = reward if type(reward) is float else _number(reward)
    if value != value:
        return None
    if not -LARGEST <= value <= LARGEST:
        raise InvalidInput(
            "reward",
            f"must be a number between -{LARGEST:g} and {LARGEST:g}",
            reward,
            "Use miss() for missing feedback.",
        )
    return value


def _number(reward: Any) -> float:
    """Return a reward as a float, infinite if it is not a number."""
    try:
        return math.inf if isinstance(reward, str | bytes) else float(reward)
    except (TypeError, ValueError, OverflowError):
        return math.inf
