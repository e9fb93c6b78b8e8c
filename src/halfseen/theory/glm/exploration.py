"""Length and cost of GLMUCB's initial exploration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship.smallest import smallest_observe
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.errors import InvalidInput
from halfseen.kernels.ridge import (
    gather,
    next_refactor,
    observe_action,
    refactor,
    refresh_actions,
    update_actions,
)
from halfseen.kernels.ties import first_largest
from halfseen.policies.glm.base import SEEN_ONCE
from halfseen.problems import GeneralizedLinearBandit, RandomActions

LONGEST = 2000  # largest number of exploration observations that are computed one by one


@dataclass(frozen=True, repr=False)
class Exploration(Shown):
    """The expected length and cost of GLMUCB's exploration.

    Attributes
    ----------
    observations
        Number of rewards that must be observed; None if only the rounds are bounded.
    rounds
        Number of rounds until then.
    regret
        Regret of those rounds.
    exact
        True if these are expectations, False if they are upper bounds on them.
    """

    observations: int | None
    rounds: float
    regret: float
    exact: bool


def exploration_rounds(dimension: int, diversity: float, observe_min: float) -> float:
    r"""Return a bound on the expected number of exploration rounds, for random action sets.

    The largest solution of

    .. math:: \tilde T=\frac{2d}{\log 2\;\sigma_0^2\,p_{\min}}\log\Big(1+\frac{\tilde T}d\Big).

    Parameters
    ----------
    dimension
        Number d of coordinates of an action.
    diversity
        :math:`\sigma_0^2`, the smallest eigenvalue of E[aa'] over an action drawn from the set.
    observe_min
        The smallest probability of being observed.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    Let s be the squared width, in V = I + W, of the widest action on offer. It is on average at
    least that of any action of the set, tr(V^-1 E[aa']), and so at least
    :math:`\sigma_0^2/\lambda_{\min}(V)>\sigma_0^2/2` as long as exploration lasts. The widths of
    the observed rounds add up to at most :math:`\log\det V/\log2`. The paper has
    T_init / p_min, with T_init from Li, Lu, Zhou (2017) and unspecified constants.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section "Extension to Generalized Linear Contextual Bandits".

    Examples
    --------
    >>> round(exploration_rounds(2, 0.5, 1.0), 3), round(exploration_rounds(2, 0.5, 0.5), 3)
    (33.051, 87.825)
    """
    d = checks.whole("dimension", dimension, at_least=1)
    spread = checks.number("diversity", diversity, above=0.0, at_most=1.0)
    least = checks.observation_probability("observe_min", observe_min)
    scale = 2.0 * d / (math.log(2.0) * spread * least)
    rounds = scale * scale
    while True:
        following = scale * math.log1p(rounds / d)
        if abs(following - rounds) <= 1e-13 * rounds:
            return following
        rounds = following


def exploration(problem: GeneralizedLinearBandit, censorship: Any) -> Exploration:
    r"""Return the cost of GLMUCB's exploration, which observes every direction once.

    With the same actions in every round, exploration plays a fixed sequence of actions, each until
    it is observed: on average :math:`\tilde T_{\rm init}=\sum_n 1/p(a_n)` rounds with a regret of
    :math:`\sum_n\Delta(a_n)/p(a_n)`. With random action sets the rounds are bounded by
    `exploration_rounds`, and each costs at most the largest gap.

    Parameters
    ----------
    problem
        A generalized linear bandit.
    censorship
        The probability that each action's reward is observed.

    Returns
    -------
    Exploration
        Observations, rounds and regret, and whether they are exact.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section "Extension to Generalized Linear Contextual Bandits".

    Examples
    --------
    >>> from halfseen import FiniteActions, GeneralizedLinearBandit, PerAction
    >>> bandit = GeneralizedLinearBandit(
    ...     [1, 0], link="identity", actions=FiniteActions([[1, 0], [0, 1]])
    ... )
    >>> found = exploration(bandit, PerAction([0.5, 0.25]))
    >>> found.observations, found.rounds, found.regret
    (2, 6.0, 4.0)
    """
    actions = problem.actions
    least, gap = smallest_observe(problem, censorship), problem.largest_gap
    d = problem.dimension
    if actions.fixed is not None:
        rows = np.ascontiguousarray(actions.fixed)
        played = _explored(rows)
        if played is not None:
            waits = 1.0 / censorship.checked(rows)[played]
            lost = problem.regrets(rows)[played] @ waits
            return Exploration(len(played), float(waits.sum()), float(lost), True)
        values = np.linalg.eigvalsh(rows.T @ rows / len(rows))
        rounds = exploration_rounds(d, float(values[values > 1e-10 * values[-1]][0]), least)
    elif isinstance(actions, RandomActions):
        rounds = exploration_rounds(d, _diversity(actions), least)
    else:
        raise InvalidInput(
            "problem.actions",
            "must be a fixed set or drawn at random in every round",
            actions,
            "A given sequence may never span all directions; use RidgeGLMUCB.",
        )
    return Exploration(None, rounds, rounds * gap, False)


def _diversity(actions: RandomActions) -> float:
    """Return the smallest eigenvalue of E[aa'], here a multiple of the identity."""
    d = actions.dimension
    if actions.law == "sphere":
        return 1.0 / d
    from scipy import special

    inside = special.gammainc(0.5 * d + 1.0, 0.5 * d) + special.gammaincc(0.5 * d, 0.5 * d)
    return float(inside) / d


def _explored(rows: Vector) -> list[int] | None:
    """Return the actions that exploration observes, in order; None if there are too many."""
    count, d = rows.shape
    columns = np.ascontiguousarray(rows.T)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    empty = vectors[:, values <= 1e-10 * values[-1]]
    fill = empty @ empty.T
    inverse, design, factor = np.eye(d), np.zeros((d, d)), np.zeros((d, d))
    v, target, g = np.zeros(d), np.zeros(d), np.zeros(count)
    means, widths, seen = np.zeros(count), np.zeros(count), np.zeros(count)
    refresh_actions(columns, inverse, v, means, widths)
    played: list[int] = []
    due = next_refactor(0, d)
    while len(played) < LONGEST:
        chosen = first_largest(widths)
        played.append(chosen)
        seen[chosen] += 1.0
        s = observe_action(inverse, rows[chosen], v)
        update_actions(columns, v, s, 0.0, g, means, widths)
        if np.linalg.eigvalsh(columns * seen @ rows + fill)[0] > SEEN_ONCE:
            return played
        if len(played) == due:
            gather(columns, seen, seen, 1.0, design, target)
            refactor(design, target, factor, inverse, v)
            refresh_actions(columns, inverse, v, means, widths)
            due = next_refactor(len(played), d)
    return None
