"""Anytime-valid evidence that one arm is better than another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.theory.anytime.beta_mixture import log_mixture
from halfseen.theory.anytime.gamma_mixture import least_product
from halfseen.theory.anytime.samples import Samples, samples
from halfseen.theory.lower.least_divergence import bernoulli

PLACES = {  # entries of the samples, and the arguments of `evidence` they were read from
    "observed[0]": "a[0]",
    "observed[1]": "b[0]",
    "total[0]": "a[1]",
    "total[1]": "b[1]",
}


def evidence(
    a: Sequence[float],
    b: Sequence[float],
    *,
    noise: float | Sequence[float] = 1.0,
    rho: float = 10.0,
    reward: str = "gaussian",
) -> float:
    r"""Return the evidence that arm a has a larger mean than arm b, as the log of an e-value.

    With :math:`V=\sigma^2(N+\rho)/N^2` of each arm,

    .. math:: E_{ab}=\frac{(m_a-m_b)^2}{2(V_a+V_b)}
              -\tfrac12\log\Bigl(\bigl(1+\tfrac{N_a}\rho\bigr)\bigl(1+\tfrac{N_b}\rho\bigr)\Bigr),

    and minus infinity unless :math:`m_a>m_b`. If :math:`\mu_a\le\mu_b`, the probability that
    :math:`E_{ab}` ever reaches :math:`\log(1/\alpha)` is at most :math:`\alpha`, however often it
    is computed. For rewards of 0 or 1, with S successes and F failures of both arms together and
    :math:`m=S/(S+F)`,

    .. math:: E_{ab}=\sum_{c\in\{a,b\}}\log\frac{B(S_c+\frac12,F_c+\frac12)}{B(\frac12,\frac12)}
              -S\log m-F\log(1-m).

    For Poisson and exponential rewards, with the numbers N and x of `confidence_sequence`,

    .. math:: E_{ab}=\min_\mu\sum_{c\in\{a,b\}}\Bigl(\log\frac{\rho^\rho\,\Gamma(\rho+N_c)}
              {\Gamma(\rho)\,(\rho+x_c)^{\rho+N_c}}+x_c\Bigr),

    where the best common mean solves a quadratic equation.

    Parameters
    ----------
    a, b
        Number of observed rewards and their sum, of each of the two arms.
    noise
        Sub-Gaussian scale of the rewards, one number or one per arm; only Gaussian rewards need it.
    rho
        Number of pseudo-observations of the mixture prior, of pseudo-events for Poisson rewards:
        smaller values favour small samples. Choose it before looking at the data. It is not used
        for Bernoulli rewards.
    reward
        ``"gaussian"`` (any sub-Gaussian law), ``"bernoulli"`` (any law between 0 and 1),
        ``"poisson"`` or ``"exponential"``.

    Returns
    -------
    float
        The evidence, in nats.

    Notes
    -----
    It is the log of the product of the two arms' mixture likelihood ratios, minimized over all
    means with :math:`\mu_a\le\mu_b`. The product is therefore at most a supermartingale, whatever
    the two means are.

    References
    ----------
    Robbins (1970); Ramdas, Grünwald, Vovk, Shafer (2023), on e-values.

    Examples
    --------
    >>> round(evidence((100, 50.0), (400, 80.0)), 6)
    0.262239
    >>> round(evidence((100, 60), (400, 120), reward="bernoulli"), 6)
    9.309036
    >>> round(evidence((100, 200), (400, 600), reward="poisson"), 6)
    2.035967
    >>> round(evidence((100, 100.0), (400, 200.0), reward="exponential"), 6)
    17.565515
    """
    pairs = [_pair(name, pair) for name, pair in (("a", a), ("b", b))]
    observed, total = zip(*pairs, strict=True)
    try:
        seen = samples(observed, total, noise, rho, reward)
    except InvalidInput as error:
        field = PLACES.get(error.field, error.field)
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None
    return float(evidence_against(seen, 0, np.array([1]))[0])


def _pair(field: str, value: Sequence[float]) -> tuple[float, ...]:
    fix = "Give the number of observed rewards and their sum."
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str | bytes):
        raise InvalidInput(field, "must be two numbers", value, fix)
    pair = checks.vector(field, value, fix=fix)
    if len(pair) != 2:
        raise InvalidInput(field, "must be two numbers", value, fix)
    return pair


def evidence_against(seen: Samples, arm: int, rivals: Any) -> Vector:
    """Return the evidence that an arm has a larger mean than each of its rivals."""
    first, second = seen.of([arm]), seen.of(rivals)
    if seen.family == "bernoulli":
        value = _bernoulli(first, second)
    elif seen.family != "gaussian":
        value = least_product(first, second)
    else:
        value = _normal(first, second)
    return np.where(first.means > second.means, value, -math.inf)


def _normal(first: Samples, second: Samples) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        errors = [s.noise * np.sqrt(s.observed + s.rho) / s.observed for s in (first, second)]
        distance = ((first.means - second.means) / np.hypot(*errors)) ** 2 / 2.0
    penalty = np.log1p(first.observed / first.rho) + np.log1p(second.observed / second.rho)
    return distance - penalty / 2.0


def _bernoulli(first: Samples, second: Samples) -> Vector:
    mixtures = sum(log_mixture(s.total, s.observed - s.total) for s in (first, second))
    n, m = first.observed, second.observed
    gap = first.means - second.means
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = n * bernoulli(first.means, -gap * (m / (n + m)), 1.0)
        return mixtures + pooled + m * bernoulli(second.means, gap * (n / (n + m)), 1.0)
