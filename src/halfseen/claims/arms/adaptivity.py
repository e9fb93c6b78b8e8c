"""Claims about the value of monitoring the censoring, measured by independent programs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import numpy as np
from scipy import stats

from halfseen.claims.areas import area
from halfseen.claims.arms.events import ARMS
from halfseen.claims.arms.programs import (
    best_adaptive,
    best_offline,
    best_with_looks,
    exact_with_looks,
    expected_costs,
)
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.laboratory import Laboratory
from halfseen.theory import (
    adaptivity_constant,
    effective_dimension,
    monitored_potential,
    monitoring_constant,
)

OBSERVES = ((0.1, 0.5, 0.9), (0.3, 0.7), (0.5, 0.5))
ORDERS = (0.5, 1.0)
HALF = Fraction(1, 2)


@claim(
    "inverse-moments",
    place="Claim B.3",
    family=ARMS,
    says="E (X+λ)^−α ≤ (1 + C/(np)^(1/4)) (np+λ)^−α for X binomial and some C.",
    how=(
        "The paper claims that some C exists, which no measurement can refute; what is tested is"
        " our reading: the exponent of n in the relative excess is at most −1/4 (it is −1), and"
        " C = 1 + α² (1+α)/λ suffices. Moments are summed over scipy’s binomial distribution."
    ),
)
def inverse_moments(lab: Laboratory) -> Evidence:
    """Fit the rate at which the excess over the moment at the mean vanishes; test a constant."""
    rows = []
    for observe in (0.05, 0.5):
        for alpha in ORDERS:
            excess = [_excess(n, observe, alpha, 1.0) for n in (10_000, 40_000)]
            slope = float(np.log(excess[1] / excess[0]) / np.log(4.0))
            where = f"p = {observe:g}, α = {alpha:g}"
            rows.append(Comparison(f"{where}, exponent", Measured(slope), "at most", -0.25))
            for lam in (0.2, 1.0, 5.0):
                most = max((n * observe) ** 0.25 * _excess(n, observe, alpha, lam) for n in TRIALS)
                constant = 1.0 + alpha**2 * (1.0 + alpha) / lam
                words = f"{where}, λ = {lam:g}, C"
                rows.append(Comparison(words, Measured(most), "at most", constant))
    return Evidence(tuple(rows))


TRIALS = (1, 2, 5, 10, 20, 50, 100, 300, 1000, 5000)


def _excess(trials: int, observe: float, alpha: float, lam: float) -> float:
    """Return E(X+λ)^−α divided by (np+λ)^−α, minus 1."""
    law = stats.binom(trials, observe)
    low, high = law.ppf(1e-18), law.isf(1e-18)
    counts = np.arange(max(low, 0.0), high + 1.0)
    moment = float(law.pmf(counts) @ (counts + lam) ** -alpha)
    return moment * (trials * observe + lam) ** alpha - 1.0


@claim(
    "offline-equivalent",
    place="Lemma 3.6",
    family=ARMS,
    says="The best offline potential is equivalent to d_eff ψ(T/d_eff + λ).",
    how=(
        "The best of all allocations, by enumeration: the ratio of its growth from T to 4T to that"
        " of the equivalent tends to 1."
    ),
)
def offline_equivalent(lab: Laboratory) -> Evidence:
    """Compare increments, from which the constants, negligible only like 1/log T, cancel."""
    rows, first = [], lab.size(1500, 5000)
    for observe in OBSERVES:
        dimension = effective_dimension(observe)
        costs = [expected_costs(p, 4 * first, ORDERS, 1.0) for p in observe]
        for order, alpha in enumerate(ORDERS):
            arms = [one[order] for one in costs]
            low, high = (best_offline(arms, t) for t in (first, 4 * first))
            start, length = first / dimension + 1.0, 3.0 * first / dimension
            grown = dimension * float(area(start, length, alpha))
            where = f"p = {observe}, α = {alpha:g}, T = {first:,}"
            found = Measured((high - low) / grown)
            rows.append(Comparison(where, found, "equals", 1.0, 0.01))
    return Evidence(tuple(rows))


@claim(
    "adaptivity-gain",
    place="Proposition 3.7, (⋆)",
    family=ARMS,
    says="Monitoring the censoring throughout gains γ_α(p)/T^α over the best offline policy.",
    how=(
        "Backward induction over counts minus the best of all allocations, two arms: the"
        " difference times T^α/γ, its error of order 1/T removed by doubling T, tends to 1."
    ),
)
def adaptivity_gain(lab: Laboratory) -> Evidence:
    """Measure the gain of full adaptivity."""
    rows, lines = [], []
    horizons = (25, 50, 100, 200, *lab.size((), (400, 800)))
    for observe in (*OBSERVES[1:], (0.2, 0.6)):
        for alpha in (*ORDERS, 2.0):
            gains = [
                _gain(observe, t, alpha) * t**alpha / adaptivity_constant(observe, alpha)
                for t in horizons
            ]
            where = f"p = {observe}, α = {alpha:g}, T = {horizons[-2]:,} and {horizons[-1]:,}"
            limit = Measured(2.0 * gains[-1] - gains[-2])
            rows.append(Comparison(where, limit, "equals", 1.0, 0.01))
            if alpha == 1.0:
                lines.append(Line(f"p = {observe}", horizons, [abs(1.0 - g) for g in gains]))
    title = "How far gain · T over γ is from 1, α = 1"
    curve = Curve(title, "rounds", "distance", tuple(lines), log_upwards=True)
    return Evidence(tuple(rows), curve=curve)


def _gain(observe: tuple[float, ...], horizon: int, alpha: float) -> float:
    """Return the gain of full adaptivity over the best allocation fixed in advance."""
    costs = [expected_costs(p, horizon, (alpha,), 1.0)[0] for p in observe]
    return best_adaptive(observe, horizon, alpha, 1.0) - best_offline(costs, horizon)


SHOWN, SHARES = (0.1, 0.5), (0.03, 0.1, 0.3, 0.5, 0.7, 0.9)
LOOKED, TIME = ((SHOWN, SHARES), ((0.2, 0.8), SHARES)), 600


@cache
def one_look(observe: tuple[float, float], share: float) -> float:
    """Return T times the gain of one look, by exhaustive search."""
    looked = best_with_looks(observe, TIME, 1.0, 1.0, (round(share * TIME),))
    return TIME * (looked - best_with_looks(observe, TIME, 1.0, 1.0))


@claim(
    "single-monitoring",
    place="Proposition 3.7, (⋆⋆)",
    family=ARMS,
    says="One look after βT rounds gains βγ_α(p)/T^α.",
    right="The gain is that of a fractional knapsack over the arms; βγ only if all p are equal.",
    how=(
        "Two arms, T = 600: exhaustive search over first allocations and the responses to every"
        " outcome, by a separate program."
    ),
    expected=CORRECTED,
    erratum="monitoring",
)
def single_monitoring(lab: Laboratory) -> Evidence:
    """Search all ways to use one look."""
    printed, right = [], []
    for observe, looks in (((0.02, 0.5), SHARES[:1]), *LOOKED):
        for share in looks:
            constant = monitoring_constant(observe, 1.0, share)
            where, found = f"p = {observe}, β = {share:g}", Measured(one_look(observe, share))
            printed.append(Comparison(where, found, "equals", constant.papers_claim, 0.1))
            right.append(Comparison(where, found, "equals", constant.value, 0.1))
    constants = [monitoring_constant(SHOWN, 1.0, share) for share in SHARES]
    lines = (
        Line("exact", SHARES, [one_look(SHOWN, share) for share in SHARES]),
        Line("printed", SHARES, [c.papers_claim for c in constants], claimed=True),
        Line("right", SHARES, [c.value for c in constants], claimed=True),
    )
    curve = Curve("Gain of one look times T, p = (0.1, 0.5)", "share β", "gain × T", lines, False)
    return Evidence(tuple(printed), tuple(right), curve)


@cache
def _exact_gain(observe: tuple[Fraction, ...], horizon: int, looks: tuple[int, ...]) -> Fraction:
    """Return the gain of looks at given times over none, in rational arithmetic, α = λ = 1."""
    looked = exact_with_looks(observe, horizon, 1, looks)
    return looked - exact_with_looks(observe, horizon, 1)


def _bends(gains: list[float]) -> list[float]:
    """Return second differences, which are above 0 where the gains are not concave."""
    return [after - 2.0 * here + before for before, here, after in _triples(gains)]


def _triples(values: list[float]) -> list[tuple[float, float, float]]:
    return [(a, b, c) for (a, b), (_, c) in pairwise(pairwise(values))]


@claim(
    "monitoring-concave",
    place="Text before the proof of proposition 3.7",
    family=ARMS,
    says="The gain of one look at T₀ is a concave function of T₀, with limits 0 at both borders.",
    right="0 at both ends for every T; concave in the limit, over shares β that stay fixed.",
    how=(
        "α = λ = 1. T = 3, 4, 5 in rational arithmetic, two and three arms; T = 600 by exhaustive"
        " search: second differences. At T = 4, p = (½, ½): gains 0, 1/24, 1/8, 1/16, 0."
    ),
    expected=CORRECTED,
    erratum="monitoring-concave",
)
def monitoring_concave(lab: Laboratory) -> Evidence:
    """Compute second differences of the gain over the time of the look."""
    printed, right = [], []
    models: tuple[tuple[Fraction, ...], ...]
    models = ((HALF, HALF), (HALF, HALF / 2), (HALF, HALF / 2, Fraction(4, 5)))
    for chances in models:
        for horizon in range(3, 6):
            exact = [_exact_gain(chances, horizon, (t,)) for t in range(horizon + 1)]
            where = f"p = ({', '.join(map(str, chances))}), T = {horizon}"
            bends = _bends([float(gain) for gain in exact])
            largest = Measured(max(bends))
            printed.append(Comparison(f"{where}, bend", largest, "at most", 0.0))
            for name, gain in (("first", exact[0]), ("last", exact[-1])):
                ends = Comparison(
                    f"{where}, look at the {name}", Measured(float(gain)), "equals", 0.0
                )
                printed.append(ends)
                right.append(ends)
    shares = (0.1, 0.3, 0.5, 0.7, 0.9)
    for observe, _ in LOOKED:
        steps = _bends([one_look(observe, share) for share in shares])
        where = f"p = {observe}, T = {TIME}, β = 0.1, 0.3, …, bend"
        right.append(Comparison(where, Measured(max(steps)), "at most", 0.0))
        for share in shares:
            limit = monitoring_constant(observe, 1.0, share).value
            found = Measured(one_look(observe, share))
            right.append(Comparison(f"p = {observe}, β = {share:g}", found, "equals", limit, 0.1))
    return Evidence(tuple(printed), tuple(right))


@claim(
    "monitoring-submodular",
    place="Text before the proof of proposition 3.7, conjecture",
    family=ARMS,
    says="The gain of several looks is a submodular function of the set of their times.",
    right=(
        "It is in the limit, where only the last look matters and the gain is that of this look"
        " alone. At a finite horizon two looks can gain more than the sum of their separate gains."
    ),
    how=(
        "α = λ = 1. T = 4 and 5 in rational arithmetic: g(A∪B) + g(A∩B) − g(A) − g(B) over all"
        " pairs of sets. T = 160: looks at 64, 128 and both, by exhaustive search. At T = 4,"
        " p = (½, ½): g({1, 3}) = 1/8, g({1}) + g({3}) = 1/24 + 1/16."
    ),
    expected=CORRECTED,
    erratum="monitoring-submodular",
)
def monitoring_submodular(lab: Laboratory) -> Evidence:
    """Search for two sets of looks that gain more together than separately."""
    printed = []
    for chances in ((HALF, HALF), (HALF, HALF / 2)):
        for horizon in (3, 4, *lab.size((), (5,))):
            times = range(1, horizon)
            sets = [c for size in range(horizon) for c in combinations(times, size)]
            excess = max(_together(chances, horizon, one, two) for one in sets for two in sets)
            where = f"p = ({', '.join(map(str, chances))}), T = {horizon}"
            printed.append(Comparison(where, Measured(float(excess)), "at most", 0.0))
    right = []
    for observe in ((0.5, 0.25), (0.5, 0.5)):
        horizon, early, late = 160, 64, 128
        none = best_with_looks(observe, horizon, 1.0, 1.0)
        first, last, both = (
            best_with_looks(observe, horizon, 1.0, 1.0, looks) - none
            for looks in ((early,), (late,), (early, late))
        )
        where = f"p = {observe}, T = {horizon}, looks at {early}, {late}"
        right.append(Comparison(f"{where}: both", Measured(both), "at most", first + last))
        right.append(
            Comparison(f"{where}: over the last", Measured(both / last), "equals", 1.0, 0.05)
        )
    return Evidence(tuple(printed), tuple(right))


def _together(
    observe: tuple[Fraction, ...], horizon: int, one: tuple[int, ...], two: tuple[int, ...]
) -> Fraction:
    """Return g(A∪B) + g(A∩B) − g(A) − g(B)."""
    union, common = tuple(sorted({*one, *two})), tuple(sorted({*one} & {*two}))
    joint = _exact_gain(observe, horizon, union) + _exact_gain(observe, horizon, common)
    return joint - _exact_gain(observe, horizon, one) - _exact_gain(observe, horizon, two)


@claim(
    "several-looks",
    place="new",
    family=ARMS,
    says="`monitored_potential` is the largest expected potential with looks at given times.",
    how=(
        "Two and three arms, T = 5 in rational arithmetic, and two arms, T = 40, by exhaustive"
        " search over plans of every interval after every outcome: looks at no, one, two and all"
        " times."
    ),
)
def several_looks(lab: Laboratory) -> Evidence:
    """Compare the library's function with independent programs."""
    rows = []
    few: tuple[tuple[int, ...], ...] = ((), (1,), (4,), (2, 4), (1, 2, 3, 4))
    for observe in ((HALF, HALF), (HALF, HALF / 2, Fraction(4, 5))):
        for looks in few:
            exact = Measured(float(exact_with_looks(observe, 5, 1, looks)))
            p = [float(chance) for chance in observe]
            claimed = monitored_potential(p, 5, 1.0, 1.0, looks).value
            where = f"p = ({', '.join(map(str, observe))}), T = 5, looks at {_times(looks)}"
            rows.append(Comparison(where, exact, "equals", claimed, 1e-10))
    for alpha in (0.5, 2.0):
        for looks in ((), (30,), (20, 34), *lab.size((), ((10, 20, 30),))):
            found = Measured(best_with_looks((0.3, 0.7), 40, alpha, 1.0, looks))
            claimed = monitored_potential((0.3, 0.7), 40, alpha, 1.0, looks).value
            where = f"p = (0.3, 0.7), T = 40, α = {alpha:g}, looks at {_times(looks)}"
            rows.append(Comparison(where, found, "equals", claimed, 1e-10))
    return Evidence(tuple(rows))


def _times(looks: tuple[int, ...]) -> str:
    return ", ".join(map(str, looks)) or "no time"
