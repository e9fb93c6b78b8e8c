"""Confidence bounds that allow missing rewards to differ from seen ones, up to an odds ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.policies.arms.base import COUNT, PULLED, TOTAL, Policy, State, count_pull
from halfseen.problems.setting import Setting

OBJECTIVES = ("upper", "lower")
BUDGET, INVERSE, LOWER = range(3)  # columns of the table: k log T / 2, 1/Gamma, 1 for `lower`


def index(state: State, arm: int, clock: int, stream: Stream, table: Vector) -> float:
    """Return an upper confidence bound of the largest or the smallest mean Gamma allows."""
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    count = state[arm, COUNT]
    if count == 0.0:
        return 1.0
    share = state[arm, TOTAL] / count + math.sqrt(table[arm, BUDGET] / count)
    if share >= 1.0:
        return 1.0
    reach = math.sqrt(table[arm, BUDGET] / pulled)
    inverse = table[arm, INVERSE]
    if table[arm, LOWER] == 1.0:
        seen = min(1.0, count / pulled + reach)
        missing = share * inverse / (share * inverse + 1.0 - share)
    else:
        seen = max(0.0, count / pulled - reach)
        missing = share / (share + (1.0 - share) * inverse)
    return seen * share + (1.0 - seen) * missing


def refuse_unless_binary(name: str, setting: Setting) -> None:
    """Refuse rewards other than 0 and 1."""
    if setting.reward != "bernoulli":
        raise InvalidInput(
            name,
            "must be played with rewards of 0 or 1",
            f"{setting.reward} rewards",
            'Use reward="bernoulli", or another policy.',
        )


@dataclass(frozen=True)
class GammaUCB(Policy):
    r"""Play the arm that could be best if missing rewards differ from seen ones by odds Gamma.

    If the odds of being seen differ at most :math:`\Gamma`-fold between a reward of 0 and one of
    1, the mean of an arm seen with probability p, whose seen rewards have mean s, lies between

    .. math:: L = ps + (1-p)\frac{s}{s+\Gamma(1-s)},\qquad
              U = ps + (1-p)\frac{\Gamma s}{\Gamma s+1-s}.

    The index puts :math:`s^+=\min(1, S_a/n_a+\sqrt{k\log T/(2n_a)})` in place of s and
    :math:`n_a/N_a\mp\sqrt{k\log T/(2N_a)}` in place of p, minus for U and plus for L.

    Parameters
    ----------
    gamma
        The odds ratio, at least 1; infinite to assume nothing.
    objective
        ``"upper"`` settles on the arm with the largest U: it gives up no arm that could be best.
        ``"lower"`` settles on the one with the largest L, the safe choice.
    exponent
        k: a bound fails with probability at most :math:`T^{-k}`.

    Notes
    -----
    No policy can tell which arm is best where the intervals [L, U] overlap; the two objectives
    fail in opposite worlds.

    References
    ----------
    Rosenbaum, *Observational studies*, 2002, and Manski, *Partial identification of probability
    distributions*, 2003, for the intervals.
    """

    kind: ClassVar[str] = "gamma-ucb"
    randomises: ClassVar[bool] = False
    gamma: float = 2.0
    objective: str = "upper"
    exponent: float = 2.0
    statistics = 3
    index = staticmethod(index)
    pull = staticmethod(count_pull)

    def __post_init__(self) -> None:
        if self.gamma != math.inf:
            fix = "1 assumes that rewards are missing at random, inf assumes nothing."
            self._keep("gamma", at_least=1.0, fix=fix)
        checks.one_of("GammaUCB.objective", self.objective, OBJECTIVES)
        self._keep("exponent", above=0.0, fix="Use 2.0.")

    def check(self, setting: Setting) -> None:
        """Refuse rewards other than 0 and 1."""
        refuse_unless_binary("GammaUCB", setting)

    def table(self, setting: Setting) -> Vector:
        """Return k log T / 2, 1 over gamma and the objective, for each arm."""
        budget = 0.5 * self.exponent * math.log(setting.horizon)
        lower = 1.0 if self.objective == "lower" else 0.0
        return np.tile([budget, 1.0 / self.gamma, lower], (setting.arms, 1))
