"""Any policy under delays, with its guarantee without them."""

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
    """Hand a policy the rewards of an arm one by one, as it asks for that arm.

    Rewards that arrive are queued by arm. The base policy is asked for an arm; if that arm's queue
    holds a reward it is handed over and the policy is asked again, otherwise the arm is played. The
    base policy lives in a world without delays, clock included, so that its guarantees hold, and
    the regret grows by the gaps times the most decisions that are ever open (QPM-D).

    Parameters
    ----------
    base
        The policy that is asked. It must learn from observed rewards alone.

    References
    ----------
    Joulani, Gyorgy, Szepesvari, *Online learning under delayed feedback*, 2013.
    """

    kind: ClassVar[str] = "queued"
    summary: ClassVar[str] = (
        "Hands a policy the rewards that arrived one by one, as it asks for their arm."
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
