"""Closed forms of the best potentials, accurate to the second order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.theory import inputs
from halfseen.theory.arms.power_sums import smooth_power_sum


@dataclass(frozen=True, repr=False)
class SecondOrderPotential(Shown):
    """Closed forms of the best offline and the best adaptive potential.

    Attributes
    ----------
    offline, adaptive
        The two approximations.
    gain
        adaptive - offline, without the cancellation of subtracting them.
    error_order
        The power of the horizon at which the error of each falls: -(1 + alpha).
    """

    offline: float
    adaptive: float
    gain: float
    error_order: float


def second_order_potential(
    observe: Sequence[float] | Vector, horizon: float, alpha: float, regularization: float
) -> SecondOrderPotential:
    r"""Return closed forms of the best offline and adaptive potentials.

    With :math:`D=d_{\rm eff}`, :math:`x=T/D`, :math:`G(x)=\zeta(\alpha,\lambda)-
    \zeta(\alpha,\lambda+x)` and :math:`K=\frac{\alpha(\alpha+1)}2\,\zeta(\alpha+2,\lambda+x)\,x`,

    .. math:: \text{offline}\approx D\,G(x)-K\sum_a\frac{1-p_a}{p_a},\qquad
              \text{adaptive}\approx D\,G(x)-\frac KD\sum_a\frac{1-p_a}{p_a^2}.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, above 0.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda.

    Returns
    -------
    SecondOrderPotential
        Both values, their difference and the order of the error.

    Notes
    -----
    The paper stops at the first order, d_eff psi(T/d_eff + lambda). The error here is
    O(T^-(1+alpha)); it is not small before T is several times the sum of 1/p^2.

    References
    ----------
    Sharpens Guinet, Amin, Jaillet (2022), lemma 3.6 and proposition 3.7.

    Examples
    --------
    >>> close = second_order_potential([0.1, 0.5, 0.9], 1000, alpha=0.5, regularization=1.0)
    >>> round(close.offline, 2), round(close.adaptive, 2), close.error_order
    (210.32, 210.41, -1.5)
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    time = checks.number("horizon", horizon, above=0.0, fix="Give the number of rounds.")
    lam = checks.number("regularization", regularization, above=0.0)
    missing = (1.0 - p) / p
    dimension = float((1.0 / p).sum())
    x = time / dimension
    leading = dimension * smooth_power_sum(x, lam, order)
    curvature = 0.5 * order * (order + 1.0) * float(special.zeta(order + 2.0, lam + x)) * x
    loss, adaptive_loss = float(missing.sum()), float((missing / p).sum()) / dimension
    return SecondOrderPotential(
        offline=leading - curvature * loss,
        adaptive=leading - curvature * adaptive_loss,
        gain=curvature * float((missing * (1.0 - 1.0 / (p * dimension))).sum()),
        error_order=-(1.0 + order),
    )
