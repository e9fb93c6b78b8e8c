r"""The most optimistic action of the whole unit ball.

Over the ball, :math:`\langle a,\hat\theta\rangle+\beta\|a\|_{W^{-1}}` is largest at the direction
of the point of the ellipsoid :math:`\{\theta:\|\theta-\hat\theta\|_W\le\beta\}` farthest from 0,
and the maximum is that point's distance. In the eigenbasis of W it is found from one equation in
one unknown, the *secular equation* of trust-region methods.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.kernels.ellipsoid import SCRATCH_ROWS, write_farthest


class FarthestPoint(NamedTuple):
    """The most optimistic action and its upper confidence bound.

    Attributes
    ----------
    action
        The best action, of length 1.
    value
        Its mean plus width: the distance of the farthest point of the ellipsoid.
    """

    action: Vector
    value: float


def farthest_point(
    center: Any, shape_eigenvalues: Any, eigenvectors: Any, radius: float
) -> FarthestPoint:
    r"""Return the action of the unit ball with the largest mean plus width, exactly.

    .. math:: \max_{\|a\|\le 1}\ \langle a,\hat\theta\rangle+\beta\|a\|_{W^{-1}}
              \ =\ \max_{\|\theta-\hat\theta\|_W\le\beta}\|\theta\|

    Parameters
    ----------
    center
        The estimate, d numbers.
    shape_eigenvalues
        The eigenvalues of W, all positive, in any order.
    eigenvectors
        The eigenvectors of W, one per column, as `numpy.linalg.eigh` gives them.
    radius
        The width factor beta, at least 0.

    Returns
    -------
    FarthestPoint
        The action and the value.

    Notes
    -----
    With eigenvalues w_i, coordinates c_i of the center and v the smallest eigenvalue, the farthest
    point is c_i + z_i with z_i = c_i / (w_i (1 + nu) / v - 1), and nu >= 0 solves

    .. math:: \sum_i \Big(\frac{b_i}{d_i+\nu}\Big)^2 = 1,\qquad
              b_i=\frac{v\,c_i}{\beta\sqrt{w_i}},\qquad d_i=1-\frac{v}{w_i}.

    In the *hard case*, where the center is orthogonal to the widest directions (b_i = 0 wherever
    d_i = 0) and the left side stays below 1, nu = 0 and the rest of the radius goes into a widest
    direction; of the two points that are then farthest, the one with the positive coordinate is
    returned. When both center and radius are 0 every action is best, and a widest one is returned.

    References
    ----------
    Conn, Gould, Toint, *Trust-region methods*, 2000, section 7.3.

    Examples
    --------
    >>> action, value = farthest_point([1.0, 0.0], [4.0, 1.0], np.eye(2), radius=1.5)
    >>> action.round(6).tolist(), round(value, 6)
    ([0.704361, 0.709842], 1.892969)
    """
    origin = np.array(checks.vector("center", center))
    d = len(origin)
    values = np.array(checks.vector("shape_eigenvalues", shape_eigenvalues, above=0.0))
    vectors = np.array(eigenvectors, dtype=np.float64)
    if len(values) != d or vectors.shape != (d, d):
        raise InvalidInput(
            "eigenvectors",
            f"must be {d} columns with one eigenvalue each, like the center",
            f"shape {vectors.shape} and {len(values)} eigenvalues",
            "Match the three dimensions.",
        )
    if not np.allclose(vectors.T @ vectors, np.eye(d), atol=1e-8):
        raise InvalidInput(
            "eigenvectors", "must be orthonormal columns", eigenvectors, "Use numpy.linalg.eigh."
        )
    beta = checks.number("radius", radius, at_least=0.0)
    action = np.empty(d)
    value = write_farthest(origin, values, vectors, beta, np.empty((SCRATCH_ROWS, d)), action)
    return FarthestPoint(action, float(value))
