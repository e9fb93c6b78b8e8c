r"""The largest continuous potential under a censorship: the true worst case.

:math:`J=\int a'W(t)^{-1}a\,dt` with :math:`W(t)=\lambda I+\int p(a)\,aa'`, and :math:`J^\star` is
its largest value over all paths of T rounds. All of this assumes that whether a reward is observed
does not depend on the reward.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import MultiThreshold
from halfseen.censorship.link_models import LinkedCensorship
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.theory import inputs
from halfseen.theory.linear import best_shares as simplex
from halfseen.theory.linear import worst_case_finite
from halfseen.theory.linear.largest_potential import WorstCase, assembled, level_weights
from halfseen.theory.linear.regions import (
    Regions,
    enclosing_steps,
    reduced,
)
from halfseen.theory.linear.stepped import as_steps, range_along, same_dimension


def worst_case_potential(
    censorship: Any,
    dimension: int | None = None,
    *,
    horizon: float,
    regularization: float = 1.0,
    actions: Any = None,
    regions: int = 8,
) -> WorstCase:
    r"""Return the largest continuous potential of T rounds, with a plan that attains it.

    .. math:: J^\star(T)=\max_{\sum_m\tau_m=T}\ \sum_n\Big(\frac1{p_n}-\frac1{p_{n+1}}\Big)
              \log\det\Big(I+\tfrac1\lambda\sum_{m\le n}p_m\Omega_m\Big),\qquad
              \Omega_m\in\tau_m\operatorname{conv}\{aa':p(a)=p_m\}

    with :math:`p_0<p_1<\dots` the values p takes and the last :math:`1/p_{n+1}` zero. The program
    is concave, and its solution is played most censored first.

    Parameters
    ----------
    censorship
        A `MultiThreshold`, `Uniform`, `Population`, `Logistic` or `LinkModel` on the unit ball; for
        a finite set of actions any censorship of linear bandits, or one probability per action.
    dimension
        Number d of coordinates of an action; needed for `Uniform` and `Population`.
    horizon
        Number of rounds T, whole or not.
    regularization
        The paper's lambda.
    actions
        A finite set of actions, `FiniteActions` or an array (K, d); by default the unit ball.
    regions
        Number of steps that replace a smooth model, of equal height on a log scale. The
        certificate covers the smooth model: a step function above it has a smaller J*, one below
        it a larger J*.

    Returns
    -------
    WorstCase
        The value, the plan and the certificate.

    Notes
    -----
    On the ball the plan is symmetric around the direction u, and the design has one eigenvalue
    along u and one across. The probabilities may be in any order. What matters is the smaller one
    of an action and its opposite, and the position of the most censored region. If that region
    contains :math:`\sin^2=1/d`, it alone explores all directions evenly, and
    :math:`J^\star=\frac d{p_{\min}}\log(1+\frac{p_{\min}T}{d\lambda})`. If it lies higher, u is
    always explored more than the other directions, and each region is played at its lower end; if
    it lies lower, each is played at its upper end. If such an end does not belong to its region, J*
    is a supremum that is not attained.

    References
    ----------
    Replaces Guinet, Amin, Jaillet (2022), theorem on the effective dimension of multi-threshold
    models, whose policy does not attain the maximum.

    Examples
    --------
    >>> censorship = MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1])
    >>> worst = worst_case_potential(censorship, horizon=1000)
    >>> round(worst.value, 9), [round(time, 6) for time in worst.switch_times]
    (27.895907601, [703.538863])
    >>> list(worst.durations)
    [1, 0]
    """
    lam = checks.number("regularization", regularization, above=0.0, fix="Use 1.0.")
    time = inputs.rounds(horizon)
    if not time / lam < 1e280:
        raise InvalidInput(
            "regularization", "must be above 1e-280 times the horizon", lam, "Raise it."
        )
    if actions is not None:
        rows, observe = worst_case_finite.seen_actions(censorship, actions)
        same_dimension(rows.shape[1], dimension)
        return worst_case_finite.worst_case_of(rows, observe, lam, time)
    if isinstance(censorship, LinkedCensorship):
        return _smooth(
            censorship, same_dimension(len(censorship.direction), dimension), lam, time, regions
        )
    model, d, error = as_steps(censorship, dimension)
    if error > 0.0:
        raise InvalidInput(
            "censorship",
            "must be a step function or a link model for its largest potential",
            censorship,
            "Give the approximation that its method `in_steps` returns.",
        )
    return _over_regions(model, d, lam, time)


def worst_case_dimension(
    censorship: Any, dimension: int | None = None, *, actions: Any = None
) -> float:
    r"""Return the true worst-case dimension: the growth of the largest potential per log T.

    .. math:: \lim_{T\to\infty}\frac{J^\star(T)}{\log T}
              =\max_{B\text{ basis}}\ \sum_{a\in B}\frac1{p(a)}

    On the unit ball the most censored region spans the space, and this is
    :math:`d/p_{\min}`. For arms it is :math:`\sum_a1/p_a`.

    Parameters
    ----------
    censorship
        As in `worst_case_potential`.
    dimension
        Number d of coordinates of an action; needed for `Uniform` and `Population`.
    actions
        A finite set of actions, `FiniteActions` or an array (K, d); by default the unit ball. If
        they do not span the space, B is a basis of their span.

    Returns
    -------
    float
        The dimension.

    Notes
    -----
    The best basis is found greedily, most censored first. An action counts as linearly dependent
    on others if its component outside their span is less than 1e-10 of its length.

    References
    ----------
    Replaces Guinet, Amin, Jaillet (2022), theorem on the effective dimension of multi-threshold
    models.

    Examples
    --------
    >>> worst_case_dimension(MultiThreshold([1.0], [1.0, 0.5], [0, 0, 1]))
    6.0
    >>> worst_case_dimension([0.5, 0.25, 0.1], actions=[[1, 0], [0, 1], [0, 0.5]])
    12.0
    """
    if actions is not None:
        rows, observe = worst_case_finite.seen_actions(censorship, actions)
        same_dimension(rows.shape[1], dimension)
        chosen = worst_case_finite.heaviest_basis(rows, observe)
        return math.fsum(1.0 / observe[chosen])
    d, least, _ = range_along(censorship, dimension)
    return d / least


@lru_cache(maxsize=4096)
def _over_regions(model: MultiThreshold, d: int, lam: float, time: float) -> WorstCase:
    regions = reduced(model, d)
    least = float(regions.observe[0])
    even = d / least * math.log1p(least * time / (d * lam))
    if regions.even or time == 0.0:
        shares = regions.even or ((regions.numbers[0], 1.0),)
        durations = MappingProxyType({number: share * time for number, share in shares})
        return WorstCase(even, durations, (), even, even, 0.0, 1.0 / (lam + least * time / d))
    found = simplex.largest(Latitudes(regions, d, time / lam), len(regions.numbers))
    return assembled(found, regions.numbers, regions.observe, time, even)


def _smooth(
    censorship: LinkedCensorship, d: int, lam: float, time: float, regions: int
) -> WorstCase:
    below, middle, above = (
        _over_regions(model, d, lam, time) for model in enclosing_steps(censorship, regions)
    )
    return WorstCase(
        middle.value,
        middle.durations,
        middle.switch_times,
        above.lower,
        below.upper,
        middle.residual,
        below.slope,
    )


class Latitudes:
    """The potential of a plan over regions, as a function of the shares of time."""

    def __init__(self, regions: Regions, dimension: int, rounds: float) -> None:
        self.weights = level_weights(regions.observe)
        gain = regions.observe * rounds
        self.many = dimension - 1
        self.across = gain * regions.across / max(self.many, 1)
        self.along = gain * regions.along
        self.later = np.tri(len(gain))  # [n, m]: 1 when m is played by the end of n

    def value(self, shares: Vector) -> float:
        """Return the sum of weighted log determinants, relative to the start."""
        x, y = np.cumsum(self.across * shares), np.cumsum(self.along * shares)
        return math.fsum(self.weights * (self.many * np.log1p(x) + np.log1p(y)))

    def slopes(self, shares: Vector) -> Vector:
        """Return the gradient with respect to the share of each region."""
        x, y = self._relative(shares)
        result: Vector = self.weights @ (self.many * x + y)
        return result

    def bends(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the gradient and the negative of the Hessian."""
        x, y = self._relative(shares)
        curved = (x.T * (self.many * self.weights)) @ x + (y.T * self.weights) @ y
        return self.weights @ (self.many * x + y), curved

    def _relative(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return d log(eigenvalue after n) / d share of m, across and along."""
        return (
            self.later * self.across / (1.0 + np.cumsum(self.across * shares))[:, None],
            self.later * self.along / (1.0 + np.cumsum(self.along * shares))[:, None],
        )
