"""Claims about censorship along a direction: origin and accuracy of thresholds."""

from __future__ import annotations

import math

import numpy as np

from halfseen.censorship import LinkModel, Logistic, Population, staircase
from halfseen.checks import Vector
from halfseen.claims.claim import Comparison, Curve, Evidence, Line, Measured, claim
from halfseen.claims.intervals import frequency
from halfseen.claims.laboratory import Laboratory
from halfseen.claims.linear.events import LINEAR

PEOPLE = (  # angles of their thresholds in degrees, weights
    ((0.0, 30.0, 90.0), (5.0, 3.0, 2.0)),
    ((-40.0, 10.0, 10.0, 65.0, 90.0), (1.0, 2.0, 0.5, 4.0, 1.5)),
)


@claim(
    "population",
    place="Section 4.1, heterogeneous agents",
    family=LINEAR,
    says=(
        "A multi-threshold model is the aggregate response of a population in which everyone"
        " responds as long as ⟨a, u⟩ is below their own threshold."
    ),
    how=(
        "Two populations of three and five types, people drawn one by one and offered unit actions"
        " in every region: share of responses against `Population.censorship`."
    ),
)
def population(lab: Laboratory) -> Evidence:
    """Simulate the responses of people one by one."""
    rng, rows = np.random.default_rng(lab.seed), []
    direction, asked = np.array([0.6, 0.0, 0.8]), lab.size(20_000, 400_000)
    for degrees, weights in PEOPLE:
        angles = np.radians(degrees)
        model = Population(angles.tolist(), weights).censorship(direction)
        ends = np.sin([-math.pi / 2, *model.threshold_radians, math.pi / 2])
        for height in 0.5 * (ends[1:] + ends[:-1]):
            across = np.array([0.0, 1.0, 0.0]) * math.sqrt(1.0 - height**2)
            action = height * direction + across
            kinds = rng.choice(len(weights), asked, p=np.array(weights) / sum(weights))
            answers = (
                action @ direction < np.where(angles >= math.pi / 2, 2.0, np.sin(angles))[kinds]
            )
            claimed = float(model.probabilities(action[None, :])[0])
            where = f"types at {', '.join(f'{a:g}°' for a in degrees)}, ⟨a, u⟩ = {height:.2f}"
            rows.append(
                Comparison(where, frequency(answers.astype(float)), "equals", claimed, 1e-9)
            )
    return Evidence(tuple(rows))


SMOOTH = (
    Logistic([0, 0, 1], slope=-3.0, offset=0.8),
    Logistic([0, 1], slope=6.0, offset=-1.0),
    LinkModel([1, 0], slope=-1.5, offset=0.2, link="probit"),
)


@claim(
    "staircase",
    place="Section 4.1 and figure 1",
    family=LINEAR,
    says=(
        "A multi-threshold model is a piecewise constant approximation of any GLM: with k regions"
        " the error is (p_max − p_min)/2k, and no k steps do better (the constant is ours)."
    ),
    how=(
        "Logistic and probit models, k = 1 to 12: largest error over 20,001 points of the"
        " direction; and the smallest error of k steps placed anywhere, by bisection on the error."
    ),
)
def stairs(lab: Laboratory) -> Evidence:
    """Measure the error of the staircase, and that of the best steps."""
    rows, along = [], np.linspace(-1.0, 1.0, 20_001)
    sizes, errors = (1, 2, 3, 6, 12), {}
    for smooth in SMOOTH:
        actions = along[:, None] * np.array(smooth.direction)
        chance = smooth.probabilities(actions)
        height = float(np.ptp(chance))
        for count in sizes:
            steps, _ = staircase(smooth, count)
            off = float(np.abs(steps.probabilities(actions) - chance).max())
            errors[smooth, count] = off
            limit = height / (2.0 * count)
            where = f"{type(smooth).__name__}, slope {smooth.slope:g}, k = {count}"
            rows.append(Comparison(f"{where}, error", Measured(off), "equals", limit, 1e-3))
            least = Measured(_least_error(chance, count))
            rows.append(Comparison(f"{where}, best steps", least, "equals", limit, 5e-3))
    smooth = SMOOTH[0]
    limits = [(smooth.observe_range[1] - smooth.observe_range[0]) / (2.0 * k) for k in sizes]
    lines = (
        Line("staircase", sizes, [errors[smooth, k] for k in sizes]),
        Line("(p_max − p_min)/2k", sizes, limits, claimed=True),
    )
    curve = Curve("Error of the staircase, logistic", "regions", "error", lines, log_upwards=True)
    return Evidence(tuple(rows), curve=curve)


def _least_error(chance: Vector, count: int) -> float:
    """Return the minimax error of `count` steps, for values along a line."""
    low, high = 0.0, float(np.ptp(chance))
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _steps_needed(chance, middle) <= count else (middle, high)
    return high


def _steps_needed(chance: Vector, error: float) -> int:
    """Return the number of steps needed for a given error, each as long as possible."""
    steps, start = 0, 0
    while start < len(chance):
        most = np.maximum.accumulate(chance[start:])
        least = np.minimum.accumulate(chance[start:])
        beyond = most - least > 2.0 * error
        steps += 1
        start = start + int(beyond.argmax()) if beyond.any() else len(chance)
    return steps
