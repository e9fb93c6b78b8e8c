"""The page of a sweep: regret against a number, its slope, and every number."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from halfseen import __version__
from halfseen.phrases import counted
from halfseen.report.core.document import (
    NO_SCRIPT,
    charts_of,
    code,
    document,
    figure_place,
    section,
    stamp_of,
)
from halfseen.report.core.drawing import with_images
from halfseen.report.core.markup import Html, table, tag
from halfseen.report.core.panels import CHOSEN, HINTS, Figure, Panels, Rows
from halfseen.report.core.scales import axis, decades
from halfseen.report.study.page_folder import INCOMPLETE, PAGE, check_sweep_page
from halfseen.report.study.plots import names_at
from halfseen.report.study.sections import imports
from halfseen.studies.policy_comparison import AXES, leaders
from halfseen.studies.storage import write_text
from halfseen.studies.student_intervals import mean_and_half, mean_interval
from halfseen.studies.toml_text import to_toml
from halfseen.tables import Table, show, with_error

if TYPE_CHECKING:
    from halfseen.studies.sweep import Sweep

MOST_TICKS = 8


class _Named(NamedTuple):
    """The names of panels and colours."""

    censorships: list[str]
    policies: list[str]


def write_sweep(sweep: Sweep, folder: Path) -> Path:
    """Write the page, its chart, the spec and the numbers."""
    study = sweep.results[0].study
    check_sweep_page(folder, sweep.path, sweep.at)
    if not study.functions:
        write_text(folder / "spec.toml", to_toml(study, (sweep.path, sweep.values)))
    write_text(folder / "summary.csv", sweep.summary().to_csv())
    figures = with_images([sweep_figure(sweep)], folder / "charts")
    failed = any(figure.trouble for figure in figures)
    stamp = INCOMPLETE if failed else sweep_stamp(sweep)
    body = _body(sweep, figures[0])
    write_text(folder / PAGE, document(_title(sweep), body, charts_of(figures), stamp))
    return folder / PAGE


def sweep_stamp(sweep: Sweep) -> str:
    """Return what decides the page: the version that writes it and the numbers it is about."""
    parts = [sweep.path, *(result.study.digest() for result in sweep.results)]
    return f"{__version__} {hashlib.sha256(' '.join(parts).encode()).hexdigest()[:32]}"


def sweep_page_is_current(sweep: Sweep, folder: Path) -> bool:
    """Return whether the folder holds the page of these numbers, written by this version."""
    return stamp_of(folder / PAGE) == sweep_stamp(sweep)


def sweep_figure(sweep: Sweep) -> Figure:
    """Return regret at the horizon against the varied number, with 95% intervals."""
    import altair as alt

    rows = _rows(sweep)
    worlds = list(dict.fromkeys(row["censorship"] for row in rows))
    panels = Panels(_Named(worlds, list(sweep.results[0].study.policies)))
    values, log = sorted(sweep.values), min(sweep.values) > 0
    ticks = values if len(values) <= MOST_TICKS else None
    if ticks is None and log:
        ticks = decades(values[0], values[-1])
    x = alt.X(
        "x:Q",
        title=sweep.coordinate,
        scale=alt.Scale(type="log" if log else "linear", nice=False, padding=8),
        axis=axis(ticks),
    )
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    above: dict[str, Any] = {"scale": alt.Scale(domainMin=0, clamp=True), "axis": axis()}
    if low > 0:
        scale = alt.Scale(type="log", domain=[low / 1.1, 1.1 * high], nice=False)
        above = {"scale": scale, "axis": axis(decades(low / 1.1, 1.1 * high))}
    base = alt.Chart().encode(x=x)
    line = base.encode(
        y=alt.Y("regret:Q", title="regret", **above), color=panels.colour(), opacity=panels.faded()
    )
    pick = alt.selection_point(name=CHOSEN, fields=["policy"], bind="legend")
    tips = [
        alt.Tooltip("policy:N"),
        alt.Tooltip("x:Q", title=sweep.coordinate, format=",.4~g"),
        alt.Tooltip("regret:Q", format=",.4~g"),
    ]
    layers = [
        base.mark_rule(strokeWidth=1.5).encode(
            y=alt.Y("low:Q", title="regret", **above),
            y2="high:Q",
            color=panels.colour(),
            opacity=panels.faded(),
        ),
        line.mark_line(strokeWidth=2).encode(**panels.dash()).add_params(pick),
        line.mark_point(filled=True, size=46),
        base.mark_point(size=160, opacity=0)
        .encode(y=alt.Y("regret:Q", title="regret", **above), tooltip=tips)
        .properties(name=HINTS),
    ]
    note = f"Mean regret by {sweep.coordinate}, with its 95% interval."
    if log and low > 0:
        note += " Both axes are logarithmic"
        note += ": a straight line is a power law." if sweep.has_slope else "."
    subject = "" if len(worlds) > 1 else worlds[0]
    titles = ("Regret at the last round", note, subject or _title(sweep))
    return panels.draw("sweep", titles, layers, rows, "sweep", names=worlds if worlds[0] else [])


def _rows(sweep: Sweep) -> Rows:
    rows: Rows = []
    for value, result in zip(sweep.values, sweep.results, strict=True):
        for position, _ in result.study.cells():
            mean, half = mean_and_half(result.tracks["regret"][position][:, -1])
            names = names_at(result.study, position)
            ends = {"low": float(mean - half), "high": float(mean + half)}
            where = {"censorship": names["world"], "policy": names["policy"]}
            rows.append(where | {"x": value, "regret": float(mean)} | ends)
    return rows


def _title(sweep: Sweep) -> str:
    return f"Regret against {sweep.coordinate}"


def _body(sweep: Sweep, figure: Figure) -> list[Html]:
    study = sweep.results[0].study
    facts = f"A sweep of {sweep.path}: {counted('value', len(sweep.values))}"
    facts += "" if sweep.path in ("horizon", "replications") else f", {study.size}"
    header = tag(
        "header",
        tag("p", facts, class_="eyebrow"),
        tag("h1", _title(sweep)),
        tag("p", _lead(sweep), class_="lead"),
        NO_SCRIPT,
    )
    parts = [tag("section", figure_place(figure), id="chart")]
    if sweep.has_slope:
        said = tag("p", _slope_in_words(sweep))
        parts.append(section("slope", "Slopes", said, _table(sweep.slope(), "Slopes")))
    parts.append(section("numbers", "Numbers", _table(sweep.summary(), "Numbers")))
    if not study.functions:
        spec = to_toml(study, (sweep.path, sweep.values))
        command = f"halfseen study sweep.toml{imports(study)}"
        again = tag("p", f"Save this as sweep.toml and run: {command}")
        parts.append(section("again", "Run it again", again, code(spec, tabindex="0")))
    return [header, tag("main", *parts)]


def _slope_in_words(sweep: Sweep) -> str:
    """Explain the slope, and the values to expect for this number."""
    known = ""
    if sweep.path == "horizon":
        known = " 1/2 where regret grows like the square root of the horizon, 1 where it is linear,"
    elif sweep.path.startswith("censorships.") and sweep.coordinate == "observe":
        known = (
            " −1/2 against the probability of being observed where regret falls like the square"
            " root of 1/p, −1 where it falls like 1/p,"
        )
    return (
        "The slope of log regret against log value, by least squares, with its 95% interval:"
        f"{known} 0 where regret does not depend on the number."
    )


def _lead(sweep: Sweep) -> str:
    """Return who may be the best, and the regret, at the least and the largest value."""
    order = sorted(range(len(sweep.values)), key=lambda i: sweep.values[i])
    several = len(sweep.results[0].study.policies) > 1
    told = []
    for i in (order[0], order[-1]):
        result = sweep.results[i]
        world = leaders(result)[0]
        place = list(result.study.policies).index(world.names[0])
        regret = mean_interval(result.tracks["regret"][0, 0, place, :, -1]).text
        loses = f"{world}, losing" if world.tie else f"{world} loses{' least,' * several}"
        told.append((loses, f"{regret} at {sweep.coordinate} {show(sweep.values[i])}"))
    (first, low), (last, high) = told
    where = names_at(sweep.results[0].study, (0, 0, 0))["world"]
    then = f" and {high}" if last == first else f"; {last} {high}"
    then = then if len(order) > 1 else ""
    least = f"{first} {low}{then}"
    return f"{where}: {least}." if where else f"{least}."


def _table(found: Table, label: str) -> Html:
    """Return a table in which a column of errors joins the one before it."""
    error = next(name for name in found.columns if name.startswith("±"))
    place = found.columns.index(error)
    heads = [name for name in found.columns if name != error]
    rows = []
    for row in found.rows:
        value, half = row[place - 1], row[place]
        text = "–" if value is None else show(value) if half is None else with_error(value, half)
        rows.append([*map(show, row[: place - 1]), text, *map(show, row[place + 1 :])])
    words = [i for i, name in enumerate(heads) if name in AXES]
    return table(heads, rows, words=words, label=label)
