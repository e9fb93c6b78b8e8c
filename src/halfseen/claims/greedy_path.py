"""A greedy path of actions, simulated step by step, as a reference for closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.checks import Vector

SPOTS = 5  # angles tried in each region, including its two ends


@dataclass(frozen=True)
class Followed:
    """The regions and designs visited by a greedy path.

    Attributes
    ----------
    first
        For each region, the time of its first play and the design (x, y) at that time.
    x, y
        The design at the end, across the censorship's direction and along it.
    potential
        The integral of a'W^-1 a.
    """

    first: dict[int, tuple[float, float, float]]
    x: float
    y: float
    potential: float


def spots(model: MultiThreshold) -> tuple[Vector, Vector, Vector]:
    """Return region, squared sine and probability for angles over the whole unit sphere.

    >>> region, along, observe = spots(MultiThreshold([0.0], [1.0, 0.5], [0, 1]))
    >>> region.tolist(), observe[[0, -1]].tolist()
    ([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [1.0, 0.5])
    """
    ends = (-math.pi / 2, *model.threshold_radians, math.pi / 2)
    rows = [
        (j, math.sin(angle) ** 2, p)
        for j, ((low, high), p) in enumerate(zip(pairwise(ends), model.observe, strict=True))
        for angle in sorted({*np.linspace(low, high, SPOTS).tolist(), min(max(low, 0.0), high)})
    ]
    region, along, observe = np.array(rows).T
    return region.astype(int), along, observe


def follow(
    model: MultiThreshold,
    regularization: float,
    horizon: float,
    step: float,
    *,
    per_round: bool = False,
) -> Followed:
    """Follow the greedy path per observation, in steps of equal information.

    Parameters
    ----------
    model
        The censorship.
    regularization
        lambda.
    horizon
        Duration.
    step
        Approximate growth of the log-determinant of the design per step.
    per_round
        Maximise the gain per round instead.

    Returns
    -------
    Followed
        First visits, the design at the end and the potential.

    Notes
    -----
    No knowledge of the order of regions is used. Actions are spread evenly across the direction, so
    that the design stays diagonal.
    """
    many = len(model.direction) - 1
    region, along, observe = spots(model)
    across, weight = 1.0 - along, np.ones(len(along)) if per_round else 1.0 / observe
    x = y = regularization
    time = potential = 0.0
    first: dict[int, tuple[float, float, float]] = {}
    while time < horizon:
        width = across / x + along / y
        best = int((width * weight).argmax())
        first.setdefault(int(region[best]), (time, x, y))
        p = float(observe[best])
        duration = min(step / (float(width[best]) * p), horizon - time)
        gain_x = p * duration * float(across[best]) / many
        gain_y = p * duration * float(along[best])
        potential += (many * math.log1p(gain_x / x) + math.log1p(gain_y / y)) / p
        x, y, time = x + gain_x, y + gain_y, time + duration
    return Followed(first, x, y, potential)
