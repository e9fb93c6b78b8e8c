"""Claims about the potential of arms: what any policy can accumulate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.claims.arms_events import ARMS
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.intervals import mean, ratio
from halfseen.claims.laboratory import Laboratory
from halfseen.policies import UCB, GaussianThompson, Policy
from halfseen.problems import ArmedBandit
from halfseen.theory import (
    adaptive_potential,
    effective_dimension,
    fluid_potential,
    papers_potential,
    water_filling,
)
from halfseen.theory.power_sums import power_integral, power_sum
from halfseen.theory.waterfilling import pour

OBSERVES = ((1.0, 1.0), (0.3, 0.7), (0.1, 0.5, 0.9), (0.02,))
ORDERS = (0.5, 1.0, 2.0)


def nearest(comparisons: Iterable[Comparison]) -> Comparison:
    """Return the comparison that comes nearest to a contradiction."""
    return max(comparisons, key=lambda c: c.strain)


def spread_out(
    observe: Sequence[float], horizon: float, alpha: float, lam: float, delta: float
) -> float:
    """Return d_eff/(1−δ)^α [ψ(T/d_eff + λ/(1−δ)) − ψ(λ/(1−δ))]."""
    dimension, offset = effective_dimension(observe), lam / (1.0 - delta)
    area = power_integral(np.array(offset), np.array(horizon / dimension), alpha)
    return dimension / (1.0 - delta) ** alpha * float(area)


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
    how="p = 0.9 read both ways: exact largest potential against d_eff times its mean growth.",
    expected=CORRECTED,
    erratum="notation",
)
def notation(lab: Laboratory) -> Evidence:
    """Read p as printed and see the bound on the potential fall."""
    printed, right = [], []
    for horizon in (100, 2000):
        where = f"p = 0.9, T = {horizon:,}"
        limit = fluid_potential([0.9], horizon, 0.5, 1.0)
        seldom, often = (Measured(adaptive_potential([p], horizon, 0.5, 1.0)) for p in (0.1, 0.9))
        printed.append(Comparison(where, seldom, "at most", limit))
        right.append(Comparison(where, often, "at most", limit))
    return Evidence(tuple(printed), tuple(right))


@claim(
    "potential-control-arms",
    place="Proposition “Potential Control Finite”",
    family=ARMS,
    says=(
        "No policy’s expected potential exceeds d_eff/(1−δ)^α [ψ(T/d_eff + λ/(1−δ)) − ψ(λ/(1−δ))]"
        " + (24 d_eff log T + d)/λ^α + 4 d_eff/(λ^α δ² T^(12δ²))."
    ),
    how="Exact best adaptive policy for 4 sets of p, λ = 0.1, 1, 10, α = ½, 1, 2, δ = 0.1, ½, 0.9.",
)
def potential_control_arms(lab: Laboratory) -> Evidence:
    """Compare the exact optimum over all policies with the printed bound."""
    rows = []
    horizons = (1, 2, 10, 300, lab.size(3000, 30_000))
    for observe in OBSERVES:
        tries = []
        for lam in (0.1, 1.0, 10.0):
            for alpha in ORDERS:
                for horizon in horizons:
                    exact = Measured(adaptive_potential(observe, horizon, alpha, lam))
                    for delta in (0.1, 0.5, 0.9):
                        limit = spread_out(observe, horizon, alpha, lam, delta)
                        limit += printed_start(observe, horizon, alpha, lam)
                        fails = delta**2 * horizon ** (12.0 * delta**2) * lam**alpha
                        limit += 4.0 * effective_dimension(observe) / fails
                        where = (
                            f"p = {observe}, λ = {lam:g}, α = {alpha:g}, T = {horizon:,},"
                            f" δ = {delta:g}"
                        )
                        tries.append(Comparison(where, exact, "at most", limit))
        rows.append(nearest(tries))
    return Evidence(tuple(rows))


def _everything_seen(horizon: int, alpha: float) -> float:
    """Return the potential of two arms played in turn, λ = 1, when everything is seen."""
    return float(2.0 * (np.arange(1.0, horizon // 2 + 1.0) ** -alpha).sum())


@claim(
    "potential-control-arms-half",
    place="Proposition “Potential Control Finite”, display at α = δ = ½",
    family=ARMS,
    says="The potential of order ½ is at most √2 d_eff [√(T/d_eff + 2λ) − √(2λ)] + rest.",
    right="The factor is 2√2.",
    how="Two arms in turn, everything seen, λ = 1: the potential is certain.",
    expected=CORRECTED,
    erratum="control-half",
)
def potential_control_half(lab: Laboratory) -> Evidence:
    """Add up the potential of two arms and compare it with both factors."""
    observe, lam = (1.0, 1.0), 1.0
    horizons = [10**k for k in range(3, lab.size(8, 9))]
    exact = [_everything_seen(t, 0.5) for t in horizons]
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
    return Evidence(against(printed), against(right), curve)


@claim(
    "potential-control-arms-one",
    place="Proposition “Potential Control Finite”, display at α = 1, δ = ½",
    family=ARMS,
    says="The potential of order 1 is at most 2 d_eff log(1 + T/2λ) + rest.",
    how="Exact best adaptive policy; true though d_eff was lost: T/(2λ d_eff) is what follows.",
    erratum="control-one",
)
def potential_control_one(lab: Laboratory) -> Evidence:
    """Compare the exact optimum with the display, which is larger than it need be."""
    rows = []
    for observe in OBSERVES:
        for horizon in (10, lab.size(5000, 50_000)):
            exact = Measured(adaptive_potential(observe, horizon, 1.0, 1.0))
            dimension = effective_dimension(observe)
            limit = 2.0 * dimension * math.log1p(horizon / 2.0)
            limit += printed_start(observe, horizon, 1.0, 1.0) + 16.0 * dimension / horizon**2
            rows.append(Comparison(f"p = {observe}, T = {horizon:,}", exact, "at most", limit))
    return Evidence(tuple(rows))


@claim(
    "orders-of-potentials",
    place="Text after lemma “Potential Reduction Finite”",
    family=ARMS,
    says="The potentials of order ½ and 1 are of order d_eff log T and √(d_eff T).",
    right="The other way round.",
    how="Exact best adaptive policy, p = (0.5, 0.2): growth of both when the rounds are fourfold.",
    expected=CORRECTED,
    erratum="orders",
)
def orders_of_potentials(lab: Laboratory) -> Evidence:
    """Measure how both potentials grow with the number of rounds."""
    first = lab.size(10_000, 100_000)
    half, one = (
        Measured(
            adaptive_potential([0.5, 0.2], 4 * first, alpha, 1.0)
            / adaptive_potential([0.5, 0.2], first, alpha, 1.0)
        )
        for alpha in (0.5, 1.0)
    )
    logarithm = math.log(4 * first) / math.log(first)
    names = [f"order {order}, T = {first:,} to {4 * first:,}" for order in ("½", "1")]
    printed = Comparison(names[0], half, "at most", logarithm, 0.05)
    right = (
        Comparison(names[0], half, "equals", 2.0, 0.05),
        Comparison(names[1], one, "equals", logarithm, 0.05),
    )
    return Evidence((printed,), right)


def _searched(
    observe: Sequence[float], floors: Sequence[float], budget: float, alpha: float
) -> float:
    """Return the largest value a general optimiser finds, which knows nothing of water."""
    from scipy.optimize import minimize

    p, lam = np.array(observe), np.array(floors, dtype=float)

    def loss(shares: Vector) -> float:
        return -float((power_integral(lam, p * np.maximum(shares, 0.0) * budget, alpha) / p).sum())

    start = np.full(len(p), 1.0 / len(p))
    whole = {"type": "eq", "fun": lambda shares: shares.sum() - 1.0}
    options = {"ftol": 1e-13, "maxiter": 500}
    found = minimize(
        loss,
        start,
        bounds=[(0.0, 1.0)] * len(p),
        constraints=whole,
        method="SLSQP",
        options=options,
    )
    return -float(found.fun)


@claim(
    "water-filling",
    place="Lemma “Optimization Lemma Finite”",
    family=ARMS,
    says=(
        "The allocation τ_a = [C − λ_a]⁺/p_a is best; past max λ⁰_a its value is"
        " d_eff ψ(T/d_eff + λ_eff) − Σ ψ(λ_a)/p_a."
    ),
    how="Three arms, λ = (1, 2, 50), α = ½ and 1: a general optimiser, and allocations at random.",
)
def water(lab: Laboratory) -> Evidence:
    """Look for a better allocation."""
    observe, floors = (0.5, 0.25, 0.8), (1.0, 2.0, 50.0)
    p, lam = np.array(observe), np.array(floors)
    dimension = effective_dimension(observe)
    late = dimension * float(lam.max() - (lam / p).sum() / dimension)
    shares = np.random.default_rng(lab.seed).dirichlet(np.ones(3), lab.size(2000, 100_000))
    rows = []
    for budget in (20.0, 400.0):
        for alpha in (0.5, 1.0):
            value = water_filling(observe, floors, budget, alpha).value
            if budget >= late:
                level = budget / dimension + float((lam / p).sum()) / dimension
                value = float((power_integral(lam, level - lam, alpha) / p).sum())
            where = f"T = {budget:g}, α = {alpha:g}"
            best = Measured(_searched(observe, floors, budget, alpha))
            rows.append(Comparison(where + ", optimiser", best, "equals", value, 1e-6))
            tried = (power_integral(lam, p * shares * budget, alpha) / p).sum(axis=1)
            most = Measured(float(tried.max()))
            rows.append(Comparison(where + ", at random", most, "at most", value))
    return Evidence(tuple(rows))


@claim(
    "heteroskedastic-potential",
    place="Remark “Hetero Finite 1”, display",
    family=ARMS,
    says=(
        "With noise σ_a the weighted potential is at most (24 d_eff log T + d)/λ^α plus the value"
        " of water-filling with p_a/σ_a^(1/α)."
    ),
    right="The first rounds cost σ_a each: Σ σ_a ⌈24 log T/p_a⌉/λ^α, and so on for the last term.",
    how="σ = 0.1 to 1000, α = ½, δ = ½: exact best adaptive policy of the weighted potential.",
    expected=CORRECTED,
    erratum="heteroskedastic-start",
)
def heteroskedastic_potential(lab: Laboratory) -> Evidence:
    """Scale the noise, which the first term of the display does not notice."""
    printed, right = [], []
    for observe, noise in (
        ((1.0, 1.0), (1000.0, 1000.0)),
        ((0.5, 0.2), (1000.0, 300.0)),
        ((0.5, 0.2, 0.8, 0.3), (0.1, 1.0, 2.0, 0.3)),
    ):
        for horizon in (4, 50, lab.size(2000, 20_000)):
            exact = Measured(adaptive_potential(observe, horizon, 0.5, 1.0, noise))
            where = f"p = {observe}, σ = {noise}, T = {horizon:,}"
            whole = papers_potential(observe, horizon, 0.5, 1.0, noise)
            right.append(Comparison(where, exact, "at most", whole))
            scale = np.array(noise) ** 2
            _, _, limit = pour(np.array(observe) / scale, 2.0 / scale, horizon, 0.5)
            limit = math.sqrt(2.0) * limit + printed_start(observe, horizon, 0.5, 1.0)
            printed.append(Comparison(where, exact, "at most", limit))
    return Evidence(tuple(printed), tuple(right))


INSTANCES: tuple[tuple[Sequence[float], float, Sequence[float], float], ...] = (
    # means, noise, observe, lambda
    ((0.9, 0.8, 0.7, 0.5, 0.2), 1.0, (0.9, 0.1, 0.5, 0.3, 0.05), 1.0),
    ((0.5, 0.0), 0.3, (0.02, 1.0), 0.1),
    ((0.1, 0.0), 1.0, (0.5, 0.05), 5.0),
)


@claim(
    "exact-identity",
    place="new",
    family=ARMS,
    says="For every adaptive policy E V_α = E Σ_a G(N_a)/p_a, G(N) the sum of (n+λ)^−α over n < N.",
    how="UCB and Thompson sampling on three instances, α = ½ and 1: ratio of the two sides.",
)
def exact_identity(lab: Laboratory) -> Evidence:
    """Measure both sides of the identity on the same replications."""
    rows = []
    for means, noise, observe, lam in INSTANCES:
        policies: tuple[Policy, ...] = (UCB(lam), GaussianThompson(lam))
        for policy in policies:
            offset = float(policy.regularization)
            problem, horizon = ArmedBandit(means, noise=noise), lab.size(1000, 10_000)
            played = lab.play(problem, PerArm(observe), policy, horizon, lab.size(1000, 5000))
            counts = played.tracks["observations"][:, -1].astype(float)
            for order, alpha in enumerate((0.5, 1.0)):
                sides = (power_sum(counts, offset, alpha) / np.array(observe)).sum(axis=1)
                where = f"{type(policy).__name__}, p = {tuple(observe)}, α = {alpha:g}"
                found = ratio(played.potential(order), sides)
                rows.append(Comparison(where, found, "equals", 1.0))
    return Evidence(tuple(rows))


@claim(
    "fluid-bound",
    place="new",
    family=ARMS,
    says="E V_α ≤ d_eff Ĝ(T/d_eff) for every policy: no δ, no log T, no failure term.",
    how="Exact best adaptive policy for four sets of p, three α, three λ; and UCB in simulation.",
)
def fluid_bound(lab: Laboratory) -> Evidence:
    """Compare the exact optimum, and a policy in use, with the bound."""
    rows = []
    for observe in OBSERVES:
        tries = [
            Comparison(
                f"best policy, p = {observe}, λ = {lam:g}, α = {alpha:g}, T = {horizon:,}",
                Measured(adaptive_potential(observe, horizon, alpha, lam)),
                "at most",
                fluid_potential(observe, horizon, alpha, lam),
            )
            for lam in (0.1, 1.0, 10.0)
            for alpha in ORDERS
            for horizon in (1, 30, lab.size(2000, 10_000))
        ]
        rows.append(nearest(tries))
    means, noise, watched, lam = INSTANCES[0]
    horizon = lab.size(10_000, 100_000)
    played = lab.play(
        ArmedBandit(means, noise=noise), PerArm(watched), UCB(lam), horizon, 200, checkpoints=30
    )
    spots = range(len(played.rounds))
    seen = [mean(played.potential(0, k)) for k in spots]
    proved = [fluid_potential(watched, int(t), 0.5, lam) for t in played.rounds]
    where = f"UCB, p = {tuple(watched)}, α = 0.5, T = {horizon:,}"
    rows.append(Comparison(where, seen[-1], "at most", proved[-1]))
    rounds = played.rounds.tolist()
    lines = (
        Line("UCB", rounds, [s.value for s in seen], [s.half for s in seen]),
        Line("fluid bound", rounds, proved, claimed=True),
    )
    curve = Curve("Potential of order ½", "round", "potential", lines, False)
    return Evidence(tuple(rows), curve=curve)
