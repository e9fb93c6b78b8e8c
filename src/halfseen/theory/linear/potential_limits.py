"""Bounds on the potential of a linear bandit before it is played, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.display import Shown
from halfseen.theory.linear.bounds import linear_regret_bounds
from halfseen.theory.linear.optimal_design import optimal_design_dimension
from halfseen.theory.linear.potential import continuous_potential_bracket, potential_control_factor
from halfseen.theory.linear.stepped import range_along
from halfseen.theory.linear.worst_case import worst_case_dimension, worst_case_potential
from halfseen.theory.linear.worst_case_along import STEPS
from halfseen.theory.linear.worst_case_finite import seen_actions


@dataclass(frozen=True, repr=False)
class PotentialBounds(Shown):
    """Bounds on the potential, and the slower growth of the information path.

    Attributes
    ----------
    horizon
        The number of rounds T.
    lower, upper
        The bracket around J* from the dimension and the extreme probabilities alone; the lower
        end is 0 for a finite set of actions.
    worst_case
        J*, the largest continuous potential, or an upper bound on it that exceeds it by at most
        the certificate's gap.
    dimension
        Growth of J* per unit of log T.
    expected
        kappa J*, an upper bound on the expected potential V_1 of every policy.
    regret
        The resulting bound on LinUCB's expected regret.
    information_dimension
        The paper's effective dimension: the growth of the information path's potential per unit of
        log T. It is not a worst case. None for actions that do not span the space.
    """

    horizon: float
    lower: float
    upper: float
    worst_case: float
    dimension: float
    expected: float
    regret: float
    information_dimension: float | None

    def to_dict(self) -> dict[str, float | None]:
        """Return plain values, ready for JSON."""
        return dict(vars(self))

    def __str__(self) -> str:
        lines = [
            f"After {self.horizon:,.6g} rounds",
            f"  continuous potential, at most {self.worst_case:>14,.6g}   J*, the worst case",
            f"    from p_min alone            {self.upper:>14,.6g}   d/p_min log(...)",
            f"  expected potential, at most   {self.expected:>14,.6g}   kappa J*, any policy",
            f"  regret of LinUCB, at most     {self.regret:>14,.6g}   with the potential above",
            f"  growth of J* in log T         {self.dimension:>14,.6g}   worst-case dimension",
        ]
        if self.lower > 0.0:
            line = f"    no worst case is below      {self.lower:>14,.6g}   d/p_max log(...)"
            lines.insert(3, line)
        if self.information_dimension is not None:
            lines.append(
                f"  the information path's growth {self.information_dimension:>14,.6g}"
                "   the paper's dimension, not a worst case"
            )
        return "\n".join(lines)


def potential_bounds(
    censorship: Any,
    dimension: int | None = None,
    *,
    horizon: int,
    regularization: float = 1.0,
    actions: Any = None,
    largest_gap: float | None = None,
    bound: float = 1.0,
    noise: float = 1.0,
    delta: float | None = None,
) -> PotentialBounds:
    r"""Return the worst-case potential of a model and the bounds that follow from it.

    .. math:: \frac d{p_{\max}}\log\Big(1+\frac{p_{\max}T}{d\lambda}\Big)\le J^\star\le
              \frac d{p_{\min}}\log\Big(1+\frac{p_{\min}T}{d\lambda}\Big),\qquad
              \mathbb E\,V_1\le\kappa J^\star

    Parameters
    ----------
    censorship, dimension
        As in `worst_case_potential`.
    horizon
        Number of rounds T, at least 1.
    regularization, actions
        As in `worst_case_potential`.
    largest_gap
        The largest regret of a round; by default twice the bound.
    bound, noise, delta
        As in `linear_regret_bounds`.

    Returns
    -------
    PotentialBounds
        The bounds; print it for a table.

    References
    ----------
    Replaces Guinet, Amin, Jaillet (2022), proposition 4.3 and the theorem on
    multi-threshold models.

    Examples
    --------
    >>> from halfseen.censorship import MultiThreshold
    >>> censorship = MultiThreshold([1.2], [1.0, 0.5], [0, 0, 1])
    >>> bounds = potential_bounds(censorship, horizon=1000)
    >>> bounds.lower < bounds.worst_case < bounds.upper
    True
    >>> round(bounds.expected / bounds.worst_case, 6), bounds.dimension
    (1.442695, 6.0)
    >>> round(bounds.information_dimension, 6)
    4.356128
    """
    time = checks.whole("horizon", horizon, at_least=1)
    worst = worst_case_potential(
        censorship,
        dimension,
        regularization=regularization,
        horizon=time,
        actions=actions,
        regions=STEPS,
    )
    d, low, high = _extremes(censorship, dimension, actions)
    lower, upper = continuous_potential_bracket(d, low, time, regularization, observe_max=high)
    gap = 2.0 * checks.number("bound", bound, at_least=0.0) if largest_gap is None else largest_gap
    regret = linear_regret_bounds(
        dimension=d,
        horizon=time,
        observe_min=low,
        largest_gap=gap,
        bound=bound,
        noise=noise,
        regularization=regularization,
        delta=delta,
        worst_case=worst.upper,
    )["potential"]
    return PotentialBounds(
        horizon=time,
        lower=lower if actions is None else 0.0,
        upper=upper,
        worst_case=worst.upper,
        dimension=worst_case_dimension(censorship, dimension, actions=actions),
        expected=potential_control_factor(regularization) * worst.upper,
        regret=regret.value,
        information_dimension=_information_dimension(censorship, dimension, actions),
    )


def _information_dimension(censorship: Any, dimension: int | None, actions: Any) -> float | None:
    if actions is not None:
        rows, censorship = seen_actions(censorship, actions)
        if np.linalg.matrix_rank(rows) < rows.shape[1]:
            return None
        actions = rows
    return optimal_design_dimension(censorship, dimension, actions=actions, regions=STEPS).dimension


def _extremes(censorship: Any, dimension: int | None, actions: Any) -> tuple[int, float, float]:
    """Return the dimension, the smallest and the largest probability of being observed."""
    if actions is not None:
        rows, observe = seen_actions(censorship, actions)
        return rows.shape[1], float(observe.min()), float(observe.max())
    return range_along(censorship, dimension)
