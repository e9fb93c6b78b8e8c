"""The charts of a loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halfseen.dashboard.chart_numbers import AGES, CourseArms, course_arms
from halfseen.dashboard.log_summary import LogSummary
from halfseen.dashboard.loop_figures import duration
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.arm_labels import arm_labels
from halfseen.explorer.view import Picture
from halfseen.phrases import counted
from halfseen.report.core.scales import SHORT
from halfseen.tables import level_name

SHOWN = 40  # arms of a chart
WHOLE = f"datum.value % 1 ? '' : {SHORT}"  # labels of counts


def loop_pictures(
    status: dict[str, Any],
    chances: dict[str, float | None],
    ages: list[float],
    summary: LogSummary | None,
    course: CourseArms | None = None,
) -> list[Picture]:
    """Return the charts of a loop in their order; those without data are omitted."""
    drawn = course or course_arms(summary, status["arms"])
    arms, names = _drawn(status)
    found = [
        _seen(summary, arms, names) if summary is not None and summary.rates and arms else None,
        _estimates(status, arms, names),
        _course(summary, drawn) if summary is not None and summary.course else None,
        _chances(chances, arms, names),
        _pending(ages, summary or LogSummary(0), status["window"]),
    ]
    return [picture for picture in found if picture is not None]


def _estimates(
    status: dict[str, Any], arms: list[dict[str, Any]], names: list[str]
) -> Picture | None:
    means = [
        {"place": k, "mean": arm["mean"], "low": arm["low"], "high": arm["high"]}
        for k, arm in enumerate(arms)
    ]
    if not any(_is_known(row) for row in means):
        return None
    note = (
        f"Mean of the rewards seen. The {level_name(status['level'])} intervals are valid at all"
        " times simultaneously: look as often as you like."
    )
    spec = parts.intervals(
        names,
        "mean",
        lambda field: parts.axis(field, "mean reward", zero=False),
        mean="mean",
        low="at least",
        high="at most",
    )
    return Picture("estimates", "Mean reward of each arm", note, spec, means)


def _is_known(row: dict[str, Any]) -> bool:
    values = (row["mean"], row["low"], row["high"])
    return all(value is not None and math.isfinite(value) for value in values)


def _drawn(status: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the arms that fit in a chart, and their names."""
    arms = [arm for arm in status["arms"] if not arm["retired"]]
    most = sorted(range(len(arms)), key=lambda place: -arms[place]["decisions"])[:SHOWN]
    chosen = [arms[place] for place in sorted(most)]
    return chosen, arm_labels([str(arm["arm"]) for arm in chosen])


def _chances(
    chances: dict[str, float | None], arms: list[dict[str, Any]], names: list[str]
) -> Picture | None:
    rows = [
        {"place": k, "chance": chances[str(arm["arm"])]}
        for k, arm in enumerate(arms)
        if chances.get(str(arm["arm"])) is not None
    ]
    if not rows:
        return None
    look = {"labelExpr": "names[datum.value]", "labelLimit": 160, "grid": False}
    y = {"field": "place", "type": "ordinal", "title": None, "axis": look}
    bars = {
        "mark": {"type": "bar", "color": parts.PALETTE[0], "height": {"band": 0.6}},
        "encoding": {
            "y": y,
            "x": parts.share("chance", "probability"),
            "tooltip": parts.told(("chance", "played with probability")),
        },
    }
    spec = parts.chart(
        [bars],
        height=max(120, 22 * len(names)),
        params=[{"name": "names", "value": names}],
    )
    note = "The probability that each arm is played in the next decision, including its floor."
    return Picture("chances", "Probability of each arm in the next decision", note, spec, rows)


def _pending(ages: list[float], summary: LogSummary, window: float) -> Picture:
    counts, edges = np.histogram(np.minimum(ages, window), bins=AGES, range=(0.0, window))
    unit, size = _unit(window)
    rows: list[dict[str, Any]] = [
        {
            "kind": "age",
            "from": float(edges[k]) / size,
            "to": float(edges[k + 1]) / size,
            "pending": int(count),
            "room": max(1, int(count)),
        }
        for k, count in enumerate(counts)
    ]
    x = parts.axis("from", f"age, {unit}", scale={"domain": [0, window / size]})
    y = parts.axis("pending", "pending decisions", axis={"labelExpr": WHOLE})
    bars = {
        "mark": {"type": "bar", "color": parts.PALETTE[0], "opacity": 0.7, "binSpacing": 1},
        "encoding": {
            "x": x | {"bin": "binned"},
            "x2": {"field": "to"},
            "y": y,
            "tooltip": parts.told(("from", "from"), ("to", "to"), ("pending", "pending")),
        },
    }
    at_least_one = {
        "mark": {"type": "point", "opacity": 0},
        "encoding": {"x": x, "y": y | {"field": "room"}},
    }
    layers: list[parts.Spec] = [
        {"transform": parts.only("age"), "layer": [bars, at_least_one]},
    ]
    note = "Decisions whose reward has not come, by how long ago they were shown, up to the window."
    if summary.delays:
        rows += _curve(summary.delays, summary.within or window, size)
        layers.append({"transform": parts.only("delay"), "layer": _curve_layers(x, unit)})
        note += (
            " The line is the share of rewards back by that age (Kaplan–Meier, pointwise 95% band)."
        )
    spec = parts.chart(layers, resolve={"scale": {"y": "independent"}})
    return Picture("pending", "Pending by age, and how long rewards take", note, spec, rows)


def _curve(delays: list[dict[str, float]], end: float, size: float) -> list[dict[str, Any]]:
    """Return the rows of the delay curve, from 0 to where it is known."""
    rows: list[dict[str, Any]] = [{"from": 0.0, "share": 0.0, "low": 0.0, "high": 0.0}]
    rows += [row | {"from": row["delay"] / size} for row in delays]
    rows.append(rows[-1] | {"from": max(end / size, rows[-1]["from"])})
    return [row | {"kind": "delay"} for row in rows]


def _curve_layers(x: parts.Spec, unit: str) -> list[parts.Spec]:
    curve = {"interpolate": "step-after", "color": parts.PALETTE[1]}
    right = {"orient": "right", "grid": False}
    share = parts.share("share", "share back")
    y = share | {"axis": share["axis"] | right}
    return [
        {
            "mark": {"type": "area", "opacity": 0.18, **curve},
            "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2, **curve},
            "encoding": {
                "x": x,
                "y": y,
                "tooltip": parts.told(("from", unit), ("share", "back")),
            },
        },
    ]


def _seen(summary: LogSummary, arms: list[dict[str, Any]], names: list[str]) -> Picture:
    rows = []
    for place, arm in enumerate(arms):
        rate, low, high = summary.rates.get(str(arm["arm"]), (None, None, None))
        rows.append({"place": place, "seen": rate, "low": low, "high": high})
    spec = parts.intervals(
        names,
        "seen",
        lambda field: parts.share(field, "share seen"),
        seen="seen",
        low="at least",
        high="at most",
    )
    within = "the window" if summary.within is None else duration(summary.within)
    note = f"Share of rewards that come within {within}, with 95% intervals, by the audit."
    return Picture("seen", "How often each arm is seen", note, spec, rows)


def _course(summary: LogSummary, arms: CourseArms) -> Picture:
    known = dict(arms.known)
    labels = [known[name] for name in arms.drawn]
    places = {name: place for place, name in enumerate(arms.drawn)}
    rows = [
        row | {"arm": places[row["arm"]], "label": labels[places[row["arm"]]]}
        for row in summary.course
        if row["arm"] in places
    ]
    times = [row["at"] for row in rows]
    seconds = (max(times) - min(times)) / 1000.0
    shown = "%H:%M:%S" if seconds < 600.0 else "%H:%M" if seconds < 172_800.0 else "%d %b"
    look = {"format": shown, "tickCount": 5, "labelOverlap": True}
    x = {"field": "at", "type": "temporal", "title": "UTC", "scale": {"type": "utc"}, "axis": look}
    legend = {"orient": "bottom", "labelExpr": "names[datum.value]", "labelLimit": 170}
    numbers: list[Any] = list(range(len(labels)))
    colour = parts.colours("arm", numbers, **legend, columns=2)
    y = parts.share("share", "share seen")
    spans = {
        "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.35},
        "encoding": {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}, "color": colour},
    }
    lines = {
        "mark": {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 24}},
        "encoding": {
            "x": x,
            "y": y,
            "color": colour,
            "tooltip": [
                {"field": "label", "type": "nominal", "title": "arm"},
                *parts.told(
                    ("share", "seen"),
                    ("low", "at least"),
                    ("high", "at most"),
                    ("decisions", "decisions"),
                ),
            ],
        },
    }
    note = (
        "Share of rewards that come within the window, of the decisions shown in each interval of"
        " time, with 95% intervals, corrected for pending decisions."
    )
    if len(labels) < len(known):
        most = "chosen below" if arms.chosen else "with most decisions; others can be chosen below"
        note += f" {counted('arm', len(labels))} of {len(known)}, {most}."
    spec = parts.chart([spans, lines], params=[{"name": "names", "value": labels}])
    return Picture("course", "How often each arm is seen, over time", note, spec, rows)


def _unit(window: float) -> tuple[str, float]:
    """Return the unit in which a window is drawn, and how many seconds it has."""
    for size, unit in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if window >= 2.0 * size:
            return unit, size
    return "seconds", 1.0
