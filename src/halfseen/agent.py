"""A policy in live use: choose, then observe or miss."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.draws import stream_key
from halfseen.engine.decide import absorb, pass_over, select
from halfseen.engine.specialise import compiled
from halfseen.errors import DecisionError, InvalidInput, StorageError
from halfseen.policies import Policy
from halfseen.problems import REWARDS, Setting
from halfseen.spec import describe, policy_from
from halfseen.storage import read_json, write_text

FORMAT = 1


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
        How to choose.
    arms
        How many arms there are.
    noise
        Sub-Gaussian scale of the rewards, one number or one per arm; 1/2 for rewards in [0, 1].
    bound
        A number no mean reward exceeds in absolute value.
    horizon
        About how many decisions will be made, for policies that use it.
    reward
        The law of the rewards, for policies that depend on it.
    seed
        Decides the draws of policies that randomise.

    Notes
    -----
    Not for use from several threads at once without a lock.

    Examples
    --------
    >>> from halfseen import UCB, Agent
    >>> agent = Agent(UCB(), arms=3, noise=0.5, horizon=1000)
    >>> first = agent.choose()
    >>> second = agent.choose(available=[1, 2])
    >>> agent.observe(second, 1.0)
    >>> agent.miss(first)
    >>> first.arm, second.arm, agent.observations.tolist()
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
        if isinstance(noise, int | float):
            scales = (checks.number("Agent.noise", noise, at_least=0.0),) * arms
        else:
            scales = checks.vector("Agent.noise", noise, at_least=0.0, length=arms)
        self.policy = policy
        self.setting = Setting(
            noise=np.array(scales),
            bound=checks.number("Agent.bound", bound, at_least=0.0),
            horizon=checks.whole("Agent.horizon", horizon, at_least=1),
            reward=checks.one_of("Agent.reward", reward, REWARDS),
        )
        self.seed = checks.whole("Agent.seed", seed, at_least=0)
        policy.check(self.setting)
        kernels = policy.kernels()
        self._select = compiled(select, kernels, False)
        self._absorb = compiled(absorb, kernels, False)
        self._pass_over = compiled(pass_over, kernels, False) if kernels.fill else None
        self._waits = kernels.waits
        self._table = np.ascontiguousarray(policy.table(self.setting), dtype=float)
        self._state = np.zeros((arms, kernels.statistics))
        self._seen = [0] * arms
        self._everything = np.ones(arms, np.uint8)
        self._key = stream_key(self.seed, "agent")
        self._clock = 0
        self._pending: dict[int, int] = {}
        self._best: int | None = None
        self._select(self._state, self._everything, 1, *self._key, self._table)
        self._absorb(self._state.copy(), 0, 0.0, self._table)

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._clock

    @property
    def pending(self) -> dict[int, int]:
        """The number and arm of every decision that is not settled."""
        return dict(self._pending)

    @property
    def observations(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many rewards of each arm were observed."""
        return np.array(self._seen)

    def choose(self, available: Iterable[int] | None = None) -> Decision:
        """Choose an arm, among `available` if it is given, and remember the decision."""
        clock = self._clock + 1
        if available is None:
            arm = self._best
            if arm is None:
                arm = self._select(self._state, self._everything, clock, *self._key, self._table)
                if self._waits:
                    self._best = arm
        else:
            arm = self._select(
                self._state, self._playable(available), clock, *self._key, self._table
            )
        self._clock = clock
        self._pending[clock] = arm
        return Decision(clock, arm)

    def observe(self, decision: Decision | int, reward: float | None) -> None:
        """Learn the reward of a decision; None or NaN is the same as `miss`."""
        if reward is None or reward != reward:
            return self.miss(decision)
        try:
            value = float(reward)
        except (TypeError, ValueError):
            value = math.inf
        if value - value != 0.0:
            raise InvalidInput(
                "reward", "must be a finite number", reward, "Use miss() for missing feedback."
            )
        arm = self._settle(decision)
        self._absorb(self._state, arm, value, self._table)
        self._seen[arm] += 1
        self._best = None
        return None

    def miss(self, decision: Decision | int) -> None:
        """Settle a decision whose reward will not come."""
        arm = self._settle(decision)
        if self._pass_over is not None:
            self._pass_over(self._state, arm, self._table)
            self._best = None

    def expire(self, age: int) -> int:
        """Miss every unsettled decision made at least `age` decisions ago; return how many."""
        limit = self._clock - checks.whole("age", age, at_least=0)
        old = [number for number in self._pending if number <= limit]
        for number in old:
            self.miss(number)
        return len(old)

    def save(self, path: Path | str) -> None:
        """Write the whole state as JSON; `load` continues from it bit for bit."""
        write_text(Path(path), json.dumps(_sealed(self._content()), indent=1) + "\n")

    @staticmethod
    def load(path: Path | str) -> Agent:
        """Read an agent that `save` wrote; a damaged or altered file is refused."""
        content = read_json(Path(path))
        refusal = StorageError(
            f"{path} is not an agent's state, or was cut short or altered. Use an earlier copy."
        )
        if not isinstance(content, dict) or _sealed(content) != content:
            raise refusal
        if content["format"] != FORMAT:
            raise StorageError(f"{path} was written by another version. Use that version.")
        setting = content["setting"]
        agent = Agent(
            policy_from(content["policy"]),
            len(setting["noise"]),
            seed=content["seed"],
            **setting,
        )
        state = np.array(content["state"], dtype=float)
        if state.shape != agent._state.shape:
            raise refusal
        agent._state[...] = state
        agent._seen = [int(count) for count in content["observations"]]
        agent._clock = int(content["decisions"])
        agent._pending = {int(number): int(arm) for number, arm in content["pending"]}
        return agent

    def _content(self) -> dict[str, Any]:
        setting = self.setting
        return {
            "format": FORMAT,
            "policy": describe(self.policy),
            "setting": {
                "noise": setting.noise.tolist(),
                "bound": setting.bound,
                "horizon": setting.horizon,
                "reward": setting.reward,
            },
            "seed": self.seed,
            "decisions": self._clock,
            "observations": self._seen,
            "state": self._state.tolist(),
            "pending": [list(entry) for entry in self._pending.items()],
        }

    def _settle(self, decision: Decision | int) -> int:
        number = decision[0] if isinstance(decision, tuple) else decision
        arm = self._pending.pop(number, None)
        if arm is None:
            made = isinstance(number, int) and 1 <= number <= self._clock
            reason = "is settled already" if made else "was never made"
            raise DecisionError(f"Decision {number} {reason}. Nothing was changed.")
        return arm

    def _playable(self, available: Iterable[int]) -> np.ndarray[Any, np.dtype[np.uint8]]:
        arms = len(self._seen)
        playable = np.zeros(arms, np.uint8)
        offered = list(available)
        for arm in offered:
            if not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
                raise InvalidInput(
                    "available", f"must name arms from 0 to {arms - 1}", arm, "Leave it out."
                )
            playable[arm] = 1
        if not offered:
            raise InvalidInput("available", "must name at least one arm", offered, "Add an arm.")
        return playable


def _sealed(content: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in content.items() if key != "checksum"}
    text = json.dumps(plain, sort_keys=True)
    return plain | {"checksum": hashlib.sha256(text.encode()).hexdigest()}
