"""Rewards that stand for missing ones: a single value, codes, means, zeros."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.columns import decisions_sql
from halfseen.logs.counts import Decisions
from halfseen.logs.source import filled
from halfseen.logs.warnings.log_warning import Check, LogWarning, unknown
from halfseen.logs.warnings.off_scale_values import (
    OFTEN,
    OFTEN_SHARE,
    arms_with_means,
    off_scale,
)
from halfseen.tables import show

SAMPLE = 200_000  # rewards examined
KINDS_OF_SENTINEL, KINDS_OF_REPEATED = 6, 50  # distinct values needed to call one of them unusual
ARMS = 500  # arms with the most rewards whose means are searched for
CODES = {-1.0, -9.0, -99.0, -999.0, -9999.0}  # usually written for missing
AMOUNTS = 20  # so many whole numbers, or such with gaps, look like amounts with a fee beside them
NEXT = 10.0  # how many times as common as the next value it must be
LOOKED_FOR = "values written for missing ones"


class Rewards(NamedTuple):
    """Rewards seen, or a part of them.

    Attributes
    ----------
    values, times
        The distinct values, ascending, and how often each occurs.
    arm, reward
        Each reward looked at with its arm's number.
    """

    values: Vector
    times: NDArray[np.int64]
    arm: NDArray[np.int64]
    reward: Vector

    @property
    def cut(self) -> tuple[float, float] | None:
        """The 0.5% and 99.5% quantiles, at which rewards are cut in tests."""
        if not len(self.reward):
            return None
        low, high = np.quantile(self.reward, [0.005, 0.995]).tolist()
        return (low, high) if low < high else None


def sample_rewards(decisions: Decisions) -> Rewards:
    """Return the rewards seen, of a long log a part of them."""
    seen, log, sql = int(decisions.counts.seen.sum()), decisions.log, decisions.sql
    if seen > 1.5 * SAMPLE:
        part = f"TABLESAMPLE system({100.0 * SAMPLE / seen!r}%) REPEATABLE (1)"
        some = replace(log, relation=f"(SELECT * FROM {log.relation} {part})")
        sql, _ = decisions_sql(some, decisions.columns)
    found = log.query(
        f"SELECT hash(action) AS arm, reward FROM {sql} WHERE reward IS NOT NULL AND"
        " action IS NOT NULL"
    )
    return rewards_of(np.asarray(found["arm"]), filled(found["reward"]))


def rewards_of(arms: NDArray[Any], reward: Vector) -> Rewards:
    """Return rewards with their distinct values counted."""
    _, arm = np.unique(arms, return_inverse=True)
    values, times = np.unique(reward, return_counts=True)
    return Rewards(values, times, arm, reward)


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
        f"Say --empty-means 0 if so{', of decisions old enough to know (--until)' if late else ''}."
        if least != 0.0
        else "Find out what is written when something happens."
    )
    together = (
        " What is back after some time is then rate times chance to have arrived: the two cannot be"
        " told apart, and arms that answer late look worse than they are."
        if late
        else ""
    )
    return LogWarning(
        "one-value",
        f"Every reward in this log is {show(float(least))}.",
        "A log that only keeps what happened looks like this: then empty means 0, not missing, and"
        f" no rate, factor or mean here means anything.{together}"
        if least != 0.0
        else "Nothing can be learned from rewards that are all 0.",
        remedy,
        {"value": float(least), "seen": int(counts.seen.sum()), "missing": missing},
        voids=True,
    )


def _often(rewards: Rewards) -> NDArray[np.bool_]:
    return np.asarray(rewards.times >= max(OFTEN, OFTEN_SHARE * rewards.times.sum()))


def _sentinels(rewards: Rewards) -> list[int]:
    """Return the places of values far outside all others, at either end."""
    values, often = rewards.values, _often(rewards)
    if len(values) < KINDS_OF_SENTINEL:
        return []
    found = []
    for place, others in ((0, values[1:]), (len(values) - 1, values[:-1])):
        value = values[place]
        low, high = np.quantile(others, [0.05, 0.95])
        gap = np.abs(others - value).min()
        if often[place] and value != 0.0 and gap >= 3.0 * (high - low):
            found.append(place)
    return found


def _codes(rewards: Rewards) -> list[int]:
    """Return the places of values far outside all others that look like a code."""
    found = ((i, float(rewards.values[i])) for i in _sentinels(rewards))
    return [i for i, value in found if value < 0.0 or set(f"{value:.0f}") == {"9"}]


def far_from_others(rewards: Rewards) -> list[str]:
    """Return a note on a large value far outside all others that does not look like a code."""
    return [
        f"{rewards.times[i] / rewards.times.sum():.1%} of the rewards are"
        f" {show(float(rewards.values[i]))}, far from every other value. Is it a code for a missing"
        " reward, or an outcome such as a prize or a timeout? If it is a code, rates are too high"
        " and every mean is wrong; the values cannot tell."
        for i in sorted(set(_sentinels(rewards)) - set(_codes(rewards)))
    ]


def _lone_negative(rewards: Rewards) -> bool:
    """Return whether the least value is common and the only one below 0, among three or more."""
    values = rewards.values
    enough = len(values) >= 3
    return bool(enough and values[0] < 0.0 <= values[1] and _often(rewards)[0])


def sentinel(rewards: Rewards) -> LogWarning | None:
    """Warn of a code that stands for missing, or ask whether a usual code is one."""
    found = _codes(rewards)
    if not found:
        return _question(rewards) if _coded_negative(rewards) else None
    place = max(found, key=lambda i: int(rewards.times[i]))
    value, share = float(rewards.values[place]), rewards.times[place] / rewards.times.sum()
    return LogWarning(
        "sentinel",
        f"{share:.1%} of the rewards are {show(value)}, far from every other value.",
        "It looks like a code for a missing reward. Taken as a number, it makes rates too high and"
        " every mean wrong.",
        f"Leave the reward empty where {show(value)} means that it is missing.",
        {"value": value, "share": float(share)},
        voids=True,
    )


def _coded_negative(rewards: Rewards) -> bool:
    """Return whether a lone negative value is a usual code, and no fee beside whole amounts."""
    values = rewards.values
    enough = len(values) >= KINDS_OF_SENTINEL and _lone_negative(rewards)
    if not enough or float(values[0]) not in CODES:
        return False
    spread = len(values) > AMOUNTS or float(np.median(np.diff(values[1:]))) > 1.0
    amounts = spread and bool((values == np.rint(values)).all())
    return not amounts or bool(values[1] == 0.0 and _often(rewards)[1])


def _question(rewards: Rewards) -> LogWarning:
    value, share = float(rewards.values[0]), float(rewards.times[0] / rewards.times.sum())
    return LogWarning(
        "sentinel",
        f"{share:.1%} of the rewards are {show(value)}, the only value below 0. Is it a code for a"
        " missing reward, or an outcome such as a cost without a sale? The values cannot tell.",
        "If it is a code, rates are too high and every mean is wrong; if it is an outcome, all is"
        " well.",
        f"Leave the reward empty where {show(value)} means that it is missing.",
        {"value": value, "share": share},
    )


def negative_at_the_edge(rewards: Rewards) -> list[str]:
    """Return a note on a lone negative value that is no usual code: an outcome, or missing."""
    if not _lone_negative(rewards) or 0 in _sentinels(rewards) or _coded_negative(rewards):
        return []
    return [str(_question(rewards))]


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
    values, times, often = rewards.values, rewards.times, _often(rewards)
    if len(values) < KINDS_OF_REPEATED:
        return []
    codes = {*_sentinels(rewards), *([0] if _lone_negative(rewards) else [])}
    ranked = [i for i in np.argsort(-times, kind="stable")[:8].tolist() if i not in codes]
    found = []
    for rank, place in enumerate(ranked[:3]):
        after = int(times[ranked[rank + 1]]) if rank + 1 < len(ranked) else 0
        if often[place] and times[place] >= NEXT * after:
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
        " drawn to 0, and arms that are seldom seen look bad for no reason.",
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
