"""The chart of the share of rewards back after each delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from halfseen.logs.time_bins import DAY
from halfseen.report.core.panels import MUTED, PALETTE, Figure, Rows, faceted
from halfseen.report.core.scales import axis, axis_of_shares

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.maturity import Maturity

ARMS = 5  # arms drawn, those with the most rows
POINTS = 200  # points of a curve
ALL = "all arms"


def delay_rows(found: Maturity, arms: list[int]) -> Rows:
    """Return the share back after each delay, of all arms together and of some."""
    cells = found.cells
    ends = cells.ends
    inside = ends <= found.window * (1.0 + 1e-9)
    pooled = found.pooled.share
    final = float(pooled[inside][-1]) if inside.any() else 0.0
    nearly = int(np.argmax(pooled >= 0.995 * final))
    shown = np.flatnonzero(inside & (ends <= 1.3 * max(ends[nearly], cells.tick)))
    chosen = np.unique(np.linspace(0, len(shown) - 1, min(POINTS, len(shown))).round().astype(int))
    places = shown[chosen]
    scale = DAY if found.dated else 1.0
    curves = {ALL: pooled}
    curves |= {found.names[arm]: cells.law(arm).share for arm in arms}
    return [
        {"panel": "all", "arm": name, "delay": float(ends[i]) / scale, "share": float(share[i])}
        for name, share in curves.items()
        for i in places
    ]


def delay_chart(found: Audit, name: str) -> Figure:
    """Return the share of rewards that is back after each delay, arm by arm."""
    import altair as alt

    assert found.maturity is not None
    counts = found.counts
    largest = sorted(np.argsort(-counts.rows, kind="stable")[:ARMS].tolist())
    rows = delay_rows(found.maturity, largest if len(counts) > 1 else [])
    names = list(dict.fromkeys(row["arm"] for row in rows))
    shades = [MUTED, *PALETTE][: len(names)]
    unit = "days" if found.maturity.dated else "units of time"
    colour = alt.Color(
        "arm:N",
        sort=names,
        scale=alt.Scale(domain=names, range=shades),
        legend=alt.Legend(title=None, orient="top", symbolLimit=0, symbolType="stroke"),
    )
    line = (
        alt.Chart()
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("delay:Q", title=f"delay ({unit})", axis=axis()),
            y=alt.Y("share:Q", **(axis_of_shares() | {"title": "share of rewards back"})),
            color=colour,
            tooltip=[
                alt.Tooltip("arm:N"),
                alt.Tooltip("delay:Q", format=".3~g"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    few = f" The {ARMS} arms with most decisions are drawn." if len(counts) > ARMS else ""
    note = (
        "Share of rewards back after each delay: the Kaplan-Meier estimate, in which recent"
        f" decisions are censored at their age.{few}"
    )
    titles = ("How long rewards take", note, name)
    return faceted(
        "audit-delays", titles, [line], rows, "audit-delays", entries=names, widths=names
    )
