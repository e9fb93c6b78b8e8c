"""Whether a log shows what a policy would play; if not, the bound that still holds."""

from __future__ import annotations

import numpy as np

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.logs.group_sums import sum_by
from halfseen.tables import listed, show
from halfseen.values.log_groups import LogGroups
from halfseen.values.nuisances import NuisanceModel
from halfseen.values.target_policy import SLACK, PolicyOnLog


def check_propensities(log: LogGroups, field: str, policy: PolicyOnLog) -> None:
    """Raise if a propensity that divides is no probability above 0."""
    if log.propensity is None or policy.is_logging:
        return
    wrong = ~((log.propensity > 0.0) & (log.propensity <= 1.0)) & (policy.logged > 0.0)
    if wrong.any():
        rows = int(log.sample.count[wrong].sum())
        raise InvalidInput(
            "propensity",
            f"must be above 0 and at most 1 wherever `{field}` may play the logged arm",
            f"{rows:,} row{'s' * (rows != 1)} where it is 0, missing or no probability",
            "Fill them in, or leave those rows out with `where`.",
        )


def check_overlap(
    log: LogGroups, field: str, policy: PolicyOnLog, model: NuisanceModel
) -> tuple[str, ...]:
    """Raise if nothing was seen of what a policy plays; return what had to be borrowed.

    The error says between what the value lies all the same: rewards of the rest are somewhere
    between the smallest and the largest seen.
    """
    if policy.is_logging or policy.table is None:
        _check_seen_arms(log, field, policy)
        return ()
    table = _by_context(log, policy.table)
    rows, seen = log.by_cell(log.sample.count), log.by_cell(log.sample.count * log.sample.seen)
    needed = table > 0.0
    strict = model.known is None and model.observe == "cells" and not log.by_row
    unplayed = needed & (rows == 0.0) & (not log.by_row)
    never = needed & (seen.sum(axis=0) == 0.0)
    unseen = needed & (rows > 0.0) & (seen == 0.0)
    lost = unplayed | never | (unseen & strict)
    short = np.maximum(1.0 - table.sum(axis=1), 0.0)
    if lost.any() or short.max() > SLACK:
        if lost.any():
            x, a = map(int, np.argwhere(lost)[0])
            what = f"arm {log.arms[a]}" + _where(log, x)
            what += " (never played)" if rows[x, a] == 0.0 else " (no reward seen)"
            more = int(lost.sum()) - 1
            what += f" and {more:,} more" if more else ""
        else:
            x = int(np.argmax(short))
            what = f"{100 * short[x]:.4g}% on arms that were never played" + _where(log, x)
        bounds = _still_holds(log, np.where(lost, 0.0, table), seen)
        fix = "Give the policy other arms there"
        fix += ', or observe="arms" if contexts are seen alike. ' if unseen[lost].any() else ". "
        raise InvalidInput(field, "must play what the log shows the reward of", what, fix + bounds)
    borrowed = [f"{log.arms[a]}{_where(log, x)}" for x, a in np.argwhere(unseen)]
    if not borrowed or log.by_row:
        return ()
    return (
        f"No reward was seen of {listed(borrowed)}: the expected reward there is the arm's mean"
        " elsewhere.",
    )


def _check_seen_arms(log: LogGroups, field: str, policy: PolicyOnLog) -> None:
    rows = log.sample.count * (policy.logged > 0.0)
    played = sum_by(log.arm, rows, len(log.arms))
    seen = sum_by(log.arm, log.sample.count * log.sample.seen, len(log.arms))
    never = [log.arms[i] for i in np.flatnonzero((played > 0.0) & (seen == 0.0))]
    if never:
        raise InvalidInput(
            field if not policy.is_logging else "log",
            "must play arms of which a reward was seen",
            listed(never),
            "Leave those arms out, with `drop_arms` if their decisions do not count.",
        )


def _by_context(log: LogGroups, table: Vector) -> Vector:
    if not log.by_row:
        return table
    size = sum_by(log.context, log.sample.count, len(log.contexts))
    sums = [sum_by(log.context, log.sample.count * column, len(log.contexts)) for column in table.T]
    return np.stack(sums, axis=1) / size[:, None]


def _where(log: LogGroups, context: int) -> str:
    return f" in {log.contexts[context]}" if len(log.contexts) > 1 else ""


def _still_holds(log: LogGroups, known: Vector, seen: Vector) -> str:
    sample = log.sample
    if not sample.seen.any():
        return "No reward was seen at all, so nothing bounds its value."
    total = log.by_cell(np.where(sample.seen, sample.count * sample.reward, 0.0))
    mean = total / np.where(seen > 0.0, seen, 1.0)
    share = sum_by(log.context, sample.count, len(log.contexts)) / sample.size
    rest = float(share @ (1.0 - known.sum(axis=1)))
    value = float(share @ (known * mean).sum(axis=1))
    rewards = sample.reward[sample.seen]
    least, most = float(rewards.min()), float(rewards.max())
    return (
        f"As it is, its value lies between {show(value + rest * least)} and"
        f" {show(value + rest * most)}, whatever the rest pays between {show(least)} and"
        f" {show(most)}, the smallest and the largest reward seen."
    )
