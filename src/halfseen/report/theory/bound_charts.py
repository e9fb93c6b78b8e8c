"""The chart of the bounds on a regret."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from halfseen.phrases import counted
from halfseen.report.core.scales import axis, decades
from halfseen.report.core.style import styled

if TYPE_CHECKING:
    import altair as alt

    from halfseen.theory import Bound, RegretBounds

STEP = 24  # pixels between rows
HERE, PAPER, ANY = "proved here", "the paper", "of any policy"


def bounds_chart(found: RegretBounds) -> alt.Chart:
    """Return a dot per bound that applies, smallest first, on a logarithmic axis."""
    import altair as alt

    known = [bound for bound in found if bound.applies and math.isfinite(bound.value)]
    rows: list[dict[str, Any]] = [
        {
            "bound": bound.name,
            "regret": bound.value,
            "from": _origin(bound),
            "by": bound.reference,
        }
        for bound in sorted(known, key=lambda bound: bound.value)
    ]
    positive = all(row["regret"] > 0.0 for row in rows)
    rounds = counted("round", found.horizon)
    least, most = rows[0]["regret"], rows[-1]["regret"]
    x = alt.X(
        "regret:Q",
        title=f"regret after {rounds} is at most",
        scale=alt.Scale(type="log" if positive else "linear", nice=False, padding=14),
        axis=axis(decades(least / 1.5, 1.5 * most) if positive else None),
    )
    y = alt.Y(
        "bound:N",
        sort=[row["bound"] for row in rows],
        title=None,
        axis=alt.Axis(labelLimit=240, grid=True, labelExpr="datum.label"),
    )
    tips = [
        alt.Tooltip("bound:N"),
        alt.Tooltip("regret:Q", format=",.4~g"),
        alt.Tooltip("by:N"),
    ]
    colour = alt.Color("from:N", sort=[HERE, PAPER, ANY])
    dots = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=90, opacity=1)
    return styled(
        dots.encode(x=x, y=y, color=colour, tooltip=tips).properties(height={"step": STEP})
    )


def _origin(bound: Bound) -> str:
    """Return the source of a bound; the largest gap in every round bounds any policy."""
    if bound.name == "trivial":
        return ANY
    return PAPER if bound.paper else HERE
