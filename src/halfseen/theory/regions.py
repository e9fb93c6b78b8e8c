"""A censorship along a direction, reduced to what matters for exploring the unit ball."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.censorship import MultiThreshold
from halfseen.censorship.directions import projections
from halfseen.censorship.link_models import LinkedCensorship, projection_at
from halfseen.checks import Vector
from halfseen.problems import FiniteActions
from halfseen.theory.path_rules import regions_that_matter
from halfseen.theory.steps import as_steps


class Regions(NamedTuple):
    """The regions worth playing, most censored first.

    Attributes
    ----------
    numbers
        Which regions of the model they are.
    observe
        Probability of being observed, increasing.
    along, across
        sin^2 and cos^2 of the lowest non-negative angle of each region: how much of an action of
        length 1 points along the direction, and how much across it.
    """

    numbers: tuple[int, ...]
    observe: Vector
    along: Vector
    across: Vector


def reduced(censorship: MultiThreshold) -> Regions:
    """Drop regions that others beat: those below the equator, and higher ones of equal observe.

    An action and its opposite explore alike, so the less often observed of the two is worth more.

    >>> reduced(MultiThreshold([-0.5, 0.5], [0.9, 0.5, 0.2], [0, 1])).observe.tolist()
    [0.2, 0.5]
    """
    kept = regions_that_matter(censorship.thresholds, censorship.observe)[::-1]
    numbers, _, along, across, observe = zip(*kept, strict=True)
    return Regions(numbers, np.array(observe), np.array(along), np.array(across))


class Enclosure(NamedTuple):
    """Multi-threshold models with the same regions: below a smooth one, across it and above it."""

    below: MultiThreshold
    middle: MultiThreshold
    above: MultiThreshold


def enclosing_steps(censorship: LinkedCensorship, regions: int) -> Enclosure:
    """Enclose a smooth model between steps that are equally high on a logarithmic scale.

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


def isotropic(regions: Regions, dimension: int) -> bool:
    """Tell whether the most censored region can explore all directions evenly."""
    return dimension == 1 or dimension * float(regions.along[0]) <= 1.0


def region_actions(censorship: Any, dimension: int | None = None) -> FiniteActions:
    r"""Return d actions per region that explore as well as the whole unit ball.

    .. math:: a=\sin\rho_j\,u+\cos\rho_j\,v_i,\qquad i=1,\dots,d

    with :math:`\rho_j` the lowest non-negative angle of region j and :math:`v_1,\dots,v_d` the
    corners of a regular simplex in the space across the direction u. Most censored region first.
    The most censored region explores evenly where it can: then only its actions are
    returned, at :math:`\sin^2\rho=1/d`, an orthonormal basis.

    Parameters
    ----------
    censorship
        A `MultiThreshold`, `Population`, `Uniform` or smooth model; a smooth one by 8 steps.
    dimension
        Number d of coordinates of an action; left out, that of the model's direction.

    Returns
    -------
    FiniteActions
        The actions, d per region that is worth playing.

    Notes
    -----
    The largest continuous potential over these actions is that over the unit ball. In one
    dimension there is one action, the pole.

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
    regions = reduced(model)
    direction = np.array(model.direction)
    if d == 1:
        return FiniteActions(direction[None, :])
    corners = _corners(direction)
    numbers, levels = regions.numbers, regions.along.tolist()
    if isotropic(regions, d):
        numbers, levels = numbers[:1], [1.0 / d]
    lowest = [model.thresholds[n - 1] if n else -math.pi / 2 for n in numbers]
    rows = [
        _inside(math.sqrt(level), math.sin(low), direction, corner)
        for level, low in zip(levels, lowest, strict=True)
        for corner in corners
    ]
    return FiniteActions(np.array(rows))


def _corners(direction: Vector) -> Vector:
    """Return d unit vectors across a unit vector, each at the same angle from all others."""
    d = len(direction)
    pole = np.full(d, 1.0 / math.sqrt(d))
    simplex = (np.eye(d) - 1.0 / d) / math.sqrt(1.0 - 1.0 / d)  # around (1, ..., 1)
    mirror = pole - direction
    square = float(mirror @ mirror)
    if square < 1e-30:
        return simplex
    return simplex - 2.0 * np.outer(simplex @ mirror, mirror) / square


def _inside(along: float, lowest: float, direction: Vector, across: Vector) -> Vector:
    """Return the action at <a, u> = along, nudged up until rounding leaves it in its region."""
    row = along * direction + math.sqrt(max(1.0 - along * along, 0.0)) * across
    nudge = 2.0**-52
    while projections("action", row[None], direction.tolist())[0] < lowest:
        row = row + nudge * direction
        nudge *= 2.0
    return row
