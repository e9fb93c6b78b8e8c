"""Eigenvalues by rotations against LAPACK."""

import numpy as np
import pytest

from halfseen.kernels.jacobi import eigen

RNG = np.random.default_rng(0)


def rotated(values):
    basis = np.linalg.qr(RNG.normal(size=(len(values), len(values))))[0]
    matrix = basis * np.asarray(values) @ basis.T
    return (matrix + matrix.T) / 2


MATRICES = {
    "one": np.array([[3.0]]),
    "zero": np.zeros((4, 4)),
    "identity": np.eye(6),
    "diagonal, out of order": np.diag([3.0, -1.0, 2.0, 2.0]),
    "two by two": np.array([[2.0, 1.0], [1.0, 2.0]]),
    "random": rotated(RNG.normal(size=7)),
    "larger": rotated(RNG.normal(size=25)),
    "clustered": rotated([1.0, 1.0 + 1e-14, 1.0 + 1e-9, 1.0, 5.0, 5.0]),
    "rank one": np.outer(np.arange(6.0), np.arange(6.0)),
    "rank one plus a little": 1e-3 * np.eye(5) + 1e6 * np.ones((5, 5)),
    "large condition": rotated([1e-8, 1e-4, 1.0, 1e4, 1e8]),
    "tiny": 1e-150 * rotated([1.0, 2.0, 3.0]),
    "huge": 1e120 * rotated([1.0, 2.0, 3.0]),
    "tiny beside huge": np.array([[1e12, 1.0, 0.0], [1.0, 1e-6, 1e-9], [0.0, 1e-9, 1.0]]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_against_lapack(name):
    matrix = MATRICES[name]
    d = len(matrix)
    spoiled, values, vectors = matrix.copy(), np.zeros(d), np.zeros((d, d))
    eigen(spoiled, values, vectors)
    size = np.abs(matrix).max()
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), rtol=0, atol=1e-14 * d * size)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(d), atol=1e-13)
    np.testing.assert_allclose(vectors * values @ vectors.T, matrix, atol=3e-14 * d * size)


def test_what_was_in_the_vectors_does_not_matter():
    matrix = MATRICES["random"]
    values, vectors = np.full(7, np.nan), np.full((7, 7), np.nan)
    eigen(matrix.copy(), values, vectors)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-13)


def test_small_eigenvalues_of_a_graded_matrix_keep_their_digits():
    """Rotations keep relative accuracy where the scales of the coordinates differ widely."""
    scale = np.array([1e-5, 1e-2, 1.0, 1e3])
    core = np.eye(4) + 0.3 * np.ones((4, 4))
    matrix = scale[:, None] * core * scale
    values, vectors = np.zeros(4), np.zeros((4, 4))
    eigen(matrix.copy(), values, vectors)
    assert np.prod(values) == pytest.approx(np.linalg.det(core) * np.prod(scale**2), rel=1e-12)
