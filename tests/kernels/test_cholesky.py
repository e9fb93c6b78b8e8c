"""The factors of matrices of every size are those of the same formula, to the last bit."""

import numpy as np
import pytest

from halfseen.kernels.cholesky import factor_often, lower_factor


def factor_of(matrix):
    factor, plain = np.zeros_like(matrix), np.zeros_like(matrix)
    factor_often(matrix, factor)
    lower_factor(matrix, plain)
    assert factor.tobytes() == plain.tobytes()
    return factor


@pytest.mark.parametrize("rank", [1, 3, 5, 9])
def test_the_factor_of_five_rows_is_the_beginning_of_that_of_six(rank):
    rng = np.random.default_rng(rank)
    for _ in range(50):
        half = rng.normal(size=(6, rank)) * 10.0 ** rng.integers(-9, 9)
        whole = half @ half.T
        assert factor_of(whole[:5, :5]).tobytes() == factor_of(whole)[:5, :5].tobytes()


@pytest.mark.parametrize("d", [1, 2, 4, 5, 6, 11])
def test_the_factor_is_that_of_numpy(d):
    half = np.random.default_rng(d).normal(size=(d, d + 2))
    matrix = half @ half.T
    np.testing.assert_allclose(factor_of(matrix), np.linalg.cholesky(matrix), rtol=1e-11)
