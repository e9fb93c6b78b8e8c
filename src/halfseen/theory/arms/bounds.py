"""Bounds on the expected regret of UCB, the paper's and sharper ones, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.censorship import Censorship
from halfseen.errors import InvalidInput
from halfseen.phrases import counted
from halfseen.policies import MOSS, UCB, LinearPolicy, Policy
from halfseen.problems import ArmedBandit, GeneralizedLinearBandit, LinearBandit
from halfseen.theory import inputs
from halfseen.theory.arms import bound_terms, moss_bound
from halfseen.theory.arms.bound_terms import Terms, World
from halfseen.theory.arms.dimension import has_fixed_arms

PAPER = "Guinet, Amin, Jaillet (2022)"


@dataclass(frozen=True)
class Bound:
    """One upper bound on the expected regret.

    Attributes
    ----------
    name
        Name in the table.
    value
        The bound; infinity where it does not apply. A finite value that does not apply is an order
        of growth, not a bound.
    terms
        The parts it is the sum of, by name.
    reference
        The statement it comes from.
    paper
        True for the paper's own bound (with its misprints corrected), False for a sharper one.
    applies
        Whether its conditions hold here.
    reason
        Why it does not apply; empty where it does.
    """

    name: str
    value: float
    terms: Mapping[str, float] = field(default_factory=dict)
    reference: str = ""
    paper: bool = False
    applies: bool = True
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; None for what has no value."""
        return {
            "name": self.name,
            "value": self.value if math.isfinite(self.value) else None,
            "terms": dict(self.terms),
            "reference": self.reference,
            "paper": self.paper,
            "applies": self.applies,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class RegretBounds:
    """Every bound on the expected regret of one policy in one problem.

    Iterate over it, take one by name (``bounds["joint"]``), print it, or ask for the `smallest`.

    Attributes
    ----------
    horizon
        The number of rounds they hold for.
    bounds
        The bounds, sharper ones first.
    """

    horizon: int
    bounds: tuple[Bound, ...]

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    def __getitem__(self, name: str) -> Bound:
        known = {bound.name: bound for bound in self.bounds}
        return known[checks.one_of("name of a bound", name, known)]

    @property
    def smallest(self) -> Bound:
        """The smallest bound that applies."""
        return min((bound for bound in self.bounds if bound.applies), key=lambda b: b.value)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "horizon": self.horizon,
            "smallest": self.smallest.name,
            "bounds": [bound.to_dict() for bound in self.bounds],
        }

    def __str__(self) -> str:
        width = max(len(bound.name) for bound in self.bounds)
        best = self.smallest
        lines = [f"Expected regret after {counted('round', self.horizon)} is at most"]
        for bound in self.bounds:
            value = f"{bound.value:>16,.6g}" if math.isfinite(bound.value) else f"{'-':>16}"
            mark = "<" if bound is best else " "
            note = bound.reference if bound.applies else bound.reason
            lines.append(f"  {bound.name:<{width}} {value} {mark} {note}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Statement:
    """A bound before it is evaluated: its name, its function and its conditions."""

    name: str
    compute: Callable[[World], Terms]
    reference: str
    paper: bool = False
    fixed: bool = False
    policy: bool = True


STATEMENTS = (
    Statement(
        "joint",
        bound_terms.joint,
        "fluid bound of min(largest gap, twice the width)",
    ),
    Statement(
        "best arm dropped",
        bound_terms.best_arm_dropped,
        "joint, without the arms that are never worse",
    ),
    Statement(
        "own gaps",
        bound_terms.own_gaps,
        "fluid bound of min(the arm's gap, twice the width)",
    ),
    Statement(
        "instance",
        bound_terms.instance,
        "observations of a worse arm are at most Theta + 1, by Wald's identity",
        fixed=True,
    ),
    Statement(
        "instance in horizon",
        bound_terms.instance_in_horizon,
        "instance, filled into the rounds there are",
        fixed=True,
    ),
    Statement(
        "separate",
        bound_terms.separate,
        f"{PAPER}, lemma Potential Reduction Finite, with exact potentials",
    ),
    Statement(
        "closed form",
        bound_terms.closed_form,
        "separate, by integral comparison and Cauchy-Schwarz",
    ),
    Statement(
        "paper's theorem",
        bound_terms.papers_theorem,
        f"{PAPER}, theorem THM Finite arms, corrected",
        paper=True,
    ),
    Statement(
        "paper's instance",
        bound_terms.papers_instance,
        f"{PAPER}, proposition Instance Dep Regret Finite, corrected",
        paper=True,
        fixed=True,
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
        A `UCB`, `LinUCB`, `GLMUCB` or `RidgeGLMUCB` gets all bounds, `MOSS` the one it is made
        for; any other policy only the trivial one.
    horizon
        Number of rounds T, at least 1.
    potential
        For linear bandits, the expected potential V_1 of this very policy, if it was measured.
    rounds
        Number of rounds t the bounds are for, at most T; left out, T. The policy is still tuned to
        T: its widths contain log T, not log t.

    Returns
    -------
    RegretBounds
        The bounds by name, each with its terms, source, and whether it applies.

    Notes
    -----
    Different scales of noise per arm are allowed throughout. The instance bounds need the same arms
    in every round. The others do not, not even those that use the gaps: an arm's gap to the best
    arm of all is never smaller than its gap to the best arm on offer.

    None of this holds when whether a reward is seen depends on the reward. The bounds are for the
    worst case, and what happens is often far below them.

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
    """Return `regret_bounds` at each of some rounds, computing what they share once.

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
        from halfseen.theory.glm.bounds import bounds_of_glm

        return bounds_of_glm(problem, censorship, policy, last, times, potential)
    if isinstance(problem, LinearBandit):
        from halfseen.theory.linear.bounds import bounds_of_linear

        return bounds_of_linear(problem, censorship, policy, last, times, potential)
    if not isinstance(problem, ArmedBandit):
        raise InvalidInput("problem", "must be a bandit", problem, "Give for example ArmedBandit.")
    if not isinstance(censorship, Censorship):
        raise InvalidInput("censorship", "must be a censorship", censorship, "Use PerArm.")
    if not isinstance(policy, Policy):
        raise InvalidInput("policy", "must be a policy", policy, "Use UCB().")
    unproved = obstacle(problem, policy)
    moving = None if has_fixed_arms(problem) else "needs the same arms in every round"
    world = _world(problem, censorship, policy, last)
    tables = []
    for time in times:
        now = replace(world, horizon=time)
        if type(policy) is MOSS:
            tables.append(RegretBounds(time, _of_moss(problem, policy, now)))
            continue
        rows = [
            _bound(one, now, (one.policy and unproved) or (one.fixed and moving) or "")
            for one in STATEMENTS
        ]
        tables.append(RegretBounds(time, tuple(rows)))
    return tables


def _of_moss(problem: ArmedBandit, policy: MOSS, world: World) -> tuple[Bound, ...]:
    reason = moss_bound.moss_obstacle(problem, policy, world) or ""
    if not reason and not has_fixed_arms(problem):
        reason = "needs the same arms in every round"
    reference = moss_bound.OF_ARMS if policy.dimension == "arms" else moss_bound.OF_DIMENSION
    worst = Statement("worst case", lambda now: moss_bound.moss_terms(policy, now), reference)
    return _bound(worst, world, reason), _bound(STATEMENTS[-1], world, "")


def _world(problem: ArmedBandit, censorship: Censorship, policy: Policy, horizon: int) -> World:
    arms = problem.playable
    bound = policy.bound if isinstance(policy, UCB) else None
    return World(
        observe=inputs.observation(censorship.probabilities(problem.arms))[arms],
        noise=problem.scale[arms],
        gaps=problem.gaps[arms],
        regularization=float(policy.regularization),
        bound=problem.setting(horizon).bound if bound is None else float(bound),
        horizon=horizon,
        tuned=horizon,
    )


def obstacle(problem: ArmedBandit, policy: Policy) -> str | None:
    """Return why nothing is proved, None if it is; raise if UCB was given a wrong bound."""
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


def _bound(statement: Statement, world: World, reason: str) -> Bound:
    """Evaluate a bound, or give the reason why it does not apply."""
    terms = {} if reason else bound_terms.evaluated(statement.compute, world)
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
