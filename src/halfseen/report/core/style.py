"""The style of the reports, for your own charts."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.report.core.panels import FILL, PALETTE, Figure, config
from halfseen.report.core.scales import SHORT

if TYPE_CHECKING:
    import altair as alt

LETTERS = 68  # of a note, to the width of a panel


def styled(chart: alt.Chart) -> alt.Chart:
    """Return an Altair chart with the fonts, colours and spacing of the reports.

    Parameters
    ----------
    chart
        Any chart. Its own settings take precedence.

    Returns
    -------
    altair.Chart
        The chart, ready for ``save("name.svg")``, which needs no network.

    Examples
    --------
    >>> import altair as alt
    >>> rows = alt.Data(values=[{"p": 0.1, "dimension": 10.0}, {"p": 1.0, "dimension": 1.0}])
    >>> chart = alt.Chart(rows).mark_line().encode(x="p:Q", y="dimension:Q")
    >>> styled(chart).to_dict()["config"]["range"]["category"][0]
    '#0072B2'
    """
    look: dict[str, Any] = config([" "])
    look["legend"] |= {"orient": "top", "title": None, "columns": 0, "symbolOpacity": 1}
    look["axis"] |= {"labelExpr": SHORT, "tickCount": 6}
    look["view"] |= {"continuousWidth": 440, "continuousHeight": 270}
    look |= {
        "padding": {"left": 20, "right": 12, "top": 8, "bottom": 8},  # fonts differ in width
        "range": {"category": list(PALETTE)},
        "line": {"strokeWidth": 2},
        "bar": {"color": PALETTE[0]},
        "area": {"color": FILL},
        "axisBand": {"labelExpr": "datum.label", "grid": False},
    }
    own = chart.copy(deep=True)
    _keep_formats(own)
    return own.configure(**look)


def _keep_formats(part: Any) -> None:
    """Keep the format of an axis that has one: the style's `labelExpr` would replace it."""
    for name in ("layer", "hconcat", "vconcat", "concat", "spec"):
        inside = part._get(name, [])
        for inner in inside if isinstance(inside, list) else [inside]:
            _keep_formats(inner)
    encoding = part._get("encoding", None)
    for channel in ("x", "y"):
        position = encoding and encoding._get(channel, None)
        axis: Any = position._get("axis", None) if hasattr(position, "_get") else None
        given = axis if isinstance(axis, dict) else axis.to_dict() if axis else {}
        if "format" in given and "labelExpr" not in given:
            axis["labelExpr"] = "datum.label"


def chart_of(figure: Figure) -> alt.Chart:
    """Return a figure of a report as an Altair chart with its data inside.

    Parameters
    ----------
    figure
        What a report draws; one panel becomes a chart without facets, whose size can be set.
    """
    import altair as alt

    if figure.trouble:
        raise InvalidInput("chart", "cannot be drawn", figure.title, figure.trouble)
    size = figure.spec["usermeta"]
    lines = textwrap.wrap(figure.note, LETTERS * size["columns"])
    parts = {"title": {"text": figure.title, "subtitle": lines}, "data": {"values": figure.rows}}
    whole = {key: figure.spec[key] for key in figure.spec if key not in ("usermeta", "$schema")}
    if size["panels"] > 1:
        return alt.Chart.from_dict(whole | parts)
    kept = {key: whole[key] for key in ("config", "params") if key in whole}
    return alt.Chart.from_dict(whole["spec"] | kept | parts)
