"""Lower bounds on the minimax regret over all problems with given observation probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.errors import InvalidInput
from halfseen.tables import show
from halfseen.theory import inputs

TERMS = ("one arm raised", "all arms alike", "arms capped")
STEPS = 60


@dataclass(frozen=True, repr=False)
class MinimaxLowerBound(Shown):
    """A regret that every policy exceeds on some problem.

    Attributes
    ----------
    value
        The largest of the terms.
    terms
        The bound of each proof, by name.
    largest_mean
        The largest mean in the problem that proves the largest term; other means are 0 or half of
        it. With Bernoulli rewards means are relative to 1/2.
    """

    value: float
    terms: Mapping[str, float]
    largest_mean: float

    def _headline(self) -> str:
        return f"every policy loses at least {show(self.value)} on some problem with the same p"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        terms = dict(self.terms)
        return {"value": self.value, "terms": terms, "largest_mean": self.largest_mean}


def minimax_lower_bound(
    observe: Sequence[float] | Vector,
    horizon: float,
    *,
    noise: float | Sequence[float] | Vector = 1.0,
    reward: str = "gaussian",
) -> MinimaxLowerBound:
    r"""Return a regret that every policy exceeds on some problem observed with these p.

    With :math:`v_a=\sigma_a^2/p_a` and :math:`D=\sum_av_a`, for every policy, p known or not, there
    are means for which

    .. math:: R_T\ge\max\Bigl(\frac{e^{-1/2}}{16}\sqrt{T(D-\min_av_a)},\
              \frac12\bigl(1-\frac{\max_av_a}D\bigr)^2\sqrt{TD}\Bigr).

    The second also holds with any smaller :math:`v`, and is largest with :math:`\min(v_a,c)` for
    one of the :math:`v_a` as :math:`c`. This is a third term, with which the bound never decreases
    when an arm is observed less often.

    For Bernoulli rewards, with :math:`v_a=1/p_a`, the first is the maximum over
    :math:`0<g<\frac14` and the second that over :math:`0<g<\frac12` of

    .. math:: \frac{Tg}8\exp\Bigl(\frac T{2(D-\min v)}\log(1-16g^2)\Bigr)\quad\text{and}\quad
              gT\Bigl(1-\frac{\max v}D-\frac12\sqrt{\tfrac TD\log\tfrac1{1-4g^2}}\Bigr).

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed, of at least two arms.
    horizon
        Number of rounds T.
    noise
        Standard deviation of Gaussian rewards, one number or one per arm.
    reward
        ``"gaussian"`` or ``"bernoulli"``.

    Returns
    -------
    MinimaxLowerBound
        The bound, the terms it is the maximum of, and the largest mean in its proof.

    Notes
    -----
    Less feedback can only make a problem harder: a policy with more feedback can discard it. The
    second proof uses only the information per play, :math:`g^2/(2v_a)`, which is less than with a
    smaller :math:`v_a`.

    Since :math:`D-\min v\ge D/2`, the order is :math:`\sqrt{DT}`, that of the upper bounds: the
    effective dimension determines the worst-case regret of a censored problem. On a given problem
    the regret may be smaller.

    References
    ----------
    Lattimore, Szepesvari (2020), chapters 14 and 15, with each arm's information multiplied by
    the probability that it is observed.

    Examples
    --------
    >>> round(minimax_lower_bound([0.9, 0.1, 0.5, 0.3, 0.05], 10_000).value, 6)
    100.691099
    >>> seen = [0.9, 0.1, 0.5, 0.3, 0.05]
    >>> round(minimax_lower_bound(seen, 10_000, reward="bernoulli").value, 6)
    50.336375
    """
    p, time = inputs.observation(observe), inputs.rounds(horizon)
    if len(p) < 2:
        raise InvalidInput("observe", "must have at least 2 entries", observe, "Add an arm.")
    if checks.one_of("reward", reward, ("gaussian", "bernoulli")) == "bernoulli":
        return _bernoulli(np.sort(1.0 / p), time)
    scale = inputs.per_arm("noise", noise, len(p))
    unit = float(scale.max()) or 1.0
    variances = np.sort((scale / unit) ** 2 / p)
    total = float(variances.sum())
    rest = total - float(variances[0])
    found = [
        (
            math.exp(-0.5) / 16.0 * math.sqrt(time) * math.sqrt(rest),
            math.sqrt(rest / time) if time > 0.0 else 0.0,
        ),
        _alike(total, float(variances[-1]), time),
        _capped(variances, time),
    ]
    value, largest = max(found)
    terms = {name: unit * term for name, (term, _) in zip(TERMS, found, strict=True)}
    return MinimaxLowerBound(unit * value, terms, unit * largest)


def _caps(variances: Vector) -> tuple[Vector, Vector]:
    """Return the sum of sorted variances capped at each of them, and the cap's share of it."""
    above = np.arange(len(variances))[::-1]
    totals = np.cumsum(variances) + above * variances
    return totals, np.divide(variances, totals, out=np.ones(len(totals)), where=totals > 0.0)


def _capped(variances: Vector, time: float) -> tuple[float, float]:
    """Return the largest bound with all means but one equal to 0, over all caps on the variances.

    With k variances above the cap c and a sum of a below it, the bound is proportional to
    (a + (k-1) c)^2 (a + k c)^(-3/2). As c grows this falls, rises, or falls and then rises, so that
    one of the variances is the best cap.
    """
    totals, shares = _caps(variances)
    best = int(np.argmax((1.0 - shares) ** 2 * np.sqrt(totals)))
    return _alike(float(totals[best]), float(variances[best]), time)


def _alike(total: float, most: float, time: float) -> tuple[float, float]:
    """Return the bound of the proof with all means but one equal to 0, and that mean."""
    if not total > 0.0 or not time > 0.0:
        return 0.0, 0.0
    others = 1.0 - most / total
    root = math.sqrt(time) * math.sqrt(total)
    return 0.5 * others**2 * root, others * math.sqrt(total / time)


def _bernoulli(variances: Vector, time: float) -> MinimaxLowerBound:
    """Return the bound from the three proofs for means of 1/2 and above."""
    if not time > 0.0:
        return MinimaxLowerBound(0.0, dict.fromkeys(TERMS, 0.0), 0.0)
    totals, shares = _caps(variances)
    values, gaps = _bernoulli_alike(totals, 1.0 - shares, time)
    best = int(np.argmax(values))
    found = [
        _bernoulli_raised(float(variances[1:].sum()), time),
        (float(values[-1]), float(gaps[-1])),
        (float(values[best]), float(gaps[best])),
    ]
    terms = {name: term for name, (term, _) in zip(TERMS, found, strict=True)}
    return MinimaxLowerBound(max(found)[0], terms, max(found)[1])


def _bernoulli_raised(rest: float, time: float) -> tuple[float, float]:
    """Maximise log g + c log(1 - 16 g^2), whose derivative is 0 at 16 g^2 (1 + 2 c) = 1."""
    ratio = time / rest  # 2 c
    gap = 0.25 / math.sqrt(1.0 + ratio)
    log = math.log1p(1.0 / ratio) if ratio > 1.0 else math.log1p(ratio) - math.log(ratio)
    loss = 0.5 * ratio * log
    return time * gap / 8.0 * math.exp(-loss), 2.0 * gap


def _bernoulli_alike(totals: Vector, others: Vector, time: float) -> tuple[Vector, Vector]:
    """Maximise g (w - c u) with 4 g^2 = 1 - exp(-4 u^2), and return the bounds and the g.

    The derivative in u is 0 where c (exp(4 u^2) - 1) = 4 u (w - c u): a convex function of u less
    a concave one, to whose root Newton's method falls from either of two larger values.
    """
    shrink = np.sqrt(time) / np.sqrt(totals)
    ratio = others / shrink
    u = np.minimum(ratio / 2.0, np.sqrt(np.log1p(2.0 * ratio * ratio)) / 2.0)
    for _ in range(STEPS):
        grown = np.expm1(4.0 * u * u)
        slope = 8.0 * u * (grown + 2.0) - 4.0 * ratio
        step = np.divide(grown - 4.0 * u * (ratio - u), slope, out=np.zeros_like(u), where=u > 0.0)
        u = u - step
        if np.all(np.abs(step) <= 1e-9 * u):
            break
    gaps = np.sqrt(-np.expm1(-4.0 * u * u)) / 2.0
    return time * gaps * (others - shrink * u), gaps
