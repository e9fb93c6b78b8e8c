r"""Maximum likelihood for generalized linear rewards, on observed rounds.

The numerics are those of `halfseen.kernels.glm_newton`.

Examples
--------
>>> fit([[1.0], [1.0], [1.0]], [1, 1, 0], "logistic").round(6).tolist()
[0.693147]
>>> fit([[1.0], [1.0]], [1, 1], "logistic", limit=2.0).round(6).tolist()
[3.135335]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.engine.loops.live_glm import maximiser
from halfseen.errors import InvalidInput
from halfseen.kernels.glm_newton import MOST_STEPS, Likelihood, NewtonWork, unreachable
from halfseen.problems.links import link_named


def fit(
    actions: Any,
    rewards: Any,
    link: Any = "logistic",
    *,
    regularization: float = 0.0,
    limit: float = math.inf,
) -> Vector:
    """Return the maximum likelihood estimate from observed rewards.

    Parameters
    ----------
    actions
        An array (n, d), one observed action per row.
    rewards
        The n rewards.
    link
        A name or a `Link`.
    regularization
        The precision of a normal prior around 0; 0 for none.
    limit
        The Z beyond which the score is extrapolated linearly.

    Returns
    -------
    Vector
        The estimate; 0 along directions that no action spans. Without a limit, the estimate for
        separable data is about 40 from 0, where the gradient vanishes.
    """
    rows = np.ascontiguousarray(actions, dtype=np.float64)
    paid = checks.vector("rewards", rewards)
    if rows.ndim != 2 or len(rows) != len(paid) or not np.isfinite(rows).all():
        raise InvalidInput(
            "actions", "must be finite, one row per reward", rows.shape, "Match the two."
        )
    kernels = link_named("link", link).kernels
    lam = checks.number("regularization", regularization, at_least=0.0)
    size, d = rows.shape
    prior = lam * np.eye(d) if lam > 0.0 else unreachable(rows.T @ rows)
    theta = np.zeros(d)
    given = Likelihood(rows, size, np.ones(size), np.array(paid), float(limit), prior)
    matrices = (np.zeros((d, d)), np.zeros((d, d)))
    work = NewtonWork(np.zeros(size), np.zeros(d), np.zeros(d), *matrices)
    if maximiser(kernels)(given, theta, work) < 0:
        raise InvalidInput(
            "rewards",
            f"must let the likelihood be maximised in {MOST_STEPS} steps",
            f"{size} of them",
            "Give a limit or a regularization.",
        )
    return theta
