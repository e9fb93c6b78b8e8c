"""The setting passed to the policy of an agent for arms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.problems import REWARD_LAWS, RewardLaw, Setting
from halfseen.problems.arms import LARGEST
from halfseen.problems.rewards import law_named, usual_noise


def arm_setting(
    arms: int,
    noise: float | Sequence[float] | None,
    bound: float,
    horizon: int,
    reward: str | RewardLaw,
) -> Setting:
    """Return the setting of an agent, or refuse it; the noise defaults to that of the reward law.

    Examples
    --------
    >>> arm_setting(2, None, 1.0, 100, "bernoulli").noise.tolist()
    [0.5, 0.5]
    """
    limits: Any = {"at_least": 0.0, "at_most": LARGEST}
    bound = checks.number("Agent.bound", bound, **limits)
    named = reward.kind if isinstance(reward, RewardLaw) else reward
    kind = REWARD_LAWS[checks.one_of("Agent.reward", named, REWARD_LAWS)]
    if noise is None:
        noise = usual_noise(law_named("Agent.reward", reward), bound)
    if isinstance(noise, Iterable) and not isinstance(noise, str | bytes):
        scales = checks.vector("Agent.noise", noise, length=arms, **limits)
    else:
        scales = (checks.number("Agent.noise", noise, **limits),) * arms
    return Setting(
        noise=np.array(scales),
        bound=bound,
        horizon=checks.whole("Agent.horizon", horizon, at_least=1, at_most=2**48),
        reward=named,
        sub_gaussian=kind.sub_gaussian,
        unit_interval=_within_unit_interval(reward, named, bound, np.array(scales)),
    )


def _within_unit_interval(
    reward: str | RewardLaw, named: str, bound: float, scales: np.ndarray[Any, Any]
) -> bool:
    """Return whether a law keeps rewards between 0 and 1 whatever the means.

    With its default parameters too, since a saved agent keeps the law's name alone. Not if it
    refuses a mean, for the limits are then not known.
    """
    try:
        with np.errstate(all="ignore"):
            laws = [law_named("Agent.reward", given) for given in (reward, named)]
            limits = [
                law.limits(np.full(len(scales), mean), scales)
                for law in laws
                for mean in (-bound, 0.0, bound)
            ]
            return all(np.all(low >= 0.0) and np.all(high <= 1.0) for low, high in limits)
    except (InvalidInput, ArithmeticError, ValueError):  # or it has parameters without defaults
        return False


def check_reward(setting: Setting, reward: float) -> None:
    """Refuse a reward that the declared law cannot have."""
    law = REWARD_LAWS[setting.reward]
    said = f"must be {law.support} for {setting.reward.capitalize()} rewards"
    possible = law.possible(reward)
    if possible and setting.unit_interval:
        said = f"must be between 0 and 1, the limits of {setting.reward.capitalize()} rewards"
        possible = 0.0 <= reward <= 1.0
    if not possible:
        use = "Correct it, or declare another law with Agent(reward=...)."
        raise InvalidInput("reward", said, reward, use)
