"""Eigenvalues alone, against high precision, LAPACK and the rotations that also give vectors."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.kernels.jacobi import eigen
from halfseen.kernels.tridiagonal import write_eigenvalues


def found(matrix):
    spoiled = np.tril(np.array(matrix, float))  # the upper half is not read
    values = np.full(len(spoiled), np.nan)
    write_eigenvalues(spoiled, values)
    return values


def design(rng, d, largest):
    actions = rng.normal(size=(2 * d, d))
    actions /= np.linalg.norm(actions, axis=1)[:, None]
    counts = np.floor(largest ** rng.uniform(size=2 * d))
    matrix = np.eye(d) + (actions.T * counts) @ actions
    return np.tril(matrix) + np.tril(matrix, -1).T


@pytest.mark.parametrize("largest", [1.0, 1e3, 1e8])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 12])
def test_high_precision(d, largest):
    matrix = design(np.random.default_rng(d), d, largest)
    with mpmath.workdps(40):
        exact = mpmath.eigsy(mpmath.matrix(matrix.tolist()), eigvals_only=True)
    exact = np.sort([float(value) for value in exact])
    assert np.allclose(found(matrix), exact, rtol=0, atol=4e-15 * exact[-1])


@pytest.mark.parametrize(
    "matrix",
    [np.eye(4), np.zeros((3, 3)), np.diag([3.0, 1.0, 2.0]), np.ones((5, 5)), [[2.0]]],
    ids=["identity", "zero", "diagonal", "rank one", "one"],
)
def test_special_matrices(matrix):
    assert np.allclose(found(matrix), np.linalg.eigvalsh(matrix), rtol=0, atol=1e-14)


def test_the_wilkinson_matrix_whose_pairs_are_all_but_equal():
    matrix = np.diag(np.abs(np.arange(-10.0, 11.0))) + np.eye(21, k=1) + np.eye(21, k=-1)
    values = found(matrix)
    assert np.allclose(values, np.linalg.eigvalsh(matrix), rtol=0, atol=1e-13)
    assert values[-1] == pytest.approx(10.746194182903393, abs=1e-13)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.floats(1.0, 1e6))
def test_as_rotations(seed, d, largest):
    matrix = design(np.random.default_rng(seed), d, largest)
    rotated, vectors = np.zeros(d), np.zeros((d, d))
    eigen(matrix.copy(), rotated, vectors)
    values = found(matrix)
    assert np.allclose(values, rotated, rtol=0, atol=1e-13 * rotated[-1])
    assert np.sum(values) == pytest.approx(np.trace(matrix), rel=1e-13)
