"""Charts that `plot` returns, for notebooks: plain Altair, in the look of the reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.report.core.style import chart_of, styled
from halfseen.report.study.corridor import corridor_figures
from halfseen.report.study.measures import drawn_checkpoints, mean_and_half
from halfseen.tables import listed

if TYPE_CHECKING:
    import altair as alt

    from halfseen.studies.result import Result
    from halfseen.studies.sweep import Sweep

AXES = ("problem", "censorship", "policy")
WIDTH, HEIGHT, ACROSS = 320, 220, 2
MOST_TICKS = 8


def regret_chart(result: Result, problem: str | None = None) -> alt.Chart:
    """Return mean regret by round with its 95% band, one panel per problem and censorship."""
    study = result.study
    recorded = drawn_checkpoints(study)
    rounds = study.rounds_recorded[recorded]
    rows = []
    for position, _ in study.cells():
        mean, half = mean_and_half(result.tracks["regret"][position][:, recorded])
        where = _names(study, position)
        if problem not in (None, where["problem"]):
            continue
        for time, m, h in zip(rounds, mean, half, strict=True):
            low, high = float(m - h), float(m + h)
            rows.append(where | {"x": int(time), "regret": float(m), "low": low, "high": high})
    return _panels(rows, study, "round", log_y=False, points=False)


def corridor_chart(result: Result, problem: str | None) -> alt.Chart:
    """Return regret between what is proved below and above, one panel per censorship."""
    names = list(result.study.problems)
    if problem is None and len(names) > 1:
        raise InvalidInput(
            "problem",
            "must be named: the corridor is of one of several problems",
            problem,
            f"Use one of: {listed(names)}.",
        )
    place = 0 if problem is None else names.index(problem)
    figures = corridor_figures(result, place)
    if not figures:
        raise InvalidInput(
            "what",
            "must be a chart this study has",
            "corridor",
            'Bounds above and below are known for UCB on armed bandits; use "regret".',
        )
    return chart_of(figures[0])


def sweep_chart(sweep: Sweep) -> alt.Chart:
    """Return regret at the horizon against the varied number, with 95% intervals."""
    rows = []
    for value, result in zip(sweep.values, sweep.results, strict=True):
        for position, _ in result.study.cells():
            mean, half = mean_and_half(result.tracks["regret"][position][:, -1])
            low, high = float(mean - half), float(mean + half)
            where = _names(result.study, position)
            rows.append(where | {"x": value, "regret": float(mean), "low": low, "high": high})
    positive = all(row["low"] > 0 for row in rows)
    return _panels(rows, sweep.results[0].study, sweep.coordinate, log_y=positive, points=True)


def _names(study: Any, position: Sequence[int]) -> dict[str, Any]:
    groups = (study.problems, study.censorships, study.policies)
    named = {axis: list(group)[i] for axis, group, i in zip(AXES, groups, position, strict=True)}
    worlds = [
        named[axis] for axis, group in zip(AXES[:2], groups[:2], strict=True) if len(group) > 1
    ]
    return named | {"world": ", ".join(worlds)}


def _panels(
    rows: list[dict[str, Any]], study: Any, x: str, *, log_y: bool, points: bool
) -> alt.Chart:
    import altair as alt

    values = sorted({row["x"] for row in rows})
    log_x = values[0] > 0
    scale = alt.Scale(type="log" if log_x else "linear", nice=False)
    ticks = values if points and len(values) <= MOST_TICKS else _decades(values) if log_x else None
    axis = alt.Axis(values=ticks) if ticks else alt.Axis(tickCount=MOST_TICKS)
    base = alt.Chart().encode(
        x=alt.X("x:Q", title=x, scale=scale, axis=axis),
        color=alt.Color("policy:N", sort=list(study.policies)),
    )
    y_scale = alt.Scale(type="log") if log_y else alt.Scale(domainMin=0, clamp=True)
    ends = {"y": alt.Y("low:Q", scale=y_scale, title="regret"), "y2": "high:Q"}
    tips = [
        alt.Tooltip("policy:N"),
        alt.Tooltip("x:Q", title=x, format=",.4~g"),
        alt.Tooltip("regret:Q", format=",.4~g"),
    ]
    line = base.mark_line(point=points).encode(
        y=alt.Y("regret:Q", scale=y_scale, title="regret"), tooltip=tips
    )
    spread = base.mark_rule() if points else base.mark_area(opacity=0.2)
    worlds = list(dict.fromkeys(row["world"] for row in rows))
    data = alt.Data(values=rows)
    chart = alt.layer(spread.encode(**ends), line, data=data)
    chart = chart.properties(width=WIDTH, height=HEIGHT)
    if len(worlds) > 1:
        header = alt.Header(labelAnchor="start", labelFontSize=13, labelFontWeight=600)
        facet = alt.Facet("world:N", sort=worlds, title=None, header=header)
        chart = chart.facet(facet, columns=ACROSS).resolve_axis(x="independent")
        if len(study.problems) > 1:
            chart = chart.resolve_scale(y="independent")
    return styled(chart)


def _decades(values: list[float]) -> list[float]:
    """Return the powers of ten among the values' range; none if there are fewer than two."""
    powers = range(math.ceil(math.log10(values[0])), math.floor(math.log10(values[-1])) + 1)
    return [10.0**power for power in powers] if len(powers) > 1 else []
