"""Any policy under delays, keeping its guarantee without them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import Kernels, Policy
from halfseen.policies.arms.ucb import UCB
from halfseen.problems.setting import Setting


@dataclass(frozen=True)
class QueuedPolicy(Policy):
    """Feed a policy the queued rewards of an arm one by one, as it selects that arm.

    Rewards that arrive are queued by arm. The base policy selects an arm; if that arm's queue holds
    a reward, the policy learns it and selects again, otherwise the arm is played. The base policy
    behaves as without delays, clock included, so that its guarantees hold, and the regret grows by
    the gaps times the largest number of pending decisions (QPM-D).

    Parameters
    ----------
    base
        The base policy. It must learn from observed rewards alone.

    References
    ----------
    Joulani, Gyorgy, Szepesvari, *Online learning under delayed feedback*, 2013.
    """

    kind: ClassVar[str] = "queued"
    summary: ClassVar[str] = (
        "Feeds a policy the arrived rewards one by one, as it selects their arm."
    )
    base: Policy = field(default_factory=UCB)
    queues = True

    def __post_init__(self) -> None:
        plain = isinstance(self.base, Policy)
        kernels = self.base.kernels() if plain else None
        if kernels is None or kernels.fill or kernels.counts_pulls or kernels.queues:
            raise InvalidInput(
                "QueuedPolicy.base",
                "must be a policy that learns from observed rewards alone",
                self.base,
                "Use for example UCB().",
            )
        object.__setattr__(self, "regularization", self.base.regularization)

    def table(self, setting: Setting) -> Vector:
        """Return the base policy's table."""
        return self.base.table(setting)

    def check(self, setting: Setting) -> None:
        """Refuse what the base policy refuses."""
        self.base.check(setting)

    def kernels(self) -> Kernels:
        """Return the base policy's algorithm, to be fed from queues."""
        return replace(self.base.kernels(), queues=True)
