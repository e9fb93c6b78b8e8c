"""The information available to a policy before the first round."""

from __future__ import annotations

from dataclasses import dataclass

from halfseen.checks import Vector
from halfseen.equality import ByValue
from halfseen.problems.delay_contract import DelayLaw


@dataclass(frozen=True, eq=False)
class Setting(ByValue):
    """Prior information of a policy: bounds on noise and means, never the means themselves.

    Attributes
    ----------
    noise
        Sub-Gaussian scale of each arm's reward noise.
    bound
        An upper bound on the means in absolute value.
    horizon
        The number of rounds that will be played.
    reward
        The law of the rewards, by name.
    delays
        The delay law of each arm's rewards above 0; empty where nothing is known of delays.
    window
        Rounds after which a decision without feedback is given up, None if none is.
    sub_gaussian
        Whether `noise` is a sub-Gaussian scale, not only a standard deviation.
    finite_variance
        Whether the rewards have a variance.
    unit_interval
        Whether every reward is known to be between 0 and 1.
    offered
        How many arms can ever be played; None for all of them.
    """

    noise: Vector
    bound: float
    horizon: int
    reward: str
    delays: tuple[DelayLaw, ...] = ()
    window: int | None = None
    sub_gaussian: bool = True
    finite_variance: bool = True
    unit_interval: bool = False
    offered: int | None = None

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.noise)
