"""An anytime-valid test for the best arm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.phrases import joined
from halfseen.tables import level_name
from halfseen.theory.anytime.confidence import limits
from halfseen.theory.anytime.evidence import evidence_against
from halfseen.theory.anytime.samples import Samples, risk, samples

RULES = ("either", "separate", "pairwise")


@dataclass(frozen=True, eq=False, repr=False)
class Winner(Shown, ByValue):
    """The arm shown to be the best, if there is one.

    Attributes
    ----------
    arm
        The arm shown to have the largest mean; None if no arm is.
    leader
        The arm with the largest mean of observed rewards; None if nothing was observed.
    level
        Probability that no suboptimal arm is ever declared the best.
    rule
        The rule used: ``"either"``, ``"separate"`` or ``"pairwise"``.
    shown_by
        The rules that declare the winner, ``"separate"`` and ``"pairwise"``; empty without one.
    evidence
        Evidence that the leader beats each arm; infinite for the leader itself.
    threshold
        Evidence needed against every other arm.
    low
        Lower confidence limit of the leader's mean.
    high
        Upper confidence limit of each other arm's mean; minus infinity for the leader itself.
    names
        Names of the arms, if they have any.
    equal
        The other arms whose observed rewards have the same mean as the leader's.
    """

    arm: int | None
    leader: int | None
    level: float
    rule: str
    shown_by: tuple[str, ...]
    evidence: Vector
    threshold: float
    low: float
    high: Vector
    names: tuple[str, ...] | None = None
    equal: tuple[int, ...] = ()

    def _headline(self) -> str:
        if self.leader is None:
            return "nothing was observed"
        leader = self._name(self.leader)
        if len(self.evidence) == 1:
            return "there is only one arm, so there is nothing to compare"
        if self.arm is not None:
            return f"{leader} is shown to be the best at {level_name(self.level)}"
        said = f"no arm is shown to be the best at {level_name(self.level)}"
        if self.equal:
            leaders = joined([leader, *map(self._name, self.equal)], "and")
            return f"{said}; equally good so far: {leaders}"
        return f"{said}; {leader} leads"

    def _name(self, arm: int) -> str:
        return f"arm {arm}" if self.names is None else self.names[arm]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for infinite values."""

        def plain(value: float) -> float | None:
            return float(value) if math.isfinite(value) else None

        return {
            "arm": self.arm,
            "leader": self.leader,
            "equal": list(self.equal),
            "level": self.level,
            "rule": self.rule,
            "shown_by": list(self.shown_by),
            "evidence": [plain(value) for value in self.evidence],
            "threshold": plain(self.threshold),
            "low": plain(self.low),
            "high": [plain(value) for value in self.high],
        }


def winner(
    observed: Sequence[float] | Vector,
    total: Sequence[float] | Vector,
    *,
    level: float = 0.95,
    rule: str = "either",
    noise: float | Sequence[float] | Vector = 1.0,
    rho: float = 10.0,
    reward: str = "gaussian",
) -> Winner:
    r"""Return the arm shown to have the largest mean, valid at every round at once.

    With K arms and :math:`\alpha=1-` level there are three rules. *Pairwise*: the evidence that
    the arm beats each other one is at least :math:`\log((K-1)/\alpha)`. *Separate*: its lower
    confidence limit is above every other arm's upper one, each one-sided at
    :math:`\alpha/K`. *Either*: one of the two, each at :math:`\alpha/2`.

    Parameters
    ----------
    observed
        Number of observed rewards of each arm.
    total
        Sum of the observed rewards of each arm.
    level
        Probability that no suboptimal arm is ever declared the best.
    rule
        ``"either"`` works well in general. ``"separate"`` needs fewer observations on logs of a
        bandit policy, where the leader has far more of them; ``"pairwise"`` in designed
        experiments.
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
    Winner
        The winner, if there is one, and the leader's evidence and limits against the others.

    Notes
    -----
    A suboptimal arm can only be declared if its evidence against the best one reaches the
    threshold, which happens with probability at most :math:`\alpha/(K-1)` for each of the K - 1
    others, or if one of K one-sided limits is wrong. No arm is declared while another one was never
    observed, or if there is only one arm.

    References
    ----------
    Robbins (1970); Garivier, Kaufmann (2016), on stopping rules.

    Examples
    --------
    >>> found = winner([800, 600, 400], [400.0, 120.0, 40.0])
    >>> found.arm, found.shown_by
    (0, ('separate', 'pairwise'))
    >>> print(winner([40, 30, 20], [20.0, 6.0, 2.0]).arm)
    None
    """
    rule = checks.one_of("rule", rule, RULES)
    alpha = risk(level)
    seen = samples(observed, total, noise, rho, reward)
    return declared(seen, alpha, rule)


def declared(seen: Samples, alpha: float, rule: str) -> Winner:
    """Apply a rule to validated samples."""
    arms = len(seen.observed)
    part = alpha / 2.0 if rule == "either" else alpha
    threshold = math.log(max(arms - 1, 1) / part)
    against, high = np.full(arms, math.inf), np.full(arms, -math.inf)
    low = -math.inf
    leader = int(np.nanargmax(seen.means)) if np.any(seen.observed > 0.0) else None
    shown: tuple[str, ...] = ()
    equal: tuple[int, ...] = ()
    if leader is not None and arms > 1:
        rivals = np.delete(np.arange(arms), leader)
        equal = tuple(rivals[seen.means[rivals] == seen.means[leader]].tolist())
        against[rivals] = evidence_against(seen, leader, rivals)
        low = float(limits(seen.of([leader]), part / arms, "low").low[0])
        high[rivals] = limits(seen.of(rivals), part / arms, "high").high
        passed = {
            "separate": bool(np.all(low > high[rivals])),
            "pairwise": bool(np.all(against[rivals] >= threshold)),
        }
        shown = tuple(name for name, yes in passed.items() if yes and rule in ("either", name))
    return Winner(
        arm=leader if shown else None,
        leader=leader,
        level=1.0 - alpha,
        rule=rule,
        shown_by=shown,
        evidence=against,
        threshold=threshold,
        low=low,
        high=high,
        equal=equal,
    )
