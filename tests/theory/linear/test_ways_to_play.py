"""The potential of four ways to play, against other ways to compute it."""

import math

import numpy as np
import pytest

from halfseen import MultiThreshold, theory
from halfseen.report.theory.reach_figures import example
from halfseen.theory.linear.ways_to_play import potentials, slopes


def of(censorship, horizons, regularization=1.0):
    path = theory.information_path(censorship, regularization=regularization)
    return path, potentials(path, censorship, np.asarray(horizons, dtype=float))


def played(rates, horizon, lam, steps, choose):
    """Return J by small steps: rates holds what an observed unit of each action adds, and p."""
    x, y, total, dt = lam, lam, 0.0, horizon / steps
    d = rates["d"]
    for _ in range(steps):
        across, along, p = choose(x, y)
        total += dt * (across / x + along / y)
        x, y = x + dt * p * across / (d - 1), y + dt * p * along
    return total


def test_potentials_are_what_small_steps_add_up_to():
    censorship = MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1])
    _, found = of(censorship, [40.0], regularization=0.7)
    sine = math.sin(math.radians(70)) ** 2
    pure = played({"d": 3}, 40.0, 0.7, 40_000, lambda x, y: (1.0 - sine, sine, 0.5))
    widest = played(
        {"d": 3}, 40.0, 0.7, 40_000, lambda x, y: (0.0, 1.0, 0.5) if y <= x else (1.0, 0.0, 1.0)
    )
    assert found.most_censored[0] == pytest.approx(pure, rel=1e-3)
    assert found.least_known[0] == pytest.approx(widest, rel=1e-3)


def test_golden_values_of_a_single_threshold():
    _, found = of(MultiThreshold([math.radians(70)], [1.0, 0.5], [0, 0, 1]), [1e3, 1e6])
    assert found.largest == pytest.approx([27.8959076007, 69.2296399861], rel=1e-9)
    assert found.path == pytest.approx([23.2675403892, 52.9905027886], rel=1e-9)


@pytest.mark.parametrize("observe", [[0.2, 0.9, 0.5], [1.0, 0.3, 0.6], [0.9, 0.2, 1.0, 0.4]])
def test_nothing_is_above_the_optimum_whatever_the_order_of_p(observe):
    angles = [-0.3, 0.25, 1.2][: len(observe) - 1]
    found = of(MultiThreshold(angles, observe, [0, 0, 0, 1]), np.geomspace(1.0, 1e9, 20))[1]
    for values in found[1:]:
        assert (values <= found.largest * (1 + 1e-12)).all()


def test_nothing_is_above_the_optimum_and_slopes_are_as_said():
    path, found = of(example(), np.geomspace(1.0, 1e9, 40))
    for values in found[1:]:
        assert (values <= found.largest * (1 + 1e-12)).all()
    late = math.log(1e9) / 39
    assert slopes(path, example()).largest == pytest.approx(6 / 0.35)
    for values, slope in zip(found, slopes(path, example()), strict=True):
        assert values[-1] - values[-2] == pytest.approx(slope * late, rel=1e-4)
    assert path.effective_dimension < 0.75 * 6 / 0.35
