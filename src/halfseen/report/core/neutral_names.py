"""Keys that charts use instead of user-given names.

Vega compiles values into objects and expressions, where ``constructor`` or ``__proto__`` is not a
name like any other. So a chart's data and scales hold keys such as ``policy0``, and what is read
comes from one table of labels per field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from halfseen.tables import brief

Rows = list[dict[str, Any]]
FIELDS = ("policy", "censorship", "arm")  # fields whose values are names given by users
LONGEST = 60  # letters of a label
LISTS = {"": ("sort",), "scale": ("domain",), "legend": ("values",)}  # lists of names in a channel


def neutral(spec: dict[str, Any], rows: Rows) -> tuple[dict[str, Any], Rows]:
    """Return a chart and its rows with keys for names, and a table of labels in the chart.

    Parameters
    ----------
    spec
        A faceted chart in Vega-Lite, without its data.
    rows
        Its data. The same rows get the same keys in every chart.
    """
    keys: dict[str, dict[str, str]] = {}
    for field in FIELDS:
        values = [row[field] for row in rows if field in row]
        names = dict.fromkeys([*values, *_named(spec, field)])
        if names:
            keys[field] = {name: f"{field}{place}" for place, name in enumerate(names)}
    coded = [
        row | {field: keys[field][row[field]] for field in keys if field in row} for row in rows
    ]
    chart = _coded(spec, keys)
    chart["params"] = [
        *chart.get("params", ()),
        *(
            {"name": f"{field}_labels", "value": {key: label(name) for name, key in known.items()}}
            for field, known in keys.items()
        ),
    ]
    chart["transform"] = [
        *(
            {"calculate": _lookup(field, f"datum.{field}"), "as": f"{field}_label"}
            for field in keys
        ),
        *chart.get("transform", ()),
    ]
    return chart, coded


def label(name: object) -> str:
    """Return a name as one short line.

    >>> len(label("x" * 10_000))
    60
    """
    return brief(str(name), LONGEST)


def _lookup(field: str, key: str) -> str:
    return f"{field}_labels[{key}]"


def _lists(channel: dict[str, Any]) -> Iterable[tuple[dict[str, Any], str]]:
    for part, names in LISTS.items():
        holder = channel.get(part) if part else channel
        if isinstance(holder, dict):
            yield from ((holder, name) for name in names if isinstance(holder.get(name), list))


def _named(spec: Any, field: str) -> list[str]:
    """Return the names of a field's values that a chart lists."""
    if isinstance(spec, list):
        return [name for part in spec for name in _named(part, field)]
    if not isinstance(spec, dict):
        return []
    found = [name for part in spec.values() for name in _named(part, field)]
    if spec.get("field") == field:
        found += [name for holder, at in _lists(spec) for name in holder[at]]
    return found


def _coded(spec: Any, keys: dict[str, dict[str, str]], role: str = "") -> Any:
    """Return a chart with keys for names; `role` is what a part is called by its owner."""
    if isinstance(spec, list):
        return [_coded(part, keys, role) for part in spec]
    if not isinstance(spec, dict):
        return spec
    chart = {name: _coded(part, keys, name) for name, part in spec.items()}
    if role == "encoding":
        parts = [part for part in spec.values() if isinstance(part, dict)]
        named = dict.fromkeys(part["field"] for part in parts if part.get("field") in keys)
        if named:
            chart["description"] = {"value": {"expr": _said(named, spec.get("tooltip", []))}}
    field = chart.get("field")
    if field not in keys:
        return chart
    if role in ("tooltip", "text"):
        return {"title": field} | chart | {"field": f"{field}_label"}
    for holder, name in _lists(chart):
        holder[name] = [keys[field][entry] for entry in holder[name]]
    guide = {"color": "legend", "strokeDash": "legend", "y": "axis", "facet": "header"}.get(role)
    if guide is not None and chart.get(guide, {}) is not None:
        words: dict[str, Any] = {"labelExpr": _lookup(field, "datum.label")}
        if guide != "header":
            words["aria"] = False  # it would list the keys
        chart[guide] = words | chart.get(guide, {})
    return chart


def _said(named: Iterable[str], tooltip: Iterable[dict[str, Any]]) -> str:
    """Return an expression for a mark's accessible description: its names, then its numbers."""
    parts = " + ', ' + ".join(f"datum.{field}_label" for field in named)
    for tip in tooltip:
        if tip["field"] not in FIELDS:
            value = f"datum.{tip['field']}"
            value = f"format({value}, {json.dumps(tip['format'])})" if "format" in tip else value
            parts += f" + {json.dumps('; ' + tip.get('title', tip['field']) + ': ')} + {value}"
    return parts
