"""How feedback goes missing: the probability that a reward is observed, given the action."""

from halfseen.censorship.link_models import LinkModel, Logistic
from halfseen.censorship.multi_threshold import MultiThreshold
from halfseen.censorship.per_action import AnyFunction, PerAction
from halfseen.censorship.per_arm import PerArm
from halfseen.censorship.population import Population
from halfseen.censorship.step_approximation import Staircase, staircase
from halfseen.censorship.uniform import Uniform

Censorship = PerArm | Uniform
LinearCensorship = Uniform | MultiThreshold | LinkModel | Logistic | PerAction | AnyFunction
CENSORSHIPS: dict[str, type[Censorship] | type[LinearCensorship]] = {  # those a spec can hold
    c.kind: c for c in (PerArm, Uniform, MultiThreshold, LinkModel, Logistic, PerAction)
}

__all__ = [
    "CENSORSHIPS",
    "AnyFunction",
    "Censorship",
    "LinearCensorship",
    "LinkModel",
    "Logistic",
    "MultiThreshold",
    "PerAction",
    "PerArm",
    "Population",
    "Staircase",
    "Uniform",
    "staircase",
]
