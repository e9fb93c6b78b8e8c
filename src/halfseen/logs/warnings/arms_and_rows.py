"""Arms and rows without usable data: never seen, hardly seen, unnamed, contradictory."""

from __future__ import annotations

import numpy as np

from halfseen.logs.counts import Counts
from halfseen.logs.warnings.log_warning import LogWarning
from halfseen.tables import listed

FEW = 10


def never_seen(counts: Counts) -> list[LogWarning]:
    """Warn of arms whose reward was never seen."""
    arms = [counts.names[i] for i in np.flatnonzero(counts.seen == 0)]
    if not arms:
        return []
    return [
        LogWarning(
            "never-seen",
            f"{_arms(len(arms))} played but never seen: {listed(arms)}.",
            "Nothing can be learned there, and the factor is for the other arms only. Where a"
            " rate is needed nonetheless, as by “invest”, it is borrowed from the others.",
            "Collect some feedback there, or leave these decisions out.",
            {"arms": len(arms), "rows": int(counts.rows[counts.seen == 0].sum())},
        )
    ]


def few_rows(counts: Counts) -> list[LogWarning]:
    """Warn of arms seen so rarely that their 1/p is very uncertain."""
    rare = (counts.seen > 0) & (counts.seen < FEW) & (counts.seen < counts.rows)
    arms = [counts.names[i] for i in np.flatnonzero(rare)]
    if not arms:
        return []
    return [
        LogWarning(
            "few-seen",
            f"{_arms(len(arms))} seen fewer than {FEW} times and not always: {listed(arms)}.",
            "1/p of such an arm is very uncertain, so the effective dimension is too.",
            "Read its interval, not its value, or wait for more rows.",
            {"arms": len(arms)},
        )
    ]


def never_chosen(counts: Counts) -> list[LogWarning]:
    """Warn of rows that say their arm could not have been chosen."""
    arms = [counts.names[i] for i in np.flatnonzero(counts.impossible)]
    if not arms:
        return []
    rows = int(counts.impossible.sum())
    return [
        LogWarning(
            "propensity-zero",
            f"{rows:,} rows have propensity 0, less or above 1, of {_arms(len(arms), '')}:"
            f" {listed(arms)}.",
            "An arm that is chosen with probability 0 cannot appear in a log: the propensities are"
            " wrong, and so is anything weighted by their inverse.",
            "Record the propensity at the moment of choosing, or leave the column out.",
            {"rows": rows, "arms": len(arms)},
        )
    ]


def untidy(counts: Counts) -> list[LogWarning]:
    """Warn of rows that were left out or contradict themselves."""
    found = []
    if counts.unnamed:
        found.append(
            LogWarning(
                "no-action",
                f"{counts.unnamed:,} rows name no arm.",
                "They are left out.",
                "Find out what was played in them.",
                {"rows": counts.unnamed},
            )
        )
    contradicting = int(counts.contradicting.sum())
    if contradicting:
        found.append(
            LogWarning(
                "observed-without-reward",
                f"{contradicting:,} rows are marked as observed but have no reward.",
                "They count as not seen.",
                "Correct the mark or the reward.",
                {"rows": contradicting},
            )
        )
    return found


def _arms(count: int, verb: str = " was| were") -> str:
    one, _, many = verb.partition("|")
    return f"1 arm{one}" if count == 1 else f"{count:,} arms{many}"
