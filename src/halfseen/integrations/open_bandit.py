"""Converts logs to and from Open Bandit Pipeline's dictionary of bandit feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfseen.errors import InvalidInput
from halfseen.integrations.log_rows import (
    check_every_arm_seen,
    check_propensities,
    check_row_rates,
    observation_rates,
    open_decisions,
    parts,
)


def to_open_bandit(
    log: Any,
    *,
    action: str,
    reward: str,
    propensity: str | None = None,
    features: Sequence[str] = (),
    seen_only: bool = False,
    weighted: bool = False,
    observe: Mapping[str, float] | str | None = None,
) -> dict[str, Any]:
    """Return a log as Open Bandit Pipeline's dictionary of feedback.

    Parameters
    ----------
    log, action, reward, propensity, features
        As in `halfseen.audit`; features become the context. Without a propensity, an arm's share
        of the log stands for it.
    seen_only
        Leave out decisions whose reward is missing, and weight the others for it: valid for inverse
        propensity weighting only, with or without self-normalization.
    weighted
        Keep every decision and give the missing ones weight 0: valid for all estimators, including
        the direct method and the doubly robust ones.
    observe
        With either: the probability that each arm's reward is seen, by its name, or a column of
        probabilities; left out, the share of its rewards that the log has.

    Returns
    -------
    dict
        ``n_rounds``, ``n_actions``, ``context``, ``action_context``, ``action``, ``position``,
        ``reward`` and ``pscore``, in the order of the log, and ``observed``: whether the reward
        was seen. With neither `seen_only` nor `weighted`, missing rewards are NaN, which that
        package's estimators do not expect.

    Notes
    -----
    Seen rewards are a biased sample: arms that are seen more often are overrepresented. With
    `seen_only`, ``pscore`` is therefore the propensity times p over the share of all decisions
    that was seen, so that the mean of reward times policy over ``pscore`` estimates the value over
    all decisions, seen or not. It may exceed 1. Estimators that also average over the contexts
    would average over those of the seen decisions only.

    With `weighted`, ``pscore`` is the propensity times p, and infinite where the reward is missing:
    there the weight, policy over ``pscore``, is 0, and ``reward`` holds 0 because NaN times 0 is
    NaN. Contexts are those of all decisions. Fit the regression of rewards on the rows that are
    ``observed``.

    Both are valid if whether a reward is seen depends only on the arm and, where `observe` is a
    column of probabilities, on what these depend on.

    Examples
    --------
    >>> rows = {"offer": ["a", "b"], "sold": [1.0, None]}
    >>> to_open_bandit(rows, action="offer", reward="sold")["reward"].tolist()
    [1.0, nan]
    >>> rows = {"offer": ["a", "a"], "sold": [1.0, None]}
    >>> to_open_bandit(rows, action="offer", reward="sold", weighted=True)["pscore"].tolist()
    [0.5, inf]
    """
    if seen_only and weighted:
        raise InvalidInput(
            "weighted", "cannot come with `seen_only`", True, "Give one or the other."
        )
    if observe is not None and not (seen_only or weighted):
        raise InvalidInput(
            "observe",
            "needs `weighted` or `seen_only`: nothing else divides by it",
            observe,
            "Add `weighted=True`, or leave it out.",
        )
    column = [observe] if isinstance(observe, str) else []
    decisions = open_decisions(log, action, reward, propensity, [*features, *column])
    check_propensities(decisions, seen_only=True)
    found = list(parts(decisions))
    described = np.concatenate([part.features for part in found])
    columns = {
        "action": np.concatenate([part.action for part in found]),
        "reward": np.concatenate([part.reward for part in found]),
        "pscore": np.concatenate([part.propensity for part in found]),
        "context": described[:, : len(features)],
    }
    seen = columns["observed"] = ~np.isnan(columns["reward"])
    if seen_only or weighted:
        check_every_arm_seen(decisions)
        if isinstance(observe, str):
            p = described[:, -1]
            check_row_rates(observe, p[seen])
        else:
            p = observation_rates(decisions, observe)[columns["action"]]
        columns["pscore"] = columns["pscore"] * p
    if seen_only:
        columns["pscore"] = columns["pscore"] / seen.mean()
        columns = {name: values[seen] for name, values in columns.items()}
    if weighted:
        columns["pscore"] = np.where(seen, columns["pscore"], np.inf)
        columns["reward"] = np.where(seen, columns["reward"], 0.0)
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
        Its dictionary; a reward is missing where it is NaN or where ``observed`` says so.

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
    if feedback.get("observed") is not None:
        observed = np.asarray(feedback["observed"], dtype=bool)
        if len(observed) == len(columns["reward"]):
            columns["reward"] = np.where(observed, columns["reward"], np.nan)
    if feedback.get("pscore") is not None:
        chance = np.asarray(feedback["pscore"], dtype=float)
        columns["propensity"] = np.where(np.isinf(chance), np.nan, chance)
    if feedback.get("context") is not None:
        context = np.atleast_2d(np.asarray(feedback["context"], dtype=float))
        columns |= {f"context_{i}": column for i, column in enumerate(context.T)}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput("feedback", "must hold columns of one length", lengths, "Check them.")
    return columns
