"""The charts of an audit."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.logs.audit_export import rates_table
from halfseen.report.audit.bounds_chart import bounds_chart
from halfseen.report.audit.delay_charts import delay_chart
from halfseen.report.core.drawing import attempt
from halfseen.report.core.panels import FILL, MUTED, PALETTE, Figure, Rows, faceted
from halfseen.report.core.scales import axis, axis_of_shares, decades
from halfseen.report.core.style import chart_of
from halfseen.tables import level_name

if TYPE_CHECKING:
    import altair as alt

    from halfseen.logs.audit import Audit
    from halfseen.logs.direction_fit import DirectionFit
    from halfseen.logs.plan import Plan

ARMS = 30  # largest number of arms drawn
STEP = 26
ACCENT = PALETTE[1]
NEEDS = {  # requirement of each chart
    "rates": "The log must hold decisions.",
    "parts": "The log must hold several arms.",
    "worth": "The log must hold several arms.",
    "time": "Name the column of times.",
    "delays": "Name the columns of times and of times of feedback.",
    "differ": "Name the column of rewards; some must be missing.",
    "direction": "Name the features; feedback must fall along them.",
}


def audit_figures(found: Audit) -> dict[str, list[Figure]]:
    """Return the charts of each section of the page."""
    name = short(found.log)
    rows, fit = arm_rows(found), found.direction

    def one(key: str, title: str, make: Callable[[], Figure], wanted: bool = True) -> list[Figure]:
        return attempt(f"audit-{key}", title, lambda: [make()]) if wanted else []

    several = len(rows) > 1
    return {
        "rates": [
            *one("rates", "How much is seen", lambda: rates_chart(found, rows, name)),
            *one("parts", "What it costs", lambda: parts_chart(rows, name), several),
            *one("worth", "Where more is worth most", lambda: worth_chart(rows, name), several),
        ],
        "time": one(
            "time", "Feedback over time", lambda: time_chart(found, name), bool(found.courses)
        ),
        "delays": one(
            "delays",
            "How long rewards take",
            lambda: delay_chart(found, name),
            found.maturity is not None,
        ),
        "differ": one(
            "differ",
            "If missing rewards differ",
            lambda: bounds_chart(found, name),
            found.rewards is not None and not found.complete,
        ),
        "direction": []
        if fit is None or len(fit.rates) == 1
        else one("direction", "Feedback along a direction", lambda: direction_chart(fit, name)),
    }


def audit_chart(found: Audit, what: str) -> alt.Chart:
    """Return one of the charts of an audit, by its name in `audit_figures`."""
    drawn = {
        figure.name.removeprefix("audit-"): figure
        for figures in audit_figures(found).values()
        for figure in figures
    }
    if what in NEEDS and what not in drawn:
        raise InvalidInput("what", "must be a chart this log has", what, NEEDS[what])
    return chart_of(drawn[checks.one_of("what", what, NEEDS)])


def short(log: str) -> str:
    """Return a log's name without its folders."""
    return log.rstrip("/").rpartition("/")[2] or log


def arm_rows(found: Audit) -> Rows:
    """Return a row per arm: the arms that cost most, the costliest first."""
    rows = []
    for record in rates_table(found, found.costliest(ARMS)):
        seen = math.isfinite(record["contributes"])
        rows.append(
            {
                "panel": "all",
                "arm": record["arm"],
                "rows": record["rows"],
                "seen": record["seen"],
                "rate": record["rate"],
                "low": record["low"],
                "high": record["high"],
                "anyway": 1.0,
                "lost": record["contributes"] - 1.0 if seen else None,
                "worth": record["worth of 1% more"] if seen else None,
            }
        )
    return rows


def _arm_axis(rows: Rows) -> Any:
    import altair as alt

    return alt.Y(
        "arm:N", sort=[row["arm"] for row in rows], title=None, axis=alt.Axis(labelLimit=170)
    )


def rates_chart(found: Audit, rows: Rows, name: str) -> Figure:
    """Return the rate of every arm with its exact interval."""
    import altair as alt

    y, share = _arm_axis(rows), axis_of_shares()
    hints = [
        alt.Tooltip("arm:N"),
        alt.Tooltip("rate:Q", format=".1%"),
        alt.Tooltip("low:Q", format=".1%"),
        alt.Tooltip("high:Q", format=".1%"),
        alt.Tooltip("seen:Q", format=","),
        alt.Tooltip("rows:Q", format=","),
    ]
    base = alt.Chart().encode(y=y)
    average = found.share
    layers = [
        base.mark_rule(strokeWidth=3, color=FILL).encode(x=alt.X("low:Q", **share), x2="high:Q"),
        base.mark_point(filled=True, size=70, color=PALETTE[0], opacity=1).encode(
            x=alt.X("rate:Q", **share), tooltip=hints
        ),
        alt.Chart().mark_rule(strokeDash=[4, 3], color=MUTED).encode(x=alt.datum(average)),
    ]
    note = (
        f"Share of each arm’s rewards that came back, with its exact {level_name(found.level)}"
        " interval."
        f" Dashed: all rows together, {average:.1%}."
    )
    return _arms("rates", ("How much is seen", note, name), layers, rows)


def parts_chart(rows: Rows, name: str) -> Figure:
    """Return each arm's contribution to the effective dimension."""
    import altair as alt

    y = _arm_axis(rows)
    hints = [alt.Tooltip("arm:N"), alt.Tooltip("lost:Q", format=".3~g", title="lost")]
    x = {"title": "part in the effective dimension, 1/p", "axis": axis()}
    base = alt.Chart().encode(y=y)
    bars = base.transform_calculate(end="1 + datum.lost").transform_filter("isValid(datum.lost)")
    layers = [
        base.mark_bar(height=12, color=FILL).encode(x=alt.X("anyway:Q", **x)),
        bars.mark_bar(height=12, color=ACCENT).encode(
            x=alt.X("anyway:Q", **x), x2="end:Q", tooltip=hints
        ),
    ]
    note = (
        "How many always-seen arms each arm is as hard to learn as. Grey: one, as any arm. Orange:"
        " what missing feedback adds. An arm never seen has no bar: its contribution is unbounded."
    )
    return _arms("parts", ("What it costs", note, name), layers, rows)


def worth_chart(rows: Rows, name: str) -> Figure:
    """Return what more feedback is worth, arm by arm."""
    import altair as alt

    x = alt.X("worth:Q", title="fall of the effective dimension", axis=axis())
    hints = [alt.Tooltip("arm:N"), alt.Tooltip("worth:Q", format=".3~g")]
    bars = (
        alt.Chart().transform_filter("isValid(datum.worth)").mark_bar(height=12, color=PALETTE[2])
    )
    note = (
        "How much the effective dimension falls when 1 in 100 more of that arm’s rewards are seen,"
        " or all of them if fewer are missing: spend on the longest bars first. “halfseen invest”"
        " takes costs into account."
    )
    titles = ("Where more feedback is worth most", note, name)
    return _arms("worth", titles, [bars.encode(y=_arm_axis(rows), x=x, tooltip=hints)], rows)


def _arms(key: str, titles: tuple[str, str, str], layers: list[Any], rows: Rows) -> Figure:
    return faceted(f"audit-{key}", titles, layers, rows, "audit-arms", {"step": STEP})


def time_chart(found: Audit, name: str) -> Figure:
    """Return the share seen over time, with its segments of constant rate."""
    import altair as alt

    rows: Rows = []
    course = found.courses[0]
    edges = (0, *course.changes, len(course.rows))
    levels = [
        level
        for level, (i, j) in zip(course.levels, pairwise(edges), strict=True)
        for _ in range(j - i)
    ]
    scale = 1000.0 if found.dated else 1.0  # milliseconds, as browsers count
    for start, n, share, level in zip(
        course.starts, course.rows, course.shares, levels, strict=True
    ):
        rows.append(
            {
                "panel": "all",
                "time": float(start) * scale,
                "share": float(share),
                "level": level,
                "rows": int(n),
            }
        )
    kind = "T" if found.dated else "Q"
    scale_of = {"scale": alt.Scale(type="utc")} if found.dated else {"scale": alt.Scale(zero=False)}
    ticks = {} if found.dated else {"format": "~f"}
    x = alt.X(
        f"time:{kind}",
        title=found.columns.time,
        axis=alt.Axis(tickCount=6, **ticks),
        **scale_of,
    )
    share = axis_of_shares()
    hints = [
        alt.Tooltip(f"time:{kind}"),
        alt.Tooltip("share:Q", format=".1%"),
        alt.Tooltip("rows:Q", format=","),
    ]
    base = alt.Chart().encode(x=x)
    layers = [
        base.mark_point(filled=True, size=34, color=FILL, opacity=1).encode(
            y=alt.Y("share:Q", **share), tooltip=hints
        ),
        base.mark_line(interpolate="step-after", strokeWidth=2.2, color=PALETTE[0]).encode(
            y=alt.Y("level:Q", **share)
        ),
    ]
    note = (
        "Dots: share of rewards seen among the decisions of each slice of time, at the mix of arms"
        " of the whole log. Line: segments of constant rate." + _within(found)
    )
    return faceted("audit-time", ("Feedback over time", note, name), layers, rows, "audit-time")


def _within(found: Audit) -> str:
    if found.maturity is None:
        return ""
    age = found.maturity.duration(found.maturity.settled)
    return f" Only decisions older than {age}; seen means back within {age}."


def forecast_chart(forecast: Plan, name: str) -> Figure:
    """Return the regret per day over the days of a plan, in both worlds."""
    import altair as alt

    worlds = (forecast.yours, forecast.everything)
    names = [world.name for world in worlds]
    rows: Rows = [
        {"panel": "all", "world": world.name, "day": day, "low": low, "lost": mid, "high": high}
        for world in worlds
        for day, low, mid, high in world.curve.T.tolist()
        if day >= forecast.length / 1000.0
    ]
    days = alt.Scale(type="log", nice=False)
    first, last = forecast.length / 1000.0, forecast.length
    x = alt.X("day:Q", title="day", scale=days, axis=axis(decades(first, last)))
    legend = alt.Legend(title=None, orient="top", symbolLimit=0, symbolOpacity=1)
    colour = alt.Color(
        "world:N", sort=names, scale=alt.Scale(domain=names, range=PALETTE[1::-1]), legend=legend
    )
    title = "reward lost per day"
    base = alt.Chart().encode(x=x, color=colour)
    layers = [
        base.mark_area(opacity=0.18).encode(
            y=alt.Y("low:Q", title=title, axis=axis()), y2="high:Q"
        ),
        base.mark_line(strokeWidth=2).encode(
            y=alt.Y("lost:Q", title=title),
            tooltip=[alt.Tooltip("world:N"), alt.Tooltip("lost:Q", format=".3~g")],
        ),
    ]
    note = (
        "Reward lost per day compared with always playing the best arm: the median of simulated"
        " futures, and an 80% band."
    )
    titles = ("Forecast", note, name)
    return faceted(
        "audit-forecast", titles, layers, rows, "audit-forecast", entries=names, widths=names
    )


def direction_chart(fit: DirectionFit, name: str) -> Figure:
    """Return the share seen along the fitted direction: the isotonic regression and the steps."""
    import altair as alt

    curve = fit.curve
    low, high = float(curve.first[0]), float(curve.last[-1])
    edges = [low, *fit.thresholds.tolist(), high]
    rows: Rows = [
        {"panel": "all", "kind": "curve", "along": float(at), "share": float(share)}
        for first, last, share in zip(curve.first, curve.last, curve.rates, strict=True)
        for at in (first, last)
    ]
    for j, share in enumerate(fit.rates.tolist()):
        rows += [
            {"panel": "all", "kind": "steps", "along": at, "share": share}
            for at in edges[j : j + 2]
        ]
    x = alt.X(
        "along:Q", title="features along the direction", axis=axis(), scale=alt.Scale(zero=False)
    )
    y = alt.Y("share:Q", **axis_of_shares())
    base = alt.Chart().encode(x=x, y=y)
    layers = [
        base.transform_filter("datum.kind == 'curve'").mark_line(strokeWidth=1.5, color=MUTED),
        base.transform_filter("datum.kind == 'steps'").mark_line(strokeWidth=2.5, color=PALETTE[0]),
    ]
    note = (
        "Share of feedback seen along the direction in which it becomes rarer. Thin: isotonic"
        " regression. Thick: the steps chosen by BIC."
    )
    titles = ("Feedback along a direction", note, name)
    return faceted("audit-direction", titles, layers, rows, "audit-direction")
