"""The effective dimension: how many uncensored arms a censored problem is worth."""

from __future__ import annotations

from collections.abc import Sequence

from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.problems import ArmedBandit
from halfseen.theory import inputs


def effective_dimension(
    observe: Sequence[float] | Vector, noise: float | Sequence[float] | Vector | None = None
) -> float:
    r"""Return the number of uncensored arms that are as hard to learn.

    .. math:: d_{\mathrm{eff}} = \sum_a \frac{1}{p_a},
              \qquad \text{with noise } \sum_a \frac{\sigma_a^2}{p_a}.

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    noise
        Sub-Gaussian scale, one number or one per arm; left out, every scale is 1.

    Returns
    -------
    float
        The effective dimension.

    Notes
    -----
    The paper's notation table calls p the probability of being censored; its formulas use the
    probability of being observed, as here. The number describes the worst case: for a given
    problem, a small p of the best arm *lowers* the regret of UCB. It means nothing when whether a
    reward is seen depends on the reward itself.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 3.1 and remark "Hetero Finite 1".

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
    observe: Sequence[float] | Vector, noise: float | Sequence[float] | Vector | None = None
) -> Vector:
    r"""Return how fast the effective dimension falls as each arm is observed more often.

    .. math:: -\frac{\partial d_{\mathrm{eff}}}{\partial p_a} = \frac{\sigma_a^2}{p_a^2}

    Parameters
    ----------
    observe
        Probability that each arm's reward is observed.
    noise
        Sub-Gaussian scale, one number or one per arm; left out, every scale is 1.

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
    Guinet, Amin, Jaillet (2022), proposition "Instance Dep Regret Finite" and remark
    "Hetero Finite 2".

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
    p = inputs.observation(censorship.probabilities(problem.arms))
    arms = problem.playable
    gaps, scale, p = problem.gaps[arms], problem.scale[arms], p[arms]
    worse = gaps > 0
    return float((scale[worse] ** 2 / (p[worse] * gaps[worse])).sum())


def has_fixed_arms(problem: ArmedBandit) -> bool:
    """Say whether the same arms may be played in every round."""
    return problem.actions.same_every_round
