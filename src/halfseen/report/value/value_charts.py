"""The charts of a policy's value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.report.audit.charts import short
from halfseen.report.core.arm_rows import points
from halfseen.report.core.drawing import attempt
from halfseen.report.core.panels import MUTED, PALETTE, Figure, Rows, faceted
from halfseen.report.core.scales import axis
from halfseen.report.core.style import chart_of
from halfseen.tables import level_name

if TYPE_CHECKING:
    import altair as alt

    from halfseen.values.policy_value import PolicyValue

REWARD = "reward per decision"
FURTHEST = 20.0  # the largest Gamma drawn
STEPS = 31


def value_figures(found: PolicyValue) -> dict[str, list[Figure]]:
    """Return the charts of each section of the page."""
    name = short(found.log)
    figures = {
        "policies": attempt(
            "value-policies", "Value of each policy", lambda: [policies_chart(found, name)]
        ),
        "estimates": attempt(
            "value-estimates", "Estimates", lambda: [estimates_chart(found, name)]
        ),
        "differ": [],
    }
    if found.seen < found.rows:
        figures["differ"] = attempt(
            "value-differ", "Bounds against Gamma", lambda: [differ_chart(found, name)]
        )
    return figures


def value_chart(found: PolicyValue, what: str) -> alt.Chart:
    """Return one of the charts of a value, by its name in `value_figures`."""
    drawn = value_figures(found)
    figures = drawn[checks.one_of("what", what, drawn)]
    if not figures:
        needs = 'It needs missing rewards; use "policies".'
        raise InvalidInput("what", "must be a chart this value has", what, needs)
    return chart_of(figures[0])


def policies_chart(found: PolicyValue, name: str) -> Figure:
    """Return the policies' values with their intervals."""
    shown = [one for one in (found.target, found.compared) if one is not None]
    interval = f"{level_name(found.level)} interval"
    note = f"Reward per decision by {found.estimator}, with its {interval}."
    if found.compared is not None:
        note += (
            " Both use the same decisions, so overlapping intervals decide nothing: the difference"
            " has its own interval, in the table."
        )
    return points("value-policies", ("Value of each policy", note, name), _rows(shown), REWARD)


def estimates_chart(found: PolicyValue, name: str) -> Figure:
    """Return the policy's value by every estimator."""
    note = (
        f"The policy’s value by every estimator, with normal {level_name(found.level)}"
        " intervals. One without an interval is biased by its threshold, or rests on a regression"
        " whose error is not estimated. Estimators that disagree indicate wrong propensities or"
        " probabilities of being seen."
    )
    return points("value-estimates", ("Estimates", note, name), _rows(found.alternatives), REWARD)


def _rows(estimates: object) -> Rows:
    rows: Rows = []
    for one in estimates:  # type: ignore[attr-defined]
        row = {"panel": "all", "name": one.name, "value": one.value}
        if one.low <= one.high:
            row |= {"low": one.low, "high": one.high}
        rows.append(row)
    return rows


def differ_chart(found: PolicyValue, name: str) -> Figure:
    """Return the band of the difference, or of the value, against Gamma."""
    import altair as alt

    apart = found.difference is not None
    turn = found.tipping_gamma or math.inf
    last = FURTHEST if not 4.0 < turn < math.inf else min(5.0 * turn, 1e4)
    rows: Rows = []
    for gamma in np.geomspace(1.0, last, STEPS).tolist():
        one = found.bounds(gamma, difference=apart)
        low, high = one.interval(found.level)
        numbers = {"low": one.low, "high": one.high, "outer_low": low, "outer_high": high}
        rows.append({"panel": "all", "gamma": gamma} | numbers)
    ticks = [t for t in (1, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000, 10000) if t <= last]
    x = alt.X(
        "gamma:Q",
        title="how many times the odds of being seen differ",
        scale=alt.Scale(type="log", domain=[1.0, last], nice=False),
        axis=axis(ticks),
    )
    title = "difference per decision" if apart else REWARD
    y = {"title": title, "axis": axis(), "scale": alt.Scale(zero=False)}
    hints = [
        *(alt.Tooltip(f"{k}:Q", format=".3~g") for k in ("gamma", "low", "high")),
        alt.Tooltip("outer_low:Q", format=".3~g", title="with sampling error, low"),
        alt.Tooltip("outer_high:Q", format=".3~g", title="high"),
    ]
    base = alt.Chart().encode(x=x)
    blue = PALETTE[0]
    layers = [
        base.mark_area(opacity=0.1, color=blue).encode(
            y=alt.Y("outer_low:Q", **y), y2="outer_high:Q"
        ),
        base.mark_area(opacity=0.25, color=blue).encode(
            y=alt.Y("low:Q", **y), y2="high:Q", tooltip=hints
        ),
    ]
    if apart:
        layers.append(alt.Chart().mark_rule(color=MUTED).encode(y=alt.datum(0.0)))
    turning = apart and 1.0 < turn <= last
    if turning:
        layers.append(
            alt.Chart().mark_rule(strokeDash=[4, 3], color=MUTED).encode(x=alt.datum(turn))
        )
    note = (
        f"Bounds on the {'difference' if apart else 'value'} if the odds of being seen differ at"
        f" most by this factor between any two rewards of an arm {found.bounded[0].given}."
        f" Outer band: with its {level_name(found.level)} sampling error."
        " At 1, missing rewards are like seen ones."
        + (" Dashed: from here on the other policy may be better." if turning else "")
    )
    return faceted(
        "value-differ", ("Bounds against Gamma", note, name), layers, rows, "value-differ"
    )
