"""Charts that `plot` returns, for notebooks: plain Altair, in the style of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.report.core.scales import rounds_axis
from halfseen.report.core.style import chart_of, styled
from halfseen.report.study.corridor import corridor_figures
from halfseen.report.study.measures import drawn_checkpoints
from halfseen.studies.student_intervals import mean_and_half
from halfseen.tables import listed

if TYPE_CHECKING:
    import altair as alt

    from halfseen.studies.result import Result

AXES = ("problem", "censorship", "policy")
WIDTH, HEIGHT, ACROSS = 320, 220, 2
EXTENT = 34  # pixels for the labels of an axis, so that panels are aligned


def regret_chart(result: Result, problem: str | None = None) -> alt.Chart:
    """Return mean regret by round with its 95% band, one panel per problem and censorship."""
    study = result.study
    recorded = drawn_checkpoints(study)
    rounds = study.rounds_recorded[recorded]
    rows = []
    for position, _ in study.cells():
        mean, half = mean_and_half(result.tracks["regret"][position][:, recorded])
        where = names_at(study, position)
        if problem not in (None, where["problem"]):
            continue
        for time, m, h in zip(rounds, mean, half, strict=True):
            low, high = float(m - h), float(m + h)
            rows.append(where | {"round": int(time), "regret": float(m), "low": low, "high": high})
    return _panels(rows, study)


def corridor_chart(result: Result, problem: str | None) -> alt.Chart:
    """Return regret between its lower and upper bounds, one panel per censorship."""
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


def names_at(study: Any, position: Sequence[int]) -> dict[str, Any]:
    """Return the names of a cell, and of its world: problem and censorship, of several."""
    groups = (study.problems, study.censorships, study.policies)
    named = {axis: list(group)[i] for axis, group, i in zip(AXES, groups, position, strict=True)}
    worlds = [
        named[axis] for axis, group in zip(AXES[:2], groups[:2], strict=True) if len(group) > 1
    ]
    return named | {"world": ", ".join(worlds)}


def _panels(rows: list[dict[str, Any]], study: Any) -> alt.Chart:
    import altair as alt

    x = rounds_axis(study.horizon, log=False)
    base = alt.Chart().encode(x=x, color=alt.Color("policy:N", sort=list(study.policies)))
    y = {
        "title": "regret",
        "scale": alt.Scale(domainMin=0, clamp=True),
        "axis": alt.Axis(minExtent=EXTENT),
    }
    band = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    tips = [
        alt.Tooltip("policy:N"),
        alt.Tooltip("round:Q", format=","),
        alt.Tooltip("regret:Q", format=",.4~g"),
    ]
    line = base.mark_line().encode(y=alt.Y("regret:Q", **y), tooltip=tips)
    worlds = list(dict.fromkeys(row["world"] for row in rows))
    chart = alt.layer(band, line, data=alt.Data(values=rows))
    chart = chart.properties(width=WIDTH, height=HEIGHT)
    if len(worlds) > 1:
        header = alt.Header(labelAnchor="start", labelFontSize=13, labelFontWeight=600)
        facet = alt.Facet("world:N", sort=worlds, title=None, header=header)
        chart = chart.facet(facet, columns=ACROSS).resolve_axis(x="independent")
        if len(study.problems) > 1:
            chart = chart.resolve_scale(y="independent")
    return styled(chart)
