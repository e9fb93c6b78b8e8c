"""Claims about the regret of UCB on arms, one instance at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from halfseen.censorship import PerArm
from halfseen.claims.arms_events import ARMS
from halfseen.claims.arms_potential import printed_start
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.intervals import mean, ratio
from halfseen.claims.laboratory import Laboratory, Played
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.theory import effective_dimension, regret_bounds
from halfseen.theory.bound_terms import World, thresholds


@dataclass(frozen=True)
class Instance:
    """A bandit, how it is observed, and the regularization of UCB."""

    means: Sequence[float]
    noise: float | Sequence[float]
    observe: Sequence[float]
    regularization: float

    @property
    def text(self) -> str:
        """The instance in a few words."""
        return f"θ = {tuple(self.means)}, σ = {self.noise}, p = {tuple(self.observe)}"

    @property
    def problem(self) -> ArmedBandit:
        """The bandit."""
        return ArmedBandit(self.means, noise=self.noise)

    @property
    def largest(self) -> float:
        """The largest mean in absolute value."""
        return float(np.abs(self.means).max())

    def play(self, lab: Laboratory, horizon: int, runs: int, checkpoints: int = 1) -> Played:
        """Play UCB."""
        policy = UCB(self.regularization)
        return lab.play(self.problem, PerArm(self.observe), policy, horizon, runs, checkpoints)

    def bound(self, name: str, horizon: int) -> float:
        """Return a bound by its name."""
        policy = UCB(self.regularization)
        return regret_bounds(self.problem, PerArm(self.observe), policy, horizon)[name].value

    def world(self, horizon: int) -> World:
        """Return the numbers bounds are made of."""
        problem = self.problem
        return World(
            observe=np.array(self.observe, dtype=float),
            noise=problem.scale,
            gaps=problem.gaps,
            regularization=self.regularization,
            bound=self.largest,
            horizon=horizon,
        )


SAME_NOISE = (
    Instance((0.9, 0.8, 0.7, 0.5, 0.2), 1.0, (0.9, 0.1, 0.5, 0.3, 0.05), 1.0),
    Instance((0.5, 0.0), 0.3, (1.0, 0.02), 0.1),
    Instance((0.1, 0.05), 0.05, (0.5, 0.05), 5.0),
    Instance((0.0, -1.0, -2.0), 0.5, (1.0, 1.0, 1.0), 10.0),
    Instance((-1.0, 1.0), 0.0, (0.2, 0.5), 3.0),
)
OWN_NOISE = (
    Instance((0.5, 0.0), (0.1, 1.0), (0.02, 1.0), 1.0),
    Instance((0.5, 0.0), (0.1, 0.3), (1.0, 0.02), 0.1),
    Instance((2.0, 1.0, 0.0), (0.3, 0.2, 0.1), (0.3, 0.6, 0.9), 5.0),
    Instance((0.4, 0.3, 0.0), (0.1, 0.5, 2.0), (0.9, 0.2, 0.1), 0.5),
)


def _below(lab: Laboratory, instances: Sequence[Instance], name: str) -> tuple[Comparison, ...]:
    """Return the measured regret of every instance against one bound."""
    horizon, runs = lab.size(5000, 50_000), lab.size(200, 1000)
    return tuple(
        Comparison(
            f"{one.text}, T = {horizon:,}",
            mean(one.play(lab, horizon, runs).regret),
            "at most",
            one.bound(name, horizon),
        )
        for one in instances
    )


@claim(
    "potential-reduction-arms",
    place="Lemma “Potential Reduction Finite”",
    family=ARMS,
    says="E R ≤ 2√(6σ² log T) E V_½ + 2λM E V_1 + 2dΔ/T, M the largest mean, Δ the largest gap.",
    how="UCB on five instances: regret over the right-hand side with its measured potentials.",
)
def potential_reduction_arms(lab: Laboratory) -> Evidence:
    """Measure the regret and both potentials on the same replications."""
    horizon, rows = lab.size(5000, 50_000), []
    for one in SAME_NOISE:
        played = one.play(lab, horizon, lab.size(200, 1000))
        sigma, gap = float(one.problem.scale[0]), float(one.problem.gaps.max())
        right = 2.0 * math.sqrt(6.0 * sigma**2 * math.log(horizon)) * played.potential(0)
        right += 2.0 * one.regularization * one.largest * played.potential(1)
        right += 2.0 * len(one.means) * gap / horizon
        found = ratio(played.regret, right)
        rows.append(Comparison(f"{one.text}, T = {horizon:,}", found, "at most", 1.0))
    return Evidence(tuple(rows))


def _printed_theorem(one: Instance, horizon: int) -> float:
    """Return the last display before the leading order is taken, with its √2."""
    dimension, lam = effective_dimension(one.observe), one.regularization
    fails = 16.0 * dimension / horizon**2
    root = math.sqrt(horizon / dimension + 2.0 * lam) - math.sqrt(2.0 * lam)
    half = math.sqrt(2.0) * dimension * root + printed_start(one.observe, horizon, 0.5, lam)
    whole = 2.0 * dimension * math.log1p(horizon / (2.0 * lam))
    whole += printed_start(one.observe, horizon, 1.0, lam)
    noise = 2.0 * math.sqrt(6.0 * math.log(horizon)) * float(one.problem.scale[0])
    total = noise * (half + fails / math.sqrt(lam))
    total += 2.0 * lam * one.largest * (whole + fails / lam)
    return total + 2.0 * len(one.means) * float(one.problem.gaps.max()) / horizon


@claim(
    "theorem-arms",
    place="Theorem “THM Finite arms”",
    family=ARMS,
    says="E R ≤ Õ(σ√(d_eff T)); its last display in full is an upper bound on UCB’s regret.",
    how="UCB on five instances: regret against the display. Its rate: see the claims on scaling.",
)
def theorem_arms(lab: Laboratory) -> Evidence:
    """Compare measured regret with the theorem written out."""
    horizon, runs = lab.size(5000, 50_000), lab.size(200, 1000)
    rows = [
        Comparison(
            f"{one.text}, T = {horizon:,}",
            mean(one.play(lab, horizon, runs).regret),
            "at most",
            _printed_theorem(one, horizon),
        )
        for one in SAME_NOISE
    ]
    return Evidence(tuple(rows))


@claim(
    "heteroskedastic-arms",
    place="Remark “Hetero Finite 1”",
    family=ARMS,
    says="With known noise σ_a per arm, E R ≤ Õ(√(Σσ_a²/p_a · T)).",
    how="UCB on four instances with unequal noise: regret against the theorem with weights σ_a.",
)
def heteroskedastic_arms(lab: Laboratory) -> Evidence:
    """Compare measured regret with the weighted form of the theorem."""
    return Evidence(_below(lab, OWN_NOISE, "paper's theorem"))


def _printed_instance(one: Instance, horizon: int) -> float:
    """Return Σ 2Δ_a/p_a max(12 log T + p_a/2, Θ) + dΔ/T + 16 d_eff Δ/T²."""
    world = one.world(horizon)
    log, p = math.log(horizon), world.observe
    plays = 2.0 / p * np.maximum(12.0 * log + p / 2.0, thresholds(world))
    gap = world.largest_gap
    fails = len(p) * gap / horizon + 16.0 * world.dimension * gap / horizon**2
    return float((world.gaps * plays).sum()) + fails


def _instance_rows(lab: Laboratory, instances: Sequence[Instance]) -> tuple[Comparison, ...]:
    horizon, runs = lab.size(5000, 50_000), lab.size(200, 1000)
    return tuple(
        Comparison(
            f"{one.text}, T = {horizon:,}",
            mean(one.play(lab, horizon, runs).regret),
            "at most",
            _printed_instance(one, horizon),
        )
        for one in instances
    )


@claim(
    "instance-arms",
    place="Proposition “Instance Dep Regret Finite”",
    family=ARMS,
    says=(
        "E R ≤ Σ 2Δ_a/p_a max(12 log T + p_a/2, Θ_a) + dΔ/T + 16 d_eff Δ/T², which is"
        " O(log T Σ max(σ²/Δ_a, Δ_a)/p_a)."
    ),
    how="UCB on five instances: regret against the display.",
)
def instance_arms(lab: Laboratory) -> Evidence:
    """Compare measured regret with the display in full."""
    return Evidence(_instance_rows(lab, SAME_NOISE))


@claim(
    "heteroskedastic-instance",
    place="Remark “Hetero Finite 2”",
    family=ARMS,
    says="The same with σ_a² in place of σ²: E R ≤ O(log T Σ max(σ_a²/Δ_a, Δ_a)/p_a).",
    how="UCB on four instances with unequal noise: regret against the display with σ_a.",
)
def heteroskedastic_instance(lab: Laboratory) -> Evidence:
    """Compare measured regret with the display with each arm's own noise."""
    return Evidence(_instance_rows(lab, OWN_NOISE))


@claim(
    "instance-count",
    place="Proposition “Instance Dep Regret Finite”, proof",
    family=ARMS,
    says="A worse arm is observed at most Θ times: the quadratic inequality holds in every round.",
    right="It holds in the rounds that play the arm, so at most ⌊Θ⌋ + 1 times.",
    how="Without noise optimism cannot fail: the largest count over all replications.",
    expected=CORRECTED,
    erratum="instance-count",
)
def instance_count(lab: Laboratory) -> Evidence:
    """Count the observations of the worse arm where nothing is random but the censoring."""
    horizon, printed, right = 500, [], []
    for means, observe, lam in (
        ((-1.0, 1.0), (1.0, 1.0), 1.0),
        ((-1.0, 1.0), (0.3, 0.5), 3.0),
        ((0.2, 1.0), (0.5, 0.5), 4.0),
    ):
        one = Instance(means, 0.0, observe, lam)
        played = one.play(lab, horizon, lab.size(200, 2000))
        most = Measured(float(played.tracks["observations"][:, -1, 0].max()))
        theta = float(thresholds(one.world(horizon))[0])
        printed.append(Comparison(one.text, most, "at most", theta))
        right.append(Comparison(one.text, most, "at most", math.floor(theta) + 1.0))
    return Evidence(tuple(printed), tuple(right))


@claim(
    "wald-bound",
    place="new",
    family=ARMS,
    says="E R ≤ Σ (Δ_a/p_a)(⌊Θ_a⌋ + 1 + 2/T): Wald’s identity turns observations into plays.",
    how="UCB on nine instances, equal and unequal noise: regret against the bound.",
)
def wald_bound(lab: Laboratory) -> Evidence:
    """Compare measured regret with the bound, and draw one of them."""
    rows = _below(lab, (*SAME_NOISE[:-1], *OWN_NOISE), "instance")
    sure, brief = SAME_NOISE[-1], 500  # without noise the bound is all but an equality
    played = sure.play(lab, brief, lab.size(20_000, 200_000))
    where = f"{sure.text}, T = {brief}"
    limit = sure.bound("instance", brief)
    rows = (*rows, Comparison(where, mean(played.regret), "at most", limit))
    one, horizon = Instance((0.5, 0.0), 0.3, (1.0, 0.02), 0.1), lab.size(200_000, 2_000_000)
    played = one.play(lab, horizon, lab.size(60, 200), 40)
    ends = [mean(played.tracks["regret"][:, k]) for k in range(len(played.rounds))]
    rounds = played.rounds.tolist()
    limit = one.bound("instance", horizon)
    lines = (
        Line("UCB", rounds, [e.value for e in ends], [e.half for e in ends]),
        Line("bound at the last round", rounds, [limit] * len(rounds), claimed=True),
    )
    final = Comparison(f"{one.text}, T = {horizon:,}", ends[-1], "at most", limit)
    return Evidence((*rows, final), curve=Curve("Regret", "round", "regret", lines, False))
