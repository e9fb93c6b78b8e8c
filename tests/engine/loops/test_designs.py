"""What loops record of their designs, against numpy."""

import math

import numpy as np
import pytest

from halfseen.engine.loops.designs import powered_width, record_design
from halfseen.kernels.cholesky import exceeds, lower_factor
from halfseen.kernels.jacobi import eigen

RNG = np.random.default_rng(2)


def some_design(d, rounds, regularization=1.0):
    rows = RNG.normal(size=(rounds, d)) / math.sqrt(d)
    return regularization * np.eye(d) + rows.T @ rows


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("regularization", [1e-3, 1.0, 40.0])
def test_spread_and_eigenvalues(d, regularization):
    design = some_design(d, 30, regularization)
    kept, eigenvalues = design.copy(), np.zeros(d)
    spread = record_design(design, regularization, np.zeros((d, d)), eigenvalues)
    assert np.array_equal(design, kept)
    np.testing.assert_allclose(eigenvalues, np.linalg.eigvalsh(design), rtol=1e-12)
    right = np.linalg.slogdet(design)[1] - d * math.log(regularization)
    assert spread == pytest.approx(right, rel=1e-12, abs=1e-12)


def test_no_eigenvalue_is_recorded_below_the_regularization():
    """A ridge that rounding swallows leaves eigenvalues below it, even below 0."""
    rows = RNG.normal(size=(3, 6))
    eigenvalues = np.zeros(6)
    design = 1e-17 * np.eye(6) + 1e4 * rows.T @ rows
    spread = record_design(design, 1e-17, np.zeros((6, 6)), eigenvalues)
    assert (eigenvalues >= 1e-17).all()
    assert math.isfinite(spread)


@pytest.mark.parametrize("d", [1, 3, 8])
def test_comparing_two_designs(d):
    for _ in range(50):
        left, right = some_design(d, 10), some_design(d, 14)
        share, slack = RNG.random(), 0.5 * RNG.random()
        smallest = np.linalg.eigvalsh(left - share * right - slack * np.eye(d))[0]
        assert exceeds(left, right, share, slack, np.zeros((d, d))) == (smallest > 0)
    assert not exceeds(np.eye(d), np.eye(d), 1.0, 0.0, np.zeros((d, d)))


@pytest.mark.parametrize("d", [1, 3, 8])
def test_lower_factor(d):
    matrix, factor = np.linalg.inv(some_design(d, 20)), np.zeros((d, d))
    lower_factor(matrix, factor)
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), rtol=1e-12, atol=1e-15)


def test_lower_factor_of_a_matrix_without_full_rank():
    factor = np.zeros((3, 3))
    lower_factor(np.ones((3, 3)), factor)
    np.testing.assert_allclose(factor @ factor.T, np.ones((3, 3)), atol=1e-15)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 1.0, 2.0, 8.0])
def test_powered_width(alpha):
    design, action = some_design(5, 30), RNG.normal(size=5)
    values, vectors = np.zeros(5), np.zeros((5, 5))
    eigen(np.linalg.inv(design), values, vectors)
    truth, basis = np.linalg.eigh(design)
    right = (basis.T @ action) ** 2 @ truth**-alpha
    assert powered_width(action, values, vectors, alpha) == pytest.approx(right, rel=1e-11)


def test_an_inverse_that_rounding_left_below_0_has_width_0():
    values, vectors = np.array([-1e-20, 4.0]), np.eye(2)
    assert powered_width(np.array([1.0, 0.5]), values, vectors, 0.5) == pytest.approx(0.5)
