"""The value of seeing which rewards are missing: offline against adaptive allocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.theory import inputs
from halfseen.theory.arms.inverse_moments import InverseMoments
from halfseen.theory.arms.potential import SMALLEST_LEVEL, PowerCost, most_costly

LONGEST_CHAIN = 2_000_000
NEGLIGIBLE = 1e-24
FEW_CELLS = 8


@dataclass(frozen=True, eq=False, repr=False)
class OfflinePotential(Shown, ByValue):
    """The best allocation that does not react to which rewards were observed.

    Attributes
    ----------
    value
        The largest expected potential.
    allocation
        Rounds given to each arm; their order does not matter.
    """

    value: float
    allocation: NDArray[np.int64]


def offline_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    *,
    weights: float | Sequence[float] | Vector | None = None,
) -> OfflinePotential:
    r"""Return the largest expected potential of an allocation fixed in advance.

    .. math:: \max_{\sum\tau_a=T}\ \sum_a w_a\sum_{n<\tau_a} e_a(n),\qquad
              e_a(n)=\mathbb E\,(\mathrm{Bin}(n,p_a)+\lambda_a)^{-\alpha}

    Since e_a is non-increasing, the best allocation takes the T largest of all w_a e_a(n).

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, a whole number.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda, one number or one per arm.
    weights
        Factor of each arm's cost, at least 0; 1 by default.

    Returns
    -------
    OfflinePotential
        The value and the allocation. Exact at any horizon.

    Notes
    -----
    The paper gives only the first-order equivalent d_eff psi(T/d_eff + lambda), which at alpha = 1
    is approached as slowly as 1/log T.

    References
    ----------
    Guinet, Amin, Jaillet (2022), lemma 3.6.

    Examples
    --------
    >>> best = offline_potential([0.3, 0.7], 12, alpha=0.5, regularization=1.0)
    >>> round(best.value, 9), best.allocation.tolist()
    (9.237669609, [8, 4])
    """
    p, order, lam, factor = _arms(observe, alpha, regularization, weights)
    time = checks.whole("horizon", horizon, at_least=1)
    moments = InverseMoments(p, lam, order, time)
    allocation = _largest(moments, factor, time, order)
    value = float((factor * moments.total(allocation)).sum())
    whole = allocation.astype(np.int64)
    whole.flags.writeable = False
    return OfflinePotential(value, whole)


def adaptive_potential(
    observe: Sequence[float] | Vector,
    horizon: float,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    *,
    weights: float | Sequence[float] | Vector | None = None,
) -> float:
    r"""Return the largest expected potential of any policy that sees which rewards are observed.

    Playing the arm of largest :math:`w_a(N_a+\lambda_a)^{-\alpha}` is optimal on every sample path.
    It visits the cells (a, n) in decreasing order of cost and leaves each of them with probability
    p_a per round, so

    .. math:: \max_\pi \mathbb E V_\alpha = \mathbb E\,F(s_T),\qquad
              F(s)=\sum_{i<s} v_i/p_{a_i},

    with :math:`s_T` the number of cells it has left by round T.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    horizon
        Number of rounds T, a whole number of at most two million; time grows like T^1.5.
    alpha
        Order of the potential, above 0.
    regularization
        The paper's lambda, one number or one per arm.
    weights
        Factor of each arm's cost, at least 0; 1 by default.

    Returns
    -------
    float
        The value, exact to rounding.

    Notes
    -----
    The paper calls this maximum "notoriously difficult to study" and bounds it.

    References
    ----------
    Guinet, Amin, Jaillet (2022), proposition 3.7.

    Examples
    --------
    >>> round(adaptive_potential([0.3, 0.7], 12, alpha=0.5, regularization=1.0), 9)
    9.360032155
    """
    p, order, lam, factor = _arms(observe, alpha, regularization, weights)
    time = checks.whole(
        "horizon",
        horizon,
        at_least=1,
        at_most=LONGEST_CHAIN,
        fix="Use second_order_potential, whose error falls like horizon^-(1+alpha).",
    )
    cost, arm = _walk(PowerCost(factor, lam, order), len(p), time)
    gained = np.append(0.0, np.cumsum(cost / p[arm]))
    first, chance = _cells_left(p[arm], time)
    worth = gained[first : first + len(chance)]
    return float(worth[0] + chance @ (worth - worth[0]))


def adaptivity_constant(observe: Sequence[float] | Vector, alpha: float) -> float:
    r"""Return the constant gamma of the gain from adaptivity: adaptive - offline ~ gamma / T^alpha.

    .. math:: \gamma_\alpha(p)=\frac{\alpha}{2\,d_{\rm eff}^{1-\alpha}}
              \sum_a\frac{1}{p_a}\sum_{b\ne a}\frac{1-p_b}{p_b}

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    alpha
        Order of the potential, above 0.

    Returns
    -------
    float
        The constant; 0 with a single arm or when everything is observed.

    Notes
    -----
    The paper's formula is correct: at T = 1e5 the exact gain times T^alpha agrees to five digits.

    References
    ----------
    Guinet, Amin, Jaillet (2022), proposition 3.7, first display.

    Examples
    --------
    >>> round(adaptivity_constant([0.1, 0.5, 0.9], alpha=1.0), 9)
    20.222222222
    """
    p, order = inputs.observation(observe), inputs.order(alpha)
    dimension, missing = (1.0 / p).sum(), (1.0 - p) / p
    others = missing * (dimension - 1.0 / p)
    return float(0.5 * order * dimension ** (order - 1.0) * others.sum())


def _arms(
    observe: Sequence[float] | Vector,
    alpha: float,
    regularization: float | Sequence[float] | Vector,
    weights: float | Sequence[float] | Vector | None,
) -> tuple[Vector, float, Vector, Vector]:
    p = inputs.observation(observe)
    factor = inputs.per_arm("weights", 1.0 if weights is None else weights, len(p))
    return p, inputs.order(alpha), inputs.regularization(regularization, len(p)), factor


def _largest(moments: InverseMoments, factor: Vector, horizon: int, alpha: float) -> Vector:
    """Return how many of each arm's weighted moments are among the `horizon` largest."""
    fewest, most = np.zeros(len(factor)), np.full(len(factor), float(horizon))
    high = float((factor * moments.at(fewest)).max())
    if high <= 0.0:
        most[1:] = 0.0
        return most
    low = max(float((factor * moments.at(most)).max()) * (1.0 - 1e-9), SMALLEST_LEVEL)
    while (most - fewest).sum() > FEW_CELLS * len(factor):
        level = np.sqrt(low) * np.sqrt(high)
        if not low < level < high:
            break
        counts = _above(moments, factor, level, fewest, most, alpha)
        if counts.sum() <= horizon:
            high, fewest = level, counts
        else:
            low, most = level, counts
    return _finish(moments, factor, fewest, most, horizon)


def _above(
    moments: InverseMoments,
    factor: Vector,
    level: float,
    fewest: Vector,
    most: Vector,
    alpha: float,
) -> Vector:
    """Return how many of each arm's weighted moments exceed `level`, given bounds on the answer.

    e(n)^(-1/alpha) is nearly linear in n, so Newton's method on it converges almost immediately;
    every third step bisects instead, as a safeguard.
    """
    low, high = fewest.copy(), most.copy()
    guess, turn = np.floor((low + high) / 2.0), 0
    while (low < high).any():
        count = np.clip(guess, low, np.maximum(high - 1.0, low))
        value, slope = moments.slope(count)
        above = (factor * value > level) & (low < high)
        below = ~above & (low < high)
        low, high = np.where(above, count + 1.0, low), np.where(below, count, high)
        middle, turn = np.floor((low + high) / 2.0), turn + 1
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            jump = -alpha * value / slope * ((factor * value / level) ** (1.0 / alpha) - 1.0)
        landed = np.isfinite(jump) & (turn % 3 > 0)
        guess = np.where(landed, np.floor(count + np.where(landed, jump, 0.0)), middle)
    return low


def _finish(
    moments: InverseMoments, factor: Vector, fewest: Vector, most: Vector, horizon: int
) -> Vector:
    """Assign the remaining rounds to the largest of the few moments still undecided."""
    room, left = most - fewest, horizon - fewest.sum()
    if room.sum() > 2 * FEW_CELLS * len(factor):  # moments that differ by less than rounding errors
        return fewest + np.clip(left - (np.cumsum(room) - room), 0.0, room)
    width = int(room.max())
    doubtful = fewest[None, :] + np.arange(float(width))[:, None]
    values = np.array([factor * moments.at(row) for row in doubtful]).reshape(width, len(factor))
    values = np.where(doubtful < most, values, -1.0)
    chosen = np.argsort(-values.ravel(), kind="stable")[: int(left)]
    return fewest + np.bincount(chosen % len(factor), minlength=len(factor))


def _walk(cost: PowerCost, arms: int, horizon: int) -> tuple[Vector, NDArray[np.int64]]:
    """Return cost and arm of the `horizon` most costly cells, most costly first."""
    cells = most_costly(cost, np.ones(arms), float(horizon))[0].astype(np.int64) + 1
    cells[0] += max(0, horizon - int(cells.sum()))
    arm = np.repeat(np.arange(arms), cells)
    count = np.arange(len(arm)) - np.repeat(np.cumsum(cells) - cells, cells)
    one_by_one = PowerCost(cost.weights[arm], cost.regularization[arm], cost.alpha)
    values = one_by_one.at(count.astype(np.float64))
    order = np.argsort(-values, kind="stable")[:horizon]
    return values[order], arm[order]


def _cells_left(advance: Vector, horizon: int) -> tuple[int, Vector]:
    """Return the distribution of the number of cells left by round `horizon`.

    The result is the first number of cells that is not negligible, and the probabilities from
    there on.
    """
    chance = np.zeros(len(advance) + 1)
    flow = np.empty(len(advance))
    chance[0], first, last = 1.0, 0, 0
    for turn in range(horizon):
        here, moved = chance[first : last + 1], flow[first : last + 1]
        np.multiply(here, advance[first : last + 1], out=moved)
        here -= moved
        chance[first + 1 : last + 2] += moved
        last += 1
        if turn % 16 == 15:
            while chance[first] < NEGLIGIBLE:
                first += 1
            while chance[last] < NEGLIGIBLE:
                last -= 1
    return first, chance[first : last + 1]
