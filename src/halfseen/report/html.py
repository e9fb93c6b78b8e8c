"""The report: one page that needs nothing else, and its charts as files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from halfseen.report import growth, proofs, sections
from halfseen.report.charts import figures
from halfseen.report.markup import Html, data_island, join, tag
from halfseen.report.measures import left_out, shown
from halfseen.report.panels import Figure, Rows
from halfseen.result import Result
from halfseen.spec import to_toml
from halfseen.storage import write_bytes, write_text

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def write_report(result: Result, folder: Path | str) -> Path:
    """Write a study's report.

    Parameters
    ----------
    result
        What `simulate` returned or `Result.load` read.
    folder
        Where to write ``report.html``, which needs no network and no other file, and next to it
        ``spec.toml``, ``summary.csv`` and every chart as SVG and PNG in ``charts``.

    Returns
    -------
    pathlib.Path
        The page.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=50, replications=2)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(simulate(study), folder).name
    'report.html'
    """
    folder = Path(folder)
    part = shown(result)
    drawn = {i: figures(part, i) for i in range(len(part.study.problems))}
    everything = [figure for row in drawn.values() for figure in row]
    for figure in everything:
        write_images(figure, folder / "charts")
    write_text(folder / "spec.toml", to_toml(result.study))
    write_text(folder / "summary.csv", result.summary().to_csv())
    path = folder / "report.html"
    write_text(path, page(result, part, drawn))
    return path


def page(result: Result, part: Result, drawn: dict[int, list[Figure]]) -> str:
    """Return the whole page.

    Parameters
    ----------
    result
        Everything.
    part
        What there is room for one by one.
    drawn
        The charts of each problem of that part.
    """
    rest = left_out(result.study, part.study)
    body = [
        sections.top(result),
        tag(
            "main",
            sections.answer_section(part, rest),
            sections.run_section(result),
            sections.numbers_section(result),
            sections.charts_section(part, drawn, rest),
            *(
                [growth.growth_section(part)]
                if part.study.linear and 1.0 in part.study.alphas
                else []
            ),
            proofs.bounds_section(part),
            proofs.events_section(result),
            sections.again_section(result),
        ),
    ]
    return document(body, [figure for row in drawn.values() for figure in row])


def document(body: Sequence[Html], drawn: Sequence[Figure]) -> str:
    """Return a page that needs nothing else: its parts, its charts and what draws them."""
    specs = {f.name: {k: v for k, v in f.spec.items() if k != "$schema"} for f in drawn}
    charts = {"specs": specs, "data": {f.key: packed(f.rows) for f in drawn}}
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Html('<meta name="color-scheme" content="light dark">'),
            tag("title", "What missing feedback costs"),
            Html(f"<style>\n{_resource('page.css')}</style>"),
        ]
    )
    parts = join(
        [
            *body,
            tag("footer", tag("p", "Written by halfseen. This page makes no network request.")),
            data_island("chart-data", charts),
            Html(f"<script>{_drawing_code()}</script>"),
            Html(f"<script>{_resource('page.js')}</script>"),
        ]
    )
    whole = tag("html", tag("head", head), tag("body", parts), lang="en")
    return f"<!doctype html>\n{whole}\n"


def write_images(figure: Figure, folder: Path) -> None:
    """Write a chart as SVG and PNG."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(figure.still, vl_version=_version())
    write_text(folder / f"{figure.name}.svg", svg)
    write_bytes(folder / f"{figure.name}.png", vl_convert.svg_to_png(svg, scale=2))


def packed(rows: Rows) -> dict[str, Any]:
    """Return rows as columns, words as numbers into a list: a fifth of the size.

    >>> packed([{"a": "x", "b": 1.5}, {"a": "x"}])
    {'fields': ['a', 'b'], 'columns': [[0, 0], [1.5, None]], 'words': {'a': ['x']}}
    """
    fields = list(dict.fromkeys(field for row in rows for field in row))
    columns, words = [], {}
    for field in fields:
        column = [row.get(field) for row in rows]
        if any(isinstance(value, str) for value in column):
            words[field] = list(dict.fromkeys(value for value in column if value is not None))
            numbers = {word: i for i, word in enumerate(words[field])}
            column = [None if value is None else numbers[value] for value in column]
        columns.append(column)
    return {"fields": fields, "columns": columns, "words": words}


def _version() -> str:
    """Return the Vega-Lite version the charts are written in, as vl-convert wants it."""
    import altair as alt

    return str(alt.SCHEMA_VERSION).rpartition(".")[0]


@cache
def _drawing_code() -> str:
    """Return the JavaScript that draws charts, in which no text ends the script element."""
    import vl_convert

    code = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _resource(name: str) -> str:
    return files("halfseen.report").joinpath(name).read_text(encoding="utf-8")
