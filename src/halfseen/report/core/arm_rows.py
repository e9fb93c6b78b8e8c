"""Charts with one row per arm: from one number to another, or a bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from halfseen.checks import Vector
from halfseen.report.core.panels import MUTED, PALETTE
from halfseen.report.core.scales import axis
from halfseen.report.core.style import styled

if TYPE_CHECKING:
    import altair as alt

STEP = 24  # pixels between rows
MOST = 40  # largest number of rows drawn


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
