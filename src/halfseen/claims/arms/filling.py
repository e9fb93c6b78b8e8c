"""Claims about water-filling, and the exact identity and fluid bound that follow for any policy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.claims.areas import area, costliest, sums
from halfseen.claims.arms.events import ARMS
from halfseen.claims.arms.potential import DIALS, OBSERVES, nearest, tried
from halfseen.claims.arms.programs import best_adaptive
from halfseen.claims.arms.regret import SAME_NOISE, SEARCH, Instance, Limit, below
from halfseen.claims.claim import Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.closest import Point, closest
from halfseen.claims.intervals import mean, ratio
from halfseen.claims.laboratory import Laboratory
from halfseen.policies import UCB, GaussianThompson, Policy
from halfseen.problems import ArmedBandit
from halfseen.theory import (
    capped_instance_bound,
    effective_dimension,
    fluid_potential,
    joint_potential,
    water_filling,
)


def _searched(
    arms: tuple[Vector, Vector, Vector], caps: Vector, budget: float, alpha: float
) -> float:
    """Return the largest value that a general optimiser finds, independently of water-filling.

    Parameters
    ----------
    arms
        Probability, starting count and weight of each.
    """
    from scipy.optimize import minimize

    p, lam, weights = arms

    def loss(shares: Vector) -> float:
        filled = area(lam, p * np.maximum(shares, 0.0) * budget, alpha)
        return -float((weights * filled / p).sum())

    most = np.minimum(caps / budget, 1.0)
    start = most * min(1.0, 1.0 / most.sum())
    whole = {"type": "ineq", "fun": lambda shares: 1.0 - shares.sum()}
    found = minimize(
        loss,
        start,
        bounds=[*zip(np.zeros(len(p)), most, strict=True)],
        constraints=whole,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return -float(found.fun)


@claim(
    "water-filling",
    place="Lemma 3.5",
    family=ARMS,
    says=(
        "The allocation τ_a = [C − λ_a]⁺/p_a is optimal; beyond max λ⁰_a its value is"
        " d_eff ψ(T/d_eff + λ_eff) − Σ ψ(λ_a)/p_a."
    ),
    how="Three arms, λ = (1, 2, 50), α = ½ and 1: a general optimiser, and allocations at random.",
)
def water(lab: Laboratory) -> Evidence:
    """Search for a better allocation."""
    observe, floors = (0.5, 0.25, 0.8), (1.0, 2.0, 50.0)
    p, lam = np.array(observe), np.array(floors)
    dimension = effective_dimension(observe)
    late = dimension * float(lam.max() - (lam / p).sum() / dimension)
    shares = np.random.default_rng(lab.seed).dirichlet(np.ones(3), lab.size(2000, 100_000))
    rows = []
    for budget in (20.0, 400.0):
        for alpha in (0.5, 1.0):
            value = water_filling(observe, budget, alpha, floors).value
            where = f"T = {budget:g}, α = {alpha:g}"
            arms = (p, lam, np.ones(3))
            best = Measured(_searched(arms, np.full(3, np.inf), budget, alpha))
            rows.append(Comparison(where + ", optimiser", best, "equals", value, 1e-6))
            if budget >= late:
                level = budget / dimension + float((lam / p).sum()) / dimension
                closed = float((area(lam, level - lam, alpha) / p).sum())
                rows.append(Comparison(where + ", display", best, "equals", closed, 1e-6))
            tried = (area(lam, p * shares * budget, alpha) / p).sum(axis=1)
            most = Measured(float(tried.max()))
            rows.append(Comparison(where + ", at random", most, "at most", value))
    return Evidence(tuple(rows))


CAPPED: tuple[tuple[Sequence[float], Sequence[float], Sequence[float], float, Sequence[float]], ...]
CAPPED = (  # p, lambda, weights, T, caps
    ((0.5, 0.25, 0.8), (1.0, 2.0, 50.0), (1.0, 1.0, 1.0), 20.0, (6.0, 100.0, 100.0)),
    ((0.5, 0.25, 0.8), (1.0, 2.0, 50.0), (1.0, 1.0, 1.0), 400.0, (100.0, 150.0, 1000.0)),
    ((0.5, 0.25, 0.8), (1.0, 2.0, 50.0), (1.0, 1.0, 1.0), 400.0, (100.0, 150.0, 30.0)),
    ((0.5, 0.2, 0.8, 0.3), (1.0,) * 4, (0.1, 1.0, 2.0, 0.3), 100.0, (30.0, 40.0, 5.0, 60.0)),
)


@claim(
    "water-filling-caps",
    place="Text after lemma 3.5",
    family=ARMS,
    says=(
        "Constraints τ_a ≤ f(Δ_a) within water-filling give instance-dependent guarantees:"
        " τ_a = min(c_a, [w_a^(1/α) C − λ_a]⁺/p_a) is optimal, and UCB’s regret is at most the"
        " bound that follows from caps of ⌊Θ_a⌋ + 1 observations (formula and bound are ours)."
    ),
    how=(
        "Four cases with caps: a general optimiser, and allocations at random under the caps. UCB"
        " on five instances: regret against the bound by widths, by gaps and in closed form."
        + SEARCH
    ),
)
def water_caps(lab: Laboratory) -> Evidence:
    """Search for a better allocation under caps, and for a regret above the bounds."""
    rng, rows = np.random.default_rng(lab.seed), []
    for observe, floors, factor, budget, limits in CAPPED:
        p, lam, weights, caps = (np.array(v) for v in (observe, floors, factor, limits))
        for alpha in (0.5, 1.0):
            value = water_filling(p, budget, alpha, lam, weights=weights, caps=caps).value
            where = f"p = {observe}, T = {budget:g}, caps {limits}, α = {alpha:g}"
            best = Measured(_searched((p, lam, weights), caps, budget, alpha))
            rows.append(Comparison(f"{where}, optimiser", best, "equals", value, 1e-5))
            shares = rng.dirichlet(np.ones(len(p)), lab.size(2000, 100_000)) * budget
            filled = area(lam, p * np.minimum(shares, caps), alpha)
            most = Measured(float((weights * filled / p).sum(axis=1).max()))
            rows.append(Comparison(f"{where}, at random", most, "at most", value))
    for form in ("widths", "gaps", "closed"):
        rows += below(lab, SAME_NOISE, _capped(form))
    return Evidence(tuple(rows))


def _capped(form: str) -> Limit:
    """Return one form of the instance bound by caps as a function of the instance."""

    def limit(one: Instance, horizon: int) -> float:
        found = capped_instance_bound(
            one.problem.gaps,
            one.observe,
            horizon,
            noise=one.problem.scale,
            regularization=one.regularization,
            bound=one.largest,
        )
        return float(getattr(found, form))

    return limit


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
                sides = (sums(counts, offset, alpha) / np.array(observe)).sum(axis=1)
                where = f"{type(policy).__name__}, p = {tuple(observe)}, α = {alpha:g}"
                found = ratio(played.potential(order), sides)
                rows.append(Comparison(where, found, "equals", 1.0))
    return Evidence(tuple(rows))


def _under_fluid(point: Point) -> Comparison:
    """Compare the best adaptive policy with the fluid bound on a searched instance."""
    observe, lam, alpha, horizon, where = tried(point)
    exact = Measured(best_adaptive(observe, horizon, alpha, lam))
    return Comparison(where, exact, "at most", fluid_potential(observe, horizon, alpha, lam))


def _filled_cells() -> list[Comparison]:
    """Compare the bounds with filling the rounds with the most costly cells, one by one."""
    rows, horizon = [], 5000
    cells = np.arange(float(horizon))
    for observe, floors, factor in (
        ((1.0, 1.0), (1.0, 1.0), (1.0, 1.0)),
        ((0.1, 0.5, 0.9), (0.3, 0.3, 0.3), (1.0, 1.0, 1.0)),
        ((0.1, 0.5, 0.9), (0.3, 2.0, 40.0), (2.0, 1.0, 5.0)),
    ):
        p, lam, weights = (np.array(v) for v in (observe, floors, factor))
        for alpha in (0.5, 1.0, 2.0):
            costs = weights[:, None] * (cells + lam[:, None]) ** -alpha
            found = Measured(costliest(p, costs, horizon))
            claimed = fluid_potential(observe, horizon, alpha, floors, weights=factor)
            where = f"cells, p = {observe}, λ = {floors}, w = {factor}, α = {alpha:g}"
            rows.append(Comparison(where, found, "equals", claimed, 1e-9))
        seen, noise = cells + lam[:, None], weights[:, None]
        widths = 2.0 * np.sqrt(6.0 * noise**2 * np.log(horizon) / seen) + 3.0 * lam[:, None] / seen
        found = Measured(costliest(p, np.minimum(widths, 2.5), horizon))
        claimed = joint_potential(observe, horizon, floors, factor, 1.5, 2.5)
        where = f"widths, p = {observe}, λ = {floors}, σ = {factor}, T = {horizon:,}"
        rows.append(Comparison(where, found, "equals", claimed, 1e-9))
    return rows


@claim(
    "fluid-bound",
    place="new",
    family=ARMS,
    says="E V_α ≤ d_eff Ĝ(T/d_eff) for every policy: no δ, no log T, no failure term.",
    how=(
        "The best adaptive policy by backward induction over counts for four sets of p, three α,"
        " three λ; UCB in simulation; filling rounds with the costliest cells one by one gives the"
        " same bound, and `joint_potential` with widths as costs. The search is over p, λ, α and T,"
        " two arms."
    ),
)
def fluid_bound(lab: Laboratory) -> Evidence:
    """Compare the exact optimum, and the potential of UCB, with the bound."""
    rows = []
    for observe in OBSERVES:
        tries = [
            Comparison(
                f"best policy, p = {observe}, λ = {lam:g}, α = {alpha:g}, T = {horizon:,}",
                Measured(best_adaptive(observe, horizon, alpha, lam)),
                "at most",
                fluid_potential(observe, horizon, alpha, lam),
            )
            for lam in (0.1, 1.0, 10.0)
            for alpha in (0.5, 1.0, 2.0)
            for horizon in (1, 7, lab.size(30, 60))
        ]
        rows.append(nearest(tries))
    rows.append(closest(_under_fluid, DIALS, lab.size(60, 600), lab.seed))
    rows += _filled_cells()
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
