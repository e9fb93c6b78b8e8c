"""Whether rewards that come late differ from those that come soon."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfseen.logs.counts import Decisions
from halfseen.logs.mature_rows import cut_sql
from halfseen.logs.maturity import Maturity
from halfseen.logs.option_names import option
from halfseen.logs.queries import filled, text
from halfseen.logs.time_bins import BINS, DAY, moment_in_words
from halfseen.logs.warnings.arm_by_arm import DETECTABLE, FOLLOWED, smallest, two_sided
from halfseen.logs.warnings.log_warning import SURE, Check, LogWarning, judged, unknown
from halfseen.tables import brief, listed, show

ROWS = 5_000_000  # rows that enter the test at most
PER_BIN = 10.0  # rewards of an arm that a slice of time should have
FEW_BINS = 8  # with fewer slices, only mature rows enter
PER_ARM = 100.0  # rewards of an arm that a test of its own needs
CONTEXTS = 100.0  # rewards of an arm that a context needs to be a stratum of its own
MATTERS = 0.05  # correlation from which a difference matters
COMPLETE = 0.99  # share of all rewards at which a mean counts as final
LOOKED_FOR = "late rewards that differ from early ones"


@dataclass(frozen=True)
class Strata:
    """Slices of time within which late and early rewards are compared."""

    width: float
    count: int
    last: int


def slices(decisions: Decisions, maturity: Maturity) -> Strata:
    """Return slices of a day or of several where there are enough rewards, else equal ones."""
    counts, bins = decisions.counts, decisions.bins
    assert bins is not None
    span = max(maturity.end - bins.origin, 1e-300)
    most = float(counts.seen.sum()) / len(counts) / PER_BIN
    if maturity.dated and span >= 14 * DAY:
        width = max(1, math.ceil(span / DAY / BINS)) * DAY
        if most >= span / width / 2.0:
            count = math.ceil(span / width)
            return Strata(width, count, count - 3)
    count = int(np.clip(most, 1, BINS))
    return Strata(span / count, count, count - 3)


def look_at_delays(
    decisions: Decisions,
    maturity: Maturity | None,
    cut: tuple[float, float] | None,
    inflation: float,
) -> Check:
    """Look for late rewards that differ from early ones of the same arm and time."""
    columns, bins = decisions.columns, decisions.bins
    for field in ("reward", "time", "feedback_time"):
        if getattr(columns, field) is None:
            said = f"name the column with {option(field)}"
            return unknown("late-differ", LOOKED_FOR, said)
    if maturity is None or bins is None:
        return unknown("late-differ", LOOKED_FOR, "no reward has a time of feedback")
    rows = _rows(decisions, maturity, cut)
    keys = "action, context, slice"
    strata = (
        f"(SELECT {keys}, count(*) AS m, avg(x) AS mx, avg(y) AS my, regr_sxy(y, x) AS sxy,"
        f" regr_sxx(y, x) AS sxx, regr_syy(y, x) AS syy FROM rewards GROUP BY {keys}"
        " HAVING count(*) > 1)"
    )
    sums = _sums(decisions, rows, strata)
    whole = sums[0]
    if not whole.variance > 0.0 or whole.rewards < 20:
        return unknown("late-differ", LOOKED_FOR, "too few rewards differ in delay and value")
    arms = [each for each in sums[1:] if each.rewards >= PER_ARM and each.variance > 0.0]
    p, which = smallest(
        two_sided(whole.z(inflation)), [two_sided(each.z(inflation)) for each in arms]
    )
    told = whole if which is None else arms[which]
    slow = fast = math.nan
    if p < SURE:
        slow, fast = _fifths(decisions, rows, strata, told.arm)
    opposite = [
        str(each.arm)
        for each in arms
        if each.sxy * told.sxy < 0.0
        and len(arms) * two_sided(each.z(inflation)) < SURE
        and abs(each.correlation) >= MATTERS
    ]
    z = told.z(inflation)
    facts = {"z": z, "p": p, "rewards": int(told.rewards), "arm": told.arm, "opposite": opposite}
    by_day = maturity.dated and columns.context is None
    warning = _warning(maturity, told.correlation, (slow, fast), facts, by_day)
    said = (
        f"a correlation of {DETECTABLE / math.sqrt(whole.rewards):.2g} between reward and delay"
        f"{', the same in all arms,' if len(decisions.counts) > 1 else ''} would have been found"
    )
    matters = abs(told.correlation) >= MATTERS
    return judged("late-differ", LOOKED_FOR, p, warning, matters=matters, not_found=said)


@dataclass(frozen=True)
class Sums:
    """Sums over strata of squares and products about the strata's means.

    Attributes
    ----------
    arm
        The arm they are of; None for all arms.
    rewards
        How many rewards.
    sxy, sxx, syy
        Sums for reward and delay, delay, and reward.
    variance
        The variance of `sxy` if delay and reward are independent.
    """

    arm: str | None
    rewards: float
    sxy: float
    sxx: float
    syy: float
    variance: float

    def z(self, inflation: float) -> float:
        """Return `sxy` in standard errors."""
        return self.sxy / math.sqrt(self.variance * inflation)

    @property
    def correlation(self) -> float:
        """The correlation of reward and delay within strata."""
        return self.sxy / math.sqrt(self.sxx * self.syy)


def _sums(decisions: Decisions, rows: str, strata: str) -> list[Sums]:
    """Return the sums of all arms, then those of the arms with the most rewards.

    Rows of a unit may go together: with units, a variance is the larger of that of independent
    rows and of independent units.
    """
    names = "m, sxy, sxx, syy, v"
    added = ", ".join(f"sum({name}) AS {name}" for name in names.split(", "))
    found = decisions.log.query(
        f"WITH rewards AS {rows}, arms AS MATERIALIZED (SELECT action, sum(m) AS m, sum(sxy) AS"
        " sxy, sum(sxx) AS sxx, sum(syy) AS syy, sum(sxx * syy / (m - 1)) AS v"
        f" FROM {strata} GROUP BY action) SELECT NULL AS arm, {added} FROM arms UNION ALL"
        f" (SELECT CAST(action AS VARCHAR) AS arm, {names} FROM arms"
        f" ORDER BY m DESC, action LIMIT {FOLLOWED})"
    )
    numbers = np.array([filled(found[name]) for name in names.split(", ")]).T.tolist()
    arms: list[str | None] = [None, *map(str, np.asarray(found["arm"])[1:].tolist())]
    sums = [Sums(arm, *row) for arm, row in zip(arms, numbers, strict=True)]
    if decisions.columns.unit is None:
        return sums
    followed = ", ".join(text(str(each.arm)) for each in sums[1:]) or "NULL"
    clustered = decisions.log.query(
        f"WITH rewards AS {rows}, strata AS {strata}, units AS MATERIALIZED (SELECT action, unit,"
        " sum((y - my) * (x - mx)) AS q FROM rewards JOIN strata USING (action, context, slice)"
        " GROUP BY action, unit) SELECT NULL AS arm, sum(q * q) AS v FROM (SELECT sum(q) AS q FROM"
        " units GROUP BY unit) UNION ALL SELECT CAST(action AS VARCHAR) AS arm, sum(q * q) AS v"
        f" FROM units WHERE CAST(action AS VARCHAR) IN ({followed}) GROUP BY action"
    )
    variances = filled(clustered["v"]).tolist()
    of = dict(zip([None, *map(str, np.asarray(clustered["arm"])[1:])], variances, strict=True))
    return [replace(each, variance=max(each.variance, of.get(each.arm, 0.0))) for each in sums]


def _rows(decisions: Decisions, maturity: Maturity, cut: tuple[float, float] | None) -> str:
    """Return SQL for rewards with the logarithm of their delay, arm, context and slice of time."""
    counts, columns, bins = decisions.counts, decisions.columns, decisions.bins
    assert bins is not None
    plan = slices(decisions, maturity)
    seen = int(counts.seen.sum())
    part = max(1, seen // ROWS)
    typical = _median_delay(maturity)
    context = "0"
    if columns.context is not None:
        asked = f"SELECT approx_count_distinct(context) AS kinds FROM {decisions.sql}"
        kinds = max(1, int(decisions.log.query(asked)["kinds"][0]))
        context = "hash(context)" if seen / len(counts) / kinds >= CONTEXTS else "0"
    place = f"CAST(floor((time - '{bins.origin!r}'::DOUBLE) / '{plan.width!r}'::DOUBLE) AS INTEGER)"
    old = f"slice <= {plan.last}"
    if plan.count < FEW_BINS:
        age = maturity.settled * (1.0 + 1e-9)
        young = f"'{maturity.end - maturity.settled!r}'::DOUBLE"
        old = f"time <= {young} AND feedback_time - time <= '{age!r}'::DOUBLE"
    unit = ", unit" if columns.unit is not None else ""
    return (
        f"(SELECT action, {context} AS context, slice, {cut_sql('reward', cut)} AS y,"
        f" ln(1 + greatest(feedback_time - time, 0) / '{typical!r}'::DOUBLE) AS x{unit} FROM"
        f" (SELECT *, {place} AS slice FROM {decisions.sql} WHERE seen AND reward IS NOT NULL AND"
        " action IS NOT NULL AND time IS NOT NULL AND feedback_time IS NOT NULL"
        + (f" AND hash(time, feedback_time) % {part} = 0" if part > 1 else "")
        + f") WHERE {old})"
    )


def _median_delay(maturity: Maturity) -> float:
    back, _ = maturity.cells.pooled()
    total = np.cumsum(back)
    place = int(np.searchsorted(total, total[-1] / 2.0))
    return max(float(maturity.cells.ends[place]), maturity.cells.tick)


def _fifths(decisions: Decisions, rows: str, strata: str, arm: str | None) -> tuple[float, float]:
    """Return the mean of the slowest and the fastest fifth, at the same arm and time."""
    if arm is not None:
        rows = f"(SELECT * FROM {rows} WHERE CAST(action AS VARCHAR) = {text(arm)})"
    found = decisions.log.query(
        f"WITH rewards AS {rows}, strata AS {strata},"
        " ends AS (SELECT quantile_cont(x, 0.2) AS soon, quantile_cont(x, 0.8) AS late,"
        " avg(y) AS mean FROM rewards) SELECT any_value(mean) + avg(y - my) FILTER (x >= late) AS"
        " slow, any_value(mean) + avg(y - my) FILTER (x <= soon) AS fast FROM rewards JOIN strata"
        " USING (action, context, slice), ends"
    )
    return float(filled(found["slow"])[0]), float(filled(found["fast"])[0])


def _warning(
    maturity: Maturity,
    correlation: float,
    fifths: tuple[float, float],
    facts: dict[str, Any],
    by_day: bool,
) -> LogWarning:
    which, other = ("higher", "lower") if correlation > 0.0 else ("lower", "higher")
    named = [f"“{brief(arm, 36)}”" for arm in facts["opposite"]]
    whose = "" if facts["arm"] is None else f" of “{brief(facts['arm'], 40)}”"
    reverse = f" Those of {listed(named, 3)} are {other}: which arm looks best can be reversed."
    remedy = "How long to wait is not known: some rewards come later than this log can show."
    effect = "Pending rewards may differ from those that have come, so recent means are wrong."
    if maturity.reached:
        long = maturity.waited_for(COMPLETE)
        wait, date = (
            maturity.duration(long),
            moment_in_words(maturity.end - long, maturity.dated, DAY),
        )
        effect = (
            f"Pending rewards may differ from those that have come, so means of the last {wait} are"
            f" wrong; means of decisions before {date} are not, if all their rewards have come."
        )
        remedy = f"Use those ({option('until', date)}), and never a window shorter than {wait}."
    if by_day:
        effect += " An effect of the hour of the day on both reward and delay looks the same."
        remedy += (
            f" If the hour might, add a column with the hour and name it with {option('context')}."
        )
    return LogWarning(
        "late-differ",
        f"Rewards{whose} that come late are {which}: the slowest fifth average"
        f" {show(fifths[0])}, the fastest {show(fifths[1])}, at the same time and arm."
        f"{reverse if named else ''}",
        effect,
        remedy,
        facts | {"correlation": correlation, "slowest": fifths[0], "fastest": fifths[1]},
    )
