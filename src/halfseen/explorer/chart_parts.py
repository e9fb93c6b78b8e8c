"""Vega-Lite specifications written directly: building them with Altair is too slow for a slider."""

from __future__ import annotations

from typing import Any

from halfseen.report.core.panels import INK as INK
from halfseen.report.core.panels import MUTED as MUTED
from halfseen.report.core.panels import PALETTE as PALETTE
from halfseen.report.core.panels import config
from halfseen.report.core.scales import SHORT

HEIGHT = 240
PAPER = "#ffffff"
LOG_TICKS = [digit * 10.0**power for power in range(-4, 10) for digit in (1, 3)]
Spec = dict[str, Any]


def chart(layers: list[Spec], *, height: int = HEIGHT, **more: Any) -> Spec:
    """Return a layered chart of the data named ``rows``, as wide as its container."""
    look = config([" "])
    look["legend"] |= {"orient": "top", "title": None, "columns": 3, "symbolOpacity": 1}
    look["background"] = PAPER  # of a saved picture; pages draw none
    size = {"width": "container", "height": height, "autosize": {"type": "fit-x"}}
    return {"data": {"name": "rows"}, "layer": layers, "config": look} | size | more


def axis(field: str, title: str, *, log: bool = False, zero: bool = True, **more: Any) -> Spec:
    """Return the channel of a number, with short labels."""
    scale: Spec = {"type": "log", "nice": False} if log else {"zero": zero}
    ticks: Spec = {"values": LOG_TICKS} if log else {"tickCount": 5}
    shown = {"labelExpr": SHORT, "labelOverlap": True} | ticks | more.pop("axis", {})
    base = {"field": field, "type": "quantitative", "title": title}
    return base | {"scale": scale | more.pop("scale", {}), "axis": shown} | more


def share(field: str, title: str) -> Spec:
    """Return the channel of a probability, from 0% to 100%."""
    look = {"format": "%", "labelExpr": "datum.label", "values": [0, 0.25, 0.5, 0.75, 1]}
    return axis(field, title, scale={"domain": [0, 1]}, axis=look)


def arms_axis() -> Spec:
    """Return the channel of the arms, by their number."""
    look = {"labelAngle": 0, "grid": False}
    return {"field": "arm", "type": "ordinal", "title": "arm", "axis": look}


def colours(field: str, names: list[str], **more: Any) -> Spec:
    """Return a colour for each name, safe for colour-blind readers."""
    shades = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    return {
        "field": field,
        "type": "nominal",
        "sort": names,
        "scale": {"domain": names, "range": shades},
        "legend": {"title": None} | more,
    }


def only(kind: str) -> list[Spec]:
    """Return the transform that keeps the rows of a kind."""
    return [{"filter": f"datum.kind == '{kind}'"}]


def told(*fields: tuple[str, str]) -> list[Spec]:
    """Return tooltips of numbers by their fields and titles."""
    return [
        {"field": name, "type": "quantitative", "title": title, "format": ",.4~g"}
        for name, title in fields
    ]


def upright(text: str) -> Spec:
    """Return a vertical rule at the field ``at`` of rows of the kind ``rule``, with a label."""
    place = {"field": "at", "type": "quantitative"}
    return {
        "transform": only("rule"),
        "layer": [
            {
                "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]},
                "encoding": {"x": place},
            },
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 5,
                    "baseline": "top",
                    "color": MUTED,
                    "text": text,
                },
                "encoding": {"x": place, "y": {"value": 2}},
            },
        ],
    }


def intervals(names: list[str], field: str, channel: Any, **more: Any) -> Spec:
    """Return a chart of one number per name with its interval, from ``low`` to ``high``.

    Parameters
    ----------
    names
        Written beside the rows, by their field ``place``.
    field
        The number.
    channel
        Makes the channel of a field.
    more
        Titles of the tooltip by field.
    """
    y = {
        "field": "place",
        "type": "ordinal",
        "title": None,
        "axis": {"labelExpr": "names[datum.value]", "labelLimit": 160, "grid": False},
    }
    bars = {
        "mark": {"type": "rule", "strokeWidth": 2, "color": MUTED},
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "encoding": {"y": y, "x": channel("low"), "x2": {"field": "high"}},
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 60, "color": PALETTE[0]},
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "encoding": {"y": y, "x": channel(field), "tooltip": told(*more.items())},
    }
    return chart(
        [bars, dots],
        height=max(120, 22 * len(names)),
        params=[{"name": "names", "value": names}],
    )
