"""The chart of an information path: its design over time, and its phases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halfseen.report.core.panels import FILL, INK, MUTED, PALETTE, Rows
from halfseen.report.core.scales import axis, decades
from halfseen.report.theory.framing import HALF, STROKE, dashes, framed, palette, rows_of
from halfseen.tables import show
from halfseen.theory import InformationPath

BLUE, RED = PALETTE[:2]
POINTS = 121  # points of a curve
LONGEST = 1e15  # later switches are not drawn
NARROW = 0.09  # share of the axis below which a phase has no room for its label
SHADES = {"across the direction, x": BLUE, "along it, y": RED}
PATTERNS = {"across the direction, x": [6, 3], "along it, y": [1, 0]}


def path_chart(
    path: InformationPath, name: str = "path", model: str = "", width: int = HALF
) -> Any:
    """Draw the design of an information path over time, and the ratio of its two numbers.

    Parameters
    ----------
    path
        The path.
    name
        The figure's file name, without the extension.
    model
        What the model is called, for the title.
    width
        Of each of the two panels, in pixels.

    Returns
    -------
    altair.HConcatChart
        Two panels: x and y, and y/x.

    Examples
    --------
    >>> from halfseen.censorship import MultiThreshold
    >>> from halfseen.theory import information_path
    >>> path = information_path(MultiThreshold([math.pi / 3], [1.0, 0.75], [0, 0, 1]))
    >>> path_chart(path).to_dict()["usermeta"]["numbers"]["regime"]
    'bi-region'
    """
    import altair as alt

    first, last = _span(path)
    kinks = [time for time in path.switch_times if first < time < last]
    times = np.unique(np.concatenate([np.geomspace(first, last, POINTS), kinks]))
    across, along = path.design(times)
    rows: Rows = [
        {"which": which, "time": float(t), "value": float(v)}
        for which, values in zip(SHADES, (across, along), strict=True)
        for t, v in zip(times, values, strict=True)
    ]
    ratio: Rows = [
        {"time": float(t), "value": float(v)} for t, v in zip(times, along / across, strict=True)
    ]
    x = alt.X(
        "time:Q",
        title="time, in rounds",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=axis(decades(first, last)),
    )
    band, words = _bands(path, first, last)
    low, high = min(across.min(), along.min()), 1.5 * max(across.max(), along.max())
    panels = []
    for data, title, look, marks in (
        (
            rows,
            "design",
            {
                "scale": alt.Scale(type="log", domain=[float(low), float(high)], nice=False),
                "axis": axis(decades(float(low), float(high))),
            },
            {
                "color": palette("which", SHADES, **STROKE),
                "strokeDash": dashes("which", PATTERNS, **STROKE),
            },
        ),
        (
            ratio,
            "y / x",
            {
                "scale": alt.Scale(
                    domain=[0.0, 1.15 * max(1.0, float((along / across).max()))], nice=False
                )
            },
            {"color": alt.value(INK)},
        ),
    ):
        y = alt.Y("value:Q", title=title, **look)
        told = [
            alt.Tooltip("time:Q", format=",.4~g"),
            alt.Tooltip("value:Q", title=title, format=",.4~g"),
        ]
        base = alt.Chart(rows_of(data)).encode(x=x, y=y)
        layers = [
            alt.Chart(rows_of(band))
            .mark_rect(opacity=0.3)
            .encode(x=x, x2="until:Q", color=alt.Color("shade:N", scale=None, legend=None)),
            base.mark_line(strokeWidth=2.5).encode(**marks),
            base.mark_point(size=140, opacity=0).encode(tooltip=told),
            alt.Chart(rows_of(words))
            .mark_text(color=MUTED, fontSize=12, baseline="top")
            .encode(x=x, y=alt.value(4), text="words:N"),
        ]
        panel = alt.layer(*layers).resolve_scale(color="independent", strokeDash="independent")
        panels.append(panel.properties(width=width, height=300))
    end = " and ".join(map(str, path.phases[-1].regions))
    worst = path.worst_case_dimension
    caption = (
        "The design across the direction of the censorship and along it, while the path plays the"
        f" regions numbered at the top. In the end it plays {end}. Effective dimension"
        f" {show(path.effective_dimension)}; d / p_min, the true worst case, is {show(worst)}."
    )
    numbers = {
        "regime": path.regime,
        "effective dimension": path.effective_dimension,
        "d / p_min": worst,
        "regions": list(path.regions),
        "switch times": list(path.switch_times),
    }
    title = f"The information path of {model}" if model else "The information path"
    chart = alt.hconcat(*panels, spacing=32)
    return framed(chart, name, title, caption, numbers, width=2 * width)


def _span(path: InformationPath) -> tuple[float, float]:
    """Return the first and last time drawn."""
    shown = [time for time in path.switch_times if 0.0 < time < LONGEST]
    pace = path.regularization / path.observe[-1]
    return (shown[0] / 30.0, 30.0 * shown[-1]) if shown else (0.1 * pace, 1000.0 * pace)


def _bands(path: InformationPath, first: float, last: float) -> tuple[Rows, Rows]:
    """Return a band for every other phase, and labels for those that have room."""
    band: Rows = []
    words: Rows = []
    for place, phase in enumerate(path.phases):
        start, end = max(phase.start, first), min(phase.end, last)
        if start >= end:
            continue
        shade = FILL if place % 2 else "transparent"
        band.append({"time": start, "until": end, "shade": shade})
        if math.log(end / start) > NARROW * math.log(last / first):
            middle = math.exp(0.5 * (math.log(start) + math.log(end)))
            words.append({"time": middle, "words": " and ".join(map(str, phase.regions))})
    return band, words
