"""Problems, censorships and policies in plain words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from halfseen.censorship import PerAction, PerArm, Uniform
from halfseen.problems import FixedArms, LinearBandit, RandomArms, SequenceOfArms
from halfseen.report.study import linear_kinds_in_words as linear_words
from halfseen.report.study.measures import number
from halfseen.studies.spec import describe
from halfseen.studies.study import AnyCensorship, AnyPolicy, Problem
from halfseen.tables import counted

REWARDS = {
    "gaussian": "normal rewards",
    "bernoulli": "rewards of 0 or 1",
    "uniform": "rewards uniform around the mean",
    "rademacher": "rewards of the mean plus or minus the noise",
}
POLICIES = {
    "ucb": "Plays the arm with the largest upper confidence bound, from observed rewards alone.",
    "ucb1": "Plays the arm with the largest upper confidence bound, which grows with the round.",
    "robust-ucb": "Plays the largest upper confidence bound, for heavy-tailed rewards.",
    "gaussian-thompson": "Samples each mean from its normal posterior and plays the largest.",
    "bernoulli-thompson": "Samples each mean from its beta posterior and plays the largest.",
    "epsilon-greedy": "Plays the arm with the best observed mean, and sometimes a random arm.",
    "random": "Plays a random arm: the cost of not learning.",
    "impute-zero": "A common mistake: imputes a reward of 0 where feedback is missing.",
    "impute-mean": "A common mistake: imputes the arm’s mean so far where feedback is missing.",
    "inverse-propensity": "Learns 0 where feedback is missing, and the rest divided by its chance.",
    "doubly-robust": "Learns the mean so far where feedback is missing, corrected by the rest.",
} | linear_words.POLICIES
LISTED = 8  # numbers written out one by one


def problem_in_words(problem: Problem) -> str:
    """Describe the number of arms, their rewards and which of them may be played."""
    if isinstance(problem, LinearBandit):
        return linear_words.linear_problem_in_words(problem)
    arms = counted("arm", problem.arms)
    rewards = REWARDS.get(problem.reward, problem.reward)
    text = f"{arms}, {rewards}, means {values_in_words(problem.means)}"
    if problem.reward != "bernoulli":
        text += f", noise {values_in_words(problem.scale.tolist())}"
    actions = problem.actions
    if isinstance(actions, FixedArms):
        text += f"; only {len(actions.arms):,} of them may be played"
    elif isinstance(actions, RandomArms):
        text += "; which may be played is drawn anew every round"
    elif isinstance(actions, SequenceOfArms):
        text += "; which may be played follows a given sequence"
    return text + "."


def censorship_in_words(censorship: AnyCensorship) -> str:
    """Describe the probability that a reward is observed."""
    if isinstance(censorship, Uniform):
        if censorship.observe == 1.0:
            return "Every reward is seen."
        return f"Every reward is seen with probability {censorship.observe:g}."
    if isinstance(censorship, PerArm | PerAction):
        one = "arm" if isinstance(censorship, PerArm) else "action"
        return f"An {one}’s reward is seen with probability {values_in_words(censorship.observe)}."
    said = linear_words.linear_censorship_in_words(censorship)
    return said or (
        f"How often a reward is seen follows {censorship.kind} ({_listed(describe(censorship))})."
    )


def policy_in_words(policy: AnyPolicy) -> str:
    """Describe what a policy does."""
    if policy.kind in POLICIES:
        return POLICIES[policy.kind]
    line = (type(policy).__doc__ or "").strip().partition("\n")[0]
    return re.sub(r":\w+:`([^`]*)`", r"\1", line)


def parameters_in_words(policy: AnyPolicy) -> str:
    """List a policy's parameters."""
    return _listed(describe(policy))


def values_in_words(values: Sequence[float]) -> str:
    """List numbers, or their range where there are many.

    >>> values_in_words([0.5, 0.5, 0.5]), values_in_words([0.1, 0.9])
    ('0.5', '0.1, 0.9')
    >>> values_in_words([i / 100 for i in range(1, 100)])
    'from 0.01 to 0.99'
    """
    if min(values) == max(values):
        return f"{values[0]:.4g}"
    if len(values) <= LISTED:
        return ", ".join(f"{value:.4g}" for value in values)
    return f"from {number(min(values))} to {number(max(values))}"


def _listed(content: dict[str, Any]) -> str:
    parts = []
    for key, value in content.items():
        if isinstance(value, dict):
            inner = _listed(value)
            parts.append(f"{key} {value['kind']}" + (f" with {inner}" if inner else ""))
        elif key != "kind":
            parts.append(f"{key} {_short(value)}")
    return ", ".join(parts)


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
