"""The regions of a censorship along a direction that are worth playing on the unit ball."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.censorship import MultiThreshold
from halfseen.censorship.link_models import LinkedCensorship, projection_at
from halfseen.checks import Vector
from halfseen.problems import FiniteActions
from halfseen.theory.linear.kept_regions import UPPER, Region, regions_that_matter
from halfseen.theory.linear.reachability import SAME
from halfseen.theory.linear.stepped import as_steps


class Regions(NamedTuple):
    """The regions worth playing, most censored first.

    Attributes
    ----------
    edge
        Which end of a region is played: ``"lower"`` or ``"upper"``, counted from the equator;
        ``"isotropic"`` when the most censored region explores all directions evenly.
    numbers
        Their numbers in the model.
    observe
        Probability of being observed, increasing.
    along, across
        sin^2 and cos^2 of the angle at which each is played: the squared components of an action
        of length 1 along the direction and across it.
    even
        Share of time of the regions that together explore evenly, by number; empty if none do.
    """

    edge: str
    numbers: tuple[int, ...]
    observe: Vector
    along: Vector
    across: Vector
    even: tuple[tuple[int, float], ...]


def reduced(censorship: MultiThreshold, dimension: int) -> Regions:
    """Drop dominated regions.

    An action and its opposite give the same information, so only the less often observed of the
    two matters.

    >>> reduced(MultiThreshold([-0.5, 0.5], [0.9, 0.5, 0.2], [0, 1]), 2).observe.tolist()
    [0.2, 0.5]
    """
    kept = regions_that_matter(censorship.threshold_radians, censorship.observe, dimension)
    numbers, _, along, across, observe, _ = zip(*kept.regions[::-1], strict=True)
    even = tuple((region.number, share) for region, share in kept.even)
    return Regions(kept.edge, numbers, np.array(observe), np.array(along), np.array(across), even)


class Enclosure(NamedTuple):
    """Multi-threshold models with the same regions: below a smooth model, between, and above it."""

    below: MultiThreshold
    middle: MultiThreshold
    above: MultiThreshold


def enclosing_steps(censorship: LinkedCensorship, regions: int) -> Enclosure:
    """Enclose a smooth model between step functions with steps of equal height on a log scale.

    >>> from halfseen.censorship import Logistic
    >>> steps = enclosing_steps(Logistic([0, 1], slope=-2.0), regions=2)
    >>> [[round(p, 4) for p in model.observe] for model in steps]
    [[0.324, 0.1192], [0.5342, 0.1965], [0.8808, 0.324]]
    """
    count = checks.whole("regions", regions, at_least=1, at_most=1000)
    lowest, highest = censorship.observe_range
    sign = 1.0 if censorship.slope < 0.0 else -1.0
    direction = [sign * entry for entry in censorship.direction]
    count = count if highest > lowest * (1.0 + 1e-9) else 1
    edges = np.geomspace(highest, lowest, count + 1)
    edges[0], edges[-1] = highest, lowest
    table = censorship.table()
    along = [sign * projection_at(edge, table) for edge in edges[1:-1].tolist()]
    angles = [math.asin(min(max(s, -1.0), 1.0)) for s in along]
    middle = np.sqrt(edges[1:] * edges[:-1])
    return Enclosure(
        *(MultiThreshold(angles, p.tolist(), direction) for p in (edges[1:], middle, edges[:-1]))
    )


def region_actions(censorship: Any, dimension: int | None = None) -> FiniteActions:
    r"""Return d actions per region that explore as well as the whole unit ball.

    .. math:: a=\sin\rho_j\,u+\cos\rho_j\,v_i,\qquad i=1,\dots,d

    with :math:`\rho_j` the angle at which region j is worth playing and :math:`v_1,\dots,v_d` the
    corners of a regular simplex in the space across the direction u. The most censored region comes
    first. If it can explore all directions evenly, only its actions are returned, at
    :math:`\sin^2\rho=1/d`, an orthonormal basis (or on both sides of that angle, if it lies between
    two regions observed equally often).

    Parameters
    ----------
    censorship
        A `MultiThreshold`, `Population`, `Uniform` or smooth model, which is approximated by 8
        steps.
    dimension
        Number d of coordinates of an action; by default that of the model's direction.

    Returns
    -------
    FiniteActions
        The actions, d per region that is worth playing.

    Notes
    -----
    The largest continuous potential over these actions is that over the unit ball, up to rounding:
    an end point that does not belong to its region is replaced by a nearby one. In one dimension
    there is one action per region.

    References
    ----------
    The regions are those of Guinet, Amin, Jaillet (2022), equation (MT); the actions are not in
    the paper, which plays averages over all directions across u.

    Examples
    --------
    >>> censorship = MultiThreshold([1.2], [1.0, 0.5], [0, 0, 1])
    >>> region_actions(censorship).actions.shape
    (6, 3)
    >>> censorship.probabilities(region_actions(censorship).actions).tolist()
    [0.5, 0.5, 0.5, 1.0, 1.0, 1.0]
    """
    model, d, _ = as_steps(censorship, dimension)
    kept = regions_that_matter(model.threshold_radians, model.observe, d)
    played = [region for region, _ in kept.even] or list(kept.regions[::-1])
    corners = _corners(np.array(model.direction)) if d > 1 else np.zeros((1, 1))
    inwards = -1.0 if kept.edge == UPPER else 1.0
    rows = [_inside(region, inwards, model, corner) for region in played for corner in corners]
    return FiniteActions(np.array(rows))


def _corners(direction: Vector) -> Vector:
    """Return d unit vectors orthogonal to a direction, with the same angle between any two."""
    d = len(direction)
    pole = np.full(d, 1.0 / math.sqrt(d))
    simplex = (np.eye(d) - 1.0 / d) / math.sqrt(1.0 - 1.0 / d)  # around (1, ..., 1)
    mirror = pole - direction
    square = float(mirror @ mirror)
    if square < 1e-30:
        return simplex
    return simplex - 2.0 * np.outer(simplex @ mirror, mirror) / square


def _inside(region: Region, inwards: float, model: MultiThreshold, across: Vector) -> Vector:
    """Return the action of a region, moved along the direction until it lies in the region."""
    direction = region.side * np.array(model.direction)
    row = math.sqrt(region.q) * direction + math.sqrt(region.c) * across
    tried, nudge = row, 2.0**-52
    while model.probabilities(tried[None])[0] > region.p * (1.0 + SAME):
        tried = row + inwards * nudge * direction
        inwards, nudge = -inwards, nudge * (1.0 if inwards > 0.0 else 2.0)
    return tried
