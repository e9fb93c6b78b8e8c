"""Overlap: whether a log supports a policy; if not, the bounds that still hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput, did_you_mean
from halfseen.logs.group_sums import sum_by
from halfseen.logs.option_names import option
from halfseen.tables import listed, show
from halfseen.values.cell_errors import CellMeans
from halfseen.values.influence import Influence, normal_interval
from halfseen.values.log_groups import LogGroups
from halfseen.values.nuisances import NuisanceModel, Nuisances
from halfseen.values.target_policy import SLACK, PolicyOnLog, constant_table

LEVEL = 0.95  # of the bound in an error
MOST = 1e150  # weight times reward whose square is still a number
BY_CHANCE = 0.001  # probability below which it is no chance that nothing was seen in a cell
Mask = NDArray[np.bool_]


def check_policies(
    log: LogGroups, policies: Sequence[PolicyOnLog], model: NuisanceModel, fit: Nuisances
) -> list[str]:
    """Raise where the log does not support a policy; return warnings."""
    warnings: list[str] = []
    for field, policy in zip(("target", "compare"), policies, strict=False):
        check_arms(log, field, policy)
        check_propensities(log, field, policy, fit)
        check_weights(log, field, policy, model, fit)
        warnings += check_overlap(log, field, policy, model)
    if log.propensity is None:
        share = "shares of the arms in each context" if len(log.contexts) > 1 else "arms' shares"
        warnings.append(
            f"There are no propensities: the {share} stand in for them. That is valid only if"
            " decisions depended on nothing else."
        )
    least, most = _ends(log)
    if least == most:
        warnings.append(
            f"All rewards seen are {show(least)}: the interval has no width, and does not cover"
            " rewards that have not occurred yet."
        )
    matter = np.any([policy.logged > 0.0 for policy in policies], axis=0)
    cut = int(log.sample.count[fit.cut & matter].sum())
    if cut:
        warnings.append(
            f"{cut:,} decisions have an estimated probability of being seen below 0.01; it was"
            " raised to that."
        )
    return list(dict.fromkeys(warnings))


def check_arms(log: LogGroups, field: str, policy: PolicyOnLog) -> None:
    """Raise if a policy plays an arm that the log does not have."""
    if not policy.unknown or policy.table is None:
        return
    seen = log.by_cell(log.sample.count * log.sample.seen)
    known = np.where(seen > 0.0, _by_context(log, policy.table), 0.0)
    raise InvalidInput(
        field,
        f"must play arms that the log has ({listed(list(log.arms))}); nothing is known of others",
        listed(policy.unknown),
        did_you_mean(policy.unknown[0], log.arms, "Play another arm.") + _still_holds(log, known),
    )


def check_propensities(log: LogGroups, field: str, policy: PolicyOnLog, fit: Nuisances) -> None:
    """Raise if a propensity used as a divisor is not a probability above 0."""
    if log.propensity is None or policy.is_logging:
        return
    wrong = ~((log.propensity > 0.0) & (log.propensity <= 1.0)) & (policy.logged > 0.0)
    if wrong.any():
        rows = int(log.sample.count[wrong].sum())
        raise InvalidInput(
            "propensity",
            f"must be above 0 and at most 1 wherever `{field}` may play the logged arm",
            f"{rows:,} row{'s' * (rows != 1)} where it is 0, missing or no probability",
            f"Fill them in, or leave those rows out with {option('where')}."
            + _without_rows(log, policy, fit, wrong),
        )


def check_weights(
    log: LogGroups, field: str, policy: PolicyOnLog, model: NuisanceModel, fit: Nuisances
) -> None:
    """Raise if a weight is so large that its square is no number."""
    played = log.sample.seen & (policy.logged > 0.0)
    divisor = fit.observe if policy.is_logging else fit.propensity * fit.observe
    largest = max(1.0, *map(abs, _ends(log)))
    tiny = played & ~(divisor * (MOST / largest) > policy.logged)
    if tiny.any():
        known = model.known is not None and (policy.is_logging or fit.observe[tiny].min() < 1e-50)
        name, chance = ("observe", fit.observe) if known else ("propensity", fit.propensity)
        raise InvalidInput(
            name,
            f"must be large enough for weights that can be squared wherever `{field}` plays",
            float(chance[tiny].min()),
            "Check that they are probabilities and no densities, or leave those rows out with"
            f" {option('where')}.",
        )


def never_seen(log: LogGroups) -> list[str]:
    """Return the arms of which no reward was seen."""
    seen = sum_by(log.arm, log.sample.count * log.sample.seen, len(log.arms))
    return [log.arms[i] for i in np.flatnonzero(seen == 0.0)]


def rescaled(log: LogGroups) -> LogGroups:
    """Divide propensities by their sum over the arms that a filter left, context by context."""
    assert log.propensity is not None
    table = constant_table(log, log.propensity)
    if table is None:
        raise InvalidInput(
            "drop_arms",
            "needs propensities that are the same in every row of an arm and context, to scale them"
            " to the arms that are left",
            "propensities that differ, or are missing",
            "Divide them by their sum over the arms that are left, and drop rows with"
            f" {option('where')}.",
        )
    sums = np.minimum(table.sum(axis=1), 1.0)[log.context]
    scaled = log.propensity / np.where(sums > 0.0, sums, 1.0)
    rounded = (scaled > 1.0) & (scaled <= 1.0 + SLACK)  # of the only arm that is left
    return replace(log, propensity=np.where(rounded, 1.0, scaled))


def check_overlap(
    log: LogGroups, field: str, policy: PolicyOnLog, model: NuisanceModel
) -> tuple[str, ...]:
    """Raise if no reward was seen of what a policy plays; return what was borrowed.

    The error says between what the value lies all the same: rewards of the rest are somewhere
    between the smallest and the largest seen.
    """
    if policy.is_logging or policy.table is None:
        _check_seen_arms(log, field, policy)
        return ()
    table = _by_context(log, policy.table)
    rows, seen = log.by_cell(log.sample.count), log.by_cell(log.sample.count * log.sample.seen)
    needed = table > 0.0
    unplayed = needed & (rows == 0.0)
    never = needed & (seen.sum(axis=0) == 0.0)
    unseen = needed & (rows > 0.0) & (seen == 0.0)
    if log.by_row:  # models look past a cell that is empty by chance
        lost = never | unplayed & _unlikely_unplayed(rows)
        told = model.known is not None or model.observe == "arms"
        lost |= unseen & _unlikely_unseen(rows, seen) & (not told)
    else:
        lost = never | unplayed & (_unlikely_unplayed(rows) | (log.propensity is None))
        if model.known is None and model.observe == "cells":
            lost |= unseen & (_unlikely_unseen(rows, seen) | (log.propensity is None))
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
            what = f"a sum of {1.0 - short[x]:.6g} over the arms played" + _where(log, x)
        bounds = _still_holds(log, np.where(lost, 0.0, table))
        fix = "Give the policy other arms there"
        if not lost.any():
            fix = "Give all digits if they are rounded, and other arms if it plays one never played"
        if unseen[lost].any():
            fix += f", name {option('propensity')}" if log.propensity is None else ""
            if model.observe == "cells" and not never[lost].all():
                fix += f", or use {option('observe', 'arms')} if contexts are seen alike"
        fix += "."
        raise InvalidInput(field, "must play arms whose rewards the log shows", what, fix + bounds)
    borrowed = [f"{log.arms[a]}{_where(log, x)}" for x, a in np.argwhere(unseen | unplayed)]
    if not borrowed:
        return ()
    source = "what the arm's features elsewhere tell" if log.by_row else "the arm's mean elsewhere"
    return (f"No reward was seen of {listed(borrowed)}: the expected reward there is {source}.",)


def _unlikely_unplayed(rows: Vector) -> Mask:
    """Return where chance hardly explains that an arm was not played in a context."""
    share = rows.sum(axis=0) / rows.sum()
    return np.asarray((1.0 - share) ** rows.sum(axis=1, keepdims=True) < BY_CHANCE)


def _unlikely_unseen(rows: Vector, seen: Vector) -> Mask:
    """Return where chance hardly explains that nothing was seen of an arm in a context.

    It would if each reward there were seen as often as the arm's are elsewhere.
    """
    elsewhere = np.maximum(rows.sum(axis=0) - rows, 1.0)
    missed = np.clip(1.0 - (seen.sum(axis=0) - seen) / elsewhere, 0.0, 1.0)
    return np.asarray(missed**rows < BY_CHANCE)


def _check_seen_arms(log: LogGroups, field: str, policy: PolicyOnLog) -> None:
    rows = log.sample.count * (policy.logged > 0.0)
    played = sum_by(log.arm, rows, len(log.arms))
    never = [name for name in never_seen(log) if played[log.arms.index(name)] > 0.0]
    if never:
        raise InvalidInput(
            field,
            "must play arms of which a reward was seen",
            listed(never),
            f"Leave those arms out, with {option('drop_arms')} if their decisions do not count.",
        )


def _by_context(log: LogGroups, table: Vector) -> Vector:
    if not log.by_row:
        return table
    size = sum_by(log.context, log.sample.count, len(log.contexts))
    sums = [sum_by(log.context, log.sample.count * column, len(log.contexts)) for column in table.T]
    return np.stack(sums, axis=1) / size[:, None]


def _where(log: LogGroups, context: int) -> str:
    return f" in {log.contexts[context]}" if len(log.contexts) > 1 else ""


def _still_holds(log: LogGroups, known: Vector) -> str:
    sample, means = log.sample, CellMeans(log, True)
    mean, variance, seen = (
        of_cells.reshape(known.shape) for of_cells in (means.mean, means.spread[0], means.seen)
    )
    share = sum_by(log.context, sample.count, len(log.contexts)) / sample.size
    within = float(share**2 @ (known**2 * variance / np.maximum(seen, 1.0)).sum(axis=1))
    bounds = []
    for side, end in enumerate(_ends(log)):
        of_context = (known * mean).sum(axis=1) + (1.0 - known.sum(axis=1)) * end
        value = float(share @ of_context)
        between = float(share @ (of_context - value) ** 2) / sample.size
        bounds.append(normal_interval(value, math.sqrt(within + between), LEVEL)[side])
    return _in_words(log, bounds, "")


def _without_rows(log: LogGroups, policy: PolicyOnLog, fit: Nuisances, wrong: Mask) -> str:
    """Bound the value by the rows that have propensities: the rest pays anything seen."""
    sample = log.sample
    divisor = np.where(wrong | (policy.logged == 0.0), 1.0, fit.propensity)
    weight = np.where(wrong, 0.0, policy.logged / divisor)
    slopes = np.where(sample.seen, weight / fit.observe, 0.0)
    bounds = []
    for side, end in enumerate(_ends(log)):
        found = Influence(slopes * sample.reward + (1.0 - weight) * end, slopes)
        interval = normal_interval(found.estimate(sample), found.error(sample), LEVEL)
        bounds.append(interval[side])
    return _in_words(log, bounds, "the other propensities are right, ")


def _ends(log: LogGroups) -> tuple[float, float]:
    rewards = log.sample.reward[log.sample.seen]
    return float(rewards.min()), float(rewards.max())


def _in_words(log: LogGroups, bounds: Sequence[float], also: str) -> str:
    """State bounds on a value; nothing if they are no tighter than the range of rewards."""
    least, most = _ends(log)
    low, high = max(bounds[0], least), min(bounds[1], most)
    if (low <= least and high >= most) or low > high:
        return ""
    return (
        f" As it is, its value lies between {show(low)} and {show(high)} at {LEVEL:.0%}, if {also}"
        "missing rewards are like seen ones of their arm and context and the rest pays between"
        f" {show(least)} and {show(most)}, the smallest and the largest reward seen."
    )
