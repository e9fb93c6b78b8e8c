"""The effective dimension: the number of uncensored arms that are as hard to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.display import Tabular
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.phrases import counted
from halfseen.problems import ArmedBandit
from halfseen.tables import Table, show
from halfseen.theory import inputs

if TYPE_CHECKING:
    import altair as alt


def effective_dimension(
    observe: Sequence[float] | Vector,
    *,
    noise: float | Sequence[float] | Vector | None = None,
) -> float:
    r"""Return the number of uncensored arms that are as hard to learn.

    .. math:: d_{\mathrm{eff}} = \sum_a \frac{1}{p_a},
              \qquad \text{with noise } \sum_a \frac{\sigma_a^2}{p_a}.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    noise
        Sub-Gaussian scale, one number or one per arm; 1 by default.

    Returns
    -------
    float
        The effective dimension.

    Notes
    -----
    The paper's notation table calls p the probability of being censored; its formulas use the
    probability of being observed, as here. The number describes the worst case: for a given
    problem, a small p of the best arm *lowers* the regret of UCB. It is not meaningful if the
    probability of being observed depends on the reward.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 3.1 and remark 3.

    Examples
    --------
    >>> effective_dimension([0.5, 0.25])
    6.0
    >>> effective_dimension([0.5, 0.25], noise=[1.0, 0.5])
    3.0
    """
    p = inputs.observation(observe)
    scale = inputs.per_arm("noise", 1.0 if noise is None else noise, len(p))
    return float((scale**2 / p).sum())


def feedback_value(
    observe: Sequence[float] | Vector,
    *,
    noise: float | Sequence[float] | Vector | None = None,
) -> Vector:
    r"""Return how fast the effective dimension falls as each arm is observed more often.

    .. math:: -\frac{\partial d_{\mathrm{eff}}}{\partial p_a} = \frac{\sigma_a^2}{p_a^2}

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    noise
        Sub-Gaussian scale, one number or one per arm; 1 by default.

    Returns
    -------
    numpy.ndarray
        For each arm, the fall in effective dimension per unit of extra observation probability.

    Notes
    -----
    Not in the paper; it is the derivative of its effective dimension.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 3.1.

    Examples
    --------
    >>> feedback_value([0.5, 0.1]).round(6).tolist()
    [4.0, 100.0]
    """
    p = inputs.observation(observe)
    scale = inputs.per_arm("noise", 1.0 if noise is None else noise, len(p))
    return (scale / p) ** 2


def one_percent_more(observe: Vector) -> Vector:
    """Return by how much 1/p falls when p rises by 0.01, or to 1 where that is less.

    >>> one_percent_more(np.array([0.01, 0.1, 0.995, 1.0])).round(6).tolist()
    [50.0, 0.909091, 0.005025, 0.0]
    """
    more = np.minimum(observe + 0.01, 1.0)
    return (more - observe) / (observe * more)


@dataclass(frozen=True, eq=False, repr=False)
class DimensionByArm(Tabular, ByValue):
    """An effective dimension as a sum over arms; returned by `dimension_by_arm`.

    Attributes
    ----------
    observe, noise
        Probability of being observed and noise of each arm.
    contributes, share
        Contribution of each arm to the effective dimension, and its share of it (None if it is 0).
    value
        How fast the dimension falls as each arm is observed more often (`feedback_value`).
    total, complete
        The effective dimension, and what it would be if every reward were observed.
    """

    observe: Vector
    noise: Vector
    contributes: Vector
    value: Vector
    total: float
    complete: float
    equal_noise: bool

    @property
    def share(self) -> Vector | None:
        """Each arm's share of the effective dimension, None if that is 0."""
        return self.contributes / self.total if self.total else None

    @property
    def one_percent_more(self) -> Vector:
        """By how much the dimension falls when an arm's probability rises by 0.01, or to 1."""
        return self.noise**2 * one_percent_more(self.observe)

    @property
    def factor(self) -> float | None:
        """The effective dimension divided by that of complete feedback."""
        return self.total / self.complete if self.complete else None

    def table(self) -> Table:
        """Return one row per arm."""
        shares = [None] * len(self.observe) if self.share is None else self.share.tolist()
        columns = {
            "arm": range(len(self.observe)),
            "observe": self.observe.tolist(),
            "noise": self.noise.tolist(),
            "contributes": self.contributes.tolist(),
            "share": shares,
            "worth of 1% more": self.one_percent_more.tolist(),
        }
        return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))

    def plot(self) -> alt.Chart:
        """Return a chart of each arm's contribution to the effective dimension, largest first."""
        from halfseen.report.core.arm_rows import bars

        names = [str(arm) for arm in range(len(self.observe))]
        return bars(names, self.contributes, title="part in the effective dimension, by arm")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        names = {"worth of 1% more": "worth_of_one_percent_more"}
        return {
            "arms": len(self.observe),
            "everything_seen": self.complete,
            "effective_dimension": self.total,
            "factor": self.factor,
            "per_arm": [{names.get(k, k): v for k, v in row.items()} for row in self.table()],
        }

    def _headline(self) -> str:
        size = f"effective dimension {show(self.total)} of {counted('arm', len(self.observe))}"
        return size if self.factor is None else f"{size}, a factor of {show(self.factor)}"

    def _details(self) -> list[str | Table]:
        return [self.table()]

    def __str__(self) -> str:
        lines = [f"arms                 {len(self.observe)}"]
        if not self.equal_noise:
            note = "(the sum of the squared noises)"
            lines.append(f"if all were seen     {show(self.complete)}   {note}")
        lines.append(f"effective dimension  {show(self.total)}")
        if self.factor is not None:
            lines.append(f"factor               {show(self.factor)}\n")
        return "\n".join([*lines, str(self.table()), EXPLAINED])


EXPLAINED = """
The worst-case regret grows like the root of the effective dimension. 'worth of 1% more'
is how much the dimension falls when 1 in 100 more of that arm's rewards are seen, or
all of them if fewer are missing. All of it assumes that, given the arm, what goes
missing does not depend on the reward."""


def dimension_by_arm(
    observe: Sequence[float] | Vector,
    *,
    noise: float | Sequence[float] | Vector | None = None,
) -> DimensionByArm:
    """Return the effective dimension arm by arm, with the value of more feedback.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    noise
        Sub-Gaussian scale, one number or one per arm; 1 by default.

    Returns
    -------
    DimensionByArm
        The effective dimension, its parts and `feedback_value`; print it, or `to_dict`.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 3.1.

    Examples
    --------
    >>> found = dimension_by_arm([0.5, 0.1])
    >>> found.total, found.contributes.tolist(), found.factor
    (12.0, [2.0, 10.0], 6.0)
    """
    p = inputs.observation(observe)
    scale = inputs.per_arm("noise", 1.0 if noise is None else noise, len(p))
    return DimensionByArm(
        observe=p,
        noise=scale,
        contributes=scale**2 / p,
        value=feedback_value(p, noise=scale),
        total=effective_dimension(p, noise=scale),
        complete=effective_dimension(np.ones(len(p)), noise=scale),
        equal_noise=noise is None,
    )


def instance_dimension(problem: ArmedBandit, censorship: Censorship) -> float:
    r"""Return the effective dimension of one problem, with its gaps.

    .. math:: \sum_{a:\,\Delta_a>0} \frac{\sigma_a^2}{p_a\,\Delta_a}

    Parameters
    ----------
    problem
        A bandit whose playable arms are the same in every round.
    censorship
        The probability that each arm's reward is observed.

    Returns
    -------
    float
        The sum over the playable arms that are not best; 0 when all are.

    Notes
    -----
    The paper leaves out "the" best arm; here every arm of gap 0 is left out.

    References
    ----------
    Guinet, Amin, Jaillet (2022), proposition 3.2 and remark 4.

    Examples
    --------
    >>> from halfseen.censorship import PerArm
    >>> from halfseen.problems import ArmedBandit
    >>> instance_dimension(ArmedBandit([1.0, 0.5, 0.0]), PerArm([0.1, 0.5, 0.25]))
    8.0
    """
    if not has_fixed_arms(problem):
        raise InvalidInput(
            "problem.actions",
            "must offer the same arms in every round, or the gaps are not defined",
            problem.actions,
            "Use AllArms or FixedArms.",
        )
    p = inputs.observation(censorship.rates(problem))
    arms = problem.playable
    gaps, scale, p = problem.gaps[arms], problem.scale[arms], p[arms]
    worse = gaps > 0
    return float((scale[worse] ** 2 / (p[worse] * gaps[worse])).sum())


def has_fixed_arms(problem: ArmedBandit) -> bool:
    """Return whether the same arms may be played in every round."""
    return problem.actions.same_every_round
