"""How feedback goes missing: the probability that a reward is observed, given the action."""

from halfseen.censorship.per_arm import PerArm
from halfseen.censorship.uniform import Uniform

Censorship = PerArm | Uniform
CENSORSHIPS: dict[str, type[Censorship]] = {c.kind: c for c in (PerArm, Uniform)}

__all__ = ["CENSORSHIPS", "Censorship", "PerArm", "Uniform"]
