"""Linear problems and censorship along a direction in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from halfseen.censorship import AnyFunction, LinkModel, MultiThreshold
from halfseen.censorship.link_models import LinkedCensorship
from halfseen.problems import (
    FiniteActions,
    GeneralizedLinearBandit,
    LinearBandit,
    RandomActions,
    SampledActions,
    SequenceOfActions,
)

LISTED = 6  # coordinates written out one by one
MEANS = {
    "logistic": "1/(1 + exp(−⟨a, θ⟩))",
    "probit": "Φ(⟨a, θ⟩)",
    "poisson": "exp⟨a, θ⟩",
    "identity": "⟨a, θ⟩",
}
REWARDS = {
    "bernoulli": "of 0 or 1",
    "poisson": "that are Poisson counts",
    "gaussian": "that are normal with noise {noise}",
}
LAWS = {
    "sphere": "uniform on the unit sphere",
    "gaussian": "normal, shortened to length 1 where longer",
}
POLICIES = {
    "lin-ucb": "Plays the largest upper confidence bound, from observed rewards alone.",
    "impute-zero-lin-ucb": "A common mistake: LinUCB that imputes a reward of 0 where feedback is"
    " missing.",
    "lin-thompson": "Samples θ from its posterior and plays the best action for it.",
    "lin-epsilon-greedy": "Plays the best estimated mean, and sometimes a random action.",
    "lin-random": "Plays a random action: the cost of not learning.",
    "glm-ucb": "Explores until every direction was seen once, then plays the largest upper"
    " confidence bound, by maximum likelihood on observed rewards alone.",
    "ridge-glm-ucb": "Plays the largest upper confidence bound, by penalised likelihood on"
    " observed rewards alone.",
    "glm-thompson": "Samples θ from a normal approximation of its posterior and plays the best"
    " action for it.",
    "impute-zero-glm-ucb": "A common mistake: GLMUCB that imputes a reward of 0 where feedback is"
    " missing.",
    "design": "Always plays the most uncertain action: the cost of pure exploration.",
    "information-greedy": "An adversary that knows p: most information per observation.",
    "most-censored": "An adversary that knows p: explores only the most censored actions.",
    "optimal-order": "An adversary that knows p: the plan of largest potential, most censored"
    " actions first.",
}


def linear_problem_in_words(problem: LinearBandit) -> str:
    """Describe the rewards and the action set."""
    actions = problem.actions
    if isinstance(actions, FiniteActions):
        offered = f"the same {_actions(actions.count)} in every round"
    elif isinstance(actions, RandomActions):
        law = LAWS.get(actions.law, actions.law)
        offered = f"{_actions(actions.count)} drawn anew every round, {law}"
    elif isinstance(actions, SequenceOfActions):
        offered = f"{_actions(actions.count)} per round, from a given sequence"
    elif isinstance(actions, SampledActions):
        offered = f"{_actions(actions.count)} sampled anew every round by a Python function"
    else:
        offered = "every vector of length at most 1"
    many = "1 dimension" if problem.dimension == 1 else f"{problem.dimension:,} dimensions"
    pays = f"⟨a, θ⟩ plus normal noise of {problem.noise:.4g}"
    if isinstance(problem, GeneralizedLinearBandit):
        curve = problem.curve
        law = REWARDS.get(curve.law, "of its own law").format(noise=f"{problem.noise:.4g}")
        mean = MEANS.get(curve.name, f"μ(⟨a, θ⟩), μ the curve “{curve.name}”")
        pays = f"rewards {law} with mean {mean}"
    return (
        f"An action a pays {pays}; {many},"
        f" θ = {_vector(problem.theta)}, of length {problem.norm:.3g}; {offered}."
    )


def linear_censorship_in_words(censorship: Any) -> str | None:
    """Describe the probability of being observed; None for kinds that are not linear."""
    if isinstance(censorship, AnyFunction):
        return "How often a reward is seen is a Python function of the action."
    if isinstance(censorship, MultiThreshold):
        where = f"u = {_vector(censorship.direction)}"
        first = censorship.observe[0]
        if not censorship.thresholds:
            return f"Every reward is seen with probability {first:g}."
        steps = [
            f"{p:g} from {math.sin(angle):.3g} on"
            for p, angle in zip(censorship.observe[1:], censorship.thresholds, strict=True)
        ]
        shown = ", ".join(steps if len(steps) <= LISTED else [*steps[:LISTED], "…"])
        return (
            f"In steps along {where}: a reward is seen with probability {first:g} where ⟨a, u⟩ is"
            f" small, {shown}."
        )
    if isinstance(censorship, LinkedCensorship):
        link = censorship.link if isinstance(censorship, LinkModel) else "logit"
        name = {"logit": "logistic", "probit": "probit", "cloglog": "complementary log-log"}[link]
        ends = ", ".join(f"{p:.3g}" for p in censorship.along([-1.0, 0.0, 1.0]))
        return (
            f"Smoothly along u = {_vector(censorship.direction)}, {name} with slope"
            f" {_signed(censorship.slope)} and offset {_signed(censorship.offset)}: the probability"
            f" of being seen is {ends} at ⟨a, u⟩ = −1, 0, 1."
        )
    return None


def _actions(count: int) -> str:
    return "1 action" if count == 1 else f"{count:,} actions"


def _signed(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _vector(values: Sequence[float]) -> str:
    """Format a vector.

    >>> _vector([0.6, -0.2]), _vector([0.1] * 9)
    ('(0.6, −0.2)', '(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, …)')
    """
    shown = [_signed(value) for value in values[:LISTED]]
    return f"({', '.join(shown + (['…'] if len(values) > LISTED else []))})"
