"""Claims about the information path of multi-threshold models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.claims.claim import CORRECTED, Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.greedy_path import Followed, follow
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.events import LINEAR
from halfseen.claims.linear.programs import Matrix
from halfseen.theory import (
    InformationPath,
    dual_reachability_threshold,
    information_path,
    reachability_threshold,
)

CLOSE = 0.01  # relative error allowed for a step-by-step path
FINE = 1e-4  # the same for its potential, which hardly depends on the time of a switch
HORIZON = 1000.0


def thresholds(degrees: Sequence[float], observe: Sequence[float], d: int = 3) -> MultiThreshold:
    """Return a model with thresholds in degrees, along the last coordinate."""
    angles = [math.radians(angle) for angle in degrees]
    return MultiThreshold(angles, observe, [0.0] * (d - 1) + [1.0])


def told(model: MultiThreshold, lam: float | None = None) -> str:
    """Return a short description of the model."""
    angles = "/".join(f"{math.degrees(angle):.0f}°" for angle in model.threshold_radians)
    observe = ", ".join(f"{p:.3g}" for p in model.observe)
    words = f"d = {len(model.direction)}, {angles}, p = ({observe})"
    return words if lam is None else f"{words}, λ = {lam:g}"


MODELS = (  # models with lambda: both regimes, and transient phases of two regions
    (thresholds([70], [1.0, 0.5]), 1.0),
    (thresholds([70], [1.0, 0.5]), 3.0),
    (thresholds([40, 75], [0.55, 0.5, 0.45]), 1.0),
    (thresholds([40, 75], [1.0, 0.5, 0.45]), 2.0),
    (thresholds([30, 55, 80], [0.6, 0.57, 0.54, 0.5], d=5), 0.5),
    (thresholds([60], [1.0, 0.3]), 1.0),
)


@cache
def _followed(model: MultiThreshold, lam: float, step: float) -> Followed:
    return follow(model, lam, HORIZON, step)


def _both(lab: Laboratory) -> Iterator[tuple[str, InformationPath, Followed]]:
    """Yield a description of each model, its path in closed form and the same step by step."""
    for model, lam in MODELS:
        path = information_path(model, regularization=lam)
        yield told(model, lam), path, _followed(model, lam, lab.size(5e-4, 5e-5))


@claim(
    "dynamics",
    place="Section 4.4 and algorithm 2",
    family=LINEAR,
    says=(
        "The policy that gains most per observation starts in the most censored region, moves to"
        " less censored ones at the times t_1, t_2, … and ends in one region or two."
    ),
    how="Six models: times and order of first visits, design and J at T = 1,000, step by step.",
)
def dynamics(lab: Laboratory) -> Evidence:
    """Follow the greedy policy and compare the regions it visits."""
    rows = []
    for where, path, seen in _both(lab):
        visits = [(0.0, path.regions[0]), *zip(path.switch_times, path.regions[1:], strict=True)]
        times = {region: visit[0] for region, visit in seen.first.items()}
        for time, region in visits[1:]:
            found = Measured(times.get(region, HORIZON))
            rows.append(Comparison(f"{where}: to {region} at", found, "equals", time, CLOSE))
        count = Measured(float(len(times)))
        rows.append(Comparison(f"{where}: regions visited", count, "equals", float(len(visits))))
        ends = zip("xy", (seen.x, seen.y), path.design(HORIZON), strict=True)
        rows += [
            Comparison(f"{where}: {name}", Measured(value), "equals", claimed, CLOSE)
            for name, value, claimed in ends
        ]
        gained, whole = Measured(seen.potential), path.potential(HORIZON)
        rows.append(Comparison(f"{where}: J", gained, "equals", whole, FINE))
    return Evidence(tuple(rows), curve=_ratio_over_time())


def _ratio_over_time() -> Curve:
    """Plot the convergence of the ratio of the design's two eigenvalues."""
    model, lam = MODELS[0]
    path = information_path(model, regularization=lam)
    rounds = np.geomspace(0.1, 100.0, 25)
    seen = [follow(model, lam, float(t), 2e-3) for t in rounds]
    x, y = path.design(rounds)
    lines = (
        Line("step by step", rounds.tolist(), [f.y / f.x for f in seen]),
        Line("closed form", rounds.tolist(), (y / x).tolist(), claimed=True),
    )
    return Curve("Along over across, 70°, p = (1, 0.5)", "round", "ratio of eigenvalues", lines)


class Pair(NamedTuple):
    """A region i below a base j, with the paper's u, l and r."""

    d: int
    u: float
    l: float  # noqa: E741
    r: float
    q: float
    c: float

    @property
    def r_star(self) -> float:
        """The ratio below which the region is reachable."""
        return float(reachability_threshold(self.u, self.l, self.d))

    @property
    def r_dagger(self) -> float:
        """The ratio above which both regions are kept."""
        return float(dual_reachability_threshold(self.u, self.l, self.d))

    @property
    def design(self) -> tuple[float, float]:
        """The paper's W(i, j)."""
        return self.c * (self.u - self.r), self.q * (self.r - self.l)


def _pairs(path: InformationPath) -> list[Pair]:
    """Return each region visited after the first, with the one before it as base."""
    along = [math.sin(angle) ** 2 for angle in path.angles_radians]
    known = dict(zip(path.numbers, zip(along, path.observe, strict=True), strict=True))
    pairs = []
    for j, i in zip(path.regions, path.regions[1:], strict=False):
        (q_i, p_i), (q_j, p_j) = known[i], known[j]
        u, l = (1 - q_i) / (1 - q_j), q_i / q_j  # noqa: E741
        pairs.append(Pair(path.dimension, u, l, p_i / p_j, q_j, 1 - q_j))
    return pairs


@claim(
    "dual-reachability",
    place="Lemma D.2",
    family=LINEAR,
    says=(
        "Once two regions gain the same and p_i/p_j > r†, W(t) is (t + λ*) W(i,j) times the factor"
        " of the lemma; otherwise only the new region is played."
    ),
    how="The models that end in two regions: design at T = 1,000, step by step.",
)
def dual_reachability(lab: Laboratory) -> Evidence:
    """Compare the steady design with the lemma's formula as printed."""
    rows = []
    for where, path, seen in _both(lab):
        if path.steady_offset is None or path.regime != "bi-region":
            continue
        pair, p_i = _pairs(path)[-1], path.observe[path.numbers.index(path.regions[-1])]
        mixed = pair.u + (pair.d - 1) * pair.l
        ahead = pair.r - pair.r_dagger
        share = pair.r + pair.d / mixed * (pair.r_star - pair.r) / ahead
        factor = (pair.u - pair.l) / mixed / ahead / share * p_i
        for name, value, claimed in zip("xy", (seen.x, seen.y), pair.design, strict=True):
            whole = factor * (HORIZON + path.steady_offset) * claimed
            rows.append(Comparison(f"{where}: {name}", Measured(value), "equals", whole, CLOSE))
    return Evidence(tuple(rows))


@claim(
    "path-potential",
    place="Section 4.4, J in cases 1 and 2",
    family=LINEAR,
    says=(
        "J(T) is Σ(1/p_n − 1/p_n+1) log det W(t_n) over the switches, plus log det W(T)/p or, with"
        " two regions, d_eff log((T+λ*)/(t_l+λ*))."
    ),
    right=(
        "Less (d/p_k) log λ; and with two regions the sum ends at l−1, plus log det W(t_l)/p of"
        " the region left."
    ),
    how="Six models, λ = 0.5 to 3, T = 1,000: J step by step.",
    expected=CORRECTED,
    erratum="path-potential",
)
def path_potential(lab: Laboratory) -> Evidence:
    """Evaluate both formulas from the times and designs of the switches."""
    printed, right = [], []
    for where, path, seen in _both(lab):
        d, lam = path.dimension, path.regularization
        weights = [1.0 / path.observe[path.numbers.index(region)] for region in path.regions]

        def spread(design: tuple[float, float], d: int = d) -> float:
            return (d - 1) * math.log(design[0]) + math.log(design[1])

        logs = [spread(design) for design in path.designs]
        drops = zip(weights, weights[1:], logs, strict=False)
        value = math.fsum((one - next_) * log for one, next_, log in drops)
        missing = -d * weights[0] * math.log(lam)
        if path.regime == "bi-region" and path.steady_offset is not None:
            start = path.switch_times[-1] + path.steady_offset
            value += path.effective_dimension * math.log((HORIZON + path.steady_offset) / start)
            missing += weights[-1] * logs[-1]
        else:
            value += weights[-1] * spread(path.design(HORIZON))
        found = Measured(seen.potential)
        printed.append(Comparison(where, found, "equals", value, CLOSE))
        right.append(Comparison(where, found, "equals", value + missing, FINE))
        claimed = path.potential(HORIZON)
        right.append(Comparison(f"{where}, `potential`", found, "equals", claimed, FINE))
    return Evidence(tuple(printed), tuple(right))


@claim(
    "path-formula",
    place="Corollary D.1.1",
    family=LINEAR,
    says="W(t_l) in closed form, with Π(u + d l) over the regions passed in the denominator.",
    right="Π(u + (d−1) l) in the numerator.",
    how="Models with one and two switches: the design at each, step by step.",
    expected=CORRECTED,
    erratum="path-formula",
)
def path_formula(lab: Laboratory) -> Evidence:
    """Evaluate the product, switch by switch."""
    printed: list[Comparison] = []
    right: list[Comparison] = []
    for where, path, seen in _both(lab):
        pairs, d = _pairs(path), path.dimension
        for n, pair in enumerate(pairs):
            start = pairs[0]
            value = path.regularization * ((d - 1) * start.q - start.c) / (pair.c * pair.q)
            value *= math.prod(one.r_dagger - one.r for one in pairs[:n]) / d ** (n + 1)
            value /= math.prod(one.r_star - one.r for one in pairs[: n + 1])
            below = math.prod(one.u + d * one.l for one in pairs[:n])
            above = math.prod(one.u + (d - 1) * one.l for one in pairs[:n])
            _, x, y = seen.first.get(path.regions[n + 1], (HORIZON,) * 3)
            for name, found, shape in zip("xy", (x, y), pair.design, strict=True):
                at = f"{where}: {name} at t_{n + 1}"
                for rows, factor in ((printed, 1.0 / below), (right, above)):
                    claimed = value * factor * shape
                    rows.append(Comparison(at, Measured(found), "equals", claimed, CLOSE))
    return Evidence(tuple(printed), tuple(right))


@claim(
    "one-step",
    place="Lemma D.1",
    family=LINEAR,
    says=(
        "While λ_a ≥ λ_b (across, along) region j is best played at its lowest angle, by one action"
        " v_j with v_j v_j′ = W_j; (1+f c_i)/(1+f c_j) falls with f for i < j."
    ),
    right="While λ_a ≤ λ_b, evenly around that angle: W_j is an average; and it grows with f.",
    how=(
        "d = 3, region from 40° to 75°, 2,000 random actions in it: the angle of the best one under"
        " random designs; the determinant reached by repeating one action, and by the best action"
        " of each moment; the quotient for random pairs of angles and f."
    ),
    expected=CORRECTED,
    erratum="one-step",
)
def one_step(lab: Laboratory) -> Evidence:
    """Compare the best of random actions with the three steps of the lemma."""
    rng = np.random.default_rng(lab.seed)
    low, high = math.radians(40), math.radians(75)
    actions = _in_region(math.sin(low), math.sin(high), 2000, rng)
    claimed = math.degrees(low)
    printed: list[Comparison] = []
    right: list[Comparison] = []
    for across, along in np.sort(rng.uniform(0.5, 5.0, (lab.size(6, 50), 2)), axis=1):
        for rows, pair in ((printed, (along, across)), (right, (across, along))):
            inverse = 1.0 / np.array([pair[0], pair[0], pair[1]])
            best = actions[(actions**2 @ inverse).argmax()]
            found = Measured(math.degrees(math.asin(min(best[2], 1.0))))
            where = f"best angle of 40° to 75°, λ = ({pair[0]:.2g}, {pair[1]:.2g})"
            rows.append(Comparison(where, found, "equals", claimed, 0.01))
    seen = 5.0
    c, q = math.cos(low) ** 2, math.sin(low) ** 2
    spread = 2.0 * math.log1p(0.5 * seen * c) + math.log1p(seen * q)
    single = actions[np.abs(actions[:, 2] - math.sin(low)).argmin()]
    for rows, name, design in (
        (printed, "one action", np.eye(3) + seen * np.outer(single, single)),
        (right, "the best action of each moment", _greedily(actions, seen, lab.size(500, 5000))),
    ):
        found = Measured(float(np.linalg.slogdet(design)[1]))
        where = f"log det after 5 observations of {name}"
        rows.append(Comparison(where, found, "equals", spread, 0.01))
    for _ in range(lab.size(20, 200)):
        below, above = np.sort(rng.uniform(0.0, 1.5, 2))
        first, second = np.sort(10.0 ** rng.uniform(-2, 2, 2))
        c_i, c_j = math.cos(below) ** 2, math.cos(above) ** 2
        early, late = ((1.0 + f * c_i) / (1.0 + f * c_j) for f in (first, second))
        where = f"quotient, {math.degrees(below):.0f}°/{math.degrees(above):.0f}°"
        where += f", f = {first:.2g} to {second:.2g}"
        for rows, relation in ((printed, "at most"), (right, "at least")):
            rows.append(Comparison(where, Measured(late), relation, early))
    return Evidence(tuple(printed), tuple(right))


def _in_region(low: float, high: float, count: int, rng: np.random.Generator) -> Matrix:
    """Return unit vectors in three dimensions between two heights, some of them at either end."""
    height = np.concatenate(
        [[low] * (count // 8), [high] * (count // 8), rng.uniform(low, high, count)]
    )
    turn, out = rng.uniform(0.0, 2.0 * math.pi, len(height)), np.sqrt(1.0 - height**2)
    return np.stack([out * np.cos(turn), out * np.sin(turn), height], axis=1)


def _greedily(actions: Matrix, seen: float, steps: int) -> Matrix:
    """Return the design after small steps, each with the currently least known action."""
    design = np.eye(3)
    for _ in range(steps):
        widths = np.einsum("ij,ij->i", actions @ np.linalg.inv(design), actions)
        best = actions[widths.argmax()]
        design += seen / steps * np.outer(best, best)
    return design
