"""Optimism for generalized linear bandits, on observed rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.policies.glm.base import GLMPolicy
from halfseen.policies.linear.base import LinearSetting
from halfseen.policies.linear.lin_ucb import index, radius

WIDTHS = {"proved": math.sqrt(3.0), "paper": 1.0}


@dataclass(frozen=True)
class GLMUCB(GLMPolicy):
    r"""Play the action that could be best, by maximum likelihood on observed rewards.

    .. math:: \langle a,\hat\theta\rangle + c\,\frac\sigma\kappa
              \sqrt{\frac d2\log\Big(1+\frac{2n}d\Big)+\log\frac1\delta}\ \|a\|_{W^{-1}},
              \qquad W=\sum x\,aa'

    after exploring until :math:`\lambda_{\min}(W)\ge1`, with n the number of observed rounds.

    Parameters
    ----------
    delta
        Probability with which the ellipsoid may fail; left out, 1 over the horizon.
    bound
        S, a number the length of theta does not exceed; left out, the setting's own bound.
    noise
        The sub-Gaussian scale of the rewards; left out, the setting's own.
    kappa
        The smallest slope of the curve between -S and S; left out, computed from the link.
    width
        ``"proved"``, c = sqrt 3, or ``"paper"``, c = 1 as printed.

    Notes
    -----
    The self-normalised bound gives, with W at least I,
    :math:`\|\sum\varepsilon a\|^2_{W^{-1}}\le(1+\lambda)\sigma^2(\log\det(I+W/\lambda)
    +2\log(1/\delta))` for any lambda; lambda = 1/2 gives the formula with c = sqrt 3. (It holds
    with :math:`\sqrt{2+1/\lambda_{\min}(W)}`, which falls to sqrt 2: `theory.glm_width_constant`.)
    With c = 1 it is false: for one coordinate, the identity link and observations of the action 1,
    the error ever leaves the interval with probability 0.174, not delta = 0.01.

    Rounds that are not observed change nothing, so n counts observed rounds, where the paper has
    all of them: the width is narrower at the same confidence.

    References
    ----------
    Li, Lu, Zhou, *Provably optimal algorithms for generalized linear contextual bandits*, 2017.
    Filippi, Cappe, Garivier, Szepesvari, *Parametric bandits: the generalized linear case*, 2010.
    """

    kind: ClassVar[str] = "glm-ucb"
    summary: ClassVar[str] = (
        "Explores until every direction was seen once, then plays the largest upper"
        " confidence bound, by maximum likelihood on observed rewards alone."
    )
    delta: float | None = None
    bound: float | None = None
    noise: float | None = None
    kappa: float | None = None
    width: str = "proved"
    waits = True
    explores = True
    index = staticmethod(index)
    radius = staticmethod(radius)

    def __post_init__(self) -> None:
        self._keep("delta", above=0.0, below=1.0, fix="Use 0.05.")
        self._keep_constants()
        checks.one_of(f"{type(self).__name__}.width", self.width, WIDTHS)

    def penalty(self, setting: LinearSetting) -> float:
        """Return 0: the likelihood has no penalty."""
        return 0.0

    def table(self, setting: LinearSetting) -> Vector:
        """Return the constants of `LinUCB`'s kernels, whose spread is d log(1+2n/d) here."""
        ratio = WIDTHS[self.width] * self.scale(setting) / self.curvature(setting)
        log = 2.0 * math.log(1.0 / self.failure(setting))
        return np.array([ratio / math.sqrt(2.0), log, 0.0])


@dataclass(frozen=True)
class ImputeZeroGLMUCB(GLMUCB):
    """A mistake: GLMUCB that learns a reward of 0 whenever feedback is missing.

    Parameters
    ----------
    delta, bound, noise, kappa, width
        As for `GLMUCB`.
    """

    kind: ClassVar[str] = "impute-zero-glm-ucb"
    summary: ClassVar[str] = (
        "A common mistake: GLMUCB that imputes a reward of 0 where feedback is missing."
    )
    imputes = True

    def without_imputation(self) -> GLMUCB:
        """Return `GLMUCB` with the same parameters."""
        return GLMUCB(**vars(self))


@dataclass(frozen=True)
class RidgeGLMUCB(GLMPolicy):
    r"""Play the action that could be best, by penalised likelihood, without forced exploration.

    .. math:: \langle a,\hat\theta\rangle + \beta\|a\|_{W^{-1}},\qquad W=\lambda I+\sum x\,aa',
              \qquad \beta=\frac\sigma\kappa\sqrt{\log\det W-d\log\lambda+2\log(1/\delta)}
              +\sqrt\lambda\,S

    with the penalty :math:`\frac{\kappa\lambda}2\|\theta\|^2`. The identity link gives `LinUCB`.

    Parameters
    ----------
    regularization
        lambda, above 0.
    delta
        Probability with which the ellipsoid may fail; left out, 1 over the horizon.
    bound
        S, a number the length of theta does not exceed; left out, the setting's own bound.
    noise
        The sub-Gaussian scale of the rewards; left out, the setting's own.
    kappa
        The smallest slope of the curve between -S and S; left out, computed from the link.

    Notes
    -----
    The penalised score g satisfies :math:`g(\hat\theta)-g(\theta)=\sum\varepsilon a-\kappa\lambda
    \theta` and has a derivative of at least :math:`\kappa W` everywhere, since the score goes on as
    a straight line beyond S. So :math:`\|\hat\theta-\theta\|_W\le\frac1\kappa\|\sum\varepsilon a\|
    _{W^{-1}}+\sqrt\lambda S`, and the self-normalised bound of `LinUCB` gives beta.
    """

    kind: ClassVar[str] = "ridge-glm-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound, by penalised likelihood on observed"
        " rewards alone."
    )
    regularization: float = 1.0
    delta: float | None = None
    bound: float | None = None
    noise: float | None = None
    kappa: float | None = None
    waits = True
    index = staticmethod(index)
    radius = staticmethod(radius)

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        self._keep("delta", above=0.0, below=1.0, fix="Use 0.05.")
        self._keep_constants()

    def penalty(self, setting: LinearSetting) -> float:
        """Return kappa lambda."""
        return self.curvature(setting) * self.regularization

    def table(self, setting: LinearSetting) -> Vector:
        """Return sigma/kappa, 2 log(1/delta) and sqrt(lambda) S."""
        bound = setting.bound if self.bound is None else self.bound
        ratio = self.scale(setting) / self.curvature(setting)
        log = 2.0 * math.log(1.0 / self.failure(setting))
        return np.array([ratio, log, math.sqrt(self.regularization) * bound])
