"""An anytime-valid test for the best action of a linear bandit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.phrases import joined
from halfseen.tables import level_name
from halfseen.theory.anytime.samples import risk

LARGEST = 1e75  # squares and products of such numbers are finite


@dataclass(frozen=True, eq=False, repr=False)
class WinningAction(Shown, ByValue):
    """The action shown to have the largest mean, if there is one.

    Attributes
    ----------
    action
        Row of the action shown to be the best; None if no action is, or if there is only one.
    leader
        Row of the action with the largest estimated mean.
    level
        Probability that no suboptimal action is ever declared the best.
    margins
        Lower confidence limit of the leader's advantage over each action; the leader has won when
        all are above 0. Infinite for the leader itself and for copies of it.
    radius
        Radius of the confidence ellipsoid, in the norm of the design.
    equal
        The other actions with the same estimated mean, without copies of the leader.
    """

    action: int | None
    leader: int
    level: float
    margins: Vector
    radius: float
    equal: tuple[int, ...] = ()

    def _headline(self) -> str:
        if not np.any(np.isfinite(self.margins)):
            return "there is only one action, so there is nothing to compare"
        at = level_name(self.level)
        if self.action is not None:
            return f"action {self.action} is shown to be the best at {at}"
        said = f"no action is shown to be the best at {at}"
        if self.equal:
            leaders = joined([f"action {row}" for row in (self.leader, *self.equal)], "and")
            return f"{said}; equally good so far: {leaders}"
        return f"{said}; action {self.leader} leads"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for infinite values."""
        return {
            "action": self.action,
            "leader": self.leader,
            "equal": list(self.equal),
            "level": self.level,
            "margins": [float(m) if math.isfinite(m) else None for m in self.margins],
            "radius": self.radius,
        }


def winning_action(
    actions: Any,
    estimate: Any,
    design: Any,
    *,
    regularization: float = 1.0,
    noise: float = 1.0,
    bound: float = 1.0,
    level: float = 0.95,
) -> WinningAction:
    r"""Return the action shown to have the largest mean, valid at every round at once.

    With the design :math:`W=\lambda I+\sum aa^\top` of the observed rounds and the ridge estimate
    :math:`\hat\theta`, action a has won when for every other action b

    .. math:: \langle a-b,\hat\theta\rangle-\beta\,\|a-b\|_{W^{-1}}>0,\qquad
              \beta=\sigma\sqrt{\log\det W-d\log\lambda+2\log(1/\alpha)}+\sqrt\lambda\,S .

    Parameters
    ----------
    actions
        The actions to compare, an array (K, d).
    estimate
        The ridge estimate of theta from observed rewards.
    design
        W, including the ridge.
    regularization
        lambda, above 0.
    noise
        Sub-Gaussian scale of the rewards, sigma.
    bound
        S, an upper bound on the length of theta.
    level
        :math:`1-\alpha`: probability that no suboptimal action is ever declared the best.

    Returns
    -------
    WinningAction
        The winner, if there is one, and the leader's margin over each action.

    Notes
    -----
    With probability at least :math:`1-\alpha` theta is in the ellipsoid at every round, whatever
    was offered, played and observed. Then every margin is valid, for all sets of actions at once.
    An ellipsoid covers all directions, not only the K - 1 that matter here, so the rule is
    conservative and errs far less often than :math:`\alpha`.

    References
    ----------
    Abbasi-Yadkori, Pal, Szepesvari, *Improved algorithms for linear stochastic bandits*, 2011,
    Theorem 2.

    Examples
    --------
    >>> import numpy as np
    >>> rows, plays = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]), np.array([400, 300, 300])
    >>> design = np.eye(2) + (rows.T * plays) @ rows
    >>> found = winning_action(rows, [0.7, 0.1], design, noise=0.5)
    >>> found.action, found.margins.round(3).tolist()
    (0, [inf, 0.365, 0.054])
    """
    rows, theta, ridge = _arrays(actions, estimate, design)
    lam = checks.number("regularization", regularization, above=0.0, fix="Use that of the policy.")
    scale = checks.number("noise", noise, at_least=0.0)
    longest = checks.number("bound", bound, at_least=0.0)
    _refuse_small(ridge, lam)
    alpha = risk(level)
    spread = float(np.linalg.slogdet(ridge)[1]) - len(ridge) * math.log(lam)
    radius = scale * math.sqrt(max(spread, 0.0) + 2.0 * math.log(1.0 / alpha))
    radius += math.sqrt(lam) * longest
    means = rows @ theta
    leader = int(np.argmax(means))
    apart = rows[leader] - rows
    widths = np.sqrt(np.maximum(np.sum(apart * np.linalg.solve(ridge, apart.T).T, axis=1), 0.0))
    margins = means[leader] - means - radius * widths
    other = apart.any(axis=1)
    margins[~other] = math.inf
    won = bool(np.all(margins > 0.0) and other.any())
    equal = tuple(np.flatnonzero(other & (means == means[leader])).tolist())
    return WinningAction(leader if won else None, leader, 1.0 - alpha, margins, radius, equal)


def _refuse_small(design: Vector, ridge: float) -> None:
    """Raise if a design is not symmetric, or has an eigenvalue below the ridge beyond rounding."""
    sizes = np.linalg.eigvalsh(design)
    rounding = 1e-9 * (ridge + float(sizes[-1]))
    alike = np.all(np.abs(design - design.T) <= rounding)
    if not alike or not sizes[0] > 0.0 or sizes[0] < ridge - rounding:
        raise InvalidInput(
            "design",
            f"must be symmetric, with eigenvalues of at least the regularization, {ridge:g}",
            f"eigenvalues from {sizes[0]:.3g}" if alike else "an asymmetric matrix",
            "Start from the regularization times the identity and add a a^T for each observation.",
        )


def _arrays(actions: Any, estimate: Any, design: Any) -> tuple[Vector, Vector, Vector]:
    """Return the three arrays; raise if shapes do not match or entries are not finite."""
    found = []
    for name, value in (("actions", actions), ("estimate", estimate), ("design", design)):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.full(1, math.nan)
        if array.size == 0 or not np.all(np.abs(array) <= LARGEST):
            said = f"must be an array of finite numbers, at most {LARGEST:g} in size"
            raise InvalidInput(name, said, value, "Correct it.")
        found.append(array)
    rows, theta, ridge = found
    d = theta.size
    for name, array, shape in (
        ("estimate", theta, (d,)),
        ("actions", rows, (*rows.shape[:1], d)),
        ("design", ridge, (d, d)),
    ):
        if array.shape != shape:
            asked = f"(K, {d})" if name == "actions" else shape
            text = f"must be an array {asked}, d = {d} being the length of `estimate`"
            raise InvalidInput(name, text, f"shape {array.shape}", "Match the number of features.")
    return rows, theta, ridge
