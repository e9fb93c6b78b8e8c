"""Which arm has won, if any, at a level that holds however often one looks."""

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
from halfseen.tables import level_name
from halfseen.theory.anytime.confidence import limits
from halfseen.theory.anytime.evidence import evidence_against
from halfseen.theory.anytime.samples import Samples, risk, samples

RULES = ("either", "separate", "pairwise")


@dataclass(frozen=True, eq=False, repr=False)
class Winner(Shown, ByValue):
    """The arm shown to be the best, if one is.

    Attributes
    ----------
    arm
        The arm shown to have the largest mean; None as long as none is.
    leader
        The arm with the largest mean of observed rewards; None if nothing was observed.
    level
        Probability that no arm but a best one is ever declared.
    rule
        The rule asked for: ``"either"``, ``"separate"`` or ``"pairwise"``.
    shown_by
        The rules that show it, ``"separate"`` and ``"pairwise"``; empty as long as none does.
    evidence
        Evidence that the leader beats each arm; infinite for itself.
    threshold
        What the evidence against every other arm must reach.
    low
        Lower confidence limit of the leader's mean.
    high
        Upper confidence limit of each other arm's mean; minus infinity for the leader itself.
    names
        What the arms are called, if they have names.
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

    def _headline(self) -> str:
        if self.leader is None:
            return "nothing was observed"
        leader = f"arm {self.leader}" if self.names is None else self.names[self.leader]
        if len(self.evidence) == 1:
            return "a single arm has nothing to be compared with"
        if self.arm is None:
            return f"no arm is shown to be the best at {level_name(self.level)}; {leader} leads"
        return f"{leader} is shown to be the best at {level_name(self.level)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for what is infinite."""

        def plain(value: float) -> float | None:
            return float(value) if math.isfinite(value) else None

        return {
            "arm": self.arm,
            "leader": self.leader,
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
        Probability that no arm but a best one is ever declared.
    rule
        ``"either"`` works everywhere. ``"separate"`` is quicker on logs of a bandit policy,
        where the leader has far more observations; ``"pairwise"`` in designed experiments.
    noise
        Sub-Gaussian scale of the rewards, one number or one per arm; only Gaussian rewards need it.
    rho
        How few observations the rule is made for, of Poisson rewards how few events; chosen before
        looking. Bernoulli rewards need none.
    reward
        ``"gaussian"`` (any sub-Gaussian law), ``"bernoulli"`` (any law between 0 and 1),
        ``"poisson"`` or ``"exponential"``.

    Returns
    -------
    Winner
        The winner, if there is one, and how far the leader is from being it.

    Notes
    -----
    An arm that is not the best can only be declared if its evidence against the best one reaches
    its threshold, which happens with probability at most :math:`\alpha/(K-1)` for each of the K - 1
    others, or if one of K one-sided limits is wrong. Arms that were never observed leave the
    question open, and a single arm is never declared.

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
    """Apply a rule to checked samples."""
    arms = len(seen.observed)
    part = alpha / 2.0 if rule == "either" else alpha
    threshold = math.log(max(arms - 1, 1) / part)
    against, high = np.full(arms, math.inf), np.full(arms, -math.inf)
    low = -math.inf
    leader = int(np.nanargmax(seen.means)) if np.any(seen.observed > 0.0) else None
    shown: tuple[str, ...] = ()
    if leader is not None and arms > 1:
        rivals = np.delete(np.arange(arms), leader)
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
    )
