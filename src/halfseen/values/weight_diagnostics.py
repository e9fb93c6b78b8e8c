"""Diagnostics of importance weights: whether a log can evaluate a policy."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.values.influence import Sample

HEAVY = 0.7  # Pareto k above which means of weights cannot be relied upon
FEW = 30.0  # effective decisions below which a normal interval cannot be relied upon
FAR = 4.0  # standard errors between mean(c) and 1 beyond which propensities are taken to be wrong
SHARE = 0.1  # of the whole weight on one decision
THIN = (
    1.0 / 3.0
)  # share of decisions in cells of one reward or none, from which intervals are short
SKEW = 0.07  # squared skewness over number of decisions, above which normal intervals are short


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of the importance weights of an evaluation.

    Attributes
    ----------
    mean_weight, z
        The mean of c = W O, which should be 1, and its distance from 1 in standard errors.
    effective_rows
        (sum c)² / sum c²: as many decisions of the policy itself would say as much.
    effective_rows_actions
        The same for the weights of actions alone, as if no reward were missing.
    largest_share
        Share of the sum of weights that one decision has.
    smallest_propensity
        The smallest logging propensity where the policy may play.
    pareto_k
        Shape of the weights' tail; None where too few weights differ to fit it.
    skew
        Squared skewness of the decisions' values over their number, the larger of that of the value
        and of the difference; None where rewards have two values, whose intervals allow for it.
    thin
        Share of the policy's decisions in contexts where at most one reward of its arm was seen, if
        the estimator needs means of arms in contexts.
    """

    mean_weight: float
    z: float
    effective_rows: float
    effective_rows_actions: float
    largest_share: float
    smallest_propensity: float
    pareto_k: float | None
    skew: float | None = None
    thin: float = 0.0

    @property
    def troubles(self) -> tuple[str, ...]:
        """What is wrong with the weights and rewards, in sentences; empty if nothing is."""
        said = []
        if self.pareto_k is not None and self.pareto_k > HEAVY:
            said.append(
                f"The weights have a heavy tail (Pareto k {self.pareto_k:.2f}, above {HEAVY}):"
                " the interval is too short, and more rows may change the estimate much."
            )
        if self.effective_rows < FEW:
            said.append(
                f"The estimate rests on {self.effective_rows:,.3g} effective decisions (fewer than"
                f" {FEW:.0f}): the policy rarely plays what was logged and seen."
            )
        if self.largest_share > SHARE:
            said.append(f"One decision has {100 * self.largest_share:.3g}% of the whole weight.")
        if abs(self.z) > FAR:
            said.append(
                f"The weights have mean {self.mean_weight:.3g} instead of 1, {abs(self.z):.3g}"
                " standard errors away: propensities or probabilities of being seen are wrong."
            )
        if self.thin > THIN:
            said.append(
                f"{100 * self.thin:.3g}% of the policy's decisions are where at most one reward of"
                " the arm was seen in the context: the interval may be too short."
            )
        if self.skew is not None and self.skew > SKEW:
            said.append(
                "A few rewards dominate the estimate (squared skewness over number of decisions"
                f" {self.skew:.2f}, above {SKEW}): the interval may be too short."
            )
        return tuple(said)

    @property
    def verdict(self) -> str:
        """Whether the log can evaluate the policy, in a sentence."""
        if self.troubles:
            return "This log is a poor judge of the policy: " + _lower(self.troubles[0])
        return (
            f"The log can evaluate the policy: the effective sample size is"
            f" {self.effective_rows:,.0f}, and no decision has over {self.largest_share:.2%} of the"
            " weight."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self) | {"verdict": self.verdict, "troubles": list(self.troubles)}


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def diagnose(
    sample: Sample, weight: Vector, action_weight: Vector, propensity: Vector
) -> Diagnostics:
    """Return the diagnostics of a policy's weights.

    Parameters
    ----------
    sample
        The decisions.
    weight
        W = w/p of each group.
    action_weight
        w.
    propensity
        Logging propensities of the logged arms.
    """
    c = np.where(sample.seen, weight, 0.0)
    n, total = sample.size, float(sample.count @ c)
    mean = total / n
    spread = float(sample.count @ (c - mean) ** 2) / max(n - 1.0, 1.0)
    error = math.sqrt(spread / n)
    played = action_weight > 0.0
    return Diagnostics(
        mean_weight=mean,
        z=(mean - 1.0) / error if error > 1e-12 * max(mean, 1.0) else 0.0,
        effective_rows=effective(sample.count, c),
        effective_rows_actions=effective(sample.count, action_weight),
        largest_share=float(c.max()) / total if total > 0.0 else math.nan,
        smallest_propensity=float(propensity[played].min()) if played.any() else math.nan,
        pareto_k=pareto_k(sample.count, c),
    )


def effective(count: Vector, weight: Vector) -> float:
    """Return the effective number of weighted decisions.

    >>> effective(np.ones(3), np.array([1.0, 1.0, 0.0]))
    2.0
    """
    largest = float(weight.max(initial=0.0))
    if not largest > 0.0:
        return 0.0
    share = weight / largest  # squares of large weights are no numbers
    return float(count @ share) ** 2 / float(count @ share**2)


def pareto_k(count: Vector, weight: Vector) -> float | None:
    """Return the shape of a generalized Pareto law fitted to the largest weights.

    Parameters
    ----------
    count
        Decisions in each group.
    weight
        The weight of each of them.

    Returns
    -------
    float or None
        None if fewer than five weights, or fewer than five distinct ones, are in the tail.

    Notes
    -----
    The method of Zhang and Stephens (2009) on the M = min(n/5, 3 sqrt(n)) largest, drawn towards
    1/2 as (k M + 5)/(M + 10), as in Pareto-smoothed importance sampling.
    """
    n = int(count.sum())
    most = math.ceil(min(n / 5.0, 3.0 * math.sqrt(n)))
    if most < 5 or most >= n:
        return None
    order = np.argsort(-weight, kind="stable")
    ends = np.cumsum(count[order])
    needed = int(np.searchsorted(ends, most + 1)) + 1
    top = np.repeat(weight[order[:needed]], count[order[:needed]].astype(np.int64))[: most + 1]
    excess = np.sort(top[:most] - top[most])
    excess = excess[excess > 0.0]
    if len(np.unique(excess)) < 5:
        return None
    m = len(excess)
    quartile, largest = excess[int(m / 4.0 + 0.5) - 1], excess[-1]
    points = 30 + int(math.sqrt(m))
    scale = 1.0 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    theta = scale / (3.0 * quartile) + 1.0 / largest
    k = np.log1p(-theta[:, None] * excess).mean(axis=1)
    rate = np.full(points, 1.0 / excess.mean())  # the limit of -theta/k where theta is 0
    np.divide(-theta, k, out=rate, where=k != 0.0)
    likelihood = m * (np.log(rate) - k - 1.0)
    weights = np.exp(likelihood - likelihood.max())
    best = float(weights @ theta / weights.sum())
    shape = float(np.log1p(-best * excess).mean())
    return (shape * m + 5.0) / (m + 10.0)
