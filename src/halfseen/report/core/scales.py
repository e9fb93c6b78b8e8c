"""Axes with short labels: rounds, decades, shares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt

SHORT = "datum.value < 1000 ? format(datum.value, '~g') : format(datum.value, '~s')"


def rounds_axis(horizon: int, log: bool) -> alt.X:
    """Return the horizontal axis of rounds."""
    import altair as alt

    if log:
        scale = alt.Scale(type="log", domain=[1, horizon], nice=False)
        return alt.X("round:Q", title="round", scale=scale, axis=axis(decades(1, horizon)))
    scale = alt.Scale(domain=[0, horizon], nice=False)
    return alt.X("round:Q", title="round", scale=scale, axis=axis(step=1))


def axis(values: list[float] | None = None, step: int = 0) -> alt.Axis:
    """Return an axis with short numbers, at given values or at a few round ones a step apart."""
    import altair as alt

    ticks: dict[str, Any] = (
        {"tickCount": 5, "tickMinStep": step} if values is None else {"values": values}
    )
    return alt.Axis(labelExpr=SHORT, **ticks)


def decades(low: float, high: float) -> list[float]:
    """Return the powers of ten in an interval, or finer ticks where there are few.

    >>> decades(1, 20000), decades(3, 40)
    ([1.0, 10.0, 100.0, 1000.0, 10000.0], [5.0, 10.0, 20.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = max(1, (last - first) // 6)
    for digits in ((1,), (1, 2, 5)):
        ticks = [
            float(f"{digit}e{power}")
            for power in range(first, last + 1, step)
            for digit in digits
            if low <= float(f"{digit}e{power}") <= high
        ]
        if len(ticks) > 2:
            break
    return ticks


def axis_of_shares(title: str = "share of feedback seen") -> dict[str, Any]:
    """Return the properties of an axis from 0% to 100%."""
    import altair as alt

    return {
        "title": title,
        "scale": alt.Scale(domain=[0, 1]),
        "axis": alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    }


def rounded(value: float, digits: int = 5) -> float:
    """Return a number rounded to as many digits as a chart can show."""
    return float(f"{value:.{digits}g}")
