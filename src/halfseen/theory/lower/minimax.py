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

    For Bernoulli rewards, with :math:`D=\sum_a1/p_a`, it is the maximum over
    :math:`0<g<\frac14` of

    .. math:: \frac{Tg}8\exp\Bigl(\frac T{2(D-1/p_{\max})}\log(1-16g^2)\Bigr).

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
    """
    p, time = inputs.observation(observe), inputs.rounds(horizon)
    if len(p) < 2:
        raise InvalidInput("observe", "must have at least 2 entries", observe, "Add an arm.")
    if checks.one_of("reward", reward, ("gaussian", "bernoulli")) == "bernoulli":
        return _bernoulli(float((1.0 / p).sum() - 1.0 / p.max()), time)
    scale = inputs.per_arm("noise", noise, len(p))
    unit = float(scale.max()) or 1.0
    variances = np.sort((scale / unit) ** 2 / p)
    total = float(variances.sum())
    rest = total - float(variances[0])
    found = {
        "one arm raised": (
            math.exp(-0.5) / 16.0 * math.sqrt(time) * math.sqrt(rest),
            math.sqrt(rest / time) if time > 0.0 else 0.0,
        ),
        "all arms alike": _alike(total, float(variances[-1]), time),
        "arms capped": _capped(variances, time),
    }
    value, largest = max(found.values())
    terms = {name: unit * term for name, (term, _) in found.items()}
    return MinimaxLowerBound(unit * value, terms, unit * largest)


def _capped(variances: Vector, time: float) -> tuple[float, float]:
    """Return the largest bound with all means but one equal to 0, over all caps on the variances.

    With k variances above the cap c and a sum of a below it, the bound is proportional to
    (a + (k-1) c)^2 (a + k c)^(-3/2). As c grows this falls, rises, or falls and then rises, so that
    one of the variances is the best cap.
    """
    above = np.arange(len(variances))[::-1]
    totals = np.cumsum(variances) + above * variances
    shares = np.divide(variances, totals, out=np.ones(len(totals)), where=totals > 0.0)
    best = int(np.argmax((1.0 - shares) ** 2 * np.sqrt(totals)))
    return _alike(float(totals[best]), float(variances[best]), time)


def _alike(total: float, most: float, time: float) -> tuple[float, float]:
    """Return the bound of the proof with all means but one equal to 0, and that mean."""
    if not total > 0.0 or not time > 0.0:
        return 0.0, 0.0
    others = 1.0 - most / total
    root = math.sqrt(time) * math.sqrt(total)
    return 0.5 * others**2 * root, others * math.sqrt(total / time)


def _bernoulli(rest: float, time: float) -> MinimaxLowerBound:
    """Maximise log g + c log(1 - 16 g^2), whose derivative is 0 at 16 g^2 (1 + 2 c) = 1."""
    ratio = time / rest  # 2 c
    gap = 0.25 / math.sqrt(1.0 + ratio)
    loss = 0.5 * ratio * (math.log1p(ratio) - math.log(ratio)) if ratio > 0.0 else 0.0
    value = time * gap / 8.0 * math.exp(-loss)
    return MinimaxLowerBound(value, {"one arm raised": value}, 2.0 * gap)
