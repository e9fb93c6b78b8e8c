"""Rows and tooltips of curves, shared by all charts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.report.core.panels import Rows
from halfseen.report.core.scales import rounded
from halfseen.report.study.measures import Place


def hints(title: str) -> list[Any]:
    """Return the tooltips of a curve."""
    import altair as alt

    return [
        alt.Tooltip("mean:Q", title=title, format=",.4~g"),
        alt.Tooltip("half:Q", title="± 95%", format=",.2~g"),
    ]


def curve_rows(place: Place, rounds: NDArray[np.int64], mean: Vector, half: Vector) -> Rows:
    """Return a policy's curve."""
    names = {"kind": "policy", "censorship": place.names[1], "policy": place.names[2]}
    return [
        names
        | {
            "round": int(time),
            "mean": rounded(m),
            "half": rounded(h, 3),
            "mark": int(time == rounds[-1]),
        }
        for time, m, h in zip(rounds, mean, half, strict=True)
    ]


def bound_rows(
    place: Place, rounds: NDArray[np.int64], name: str, values: Vector, told: int = -1
) -> Rows:
    """Return a bound's curve where it is finite; its label stands at checkpoint `told`."""
    names = {"kind": "bound", "censorship": place.names[1], "policy": name}
    return [
        names | {"round": int(time), "mean": rounded(value), "mark": int(time == rounds[told])}
        for time, value in zip(rounds, values, strict=True)
        if np.isfinite(value)
    ]
