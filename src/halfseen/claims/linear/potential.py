"""Claims about the potential of linear bandits."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import Uniform
from halfseen.checks import Vector
from halfseen.claims.areas import area
from halfseen.claims.arms.programs import expected_costs
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.intervals import mean, ratio
from halfseen.claims.laboratory import Laboratory, Played
from halfseen.claims.linear.events import LINEAR
from halfseen.policies import DesignExploration, LinUCB
from halfseen.problems import FiniteActions, LinearBandit
from halfseen.theory import (
    continuous_potential_bracket,
    elliptical_potential,
    expected_potential_bound,
    papers_censoring_factor,
    worst_case_potential,
)

BASIS = FiniteActions(np.eye(3))
THETA = (0.5, 0.2, -0.4)
EXPECTED = 1  # index of the expected design in the recorded arrays


def _explored(
    lab: Laboratory,
    observe: float,
    regularization: float,
    horizon: int,
    *,
    policy: type[LinUCB | DesignExploration] = DesignExploration,
    actions: FiniteActions = BASIS,
    checkpoints: int = 1,
    alphas: tuple[float, ...] = (1.0,),
) -> Played:
    """Play a policy that explores the least known direction, or another policy."""
    problem = LinearBandit(THETA, 0.3, actions)
    chosen = policy(regularization)
    runs = lab.size(60, 400)
    return lab.play(problem, Uniform(observe), chosen, horizon, runs, checkpoints, alphas)


def _stopping(
    observe: float, lam: float, alpha: float, horizon: int, most: float, share: float
) -> tuple[float, float]:
    """Return E V and E J of playing a single action until enough was observed.

    Parameters
    ----------
    most, share
        Stop at this many observations, or as soon as there are more than `share` p t of them.
    """
    law = np.zeros(horizon + 1)
    law[0] = 1.0
    counts = np.arange(horizon + 1.0)
    cost, potential, path = (counts + lam) ** -alpha, 0.0, 0.0
    for t in range(horizon):
        law[(counts >= most) | (counts > max(share * observe * t, 0.0))] = 0.0
        potential += float(law @ cost)
        path += float(law.sum()) * float(area(lam + observe * t, observe, alpha)) / observe
        law[1:] = (1.0 - observe) * law[1:] + observe * law[:-1]
        law[0] *= 1.0 - observe
    return potential, path


@claim(
    "potential-control-linear",
    place="Proposition 4.3",
    family=LINEAR,
    says="E V_α ≤ δ/λ^α + C(δ)^α Tr∫W(t)^−α a a′dt for any policy, C = 8(1+1/λ)max(log(d/δ)/λ, 1).",
    how=(
        "d = 1: policies that stop when enough, or more than expected, was observed, computed"
        " exactly, α = ½, 1, 2. d = 3: LinUCB and exploration. The proof’s failure term is wrong;"
        " no violation was found. The search is over p, λ, α, δ, T and the stopping time."
    ),
    erratum="control-linear",
)
def potential_control_linear(lab: Laboratory) -> Evidence:
    """Search for a policy whose potential is large although its own path integral is small."""
    rows, horizon = [], lab.size(300, 2000)
    for lam in (0.05, 1.0, 10.0):
        for alpha in (0.5, 1.0, 2.0):
            for most, share in ((1.0, math.inf), (5.0, math.inf), (math.inf, math.inf), (9.0, 0.5)):
                potential, path = _stopping(0.1, lam, alpha, horizon, most, share)
                for delta in (1.0, 0.1, 1e-3):
                    factor = (1.0 + 1.0 / lam) * papers_censoring_factor(1, lam, delta)
                    where = f"d = 1, λ = {lam:g}, α = {alpha:g}, δ = {delta:g}, stop at {most:g}"
                    limit = delta / lam**alpha + factor**alpha * path
                    rows.append(Comparison(where, Measured(potential), "at most", limit))
    delta = 0.01
    for lam in (0.1, 1.0):
        for policy in (DesignExploration, LinUCB):
            played = _explored(lab, 0.2, lam, 2000, policy=policy)
            factor = (1.0 + 1.0 / lam) * papers_censoring_factor(3, lam, delta)
            length = played.tracks["spread"][:, -1, EXPECTED] / 0.2
            found = ratio(played.potential(), delta / lam + factor * length)
            where = f"d = 3, λ = {lam:g}, δ = {delta:g}, {policy.__name__}, over the bound"
            rows.append(Comparison(where, found, "at most", 1.0))
    axes = (
        Axis("p", 0.01, 1.0, log=True),
        Axis("λ", 0.01, 1e4, log=True),
        Axis("α", 0.2, 3.0),
        Axis("δ", 0.001, 0.5, log=True),
        Axis("stop", 1, 100, log=True, whole=True),
        Axis("T", 1, horizon, log=True, whole=True),
    )
    rows.append(closest(_stops, axes, lab.size(60, 600), lab.seed))
    return Evidence(tuple(rows))


def _stops(at: Point) -> Comparison:
    """Compare the potential of one action played until enough was observed with the bound."""
    lam, alpha, delta = at["λ"], at["α"], at["δ"]
    potential, path = _stopping(at["p"], lam, alpha, int(at["T"]), at["stop"], math.inf)
    factor = (1.0 + 1.0 / lam) * papers_censoring_factor(1, lam, delta)
    where = f"d = 1, p = {at['p']:.2g}, λ = {lam:.2g}, α = {alpha:.2g}, δ = {delta:.2g}"
    where += f", T = {at['T']:g}, stop at {at['stop']:g}"
    return Comparison(
        where, Measured(potential), "at most", delta / lam**alpha + factor**alpha * path
    )


@claim(
    "pmin-bound",
    place="new",
    family=LINEAR,
    says="E V_1 ≤ κ (d/p_min) log(1 + p_min T/(dλ)), κ = 1/(λ log(1+1/λ)), for every policy.",
    how=(
        "Exploration and LinUCB, d = 3, p = 0.05, 0.3, 1, λ = 0.1, 1, 10: measured potential. The"
        " search is over d, p, λ and T of coordinates in turn, exactly."
    ),
)
def pmin_bound(lab: Laboratory) -> Evidence:
    """Compare the potential of policies that explore as much as possible with the bound."""
    rows, horizon = [], lab.size(3000, 30_000)
    for observe in (0.05, 0.3, 1.0):
        for lam in (0.1, 1.0, 10.0):
            for policy in (DesignExploration, LinUCB):
                played = _explored(lab, observe, lam, horizon, policy=policy)
                where = f"{policy.__name__}, p = {observe:g}, λ = {lam:g}, T = {horizon:,}"
                limit = expected_potential_bound(3, observe, horizon, lam)
                rows.append(Comparison(where, mean(played.potential()), "at most", limit))
    axes = (
        Axis("d", 1, 10, whole=True),
        Axis("p", 0.02, 1.0, log=True),
        Axis("λ", 0.02, 100.0, log=True),
        Axis("T", 1, lab.size(1000, 3000), log=True, whole=True),
    )
    rows.append(closest(_coordinates, axes, lab.size(60, 400), lab.seed))
    played = _explored(lab, 0.3, 1.0, horizon, checkpoints=30)
    seen = [mean(played.potential(0, k)) for k in range(len(played.rounds))]
    rounds = played.rounds.tolist()
    lines = (
        Line("exploration", rounds, [s.value for s in seen], [s.half for s in seen]),
        Line(
            "bound",
            rounds,
            [expected_potential_bound(3, 0.3, t, 1.0) for t in rounds],
            claimed=True,
        ),
    )
    curve = Curve("Potential of order 1, p = 0.3", "round", "potential", lines)
    return Evidence(tuple(rows), curve=curve)


def _coordinates(at: Point) -> Comparison:
    """Compare the exact expected potential of the coordinates in turn with the bound."""
    d, horizon, lam, observe = int(at["d"]), int(at["T"]), at["λ"], at["p"]
    costs = expected_costs(observe, -(-horizon // d), (1.0,), lam)[0]
    whole, over = divmod(horizon, d)
    exact = d * costs[:whole].sum() + (over * costs[whole] if over else 0.0)
    where = f"in turn, d = {d}, p = {observe:.2g}, λ = {lam:.2g}, T = {horizon:,}"
    limit = expected_potential_bound(d, observe, horizon, lam)
    return Comparison(where, Measured(float(exact)), "at most", limit)


def _in_turn(dimension: int, horizon: int, alpha: float, lam: float) -> Measured:
    """Return the potential of the coordinates played in turn, with everything observed."""
    times = np.arange(horizon) // dimension
    return Measured(float(((times + lam) ** -alpha).sum()))


DIALS = (
    Axis("d", 1, 20, whole=True),
    Axis("λ", 0.02, 1e3, log=True),
    Axis("T", 1, 10_000, log=True, whole=True),
)
ORDERS = (0.5, 1.5, 2.0)
SIZES = ((2, 1.0), (5, 1.0), (5, 10.0), (20, 0.1))


@claim(
    "elliptical-potential",
    place="Remarks 1 and 5, α ≠ 1",
    family=LINEAR,
    says=(
        "Uncensored, Σ‖a_t‖² in W^−α is at most (1+1/λ)^α times [d^α(dλ+T)^(1−α) − dλ^(1−α)]/(1−α)"
        " for α < 1 and dλ^(1−α)/(α−1) for α > 1; at 1, (1+1/λ) log(det W/det λI)."
    ),
    how=(
        "Coordinates in turn, exactly, four pairs (d, λ); exploration and LinUCB in simulation. The"
        " search is over d, λ, T and α of coordinates in turn."
    ),
)
def elliptical(lab: Laboratory) -> Evidence:
    """Compare potentials of uncensored play with the bounds, order by order."""
    rows, horizon = [], lab.size(2000, 100_000)
    for d, lam in SIZES:
        for alpha in ORDERS:
            where = f"in turn, d = {d}, λ = {lam:g}, α = {alpha:g}, T = {horizon:,}"
            found, limit = _in_turn(d, horizon, alpha, lam), _printed_order(d, horizon, alpha, lam)
            rows.append(Comparison(where, found, "at most", limit))
        times = np.bincount(np.arange(horizon) % d) / lam
        spread = float(np.log1p(times).sum())
        found = _in_turn(d, horizon, 1.0, lam)
        where = f"in turn, d = {d}, λ = {lam:g}, α = 1, log det"
        rows.append(Comparison(where, found, "at most", (1.0 + 1.0 / lam) * spread))
    for policy in (DesignExploration, LinUCB):
        played = _explored(lab, 1.0, 1.0, 1000, policy=policy, alphas=(0.5, 1.0, 1.5, 2.0))
        for order, alpha in ((0, 0.5), (2, 1.5), (3, 2.0)):
            where = f"{policy.__name__}, d = 3, λ = 1, α = {alpha:g}"
            limit = _printed_order(3, 1000, alpha, 1.0)
            rows.append(Comparison(where, mean(played.potential(order)), "at most", limit))

    def measure(at: Point) -> Comparison | None:
        d, turns, alpha, lam = int(at["d"]), int(at["T"]), at["α"], at["λ"]
        if abs(alpha - 1.0) < 0.01:
            return None
        found, limit = _in_turn(d, turns, alpha, lam), _printed_order(d, turns, alpha, lam)
        where = f"in turn, d = {d}, λ = {lam:.2g}, α = {alpha:.2g}, T = {turns:,}"
        return Comparison(where, found, "at most", limit)

    rows.append(closest(measure, (*DIALS, Axis("α", 0.1, 3.0)), lab.size(80, 600), lab.seed))
    return Evidence(tuple(rows))


def _printed_order(d: int, horizon: float, alpha: float, lam: float) -> float:
    """Return the printed bound for an order other than 1."""
    if alpha < 1.0:
        return elliptical_potential(d, horizon, alpha, lam)
    return (1.0 + 1.0 / lam) ** alpha * d * lam ** (1.0 - alpha) / (alpha - 1.0)


@claim(
    "elliptical-potential-one",
    place="Remark 5, α = 1",
    family=LINEAR,
    says="Uncensored, the potential of order 1 is at most (1+1/λ) log(1 + T/(λd)).",
    right="It is d times that.",
    how=(
        "Coordinates in turn, everything observed, four pairs (d, λ), computed exactly. The search"
        " is over d, λ and T."
    ),
    expected=CORRECTED,
    erratum="elliptical-one",
)
def elliptical_one(lab: Laboratory) -> Evidence:
    """Play the coordinates in turn and compare with both bounds."""
    printed, right, horizon = [], [], lab.size(2000, 100_000)
    for d, lam in SIZES:
        where = f"d = {d}, λ = {lam:g}, T = {horizon:,}"
        found, limit = _in_turn(d, horizon, 1.0, lam), elliptical_potential(d, horizon, 1.0, lam)
        printed.append(Comparison(where, found, "at most", limit / d))
        right.append(Comparison(where, found, "at most", limit))
    rounds = [10, 30, 100, 300, 1000, 3000, 10_000]
    bounds = [elliptical_potential(5, t, 1.0, 1.0) for t in rounds]
    lines = (
        Line("exact", rounds, [_in_turn(5, t, 1.0, 1.0).value for t in rounds]),
        Line("printed", rounds, [b / 5 for b in bounds], claimed=True),
        Line("right", rounds, bounds, claimed=True),
    )
    curve = Curve("Potential of order 1, d = 5, λ = 1", "rounds", "potential", lines)

    def measure(at: Point) -> Comparison:
        d, turns, lam = int(at["d"]), int(at["T"]), at["λ"]
        where = f"d = {d}, λ = {lam:.2g}, T = {turns:,}"
        limit = elliptical_potential(d, turns, 1.0, lam)
        return Comparison(where, _in_turn(d, turns, 1.0, lam), "at most", limit)

    right.append(closest(measure, DIALS, lab.size(80, 600), lab.seed))
    return Evidence(tuple(printed), tuple(right), curve)


@claim(
    "uniform-model",
    place="Lemma 4.4",
    family=LINEAR,
    says="With p the same everywhere the largest path integral is d_eff log(1 + T/(λ d_eff)),"
    " d_eff = d/p.",
    how=(
        "Exploration attains it, LinUCB stays below: d = 3, p = 0.05, 0.3, 1, (log det W)/p. The"
        " same from `elliptical_potential` without its factor, `worst_case_potential` and both ends"
        " of `continuous_potential_bracket`."
    ),
)
def uniform_model(lab: Laboratory) -> Evidence:
    """Compare the path integral of played actions with the claimed maximum."""
    rows, horizon = [], lab.size(3000, 30_000)
    for observe in (0.05, 0.3, 1.0):
        size = 3.0 / observe
        limit = size * math.log1p(horizon / size)
        for policy, relation in ((DesignExploration, "equals"), (LinUCB, "at most")):
            played = _explored(lab, observe, 1.0, horizon, policy=policy)
            path = played.tracks["spread"][:, -1, EXPECTED] / observe
            where = f"{policy.__name__}, p = {observe:g}, T = {horizon:,}"
            tolerance = 0.002 if relation == "equals" else 0.0
            found = _mean_or_exact(path)
            rows.append(Comparison(where, found, relation, limit, tolerance))
            if relation == "equals":
                rows += [
                    Comparison(f"{where}, {name}", found, "equals", known, tolerance)
                    for name, known in _known_of_uniform(observe, horizon).items()
                ]
    return Evidence(tuple(rows))


def _known_of_uniform(observe: float, horizon: int) -> dict[str, float]:
    """Return the same maximum according to functions of the library, d = 3, λ = 1."""
    elliptical = elliptical_potential(3, observe * horizon, 1.0, 1.0) / (2.0 * observe)
    bracket = continuous_potential_bracket(3, observe, horizon, 1.0, observe_max=observe)
    worst = worst_case_potential(Uniform(observe), 3, regularization=1.0, horizon=horizon)
    return {
        "elliptical": elliptical,
        "worst case": worst.value,
        "lower end": bracket[0],
        "upper end": bracket[1],
    }


def _mean_or_exact(values: Vector) -> Measured:
    """Return the mean with its interval, or without one if all replications agree."""
    return Measured(float(values[0])) if np.ptp(values) == 0.0 else mean(values)
