r"""Sums of norms and of traces over growing designs of any rank.

A footnote of the paper leaves two questions open: whether Cauchy-Schwarz is loose for
:math:`\sum_t\|a_t\|_{W^{-\alpha}}` when alpha is above 1, and whether increments need rank 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.theory import inputs
from halfseen.theory.arms.power_sums import power_integral

ROUNDING = 1e-15  # relative rounding error of one step of a sum


class TracePotential(NamedTuple):
    """A potential of matrix increments and its upper bound.

    Attributes
    ----------
    value
        The sum of Tr(W^-alpha H).
    bound
        The factor times Tr(psi(W_T) - psi(W_0)), rounded up.
    """

    value: float
    bound: float


class NormSum(NamedTuple):
    """A sum of norms close to its upper bound.

    Attributes
    ----------
    value
        The sum attained by the constructed actions.
    bound
        The bound by Cauchy-Schwarz in continuous time.
    """

    value: float
    bound: float


def trace_potential_factor(
    alpha: float,
    regularization: float,
    *,
    largest: float = 1.0,
) -> float:
    r"""Return the factor between a sum over increments and the integral it approximates.

    .. math:: \sum_t\operatorname{Tr}(W_{t-1}^{-\alpha}H_t)\le
              \frac X{1-e^{-X}}\operatorname{Tr}\big(\psi_\alpha(W_T)-\psi_\alpha(W_0)\big),\qquad
              X=\frac{\alpha h}\lambda,

    for :math:`W_t=W_{t-1}+H_t`, :math:`W_0=\lambda I` and :math:`0\preceq H_t\preceq hI` of any
    rank. If a smaller factor is proved, that one is returned: :math:`(1+h/\lambda)^\alpha` for
    alpha at most 1, and the sharp :math:`(h/\lambda)/\log(1+h/\lambda)` at alpha = 1.

    Parameters
    ----------
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda.
    largest
        h, the largest eigenvalue of an increment; 1 for actions of length at most 1.

    Returns
    -------
    float
        The factor, at least 1.

    Notes
    -----
    The paper has :math:`(1+1/\lambda)^\alpha` for increments of rank 1 and alpha at most 1; above 1
    its proof fails, but this factor, which is smaller, implies the paper's bound.

    References
    ----------
    Settles Guinet, Amin, Jaillet (2022), footnote to proposition 4.3.

    Examples
    --------
    >>> round(trace_potential_factor(2.0, 1.0), 9), round(trace_potential_factor(1.0, 1.0), 9)
    (2.313035285, 1.442695041)
    """
    order = inputs.order(alpha)
    lam = checks.number("regularization", regularization, above=0.0)
    top = checks.number("largest", largest, above=0.0)
    step = top / lam
    if order * step == 0.0:
        return 1.0
    if order == 1.0:
        factor = step / math.log1p(step) if step < math.inf else math.inf
    else:
        factor = order * step / -math.expm1(-order * step)
    if order < 1.0:
        logs = math.log1p(step) if step < math.inf else math.log(top) - math.log(lam)
        factor = min(factor, math.exp(order * logs) if order * logs < 709.0 else math.inf)
    if factor == math.inf:
        raise InvalidInput(
            "regularization",
            f"is so small compared with largest ({top:g}) that the factor exceeds 1.8e308",
            lam,
            "Use a larger one, or measure increments in larger units.",
        )
    return factor


def trace_potential(increments: Any, alpha: float, regularization: float) -> TracePotential:
    r"""Return :math:`\sum_t\operatorname{Tr}(W_{t-1}^{-\alpha}H_t)` and its upper bound.

    Parameters
    ----------
    increments
        An array (T, d, d) of symmetric positive semidefinite matrices.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda.

    Returns
    -------
    TracePotential
        The sum and the bound of `trace_potential_factor`.

    References
    ----------
    Settles Guinet, Amin, Jaillet (2022), footnote to proposition 4.3.

    Examples
    --------
    >>> found = trace_potential([np.eye(2), np.diag([1.0, 0.0])], 2.0, 1.0)
    >>> found.value, round(found.bound, 6)
    (2.25, 2.698541)
    """
    order = inputs.order(alpha)
    lam = checks.number("regularization", regularization, above=0.0)
    steps = np.asarray(increments, dtype=np.float64)
    if steps.ndim != 3 or steps.shape[1] != steps.shape[2] or not np.isfinite(steps).all():
        raise InvalidInput(
            "increments", "must be an array (T, d, d)", f"shape {steps.shape}", "Stack matrices."
        )
    sizes = np.linalg.eigvalsh(steps)
    if not np.allclose(steps, steps.transpose(0, 2, 1)) or sizes.min(initial=0.0) < -1e-9:
        raise InvalidInput(
            "increments",
            "must be symmetric and positive semidefinite",
            float(sizes.min()),
            "Correct the matrices.",
        )
    design, value = lam * np.eye(steps.shape[1]), 0.0
    for step in steps:
        roots, axes = np.linalg.eigh(design)
        value += float(roots**-order @ np.einsum("ik,ij,jk->k", axes, step, axes))
        design = design + step
    grown = np.linalg.eigvalsh(steps.sum(axis=0))
    area = power_integral(np.full(len(grown), lam), np.maximum(grown, 0.0), order)
    largest = float(sizes.max(initial=0.0))
    factor = trace_potential_factor(order, lam, largest=largest) if largest > 0.0 else 1.0
    outwards = 1.0 + ROUNDING * (len(steps) + len(grown))
    return TracePotential(value, outwards * factor * float(area.sum()))


def tight_norm_sum(
    dimension: int,
    horizon: int,
    alpha: float,
    *,
    regularization: float = 1.0,
) -> NormSum:
    r"""Return a sum of norms in the unit ball that attains its bound, for alpha above 1.

    .. math:: \sum_t\|a_t\|_{W_{t-1}^{-\alpha}}\approx
              \sqrt{\frac{T\,d\,\lambda^{1-\alpha}}{\alpha-1}}

    The actions are :math:`\sqrt\varepsilon\,e_i` in turn with :math:`\varepsilon=\rho\mu^\alpha`,
    where mu is the eigenvalue along :math:`e_i`, so that every norm is :math:`\sqrt\rho`.

    Parameters
    ----------
    dimension
        Number d of coordinates.
    horizon
        Number of rounds T, at least d.
    alpha
        Order of the norm, above 1.
    regularization
        The paper's lambda.

    Returns
    -------
    NormSum
        The sum and the bound; their ratio tends to 1 like :math:`1-O(T^{-(\alpha-1)/\alpha})`.

    References
    ----------
    Settles Guinet, Amin, Jaillet (2022), footnote to proposition 4.3.

    Examples
    --------
    >>> found = tight_norm_sum(3, 10**6, 2.0)
    >>> round(found.value / found.bound, 3)
    0.999
    """
    d = checks.whole("dimension", dimension, at_least=1)
    time = checks.whole("horizon", horizon, at_least=d)
    order = checks.number("alpha", alpha, above=1.0, at_most=64.0, fix="Use 2.")
    lam = checks.number("regularization", regularization, above=0.0)
    plays = -(-time // d)
    whole = lam ** (1.0 - order) / (order - 1.0)

    def room(rate: float) -> float:
        """Return the part of lambda^(1-alpha)/(alpha-1) left when an action reaches length 1."""
        return whole - rate * plays - rate ** ((order - 1.0) / order) / (order - 1.0)

    low, high = 0.0, min(whole / plays, lam**-order)
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if room(middle) >= 0.0 else (low, middle)
    return NormSum(time * math.sqrt(low), math.sqrt(time * d * whole))


def sphere_norm_sum(
    horizon: int,
    alpha: float,
    *,
    regularization: float = 1.0,
    spread: float = 4.0,
) -> NormSum:
    r"""Return a sum of norms of order sqrt(T) over actions of length 1, for any alpha.

    .. math:: a_t=\big(\sqrt{1-\varepsilon},\pm\sqrt\varepsilon\big),\quad\varepsilon=\frac cT,
              \qquad\sum_t\|a_t\|_{W_{t-1}^{-\alpha}}\approx
              \sqrt{\frac Tc}\int_0^c(\lambda+v)^{-\alpha/2}\,dv

    Parameters
    ----------
    horizon
        Number of rounds T, above the spread and at most a million.
    alpha
        Order of the norm, above 0.
    regularization
        The paper's lambda.
    spread
        c, the sum of squares of the second coordinate.

    Returns
    -------
    NormSum
        The sum, and its limit in place of the bound.

    References
    ----------
    Settles Guinet, Amin, Jaillet (2022), footnote to proposition 4.3.

    Examples
    --------
    >>> found = sphere_norm_sum(1000, 2.0)
    >>> round(found.value / 1000**0.5, 8)
    0.90987697
    """
    time = checks.whole("horizon", horizon, at_least=2, at_most=10**6)
    order, lam = inputs.order(alpha), checks.number("regularization", regularization, above=0.0)
    total = checks.number("spread", spread, above=0.0, below=float(time))
    small = total / time
    rounds = np.arange(float(time))
    odd = rounds % 2.0
    design = np.empty((time, 2, 2))
    design[:, 0, 0] = lam + rounds * (1.0 - small)
    design[:, 1, 1] = lam + rounds * small
    design[:, 0, 1] = design[:, 1, 0] = odd * math.sqrt(small * (1.0 - small))
    action = np.stack([np.full(time, math.sqrt(1.0 - small)), _signs(odd) * math.sqrt(small)], 1)
    roots, axes = np.linalg.eigh(design)
    squares = np.einsum("ti,tik->tk", action, axes) ** 2
    value = float(np.sqrt((squares * roots**-order).sum(axis=1)).sum())
    limit = float(power_integral(np.array([lam]), np.array([total]), 0.5 * order)[0])
    return NormSum(value, math.sqrt(time / total) * limit)


def _signs(odd: Vector) -> Vector:
    """Return the sign of the second coordinate, which alternates and starts with plus."""
    return 1.0 - 2.0 * odd
