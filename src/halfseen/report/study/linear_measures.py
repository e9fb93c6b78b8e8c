"""Measures of linear bandits only: the slope of the potential, and regions of actions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.report.study.measures import Place, Position, playable
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import MeanInterval, mean_interval
from halfseen.studies.study import Study
from halfseen.theory.linear.slope import best_of_finite


def order_one(study: Study) -> int | None:
    """Return the index of the potential of order 1 among those tracked, None if it was not."""
    return study.alphas.index(1.0) if 1.0 in study.alphas else None


def final_potential(result: Result, position: Position) -> MeanInterval | None:
    """Return the potential of order 1 at the horizon, if it was tracked."""
    order = order_one(result.study)
    if order is None:
        return None
    return mean_interval(result.tracks["potential"][position][:, -1, order])


def last_decade(study: Study) -> NDArray[np.int64]:
    """Return the checkpoints in the last factor of ten of the rounds."""
    return np.flatnonzero(study.rounds_recorded * 10 >= study.horizon)


def fitted_slope(result: Result, position: Position) -> MeanInterval | None:
    """Return the slope of the potential in log(round) over the last factor of ten of the rounds.

    Least squares on the checkpoints there, replication by replication; the mean of those slopes is
    the slope of the mean.
    """
    order, chosen = order_one(result.study), last_decade(result.study)
    if order is None or len(chosen) < 2:
        return None
    time = np.log(result.study.rounds_recorded[chosen])
    time = time - time.mean()
    tracks = result.tracks["potential"][position][:, chosen, order]
    return mean_interval(tracks @ time / (time @ time))


def rarely_seen_best(place: Place) -> bool:
    """Return whether the best action of a finite set is seen less often than the average one."""
    if not place.problem.actions.same_every_round:
        return False
    seen = place.censorship.probabilities(place.problem.actions.fixed)
    return bool(seen[best_of_finite(place.problem)].max() < seen.mean())


def regions(place: Place) -> list[str]:
    """Return the regions counted apart, as intervals of <a, u>; none where there is one only."""
    if place.problem.actions.same_every_round:
        return []
    profile = place.censorship.profile(place.problem.dimension)
    if profile is None or not profile.cuts.size:
        return []
    cuts = [-1.0, *profile.cuts, 1.0]
    return [f"{_signed(low)} to {_signed(high)}" for low, high in pairwise(cuts)]


def labels_and_chances(place: Place, drawn: NDArray[np.int64]) -> tuple[list[str], Vector]:
    """Return names and probabilities of being seen of arms, actions or regions."""
    if not place.linear:
        means, seen = place.problem.means, place.chances
    elif place.problem.actions.same_every_round:
        rows = place.problem.actions.fixed
        means, seen = place.problem.means(rows), place.censorship.probabilities(rows)
    else:
        return regions(place), _within_regions(place)
    return [f"{arm} ({means[arm]:.3g})" for arm in drawn], seen[drawn]


def _within_regions(place: Place) -> Vector:
    """Return the probability of being observed in the middle of each region."""
    profile = place.censorship.profile(place.problem.dimension)
    edges = np.array([-1.0, *profile.cuts, 1.0])
    middle = ((edges[1:] + edges[:-1]) / 2.0).tolist()
    return np.array([profile.kernel(along, profile.table) for along in middle])


def counted_apart(place: Place) -> int:
    """Return how many arms, actions or regions are counted apart."""
    finite = not place.linear or place.problem.actions.same_every_round
    return len(playable(place.problem)) if finite else len(regions(place))


def _signed(value: float) -> str:
    return f"{value:.2g}".replace("-", "−")
