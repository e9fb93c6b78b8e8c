r"""Moments :math:`e(n)=\mathbb E(\mathrm{Bin}(n,p)+\lambda)^{-\alpha}` and their sums.

From :math:`x^{-\alpha}=\Gamma(\alpha)^{-1}\int_0^\infty t^{\alpha-1}e^{-xt}\,dt`,

.. math:: e(n)=\frac{1}{\Gamma(\alpha)}\int_{-\infty}^{\infty} e^{\alpha y-\lambda e^y}
          \big(1-p+p\,e^{-e^y}\big)^n\,dy ,

a mixture of geometric sequences. The trapezoidal rule in y is exact to rounding with a few hundred
nodes, so neither e(n) nor its partial sums need a loop over n.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from halfseen.checks import Vector


class InverseMoments:
    """The moments of all arms, for counts up to `longest`.

    Examples
    --------
    >>> moments = InverseMoments(np.array([0.5]), np.array([1.0]), alpha=1.0, longest=10)
    >>> moments.at(np.array([2.0])).round(9).tolist()
    [0.583333333]
    >>> moments.total(np.array([3.0])).round(9).tolist()
    [2.333333333]
    """

    def __init__(
        self, observe: Vector, regularization: Vector, alpha: float, longest: float
    ) -> None:
        step = min(0.2, 0.5 / math.sqrt(alpha))
        left = -math.log(float(regularization.max()) + longest) - 40.0
        right = math.log((alpha + 10.0 * math.sqrt(alpha) + 60.0) / float(regularization.min()))
        logs = np.arange(left, right + step, step)
        self.nodes = np.exp(logs)
        weights = step * np.exp(alpha * logs - special.gammaln(alpha))
        # Left of the first node the integrand is exp(alpha y): add that geometric tail to it.
        weights[0] /= -math.expm1(-alpha * step)
        self.weights = weights * np.exp(-regularization[:, None] * self.nodes)
        self.log_ratio = _log_ratio(observe[:, None], self.nodes)
        self.gap = -observe[:, None] * np.expm1(-self.nodes)

    def at(self, count: Vector) -> Vector:
        """Return e(n) of each arm."""
        return np.einsum("aq,aq->a", self.weights, np.exp(count[:, None] * self.log_ratio))

    def slope(self, count: Vector) -> tuple[Vector, Vector]:
        """Return e(n) and its derivative in n, of each arm."""
        terms = self.weights * np.exp(count[:, None] * self.log_ratio)
        return terms.sum(axis=1), np.einsum("aq,aq->a", terms, self.log_ratio)

    def total(self, count: Vector) -> Vector:
        """Return the sum of e(0), ..., e(n-1) of each arm."""
        geometric = -np.expm1(count[:, None] * self.log_ratio) / self.gap
        return np.einsum("aq,aq->a", self.weights, geometric)

    def started(self, arm: int, seen: Vector, count: Vector) -> Vector:
        """Return, for an arm already observed `seen` times, the moments after `count` more plays.

        The rows follow `seen`, the columns `count`.
        """
        start = self.weights[arm] * np.exp(-seen[:, None] * self.nodes)
        return start @ np.exp(self.log_ratio[arm][:, None] * count)


def _log_ratio(observe: Vector, nodes: Vector) -> Vector:
    """Return log(1 - p + p exp(-t)) without loss of precision for small or large t."""
    with np.errstate(divide="ignore"):
        large = np.logaddexp(np.log1p(-observe), np.log(observe) - nodes)
        small = np.log1p(observe * np.expm1(-np.minimum(nodes, 1.0)))
    return np.where(nodes < 0.5, small, large)
