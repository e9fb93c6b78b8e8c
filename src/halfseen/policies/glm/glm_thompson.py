"""Thompson sampling for generalized linear bandits, by the Laplace approximation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.policies.glm.base import GLMPolicy
from halfseen.policies.linear.base import LinearSetting
from halfseen.policies.linear.lin_thompson import sampled


@dataclass(frozen=True)
class GLMThompson(GLMPolicy):
    r"""Draw theta from a normal approximation of its posterior and play its best action.

    .. math:: \theta\sim N(\hat\theta, c^2 H^{-1}),\qquad
              H=\lambda I-\sum x\,\ell''(\langle a,\hat\theta\rangle)aa'

    with :math:`\hat\theta` the most likely vector under a prior :math:`N(0, I/\lambda)`. With
    logistic rewards this is logistic Thompson sampling.

    Parameters
    ----------
    regularization
        The prior's precision lambda, above 0.
    inflation
        c; choose sigma for normal rewards of standard deviation sigma, and 1 otherwise.
    bound
        A number the length of theta does not exceed; left out, the setting's own bound.

    References
    ----------
    Chapelle, Li, *An empirical evaluation of Thompson sampling*, 2011.
    """

    kind: ClassVar[str] = "glm-thompson"
    summary: ClassVar[str] = (
        "Samples θ from a normal approximation of its posterior and plays the best action for it."
    )
    regularization: float = 1.0
    inflation: float = 1.0
    bound: float | None = None
    samples = True
    index = staticmethod(sampled)

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        self._keep("inflation", at_least=0.0)
        self._keep("bound", at_least=0.0)

    def table(self, setting: LinearSetting) -> Vector:
        """Return c."""
        return np.array([self.inflation])
