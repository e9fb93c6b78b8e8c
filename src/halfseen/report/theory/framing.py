"""Shared parts of the theory's figures: title and caption, marks and the axis of angles."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from halfseen.report.core.panels import INK, Rows, config
from halfseen.theory.linear.turning import squared_sine

if TYPE_CHECKING:
    import altair as alt

WIDTH, HEIGHT = 660, 380  # pixels of a figure of one panel
HALF = 430  # width of one of two panels
# How a legend shows lines.
STROKE: dict[str, Any] = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolSize": 350}
LETTER = 6.3  # pixels of a letter of a caption, on average
ANGLES = tuple(range(0, 90, 15))  # ticks, in degrees


def framed(
    chart: Any,
    name: str,
    title: str,
    caption: str,
    numbers: dict[str, Any],
    *,
    width: int = WIDTH,
    columns: int = 0,
) -> Any:
    """Return a chart with title, caption and fonts, its name and key numbers in `usermeta`.

    Parameters
    ----------
    chart
        A layered chart, or several side by side.
    name
        Its file name, without the extension.
    title, caption
        What it shows and how to read it.
    numbers
        What the chart says, as plain numbers.
    width
        Of the whole, to which the caption is folded.
    columns
        Of the legends; 0 for one row.
    """
    import altair as alt

    look = config(["."])
    look["legend"] |= {"columns": columns, "labelLimit": 400}
    lines = textwrap.wrap(caption.replace(" = ", "\u00a0=\u00a0"), round(width / LETTER))
    return chart.configure(**look).properties(
        title=alt.TitleParams(title, subtitle=lines),
        usermeta={"name": name, "caption": caption, "numbers": numbers},
    )


def rows_of(rows: Rows) -> alt.Data:
    """Return rows as the data of a chart."""
    import altair as alt

    return alt.Data(values=rows)


def legend(**look: Any) -> alt.Legend:
    """Return a legend in a row above the chart, unless `look` says otherwise."""
    import altair as alt

    usual = {"title": None, "orient": "top", "direction": "horizontal", "symbolOpacity": 1}
    return alt.Legend(**(usual | look))


def palette(field: str, shades: dict[str, str], **look: Any) -> alt.Color:
    """Return a colour per name."""
    import altair as alt

    names = list(shades)
    scale = alt.Scale(domain=names, range=list(shades.values()))
    return alt.Color(f"{field}:N", sort=names, scale=scale, legend=legend(**look))


def dashes(field: str, patterns: Mapping[str, Sequence[int]], **look: Any) -> alt.StrokeDash:
    """Return a dash pattern per name; the same field and look share the legend of its colours."""
    import altair as alt

    names = list(patterns)
    scale = alt.Scale(domain=names, range=[list(dash) for dash in patterns.values()])
    return alt.StrokeDash(f"{field}:N", sort=names, scale=scale, legend=legend(**look))


def label(chart: Any, **look: Any) -> Any:
    """Return the field `words` next to marks."""
    style = {"color": INK, "fontSize": 12, "align": "left", "dx": 7} | look
    return chart.mark_text(**style).encode(text="words:N")


def angle_axis(highest: float) -> alt.X:
    """Return an axis on the scale of sin², on which the lines of the theory are straight.

    Parameters
    ----------
    highest
        The largest squared sine drawn.
    """
    import altair as alt

    ticks = [sine for degrees in ANGLES if (sine := squared_sine(math.radians(degrees))) <= highest]
    return alt.X(
        "sine:Q",
        title="lowest angle of a region, on the scale of its squared sine",
        scale=alt.Scale(domain=[0.0, highest], nice=False),
        axis=alt.Axis(
            values=ticks, labelExpr="format(asin(sqrt(datum.value)) * 180 / PI, '.0f') + '°'"
        ),
    )


def degrees(angle: float) -> str:
    """Format an angle given in radians.

    >>> degrees(math.pi / 3), degrees(0.2)
    ('60°', '11.5°')
    """
    return f"{round(math.degrees(angle), 1):g}°"
