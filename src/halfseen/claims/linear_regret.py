"""Claims about the regret of LinUCB."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import MultiThreshold, Uniform
from halfseen.claims.claim import Comparison, Evidence, claim
from halfseen.claims.intervals import mean
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear_events import LINEAR
from halfseen.policies import LinUCB
from halfseen.problems import FiniteActions, LinearBandit
from halfseen.study import AnyCensorship
from halfseen.theory import confidence_factor, regret_bounds

DELTA = 0.01


World = tuple[FiniteActions, list[float], float, AnyCensorship, float]


def _worlds() -> dict[str, World]:
    """Return actions, theta, noise, censorship and lambda of each instance."""
    rng = np.random.default_rng(4)
    few = FiniteActions(rng.normal(size=(6, 3)), normalize=True)
    many = FiniteActions(rng.normal(size=(30, 5)), normalize=True)
    steps = MultiThreshold([0.0, 0.6], observe=[0.9, 0.4, 0.05], direction=[1, 0, 1])
    return {
        "6 actions, all seen": (few, [0.5, 0.2, -0.4], 1.0, Uniform(1.0), 1.0),
        "6 actions, p = 0.1": (few, [0.5, 0.2, -0.4], 0.3, Uniform(0.1), 0.1),
        "6 actions, thresholds": (few, [0.5, 0.2, -0.4], 0.1, steps, 1.0),
        "30 actions, p = 0.3": (many, [1.0, 0.0, 0.0, 0.0, 0.0], 0.2, Uniform(0.3), 1.0),
        "30 actions, strong ridge": (many, [0.1] * 5, 0.1, Uniform(0.05), 30.0),
    }


@claim(
    "potential-reduction-linear",
    place="Lemma “Potential Reduction Linear”",
    family=LINEAR,
    says="E R ≤ 2β̃ √(T E V_1) + δTΔ, β̃ = σ√(d log(1+T/(dλ)) + 2 log(1/δ)) + √λ‖θ‖.",
    how="LinUCB, δ = 0.01, five instances: regret against the bound with the measured potential.",
)
def potential_reduction_linear(lab: Laboratory) -> Evidence:
    """Measure regret and potential together."""
    rows, horizon = [], lab.size(2000, 20_000)
    for name, (actions, theta, noise, censorship, lam) in _worlds().items():
        problem = LinearBandit(theta, noise, actions)
        policy = LinUCB(lam, delta=DELTA)
        played = lab.play(problem, censorship, policy, horizon, lab.size(100, 1000))
        values = problem.means(actions.actions)
        factor = confidence_factor(problem.dimension, horizon, noise, lam, problem.norm, DELTA)
        potential = mean(played.potential()).high
        limit = 2.0 * factor * math.sqrt(horizon * potential)
        limit += DELTA * horizon * float(values.max() - values.min())
        where = f"{name}, T = {horizon:,}"
        rows.append(Comparison(where, mean(played.regret), "at most", limit))
    return Evidence(tuple(rows))


@claim(
    "theorem-linear",
    place="Theorem “THM Linear arms”",
    family=LINEAR,
    says="E R ≤ Õ(σ√(d d_eff T)) for some d_eff.",
    how=(
        "d_eff = d/p_min and every constant: 2β̃√(κT d_eff log(1+T/(λ d_eff))) + δTΔ. LinUCB, δ ="
        " 0.01, the same five instances."
    ),
)
def theorem_linear(lab: Laboratory) -> Evidence:
    """Compare the regret with the bound that needs no measured potential."""
    rows, horizon = [], lab.size(2000, 20_000)
    for name, (actions, theta, noise, censorship, lam) in _worlds().items():
        problem, policy = LinearBandit(theta, noise, actions), LinUCB(lam, delta=DELTA)
        played = lab.play(problem, censorship, policy, horizon, lab.size(100, 1000))
        limit = regret_bounds(problem, censorship, policy, horizon)["potential"].value
        rows.append(Comparison(f"{name}, T = {horizon:,}", mean(played.regret), "at most", limit))
    return Evidence(tuple(rows))
