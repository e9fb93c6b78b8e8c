"""The Graves-Lai constant: the least regret per log T that identifies the best action."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halfseen.checks import Vector
from halfseen.equality import ByValue

PARALLEL, RANK = 1e-12, 1e-9  # relative lengths below which a direction counts as 0
FEW = 40  # number of actions up to which no working sets are used
ADDED = 20  # number of actions added to a working set at a time
FLAT = 1e-13  # relative curvature added in all directions
SUPPORTS = (1e-4, 1e-6, 1e-8, 1e-2)  # thresholds for the support when the solution is polished


@dataclass(frozen=True, eq=False)
class Allocation(ByValue):
    """Plays of every action per log T, their cost, and a lower bound on the cost of any others."""

    plays: Vector
    constant: float
    certificate: float


class Program(NamedTuple):
    """Minimise sum z subject to u_a' M^-1 u_a <= 1, where M = sum z_b x_b x_b'."""

    probes: Vector  # rows x_b
    questions: Vector  # rows u_a


class Bracket(NamedTuple):
    """A feasible z, its multipliers, a lower bound on the least sum, and the sum of z."""

    cost: Vector
    prices: Vector
    lower: float
    upper: float


class Point(NamedTuple):
    """Quantities at a point z that the barrier and the certificate need."""

    spread: Vector  # g_a = u_a' M^-1 u_a
    cross: Vector  # Q_ab = u_a' M^-1 x_b
    inner: Vector  # R_bc = x_b' M^-1 x_c


def graves_lai(
    actions: Vector, gaps: Vector, observe: Vector, noise: float, best: int
) -> Allocation:
    """Return the cheapest plays per log T that distinguish every worse action from the best."""
    plays = np.zeros(len(actions))
    plays[best] = math.inf
    rows, directions = _off_the_best(actions, best)
    if len(rows) == 0 or noise == 0.0:
        return Allocation(plays, 0.0, 0.0)
    scale = float(gaps[rows].max())  # units of the largest gap, to avoid overflow
    relative = gaps[rows] / scale
    probes = directions * np.sqrt(observe[rows] / relative)[:, None]
    questions = directions * (math.sqrt(2.0) / relative)[:, None]
    cost, lower = least_cost(Program(probes, questions))
    unit = noise / scale * noise
    plays[rows] = cost / relative * (unit / scale)
    return Allocation(plays, float(cost.sum()) * unit, lower * unit)


def _off_the_best(actions: Vector, best: int) -> tuple[Any, Vector]:
    """Return the actions not parallel to the best one, and their orthogonal components."""
    chosen = actions[best]
    length = float(chosen @ chosen)
    off = actions - np.outer(actions @ chosen / length, chosen) if length > 0.0 else actions.copy()
    lengths = np.linalg.norm(off, axis=1)
    there = lengths > PARALLEL * np.maximum(np.linalg.norm(actions, axis=1), math.sqrt(length))
    there[best] = False
    rows = np.flatnonzero(there)
    if len(rows) == 0:
        return rows, np.zeros((0, 0))
    _, sizes, basis = np.linalg.svd(off[rows], full_matrices=False)
    return rows, off[rows] @ basis[sizes > RANK * sizes[0]].T


def least_cost(program: Program) -> tuple[Vector, float]:
    """Return an exactly feasible z with the least sum, and a lower bound on that sum."""
    probes, questions = program
    if probes.shape[1] == 1:
        cost = np.zeros(len(probes))
        probe = int(np.argmax(probes[:, 0] ** 2))
        cost[probe] = (questions[:, 0] ** 2).max() / probes[probe, 0] ** 2
        return cost, float(cost[probe])
    found = _solved(program) if len(probes) <= FEW else _by_working_sets(program)
    return found.cost, found.lower


def _by_working_sets(program: Program) -> Bracket:
    """Solve with few probes and questions, and add those that violate the optimality conditions."""
    probes, questions = program
    played, asked = _first_sets(program)
    best = None
    while True:
        small = _solved(Program(probes[played], questions[asked]))
        cost, prices = np.zeros(len(probes)), np.zeros(len(questions))
        cost[played], prices[asked] = small.cost, small.prices
        found = _bracket(program, cost, prices)
        if best is None or found.upper - found.lower < best.upper - best.lower:
            best = found
        at = _point(program, cost)
        worth = prices @ at.cross**2
        unasked = _largest(at.spread, asked, 1.0)
        unplayed = _largest(worth, played, float(worth[played].max()))
        if len(unasked) + len(unplayed) == 0:
            return best
        asked, played = np.append(asked, unasked), np.append(played, unplayed)


def _first_sets(program: Program) -> tuple[Any, Any]:
    """Return probes that span all directions, and the questions that are hardest to answer."""
    from scipy.linalg import qr

    scaled, _ = _rescaled(program)
    _, _, order = qr(scaled.probes.T, mode="economic", pivoting=True)
    hardest = np.argsort(-(scaled.questions**2).sum(axis=1), kind="stable")
    return order[: 2 * scaled.probes.shape[1]], hardest[:ADDED]


def _largest(values: Vector, chosen: Any, limit: float) -> Any:
    """Return the indices of the largest values above a limit that are not chosen yet."""
    others = np.flatnonzero(values > limit * (1.0 + 1e-10))
    others = np.setdiff1d(others, chosen)
    return others[np.argsort(-values[others], kind="stable")][:ADDED]


def _solved(program: Program) -> Bracket:
    """Solve a program by the central path, and polish the solution where that helps."""
    program, size = _rescaled(program)
    z, multipliers = _barrier(program)
    best = _bracket(program, z, multipliers)
    for part in SUPPORTS:
        if best.upper - best.lower <= 1e-12 * best.upper:
            break
        polished = _polished(program, z, multipliers, part)
        if polished is not None and polished.upper - polished.lower < best.upper - best.lower:
            best = polished
    return Bracket(best.cost * size, best.prices, best.lower * size, best.upper * size)


def _rescaled(program: Program) -> tuple[Program, float]:
    """Return the program in coordinates in which z = 1/K is feasible with M = identity * size."""
    probes, questions = program
    _, sizes, basis = np.linalg.svd(probes / math.sqrt(len(probes)), full_matrices=False)
    change = basis.T / sizes
    probes, questions = probes @ change, questions @ change
    size = 2.0 * float((questions**2).sum(axis=1).max())
    return Program(probes * math.sqrt(size), questions), size


def _point(program: Program, z: Vector) -> Point:
    probes = program.probes
    information = (probes * z[:, None]).T @ probes
    both = np.linalg.solve(np.linalg.cholesky(information), np.vstack(program).T)
    seen, asked = both[:, : len(probes)], both[:, len(probes) :]
    return Point((asked**2).sum(axis=0), asked.T @ seen, seen.T @ seen)


def _bracket(program: Program, z: Vector, multipliers: Vector) -> Bracket:
    """Return z scaled to be exactly feasible, its multipliers, their lower bound, and its sum."""
    at = _point(program, z)
    feasible = z * at.spread.max()
    most = (multipliers @ at.cross**2).max()
    lower = float((multipliers @ at.spread) ** 2 / (multipliers.sum() * most))
    return Bracket(feasible, multipliers, lower, float(feasible.sum()))


def _barrier(program: Program) -> tuple[Vector, Vector]:
    """Follow the central path of t sum z - sum log(1 - g_a) - sum log z_b by Newton's method."""
    count, terms = len(program.probes), len(program.probes) + len(program.questions)
    z = np.full(count, 1.0 / count)
    weight = float(terms)
    while True:
        z = _centred(program, z, weight)
        if terms / weight < 1e-7 * z.sum():
            return z, 1.0 / (1.0 - _point(program, z).spread) / weight
        weight *= 10.0


def _centred(program: Program, z: Vector, weight: float) -> Vector:
    at = _point(program, z)
    for _ in range(60):
        slack = 1.0 / (1.0 - at.spread)
        squares = at.cross**2
        gradient = weight - slack @ squares - 1.0 / z
        pull = squares * slack[:, None]
        hessian = 2.0 * (at.cross.T @ (at.cross * slack[:, None])) * at.inner + pull.T @ pull
        # scaled to a diagonal of 1 plus a little, which copies of an action do not make singular
        unit = 1.0 / np.sqrt(hessian.diagonal() + z**-2)
        scaled = hessian * np.outer(unit, unit)
        np.fill_diagonal(scaled, 1.0 + FLAT)
        step = -unit * np.linalg.solve(scaled, unit * gradient)
        decrease = float(-gradient @ step)
        if decrease < 1e-9:
            return z
        size = min(1.0, 0.99 / max(float((-step / z).max()), 1e-300))
        value = _barrier_value(at, z, weight)
        for _ in range(60):
            tried = z + size * step
            there = _point(program, tried)
            if there.spread.max() < 1.0 and (
                _barrier_value(there, tried, weight)
                <= value - 0.1 * size * decrease + 1e-12 * abs(value)
            ):
                break
            size /= 2.0
        else:
            return z
        z, at = tried, there
    return z


def _barrier_value(at: Point, z: Vector, weight: float) -> float:
    return float(weight * z.sum() - np.log1p(-at.spread).sum() - np.log(z).sum())


def _polished(program: Program, z: Vector, multipliers: Vector, part: float) -> Bracket | None:
    """Solve the optimality conditions on the estimated support, by Newton's method."""
    asked = np.flatnonzero(multipliers > part * multipliers.max())
    played = np.flatnonzero(z > part * z.max())
    small = Program(program.probes[played], program.questions[asked])
    cost, price = z[played].copy(), multipliers[asked].copy()
    for _ in range(40):
        try:
            at = _point(small, cost)
        except np.linalg.LinAlgError:
            return None
        squares = at.cross**2
        residual = np.concatenate([at.spread - 1.0, price @ squares - 1.0])
        curved = -2.0 * (at.cross.T @ (at.cross * price[:, None])) * at.inner
        jacobian = np.block([[-squares, np.zeros((len(asked), len(asked)))], [curved, squares.T]])
        if not np.all(np.isfinite(jacobian)):
            return None
        step = np.linalg.lstsq(jacobian, -residual, rcond=None)[0]
        cost, price = cost + step[: len(played)], price + step[len(played) :]
        if not np.all(np.isfinite(cost)) or cost.min() < 0.0 or price.min() < 0.0:
            return None
        if np.abs(residual).max() < 1e-15 or np.abs(step).max() < 1e-16:
            break
    whole, prices = np.zeros_like(z), np.zeros_like(multipliers)
    whole[played], prices[asked] = cost, price
    try:
        return _bracket(program, whole, prices)
    except np.linalg.LinAlgError:  # the estimated support does not span all directions
        return None
