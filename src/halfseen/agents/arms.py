"""A policy for arms in live use: choose, then observe or miss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from halfseen import checks
from halfseen.agents.arm_chances import decision_by_chance
from halfseen.agents.arm_setting import arm_setting, check_reward
from halfseen.agents.base import LiveAgent
from halfseen.agents.decisions import Decision, check_choice
from halfseen.agents.elsewhere import Turn
from halfseen.agents.ledger import HELD, REMEMBER, Entry, Identity, moment
from halfseen.agents.named_arms import Arms, Playable
from halfseen.agents.saved_arms import SavedAgent, renewed_arms
from halfseen.agents.saved_code import check_code, code_of
from halfseen.draws import POLICY, stream_key
from halfseen.engine.loops.live import absorb, pass_over, played, select
from halfseen.engine.specialise import compiled
from halfseen.errors import DecisionError, InvalidInput, StorageError, shorten
from halfseen.phrases import counted
from halfseen.policies import ImputeZero, Policy
from halfseen.policies.arms.base import COUNT
from halfseen.problems import RewardLaw
from halfseen.studies.plain_values import describe
from halfseen.studies.spec import policy_from

if TYPE_CHECKING:
    from halfseen.tables import Table
    from halfseen.theory.anytime.winning_arm import Winner


class Agent(LiveAgent):
    """A policy with its state, used one decision at a time.

    Feedback may come at once, late, in any order, or never. A decision is settled by `observe` or
    `miss`. The same outcome again changes nothing, another one raises `DecisionError`. A reward
    that comes after `miss` or `expire` is counted as late and learned. It replaces the 0 that
    `ImputeZero` learned from the miss, where its base policy keeps only counts and sums; other
    policies that imputed something do not learn it, `estimates` always does.

    Parameters
    ----------
    policy
        The policy that chooses.
    arms
        How many arms there are, or their names.
    noise
        Sub-Gaussian scale of the rewards, one number or one per arm; 1/2 covers rewards in [0, 1].
        By default that of a study with means up to `bound`: 1/2 for Bernoulli, the square root of
        `bound` for Poisson, `bound` for exponential rewards, 1 for Gaussian ones.
    bound
        A number no mean reward exceeds in absolute value.
    horizon
        The approximate number of decisions that will be made, for policies that use it.
    reward
        The law of the rewards, for policies that depend on it: its name, or a law that is
        registered, whose parameters matter only where `noise` is left out. For ratings or shares
        of your own, between 0 and 1, register a law with these `limits`: with it policies with
        ``family="bernoulli"`` work.
    seed
        Seed of the draws of randomised policies, and of those of the floor.
    floor
        The smallest probability of every arm on offer, so that the log supports off-policy
        evaluation. 0.05 is a good choice; 0 plays the policy alone.
    probabilities
        False to leave out the probabilities of policies that randomise, which take up to a few
        milliseconds to compute.
    remember
        How many settled decisions are remembered, to recognise repeated and late outcomes.

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
        arms: int | Sequence[str],
        *,
        noise: float | Sequence[float] | None = None,
        bound: float = 1.0,
        horizon: int = 100_000,
        reward: str | RewardLaw = "gaussian",
        seed: int = 0,
        floor: float = 0.0,
        probabilities: bool = True,
        remember: int = REMEMBER,
    ) -> None:
        if not isinstance(policy, Policy):
            raise InvalidInput("Agent.policy", "must be a policy", policy, "Use for example UCB().")
        kernels = policy.kernels()
        if policy.only_in_studies:
            raise InvalidInput(
                "Agent.policy",
                "must not queue rewards, follow the age of decisions or need a covariate: only"
                " studies play that",
                policy,
                "Use for example UCB().",
            )
        self.arms = Arms.checked(arms)
        count = self.arms.count
        self.policy = policy
        self.setting = arm_setting(count, noise, bound, horizon, reward)
        self.seed = checks.seed("Agent.seed", seed)
        self.floor = checks.number("Agent.floor", floor, at_least=0.0, at_most=1.0 / count)
        self.probabilities = checks.yes_or_no("Agent.probabilities", probabilities)
        policy.check(self.setting)
        self._compile()
        self._state = np.zeros((count, kernels.statistics))
        self._seen = [0] * count
        self._plays = np.zeros(count)  # up to the last observation of each arm
        self._missed = [0] * count  # since then
        self._totals: list[float] | None = [0.0] * count  # of the observed rewards
        self._everything = np.ones(count, np.uint8)
        self._open_ledger(remember)
        self._best: int | None = None
        self._chances: np.ndarray[Any, Any] | None = None  # while nothing is learned
        self._select(self._state, self._plays, self._everything, 1, *self._key, self._table)
        self._absorb(self._state.copy(), 0, 0.0, self._table)

    def _compile(self) -> None:
        """Compile the kernels for the policy and the setting."""
        kernels = self.policy.kernels()
        self._select = compiled(select, kernels)
        self._absorb = compiled(absorb, kernels)
        self._pass_over = compiled(pass_over, kernels) if kernels.fill else None
        self._played = compiled(played, kernels) if kernels.pull else None
        self._imputes = kernels.fill is not None
        self._replaces = isinstance(self.policy, ImputeZero) and self.policy.replaces
        self._waits = kernels.waits
        self._random = self.policy.is_random
        table = self.policy.table(self.setting)
        self._table = checks.row_per_arm(self.policy, table, self.arms.count)
        self._key = stream_key(self.seed, "agent")
        self._floor_stream = (*stream_key(self.seed, "floor"), 0, POLICY)

    @property
    def pending(self) -> dict[Identity, Any]:
        """The id and arm of every decision that waits for its outcome."""
        with self._lock:
            return {entry.id: self._name(entry.payload) for entry in self._ledger.pending()}

    @property
    def observations_per_arm(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many rewards of each arm were observed."""
        with self._lock:
            return np.array(self._seen)

    @overload
    def choose(
        self,
        available: Iterable[Any] | None = None,
        *,
        id: str | None = None,
        at: Any = None,
        hold: bool = False,
        count: None = None,
    ) -> Decision: ...

    @overload
    def choose(
        self, available: Iterable[Any] | None = None, *, at: Any = None, count: int
    ) -> list[Decision]: ...

    def choose(
        self,
        available: Iterable[Any] | None = None,
        *,
        id: str | None = None,
        at: Any = None,
        hold: bool = False,
        count: int | None = None,
    ) -> Decision | list[Decision]:
        """Choose an arm and remember the decision.

        Parameters
        ----------
        available
            The arms on offer; all if it is left out.
        id
            The caller's own id. Asked again under the same id, the agent repeats its decision.
        at
            When, in seconds or as a datetime with a time zone.
        hold
            True if the arm may never be shown: the decision waits for `activate` before anything
            can be observed or missed, and does not expire.
        count
            Number of decisions to make; the result is then a list.
        """
        if count is not None:
            times = range(self._times(count, id))
            with self._lock:
                return [self.choose(available, at=at, hold=hold) for _ in times]
        now = None if at is None else moment("at", at)
        with self._lock:
            entry = None if id is None else self._again(id)
            playable = self._everything if available is None else self.arms.playable(available)
            if entry is None:
                entry = self._decide(None if available is None else playable, self._turn())
                entry.at = now
                if id is not None:
                    entry.id = id
                if hold:
                    entry.state = HELD
                else:
                    self._show(entry)
                self._ledger.add(entry)
            elif not playable[entry.choice]:
                raise DecisionError(
                    f"Decision {shorten(id)} was already made, for {self._name(entry.choice)},"
                    " which is not available now. Nothing was changed."
                )
            name = self.arms.name(entry.choice) if self.arms.names else entry.choice
            return Decision(entry.id, name, entry.probability, entry.at, entry.error)

    def _decide(self, offer: Playable | None, turn: Turn) -> Entry:
        everything = offer is None
        playable = self._everything if offer is None else offer
        own = self._best if everything else None
        if own is None:
            constants = (turn.clock, *turn.key, self._table)
            own = self._select(self._state, self._plays, playable, *constants)
            if self.policy.choose is not None:
                check_choice(self.policy, own, playable)
            if self._waits and everything:
                self._best = own
        if self._random or (self.floor > 0.0 and not everything):
            return decision_by_chance(self, own, playable, everything, turn)
        taken, floor, left = self._floored(self.arms.count, turn)
        arm = own if taken is None else taken
        return Entry(turn.clock, turn.clock, arm, arm, floor + (left if arm == own else 0.0))

    def _arrays(self) -> tuple[Any, ...]:
        return (self._state,)

    def _show(self, entry: Entry) -> None:
        if self._played is not None:
            self._played(self._state, entry.payload, self._table)

    def served(self, decision: Any, arm: Any, *, probability: float | None = None) -> None:
        """Report that another arm was shown than the one chosen.

        What is observed is then learned for that arm. `probability` is that of its being shown,
        if it is known.
        """
        if self._played is not None:
            raise InvalidInput(
                "served",
                "must not be called for a policy that counts what it plays",
                self.policy,
                "Use a policy that learns from rewards only, such as UCB().",
            )
        with self._lock:
            self._serve(self._open(decision), self.arms.place("arm", arm), probability)

    def _learn_from(self, entry: Entry, reward: float, late: bool) -> None:
        arm = entry.payload
        if late and self._replaces:
            self._state[arm, COUNT] -= 1.0  # the imputed 0
        if not (late and self._imputes) or self._replaces:
            self._absorb(self._state, arm, reward, self._table)
        self._seen[arm] += 1
        self._plays[arm] += self._missed[arm] + (0.0 if late else 1.0)  # a late one was missed
        self._missed[arm] = 0
        if self._totals is not None:
            self._totals[arm] += reward
        self._best = self._chances = None

    def _learn_missing(self, entry: Entry) -> None:
        arm = entry.payload
        self._missed[arm] += 1
        if self._pass_over is not None:
            self._pass_over(self._state, arm, self._table)
            self._best = self._chances = None

    def _check_reward(self, reward: float) -> None:
        check_reward(self.setting, reward)

    def winner(self, level: float = 0.95, *, rule: str = "either", rho: float = 10.0) -> Winner:
        """Return the arm shown to be the best, if one is; valid however often it is called.

        Whatever the policy plays and whichever feedback is missing, the probability of ever
        returning a wrong arm is at most 1 - `level`. See `halfseen.theory.winner`.
        """
        from halfseen.agents.estimates import family_to
        from halfseen.theory import winner

        law = family_to("name a winner", self.setting.reward)
        with self._lock:
            options: Any = {"level": level, "rule": rule, "rho": rho, "reward": law}
            options |= {"observed": self._seen, "total": self._known_totals()}
            return replace(winner(noise=self.setting.noise, **options), names=self.arms.names)

    def estimates(self, level: float = 0.95) -> Table:
        """Return each arm's mean reward and how often it is seen, with intervals.

        The intervals of means are confidence sequences, valid at all times simultaneously with
        probability `level`; see `halfseen.theory.confidence_sequence`. They are left out where the
        law of the rewards has none. `seen` is the share of the settled decisions whose
        reward came.
        """
        from halfseen.agents.estimates import estimates

        with self._lock:
            totals, seen = self._known_totals(), np.array(self._seen, dtype=float)
            settled = self._plays + self._missed
        return estimates(self, seen, totals, settled, level)

    def _size(self) -> str:
        return counted("arm", self.arms.count)

    def _details(self) -> list[str | Table]:
        return [] if self._totals is None else [self.estimates()]

    def _known_totals(self) -> list[float]:
        if self._totals is None:
            raise StorageError(
                "The agent was saved by a version that kept no sums of rewards. Start a new one."
            )
        return list(self._totals)

    def _name(self, choice: int) -> Any:
        return self.arms.name(choice)

    def _payload(self, stored: Any) -> int:
        if type(stored) is not int or not 0 <= stored < self.arms.count:
            raise ValueError("arm")
        return stored

    def _content(self) -> dict[str, Any]:
        setting = self.setting
        return {
            "policy": describe(self.policy),
            "code": code_of(policy=self.policy),
            "setting": {
                "noise": setting.noise.tolist(),
                "bound": setting.bound,
                "horizon": setting.horizon,
                "reward": setting.reward,
            },
            "seed": self.seed,
            "names": None if self.arms.names is None else list(self.arms.names),
            "floor": self.floor,
            "probabilities": self.probabilities,
            "observations": list(self._seen),
            "missed": list(self._missed),
            "totals": None if self._totals is None else list(self._totals),
            "plays": self._plays.astype(int).tolist(),
            "state": self._state.tolist(),
        }

    @classmethod
    def _made(cls, content: dict[str, Any], source: str) -> Self:
        saved = SavedAgent.model_validate(content)
        policy = policy_from(saved.policy)
        arms = len(saved.setting["noise"]) if saved.names is None else saved.names
        given: Any = {"floor": saved.floor, "probabilities": saved.probabilities}
        agent = cls(policy, arms, seed=saved.seed, **saved.setting, **given)
        check_code(source, saved.code, code_of(policy=policy))
        return agent

    def _restore(self, content: dict[str, Any]) -> None:
        saved = SavedAgent.model_validate(content)
        if not saved.fits(self):
            raise ValueError("state")
        self._state[...] = saved.state
        self._seen = saved.observations
        if saved.plays is not None and saved.missed is not None:
            self._plays[...], self._missed = saved.plays, saved.missed
        self._totals = saved.totals

    @classmethod
    def _renewed(cls, content: dict[str, Any]) -> dict[str, Any]:
        return renewed_arms(content)
