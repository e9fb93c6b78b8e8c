"""The family of reward laws that an index is made for, by name or by the problem's own law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kernels.kullback_leibler import BERNOULLI, EXPONENTIAL, GAUSSIAN, POISSON
from halfseen.policies.arms.base import Policy
from halfseen.problems.setting import Setting

FAMILIES = {
    "gaussian": GAUSSIAN,
    "bernoulli": BERNOULLI,
    "poisson": POISSON,
    "exponential": EXPONENTIAL,
}


def check_variance(policy: str, setting: Setting) -> None:
    """Refuse rewards without a variance."""
    if not setting.finite_variance:
        raise InvalidInput(
            "reward",
            f"must have a finite variance for {policy}",
            setting.reward,
            "Use RobustUCB, which needs fewer moments.",
        )


@dataclass(frozen=True)
class FamilyPolicy(Policy):
    """A policy whose index depends on the family of the rewards' laws."""

    kind: ClassVar[str] = ""
    family: str | None = None
    waits = True

    def __post_init__(self) -> None:
        if self.family is not None:
            checks.one_of(f"{type(self).__name__}.family", self.family, FAMILIES)

    def check(self, setting: Setting) -> None:
        """Refuse a family that does not fit the rewards, and rewards without a variance."""
        name = type(self).__name__
        check_variance(name, setting)
        if self.family is None and setting.reward not in FAMILIES and not setting.sub_gaussian:
            raise InvalidInput(
                f"{name}.family",
                f"must be given for {setting.reward} rewards, which are of none of its families",
                self.family,
                "Use RobustUCB, or family='gaussian' to take them for normal rewards.",
            )
        bounded = self.family == "bernoulli" and setting.unit_interval
        if self.family not in (None, "gaussian", setting.reward) and not bounded:
            known = setting.reward in FAMILIES and setting.reward != "gaussian"
            own = f"{setting.reward!r}, " if known else ""
            raise InvalidInput(
                f"{name}.family",
                f"must be {own}'gaussian' or left out for {setting.reward} rewards",
                self.family,
                f"Leave it out, or declare rewards that are {self.family}"
                + (" or always between 0 and 1." if self.family == "bernoulli" else "."),
            )

    def family_in(self, setting: Setting) -> int:
        """Return the family's number; other rewards are treated as sub-Gaussian."""
        name = setting.reward if self.family is None else self.family
        return FAMILIES.get(name, GAUSSIAN)

    def scales(self, setting: Setting) -> Vector:
        """Return 1/(2 sigma^2) of each arm, a large number if there is no noise."""
        return 0.5 / np.maximum(setting.noise, 1e-45) ** 2  # times a squared gap it stays finite
