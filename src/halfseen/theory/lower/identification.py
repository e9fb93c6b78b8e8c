"""The number of rounds needed to identify the best arm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.problems import ArmedBandit
from halfseen.theory.lower.arm_class import ArmClass, arm_class
from halfseen.theory.lower.least_divergence import bend, gaussian

ONE_PARAMETER = ("gaussian", "bernoulli", "poisson", "exponential")
SMALLEST_LOG = -740.0  # whose exponential is above 0
LARGEST_LOG_RATIO = 700.0  # log ratio of observations of a rival to those of the best arm
FURTHEST = 1e4  # represents an infinite logarithm
SMALLEST_VARIANCE = 1e-100  # relative to the largest


@dataclass(frozen=True, eq=False, repr=False)
class IdentificationTime(Shown, ByValue):
    """The time needed to identify the best arm, and the optimal allocation of rounds.

    Attributes
    ----------
    rounds
        The characteristic time T*: an error probability of at most delta takes on average at least
        `rounds` times kl(delta, 1 - delta) rounds, where the second factor is about log(1/delta).
    weights
        Share of the rounds of each arm in the optimal allocation.
    ignoring
        The same if observations are allocated as if everything were observed.
    equal
        The same if every arm is played equally often.
    uncensored
        The characteristic time when everything is observed.
    """

    rounds: float
    weights: Vector
    ignoring: float
    equal: float
    uncensored: float

    def expected_rounds(self, risk: float) -> float:
        r"""Return the least expected number of rounds for an error probability of at most `risk`.

        .. math:: T^\star\,\mathrm{kl}(\delta,1-\delta)
        """
        delta = checks.number("risk", risk, above=0.0, below=0.5, fix="Use 0.05.")
        return self.rounds * (1.0 - 2.0 * delta) * math.log((1.0 - delta) / delta)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for what is too large for a number."""
        found = {
            name: getattr(self, name) for name in ("rounds", "ignoring", "equal", "uncensored")
        }
        plain = {name: value if math.isfinite(value) else None for name, value in found.items()}
        return {**plain, "weights": self.weights.tolist()}


def identification_time(
    problem: ArmedBandit, censorship: Censorship, *, family: str | None = None
) -> IdentificationTime:
    r"""Return the number of rounds that any rule needs to identify the best arm.

    Every rule that is wrong with probability at most delta, p known or not, takes on average at
    least :math:`T^\star\mathrm{kl}(\delta,1-\delta)` rounds, where

    .. math:: \frac1{T^\star}=\max_w\min_{a\ne\star}\bigl[w_\star p_\star d(\mu_\star,m)
              +w_ap_ad(\mu_a,m)\bigr],

    and m is the mean of :math:`\mu_\star` and :math:`\mu_a` weighted by :math:`wp`.

    Parameters
    ----------
    problem
        The arms, one of them the best, with Gaussian, Bernoulli, Poisson or exponential rewards.
    censorship
        The probability that each arm's reward is observed.
    family
        The class of laws, as for `asymptotic_lower_bound`; by default that of the rewards.

    Returns
    -------
    IdentificationTime
        The time, the shares of the rounds, and the times if p is ignored or shares are equal.

    Notes
    -----
    For two Gaussian arms :math:`T^\star=2(\sigma_1/\sqrt{p_1}+\sigma_2/\sqrt{p_2})^2/\Delta^2`, and
    equal shares take at most twice as long.

    References
    ----------
    Garivier, Kaufmann (2016), with each observation of arm a taking 1/p_a rounds.

    Examples
    --------
    >>> from halfseen import ArmedBandit, PerArm
    >>> found = identification_time(ArmedBandit([0.5, 0.3]), PerArm([1.0, 0.01]))
    >>> round(found.rounds, 6), found.weights.round(4).tolist(), round(found.ignoring, 6)
    (6050.0, [0.0909, 0.9091], 10100.0)
    """
    said = f"must be one of {', '.join(ONE_PARAMETER)} for an identification time"
    if isinstance(problem, ArmedBandit) and problem.law.kind not in ONE_PARAMETER:
        unknown = "Nothing else is worked out."
        raise InvalidInput("ArmedBandit.reward", said, problem.reward, unknown)
    arms = arm_class(problem, censorship, family)
    if arms.family not in ONE_PARAMETER:
        raise InvalidInput("family", said, family, "Leave it out.")
    if len(arms.means) < 2:
        raise InvalidInput("ArmedBandit.means", "must have at least 2 entries", 1, "Add an arm.")
    variance, unit = np.ones(len(arms.means)), 1.0
    if arms.family == "gaussian":
        if not np.all(arms.noise > 0.0):
            raise InvalidInput(
                "ArmedBandit.noise",
                "must be above 0 for an identification time",
                0.0,
                "Without noise one observation of each arm suffices.",
            )
        # in units of the least gap and the largest noise, to avoid overflow
        gap, noise = float(arms.gaps[arms.worse].min()), float(arms.noise.max())
        unit = min(noise / gap, 1e150) ** 2
        variance = np.maximum((arms.noise / noise) ** 2, SMALLEST_VARIANCE)
        arms = replace(arms, means=-arms.gaps / gap)
    seen = arms.observe / variance  # an observation counts in proportion to 1 / variance
    rounds, weights = _solve(arms, seen)
    uncensored, plan = _solve(arms, 1.0 / variance)
    equal = np.full(len(weights), 1.0 / len(weights))
    return IdentificationTime(
        rounds=rounds * unit,
        weights=arms.per_arm(weights, 0.0),
        ignoring=uncensored * unit * float((plan / arms.observe).sum()),
        equal=_rounds(_rate(arms, seen, equal)) * unit,
        uncensored=uncensored * unit,
    )


def _between(arms: ArmClass, log_ratio: Vector, rivals: Any) -> tuple[Vector, Vector]:
    """Return d(best, m) and d(rival, m), the rival observed exp(log_ratio) times as often.

    m and 1 - m are computed as averages, not as differences, which would cancel at the ends.
    """
    from scipy.special import expit

    best, rival, gaps = arms.means[arms.best], arms.means[rivals], arms.gaps[rivals]
    of_best, of_rival = expit(-log_ratio), expit(log_ratio)
    fall, rise = -gaps * of_rival, gaps * of_best
    if arms.family == "gaussian":
        return gaussian(best, fall, 1.0), gaussian(rival, rise, 1.0)
    m = best * of_best + rival * of_rival
    if arms.family == "exponential":
        return bend(m, best, -fall) / m, bend(m, rival, -rise) / m
    from_best, from_rival = bend(best, m, fall), bend(rival, m, rise)
    if arms.family == "bernoulli":
        rest = (1.0 - best) * of_best + (1.0 - rival) * of_rival
        from_best = from_best + bend(1.0 - best, rest, -fall)
        from_rival = from_rival + bend(1.0 - rival, rest, -rise)
    return from_best, from_rival


def _level(arms: ArmClass, log_ratio: Vector, rivals: Any) -> Vector:
    of_best, of_rival = _between(arms, log_ratio, rivals)
    return of_best + np.exp(log_ratio) * of_rival


def _at_level(arms: ArmClass, level: float, rivals: Any, most: float) -> Vector:
    """Return the log ratios, at most `most`, at which rivals reach a level, by Newton's method."""
    low, high = np.full(len(rivals), SMALLEST_LOG), np.full(len(rivals), most)
    at = high.copy()
    for _ in range(200):
        of_best, of_rival = _between(arms, at, rivals)
        slope = np.exp(at) * of_rival  # derivative of the level in the log ratio
        with np.errstate(all="ignore"):  # an infinite level halves the interval
            excess = of_best + slope - level
            new = at - excess / slope
        low, high = np.where(excess > 0.0, low, at), np.where(excess > 0.0, at, high)
        new = np.where((new > low) & (new < high), new, (low + high) / 2.0)
        if np.all((np.abs(new - at) <= 1e-14 * (1.0 + np.abs(at))) | (excess == 0.0)):
            break
        at = new
    return at


def _rate(arms: ArmClass, seen: Vector, weights: Vector) -> float:
    """Return the information per round against the nearest rival, for given shares."""
    gained = weights * seen
    logs = np.log(gained[arms.worse]) - math.log(gained[arms.best])
    return float(gained[arms.best] * _level(arms, logs, arms.worse).min())


def _solve(arms: ArmClass, seen: Vector) -> tuple[float, Vector]:
    """Return the characteristic time and the shares of the rounds that attain it.

    At the optimum all rivals are equally hard to distinguish from the best arm, at a level found
    from the ratio of observations of the hardest one.
    """
    from scipy.optimize import brentq

    rivals = arms.worse
    hardest = rivals[np.argmin(arms.gaps[rivals])]
    others = rivals[rivals != hardest]
    log_price = np.log(seen[arms.best]) - np.log(seen[rivals])

    def ratios(log_ratio: float) -> Vector:
        result = np.full(len(seen), -math.inf)
        result[hardest] = log_ratio
        level = _level(arms, np.array([log_ratio]), np.array([hardest]))[0]
        result[others] = _at_level(arms, level, others, log_ratio)
        return result

    def imbalance(log_ratio: float) -> float:
        of_best, of_rival = _between(arms, ratios(log_ratio)[rivals], rivals)
        with np.errstate(divide="ignore"):
            logs = log_price + np.log(of_best) - np.log(of_rival)
        return float(np.clip(np.logaddexp.reduce(logs), -FURTHEST, FURTHEST))

    found = ratios(float(brentq(imbalance, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO, xtol=1e-14)))
    found[arms.best] = 0.0
    log_cost = found - np.log(seen)
    cost = np.exp(log_cost - log_cost.max())
    weights = cost / cost.sum()
    return _rounds(_rate(arms, seen, weights)), weights


def _rounds(rate: float) -> float:
    """Return the rounds per nat, infinite if they are too many for a number."""
    return 1.0 / rate if rate > 0.0 else math.inf
