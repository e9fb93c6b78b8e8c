"""Where to spend on more feedback: the best split of a budget, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.display import Tabular
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.tables import Table, table

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, eq=False, repr=False)
class Investment(Tabular, ByValue):
    """What a budget buys.

    Attributes
    ----------
    names
        The arms.
    before, after
        Probability of being seen, per arm.
    spent
        Money per arm.
    worth
        How much the sum of variance over rate falls for the first unit of money on each arm.
    weighted_before, weighted_after
        The sum of variance over rate, which the split makes smallest; with a noise of 1 it is the
        effective dimension.
    """

    _frame = "arms"

    names: tuple[str, ...]
    before: Vector
    after: Vector
    spent: Vector
    worth: Vector
    weighted_before: float
    weighted_after: float

    @property
    def dimension_before(self) -> float:
        """The effective dimension, the sum of 1/p, as an audit gives it."""
        return float((1.0 / self.before).sum())

    @property
    def dimension_after(self) -> float:
        """The effective dimension once the money is spent."""
        return float((1.0 / self.after).sum())

    @property
    def regret_factor(self) -> float:
        """By what worst-case regret is multiplied: the root of the ratio of weighted sums."""
        return math.sqrt(self.weighted_after / self.weighted_before)

    @property
    def arms(self) -> Table:
        """One row per arm, the one where the first unit of money does most first."""
        order = np.argsort(-self.worth, kind="stable")
        return table(
            [
                {
                    "arm": self.names[i],
                    "seen now": float(self.before[i]),
                    "worth per unit of money": float(self.worth[i]),
                    "spend": float(self.spent[i]),
                    "seen then": float(self.after[i]),
                }
                for i in order
            ]
        )

    def plot(self) -> alt.LayerChart:
        """Return a chart of how often each arm is seen now, and once the money is spent."""
        from halfseen.report.core.arm_rows import spans

        order = np.argsort(-self.worth, kind="stable")
        names, ends = [self.names[i] for i in order], ("now", "then")
        before, after = self.before[order], self.after[order]
        return spans(names, before, after, title="probability of being seen", ends=ends)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "dimension_before": self.dimension_before,
            "dimension_after": self.dimension_after,
            "weighted_before": self.weighted_before,
            "weighted_after": self.weighted_after,
            "regret_factor": self.regret_factor,
            "spent": float(self.spent.sum()),
            "arms": [
                {key.replace(" ", "_"): value for key, value in record.items()}
                for record in self.arms
            ],
        }

    def _details(self) -> list[str | Table]:
        return [self.arms]

    def __str__(self) -> str:
        less = 1.0 - self.regret_factor
        return (
            f"Spending {self.spent.sum():,.6g} lowers the effective dimension from"
            f" {self.dimension_before:,.4g} to {self.dimension_after:,.4g} and worst-case regret by"
            f" {less:.1%}.\n\n{self.arms}\n\nIt assumes that, given the arm, what goes missing does"
            " not depend on the reward."
        )


def invest(
    observe: Sequence[float] | Vector,
    cost: float | Sequence[float] | Vector,
    budget: float,
    *,
    noise: float | Sequence[float] | Vector = 1.0,
    names: Sequence[str] | None = None,
) -> Investment:
    r"""Split a budget among arms so that the effective dimension, weighted by variance, falls most.

    .. math:: \min_{p'} \sum_a \frac{\sigma_a^2}{p'_a}
              \quad\text{with}\quad p_a \le p'_a \le 1,\;
              \sum_a c_a (p'_a - p_a) \le \text{budget}

    Parameters
    ----------
    observe
        Probability that each arm's reward is seen now.
    cost
        What raising that probability from 0 to 1 would cost, one number or one per arm.
    budget
        Money to spend.
    noise
        Standard deviation of the rewards, one number or one per arm.
    names
        Names of the arms.

    Returns
    -------
    Investment
        How much to spend on which arm.

    Notes
    -----
    Convex; the solution is :math:`p'_a = \min(1, \max(p_a, s\,\sigma_a/\sqrt{c_a}))` with one s for
    all arms. What it costs is piecewise linear in s, with corners where an arm starts or is full,
    so s is found exactly by sorting them.

    Examples
    --------
    >>> found = invest([0.1, 0.5], cost=100.0, budget=20.0)
    >>> found.after.round(6).tolist()
    [0.3, 0.5]
    """
    p = np.array(checks.observation_probabilities("observe", observe))
    price = _per_arm("cost", cost, len(p), above=0.0)
    weight = _per_arm("noise", noise, len(p), above=0.0)
    money = checks.number("budget", budget, at_least=0.0, fix="Use 0 or more.")
    labels = tuple(map(str, range(len(p)))) if names is None else tuple(names)
    if len(labels) != len(p):
        raise InvalidInput(
            "names", f"must have {len(p)} entries, one per arm", len(labels), "Name each arm."
        )
    after = _fill(p, price, weight, money)
    return Investment(
        names=labels,
        before=p,
        after=after,
        spent=price * (after - p),
        worth=weight**2 / p**2 / price,
        weighted_before=float((weight**2 / p).sum()),
        weighted_after=float((weight**2 / after).sum()),
    )


def _fill(p: Vector, price: Vector, weight: Vector, money: float) -> Vector:
    """Raise the level s until the money is spent or everything is seen."""
    pull = weight / np.sqrt(price)
    starts, ends = p / pull, 1.0 / pull

    def rates(level: float) -> Vector:
        return np.clip(level * pull, p, 1.0)

    def spent(level: float) -> float:
        return float(price @ (rates(level) - p))

    corners = np.sort(np.concatenate([starts, ends]))
    if spent(corners[-1]) <= money:
        return np.ones(len(p))
    low, high = 0, len(corners) - 1  # spent(low) <= money < spent(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if spent(corners[middle]) <= money else (low, middle)
    below, above = corners[low], corners[high]
    gone, slope = spent(below), spent(above) - spent(below)
    if slope <= 0.0:  # the remaining budget changes no rate in floating point
        return rates(below)
    return rates(below + (money - gone) / slope * (above - below))


def _per_arm(field: str, value: Any, arms: int, **limits: Any) -> Vector:
    if isinstance(value, int | float):
        return np.full(arms, checks.number(field, value, **limits))
    return np.array(checks.vector(field, value, length=arms, **limits))
