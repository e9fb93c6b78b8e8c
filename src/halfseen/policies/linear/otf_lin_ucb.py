"""Optimism for linear bandits when conversions come late and other rewards never."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.errors import InvalidInput
from halfseen.kernels.reachable import renewed
from halfseen.kernels.ties import first_largest
from halfseen.policies.linear.base import LateKnowledge, LinearKernels, LinearPolicy, LinearSetting

FORMS = ("printed", "one-sided")
TWO_LOG, LAMBDA = range(2)


def log_radius(rounds: float, dimension: int, table: Vector) -> float:
    """Return L = sqrt(2 log(1/delta) + d log(1 + t/(lambda d)))."""
    grown = dimension * math.log1p(rounds / (table[LAMBDA] * dimension))
    return math.sqrt(table[TWO_LOG] + grown)


def whiten(factor: Vector, x: Vector, out: Vector) -> float:
    """Write F'x, F F' being the inverse of the design, and return the width of x."""
    square = 0.0
    for j in range(x.size):
        total = 0.0
        for i in range(j, x.size):
            total += factor[i, j] * x[i]
        out[j] = total
        square += total * total
    return math.sqrt(square)


def printed(
    rows: Vector,
    known: LateKnowledge,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> int:
    """Return the action with the largest index; the indices are left at the start of `memory`."""
    d, scratch = rows.shape[1], memory[rows.shape[0] :]
    owed = 0.0
    for k in range(known.actions.shape[0]):
        if known.recent[k] > 0.0:
            owed += known.recent[k] * whiten(known.factor, known.actions[k], scratch)
    radius = 2.0 * (log_radius(clock, d, table) + math.sqrt(table[LAMBDA])) + owed
    for k in range(rows.shape[0]):
        mean = 0.0
        for i in range(d):
            mean += rows[k, i] * known.estimate[i]
        memory[k] = mean + radius * whiten(known.factor, rows[k], scratch)
    return first_largest(memory[: rows.shape[0]])


def one_sided(
    rows: Vector,
    known: LateKnowledge,
    memory: Vector,
    clock: int,
    stream: Stream,
    table: Vector,
) -> int:
    """Return the action with the largest index; the indices are left at the start of `memory`."""
    count, d = rows.shape
    white, covered = memory[count : count + d], memory[count + d :]
    radius = 0.5 * log_radius(clock, d, table) + math.sqrt(table[LAMBDA])
    for k in range(count):
        mean = 0.0
        for i in range(d):
            mean += rows[k, i] * known.estimate[i]
        memory[k] = mean + radius * whiten(known.factor, rows[k], white)
    for s in range(known.actions.shape[0]):
        if not known.open[s] > 0.0:
            continue
        whiten(known.factor, known.actions[s], white)
        for i in range(d):
            total = 0.0
            for j in range(i + 1):
                total += known.factor[i, j] * white[j]
            covered[i] = total
        for k in range(count):
            along = 0.0
            for i in range(d):
                along += rows[k, i] * covered[i]
            if along > 0.0:
                memory[k] += known.open[s] * along
    return first_largest(memory[:count])


@dataclass(frozen=True)
class OTFLinUCB(LinearPolicy):
    r"""Optimism that counts every play at once and every reward when it arrives.

    With :math:`V=\lambda I+\sum_s A_sA_s'` over all plays and :math:`b=\sum_s X_sA_s` over the
    arrived rewards, :math:`\hat\theta=V^{-1}b` estimates :math:`\tau_m\theta`, whose order is that
    of :math:`\theta`, :math:`\tau_m` being the probability of arriving within the window. Pending
    rewards bias it. The printed form adds a term for every decision younger than the window m,

    .. math:: \langle a,\hat\theta\rangle + \Big(2(L+\sqrt\lambda)
              + \sum_{\text{age}<m}\|A_s\|_{V^{-1}}\Big)\|a\|_{V^{-1}},\qquad
              L=\sqrt{2\log(1/\delta)+d\log(1+t/(\lambda d))},

    the one-sided form only for pending ones, whose bias is downwards,

    .. math:: \langle a,\hat\theta\rangle + (L/2+\sqrt\lambda)\|a\|_{V^{-1}}
              + \sum_{s\text{ open}}\max(0, a'V^{-1}A_s).

    Parameters
    ----------
    form
        ``"one-sided"``, or ``"printed"`` as in the paper.
    regularization
        The ridge's lambda, above 0.
    delta
        Probability with which the bound may fail; left out, 1 over the horizon.

    Notes
    -----
    It assumes rewards in [0, 1], a theta of length at most 1, a window, and one delay law for all
    actions. It was made for conversions, where a regression on what was seen would learn that every
    reward is 1: ``LinearBandit(..., reward="bernoulli")``. A round costs O(m d (d + K)) where K
    actions change, O(K^2 d) on a fixed set of them.

    References
    ----------
    Vernade, Carpentier, Lattimore, Zappella, Ermis, Brueckner, *Linear bandits with stochastic
    delayed feedback*, 2020. The one-sided form is ours.
    """

    kind: ClassVar[str] = "otf-lin-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound, counting every play at once and every"
        " reward when it arrives."
    )
    form: str = "one-sided"
    regularization: float = 1.0
    delta: float | None = None
    counts_pulls = True
    randomises = False
    choose = staticmethod(one_sided)

    def __post_init__(self) -> None:
        checks.one_of("OTFLinUCB.form", self.form, FORMS)
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        self._keep("delta", above=0.0, below=1.0, fix="Use 0.05.")

    def kernels(self) -> LinearKernels:
        """Return the algorithm with the chosen form."""
        kernels = super().kernels()
        return replace(kernels, choose=renewed(printed)) if self.form == "printed" else kernels

    def memory(self, actions: int, dimension: int) -> int:
        """Return room for the index of every action, and for two vectors."""
        return actions + 2 * dimension

    def table(self, setting: LinearSetting) -> Vector:
        """Return 2 log(1/delta) and lambda."""
        return np.array([2.0 * math.log(1.0 / self.failure(setting)), self.regularization])

    def check_live(self) -> None:
        """Refuse to be used by a live agent, which does not count plays without a reward."""
        raise InvalidInput(
            "policy", "must be one that learns observed rewards alone", self, "Use LinUCB()."
        )
