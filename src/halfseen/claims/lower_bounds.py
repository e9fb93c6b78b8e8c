"""Claims about lower bounds on regret, and about policies that nearly attain them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halfseen.censorship import PerAction, PerArm, Uniform
from halfseen.checks import Vector
from halfseen.claims.claim import Comparison, Evidence, Measured, claim
from halfseen.claims.intervals import frequency, mean, ratio
from halfseen.claims.laboratory import Laboratory, Played
from halfseen.policies import IMED, UCB, GaussianThompson, Policy
from halfseen.problems import ArmedBandit, FiniteActions, LinearBandit
from halfseen.theory import (
    asymptotic_lower_bound,
    confidence_sequence,
    finite_lower_bound,
    minimax_lower_bound,
    regret_bounds,
)

FAMILY = "lower bounds"
MEANS, NOISE, OBSERVE = (0.5, 0.4, 0.3, 0.2, 0.1), 0.5, (0.3, 0.9, 0.1, 0.5, 0.2)
RATES = (0.9, 0.1, 0.5, 0.3, 0.05)
POLICIES: dict[str, Policy] = {"UCB": UCB(), "IMED": IMED(), "Thompson": GaussianThompson()}


def _counts(played: Played, name: str, at: int = -1) -> Vector:
    values: Vector = played.tracks[name][:, at].astype(float)
    return values


@claim(
    "wald",
    place="new",
    family=FAMILY,
    says="For every policy the expected number of observations of an arm is exactly p_a times that"
    " of its plays: E N_a = p_a E τ_a.",
    how="UCB, IMED and Thompson sampling on five arms: ratio of observations to plays of each arm.",
)
def wald(lab: Laboratory) -> Evidence:
    """Compare observations with plays."""
    horizon, runs = lab.size(2000, 20_000), lab.size(200, 1000)
    rows = []
    for name, policy in POLICIES.items():
        played = lab.play(ArmedBandit(MEANS, noise=NOISE), PerArm(OBSERVE), policy, horizon, runs)
        seen, pulls = _counts(played, "observations"), _counts(played, "pulls")
        rows += [
            Comparison(f"{name}, arm {a}, p = {p}", ratio(seen[:, a], pulls[:, a]), "equals", p)
            for a, p in enumerate(OBSERVE)
        ]
    return Evidence(tuple(rows))


@claim(
    "observed-clock",
    place="new",
    family=FAMILY,
    says="A policy that depends only on its observations observes the same sequence of arms as in"
    " the uncensored bandit, so that R_T ≤ Σ Δ_a/p_a E N_a, with N_a the plays of T uncensored"
    " rounds.",
    how="UCB and IMED with the same draws of rewards, censored and not: in every run whose number"
    " n of observations is a recorded round, counts of observations against plays of n uncensored"
    " rounds, arm by arm; and the ratio of regret to the bound.",
)
def observed_clock(lab: Laboratory) -> Evidence:
    """Compare censored runs, draw by draw, with uncensored ones."""
    horizon, runs = 400, lab.size(200, 2000)
    arms, gaps = ArmedBandit(MEANS, noise=NOISE), MEANS[0] - np.array(MEANS)
    rows = []
    for name in ("UCB", "IMED"):
        policy = POLICIES[name]
        censored = lab.play(arms, PerArm(OBSERVE), policy, horizon, runs, horizon)
        whole = lab.play(arms, Uniform(1.0), policy, horizon, runs, horizon)
        seen = censored.tracks["observations"][:, -1]
        at = np.searchsorted(whole.rounds, seen.sum(axis=1))
        there = np.flatnonzero(whole.rounds[at] == seen.sum(axis=1))
        same = (whole.tracks["pulls"][there, at[there]] == seen[there]).all(axis=1)
        where = f"{name}, {len(there):,} runs: share with the same counts"
        rows.append(Comparison(where, Measured(float(same.mean())), "equals", 1.0))
        limit = _counts(whole, "pulls") @ (gaps / np.array(OBSERVE))
        found = ratio(censored.regret, limit)
        rows.append(Comparison(f"{name}: regret over the bound", found, "at most", 1.0))
    return Evidence(tuple(rows))


@claim(
    "finite-lower-bound",
    place="new",
    family=FAMILY,
    says="A policy with a regret of at most B on a problem, and on each problem with one worse arm"
    " raised by e above the best, has a regret of at least"
    " Σ Δ_a log(T e_a/8B)/(p_a d(μ_a, μ*+e_a)).",
    how="UCB and IMED on five Gaussian arms and, for each worse arm, with that arm raised by its"
    " gap above the best; B is the largest regret measured. Then raised by the e of the largest"
    " bound for this B, with a B measured there.",
)
def finite_lower(lab: Laboratory) -> Evidence:
    """Measure the regret on the problem and on the neighbouring problems."""
    horizon, runs = lab.size(20_000, 200_000), lab.size(60, 200)
    arms, seen = ArmedBandit(MEANS, noise=NOISE), PerArm(OBSERVE)
    rows = []
    for name in ("UCB", "IMED"):
        policy = POLICIES[name]
        here = mean(lab.play(arms, seen, policy, horizon, runs).regret)
        gaps = MEANS[0] - np.array(MEANS)
        most = max(here.high, _largest(lab, policy, gaps, horizon, runs))
        best = finite_lower_bound(arms, seen, horizon, most).raised
        for what, rises in (("", gaps), (", best e", best)):
            most = max(here.high, _largest(lab, policy, rises, horizon, runs))
            floor = _floor(rises, horizon, most)
            where = f"{name}, T = {horizon:,}, B = {most:,.0f}: regret{what}"
            rows.append(Comparison(where, here, "at least", floor))
    return Evidence(tuple(rows))


def _largest(lab: Laboratory, policy: Policy, rises: Vector, horizon: int, runs: int) -> float:
    """Return the largest regret on the problems with one arm raised by `rises` above the best."""
    found = 0.0
    for worse in np.flatnonzero(rises):
        raised = [MEANS[0] + rises[worse] if arm == worse else m for arm, m in enumerate(MEANS)]
        other = ArmedBandit(raised, noise=NOISE)
        found = max(
            found, mean(lab.play(other, PerArm(OBSERVE), policy, horizon, runs).regret).high
        )
    return found


def _floor(rises: Vector, horizon: int, most: float) -> float:
    """Return the bound with arms raised by `rises` above the best."""
    total = 0.0
    for worse in np.flatnonzero(rises):
        gap = MEANS[0] - MEANS[worse]
        nats = OBSERVE[worse] * (gap + rises[worse]) ** 2 / (2 * NOISE**2)
        total += gap * max(math.log(horizon * rises[worse] / (8 * most)), 0.0) / nats
    return total


def _hard_problems(horizon: int) -> dict[str, list[list[float]]]:
    """Return the means of the problems considered in each proof of the minimax bound."""
    sizes = 1.0 / np.array(RATES)
    rest = sizes.sum() - sizes.min()
    best, gap = int(sizes.argmin()), 0.5 * math.sqrt(rest / horizon)
    base = [gap if arm == best else 0.0 for arm in range(len(sizes))]
    one = [base]
    for arm in range(len(sizes)):
        if arm != best:
            one.append([2 * gap if a == arm else m for a, m in enumerate(base)])

    def alike(v: Vector) -> list[list[float]]:
        lift = (1.0 - v.max() / v.sum()) * math.sqrt(v.sum() / horizon)
        problems: list[list[float]] = (np.eye(len(v)) * lift).tolist()
        return problems

    capped = [np.minimum(sizes, most) for most in sizes]
    best_cap = max(capped, key=lambda v: (1.0 - v.max() / v.sum()) ** 2 * math.sqrt(v.sum()))
    return {"one arm raised": one, "all arms alike": alike(sizes), "arms capped": alike(best_cap)}


@claim(
    "minimax",
    place="new",
    family=FAMILY,
    says="With D = Σ 1/p_a every policy loses at least max(e^(-1/2)/16 √(T(D - 1/p_max)),"
    " ½(1 - max q)² √(TD)), q = 1/(p D), on some problem observed with these probabilities; the"
    " second also with every 1/p capped at one of them.",
    how="UCB, IMED and Thompson sampling on every problem of the proofs: the largest regret"
    " against each bound, and of UCB against its upper bound for these problems.",
)
def minimax(lab: Laboratory) -> Evidence:
    """Measure the largest regret over the problems of the proofs."""
    horizon, runs = lab.size(2000, 20_000), lab.size(60, 300)
    terms = minimax_lower_bound(RATES, horizon).terms
    rows = []
    for name, policy in POLICIES.items():
        for proof, problems in _hard_problems(horizon).items():
            found = []
            for means in problems:
                arms = ArmedBandit(means)
                regret = mean(lab.play(arms, PerArm(RATES), policy, horizon, runs).regret)
                found.append((regret.value, regret, arms))
            _, worst, arms = max(found, key=lambda one: one[0])
            where = f"{name}, {proof}, T = {horizon:,}"
            rows.append(Comparison(where, worst, "at least", terms[proof]))
            if name == "UCB":
                above = regret_bounds(arms, PerArm(RATES), UCB(), horizon)["joint"].value
                rows.append(Comparison(f"{where}, from above", worst, "at most", above))
    return Evidence(tuple(rows))


@claim(
    "imed-slope",
    place="new",
    family=FAMILY,
    says="IMED attains the least growth C log T without knowing p: over the last factor of ten of"
    " the rounds its regret grows by at most C per unit of log T.",
    how="IMED on five Gaussian, two Bernoulli and three Poisson arms: growth from T/10 to T"
    " over C log 10. At these T it is still below C, to which it tends.",
)
def imed_slope(lab: Laboratory) -> Evidence:
    """Measure the growth over the last factor of ten of the rounds."""
    horizon, runs = lab.size(20_000, 200_000), lab.size(300, 2000)
    problems = {
        "Gaussian": (ArmedBandit(MEANS, noise=NOISE), PerArm(OBSERVE)),
        "Bernoulli": (ArmedBandit([0.1, 0.02], reward="bernoulli"), PerArm([0.8, 0.3])),
        "Poisson": (ArmedBandit([2.0, 1.2, 1.0], reward="poisson"), PerArm([0.1, 0.9, 0.5])),
    }
    rows = []
    for name, (arms, seen) in problems.items():
        played = lab.play(arms, seen, IMED(), horizon, runs, 41)
        start = int(np.searchsorted(played.rounds, horizon / 10))
        regret = played.tracks["regret"]
        grown = regret[:, -1].astype(float) - regret[:, start]
        per_log = grown / math.log(horizon / played.rounds[start])
        least = asymptotic_lower_bound(arms, seen).constant
        rows.append(Comparison(f"{name}, T = {horizon:,}", mean(per_log), "at most", least))
    return Evidence(tuple(rows))


def _two_dimensional(rows: Sequence[Sequence[float]], theta: Vector, observe: Vector) -> float:
    """Return the constant of actions in the plane by linear programming.

    Orthogonal to the best action there is one coordinate y, and the constraints are that
    sum eta p y^2 is at least 2 y_a^2/gap_a^2 for every action.
    """
    from scipy.optimize import linprog

    actions = np.array(rows, dtype=float)
    means = actions @ theta
    best = actions[int(means.argmax())]
    across = actions @ np.array([-best[1], best[0]]) / math.hypot(*best)
    worse = means < means.max()
    gaps, y = means.max() - means[worse], across[worse]
    need = (2.0 * (y / gaps) ** 2).max()
    found = linprog(gaps, A_ub=[-observe[worse] * y**2], b_ub=[-need], method="highs")
    return float(found.fun)


@claim(
    "worth-of-p",
    place="new",
    family=FAMILY,
    says="Ignoring p costs nothing for orthogonal actions and may cost any factor otherwise:"
    " C_ign/C is 8 when the informative action of the example is observed 1 time in 100.",
    how="Actions (1,0), (0,1), (1-e, 2e) with θ = (1,0), for several e and p: the constant by"
    " linear programming, the closed form 2σ²g² min(1/p₂, 1/(p₃g²e)), and the ratio;"
    " orthogonal actions.",
)
def worth_of_p(lab: Laboratory) -> Evidence:
    """Compute the constant with p and ignoring p."""
    rows = []
    theta = np.array([1.0, 0.0])
    for e, rare in ((0.02, 1.0), (0.02, 0.01), (0.05, 0.1), (0.01, 0.001)):
        actions = [[1.0, 0.0], [0.0, 1.0], [1.0 - e, 2.0 * e]]
        observe = np.array([1.0, rare, 1.0])
        bandit = LinearBandit(theta.tolist(), actions=FiniteActions(actions))
        found = asymptotic_lower_bound(bandit, PerAction(observe.tolist()))
        programmed = Measured(_two_dimensional(actions, theta, observe))
        where = f"e = {e:g}, p = (1, {rare:g}, 1)"
        closed = 8.0 * min(1.0 / rare, 1.0 / (4.0 * e))
        rows.append(Comparison(f"{where}: C", programmed, "equals", found.constant, 1e-9))
        rows.append(Comparison(f"{where}: closed form", programmed, "equals", closed, 1e-9))
        ignoring = Measured(8.0 / rare / closed)
        rows.append(Comparison(f"{where}: worth", ignoring, "equals", found.worth, 1e-9))
    square = LinearBandit([0.9, 0.8, 0.6], actions=FiniteActions(np.eye(3).tolist()))
    alone = asymptotic_lower_bound(square, PerAction([0.9, 0.1, 0.5])).worth
    rows.append(Comparison("orthogonal: worth", Measured(1.0), "equals", alone, 1e-9))
    return Evidence(tuple(rows))


@claim(
    "confidence-sequences",
    place="new",
    family=FAMILY,
    says="The probability that a confidence sequence at level 1 - α ever fails is at most α, over"
    " any number of observations.",
    how="Normal rewards, both sides and one side, rewards of 0 or 1, Poisson and exponential ones,"
    " after every observation: how often the limits ever failed, against α = 0.1.",
)
def sequences(lab: Laboratory) -> Evidence:
    """Draw rewards and count the runs in which the limits ever failed."""
    runs, length = lab.size(500, 4000), lab.size(400, 10_000)
    rng = np.random.default_rng(lab.seed)
    counts = np.arange(1, length + 1, dtype=float)
    rows = []
    ways: tuple[tuple[str, dict[str, Any], float], ...] = (
        ("normal, both sides", {"side": "both"}, 0.0),
        ("normal, one side", {"side": "low"}, 0.0),
        ("0 or 1, mean 0.3", {"reward": "bernoulli"}, 0.3),
        ("Poisson, mean 1.5", {"reward": "poisson"}, 1.5),
        ("exponential, mean 2", {"reward": "exponential"}, 2.0),
    )
    draws: dict[str | None, Callable[[float], Vector]] = {
        None: lambda mean: rng.normal(mean, 1.0, length),
        "bernoulli": lambda mean: (rng.random(length) < mean).astype(float),
        "poisson": lambda mean: rng.poisson(mean, length).astype(float),
        "exponential": lambda mean: rng.exponential(mean, length),
    }
    for name, options, truth in ways:
        wrong = np.zeros(runs)
        for run in range(runs):
            drawn = draws[options.get("reward")](truth)
            low, high = confidence_sequence(counts, np.cumsum(drawn), level=0.9, **options)
            wrong[run] = float(np.any((truth < low) | (truth > high)))
        where = f"{name}, {length:,} observations"
        rows.append(Comparison(where, frequency(wrong), "at most", 0.1))
    return Evidence(tuple(rows))
