"""A Gymnasium environment with censored rewards; it needs Gymnasium installed."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.errors import missing_package
from halfseen.problems import ArmedBandit

try:
    import gymnasium
except ImportError as error:
    raise missing_package(__name__, "gymnasium", error) from None


class CensoredBandit(gymnasium.Env[np.ndarray[Any, Any], np.int64]):  # type: ignore[misc]
    """Arms to play one at a time; ``info["observed"]`` says whether the reward was seen.

    Parameters
    ----------
    problem
        Arms, all playable in every round; rewards are normal or 0 and 1.
    censorship
        The probability that each arm's reward is seen.
    horizon
        Rounds in an episode.

    Notes
    -----
    A reward that was not seen is given as 0.0, because Gymnasium has no missing rewards: look at
    ``info["observed"]`` before learning from it. ``info["regret"]`` is how much worse than the best
    the arm is, for scoring, not for learning.

    Examples
    --------
    >>> from halfseen import ArmedBandit, PerArm
    >>> environment = CensoredBandit(ArmedBandit([0.6, 0.5]), PerArm([0.2, 0.9]), horizon=100)
    >>> _ = environment.reset(seed=1)
    >>> sorted(environment.step(0)[4])
    ['observed', 'regret']
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, problem: ArmedBandit, censorship: Censorship, horizon: int = 1000) -> None:
        self.problem = problem
        self.horizon = checks.whole("CensoredBandit.horizon", horizon, at_least=1)
        self.observe = censorship.probabilities(problem.arms)
        checks.one_of("CensoredBandit.problem.reward", problem.reward, ("gaussian", "bernoulli"))
        self.action_space = gymnasium.spaces.Discrete(problem.arms)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64)
        self._round = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
        """Start again; the observation is the share of rounds played."""
        super().reset(seed=seed)
        self._round = 0
        return np.zeros(1), {}

    def step(self, action: Any) -> tuple[np.ndarray[Any, Any], float, bool, bool, dict[str, Any]]:
        """Play an arm."""
        arm = int(action)
        mean = self.problem.means[arm]
        if self.problem.reward == "bernoulli":
            reward = float(self.np_random.random() < mean)
        else:
            reward = float(self.np_random.normal(mean, self.problem.scale[arm]))
        observed = bool(self.np_random.random() < self.observe[arm])
        self._round += 1
        seen = np.array([self._round / self.horizon])
        info = {"observed": observed, "regret": float(self.problem.gaps[arm])}
        return seen, reward if observed else 0.0, False, self._round >= self.horizon, info
