"""What policies do, in plain words."""

from __future__ import annotations

import re
from typing import Any

from halfseen.report.study import linear_kinds_in_words as linear_words
from halfseen.studies.spec import describe
from halfseen.studies.study import AnyPolicy

POLICIES = {
    "ucb": "Plays the arm with the largest upper confidence bound, from observed rewards alone.",
    "ucb1": "Plays the arm with the largest upper confidence bound, which grows with the round.",
    "robust-ucb": "Plays the largest upper confidence bound, for heavy-tailed rewards.",
    "gaussian-thompson": "Samples each mean from its normal posterior and plays the largest.",
    "bernoulli-thompson": "Samples each mean from its beta posterior and plays the largest.",
    "gamma-thompson": "Samples each mean from its gamma posterior and plays the largest.",
    "epsilon-greedy": "Plays the arm with the best observed mean, and sometimes a random arm.",
    "random": "Plays a random arm: the cost of not learning.",
    "impute-zero": "A common mistake: imputes a reward of 0 where feedback is missing.",
    "impute-mean": "A common mistake: imputes the arm’s mean so far where feedback is missing.",
    "inverse-propensity": "Learns 0 where feedback is missing, and the rest divided by its chance.",
    "doubly-robust": "Learns the mean so far where feedback is missing, corrected by the rest.",
    "hoeffding-ucb": "Plays the largest upper confidence bound, from observed rewards alone.",
    "hopeful-ucb": "Plays the arm that could be best if every reward not in hand were 1.",
    "queued": "Hands a policy the rewards that arrived one by one, as it asks for their arm.",
    "conversion-ucb": "Plays the largest conversion rate possible, knowing how late they come.",
    "successive-elimination": "Plays arms in turn and drops those that are worse.",
    "optimistic-elimination": "Drops an arm only if it is worse whatever is missing.",
} | linear_words.POLICIES


def policy_in_words(policy: AnyPolicy) -> str:
    """Describe what a policy does."""
    if policy.kind in POLICIES:
        return POLICIES[policy.kind]
    line = (type(policy).__doc__ or "").strip().partition("\n")[0]
    return re.sub(r"^Play ", "Plays ", re.sub(r":\w+:`([^`]*)`", r"\1", line))


def parameters_in_words(policy: AnyPolicy) -> str:
    """List a policy's parameters."""
    return _listed(describe(policy))


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
