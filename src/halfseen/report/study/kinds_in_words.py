"""What policies do, in plain words."""

from __future__ import annotations

import re
from typing import Any

from halfseen.report.study import linear_kinds_in_words as linear_words
from halfseen.studies.spec import describe
from halfseen.studies.study import AnyPolicy

POLICIES = {
    "ucb": "Plays the arm that could be best, judged on seen rewards alone.",
    "ucb1": "Plays the arm that could be best, judged on seen rewards and the clock.",
    "robust-ucb": "Plays the arm that could be best, for rewards with heavy tails.",
    "gaussian-thompson": "Draws each mean from what is believed of it (normal), plays the largest.",
    "bernoulli-thompson": "Draws each mean from what is believed of it (beta), plays the largest.",
    "epsilon-greedy": "Plays the best mean so far, and sometimes any arm.",
    "random": "Plays any arm: what no learning costs.",
    "impute-zero": "A common mistake: learns a reward of 0 where feedback is missing.",
    "impute-mean": "A common mistake: learns the arm’s mean so far where feedback is missing.",
    "inverse-propensity": "Learns 0 where feedback is missing, and the rest divided by its chance.",
    "doubly-robust": "Learns the mean so far where feedback is missing, corrected by the rest.",
} | linear_words.POLICIES


def policy_in_words(policy: AnyPolicy) -> str:
    """Say what a policy does."""
    if policy.kind in POLICIES:
        return POLICIES[policy.kind]
    line = (type(policy).__doc__ or "").strip().partition("\n")[0]
    return re.sub(r":\w+:`([^`]*)`", r"\1", line)


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
