"""Converts logs to and from Open Bandit Pipeline's dictionary of bandit feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfseen.errors import InvalidInput
from halfseen.integrations.log_rows import (
    check_propensities,
    observation_rates,
    open_decisions,
    parts,
)
from halfseen.tables import listed


def to_open_bandit(
    log: Any,
    *,
    action: str,
    reward: str,
    propensity: str | None = None,
    features: Sequence[str] = (),
    seen_only: bool = False,
    observe: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return a log as Open Bandit Pipeline's dictionary of feedback.

    Parameters
    ----------
    log, action, reward, propensity, features
        As in `halfseen.audit`; features become the context. Without a propensity, an arm's share
        of the log stands for it.
    seen_only
        Leave out decisions whose reward is missing, and weight the others for it. Otherwise it is
        NaN, which that package's estimators do not expect.
    observe
        With `seen_only`: the probability that each arm's reward is seen, by its name; left out,
        the share of its rewards that the log has.

    Returns
    -------
    dict
        ``n_rounds``, ``n_actions``, ``context``, ``action_context``, ``action``, ``position``,
        ``reward`` and ``pscore``, in the order of the log.

    Notes
    -----
    Seen rewards are no fair sample: arms that are seen more often make up more of them. With
    `seen_only`, ``pscore`` is therefore the propensity times p(arm) over the share of all decisions
    that was seen, so that the mean of reward times policy over ``pscore`` estimates the value over
    all decisions, seen or not. It may exceed 1. That is right if, given the arm, whether a reward
    is seen depends neither on its value nor on the context. Estimators that also average over the
    contexts (direct method, doubly robust) average over those of the seen decisions only.

    Examples
    --------
    >>> rows = {"offer": ["a", "b"], "sold": [1.0, None]}
    >>> to_open_bandit(rows, action="offer", reward="sold")["reward"].tolist()
    [1.0, nan]
    """
    decisions = open_decisions(log, action, reward, propensity, features)
    check_propensities(decisions, seen_only=True)
    found = list(parts(decisions))
    columns = {
        "action": np.concatenate([part.action for part in found]),
        "reward": np.concatenate([part.reward for part in found]),
        "pscore": np.concatenate([part.propensity for part in found]),
        "context": np.concatenate([part.features for part in found]),
    }
    if seen_only:
        seen = ~np.isnan(columns["reward"])
        rates = observation_rates(decisions, observe)
        never = [decisions.counts.names[i] for i in np.flatnonzero(decisions.counts.seen == 0)]
        if never:
            raise InvalidInput(
                "log",
                "must hold a reward of every arm, or policies that play the others get no value",
                f"none of {listed(never)}",
                "Leave those arms out of the log.",
            )
        columns["pscore"] = columns["pscore"] * rates[columns["action"]] / seen.mean()
        columns = {name: values[seen] for name, values in columns.items()}
    rows, arms = len(columns["action"]), len(decisions.counts)
    if not features:
        columns["context"] = np.ones((rows, 1))
    return {
        "n_rounds": rows,
        "n_actions": arms,
        "action_context": np.eye(arms),
        "position": None,
        **columns,
    }


def from_open_bandit(feedback: Mapping[str, Any]) -> dict[str, Any]:
    """Return Open Bandit Pipeline's feedback as columns that `halfseen.audit` reads.

    Parameters
    ----------
    feedback
        Its dictionary; a NaN reward is missing.

    Returns
    -------
    dict
        ``action``, ``reward``, ``propensity`` and ``context_0``, ``context_1``, ...

    Examples
    --------
    >>> feedback = {"action": [0, 1], "reward": [1.0, float("nan")], "pscore": [0.5, 0.5]}
    >>> list(from_open_bandit(feedback))
    ['action', 'reward', 'propensity']
    """
    for name in ("action", "reward"):
        if name not in feedback:
            raise InvalidInput(
                "feedback", f"must hold {name!r}", sorted(map(str, feedback)), "Add it."
            )
    columns = {
        "action": np.asarray(feedback["action"]),
        "reward": np.asarray(feedback["reward"], dtype=float),
    }
    if feedback.get("pscore") is not None:
        columns["propensity"] = np.asarray(feedback["pscore"], dtype=float)
    if feedback.get("context") is not None:
        context = np.atleast_2d(np.asarray(feedback["context"], dtype=float))
        columns |= {f"context_{i}": column for i, column in enumerate(context.T)}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput("feedback", "must hold columns of one length", lengths, "Check them.")
    return columns
