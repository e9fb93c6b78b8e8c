"""The setting passed to the policy of an agent for arms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from halfseen import checks
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
    )
