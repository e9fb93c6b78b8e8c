"""The charts of a loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.dashboard.log_summary import LogSummary
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.view import Picture

SHOWN = 40  # arms of a chart
AGES = 24  # bars of the pending decisions
LONGEST = 40  # letters of a name


def live_pictures(
    status: dict[str, Any], chances: dict[str, float | None], ages: list[float]
) -> list[Picture]:
    """Return the charts of what a loop knows now."""
    found = [_pending(ages, status["window"])]
    if not status["arms"]:
        return found
    arms, names = _drawn(status)
    means = [
        {"place": k, "mean": arm["mean"], "low": arm["low"], "high": arm["high"]}
        for k, arm in enumerate(arms)
    ]
    note = (
        f"Mean of the rewards seen. The {status['level']:.0%} intervals hold at all times together:"
        " look as often as you like."
    )
    spec = parts.intervals(
        names,
        "mean",
        lambda field: parts.axis(field, "mean reward", zero=False),
        mean="mean",
        low="at least",
        high="at most",
    )
    found.insert(0, Picture("estimates", "What each arm is worth", note, spec, means))
    drawn = [
        {"place": k, "chance": chances[str(arm["arm"])]}
        for k, arm in enumerate(arms)
        if chances.get(str(arm["arm"])) is not None
    ]
    if drawn:
        found.insert(1, _chances(names, drawn))
    return found


def _drawn(status: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the arms that a chart has room for, and their names."""
    arms = [arm for arm in status["arms"] if not arm["retired"]]
    most = sorted(range(len(arms)), key=lambda place: -arms[place]["decisions"])[:SHOWN]
    chosen = [arms[place] for place in sorted(most)]
    return chosen, [str(arm["arm"])[:LONGEST] for arm in chosen]


def _chances(names: list[str], rows: list[dict[str, Any]]) -> Picture:
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
    note = "The probability that each arm is played in the next decision, its floor included."
    return Picture("chances", "What is played next", note, spec, rows)


def _pending(ages: list[float], window: float) -> Picture:
    counts, edges = np.histogram(np.minimum(ages, window), bins=AGES, range=(0.0, window))
    unit, size = _unit(window)
    rows = [
        {"from": float(edges[k]) / size, "to": float(edges[k + 1]) / size, "pending": int(count)}
        for k, count in enumerate(counts)
    ]
    x = parts.axis("from", f"age, {unit}", scale={"domain": [0, window / size]})
    bars = {
        "mark": {"type": "bar", "color": parts.PALETTE[0], "binSpacing": 1},
        "encoding": {
            "x": x | {"bin": "binned"},
            "x2": {"field": "to"},
            "y": parts.axis("pending", "decisions", axis={"tickMinStep": 1}),
            "tooltip": parts.told(("from", "from"), ("to", "to"), ("pending", "pending")),
        },
    }
    note = "Decisions whose reward has not come, by how long ago they were shown, up to the window."
    return Picture("pending", "Pending, by age", note, parts.chart([bars]), rows)


def log_pictures(summary: LogSummary, status: dict[str, Any]) -> list[Picture]:
    """Return the charts of what the log tells."""
    found = []
    if summary.rates and status["arms"]:
        found.append(_seen(summary, *_drawn(status)))
    if summary.course:
        found.append(_course(summary.course))
    if summary.delays:
        found.append(_delays(summary.delays, status["window"]))
    return found


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
    note = "Share of rewards that come within the window, with 95% intervals, by the audit."
    return Picture("seen", "How often each arm is seen", note, spec, rows)


def _course(rows: list[dict[str, Any]]) -> Picture:
    names = list(dict.fromkeys(str(row["arm"]) for row in rows))
    labels = {name: name[:LONGEST] for name in names}
    drawn = [row | {"arm": labels[str(row["arm"])]} for row in rows]
    lines = {
        "mark": {"type": "line", "strokeWidth": 2, "point": {"filled": True, "size": 24}},
        "encoding": {
            "x": {"field": "at", "type": "temporal", "title": None, "axis": {"tickCount": 6}},
            "y": parts.share("share", "share seen"),
            "color": parts.colours("arm", list(labels.values())),
            "tooltip": [
                {"field": "arm", "type": "nominal", "title": "arm"},
                *parts.told(("share", "seen"), ("decisions", "decisions")),
            ],
        },
    }
    note = "Of the decisions shown in each interval of time, those whose reward has come so far."
    if len(names) == 8:
        note += " The eight arms with most decisions."
    return Picture(
        "course", "How often each arm is seen, over time", note, parts.chart([lines]), drawn
    )


def _delays(delays: list[dict[str, float]], window: float) -> Picture:
    unit, size = _unit(window)
    rows: list[dict[str, Any]] = [{"delay": 0.0, "share": 0.0, "low": 0.0, "high": 0.0}]
    rows += [row | {"delay": row["delay"] / size} for row in delays]
    rows.append(rows[-1] | {"delay": window / size})
    x = parts.axis("delay", f"delay, {unit}", scale={"domain": [0, window / size]})
    curve = {"interpolate": "step-after", "color": parts.PALETTE[0]}
    layers = [
        {
            "mark": {"type": "area", "opacity": 0.18, **curve},
            "encoding": {"x": x, "y": parts.share("low", "share back"), "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2, **curve},
            "encoding": {
                "x": x,
                "y": parts.share("share", "share back"),
                "tooltip": parts.told(("delay", unit), ("share", "back")),
            },
        },
    ]
    note = (
        "Share of rewards back within so long (Kaplan–Meier, pointwise 95% band), up to the window."
    )
    return Picture("delays", "How long rewards take", note, parts.chart(layers), rows)


def _unit(window: float) -> tuple[str, float]:
    """Return the unit in which a window is drawn, and how many seconds it has."""
    for size, unit in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if window >= 2.0 * size:
            return unit, size
    return "seconds", 1.0
