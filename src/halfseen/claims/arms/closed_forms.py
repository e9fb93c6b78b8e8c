"""Claims about closed forms beyond the paper's first order, and about looks near the end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from halfseen.checks import Vector
from halfseen.claims.arms.adaptivity import TIME, one_look
from halfseen.claims.arms.events import ARMS
from halfseen.claims.arms.programs import (
    best_adaptive,
    best_offline,
    best_with_looks,
    exact_free_looks,
    exact_with_looks,
    expected_costs,
)
from halfseen.claims.claim import Comparison, Evidence, Measured, claim
from halfseen.claims.laboratory import Laboratory
from halfseen.theory import (
    freely_monitored_potential,
    late_look_constant,
    look_gain,
    second_order_potential,
    single_monitoring_potential,
)

HALF = Fraction(1, 2)
NAMES = ("offline", "adaptive")


@claim(
    "second-order",
    place="new",
    family=ARMS,
    says=(
        "Best offline and adaptive potentials are D G(T/D) − K Σ(1−p)/p and D G(T/D)"
        " − (K/D) Σ(1−p)/p², up to O(T^−(1+α)): `second_order_potential`."
    ),
    how=(
        "Two arms, λ = 0.5 and 1, α = ½, 1, 2, T and 2T: backward induction over counts, and the"
        " best of all allocations; the exponent of the error; the gain, its error of order 1/T"
        " removed by doubling T."
    ),
)
def second_order(lab: Laboratory) -> Evidence:
    """Compare the closed forms with exact optima, and measure the order of the difference."""
    rows = []
    first = lab.size(100, 200)
    for observe, lam in (((0.3, 0.7), 1.0), ((0.5, 0.5), 0.5), ((0.2, 0.6), 1.0)):
        for alpha in (0.5, 1.0, 2.0):
            off, gains, order = [], [], 0.0
            for horizon in (first, 2 * first):
                costs = [expected_costs(p, horizon, (alpha,), lam)[0] for p in observe]
                best = best_offline(costs, horizon), best_adaptive(observe, horizon, alpha, lam)
                close = second_order_potential(observe, horizon, alpha, lam)
                order = close.error_order
                where = f"p = {observe}, λ = {lam:g}, α = {alpha:g}, T = {horizon}"
                values = (close.offline, close.adaptive)
                for name, exact, claimed in zip(NAMES, best, values, strict=True):
                    found = Measured(exact)
                    rows.append(Comparison(f"{where}, {name}", found, "equals", claimed, 5e-4))
                off.append([close.offline - best[0], close.adaptive - best[1]])
                gains.append((best[1] - best[0]) / close.gain)
            where = f"p = {observe}, λ = {lam:g}, α = {alpha:g}"
            for name, early, late in zip(NAMES, *off, strict=True):
                slope = Measured(math.log2(abs(late / early)))
                rows.append(Comparison(f"{where}, {name}, exponent", slope, "equals", order, 0.05))
            limit = Measured(2.0 * gains[1] - gains[0])
            rows.append(Comparison(f"{where}, gain over the claimed", limit, "equals", 1.0, 0.02))
    return Evidence(tuple(rows))


def _late_constant(observe: tuple[float, ...], alpha: float, left: float, points: int) -> float:
    """Return the constant of a late look from its definition, over a grid of deviations.

    Before the look m rounds are planned for each arm; after it the deviations are known and k are
    played. The best k are found by bisection for each deviation, the best m by a search.
    """
    from scipy.optimize import minimize

    p = np.array(observe)
    dimension = float((1.0 / p).sum())
    line = np.linspace(-5.5, 5.5, points)
    grid = np.stack(np.meshgrid(*[line] * len(p), indexing="ij"), axis=-1).reshape(-1, len(p))
    law = np.exp(-0.5 * (grid**2).sum(axis=1))
    law /= law.sum()
    deviations = grid * np.sqrt((1.0 - p) / dimension)

    def gained(plan: Vector) -> float:
        wanted = plan - deviations / p
        low, high = (p * (wanted - left)).max(axis=1), (p * wanted).max(axis=1)
        for _ in range(30):
            level = 0.5 * (low + high)
            played = np.maximum(wanted - level[:, None] / p, 0.0).sum(axis=1)
            low, high = np.where(played > left, level, low), np.where(played > left, high, level)
        rounds = np.maximum(wanted - high[:, None] / p, 0.0)
        after = (deviations + p * (rounds - plan)) ** 2 / p
        return float(law @ (deviations**2 / p - after).sum(axis=1))

    def loss(logits: Vector) -> float:
        shares = np.exp(np.append(logits, 0.0))
        return -gained(left * shares / shares.sum())

    start = np.log(p[-1] / p[:-1])
    options = {"maxiter": 30, "xatol": 1e-3, "fatol": 1e-6}
    best = minimize(loss, start, method="Nelder-Mead", options=options)
    return 0.5 * alpha * dimension ** (1.0 + alpha) * -float(best.fun)


@claim(
    "late-look",
    place="new",
    family=ARMS,
    says=(
        "A look at T − s√T gains c(s)/T^α, c a multiple of γ in closed form for two arms"
        " (`late_look_constant`); `look_gain` is the gain of one look at any time."
    ),
    how=(
        "c(s) from its definition, a grid of deviations with the best response to each, two and"
        " three arms. The gain of one look at T = 600, two arms, by exhaustive search: early, in"
        " between and s = 0.3 to 4."
    ),
)
def late_look(lab: Laboratory) -> Evidence:
    """Compare both functions with a quadrature and with enumeration."""
    rows = []
    spots = ((1.0, 0.3), (1.0, 1.0), (0.5, 2.0))
    for observe, points, each in (
        ((0.5, 0.25), 61, spots),
        ((0.2, 0.8), 61, spots),
        ((0.5, 0.25, 0.8), 17, lab.size(spots[1:2], spots)),
    ):
        for alpha, left in each:
            found = Measured(_late_constant(observe, alpha, left, points))
            claimed = late_look_constant(observe, alpha, left)
            where = f"p = {observe}, α = {alpha:g}, s = {left:g}, c"
            rows.append(Comparison(where, found, "equals", claimed, 0.01))
    late = [1.0 - left / math.sqrt(TIME) for left in (0.3, 1.0, 2.0, 4.0)]
    for pair in ((0.5, 0.25), (0.2, 0.8)):
        for share in (0.3, 0.7, *late):
            found = Measured(one_look(pair, share))
            claimed = TIME * look_gain(pair, TIME, 1.0, round(share * TIME))
            where = f"p = {pair}, T = {TIME}, look at {round(share * TIME)}, gain · T"
            rows.append(Comparison(where, found, "equals", claimed, 0.05))
    return Evidence(tuple(rows))


@claim(
    "free-looks",
    place="new",
    family=ARMS,
    says=(
        "`freely_monitored_potential` is the largest expected potential with looks at adaptive"
        " times, `single_monitoring_potential` with one look after βT rounds."
    ),
    how=(
        "Two and three arms, T = 4, 0 to 3 looks, every time and every plan after every outcome, in"
        " rational arithmetic; one look, T = 5 likewise and two arms, T = 40, by exhaustive search."
    ),
)
def free_looks(lab: Laboratory) -> Evidence:
    """Compare both functions with independent programs."""
    rows = []
    for chances in ((HALF, HALF), (HALF, HALF / 2), (HALF, HALF / 2, Fraction(4, 5))):
        p = [float(chance) for chance in chances]
        words = f"p = ({', '.join(map(str, chances))})"
        for looks in range(4 if len(p) == 2 else 2):
            exact = Measured(float(exact_free_looks(chances, 4, 1, looks)))
            claimed = freely_monitored_potential(p, 4, 1.0, 1.0, looks)
            where = f"{words}, T = 4, {looks} looks at any time"
            rows.append(Comparison(where, exact, "equals", claimed, 1e-10))
        for look in range(6):
            exact = Measured(float(exact_with_looks(chances, 5, 1, (look,))))
            claimed = single_monitoring_potential(p, 5, 1.0, 1.0, look / 5).value
            rows.append(
                Comparison(f"{words}, T = 5, look at {look}", exact, "equals", claimed, 1e-10)
            )
    for share in (0.25, 0.5, 0.9):
        found = Measured(best_with_looks((0.3, 0.7), 40, 0.5, 2.0, (round(40 * share),)))
        claimed = single_monitoring_potential((0.3, 0.7), 40, 0.5, 2.0, share).value
        where = f"p = (0.3, 0.7), λ = 2, α = 0.5, T = 40, look at {round(40 * share)}"
        rows.append(Comparison(where, found, "equals", claimed, 1e-10))
    return Evidence(tuple(rows))
