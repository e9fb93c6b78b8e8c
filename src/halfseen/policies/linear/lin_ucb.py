"""Optimism for linear bandits, on observed rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.kernels.ellipsoid import write_farthest
from halfseen.policies.linear.base import BallKnowledge, LinearPolicy, LinearSetting

NOISE, TWO_LOG, SHRINKAGE = 0, 1, 2


def radius(spread: float, table: Vector) -> float:
    """Return sigma sqrt(log det W - d log lambda + 2 log(1/delta)) + sqrt(lambda) S."""
    return table[NOISE] * math.sqrt(spread + table[TWO_LOG]) + table[SHRINKAGE]


def index(
    mean: float,
    square: float,
    spread: float,
    shift: float,
    action: int,
    clock: int,
    stream: Stream,
    table: Vector,
) -> float:
    """Return the estimated mean plus the radius times the width."""
    return mean + radius(spread, table) * math.sqrt(square)


def most_optimistic(
    known: BallKnowledge, clock: int, stream: Stream, table: Vector, scratch: Vector, out: Vector
) -> None:
    """Write the direction of the point of the confidence ellipsoid farthest from 0."""
    length = radius(known.spread, table)
    write_farthest(known.estimate, known.lengths, known.vectors, length, scratch, out)


@dataclass(frozen=True)
class LinUCB(LinearPolicy):
    r"""Play the action that could be best, judged on observed rewards alone (OFUL).

    .. math:: \langle a,\hat\theta\rangle + \beta\|a\|_{W^{-1}},\qquad
              \beta=\sigma\sqrt{\log\det W-d\log\lambda+2\log(1/\delta)}+\sqrt\lambda\,S

    Parameters
    ----------
    regularization
        The ridge's lambda, above 0.
    delta
        Probability with which the ellipsoid may fail; left out, 1 over the horizon.
    bound
        S, a number the length of theta does not exceed; left out, the setting's own bound.
    noise
        sigma; left out, the setting's own.

    Notes
    -----
    The paper prints the bonus with the norm of W instead of its inverse, and 2 log(1/delta)
    without the factor sigma^2.

    References
    ----------
    Abbasi-Yadkori, Pal, Szepesvari, *Improved algorithms for linear stochastic bandits*, 2011.
    """

    kind: ClassVar[str] = "lin-ucb"
    summary: ClassVar[str] = (
        "Plays the largest upper confidence bound, from observed rewards alone."
    )
    regularization: float = 1.0
    delta: float | None = None
    bound: float | None = None
    noise: float | None = None
    waits = True
    index = staticmethod(index)
    radius = staticmethod(radius)
    on_ball = staticmethod(most_optimistic)
    spectral = True

    def __post_init__(self) -> None:
        self._keep("regularization", above=0.0, fix="Use 1.0.")
        self._keep("delta", above=0.0, below=1.0, fix="Use 0.05.")
        self._keep("bound", at_least=0.0)
        self._keep("noise", at_least=0.0)

    def table(self, setting: LinearSetting) -> Vector:
        """Return sigma, 2 log(1/delta) and sqrt(lambda) S."""
        bound = setting.bound if self.bound is None else self.bound
        noise = setting.noise if self.noise is None else self.noise
        log = 2.0 * math.log(1.0 / self.failure(setting))
        return np.array([noise, log, math.sqrt(self.regularization) * bound])


@dataclass(frozen=True)
class ImputeZeroLinUCB(LinUCB):
    """A mistake: LinUCB that learns a reward of 0 whenever feedback is missing.

    Parameters
    ----------
    regularization, delta, bound, noise
        As for `LinUCB`.
    """

    kind: ClassVar[str] = "impute-zero-lin-ucb"
    summary: ClassVar[str] = (
        "A common mistake: LinUCB that imputes a reward of 0 where feedback is missing."
    )
    imputes = True

    def without_imputation(self) -> LinUCB:
        """Return `LinUCB` with the same parameters."""
        return LinUCB(**vars(self))
