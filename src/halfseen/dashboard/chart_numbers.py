"""The arms drawn over time, and the data of charts as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from halfseen.dashboard.log_summary import LogSummary
from halfseen.dashboard.loop_figures import duration, share_text, text
from halfseen.dashboard.seen_course import LINES
from halfseen.explorer.arm_labels import arm_labels

AGES = 24  # bars of the pending decisions


class CourseArms(NamedTuple):
    """The arms drawn over time.

    Attributes
    ----------
    drawn
        Their names.
    known
        Name and label of every arm with a time series, in the order of the loop.
    chosen
        Whether the user chose them.
    trouble
        What is wrong with the choice, if anything.
    """

    drawn: list[str]
    known: list[tuple[str, str]]
    chosen: bool
    trouble: str


def course_arms(
    summary: LogSummary | None, arms: Sequence[dict[str, Any]], asked: Sequence[str] = ()
) -> CourseArms:
    """Return the arms the user chose, or those with most decisions, at most seven."""
    course = [] if summary is None else summary.course
    plays: Counter[str] = Counter()
    for row in course:
        plays[row["arm"]] += row["decisions"]
    places = {str(arm["arm"]): place for place, arm in enumerate(arms)}
    names = sorted(plays, key=lambda name: places.get(name, len(places)))
    chosen = [name for name in names if name in asked]
    trouble = []
    if course and (unknown := [name for name in asked if name not in plays]):
        trouble.append(f"There is no time series of an arm {unknown[0][:128]!r}.")
    if len(chosen) > LINES:
        trouble.append(f"{LINES} arms can be drawn at once: these are the first of those chosen.")
    most = {name for name, _ in plays.most_common(LINES)}
    drawn = chosen[:LINES] or [name for name in names if name in most]
    known = list(zip(names, arm_labels(names), strict=True))
    return CourseArms(drawn, known, bool(chosen), " ".join(trouble))


def course_table(summary: LogSummary | None, arms: CourseArms) -> dict[str, Any]:
    """Return the time series as a table: a row for each interval of time, a column for each arm."""
    course = [] if summary is None else summary.course
    shown = {
        (row["at"], row["arm"]): f"{share_text(row['share'])}"
        f" ({share_text(row['low'])} to {share_text(row['high'])})"
        for row in course
        if row["arm"] in arms.drawn
    }
    labels = dict(arms.known)
    times = sorted({at for at, _ in shown})
    return {
        "columns": [labels[name] for name in arms.drawn],
        "rows": [
            (
                f"{datetime.fromtimestamp(at / 1000.0, UTC):%Y-%m-%d %H:%M:%S}",
                [shown.get((at, name), "–") for name in arms.drawn],
            )
            for at in times
        ],
    }


def pending_table(
    ages: list[float], summary: LogSummary | None, window: float
) -> list[tuple[str, str, str]]:
    """Return age, number pending and share of rewards back by then, for each bar of the chart."""
    counts, edges = np.histogram(np.minimum(ages, window), bins=AGES, range=(0.0, window))
    delays = [] if summary is None else summary.delays
    shares = np.array([0.0] + [row["share"] for row in delays])
    end = window if summary is None else summary.within or window
    back = shares[np.searchsorted([row["delay"] for row in delays], edges[1:], side="right")]
    return [
        (
            f"{duration(edges[k])} to {duration(edges[k + 1])}",
            text(int(count)),
            share_text(float(back[k]) if delays and edges[k + 1] <= end else None),
        )
        for k, count in enumerate(counts)
    ]
