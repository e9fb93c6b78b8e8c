"""Open Bandit Pipeline's dictionary of logged feedback, in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfseen.errors import InvalidInput
from halfseen.interchange.rows import open_decisions, parts


def to_open_bandit(
    log: Any,
    *,
    action: str,
    reward: str,
    propensity: str | None = None,
    features: Sequence[str] = (),
    seen_only: bool = False,
) -> dict[str, Any]:
    """Return a log as Open Bandit Pipeline's dictionary of feedback.

    Parameters
    ----------
    log, action, reward, propensity, features
        As in `halfseen.audit`; features become the context. Without a propensity, an arm's share
        of the log stands for it.
    seen_only
        Leave out decisions whose reward is missing. Otherwise it is NaN, which that package's
        estimators do not expect.

    Returns
    -------
    dict
        ``n_rounds``, ``n_actions``, ``context``, ``action_context``, ``action``, ``position``,
        ``reward`` and ``pscore``.

    Examples
    --------
    >>> rows = {"offer": ["a", "b"], "sold": [1.0, None]}
    >>> to_open_bandit(rows, action="offer", reward="sold")["reward"].tolist()
    [1.0, nan]
    """
    decisions = open_decisions(log, action, reward, propensity, features)
    found = list(parts(decisions))
    columns = {
        "action": np.concatenate([part.action for part in found]),
        "reward": np.concatenate([part.reward for part in found]),
        "pscore": np.concatenate([part.propensity for part in found]),
        "context": np.concatenate([part.features for part in found]),
    }
    if seen_only:
        seen = ~np.isnan(columns["reward"])
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
