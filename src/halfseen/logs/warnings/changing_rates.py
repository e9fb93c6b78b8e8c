"""Rates that change over time, fall towards the end of the log, or follow the week."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from halfseen.checks import Vector
from halfseen.logs.counts import LEAST_DAYS, Binned, Decisions
from halfseen.logs.drift import Course, Whole
from halfseen.logs.group_sums import sum_by
from halfseen.logs.mature_rows import delay_looks_the_same, mature_sql, within
from halfseen.logs.maturity import Maturity
from halfseen.logs.option_names import option
from halfseen.logs.time_bins import DAY, WEEKDAYS, moment_in_words
from halfseen.logs.warnings.log_warning import Check, LogWarning, judged, unknown
from halfseen.logs.warnings.tied_units import Entries, tie
from halfseen.logs.weekly_cycle import find_weekly_cycle
from halfseen.tables import brief, listed

MATTERS = 1.05  # ratio of the highest to the lowest rate from which a change matters
UNITS_IN_DESIGN = 500_000  # rows that the design effect is computed from, at most
BLOCK = 4  # consecutive bins in which rows of a unit count as one cluster
DRIFT = "changes of the rate over time"
WEEKLY = "a weekly cycle of the rate"
ZEROS = "more zeros where fewer rewards come back"


def unit_design(decisions: Decisions, maturity: Maturity | None) -> float:
    """Return the design effect of counts when the rows of a unit are correlated.

    It is the larger of two: the variance of a unit's rows within a few bins, and that of what a
    unit adds to the score of a step at the eighths of the log. The latter is large where units
    come and go, small where they stay: then they add as much before a step as after it.
    """
    bins = decisions.bins
    if decisions.columns.unit is None or bins is None or not bins.step > 0.0:
        return 1.0
    part = max(1, int(decisions.counts.rows.sum()) // UNITS_IN_DESIGN)
    found = decisions.log.query(
        "SELECT hash(unit) AS unit, hash(action) AS arm, bin, count(*) AS n, count(*) FILTER (seen)"
        f" AS k FROM {mature_sql(decisions, maturity)} WHERE unit IS NOT NULL AND bin IS NOT NULL"
        f" AND action IS NOT NULL AND hash(unit) % {part} = 0 GROUP BY ALL"
    )
    n, k = (np.asarray(found[x], dtype=float) for x in ("n", "k"))
    if not len(n):
        return 1.0
    place = np.asarray(found["bin"]).astype(np.int64)
    _, arm = np.unique(np.asarray(found["arm"]), return_inverse=True)
    _, unit = np.unique(np.asarray(found["unit"]), return_inverse=True)
    weekdays = bins.days >= 14 and not bins.weekly
    _, stratum = np.unique(
        arm * 7 + bins.weekday_of(place) if weekdays else arm, return_inverse=True
    )
    rate = (sum_by(stratum, k) / sum_by(stratum, n))[stratum]
    block = unit.astype(np.int64) * (bins.count // BLOCK + 1) + bins.bin_of(place) // BLOCK
    _, key = np.unique(block, return_inverse=True)
    expected = float((n * rate * (1.0 - rate)).sum())
    if not expected:
        return 1.0
    within_bins = float((sum_by(key, k - n * rate) ** 2).sum()) / expected
    return max(within_bins, design_of_steps(unit, stratum, place, n, k))


def design_of_steps(unit: Whole, stratum: Whole, place: Whole, n: Vector, k: Vector) -> float:
    """Return the mean design effect of steps at the eighths of a log, clustered by unit."""
    rate = (sum_by(stratum, k) / sum_by(stratum, n))[stratum]
    rows = np.cumsum(sum_by(place, n))
    ratios = []
    for cut in np.unique(np.searchsorted(rows, rows[-1] * np.arange(1, 8) / 8.0)):
        after = (place > cut).astype(float)
        part = after - (sum_by(stratum, n * after) / sum_by(stratum, n))[stratum]
        expected = float((n * rate * (1.0 - rate) * part**2).sum())
        if expected:
            scores = sum_by(unit, (k - n * rate) * part)
            ratios.append(float((scores**2).sum()) / expected)
    return float(np.mean(ratios)) if ratios else 1.0


def look_at_changes(
    courses: Sequence[Course], decisions: Decisions, maturity: Maturity | None, dated: bool
) -> Check:
    """Look for changes of the rate at a fixed mix of arms."""
    if decisions.columns.time is None:
        return unknown("drift", DRIFT, f"name the column with {option('time')}")
    tested = [course for course in courses if course.p is not None]
    if not tested:
        return unknown("drift", DRIFT, "too few rows")
    p = min(course.p for course in tested if course.p is not None)
    moved = [course for course in tested if course.changes]
    whole = next((course for course in moved if course.name is None), None)
    arms = [course for course in moved if course.name is not None]
    lately = ""
    if maturity is not None and maturity.settled > 0.0:
        until = moment_in_words(maturity.end - maturity.settled, dated, DAY)
        lately = f"changes after {until} cannot be seen yet: younger rows are still waiting"
    if not moved:
        return Check("drift", DRIFT, "not found", lately, p)
    if whole is not None and maturity is None and _falls_at_end(whole):
        warning = _fall(whole, dated)
    else:
        warning = _change(whole, arms, maturity, dated, lately)
    ratios = [max(course.levels) / max(min(course.levels), 1e-12) for course in moved]
    return judged("drift", DRIFT, p, warning, matters=max(ratios) >= MATTERS, not_found="")


def _falls_at_end(course: Course) -> bool:
    levels = course.levels
    return levels[-1] < levels[-2] and levels[-1] == min(levels)


def _facts(course: Course | None, p: float | None) -> dict[str, object]:
    if course is None:
        return {"p": p}
    starts = [float(course.starts[i]) for i in course.changes]
    return {"p": p, "changes": starts, "levels": list(course.levels)}


def _fall(course: Course, dated: bool) -> LogWarning:
    falls = len(course.levels) - 1
    while falls > 1 and course.levels[falls - 1] < course.levels[falls - 2]:
        falls -= 1  # consecutive steps down count as one fall
    place = course.changes[falls - 1]
    since, start = course.moment(place, dated), _start(course, place, dated)
    return LogWarning(
        "falls-at-end",
        "The share seen falls towards the end of the log, from"
        f" {course.levels[falls - 1]:.0%} to {course.levels[-1]:.0%} since {since}.",
        "There are two explanations, which the log cannot distinguish: rewards of recent rows are"
        " pending, or fewer come.",
        f"If they take time, name {option('feedback_time')}, or leave young rows out"
        f" ({option('until', start)}). If not, audit the time since ({option('since', start)}).",
        _facts(course, course.p),
    )


def _start(course: Course, place: int, dated: bool) -> str:
    """Write where a slice of time begins as an option takes it."""
    return course.moment(place, dated) if dated else f"{course.starts[place]:.15g}"


def _change(
    whole: Course | None,
    arms: list[Course],
    maturity: Maturity | None,
    dated: bool,
    lately: str,
) -> LogWarning:
    names = [str(course.name) for course in arms]
    many = "1 arm" if len(arms) == 1 else f"{len(arms):,} arms"
    age = within(maturity)
    said = [f"The share seen{age} of {many} changed: {listed(names)}."] if arms else []
    last = whole or arms[0]
    since = _start(last, last.changes[-1], dated)
    if whole is not None:
        said.insert(
            0,
            f"At the same mix of arms, the share seen{age} was {whole.in_words(dated)}.",
        )
    else:
        said.append("At the same mix of arms, the overall rate did not.")
    return LogWarning(
        "drift",
        " ".join(said),
        "The rates here are averages over time, and what comes next is more like the last ones."
        + delay_looks_the_same(maturity, "Times")
        + (f" Also, {lately}." if lately else ""),
        f"For what comes next, audit the time since ({option('since', since)}).",
        _facts(whole, last.p) | {"arms": names},
    )


def look_at_weeks(
    cube: Binned | None,
    decisions: Decisions,
    maturity: Maturity | None,
    dated: bool,
    least: float,
) -> Check:
    """Look for weekdays on which less comes back."""
    if not dated:
        return unknown("weekly", WEEKLY, "times are no dates" if cube else "there are no times")
    found = find_weekly_cycle(cube, decisions.bins, least)
    if found is None:
        return unknown("weekly", WEEKLY, "less than three weeks, or too few rows")
    order = np.argsort(found.levels, kind="stable")
    ranked = [found.levels[i] for i in order]
    gaps = [b - a for a, b in pairwise(ranked)]
    cut = int(np.argmax(gaps)) + 1
    low, high = order[:cut], order[cut:]
    rates = [float(np.mean([found.levels[i] for i in part])) for part in (low, high)]
    few = len(low) <= len(high)
    named = " and ".join(
        part for part in _in_a_row(sorted(found.days[i] for i in (low if few else high)))
    )
    against = (rates[0], rates[1]) if few else (rates[1], rates[0])
    arm = None if found.arm is None else decisions.counts.names[found.arm]
    of = "" if arm is None else f" rewards of “{brief(arm, 40)}”"
    warning = LogWarning(
        "weekly",
        f"{'Fewer' if few else 'More'}{of} come back{within(maturity)} from decisions made on"
        f" {named} ({against[0]:.0%} against {against[1]:.0%}).",
        "A whole number of weeks averages this out; a bandit that learns from a few days does not."
        + delay_looks_the_same(maturity, "Days"),
        "Compare and retrain on whole weeks.",
        {
            "p": found.p,
            "arm": arm,
            "days": [WEEKDAYS[i] for i in found.days],
            "levels": list(found.levels),
        },
    )
    matters = ranked[-1] >= MATTERS * max(ranked[0], 1e-12)
    return judged(
        "weekly", WEEKLY, found.p, warning, matters=matters, not_found="weekdays do not differ"
    )


def _in_a_row(days: list[int]) -> list[str]:
    names = [WEEKDAYS[i] for i in days]
    return [", ".join(names[:-1]), names[-1]] if len(names) > 2 else names


def look_at_zeros(cube: Binned | None, decisions: Decisions, inflation: float) -> Check:
    """Look for days on which fewer rewards come back and more of them are 0."""
    from scipy.special import ndtr

    if decisions.columns.reward is None or cube is None or decisions.bins is None:
        return unknown(
            "zeros-follow", ZEROS, f"name the columns with {option('reward')} and {option('time')}"
        )
    bins = decisions.bins
    if 0 < bins.days < LEAST_DAYS:
        return unknown("zeros-follow", ZEROS, "too few days")
    zeros, seen = int(cube.zeros.sum()), int(cube.seen.sum())
    if not 0 < zeros < seen or seen == cube.rows.sum():
        said = "no reward is missing, or none or all of those seen are 0"
        return unknown("zeros-follow", ZEROS, said)
    day = bins.day_of(cube.place) if bins.days else cube.place
    week = bins.week_of(cube.place) if bins.days else cube.place // 8
    pair, key = np.unique(np.stack([cube.arm, day, week]), axis=1, return_inverse=True)
    n, k, s = (sum_by(key, v) for v in (cube.rows, cube.seen, cube.zeros))
    _, unit = np.unique(pair[1], return_inverse=True)
    _, cell = np.unique(pair[0] * (int(pair[2].max()) + 1) + pair[2], return_inverse=True)
    several = sum_by(unit, n)[unit] > 1.0
    if not several.any():
        return unknown("zeros-follow", ZEROS, "no day has several decisions")
    entries = Entries(unit[several], cell[several], *(np.asarray(x[several]) for x in (n, k, s)))
    z, days = tie(entries, by_size=False)
    what = "days" if bins.days else "stretches of time"
    if days < LEAST_DAYS:
        said = f"most of what could show it comes from fewer than {LEAST_DAYS:.0f} {what}"
        return unknown("zeros-follow", ZEROS, said)
    p = float(ndtr(z / inflation**0.5))
    warning = LogWarning(
        "zeros-follow",
        f"On {what} on which fewer rewards come back, more of them are 0.",
        "Either some 0 stand for no answer, so that rates are too high and means too low, or both"
        " have a common cause such as the weekday.",
        "Find out what writes the 0, and leave the reward empty where nobody answered.",
        {"z": z, "p": p},
    )
    said = "the share of zeros does not rise when fewer rewards come back"
    return judged("zeros-follow", ZEROS, p, warning, matters=True, not_found=said)
