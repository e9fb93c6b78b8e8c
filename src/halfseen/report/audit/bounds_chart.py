"""The chart of bounds on the means if missing rewards differ from seen ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen.logs.missing_bounds import mean_bounds
from halfseen.report.core.panels import DASHES, MUTED, PALETTE, Figure, Rows, faceted
from halfseen.report.core.scales import axis

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit

DRAWN = 7  # largest number of arms drawn
FURTHEST = 20.0  # the largest Gamma drawn
STEPS = 41


def bounds_chart(found: Audit, name: str) -> Figure:
    """Return the band of possible means of the best arms against Gamma."""
    import altair as alt

    assert found.rewards is not None
    assert found.tipping is not None
    chosen = arms_to_draw(found)
    rewards = found.rewards.part(chosen)
    tipping = found.tipping.gamma
    last = FURTHEST if not 4.0 < tipping < math.inf else min(5.0 * tipping, 1e4)
    rows: Rows = []
    for gamma in np.geomspace(1.0, last, STEPS).tolist():
        bounds = mean_bounds(rewards, gamma)
        rows += [
            {"panel": "all", "arm": arm, "gamma": gamma, "low": low, "high": high}
            for arm, low, high in zip(
                bounds.names, bounds.low.tolist(), bounds.high.tolist(), strict=True
            )
        ]
    names = list(rewards.names)
    shades = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    legend = alt.Legend(
        title=None, orient="top", symbolLimit=0, symbolType="stroke", symbolOpacity=1
    )
    colour = alt.Color(
        "arm:N", sort=names, scale=alt.Scale(domain=names, range=shades), legend=legend
    )
    scale = alt.Scale(type="log", domain=[1.0, last], nice=False)
    ticks = [t for t in (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 10000) if t <= last]
    x = alt.X(
        "gamma:Q",
        title="how many times the odds of being seen differ",
        scale=scale,
        axis=axis(ticks),
    )
    title = "mean reward"
    hints = [
        alt.Tooltip("arm:N"),
        *(alt.Tooltip(f"{k}:Q", format=".3~g") for k in ("gamma", "low", "high")),
    ]
    base = alt.Chart().encode(x=x, color=colour)
    y = {"title": title, "axis": axis(), "scale": alt.Scale(zero=False)}
    layers = [
        base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", **y), y2="high:Q", tooltip=hints),
        *(
            base.mark_line(strokeWidth=2, strokeDash=list(DASHES[0])).encode(
                y=alt.Y(f"{end}:Q", **y)
            )
            for end in ("low", "high")
        ),
    ]
    if 1.0 < tipping <= last:
        layers.append(
            alt.Chart().mark_rule(strokeDash=[4, 3], color=MUTED).encode(x=alt.datum(tipping))
        )
    note = (
        "Bounds on each arm’s mean if the odds of being seen differ at most by this factor between"
        " any two rewards. At 1, missing rewards are like seen ones."
        + (" Dashed: from here on another arm may be best." if 1.0 < tipping <= last else "")
        + (f" {len(names)} of {len(found.arms):,} arms." if len(names) < len(found.arms) else "")
    )
    titles = ("If missing rewards differ", note, name)
    return faceted(
        "audit-differ", titles, layers, rows, "audit-differ", entries=names, widths=names
    )


def arms_to_draw(found: Audit) -> list[int]:
    """Return the indices of the arms named in the text, then of those with the largest means."""
    rewards, tipping = found.rewards, found.tipping
    assert rewards is not None
    assert tipping is not None
    bounds = found.bounds(2.0)
    named = {tipping.best, tipping.rival, bounds.safe, bounds.least_regret}
    ranked = np.argsort(-rewards.mean, kind="stable").tolist()
    chosen = [i for i in ranked if rewards.names[i] in named]
    others = [i for i in ranked if rewards.names[i] not in named]
    return sorted(chosen + others[: DRAWN - len(chosen)], key=lambda i: -rewards.mean[i])
