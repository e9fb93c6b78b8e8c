"""On which arm more feedback is worth most, with the probability that it is so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.display import Shown
from halfseen.logs.group_sums import smallest
from halfseen.logs.posterior import DOUBT
from halfseen.logs.rates import fit_prior
from halfseen.tables import brief, percent, probability_name

DRAWS = 4000
SURE = 0.8  # probability from which an arm is named
MATTERS = 1.1  # ratio to a typical arm's worth below which no arm stands out
CAPACITY = 300  # arms that may have the lowest rate and are compared


@dataclass(frozen=True, repr=False)
class WorthMost(Shown):
    """The arm likeliest to be seen least.

    Attributes
    ----------
    arm
        Its name.
    probability
        Probability that it has the lowest rate of all, with rates shrunken towards each other.
    rate
        Its shrunken rate.
    times, times_low, times_high
        How many times as fast the effective dimension falls with its rate as with a typical arm's:
        median, 5% and 95%.
    """

    arm: str
    probability: float
    rate: float
    times: float
    times_low: float
    times_high: float

    @property
    def sure(self) -> bool:
        """Whether it is likely enough to be named."""
        return self.probability >= SURE and self.times >= MATTERS

    def __str__(self) -> str:
        if self.probability >= SURE and self.times < MATTERS:
            return (
                f"All arms are seen about as often ({percent(self.rate)}): no arm stands out as"
                " the one where more feedback is worth most."
            )
        name = f"“{brief(self.arm, 40)}”"
        chance = probability_name(self.probability)
        if not self.sure:
            return (
                f"No arm stands out as the one where more feedback is worth most: {name} is the"
                f" likeliest to be seen least, with probability {chance}."
            )
        words = (
            f"More feedback is worth most on {name} (probability {chance}): seen"
            f" {percent(self.rate)} of the time."
        )
        return (
            f"{words} A little more there is worth {self.times:.2g} times"
            f" ({self.times_low:.2g} to {self.times_high:.2g}) as much as on a typical arm."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return vars(self) | {"sure": self.sure}


def worth_most(
    names: Sequence[str], seen: NDArray[Any], rows: NDArray[Any], *, seed: int = 0
) -> WorthMost | None:
    """Return on which arm more feedback is worth most.

    Parameters
    ----------
    names
        The arms.
    seen, rows
        Rewards seen and decisions made, per arm, effective ones where some are still waiting.
    seed
        Seed of the draws.

    Returns
    -------
    WorthMost or None
        None for a single arm.

    Notes
    -----
    What a little more is worth is between the ends of shrunken draws and of draws that borrow
    nothing: the former alone pull an arm that is unlike the others towards them.
    """
    if len(names) < 2:
        return None
    prior = fit_prior(seen, rows, doubt=DOUBT)
    a, b = prior.posterior(seen, rows)
    mean = a / (a + b)
    low = mean - 4.0 * np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    some = np.sort(smallest(low, CAPACITY))
    rng = np.random.default_rng(seed)
    rates = np.maximum(rng.beta(a[some], b[some], size=(DRAWS, len(some))), 1e-12)
    wins = np.bincount(np.argmin(rates, axis=1), minlength=len(some))
    first = int(np.argmax(wins))
    typical = np.median(rates, axis=1) if len(some) == len(names) else np.median(mean)
    times = np.quantile((typical / rates[:, first]) ** 2, [0.05, 0.5, 0.95]).tolist()
    if len(some) == len(names):
        alone = rng.beta(seen + 0.5, rows - seen + 0.5, size=(DRAWS, len(some)))
        typical, lowest = np.median(alone, axis=1), alone[:, first]
    else:
        hits, size = seen[some[first]], rows[some[first]]
        lowest = rng.beta(hits + 0.5, size - hits + 0.5, size=DRAWS)
    own = np.quantile((typical / lowest) ** 2, [0.05, 0.95]).tolist()
    return WorthMost(
        arm=names[some[first]],
        probability=float(wins[first]) / DRAWS,
        rate=float(mean[some[first]]),
        times=times[1],
        times_low=min(times[0], own[0]),
        times_high=max(times[2], own[1]),
    )
