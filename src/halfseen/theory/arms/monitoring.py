"""The value of a single look at which rewards are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.theory import inputs
from halfseen.theory.arms.adaptivity import (
    adaptivity_constant,
)


@dataclass(frozen=True, eq=False, repr=False)
class MonitoringConstant(Shown, ByValue):
    """The constant of the gain from one look.

    Attributes
    ----------
    value
        The correct constant: single monitoring - offline ~ value / T^alpha.
    papers_claim
        The paper's beta * gamma, too small unless all arms are observed equally often.
    shares
        Share of all rounds to give each arm before the look.
    """

    value: float
    papers_claim: float
    shares: Vector


def monitoring_constant(
    observe: Sequence[float] | Vector, alpha: float, at: float
) -> MonitoringConstant:
    r"""Return the constant of the gain from one look after a share `at` of the rounds.

    .. math:: \frac\alpha2\,d_{\rm eff}^{1+\alpha}\,\max\Big\{\sum_a x_a w_a:\ \sum_a x_a=\beta,\
              0\le x_a\le\frac{1}{p_a d_{\rm eff}}\Big\},\qquad
              w_a=(1-p_a)\Big(1-\frac{1}{p_a d_{\rm eff}}\Big)

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    alpha
        Order of the potential, above 0.
    at
        beta, the share of the rounds played before the look, in [0, 1].

    Returns
    -------
    MonitoringConstant
        The constant, the paper's, and the shares x that reach it.

    Notes
    -----
    The paper has beta * gamma. That is the gain when the first rounds are spread in proportion to
    1/p; it is better to play the arms of largest w before the look, a fractional knapsack. The
    correct constant is concave and piecewise linear in beta, and several times the paper's when
    beta is small and a rarely played arm is far from always observed.

    References
    ----------
    Corrects Guinet, Amin, Jaillet (2022), proposition 3.7, second display.

    Examples
    --------
    >>> look = monitoring_constant([0.1, 0.5, 0.9], alpha=1.0, at=0.25)
    >>> round(look.value, 6), round(look.papers_claim, 6)
    (7.344444, 5.055556)
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    beta = checks.number("at", at, at_least=0.0, at_most=1.0, fix="Give a share of the rounds.")
    dimension = float((1.0 / p).sum())
    room = 1.0 / (p * dimension)
    worth = (1.0 - p) * (1.0 - room)
    best = np.argsort(-worth, kind="stable")
    before = np.cumsum(room[best]) - room[best]
    shares = np.empty(len(p))
    shares[best] = np.clip(beta - before, 0.0, room[best])
    value = 0.5 * order * dimension ** (1.0 + order) * float(shares @ worth)
    shares.flags.writeable = False
    return MonitoringConstant(value, beta * adaptivity_constant(p, order), shares)
