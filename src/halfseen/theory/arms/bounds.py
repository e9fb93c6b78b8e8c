"""Bounds on the expected regret of UCB: those of the paper and sharper ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.policies import MOSS, UCB, LinearPolicy, Policy
from halfseen.problems import ArmedBandit, GeneralizedLinearBandit, LinearBandit
from halfseen.theory import inputs
from halfseen.theory.arms import bound_terms, moss_bound
from halfseen.theory.arms.bound_terms import Terms, World
from halfseen.theory.arms.dimension import has_fixed_arms
from halfseen.theory.arms.open_decisions import late_messages
from halfseen.theory.glm.bounds import bounds_of_glm
from halfseen.theory.linear.bounds import bounds_of_linear
from halfseen.theory.proved_bounds import PAPER, Bound, RegretBounds

NOT_AT_RANDOM = "rewards are missing not at random"


@dataclass(frozen=True)
class Statement:
    """A bound before it is evaluated: its name, its function and its conditions."""

    name: str
    compute: Callable[[World], Terms]
    reference: str
    paper: bool = False
    fixed: bool = False
    policy: bool = True
    late: Callable[[World], Vector] = bound_terms.any_gap  # cost of a play while messages are late


STATEMENTS = (
    Statement(
        "joint",
        bound_terms.joint,
        "fluid bound of min(largest gap, twice the width)",
    ),
    Statement(
        "best arm dropped",
        bound_terms.best_arm_dropped,
        "the joint bound, without the arms of gap 0",
        late=bound_terms.gap_if_worse,
    ),
    Statement(
        "own gaps",
        bound_terms.own_gaps,
        "fluid bound of min(the arm's gap, twice the width)",
        late=bound_terms.own_gap,
    ),
    Statement(
        "instance",
        bound_terms.instance,
        "observations of a worse arm are at most Theta + 1, by Wald's identity",
        fixed=True,
        late=bound_terms.own_gap,
    ),
    Statement(
        "instance in horizon",
        bound_terms.instance_in_horizon,
        "the instance bound, limited to T rounds",
        fixed=True,
        late=bound_terms.own_gap,
    ),
    Statement(
        "separate",
        bound_terms.separate,
        f"{PAPER}, lemma 3.3, with exact potentials",
    ),
    Statement(
        "closed form",
        bound_terms.closed_form,
        "separate, by integral comparison and Cauchy-Schwarz",
    ),
    Statement(
        "paper's theorem",
        bound_terms.papers_theorem,
        f"{PAPER}, theorem 3.1, corrected",
        paper=True,
    ),
    Statement(
        "paper's instance",
        bound_terms.papers_instance,
        f"{PAPER}, proposition 3.2, corrected",
        paper=True,
        fixed=True,
        late=bound_terms.twice_own_gap,
    ),
    Statement(
        "trivial",
        bound_terms.trivial,
        "the largest gap in every round",
        policy=False,
    ),
)


def regret_bounds(
    problem: ArmedBandit | LinearBandit,
    censorship: Censorship,
    policy: Policy | LinearPolicy,
    horizon: int,
    *,
    potential: float | None = None,
    rounds: int | None = None,
) -> RegretBounds:
    r"""Return every bound on the expected regret known for UCB or LinUCB, in one table.

    Those for arms rest on :math:`\Delta_t(a_t)\le 2\sqrt{6\sigma_a^2\log T/(N_a+\lambda)}
    +2\lambda M/(N_a+\lambda)`, true in every round with probability at least :math:`1-2d/T^2`.

    Parameters
    ----------
    problem
        The arms, or a linear or generalized linear bandit. With `FixedArms` only those that can
        be played count.
    censorship
        The probability that each action's reward is observed.
    policy
        A `UCB`, `LinUCB`, `GLMUCB` or `RidgeGLMUCB` gets all bounds, `MOSS` its own bound; any
        other policy only the trivial one.
    horizon
        Number of rounds T, at least 1.
    potential
        For linear bandits, the expected potential V_1 of this policy, if it was measured.
    rounds
        Number of rounds t the bounds are for, at most T; T by default. The policy is still tuned
        for T: its widths contain log T, not log t.

    Returns
    -------
    RegretBounds
        The bounds by name, each with its terms, source, and whether it applies.

    Notes
    -----
    Different scales of noise per arm are allowed throughout. The instance bounds need the same arms
    in every round. The others do not, not even those that use the gaps: an arm's gap to the best
    arm of all is never smaller than its gap to the best arm on offer.

    None of this holds if the probability of being observed depends on the reward. The bounds are
    for the worst case, and actual regret is often far below them.

    Under `Delayed` feedback p is the probability of arriving within the window. At most g rewards
    (`most_under_way`) are outstanding at any time, so every bound grows by its cost of a round
    times g/p for each arm: the undelayed regret plus gaps times outstanding rewards. The bound for
    MOSS is proved only for feedback without delays.

    References
    ----------
    Guinet, Amin, Jaillet (2022), section 3; the corrections are listed in the errata.

    Examples
    --------
    >>> from halfseen.censorship import PerArm
    >>> from halfseen.policies import UCB
    >>> from halfseen.problems import ArmedBandit
    >>> problem = ArmedBandit([0.9, 0.5], noise=0.1)
    >>> bounds = regret_bounds(problem, PerArm([0.9, 0.5]), UCB(), horizon=10_000)
    >>> bounds.smallest.name, round(bounds.smallest.value, 4)
    ('instance', 16.8002)
    >>> bounds["trivial"].value
    4000.0
    >>> halfway = regret_bounds(problem, PerArm([0.9, 0.5]), UCB(), horizon=10_000, rounds=5_000)
    >>> halfway["trivial"].value
    2000.0
    """
    times = [horizon if rounds is None else rounds]
    return regret_bounds_along(problem, censorship, policy, horizon, times, potential)[0]


def regret_bounds_along(
    problem: ArmedBandit | LinearBandit,
    censorship: Censorship,
    policy: Policy | LinearPolicy,
    horizon: int,
    rounds: Iterable[int],
    potential: float | None = None,
) -> list[RegretBounds]:
    """Return `regret_bounds` at each of the given rounds, sharing the common computations.

    Parameters
    ----------
    problem, censorship, policy, horizon, potential
        As for `regret_bounds`.
    rounds
        The numbers of rounds the bounds are for, each at most `horizon`.

    Returns
    -------
    list of RegretBounds
        One table per entry of `rounds`.

    Examples
    --------
    >>> from halfseen.censorship import Uniform
    >>> from halfseen.problems import ArmedBandit
    >>> problem = ArmedBandit([0.9, 0.5], noise=0.1)
    >>> tables = regret_bounds_along(problem, Uniform(0.5), UCB(), 10_000, [10, 100, 10_000])
    >>> [round(table.smallest.value, 2) for table in tables]
    [4.0, 16.82, 16.8]
    """
    last = checks.whole("horizon", horizon, at_least=1)
    times = [
        checks.whole("rounds", time, at_least=1, at_most=last, fix="Use at most the horizon.")
        for time in rounds
    ]
    if isinstance(problem, GeneralizedLinearBandit):
        return bounds_of_glm(problem, censorship, policy, last, times, potential)
    if isinstance(problem, LinearBandit):
        return bounds_of_linear(problem, censorship, policy, last, times, potential)
    if not isinstance(problem, ArmedBandit):
        raise InvalidInput("problem", "must be a bandit", problem, "Give for example ArmedBandit.")
    if not isinstance(censorship, Censorship):
        raise InvalidInput("censorship", "must be a censorship", censorship, "Use PerArm.")
    if not isinstance(policy, Policy):
        raise InvalidInput("policy", "must be a policy", policy, "Use UCB().")
    unproved = obstacle(problem, policy, censorship)
    moving = None if has_fixed_arms(problem) else "needs the same arms in every round"
    world = _world(problem, censorship, policy, last)
    tables = []
    for time in times:
        now = replace(world, horizon=time)
        if type(policy) is MOSS:
            tables.append(RegretBounds(time, _of_moss(problem, policy, censorship, now)))
            continue
        rows = [
            _bound(one, now, (one.policy and unproved) or (one.fixed and moving) or "")
            for one in STATEMENTS
        ]
        tables.append(RegretBounds(time, tuple(rows)))
    return tables


def _of_moss(
    problem: ArmedBandit, policy: MOSS, censorship: Censorship, world: World
) -> tuple[Bound, ...]:
    reason = moss_bound.moss_obstacle(problem, policy, world) or ""
    if censorship.depends_on_reward:
        reason = NOT_AT_RANDOM
    if not reason and not has_fixed_arms(problem):
        reason = "needs the same arms in every round"
    reference = moss_bound.OF_ARMS if policy.dimension == "arms" else moss_bound.OF_DIMENSION
    worst = Statement("worst case", lambda now: moss_bound.moss_terms(policy, now), reference)
    return _bound(worst, world, reason), _bound(STATEMENTS[-1], world, "")


def _world(problem: ArmedBandit, censorship: Censorship, policy: Policy, horizon: int) -> World:
    arms = problem.playable
    bound = policy.bound if isinstance(policy, UCB) else None
    return World(
        observe=inputs.observation(censorship.rates(problem))[arms],
        noise=problem.scale[arms],
        gaps=problem.gaps[arms],
        regularization=float(policy.regularization),
        bound=problem.setting(horizon).bound if bound is None else float(bound),
        horizon=horizon,
        tuned=horizon,
        under_way=_under_way(problem, censorship, horizon),
    )


def _under_way(problem: ArmedBandit, censorship: Censorship, horizon: int) -> Vector | None:
    if censorship.delayed is None or censorship.depends_on_reward:
        return None
    found = late_messages(censorship.delayed, problem.arms, horizon)[problem.playable]
    return found if found.any() else None


def obstacle(problem: ArmedBandit, policy: Policy, censorship: Censorship) -> str | None:
    """Return why no bound is proved, or None if one is; raise if UCB was given a wrong bound."""
    if censorship.depends_on_reward:
        return NOT_AT_RANDOM
    if type(policy) is not UCB:  # nor for subclasses
        return f"proved for UCB, not for {type(policy).__name__}"
    if not problem.law.sub_gaussian:
        return f"proved for sub-Gaussian rewards, not for {problem.law.in_words()}"
    largest = float(np.abs(np.array(problem.means)[problem.playable]).max())
    if policy.bound is not None and policy.bound < largest:
        raise InvalidInput(
            "UCB.bound",
            f"must be at least the largest absolute mean, {largest:g}, for any bound to hold",
            policy.bound,
            "Raise it or leave it out.",
        )
    return None


def _with_delays(statement: Statement) -> Callable[[World], Terms]:
    """Return the terms of a statement and, unless it is trivial, what late feedback adds."""
    if not statement.policy:
        return statement.compute
    return lambda world: statement.compute(world) | bound_terms.waiting(world, statement.late)


def _bound(statement: Statement, world: World, reason: str) -> Bound:
    """Evaluate a bound, or give the reason why it does not apply."""
    terms = {} if reason else bound_terms.evaluated(_with_delays(statement), world)
    value = math.inf if reason else math.fsum(terms.values())
    return Bound(
        name=statement.name,
        value=value,
        terms=terms,
        reference=statement.reference,
        paper=statement.paper,
        applies=not reason,
        reason=reason,
    )
