"""The report: one page that needs nothing else, and its charts as files."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from halfseen.report.core.drawing import drawing_code, with_images
from halfseen.report.core.markup import Html, data_island, join, tag
from halfseen.report.core.panels import Figure, Rows
from halfseen.report.study import corridor, growth, proofs, sections
from halfseen.report.study.charts import figures
from halfseen.report.study.measures import left_out, shown
from halfseen.studies.result import Result
from halfseen.studies.spec import to_toml
from halfseen.studies.storage import write_text

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"


def write_report(result: Result, folder: Path | str) -> Path:
    """Write a study's report.

    Parameters
    ----------
    result
        What `simulate` returned or `Result.load` read.
    folder
        Where to write ``report.html``, which needs no network and no other file, and next to it
        ``spec.toml`` (unless the study holds Python functions), ``summary.csv`` and every chart
        as SVG and PNG in ``charts``.

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
    if not result.study.functions:
        write_text(folder / "spec.toml", to_toml(result.study))
    write_text(folder / "summary.csv", result.summary().to_csv())
    planned = {i: figures(part, i) for i in range(len(part.study.problems))}
    everything = iter(
        with_images([figure for row in planned.values() for figure in row], folder / "charts")
    )
    drawn = {i: [next(everything) for _ in row] for i, row in planned.items()}
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
    everything = [figure for row in drawn.values() for figure in row]
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
            corridor.lower_section(part),
            proofs.events_section(result),
            sections.again_section(result),
        ),
    ]
    return document("What missing feedback costs", body, charts_of(everything))


def charts_of(drawn: Iterable[Figure]) -> dict[str, Any]:
    """Return charts and the data they share, as `document` takes them."""
    specs, data = {}, {}
    for figure in drawn:
        if figure.spec:
            spec, rows = figure.neutral
            specs[figure.name] = {k: v for k, v in spec.items() if k != "$schema"}
            data[figure.key] = packed(rows)
    return {"specs": specs, "data": data}


def document(title: str, body: Iterable[Html], charts: dict[str, Any]) -> str:
    """Return a whole page that needs no network.

    Parameters
    ----------
    title
        For the browser's tab.
    body
        What is read, without the footer.
    charts
        The charts as ``specs`` by name, and the ``data`` that several of them share.
    """
    head = join(
        [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Html('<meta name="color-scheme" content="light dark">'),
            tag("title", title),
            Html(f"<style>\n{_resource('page.css')}</style>"),
        ]
    )
    content = join(
        [
            *body,
            tag("footer", tag("p", "Written by halfseen. This page makes no network request.")),
            data_island("chart-data", charts),
            Html(f"<script>{drawing_code()}</script>"),
            Html(f"<script>{_resource('page.js')}</script>"),
        ]
    )
    whole = tag("html", tag("head", head), tag("body", content), lang="en")
    return f"<!doctype html>\n{whole}\n"


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


def _resource(name: str) -> str:
    return files("halfseen.report").joinpath(name).read_text(encoding="utf-8")
