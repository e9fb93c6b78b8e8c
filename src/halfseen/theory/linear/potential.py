r"""The potential of a linear bandit, which sums the uncertainty of the rounds, and its bounds.

The potential is :math:`V_\alpha=\sum_t a_t'(W^C_{t-1})^{-\alpha}a_t` with
:math:`W^C=\lambda I+\sum x_t a_t a_t'` over the observed rounds. Its continuous counterpart is
:math:`J=\int a'W(t)^{-1}a\,dt` with :math:`W(t)=\lambda I+\int p(a)\,aa'`; :math:`J^\star` is its
largest value over all paths in the unit ball. All of this assumes that whether a reward is observed
does not depend on the reward.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput, counted_entries
from halfseen.theory import inputs
from halfseen.theory.arms.power_sums import power_integral

SERIES_BELOW = 1e-6


class Bracket(NamedTuple):
    """A lower and an upper bound on the same number."""

    lower: float
    upper: float


def elliptical_potential(
    dimension: int, horizon: float, alpha: float, regularization: float
) -> float:
    r"""Return the uncensored bound on the potential, for any order.

    .. math:: \sum_t\|a_t\|^2_{W_{t-1}^{-\alpha}}\ \le\ \Big(1+\frac1\lambda\Big)^{\alpha}
              d\int_\lambda^{\lambda+T/d}u^{-\alpha}\,du

    which is :math:`(1+1/\lambda)\,d\log(1+T/(d\lambda))` at alpha = 1 and
    :math:`(1+1/\lambda)^\alpha[d^\alpha(d\lambda+T)^{1-\alpha}-d\lambda^{1-\alpha}]/(1-\alpha)`
    otherwise.

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    horizon
        Number of rounds T.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    The paper states alpha = 1 without the factor d and, above 1, the limit of a long horizon,
    :math:`d\lambda^{1-\alpha}/(\alpha-1)`, which is larger. Its proof needs alpha at most 1, but
    :math:`a'W^{-\alpha}a\le(1+1/\lambda)^\alpha a'(W+aa')^{-\alpha}a` holds for all alpha: by the
    trapezoid rule where :math:`x^{\alpha-1}` is convex, by an integral over resolvents of W for
    alpha in ]1, 2[.

    References
    ----------
    Guinet, Amin, Jaillet (2022), remarks 1 and 5.

    Examples
    --------
    >>> round(elliptical_potential(3, 1000, alpha=1.0, regularization=1.0), 6)
    34.872831
    """
    d, time, lam = _world(dimension, horizon, regularization)
    order = inputs.order(alpha)
    area = float(power_integral(np.array(lam), np.array(time / d), order))
    return float((1.0 + 1.0 / lam) ** order * d * area)


def potential_control_factor(regularization: float) -> float:
    r"""Return the largest ratio of the expected to the continuous potential.

    .. math:: \mathbb E\,V_1\le\kappa\,J^\star,\qquad \kappa=\frac{1}{\lambda\log(1+1/\lambda)}

    for every policy, adaptive or not.

    Parameters
    ----------
    regularization
        The paper's lambda.

    Returns
    -------
    float
        kappa, above 1 and below 1 + 1/lambda; near 1 when lambda is large.

    References
    ----------
    Replaces Guinet, Amin, Jaillet (2022), proposition 4.3.

    Examples
    --------
    >>> round(potential_control_factor(1.0), 9)
    1.442695041
    """
    lam = _regularization(regularization)
    logarithm = math.log1p(1.0 / lam) if lam > 1.0 else math.log1p(lam) - math.log(lam)
    return 1.0 / (lam * logarithm)


def continuous_potential_bracket(
    dimension: int,
    observe_min: float,
    horizon: float,
    regularization: float,
    *,
    observe_max: float = 1.0,
) -> Bracket:
    r"""Return a lower and an upper bound on the largest continuous potential.

    .. math:: \frac{d}{p_{\max}}\log\Big(1+\frac{p_{\max}T}{d\lambda}\Big)\ \le\ J^\star(T)\ \le\
              \frac{d}{p_{\min}}\log\Big(1+\frac{p_{\min}T}{d\lambda}\Big)

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed, over the actions that can be played.
    horizon, regularization
        Number of rounds T, and the paper's lambda.
    observe_max
        The largest probability of being observed, over the actions that can be played.

    Returns
    -------
    Bracket
        Both bounds; they are equal if all probabilities are.

    Notes
    -----
    The upper bound holds for any set of actions in the unit ball. The lower one is for the whole
    ball, or any set whose actions can explore all directions evenly at length 1. The paper's lemma
    has p_min and p_max exchanged inside the logarithms, which gives a wider bracket.

    References
    ----------
    Sharpens Guinet, Amin, Jaillet (2022), lemma 4.5.

    Examples
    --------
    >>> round(continuous_potential_bracket(4, 0.6, 1000, 1.0, observe_max=0.6).upper, 10)
    33.4485322454
    """
    d, time, lam = _world(dimension, horizon, regularization)
    low = checks.observation_probability("observe_min", observe_min)
    high = checks.observation_probability("observe_max", observe_max)
    if high < low:
        raise InvalidInput(
            "observe_max", f"must be at least observe_min, {low:g}", high, "Exchange the two."
        )
    return Bracket(_even(d, time, lam, high), _even(d, time, lam, low))


def expected_potential_bound(
    dimension: int, observe_min: float, horizon: float, regularization: float
) -> float:
    r"""Return an upper bound on the expected potential of order 1, for every policy.

    .. math:: \mathbb E\,V_1\ \le\ \kappa\,\frac{d}{p_{\min}}
              \log\Big(1+\frac{p_{\min}T}{d\lambda}\Big),\qquad
              \kappa=\frac{1}{\lambda\log(1+1/\lambda)}

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    observe_min
        The smallest probability of being observed, over the actions that can be played.
    horizon, regularization
        Number of rounds T, and the paper's lambda.

    Returns
    -------
    float
        The bound.

    References
    ----------
    Replaces Guinet, Amin, Jaillet (2022), proposition 4.3.

    Examples
    --------
    >>> round(expected_potential_bound(3, 0.5, 1000, 1.0), 6)
    44.336713
    """
    bracket = continuous_potential_bracket(dimension, observe_min, horizon, regularization)
    return potential_control_factor(regularization) * bracket.upper


def papers_censoring_factor(dimension: int, regularization: float, delta: float) -> float:
    r"""Return the paper's factor between the expected and the observed design.

    .. math:: P\big(\exists t:\ W^C_t\not\succeq W_t/c\big)\le\delta,\qquad
              c=8\max\Big(\frac{\log(d/\delta)}{\lambda},1\Big)

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    regularization
        The paper's lambda.
    delta
        The probability, in ]0, 1].

    Returns
    -------
    float
        The factor c; `censoring_factor` is always smaller.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma C.2.

    Examples
    --------
    >>> papers_censoring_factor(3, 10.0, delta=0.3)
    8.0
    """
    return 8.0 * max(_log_ratio(dimension, regularization, delta), 1.0)


def censoring_factor(dimension: int, regularization: float, delta: float) -> float:
    r"""Return the smallest proved factor between the expected and the observed design.

    .. math:: P\big(\exists t:\ W^C_t\not\succeq W_t/c\big)\le\delta,\qquad
              c=\frac{\vartheta}{1-e^{-\vartheta}},\quad
              \vartheta-1+e^{-\vartheta}=\frac{\log(d/\delta)}{\lambda}

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    regularization
        The paper's lambda.
    delta
        The probability, in ]0, 1].

    Returns
    -------
    float
        The factor c, at least 1.

    Notes
    -----
    With :math:`A^C_t` and :math:`A_t` the two designs without lambda,
    :math:`\operatorname{Tr}\exp(-\vartheta A^C_t+(1-e^{-\vartheta})A_t)` is a supermartingale that
    starts at d; at the theta given above the regularization compensates :math:`\log(d/\delta)`.

    References
    ----------
    Sharpens Guinet, Amin, Jaillet (2022), lemma C.2.

    Examples
    --------
    >>> round(censoring_factor(3, 1.0, delta=0.3), 6)
    3.39409
    """
    wanted = _log_ratio(dimension, regularization, delta)
    theta = _tilt(wanted)
    return theta / -math.expm1(-theta) if theta > 0.0 else 1.0


def expected_slope(
    actions: Any, observe: Any, *, dimension: int | None = None, ties: int = 1
) -> float:
    r"""Return the slope of the potential V_1 in log T that LinUCB shows in simulation.

    .. math:: \text{sphere or ball: }\frac{d+1}{2\,p(a^\star)};\qquad
              \text{fixed finite set: }\frac{m}{p(a^\star)};\qquad
              \text{i.i.d. contexts: }
              \operatorname{Tr}\big(\mathbb E[p(a)\,aa']^{-1}\,\mathbb E[aa']\big)

    Parameters
    ----------
    actions
        ``"sphere"``, ``"fixed"``, or for i.i.d. contexts a sample of the actions played, an array
        (n, d), or the matrix E[aa'] (d, d) where `observe` is a matrix too.
    observe
        Probability of being observed at the best action; of each row of the sample; or the matrix
        E[p aa'] (d, d).
    dimension
        Number d of coordinates of an action; needed on the sphere.
    ties
        Number m of linearly independent, equally good best actions of a fixed set, all observed
        with the same probability.

    Returns
    -------
    float
        The slope. It is an empirical law, not a bound: with contexts it is accurate to 1%, on a
        fixed set it is approached slowly.

    References
    ----------
    Not in the paper, whose effective dimension is a different number.

    Examples
    --------
    >>> expected_slope("sphere", 0.5, dimension=3), expected_slope("fixed", 0.25, ties=3)
    (4.0, 12.0)
    >>> expected_slope([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.25])
    6.0
    >>> expected_slope(np.eye(2) / 2, np.diag([0.25, 0.125]))
    6.0
    """
    if isinstance(actions, str):
        law = checks.one_of("actions", actions, ("sphere", "fixed"))
        p = checks.observation_probability("observe", observe)
        if law == "fixed":
            return checks.whole("ties", ties, at_least=1) / p
        return (checks.whole("dimension", dimension, at_least=1) + 1.0) / (2.0 * p)
    played, seen = _moments(actions, observe)
    rank = int(np.linalg.matrix_rank(seen, hermitian=True))
    if rank < len(seen):
        raise InvalidInput(
            "actions",
            f"must span all {len(seen)} directions",
            f"rank {rank}",
            "Give a larger sample, or drop coordinates that are always 0.",
        )
    return float(np.trace(np.linalg.solve(seen, played)))


def _moments(actions: Any, observe: Any) -> tuple[Vector, Vector]:
    first, second = (np.asarray(value, dtype=np.float64) for value in (actions, observe))
    finite = np.isfinite(first).all() and np.isfinite(second).all()
    if not finite or first.ndim != 2 or first.size == 0:
        raise InvalidInput(
            "actions", "must be a finite array (n, d)", actions, "Give one action per row."
        )
    if second.ndim == 2:
        if first.shape != second.shape or first.shape[0] != first.shape[1]:
            raise InvalidInput(
                "observe",
                "must be a matrix of the same shape (d, d) as E[aa']",
                second.shape,
                "Give both matrices, or a sample and one probability per row.",
            )
        return first, second
    p = inputs.observation(observe)
    if len(p) != len(first):
        raise InvalidInput(
            "observe",
            f"must have {len(first)} entries, one per action",
            counted_entries(len(p)),
            "Match the number of actions.",
        )
    return first.T @ first / len(first), (first.T * p) @ first / len(first)


def _world(dimension: Any, horizon: Any, regularization: Any) -> tuple[int, float, float]:
    d = checks.whole("dimension", dimension, at_least=1)
    return d, inputs.rounds(horizon), _regularization(regularization)


def _regularization(value: Any) -> float:
    return checks.number("regularization", value, above=0.0, fix="Use 1.0.")


def _delta(value: Any) -> float:
    return checks.number("delta", value, above=0.0, at_most=1.0, fix="Use for example 0.01.")


def _even(dimension: int, horizon: float, regularization: float, observe: float) -> float:
    return dimension / observe * math.log1p(observe * horizon / (dimension * regularization))


def _log_ratio(dimension: Any, regularization: Any, delta: Any) -> float:
    d = checks.whole("dimension", dimension, at_least=1)
    return (math.log(d) - math.log(_delta(delta))) / _regularization(regularization)


def _tilt(wanted: float) -> float:
    """Solve theta - 1 + exp(-theta) = wanted for theta >= 0 by Newton's method, from above."""
    if wanted < SERIES_BELOW:
        return math.sqrt(2.0 * wanted) + wanted / 3.0
    theta = wanted + min(1.0, math.sqrt(2.0 * wanted))
    for _ in range(100):
        step = (theta + math.expm1(-theta) - wanted) / -math.expm1(-theta)
        theta -= step
        if abs(step) <= 1e-15 * theta:
            break
    return theta
