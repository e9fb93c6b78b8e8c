"""Rewards that stand for missing ones: a single value, codes, means, zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.logs.counts import Decisions
from halfseen.logs.option_names import option
from halfseen.logs.warnings.far_values import (
    far_from_others,
    far_places,
    lone_negative,
    negative_at_the_edge,
    often,
    sentinel,
)
from halfseen.logs.warnings.log_warning import Check, LogWarning, unknown
from halfseen.logs.warnings.off_scale_values import (
    OFTEN,
    OFTEN_SHARE,
    arms_with_means,
    off_scale,
)
from halfseen.logs.warnings.sampled_rewards import Rewards
from halfseen.tables import show

KINDS_OF_REPEATED = 50  # distinct values needed to call one of them unusual
ARMS = 500  # arms with the most rewards whose means are searched for
NEXT = 10.0  # how many times as common as the next value it must be
LOOKED_FOR = "values written for missing ones"


def look_at_values(decisions: Decisions, rewards: Rewards) -> tuple[Check, list[str]]:
    """Look for values written for missing ones; also return what cannot be decided, as a note."""
    if decisions.columns.reward is None:
        return unknown("written-values", LOOKED_FOR, "no column of rewards was named"), []
    if len(rewards.reward) < 10:
        return unknown("written-values", LOOKED_FOR, "fewer than 10 rewards were seen"), []
    warning = (
        one_value(decisions)
        or sentinel(rewards)
        or mean_among_whole_numbers(rewards)
        or repeated_value(rewards)
    )
    notes = [*negative_at_the_edge(rewards), *far_from_others(rewards)]
    if warning is None:
        notes += piled_at_an_end(rewards)
        notes += [*broken_among_whole_numbers(rewards), *zeros_amid_repeats_of_none(rewards)]
    if warning is not None:
        return Check("written-values", LOOKED_FOR, "found", warning.finding, warning=warning), notes
    said = "see the notes" if notes else "no single value stands out among the rewards"
    notes += [] if notes else zeros_at_the_edge(rewards)
    return Check("written-values", LOOKED_FOR, "not found", said), notes


def one_value(decisions: Decisions) -> LogWarning | None:
    """Warn if all rewards seen are the same."""
    counts = decisions.counts
    least, most = counts.least, counts.most
    missing = int(counts.rows.sum() - counts.seen.sum())
    if least != most or counts.seen.sum() < 10 or missing == 0:
        return None
    late = decisions.columns.feedback_time is not None
    remedy = (
        f"Say {option('empty_means', 0)} if so"
        + (f", of decisions old enough to know ({option('until')})." if late else ".")
        if least != 0.0
        else "Find out what is written when something happens."
    )
    together = (
        " The share back after some time is then rate times probability of arrival: the two cannot"
        " be separated, and arms that answer late look worse than they are."
        if late
        else ""
    )
    return LogWarning(
        "one-value",
        f"Every reward in this log is {show(float(least))}.",
        "A log that records only successes looks like this: then empty means 0, not missing, and"
        f" every rate, factor and mean here is invalid.{together}"
        if least != 0.0
        else "Nothing can be learned from rewards that are all 0.",
        remedy,
        {"value": float(least), "seen": int(counts.seen.sum()), "missing": missing},
        voids=True,
    )


def mean_among_whole_numbers(rewards: Rewards) -> LogWarning | None:
    """Warn if the only broken number among whole ones is the mean of these, or of its arm."""
    found = off_scale(rewards.reward)
    if found is not None and found.is_mean:
        start = f"{found.share:.1%} of the rewards are {show(found.value)}, the mean"
        return _mean_written(start, {"value": found.value, "share": found.share})
    if not (rewards.reward != np.rint(rewards.reward)).any():
        return None
    written, arms, part = arms_with_means(rewards.arm, rewards.reward)
    if not written or 2 * written < arms:
        return None
    start = f"In {written:,} of {arms:,} arms a value ({part:.1%} of them) is the mean"
    return _mean_written(start, {"arms": written, "share": part})


def broken_among_whole_numbers(rewards: Rewards) -> list[str]:
    """Return a note on the only broken number among whole ones: an outcome, or missing."""
    found = off_scale(rewards.reward)
    if found is None:
        return []
    return [
        f"{found.share:.1%} of the rewards are {show(found.value)}, the only one that is no whole"
        " number. If it was written in place of missing rewards, the rates here are too high and"
        " the means wrong; the values alone cannot tell."
    ]


def zeros_amid_repeats_of_none(rewards: Rewards) -> list[str]:
    """Return a note on exact zeros among values that hardly repeat, few of them below 0."""
    zero = rewards.values == 0.0
    times, others = int(rewards.times[zero].sum()), rewards.times[~zero]
    common = times >= max(OFTEN, OFTEN_SHARE * rewards.times.sum())
    if not common or len(others) < KINDS_OF_REPEATED or times < NEXT * others.max():
        return []
    return [
        f"{times / rewards.times.sum():.0%} of the rewards are exactly 0, among values that hardly"
        " repeat. If 0 can also mean that nobody answered, the rates here are too high and the"
        " means too low; the values alone cannot tell."
    ]


def _standing_out(rewards: Rewards) -> list[dict[str, Any]]:
    """Return values that occur far more often than the next, codes apart, and how often."""
    values, times, common = rewards.values, rewards.times, often(rewards)
    if len(values) < KINDS_OF_REPEATED:
        return []
    codes = {*far_places(rewards), *([0] if lone_negative(rewards) else [])}
    ranked = [i for i in np.argsort(-times, kind="stable")[:8].tolist() if i not in codes]
    found = []
    for rank, place in enumerate(ranked[:3]):
        after = int(times[ranked[rank + 1]]) if rank + 1 < len(ranked) else 0
        if common[place] and times[place] >= NEXT * after:
            share = float(times[place] / times.sum())
            found.append({"value": float(values[place]), "share": share, "next": after})
    return found


def piled_at_an_end(rewards: Rewards) -> list[str]:
    """Return a note on a value at either end that occurs far more often than any other."""
    ends = {float(rewards.values[0]), float(rewards.values[-1])} - {0.0}
    return [
        f"{facts['share']:.1%} of the rewards are exactly {show(facts['value'])}, and none is"
        f" {'higher' if facts['value'] == rewards.values[-1] else 'lower'}. Are rewards cut off"
        " there, or was it written in place of missing ones? Then rates are too high or means"
        " wrong; if it is an outcome, all is well. The values cannot tell."
        for facts in _standing_out(rewards)
        if facts["value"] in ends
    ]


def repeated_value(rewards: Rewards) -> LogWarning | None:
    """Warn of one value that occurs far more often than any other, or of means of arms."""
    if len(rewards.values) < KINDS_OF_REPEATED:
        return None
    repeated: LogWarning | None = None
    ends = rewards.values[0], rewards.values[-1]
    for facts in _standing_out(rewards):
        value, share = facts["value"], facts["share"]
        others = rewards.reward[rewards.reward != value]
        if abs(value - others.mean()) < 0.001 * others.std():
            return _mean_written(f"{share:.1%} of the rewards are {show(value)}, the mean", facts)
        if value != 0.0:
            if value not in ends:
                repeated = repeated or _repeated(value, share, facts)
            continue
        sides = [(rewards.reward < 0.0).mean(), (rewards.reward > 0.0).mean()]
        if min(sides) >= OFTEN_SHARE and not _in_cents(rewards):
            return _zeros(share, facts)
    return _means_of_arms(rewards) or repeated


def _in_cents(rewards: Rewards) -> bool:
    """Return whether rewards have two decimals at most, like money: then 0 is an amount too."""
    return bool(np.allclose(100.0 * rewards.values, np.rint(100.0 * rewards.values), atol=1e-6))


def _repeated(value: float, share: float, facts: dict[str, Any]) -> LogWarning:
    return LogWarning(
        "repeated-value",
        f"{share:.1%} of the rewards are exactly {show(value)}, many times as many as of any other"
        " value.",
        "If it was written in place of missing rewards, rates are too high and means wrong.",
        "Find out what writes it, and leave the reward empty where it is missing.",
        facts,
    )


def _zeros(share: float, facts: dict[str, Any]) -> LogWarning:
    return LogWarning(
        "zeros-look-imputed",
        f"{share:.1%} of the rewards are exactly 0, amid values on either side that hardly repeat.",
        "If 0 was written in place of missing rewards, the rates here are too high, the means are"
        " biased towards 0, and rarely seen arms look worse than they are.",
        "Find out what writes the 0, and leave the reward empty where nobody answered.",
        facts,
    )


def _mean_written(start: str, facts: dict[str, Any]) -> LogWarning:
    return LogWarning(
        "mean-written",
        f"{start} of the others.",
        "It looks as if missing rewards were replaced by the mean: rates are then too high, and"
        " every interval of a mean too narrow.",
        "Leave the reward empty where it is missing.",
        facts,
    )


def _means_of_arms(rewards: Rewards) -> LogWarning | None:
    """Warn if the commonest reward of most arms is the mean of that arm's others."""
    sizes = np.bincount(rewards.arm)
    large = np.argsort(-sizes, kind="stable")[:ARMS]
    large = large[sizes[large] >= OFTEN]
    order = np.argsort(rewards.arm, kind="stable")
    ends = np.cumsum(sizes)
    arms, written, share = len(large), 0, []
    for arm in large.tolist():
        group = rewards.reward[order[ends[arm] - sizes[arm] : ends[arm]]]
        values, times = np.unique(group, return_counts=True)
        top = int(np.argmax(times))
        others = group[group != values[top]]
        if times[top] < max(10, OFTEN_SHARE * len(group)) or len(others) < 2:
            continue
        if abs(values[top] - others.mean()) < 0.001 * others.std():
            written += 1
            share.append(times[top] / len(group))
    if not written or 2 * written < arms:
        return None
    part = float(np.mean(share))
    start = f"In {written:,} of {arms:,} arms the commonest reward ({part:.1%} of them) is the mean"
    return _mean_written(start, {"arms": written, "share": part})


def zeros_at_the_edge(rewards: Rewards) -> list[str]:
    """Return a note on zeros that may be outcomes or missing: values alone cannot tell."""
    zeros = float((rewards.reward == 0.0).mean())
    if zeros < 0.01 or rewards.values[0] < 0.0:
        return []
    return [
        f"{zeros:.0%} of the rewards are 0. If 0 can also mean that nobody answered, the rates here"
        " are too high and the means too low; the values alone cannot tell."
    ]
