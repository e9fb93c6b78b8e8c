"""What a policy is told before the first round."""

from __future__ import annotations

from dataclasses import dataclass

from halfseen.checks import Vector
from halfseen.equality import ByValue


@dataclass(frozen=True, eq=False)
class Setting(ByValue):
    """What a policy may know in advance: bounds on noise and means, never the means themselves.

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
    """

    noise: Vector
    bound: float
    horizon: int
    reward: str

    @property
    def arms(self) -> int:
        """The number of arms."""
        return len(self.noise)
