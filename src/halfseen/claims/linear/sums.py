"""Claims about sums of norms and about increments that are not of rank 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from halfseen.claims.claim import CORRECTED, Comparison, Evidence, Measured, claim
from halfseen.claims.closest import Axis, Point, closest
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.events import LINEAR
from halfseen.claims.linear.programs import Matrix
from halfseen.theory import (
    sphere_norm_sum,
    tight_norm_sum,
    trace_potential,
    trace_potential_factor,
)

FOOTNOTE = "Remark 5, footnote"
SLOWER = 0.45  # largest exponent of T at which a sum counts as growing more slowly than sqrt(T)


def _in_ball(d: int, alpha: float, lam: float, horizon: int) -> float:
    """Return the sum of norms of short coordinate actions, all with the same norm.

    The coordinates are played in turn with squared length ρμ^α, μ the current eigenvalue.
    """
    rho = d * lam ** (1.0 - alpha) / ((alpha - 1.0) * horizon)
    eigenvalue, total = lam, 0.0
    for _ in range(horizon // d):
        square = min(rho * eigenvalue**alpha, 1.0)
        total += d * math.sqrt(square * eigenvalue**-alpha)
        eigenvalue += square
    return total


def _equal_norms(d: int, alpha: float, lam: float, horizon: int) -> float:
    """Return the largest sum of norms √ρ, all equal, of coordinate actions no longer than 1."""
    low, high = 0.0, lam**-alpha
    for _ in range(50):
        rho, eigenvalue = 0.5 * (low + high), lam
        for _ in range(-(-horizon // d)):
            square = rho * eigenvalue**alpha
            if square > 1.0:
                break
            eigenvalue += square
        low, high = (low, rho) if square > 1.0 else (rho, high)
    return horizon * math.sqrt(low)


def _on_sphere(alpha: float, turned: float, horizon: int) -> float:
    """Return the sum of norms of unit actions of the plane close to one axis, λ = 1.

    The second coordinate alternates between plus and minus √(c/T).
    """
    small = math.sqrt(turned / horizon)
    a, b, c, total = 1.0, 0.0, 1.0, 0.0  # the design [[a, b], [b, c]]
    x = math.sqrt(1.0 - small * small)
    for t in range(horizon):
        y = small if t % 2 == 0 else -small
        middle, half = 0.5 * (a + c), math.hypot(0.5 * (a - c), b)
        high, low = middle + half, middle - half
        angle = 0.5 * math.atan2(2.0 * b, a - c)  # radians, of the larger eigenvalue
        first = x * math.cos(angle) + y * math.sin(angle)
        second = y * math.cos(angle) - x * math.sin(angle)
        total += math.sqrt(first**2 * high**-alpha + second**2 * low**-alpha)
        a, b, c = a + x * x, b + x * y, c + y * y
    return total


@claim(
    "sum-of-norms",
    place=FOOTNOTE,
    family=LINEAR,
    says=(
        "For α > 1 the step Σ‖a_t‖ ≤ √(T Σ‖a_t‖²), norms in W^−α, is suboptimal: the sum grows more"
        " slowly than √T (a conjecture)."
    ),
    right=(
        "It is tight: in the unit ball the sum is √(T d λ^(1−α)/(α−1)) in the limit, the bound of"
        " the continuous relaxation itself; on the sphere, d ≥ 2, it grows like √T too. Unit"
        " actions along axes, as of arms, give T^(1−α/2)."
    ),
    how=(
        "Sequences of actions constructed for a large sum, step by step, everything observed. “More"
        f" slowly” is interpreted as an exponent of T of at most {SLOWER}."
    ),
    expected=CORRECTED,
    erratum="sum-of-norms",
)
def sum_of_norms(lab: Laboratory) -> Evidence:
    """Sum the norms along sequences constructed to keep them large."""
    printed, right = [], []
    first, last = 10_000, lab.size(100_000, 1_000_000)
    for d, alpha, lam in ((1, 2.0, 1.0), (2, 1.5, 1.0), (3, 2.0, 0.5), (2, 3.0, 2.0)):
        low, high = (_in_ball(d, alpha, lam, t) for t in (first, last))
        slope = Measured(math.log(high / low) / math.log(last / first))
        where = f"ball, d = {d}, α = {alpha:g}, λ = {lam:g}"
        printed.append(Comparison(f"{where}, exponent", slope, "at most", SLOWER))
        right.append(Comparison(f"{where}, exponent", slope, "equals", 0.5, 0.05))
        limit = math.sqrt(last * d * lam ** (1.0 - alpha) / (alpha - 1.0))
        tight = tight_norm_sum(d, first, alpha, regularization=lam)
        kept = Measured(_equal_norms(d, alpha, lam, first))
        name = f"{where}, equal norms"
        right.append(Comparison(name, kept, "equals", tight.value, 0.002))
        right.append(Comparison(name, kept, "at least", tight.value))
        right.append(Comparison(name, kept, "at most", tight.bound))
        scaled = Measured(limit * math.sqrt(first / last))
        right.append(Comparison(f"{where}, bound", scaled, "equals", tight.bound, 1e-12))
        share = Measured(high / limit)
        right.append(Comparison(f"{where}, over the bound", share, "equals", 1.0, 0.05))
    for alpha in (2.0, 3.0):
        low, high = (_on_sphere(alpha, 4.0, t) for t in (first, last))
        slope = Measured(math.log(high / low) / math.log(last / first))
        printed.append(Comparison(f"sphere, α = {alpha:g}", slope, "at most", SLOWER))
        right.append(Comparison(f"sphere, α = {alpha:g}, exponent", slope, "equals", 0.5, 0.05))
        where, known = f"sphere, α = {alpha:g}, T = {first:,}", sphere_norm_sum(first, alpha)
        right.append(Comparison(f"{where}, sum", Measured(low), "equals", known.value, 1e-6))
    for alpha in (1.25, 1.5):
        low, high = (float((np.arange(1.0, t + 1.0) ** (-alpha / 2)).sum()) for t in (first, last))
        slope = Measured(math.log(high / low) / math.log(last / first))
        where = f"one axis, α = {alpha:g}"
        right.append(Comparison(where, slope, "equals", 1.0 - alpha / 2.0, 0.1))
    return Evidence(tuple(printed), tuple(right))


def _grown(increments: list[Matrix], lam: float, alpha: float) -> tuple[float, float]:
    """Return Σ Tr(W^−α H) over the increments, and Tr ψ(W_T) − Tr ψ(W_0)."""
    design = lam * np.eye(len(increments[0]))
    total = 0.0
    for increment in increments:
        values, vectors = np.linalg.eigh(design)
        power = (vectors * values**-alpha) @ vectors.T
        total += float((power * increment).sum())
        design = design + increment
    ends = np.linalg.eigvalsh(design)
    if alpha == 1.0:
        return total, float(np.log(ends / lam).sum())
    return total, float((ends ** (1.0 - alpha) - lam ** (1.0 - alpha)).sum() / (1.0 - alpha))


def _turned(large: float, small: float, angle: float) -> Matrix:
    """Return the matrix with these eigenvalues, the first along an angle of the plane."""
    along = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-along[1], along[0]])
    turned: Matrix = large * np.outer(along, along) + small * np.outer(across, across)
    return turned


def _printed_factor(alpha: float, lam: float) -> float:
    """Return (1+1/λ)^α."""
    return float((1.0 + 1.0 / lam) ** alpha)


def _increments_below(
    lab: Laboratory, factor: Callable[[float, float], float]
) -> tuple[Comparison, ...]:
    """Compare random increments, and the closest ones found, with a factor of (α, λ)."""
    rng = np.random.default_rng(lab.seed)
    rows = []
    for d in (1, 2, 3, 5):
        for alpha in (0.3, 0.5, 1.0, 1.5, 3.0):
            lam = float(10.0 ** rng.uniform(-1, 1))
            steps = []
            for _ in range(lab.size(30, 200)):
                vectors = np.linalg.qr(rng.normal(size=(d, d)))[0]
                steps.append((vectors * rng.uniform(0.0, 1.0, d) ** 2) @ vectors.T)
            total, area = _grown(steps, lam, alpha)
            where = f"at random, d = {d}, λ = {lam:.2g}, α = {alpha:g}"
            limit = factor(alpha, lam) * area
            rows.append(Comparison(where, Measured(total), "at most", limit))
    for alpha in (0.3, 0.5, 1.0, 1.5, 3.0):
        for lam in (0.02, 0.1, 1.0, 10.0):
            total, area = _grown([np.eye(1)], lam, alpha)
            where = f"one step of 1, d = 1, λ = {lam:g}, α = {alpha:g}"
            limit = factor(alpha, lam) * area
            rows.append(Comparison(where, Measured(total), "at most", limit))

    def measure(at: Point) -> Comparison:
        steps = [_turned(at["h"], at["h2"], 0.0), _turned(at["k"], at["k2"], at["turn"])]
        total, area = _grown(steps, at["λ"], at["α"])
        where = (
            f"two of eigenvalues {at['h']:.2g}, {at['h2']:.2g} and {at['k']:.2g}, {at['k2']:.2g}"
        )
        where += f" at {math.degrees(at['turn']):.0f}°, λ = {at['λ']:.2g}, α = {at['α']:.2g}"
        limit = factor(at["α"], at["λ"]) * area
        return Comparison(where, Measured(total), "at most", limit)

    sizes = tuple(Axis(key, 0.0, 1.0) for key in ("h", "h2", "k", "k2"))
    axes = (*sizes, Axis("turn", 0.0, 1.6), Axis("λ", 0.05, 50.0, log=True), Axis("α", 0.1, 4.0))
    return (*rows, closest(measure, axes, lab.size(300, 3000), lab.seed))


@claim(
    "psd-increments",
    place="Remark 5, last sentence",
    family=LINEAR,
    says=(
        "Rank 1 is not needed: the bounds hold with any positive semi-definite H_t in place of"
        " a_t a_t′, Σ Tr(W^−α H) ≤ (1+1/λ)^α Tr(ψ(W_T) − ψ(W_0)) for 0 ≤ H ≤ I."
    ),
    how=(
        "Random sequences of matrices of full rank, d = 1 to 5, α = 0.3 to 3. The search is over"
        " two steps in the plane: their eigenvalues, the angle between them, λ and α. The paper’s"
        " proof needs α ≤ 1; the statement holds for every α > 0."
    ),
)
def psd_increments(lab: Laboratory) -> Evidence:
    """Compare increments of any rank with the printed factor."""
    return Evidence(_increments_below(lab, _printed_factor))


@claim(
    "psd-factor",
    place="new",
    family=LINEAR,
    says=(
        "The same with the factor X/(1−e^−X), X = α/λ, for every α > 0, or (1+1/λ)^α where that is"
        " smaller; at α = 1 with 1/(λ log(1+1/λ)): `trace_potential_factor`."
    ),
    how=(
        "The same sequences, and the same search; at α = 1 one step of size 1 reaches it."
        " `trace_potential`: its sum and its bound, matrix by matrix."
    ),
)
def psd_factor(lab: Laboratory) -> Evidence:
    """Compare the same increments with the sharper factor."""
    rows = [*_increments_below(lab, trace_potential_factor)]
    for lam in (0.02, 0.1, 1.0, 10.0):
        found = Measured(1.0 / (lam * math.log(1.0 + 1.0 / lam)))
        claimed = trace_potential_factor(1.0, lam)
        rows.append(Comparison(f"sharp, λ = {lam:g}, α = 1", found, "equals", claimed, 1e-9))
    rng = np.random.default_rng(lab.seed)
    for alpha in (0.5, 1.0, 2.0):
        roots = rng.normal(size=(12, 3, 3))
        steps = [root @ root.T for root in roots]
        total, area = _grown(steps, 0.7, alpha)
        known = trace_potential(steps, alpha, 0.7)
        where = f"12 of full rank, d = 3, λ = 0.7, α = {alpha:g}"
        rows.append(Comparison(f"{where}, sum", Measured(total), "equals", known.value, 1e-9))
        largest = max(float(np.linalg.eigvalsh(step)[-1]) for step in steps)
        bound = Measured(trace_potential_factor(alpha, 0.7, largest=largest) * area)
        rows.append(Comparison(f"{where}, bound", bound, "equals", known.bound, 1e-9))
        rows.append(Comparison(f"{where}, below", Measured(total), "at most", known.bound))
    return Evidence(tuple(rows))
