"""Whether rewards that come late differ from those that come soon."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from halfseen.logs.counts import Decisions
from halfseen.logs.mature_rows import cut_sql
from halfseen.logs.maturity import Maturity
from halfseen.logs.option_names import option
from halfseen.logs.source import filled
from halfseen.logs.time_bins import BINS, DAY, moment_in_words
from halfseen.logs.warnings.log_warning import SURE, Check, LogWarning, judged, unknown
from halfseen.logs.warnings.tied_units import two_sided
from halfseen.tables import show

ROWS = 5_000_000  # rows that enter the test at most
PER_BIN = 10.0  # rewards of an arm that a slice of time should have
FEW_BINS = 8  # with fewer slices, only mature rows enter
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
    found = decisions.log.query(
        f"WITH rewards AS {rows} SELECT sum(m) AS m, sum(sxy) AS sxy, sum(sxx) AS sxx,"
        f" sum(syy) AS syy, sum(sxx * syy / (m - 1)) AS v FROM {strata}"
    )
    m, sxy, sxx, syy, variance = (float(filled(found[c])[0]) for c in found)
    if not variance > 0.0 or m < 20:
        return unknown("late-differ", LOOKED_FOR, "too few rewards differ in delay and value")
    if columns.unit is not None:
        clustered = decisions.log.query(
            f"WITH rewards AS {rows}, strata AS {strata} SELECT sum(q * q) AS v FROM (SELECT"
            " sum((y - my) * (x - mx)) AS q FROM rewards JOIN strata USING (action, context, slice)"
            " GROUP BY unit)"
        )
        variance = max(variance, float(filled(clustered["v"])[0]))
    z = sxy / math.sqrt(variance * inflation)
    p, correlation = two_sided(z), sxy / math.sqrt(sxx * syy)
    matters = abs(correlation) >= MATTERS
    slow = fast = math.nan
    if p < SURE:
        slow, fast = _fifths(decisions, rows, strata)
    facts = {"z": z, "p": p, "rewards": int(m)}
    by_day = maturity.dated and columns.context is None
    warning = _warning(maturity, correlation, (slow, fast), facts, by_day)
    smallest = 3.29 / math.sqrt(m)
    said = f"a correlation of {smallest:.2g} between reward and delay would have been found"
    return judged("late-differ", LOOKED_FOR, p, warning, matters=matters, not_found=said)


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


def _fifths(decisions: Decisions, rows: str, strata: str) -> tuple[float, float]:
    """Return the mean of the slowest and the fastest fifth, at the same arm and time."""
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
    facts: dict[str, float],
    by_day: bool,
) -> LogWarning:
    which = "higher" if correlation > 0.0 else "lower"
    remedy = "How long to wait cannot be said: some rewards come later than this log can show."
    effect = "What is still on its way may differ from what has come, so recent means are wrong."
    if maturity.reached:
        long = maturity.waited_for(COMPLETE)
        wait, date = (
            maturity.duration(long),
            moment_in_words(maturity.end - long, maturity.dated, DAY),
        )
        effect = (
            "What is still on its way may differ from what has come, so means of the last"
            f" {wait} are wrong; means of decisions before {date} are not, if all that comes has"
            " come by then."
        )
        remedy = f"Use those ({option('until', date)}), and never a window shorter than {wait}."
    if by_day:
        effect += " An hour of the day that moves both reward and delay looks the same."
        remedy += f" If it might, add a column with the hour and name it with {option('context')}."
    return LogWarning(
        "late-differ",
        f"Rewards that come late are {which}: the slowest fifth average {show(fifths[0])}, the"
        f" fastest {show(fifths[1])}, at the same time and arm.",
        effect,
        remedy,
        facts | {"correlation": correlation, "slowest": fifths[0], "fastest": fifths[1]},
    )
