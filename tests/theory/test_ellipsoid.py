"""The unit-ball maximiser against grids, random starts, high precision and the hard case."""

import math
from types import FunctionType

import mpmath
import numpy as np
import pytest
from numba import njit
from scipy import optimize

from halfseen.errors import InvalidInput
from halfseen.kernels import ellipsoid
from halfseen.kernels.ellipsoid import solve_secular, write_farthest
from halfseen.theory.ellipsoid import farthest_point


def objective(actions, center, values, vectors, radius):
    along = actions @ vectors
    return actions @ center + radius * np.sqrt((along**2 / values).sum(axis=-1))


def random_shape(rng, d, spread=2.0):
    vectors = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return 10 ** rng.uniform(-spread, spread, size=d), vectors


def planar_cases():
    rng = np.random.default_rng(3)
    for case in range(60):
        values, vectors = random_shape(rng, 2)
        widest = vectors[:, values.argmin()]
        center = rng.normal(size=2) * 10 ** rng.uniform(-2, 1)
        if case % 4 == 1:  # hard: orthogonal to the widest direction
            center -= widest * (widest @ center)
        if case % 4 == 2:  # nearly so
            center -= widest * (widest @ center) * (1.0 - 10.0 ** -rng.integers(3, 17))
        if case % 12 == 3:
            center = np.zeros(2)
        yield center, values, vectors, 10 ** rng.uniform(-2, 1)


@pytest.mark.parametrize("case", list(planar_cases()))
def test_plane_against_a_grid(case):
    """A grid of angles, refined by golden section around its best point."""
    angles = np.linspace(0.0, 2.0 * math.pi, 20_001)

    def value(angle):
        return objective(np.stack([np.cos(angle), np.sin(angle)], axis=-1), *case)

    best = angles[np.argmax(value(angles))]
    ends = (best - 4e-4, best + 4e-4)
    refined = optimize.minimize_scalar(lambda angle: -value(angle), bounds=ends, method="bounded")
    brute = max(-refined.fun, value(best))
    action, found = farthest_point(*case)
    assert found == pytest.approx(brute, rel=1e-8)
    assert found >= brute * (1.0 - 1e-13)
    assert objective(action, *case) == pytest.approx(found, rel=1e-12)
    assert np.linalg.norm(action) == pytest.approx(1.0, abs=1e-14)


def climb(case, start):
    """Climb by a <- gradient / |gradient|: the objective is convex, so this never descends."""
    center, values, vectors, radius = case
    inverse = (vectors / values) @ vectors.T
    action = start / np.linalg.norm(start)
    for _ in range(20_000):
        pushed = inverse @ action
        ahead = center + radius * pushed / math.sqrt(action @ pushed)
        ahead /= np.linalg.norm(ahead)
        if np.abs(ahead - action).max() < 1e-15:
            break
        action = ahead
    return objective(action, *case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_five_dimensions_against_many_starts(seed):
    rng = np.random.default_rng(seed)
    values, vectors = random_shape(rng, 5, spread=1.0)
    center = rng.normal(size=5) * 10 ** rng.uniform(-1, 0.5)
    widest = vectors[:, values.argmin()]
    if seed % 3 == 1:
        center -= widest * (widest @ center)
    if seed % 3 == 2:
        center -= widest * (widest @ center) * (1.0 - 1e-7)
    if seed == 11:
        values[values.argsort()[1]] = values.min()  # two widest directions
    case = (center, values, vectors, 10 ** rng.uniform(-1, 1))
    brute = max(climb(case, start) for start in rng.normal(size=(25, 5)))
    action, found = farthest_point(*case)
    assert found == pytest.approx(brute, rel=1e-8)
    assert found >= brute * (1.0 - 1e-13)
    assert objective(action, *case) == pytest.approx(found, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e-300, 1e-160, 1e-30, 1e-17, 1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("radius", [0.3, 1.0, 1.5, 1.5000001, 40.0])
def test_around_the_hard_case_in_high_precision(offset, radius):
    """Center (1, offset), W = diag(4, 1): hard for offset 0 and radius above 2/3."""
    action, value = farthest_point([1.0, offset], [4.0, 1.0], np.eye(2), radius)
    with mpmath.workdps(60):
        beta, c = mpmath.mpf(radius), (mpmath.mpf(1), mpmath.mpf(offset))
        least = 4 * c[0] ** 2 / mpmath.mpf(3) ** 2
        if offset == 0.0 and least <= beta**2:
            along = mpmath.sqrt(beta**2 - least)
            point = (c[0] * mpmath.mpf(4) / 3, along)
        else:
            low, high = mpmath.mpf(10) ** -320, mpmath.mpf(10) ** 3
            for _ in range(1500):  # bisection on a log scale
                nu = mpmath.sqrt(low * high)
                size = 4 * (c[0] / (3 + 4 * nu)) ** 2 + (c[1] / nu) ** 2
                low, high = (nu, high) if size > beta**2 else (low, nu)
            point = (c[0] + c[0] / (3 + 4 * nu), c[1] + c[1] / nu)
        length = mpmath.sqrt(point[0] ** 2 + point[1] ** 2)
        exact = float(length)
        direction = [float(entry / length) for entry in point]
    assert value == pytest.approx(exact, rel=1e-14)
    np.testing.assert_allclose(np.abs(action), np.abs(direction), atol=1e-10)


def test_known_answers():
    action, value = farthest_point([0.0, 0.0], [4.0, 1.0], np.eye(2), 2.0)
    assert (action.tolist(), value) == ([0.0, 1.0], 2.0)
    action, value = farthest_point([3.0, 4.0], [4.0, 1.0], np.eye(2), 0.0)
    np.testing.assert_allclose([*action, value], [0.6, 0.8, 5.0], rtol=1e-15)
    action, value = farthest_point([0.0, 0.0], [4.0, 1.0], np.eye(2), 0.0)
    assert (action.tolist(), value) == ([0.0, 1.0], 0.0)
    action, value = farthest_point([3.0, 4.0], [4.0, 1.0], np.eye(2), 1e-170)
    np.testing.assert_allclose([*action, value], [0.6, 0.8, 5.0], rtol=1e-15)
    action, value = farthest_point([3.0, 4.0], [9.0, 9.0], np.eye(2), 1.5)
    np.testing.assert_allclose([*action, value], [0.6, 0.8, 5.5], rtol=1e-14)


@pytest.mark.parametrize(("center", "sign"), [(0.7, 1.0), (-0.7, -1.0), (0.0, 1.0)])
def test_one_dimension(center, sign):
    action, value = farthest_point([center], [4.0], [[1.0]], 3.0)
    assert action.tolist() == [sign]
    assert value == pytest.approx(abs(center) + 1.5, rel=1e-15)


@pytest.mark.parametrize("d", [1, 3, 40])
def test_turning_everything_turns_the_answer(d):
    rng = np.random.default_rng(d)
    values, vectors = random_shape(rng, d)
    center = rng.normal(size=d)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    action, value = farthest_point(center, values, vectors, 0.8)
    turned, same = farthest_point(turn @ center, values, turn @ vectors, 0.8)
    assert same == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(turned, turn @ action, atol=1e-9)
    weighted = math.sqrt((((vectors.T @ (value * action - center)) ** 2) * values).sum())
    assert weighted == pytest.approx(0.8, rel=1e-9)  # the point lies on the ellipsoid


def compiled(function):
    """Compile a function and all it calls, leaving the originals alone."""
    calls = {
        name: compiled(value)
        for name in function.__code__.co_names
        if isinstance(value := function.__globals__.get(name), FunctionType)
    }
    return njit(FunctionType(function.__code__, function.__globals__ | calls, function.__name__))


@pytest.mark.slow
def test_compiled_gives_the_same_bits():
    fast = compiled(write_farthest)
    for case in planar_cases():
        scratch, plain, quick = np.empty((ellipsoid.SCRATCH_ROWS, 2)), np.empty(2), np.empty(2)
        one = write_farthest(*case, scratch, plain)
        other = fast(*case, scratch, quick)
        assert one == other
        assert plain.tolist() == quick.tolist()


def test_newton_needs_few_steps(monkeypatch):
    monkeypatch.setattr(ellipsoid, "MOST_STEPS", 12)
    rng = np.random.default_rng(0)
    for _ in range(500):
        pulls = 10 ** rng.uniform(-140, 8, size=4) * rng.integers(0, 2, size=4)
        spreads = np.append(0.0, rng.uniform(size=3) ** 6)
        nu = solve_secular(pulls, spreads)
        shares = pulls[pulls > 0.0] / (spreads[pulls > 0.0] + nu) if pulls.any() else np.zeros(1)
        if nu > 0.0:
            assert math.hypot(*shares) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([1.0], [1.0, 2.0], np.eye(2), 1.0), "eigenvectors"),
        (([1.0, 2.0], [1.0, 2.0], np.eye(3), 1.0), "eigenvectors"),
        (([1.0, 2.0], [1.0, 2.0], np.ones((2, 2)), 1.0), "eigenvectors"),
        (([1.0, math.nan], [1.0, 2.0], np.eye(2), 1.0), "center[1]"),
        (([1.0, 2.0], [1.0, 0.0], np.eye(2), 1.0), "shape_eigenvalues[1]"),
        (([1.0, 2.0], [1.0, 2.0], np.eye(2), -1.0), "radius"),
    ],
)
def test_bad_input(arguments, field):
    with pytest.raises(InvalidInput) as caught:
        farthest_point(*arguments)
    assert caught.value.field == field
