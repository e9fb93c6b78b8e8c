"""Charts with one row per arm: from one number to another, a bar, or a dot with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from halfseen.checks import Vector
from halfseen.report.core.panels import FILL, MUTED, PALETTE, Figure, Rows, faceted
from halfseen.report.core.scales import axis
from halfseen.report.core.style import styled

if TYPE_CHECKING:
    import altair as alt

STEP = 24  # pixels between rows
MOST = 40  # largest number of rows drawn
LEAST_ROOM = 1e-9  # on either side of what is drawn, on its axis


def spans(
    names: Sequence[str], low: Vector, high: Vector, *, title: str, ends: tuple[str, str]
) -> alt.LayerChart:
    """Return a line per arm between two numbers, whose dots are named by `ends`."""
    import altair as alt

    shown = list(names)[:MOST]
    rows = [
        {"arm": name, ends[0]: float(low[i]), ends[1]: float(high[i])}
        for i, name in enumerate(shown)
    ]
    dots = [{"arm": row["arm"], "end": end, "value": row[end]} for row in rows for end in ends]
    y = alt.Y("arm:N", sort=shown, title=None, axis=alt.Axis(labelLimit=240, grid=True))
    x = {"title": title, "axis": axis(), "scale": alt.Scale(zero=False, padding=14)}
    colour = alt.Color(
        "end:N",
        sort=list(ends),
        title=None,
        scale=alt.Scale(domain=list(ends), range=list(PALETTE[:2])),
        legend=alt.Legend(orient="top", symbolType="circle"),
    )
    hints = [alt.Tooltip("arm:N"), alt.Tooltip("end:N"), alt.Tooltip("value:Q", format=".4~g")]
    lines = alt.Chart(alt.Data(values=rows)).mark_rule(strokeWidth=2, color=MUTED)
    points = alt.Chart(alt.Data(values=dots)).mark_point(filled=True, size=90, opacity=1)
    return styled(
        alt.layer(
            lines.encode(y=y, x=alt.X(f"{ends[0]}:Q", **x), x2=f"{ends[1]}:Q"),
            points.encode(y=y, x=alt.X("value:Q", **x), color=colour, tooltip=hints),
        ).properties(height={"step": STEP})
    )


def bars(names: Sequence[str], values: Vector, *, title: str) -> alt.Chart:
    """Return a bar per arm, the longest first."""
    import altair as alt

    order = sorted(range(len(names)), key=lambda i: -values[i])[:MOST]
    rows = [{"arm": names[i], "value": float(values[i])} for i in order]
    y = alt.Y("arm:N", sort=[r["arm"] for r in rows], title=None, axis=alt.Axis(labelLimit=240))
    x = alt.X("value:Q", title=title, axis=axis())
    hints = [alt.Tooltip("arm:N"), alt.Tooltip("value:Q", format=".4~g")]
    drawn = alt.Chart(alt.Data(values=rows)).mark_bar(color=PALETTE[0])
    return styled(drawn.encode(y=y, x=x, tooltip=hints).properties(height={"step": STEP}))


def points(key: str, titles: tuple[str, str, str], rows: Rows, title: str) -> Figure:
    """Return a dot per row, a dictionary of panel, name and value, with its interval if it has one.

    Parameters
    ----------
    key, titles
        As in `faceted`.
    rows
        They have ``low`` and ``high`` where there is an interval.
    title
        Of the axis.
    """
    import altair as alt

    y = alt.Y("name:N", sort=[r["name"] for r in rows], title=None, axis=alt.Axis(labelLimit=190))
    ends = [
        end for r in rows for end in (r["value"], r.get("low"), r.get("high")) if end is not None
    ]
    room = max(0.08 * (max(ends) - min(ends)), LEAST_ROOM)
    scale = alt.Scale(domain=[min(ends) - room, max(ends) + room], zero=False, nice=False)
    x = {"title": title, "axis": axis(), "scale": scale}
    hints = [
        alt.Tooltip("name:N", title="of"),
        *(alt.Tooltip(f"{k}:Q", format=".4~g") for k in ("value", "low", "high")),
    ]
    base = alt.Chart().encode(y=y)
    layers = [
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=3, color=FILL)
        .encode(x=alt.X("low:Q", **x), x2="high:Q"),
        base.mark_point(filled=True, size=80, color=PALETTE[0], opacity=1).encode(
            x=alt.X("value:Q", **x), tooltip=hints
        ),
    ]
    return faceted(key, titles, layers, rows, key, {"step": 1.25 * STEP})
