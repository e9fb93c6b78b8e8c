"""Claims about the largest potential that a policy can accumulate on arms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from halfseen.claims.areas import area
from halfseen.claims.arms.events import ARMS
from halfseen.claims.arms.programs import best_adaptive, play_greedily
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.intervals import ratio
from halfseen.claims.laboratory import Laboratory
from halfseen.theory import effective_dimension, papers_potential
from halfseen.theory.arms.water_filling import pour

OBSERVES = ((1.0, 1.0), (0.3, 0.7), (0.1, 0.5, 0.9), (0.02,))
DIALS = (  # two arms, small enough for backward induction
    Axis("p", 0.02, 1.0, log=True),
    Axis("p2", 0.02, 1.0, log=True),
    Axis("λ", 0.05, 1e4, log=True),
    Axis("α", 0.2, 3.0),
    Axis("T", 1, 120, log=True, whole=True),
)
LONG = (  # arms in turn, everything observed
    Axis("d", 1, 8, whole=True),
    Axis("λ", 0.05, 1e6, log=True),
    Axis("T", 1, 1e6, log=True, whole=True),
)


def tried(point: Point) -> tuple[tuple[float, float], float, float, int, str]:
    """Return p, lambda, alpha and T of a searched instance, and its description."""
    observe, lam, alpha = (point["p"], point["p2"]), point["λ"], point.get("α", 1.0)
    where = f"p = ({observe[0]:.2g}, {observe[1]:.2g}), λ = {lam:.2g}, T = {point['T']:g}"
    where += f", α = {alpha:.2g}" if "α" in point else ""
    return observe, lam, alpha, int(point["T"]), where


def nearest(comparisons: Iterable[Comparison]) -> Comparison:
    """Return the comparison that is closest to a contradiction."""
    return max(comparisons, key=lambda c: c.strain)


def spread_out(
    observe: Sequence[float], horizon: float, alpha: float, lam: float, delta: float
) -> float:
    """Return d_eff/(1−δ)^α [ψ(T/d_eff + λ/(1−δ)) − ψ(λ/(1−δ))]."""
    dimension, offset = effective_dimension(observe), lam / (1.0 - delta)
    grown = float(area(offset, horizon / dimension, alpha))
    return dimension / (1.0 - delta) ** alpha * grown


def printed_start(observe: Sequence[float], horizon: float, alpha: float, lam: float) -> float:
    """Return (24 d_eff log T + d)/λ^α."""
    dimension = effective_dimension(observe)
    return (24.0 * dimension * math.log(horizon) + len(observe)) / lam**alpha


@claim(
    "notation",
    place="Table of notation",
    family=ARMS,
    says="p is the probability that feedback is censored; d_eff is the sum of 1/p.",
    right="p is the probability that feedback is observed.",
    how=(
        "Two arms with p = 0.9 and 0.6, interpreted both ways, in a separate simulation: the"
        " largest potential of order ½ grows from T to 4T like d_eff ψ(T/d_eff + λ)."
    ),
    expected=CORRECTED,
    erratum="notation",
)
def notation(lab: Laboratory) -> Evidence:
    """Simulate feedback that is censored, or observed, with probability p; compare the growth.

    The library uses p as the probability of being observed; here feedback is drawn independently of
    the library.
    """
    chances, horizons = np.array([0.9, 0.6]), (2000, 8000)
    dimension = float((1.0 / chances).sum())
    ends = [dimension * 2.0 * math.sqrt(t / dimension + 1.0) for t in horizons]
    where = f"p = (0.9, 0.6), T = {horizons[0]:,} to {horizons[1]:,}"
    rows = {}
    for name, observe in (("censored", 1.0 - chances), ("observed", chances)):
        runs = lab.size(64, 400)
        potential = play_greedily(observe.tolist(), horizons, (0.5,), 1.0, runs, lab.seed)
        grown = ratio(potential[1, 0] - potential[0, 0], np.full(runs, ends[1] - ends[0]))
        rows[name] = Comparison(where, grown, "equals", 1.0, 0.02)
    return Evidence((rows["censored"],), (rows["observed"],))


def _whole_bound(
    observe: Sequence[float], horizon: int, point: tuple[float, float, float]
) -> float:
    """Return the bound of the proposition at (α, λ, δ)."""
    alpha, lam, delta = point
    limit = spread_out(observe, horizon, alpha, lam, delta)
    limit += printed_start(observe, horizon, alpha, lam)
    fails = delta**2 * horizon ** (12.0 * delta**2) * lam**alpha
    return limit + 4.0 * effective_dimension(observe) / fails


@claim(
    "potential-control-arms",
    place="Proposition 3.4",
    family=ARMS,
    says=(
        "No policy’s expected potential exceeds d_eff/(1−δ)^α [ψ(T/d_eff + λ/(1−δ)) − ψ(λ/(1−δ))]"
        " + (24 d_eff log T + d)/λ^α + 4 d_eff/(λ^α δ² T^(12δ²))."
    ),
    how=(
        "Best adaptive policy by backward induction over counts, every arm tried in every state: 4"
        " sets of p, λ = 0.1, 1, 10, α = ½, 1, 2, δ = 0.1, ½, 0.9. The search is over p, λ, α, δ, T"
        " of two arms; and over d, λ, α, δ, T up to 10⁶ with everything observed."
    ),
)
def potential_control_arms(lab: Laboratory) -> Evidence:
    """Compare the exact optimum over all policies with the printed bound."""
    rows = []
    horizons = (1, 2, 10, lab.size(30, 60))
    for observe in OBSERVES:
        tries = []
        for lam in (0.1, 1.0, 10.0):
            for alpha in (0.5, 1.0, 2.0):
                for horizon in horizons:
                    exact = Measured(best_adaptive(observe, horizon, alpha, lam))
                    for delta in (0.1, 0.5, 0.9):
                        limit = _whole_bound(observe, horizon, (alpha, lam, delta))
                        where = f"p = {observe}, λ = {lam:g}, α = {alpha:g}, T = {horizon:,}"
                        where += f", δ = {delta:g}"
                        tries.append(Comparison(where, exact, "at most", limit))
        rows.append(nearest(tries))

    def measure(point: Point) -> Comparison:
        observe, lam, alpha, horizon, where = tried(point)
        exact = Measured(best_adaptive(observe, horizon, alpha, lam))
        limit = _whole_bound(observe, horizon, (alpha, lam, point["δ"]))
        return Comparison(f"{where}, δ = {point['δ']:.2g}", exact, "at most", limit)

    def in_turn(point: Point) -> Comparison:
        arms, horizon, lam, alpha = int(point["d"]), int(point["T"]), point["λ"], point["α"]
        exact = Measured(everything_seen(arms, horizon, lam, alpha))
        limit = _whole_bound([1.0] * arms, horizon, (alpha, lam, point["δ"]))
        where = f"d = {arms}, all seen, λ = {lam:.2g}, T = {horizon:,}, α = {alpha:.2g}"
        return Comparison(f"{where}, δ = {point['δ']:.2g}", exact, "at most", limit)

    axes = (*DIALS, Axis("δ", 0.02, 0.98))
    rows.append(closest(measure, axes, lab.size(60, 600), lab.seed))
    longer = (*LONG, Axis("δ", 0.02, 0.98), Axis("α", 0.2, 3.0))
    rows.append(closest(in_turn, longer, lab.size(80, 600), lab.seed))
    return Evidence(tuple(rows))


def everything_seen(arms: int, horizon: int, lam: float, alpha: float) -> float:
    """Return the potential of arms played in turn when everything is observed."""
    times, over = horizon // arms, horizon % arms
    return float(arms * ((np.arange(times) + lam) ** -alpha).sum() + over * (times + lam) ** -alpha)


@claim(
    "potential-control-arms-half",
    place="Proposition 3.4, display at α = δ = ½",
    family=ARMS,
    says="The potential of order ½ is at most √2 d_eff [√(T/d_eff + 2λ) − √(2λ)] + rest.",
    right="The factor is 2√2.",
    how=(
        "Two arms in turn, everything observed, λ = 1: the potential is deterministic. The search"
        " is over the number of arms, λ and T."
    ),
    expected=CORRECTED,
    erratum="control-half",
)
def potential_control_half(lab: Laboratory) -> Evidence:
    """Add up the potential of two arms and compare it with both factors."""
    observe, lam = (1.0, 1.0), 1.0
    horizons = [10**k for k in range(3, lab.size(8, 9))]
    exact = [everything_seen(2, t, 1.0, 0.5) for t in horizons]
    rest = [printed_start(observe, t, 0.5, lam) + 32.0 / t**2 for t in horizons]
    main = [spread_out(observe, t, 0.5, lam, 0.5) for t in horizons]
    printed = [0.5 * m + r for m, r in zip(main, rest, strict=True)]
    right = [m + r for m, r in zip(main, rest, strict=True)]

    def against(limits: list[float]) -> tuple[Comparison, ...]:
        return tuple(
            Comparison(f"p = (1, 1), T = {t:,}", Measured(v), "at most", limit)
            for t, v, limit in zip(horizons, exact, limits, strict=True)
        )

    lines = (
        Line("exact", horizons, exact),
        Line("printed", horizons, printed, claimed=True),
        Line("right", horizons, right, claimed=True),
    )
    curve = Curve("Potential of order ½", "rounds", "potential", lines, log_upwards=True)

    def measure(point: Point) -> Comparison:
        arms, horizon, lam = int(point["d"]), int(point["T"]), point["λ"]
        ones = [1.0] * arms
        limit = spread_out(ones, horizon, 0.5, lam, 0.5) + printed_start(ones, horizon, 0.5, lam)
        limit += 16.0 * arms / horizon**2 / math.sqrt(lam)
        exact = Measured(everything_seen(arms, horizon, lam, 0.5))
        return Comparison(f"d = {arms}, λ = {lam:.2g}, T = {horizon:,}", exact, "at most", limit)

    tightest = closest(measure, LONG, lab.size(60, 400), lab.seed)
    return Evidence(against(printed), (*against(right), tightest), curve)


@claim(
    "potential-control-arms-one",
    place="Proposition 3.4, display at α = 1, δ = ½",
    family=ARMS,
    says="The potential of order 1 is at most 2 d_eff log(1 + T/2λ) + rest.",
    how=(
        "The best adaptive policy by backward induction. The display holds although d_eff was lost:"
        " T/(2λ d_eff) follows. The search is over the number of arms, λ and T, with everything"
        " observed."
    ),
    erratum="control-one",
)
def potential_control_one(lab: Laboratory) -> Evidence:
    """Compare the exact optimum with the display, which is larger than necessary."""
    rows = []
    for observe in OBSERVES:
        for horizon in (10, lab.size(30, 60)):
            where = f"p = {observe}, T = {horizon:,}"
            exact = Measured(best_adaptive(observe, horizon, 1.0, 1.0))
            rows.append(Comparison(where, exact, "at most", _order_one(observe, horizon, 1.0)))

    def measure(point: Point) -> Comparison:
        arms, horizon, lam = int(point["d"]), int(point["T"]), point["λ"]
        exact = Measured(everything_seen(arms, horizon, lam, 1.0))
        where = f"d = {arms}, all seen, λ = {lam:.2g}, T = {horizon:,}"
        return Comparison(where, exact, "at most", _order_one([1.0] * arms, horizon, lam))

    rows.append(closest(measure, LONG, lab.size(60, 600), lab.seed))
    return Evidence(tuple(rows))


def _order_one(observe: Sequence[float], horizon: int, lam: float) -> float:
    """Return the display at α = 1, δ = 1/2."""
    dimension = effective_dimension(observe)
    limit = 2.0 * dimension * math.log1p(horizon / (2.0 * lam))
    return limit + printed_start(observe, horizon, 1.0, lam) + 16.0 * dimension / horizon**2 / lam


@claim(
    "orders-of-potentials",
    place="Text after lemma 3.3",
    family=ARMS,
    says="The potentials of order ½ and 1 are of order d_eff log T and √(d_eff T).",
    right="The other way round.",
    how=(
        "p = (0.5, 0.2), always playing the arm with the fewest observations, in a separate"
        " simulation: growth of both when the number of rounds is multiplied by four."
    ),
    expected=CORRECTED,
    erratum="orders",
)
def orders_of_potentials(lab: Laboratory) -> Evidence:
    """Measure how both potentials grow with the number of rounds."""
    first = lab.size(5000, 20_000)
    late = (first, 4 * first)
    potential = play_greedily((0.5, 0.2), late, (0.5, 1.0), 1.0, lab.size(64, 200), lab.seed)
    half, one = (ratio(potential[1, order], potential[0, order]) for order in (0, 1))
    logarithm = math.log(4 * first) / math.log(first)
    names = [f"order {order}, T = {first:,} to {4 * first:,}" for order in ("½", "1")]
    printed = Comparison(names[0], half, "at most", logarithm, 0.05)
    right = (
        Comparison(names[0], half, "equals", 2.0, 0.05),
        Comparison(names[1], one, "equals", logarithm, 0.05),
    )
    return Evidence((printed,), right)


@claim(
    "heteroskedastic-potential",
    place="Remark 3, display",
    family=ARMS,
    says=(
        "With noise σ_a the weighted potential is at most (24 d_eff log T + d)/λ^α plus the value"
        " of water-filling with p_a/σ_a^(1/α)."
    ),
    right="The first rounds cost σ_a each: Σ σ_a ⌈24 log T/p_a⌉/λ^α, and so on for the last term.",
    how=(
        "σ = 0.1 to 1000, α = ½, δ = ½: best adaptive policy of the weighted potential by backward"
        " induction over counts. The search is over p, σ, λ and T."
    ),
    expected=CORRECTED,
    erratum="heteroskedastic-start",
)
def heteroskedastic_potential(lab: Laboratory) -> Evidence:
    """Vary the noise, on which the first term of the display does not depend."""
    printed, right = [], []
    for observe, noise in (
        ((1.0, 1.0), (1000.0, 1000.0)),
        ((0.5, 0.2), (1000.0, 300.0)),
        ((0.5, 0.2, 0.8, 0.3), (0.1, 1.0, 2.0, 0.3)),
    ):
        for horizon in (4, 9, *((60,) if len(observe) == 2 else ())):
            exact = Measured(best_adaptive(observe, horizon, 0.5, 1.0, noise))
            where = f"p = {observe}, σ = {noise}, T = {horizon:,}"
            whole = papers_potential(observe, horizon, 0.5, 1.0, weights=noise)
            right.append(Comparison(where, exact, "at most", whole))
            scale = np.array(noise) ** 2
            _, _, limit = pour(np.array(observe) / scale, 2.0 / scale, horizon, 0.5)
            limit = math.sqrt(2.0) * limit + printed_start(observe, horizon, 0.5, 1.0)
            printed.append(Comparison(where, exact, "at most", limit))

    def measure(point: Point) -> Comparison:
        observe, lam, _, horizon, where = tried(point)
        noise = (1.0, point["σ"])
        exact = Measured(best_adaptive(observe, horizon, 0.5, lam, noise))
        limit = papers_potential(observe, horizon, 0.5, lam, weights=noise)
        return Comparison(f"{where}, σ = (1, {point['σ']:.2g})", exact, "at most", limit)

    axes = (*(a for a in DIALS if a.name != "α"), Axis("σ", 0.01, 100.0, log=True))
    right.append(closest(measure, axes, lab.size(60, 600), lab.seed))
    return Evidence(tuple(printed), tuple(right))
