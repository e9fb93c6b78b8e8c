"""The chart of how long to wait for feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.report.core.scales import axis, decades
from halfseen.report.core.style import styled

if TYPE_CHECKING:
    import altair as alt

    from halfseen.logs.window import Window


def window_chart(found: Window) -> alt.Chart:
    """Return the regret of a learner against its wait; the share seen where regret is not known."""
    import altair as alt

    known = found.regret is not None and found.error is not None
    title = "regret" if known else "share seen"
    rows: list[dict[str, Any]] = []
    for i, wait in enumerate(found.waits.tolist()):
        value = float(found.share[i] if found.regret is None else found.regret[i])
        error = 0.0 if found.error is None else float(found.error[i])
        good = "best" if i == found.best else "as good" if i in found.as_good else "worse"
        row = {"wait": wait, "value": value, "low": value - error, "high": value + error}
        rows.append(row | {"is": good if known else ""})
    first, last = float(found.waits.min()), float(found.waits.max())
    x = alt.X(
        "wait:Q",
        title=f"wait ({found.unit})",
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=axis(decades(first, last)),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=x)
    y = alt.Scale(zero=False)
    tips = [
        alt.Tooltip("wait:Q", format=",.4~g"),
        alt.Tooltip("value:Q", title=title, format=",.4~g"),
    ]
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=alt.Y("value:Q", title=title, scale=y), tooltip=tips
    )
    if not known:
        return styled(points)
    names = [name for name in ("best", "as good", "worse") if any(r["is"] == name for r in rows)]
    points = points.encode(color=alt.Color("is:N", sort=names))
    errors = base.mark_rule().encode(
        y=alt.Y("low:Q", scale=y, title=title), y2="high:Q", color=alt.Color("is:N", sort=names)
    )
    return styled(errors + points)
