"""Claims about generalized linear bandits."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import MultiThreshold, Uniform
from halfseen.checks import Vector
from halfseen.claims.claim import CORRECTED, Comparison, Evidence, Measured, claim
from halfseen.claims.intervals import frequency, independent_ratio, mean
from halfseen.claims.laboratory import Laboratory
from halfseen.policies import GLMUCB
from halfseen.problems import FiniteActions, GeneralizedLinearBandit, RandomActions
from halfseen.study import AnyCensorship
from halfseen.theory import exploration, exploration_rounds, glm_confidence_factor

GLM = "generalized linear bandits"
EXTENSION = "Extension to GLCB"
THETA = (0.6, 0.2, -0.5)
FEW = FiniteActions(np.random.default_rng(8).normal(size=(8, 3)), normalize=True)
STEPS = MultiThreshold([0.0, 0.6], observe=[0.9, 0.5, 0.2], direction=[1, 0, 1])


@claim(
    "glm-width",
    place=f"{EXTENSION}, confidence set",
    family=GLM,
    says="The estimate ever leaves (σ/κ)√((d/2) log(1+2t/d) + log(1/δ)) with chance at most δ.",
    right="√3 times that width.",
    how=(
        "One coordinate, μ the identity, the action 1: exact chance after two observations, and how"
        " often θ ever leaves in 100 rounds."
    ),
    expected=CORRECTED,
    erratum="glm-width",
)
def glm_width(lab: Laboratory) -> Evidence:
    """Compute and count how often a normal error is larger than the width."""
    rng = np.random.default_rng(lab.seed)
    count = np.arange(1.0, 101.0)
    walk = rng.normal(size=(lab.size(5000, 100_000), len(count))).cumsum(axis=1)
    largest = np.abs(walk / np.sqrt(count))[:, 1:]  # the norm of the error; λ_min > 1 from 2 on
    rows: dict[str, list[Comparison]] = {"paper": [], "proved": []}
    for width, found in rows.items():
        for delta in (0.2, 0.05, 0.01):
            limits = [glm_confidence_factor(1, n, 1.0, 1.0, delta, width) for n in count[1:]]
            exact = Measured(math.erfc(limits[0] / math.sqrt(2.0)))
            often = frequency((largest > limits).any(axis=1))
            found.append(Comparison(f"two observations, δ = {delta:g}", exact, "at most", delta))
            found.append(Comparison(f"in 100 rounds, δ = {delta:g}", often, "at most", delta))
    return Evidence(tuple(rows["paper"]), tuple(rows["proved"]))


@claim(
    "glm-regret",
    place=f"{EXTENSION}, regret",
    family=GLM,
    says="The regret is at most T_init Δ + L(σ/κ)√((d/2) log(1+2T/d) + log(1/δ)) √(T V_1) + δTΔ.",
    how=(
        "GLMUCB with the printed width, logistic; in full also probit and changing actions. A proof"
        " gives 2√3 times the middle term; no violation of the bound itself is known."
    ),
    erratum="glm-regret",
)
def glm_regret(lab: Laboratory) -> Evidence:
    """Compare the regret with the printed bound, its potential measured."""
    rows, horizon, delta = [], lab.size(1000, 20_000), 0.01
    worlds: dict[str, tuple[str, FiniteActions | RandomActions, AnyCensorship]] = {
        "logistic, 8 actions, all seen": ("logistic", FEW, Uniform(1.0)),
        "logistic, 8 actions, p = 0.3": ("logistic", FEW, Uniform(0.3)),
        "logistic, 8 actions, thresholds": ("logistic", FEW, STEPS),
    }
    more: dict[str, tuple[str, FiniteActions | RandomActions, AnyCensorship]] = {
        "probit, 8 actions, thresholds": ("probit", FEW, STEPS),
        "logistic, 5 random actions, p = 0.4": ("logistic", RandomActions(5, 3), Uniform(0.4)),
    }
    for name, (link, actions, censorship) in (worlds | lab.size({}, more)).items():
        problem = GeneralizedLinearBandit(THETA, link, actions)
        policy = GLMUCB(delta=delta, width="paper")
        played = lab.play(problem, censorship, policy, horizon, lab.size(40, 400))
        low, high = problem.curve.slopes(problem.reach)
        factor = glm_confidence_factor(3, horizon, problem.noise, low, delta, "paper")
        limit = exploration(problem, censorship).rounds * problem.largest_gap
        limit += high * factor * math.sqrt(horizon * mean(played.potential()).high)
        limit += delta * horizon * problem.largest_gap
        where = f"{name}, T = {horizon:,}"
        rows.append(Comparison(where, mean(played.regret), "at most", limit))
    return Evidence(tuple(rows))


def _explored(toward: float, away: float, runs: int, rng: np.random.Generator) -> Vector:
    """Return how many rounds it takes to see every direction once, the widest of five each time.

    Actions are seen with one of two probabilities, by the sign of their first coordinate.
    """
    rounds = np.zeros(runs)
    for run in range(runs):
        design = np.zeros((3, 3))
        while np.linalg.eigvalsh(design)[0] < 1.0:
            offer = rng.normal(size=(5, 3))
            offer /= np.linalg.norm(offer, axis=1, keepdims=True)
            inverse = np.linalg.inv(np.eye(3) + design)
            chosen = offer[((offer @ inverse) * offer).sum(axis=1).argmax()]
            rounds[run] += 1.0
            if rng.random() < (toward if chosen[0] > 0.0 else away):
                design += np.outer(chosen, chosen)
    return rounds


@claim(
    "glm-exploration",
    place=f"{EXTENSION}, initialization",
    family=GLM,
    says="Censorship makes the first exploration at most 1/p_min times as long: T_init/p_min.",
    how=(
        "Five random actions of space a round: mean length over that with all seen, equal to 1/p"
        " when p is the same everywhere; and the bound with constants."
    ),
    erratum="glm-exploration",
)
def glm_exploration(lab: Laboratory) -> Evidence:
    """Explore by hand and compare how long it takes, on average."""
    rng = np.random.default_rng(lab.seed)
    runs = lab.size(600, 10_000)
    plain = _explored(1.0, 1.0, runs, rng)
    rows = []
    for toward, away in ((0.5, 0.5), (0.2, 0.2), (0.9, 0.2)):
        rounds, least = _explored(toward, away, runs, rng), min(toward, away)
        relation = "equals" if toward == away else "at most"
        found, where = independent_ratio(rounds, plain), f"p = {toward:g} or {away:g}"
        rows.append(Comparison(f"{where}, times as long", found, relation, 1.0 / least))
        limit = exploration_rounds(3, 1.0 / 3.0, least)
        rows.append(Comparison(f"{where}, rounds", mean(rounds), "at most", limit))
    return Evidence(tuple(rows))


@claim(
    "glm-slowdown",
    place="new",
    family=GLM,
    says="With p the same everywhere, regret of T rounds is 1/p times that of pT rounds all seen.",
    how="GLMUCB, logistic, eight actions, p = 0.5 and 0.25: ratio of mean regrets.",
)
def glm_slowdown(lab: Laboratory) -> Evidence:
    """Play with and without censorship for as many observations."""
    problem, policy = GeneralizedLinearBandit(THETA, "logistic", FEW), GLMUCB(delta=0.001)
    horizon, runs = lab.size(1000, 10_000), lab.size(200, 2000)
    plain = lab.play(problem, Uniform(1.0), policy, horizon, runs)
    rows = []
    for observe in (0.5, 0.25):
        played = lab.play(problem, Uniform(observe), policy, round(horizon / observe), runs)
        found = independent_ratio(played.regret, plain.regret)
        where = f"p = {observe:g}, T = {horizon / observe:,.0f} against {horizon:,}"
        rows.append(Comparison(where, found, "equals", 1.0 / observe, 0.01))
    return Evidence(tuple(rows))
