"""A population with individual thresholds: a behavioural model of multi-threshold censorship."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from halfseen import checks
from halfseen.censorship.multi_threshold import RIGHT_ANGLE, MultiThreshold, first_axis
from halfseen.display import ShownAsCall
from halfseen.errors import InvalidInput, counted_entries


@dataclass(frozen=True, repr=False)
class Population(ShownAsCall):
    r"""Types of people, each answering as long as the action does not go too far.

    Whoever meets the action is of type i with probability proportional to its weight, and answers
    when :math:`\langle a,u\rangle<\sin\phi_i`: then the utility of answering exceeds that of
    staying silent. Over the population,

    .. math:: p(a)=\sum_i w_i\,\mathbf 1\{\langle a,u\rangle<\sin\phi_i\}\Big/\sum_i w_i .

    Parameters
    ----------
    threshold_radians
        The angle phi_i of each type in radians, in [-pi/2, pi/2]; pi/2 for people who always
        answer, -pi/2 for people who never do.
    weights
        How common each type is, one positive number each; divided by their sum.

    Notes
    -----
    At the pole itself, where <a, u> = 1, those with pi/2 are taken to answer too: the last region
    of a multi-threshold model is closed. Without such people nobody would answer beyond the last
    threshold, and what is never seen cannot be learned: `censorship` refuses.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 4.1: a single threshold is one type of agent, a
    multi-threshold model the aggregate response of a heterogeneous population.

    Examples
    --------
    >>> people = Population([0.0, math.pi / 6, math.pi / 2], weights=[5, 3, 2])
    >>> people.censorship([0, 1]).observe
    (1.0, 0.5, 0.2)
    """

    threshold_radians: Sequence[float]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        field = "Population.threshold_radians"
        angles = checks.vector(
            field,
            self.threshold_radians,
            at_least=-RIGHT_ANGLE,
            at_most=RIGHT_ANGLE,
            fix="Give angles in radians between -pi/2 and pi/2; degrees times pi / 180.",
        )
        weights = checks.vector(
            "Population.weights", self.weights, above=0.0, at_most=1e100, fix="Use positive shares."
        )
        if len(weights) != len(angles):
            raise InvalidInput(
                "Population.weights",
                f"must have {len(angles)} entries, one per type",
                counted_entries(len(weights)),
                "Match the thresholds.",
            )
        object.__setattr__(self, "threshold_radians", angles)
        object.__setattr__(self, "weights", weights)

    def censorship(self, direction: Any) -> MultiThreshold:
        """Return the multi-threshold model this population induces along a direction."""
        if max(self.threshold_radians) < RIGHT_ANGLE:
            raise InvalidInput(
                "Population.threshold_radians",
                "must include pi/2, people who always answer",
                self.threshold_radians,
                "Without them nothing is seen beyond the last threshold; add such a type.",
            )
        angles = sorted({angle for angle in self.threshold_radians if abs(angle) < RIGHT_ANGLE})
        observe = [self._share_beyond(angle) for angle in (-RIGHT_ANGLE, *angles)]
        return MultiThreshold(angles, observe, direction)

    def in_steps(self, dimension: int, regions: int) -> tuple[MultiThreshold, float]:
        """Return the model that the population induces along the first axis."""
        return self.censorship(first_axis(dimension)), 0.0

    def _share_beyond(self, angle: float) -> float:
        pairs = list(zip(self.threshold_radians, self.weights, strict=True))
        beyond = math.fsum(weight for threshold, weight in pairs if threshold > angle)
        return beyond / math.fsum(self.weights)
