"""Validated counts and sums of the observed rewards of each arm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.problems.rewards import FAMILIES
from halfseen.theory import inputs

LARGEST = 1e100  # number of observations or of events


class Samples(NamedTuple):
    """Counts and sums of the observed rewards of some arms, and how the rewards are distributed."""

    observed: Vector
    total: Vector
    noise: Vector
    rho: float
    family: str

    @property
    def means(self) -> Vector:
        """Mean of the observed rewards, NaN where there are none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.observed > 0.0, self.total / self.observed, np.nan)

    def of(self, arm: Any) -> Samples:
        """Return the samples of some arms only."""
        return self._replace(
            observed=self.observed[arm], total=self.total[arm], noise=self.noise[arm]
        )


def samples(observed: Any, total: Any, noise: Any, rho: Any, reward: Any) -> Samples:
    """Return validated samples; raise an error that names the invalid argument."""
    counts = inputs.many("observed", observed, at_least=0.0, at_most=LARGEST)
    sums = inputs.many("total", total)
    if len(sums) != len(counts):
        raise InvalidInput(
            "total",
            f"must have {len(counts)} entries, one per arm",
            counted_entries(len(sums)),
            "Give one sum of rewards per arm.",
        )
    family = checks.one_of("reward", reward, FAMILIES)
    scale = inputs.per_arm("noise", noise, len(counts))
    unseen = np.flatnonzero((counts == 0.0) & (sums != 0.0))
    if len(unseen):
        arm = unseen[0]
        raise InvalidInput(
            f"total[{arm}]",
            "must be 0 where nothing was observed",
            float(sums[arm]),
            "Set it to 0.",
        )
    _refuse_impossible(counts, sums, family)
    return Samples(counts, sums, scale, checks.number("rho", rho, above=0.0), family)


def _refuse_impossible(counts: Vector, sums: Vector, family: str) -> None:
    """Refuse sums that rewards of a family cannot have."""
    use = 'Use reward="gaussian" with the noise of the rewards.'
    if family == "bernoulli":
        wrong = (sums < 0.0) | (sums > counts)
        said = "must be between 0 and {n:g}, the number observed, for rewards between 0 and 1"
    elif family == "poisson":
        wrong = (sums < 0.0) | (sums > LARGEST) | (sums != np.rint(sums))
        said = f"must be a whole number from 0 to {LARGEST:g}, a sum of counts"
        use = "Correct it, or use another law: rewards that are no counts are not Poisson."
    elif family == "exponential":
        wrong = (counts > 0.0) & (sums <= 0.0)
        said = "must be above 0, as exponential rewards are"
        use = "Correct it, or use another law: rewards of 0 or less are not exponential."
    else:
        return
    if wrong.any():
        arm = np.flatnonzero(wrong)[0]
        field, value = f"total[{arm}]", float(sums[arm])
        raise InvalidInput(field, said.format(n=counts[arm]), value, use)


def risk(level: Any) -> float:
    """Return 1 - level, the probability of an error at any time."""
    return 1.0 - checks.number("level", level, above=0.0, below=1.0, fix="Use 0.95.")
