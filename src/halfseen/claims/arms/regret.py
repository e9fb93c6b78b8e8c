"""Claims about the regret of UCB on arms, one instance at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from halfseen.censorship import PerArm
from halfseen.claims.arms.events import ARMS
from halfseen.claims.arms.potential import printed_start
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.intervals import mean, ratio
from halfseen.claims.laboratory import Laboratory, Played
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.theory import effective_dimension, regret_bounds
from halfseen.theory.arms.bound_terms import World, thresholds
from halfseen.theory.arms.water_filling import pour


@dataclass(frozen=True)
class Instance:
    """A bandit, how it is observed, and the regularization of UCB."""

    means: Sequence[float]
    noise: float | Sequence[float]
    observe: Sequence[float]
    regularization: float

    @property
    def text(self) -> str:
        """A short description of the instance."""
        words = [_listed(self.means), _listed(np.atleast_1d(self.noise)), _listed(self.observe)]
        return f"θ = {words[0]}, σ = {words[1]}, p = {words[2]}, λ = {self.regularization:.3g}"

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
        """Return the quantities that bounds depend on."""
        problem = self.problem
        return World(
            observe=np.array(self.observe, dtype=float),
            noise=problem.scale,
            gaps=problem.gaps,
            regularization=self.regularization,
            bound=self.largest,
            horizon=horizon,
        )


def _listed(values: Iterable[float]) -> str:
    """Return numbers to three digits, in brackets if there are several.

    >>> _listed([0.12345, 2.0]), _listed([1.0])
    ('(0.123, 2)', '1')
    """
    words = [f"{value:.3g}" for value in values]
    return f"({', '.join(words)})" if len(words) > 1 else words[0]


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


Limit = Callable[[Instance, int], float]
SEARCH = " The search is over gap, noise, p, λ and T of two arms."
DIALS = (
    Axis("Δ", 0.01, 2.0, log=True),
    Axis("θ", -1.0, 1.0),
    Axis("σ", 0.01, 2.0, log=True),
    Axis("p", 0.02, 1.0, log=True),
    Axis("p2", 0.02, 1.0, log=True),
    Axis("λ", 0.01, 1000.0, log=True),
    Axis("T", 10, 5000, log=True, whole=True),
)


def _regret_below(
    lab: Laboratory, one: Instance, horizon: int, runs: int, limit: Limit
) -> Comparison:
    """Return the measured regret of an instance against a bound."""
    regret = mean(one.play(lab, horizon, runs).regret)
    where = f"{one.text}, T = {horizon:,}"
    return Comparison(where, regret, "at most", limit(one, horizon))


def below(
    lab: Laboratory, instances: Sequence[Instance], limit: Limit, *, own_noise: bool = False
) -> tuple[Comparison, ...]:
    """Return the measured regret of every instance against one bound, and of the closest found."""
    horizon, runs = lab.size(5000, 50_000), lab.size(200, 1000)
    rows = [_regret_below(lab, one, horizon, runs, limit) for one in instances]

    def measure(point: Point, where: Laboratory, plays: int) -> Comparison:
        return _regret_below(where, two_arms(point), int(point["T"]), plays, limit)

    return (*rows, search(lab, measure, own_noise=own_noise))


def two_arms(point: Point) -> Instance:
    """Return the instance at a point of the search; the second arm is worse by the gap."""
    noise = (point["σ"], point["σ2"]) if "σ2" in point else point["σ"]
    means = (point["θ"], point["θ"] - point["Δ"])
    return Instance(means, noise, (point["p"], point["p2"]), point["λ"])


def search(
    lab: Laboratory,
    measure: Callable[[Point, Laboratory, int], Comparison],
    *,
    own_noise: bool = False,
) -> Comparison:
    """Search for the two arms on which UCB comes closest to a bound, and measure them again."""
    axes = (*DIALS, Axis("σ2", 0.01, 2.0, log=True)) if own_noise else DIALS
    other = lab.elsewhere()
    return closest(
        lambda point: measure(point, other, lab.size(50, 200)),
        axes,
        lab.size(100, 500),
        lab.seed,
        confirm=lambda point: measure(point, lab, lab.size(1000, 10_000)),
    )


@claim(
    "potential-reduction-arms",
    place="Lemma 3.3",
    family=ARMS,
    says="E R ≤ 2√(6σ² log T) E V_½ + 2λM E V_1 + 2dΔ/T, M the largest mean, Δ the largest gap.",
    how="UCB on five instances: regret over the right-hand side with its measured potentials."
    + SEARCH,
)
def potential_reduction_arms(lab: Laboratory) -> Evidence:
    """Measure the regret and both potentials on the same replications."""
    horizon, runs = lab.size(5000, 50_000), lab.size(200, 1000)
    rows = [_reduction(lab, one, horizon, runs) for one in SAME_NOISE]

    def measure(point: Point, where: Laboratory, plays: int) -> Comparison:
        return _reduction(where, two_arms(point), int(point["T"]), plays)

    return Evidence((*rows, search(lab, measure)))


def _reduction(lab: Laboratory, one: Instance, horizon: int, runs: int) -> Comparison:
    """Return the regret over the right-hand side of the lemma, on the same replications."""
    played = one.play(lab, horizon, runs)
    sigma, gap = float(one.problem.scale[0]), float(one.problem.gaps.max())
    right = 2.0 * math.sqrt(6.0 * sigma**2 * math.log(horizon)) * played.potential(0)
    right += 2.0 * one.regularization * one.largest * played.potential(1)
    right += 2.0 * len(one.means) * gap / horizon
    found = ratio(played.regret, right)
    return Comparison(f"{one.text}, T = {horizon:,}", found, "at most", 1.0)


def _printed_theorem(one: Instance, horizon: int) -> float:
    """Return the last display before only the leading order is kept, with its √2."""
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
    place="Theorem 3.1",
    family=ARMS,
    says="E R ≤ Õ(σ√(d_eff T)); its last display in full is an upper bound on UCB’s regret.",
    how=(
        "The Õ leaves constants unspecified; the last display before they are dropped is tested."
        " UCB on five instances: regret against it. Its rate: see the claims on scaling."
    )
    + SEARCH,
)
def theorem_arms(lab: Laboratory) -> Evidence:
    """Compare measured regret with the theorem with explicit constants."""
    return Evidence(below(lab, SAME_NOISE, _printed_theorem))


def _printed_heteroskedastic(one: Instance, horizon: int) -> float:
    """Return the display of the remark in full: first rounds cost the same whatever the noise."""
    observe, lam, dimension = one.observe, one.regularization, effective_dimension(one.observe)
    scale = np.maximum(one.problem.scale, 1e-12) ** 2
    _, _, area = pour(np.array(observe) / scale, 2.0 * lam / scale, horizon, 0.5)
    fails = 16.0 * dimension / horizon**2
    half = math.sqrt(2.0) * area + printed_start(observe, horizon, 0.5, lam)
    whole = 2.0 * dimension * math.log1p(horizon / (2.0 * lam))
    whole += printed_start(observe, horizon, 1.0, lam)
    total = 2.0 * math.sqrt(6.0 * math.log(horizon)) * (half + fails / math.sqrt(lam))
    total += 2.0 * lam * one.largest * (whole + fails / lam)
    return total + 2.0 * len(one.means) * float(one.problem.gaps.max()) / horizon


@claim(
    "heteroskedastic-arms",
    place="Remark 3",
    family=ARMS,
    says=(
        "With known noise σ_a per arm, E R ≤ Õ(√(Σσ_a²/p_a · T)); the regret is at most what the"
        " remark’s display gives, in which the first rounds cost the same whatever the noise."
    ),
    how=(
        "The Õ leaves constants unspecified; the theorem combined with the display of the remark is"
        " tested. UCB on four instances with unequal noise. The display itself is false, see"
        " heteroskedastic-potential; no regret above it is known."
    )
    + SEARCH,
)
def heteroskedastic_arms(lab: Laboratory) -> Evidence:
    """Compare measured regret with the remark as printed."""
    return Evidence(below(lab, OWN_NOISE, _printed_heteroskedastic, own_noise=True))


@claim(
    "heteroskedastic-arms-corrected",
    place="new",
    family=ARMS,
    says="The same with a cost of σ_a for the first rounds: `regret_bounds`, “paper's theorem”.",
    how="UCB on four instances with unequal noise: regret against the bound." + SEARCH,
)
def heteroskedastic_arms_corrected(lab: Laboratory) -> Evidence:
    """Compare measured regret with the weighted form of the theorem."""
    return Evidence(below(lab, OWN_NOISE, _named("paper's theorem"), own_noise=True))


def _named(name: str) -> Limit:
    """Return a bound of `regret_bounds` as a function of the instance."""
    return lambda one, horizon: one.bound(name, horizon)


def _printed_instance(one: Instance, horizon: int) -> float:
    """Return Σ 2Δ_a/p_a max(12 log T + p_a/2, Θ) + dΔ/T + 16 d_eff Δ/T²."""
    world = one.world(horizon)
    log, p = math.log(horizon), world.observe
    plays = 2.0 / p * np.maximum(12.0 * log + p / 2.0, thresholds(world))
    gap = world.largest_gap
    fails = len(p) * gap / horizon + 16.0 * world.dimension * gap / horizon**2
    return float((world.gaps * plays).sum()) + fails


@claim(
    "instance-arms",
    place="Proposition 3.2",
    family=ARMS,
    says=(
        "E R ≤ Σ 2Δ_a/p_a max(12 log T + p_a/2, Θ_a) + dΔ/T + 16 d_eff Δ/T², which is"
        " O(log T Σ max(σ²/Δ_a, Δ_a)/p_a)."
    ),
    how="UCB on five instances: regret against the display." + SEARCH,
)
def instance_arms(lab: Laboratory) -> Evidence:
    """Compare measured regret with the display in full."""
    return Evidence(below(lab, SAME_NOISE, _printed_instance))


@claim(
    "heteroskedastic-instance",
    place="Remark 4",
    family=ARMS,
    says="The same with σ_a² in place of σ²: E R ≤ O(log T Σ max(σ_a²/Δ_a, Δ_a)/p_a).",
    how="UCB on four instances with unequal noise: regret against the display with σ_a." + SEARCH,
)
def heteroskedastic_instance(lab: Laboratory) -> Evidence:
    """Compare measured regret with the display with each arm's own noise."""
    return Evidence(below(lab, OWN_NOISE, _printed_instance, own_noise=True))


@claim(
    "instance-count",
    place="Proposition 3.2, proof",
    family=ARMS,
    says="A worse arm is observed at most Θ times: the quadratic inequality holds in every round.",
    right="It holds in the rounds in which the arm is played, so at most ⌊Θ⌋ + 1 times.",
    how="Without noise optimism cannot fail: the largest count over all replications.",
    expected=CORRECTED,
    erratum="instance-count",
)
def instance_count(lab: Laboratory) -> Evidence:
    """Count the observations of the worse arm when only the censoring is random."""
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
    how="UCB on nine instances, equal and unequal noise: regret against the bound." + SEARCH,
)
def wald_bound(lab: Laboratory) -> Evidence:
    """Compare measured regret with the bound, and plot one instance."""
    rows = below(lab, (*SAME_NOISE[:-1], *OWN_NOISE), _named("instance"), own_noise=True)
    sure, brief = SAME_NOISE[-1], 500  # without noise the bound is nearly an equality
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
