"""A self-contained page, its sections and the placeholders of its charts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from halfseen.report.core.drawing import drawing_code
from halfseen.report.core.markup import Html, chart_place, data_island, join, tag
from halfseen.report.core.panels import Figure, Rows

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
STAMP, HEAD_BYTES = "halfseen-made-from", 2_000
NO_SCRIPT = tag("noscript", tag("p", "The charts need JavaScript; see the folder charts."))


def section(name: str, title: str, *content: object) -> Html:
    """Return a section with its heading."""
    return tag("section", tag("h2", title), *content, id=name)


def top(eyebrow: str, title: str, lead: str, links: Mapping[str, str], *more: object) -> Html:
    """Return the head of a page and its navigation.

    Parameters
    ----------
    eyebrow
        The kind of page and its size, above the title.
    title, lead
        What is on the page, and the answer.
    links
        Titles of the sections by their anchors.
    more
        What follows the lead.
    """
    words = [tag("p", eyebrow, class_="eyebrow"), tag("h1", title), tag("p", lead, class_="lead")]
    entries = [tag("a", text, href=f"#{anchor}") for anchor, text in links.items()]
    header = tag("header", *words, *more)
    return join([header, tag("nav", tag("div", *entries), aria_label="Sections")])


def main(*content: object) -> Html:
    """Return the content of a page, which the first link of the page leads to."""
    return tag("main", *content, id="main", tabindex="-1")


def code(text: str, **attributes: str) -> Html:
    """Return code with a button that copies it."""
    button = tag("button", "Copy", type="button", class_="copy", hidden="")
    inner = tag("pre", tag("code", Html(html.escape(text))), **attributes)
    return tag("div", inner, button, class_="code")


def figure_place(figure: Figure) -> Html:
    """Return the placeholder of a figure, with its title and note."""
    name = figure.name if figure.spec else ""
    return chart_place(name, figure.title, figure.note, figure.trouble)


def charts_of(drawn: Iterable[Figure]) -> dict[str, Any]:
    """Return charts and the data they share, as `document` takes them."""
    specs, data = {}, {}
    for figure in drawn:
        if figure.spec:
            spec, rows = figure.neutral
            specs[figure.name] = {k: v for k, v in spec.items() if k != "$schema"}
            data[figure.key] = packed(rows)
    return {"specs": specs, "data": data}


def document(
    title: str, body: Iterable[Html], charts: dict[str, Any], stamp: str | None = None
) -> str:
    """Return a whole page that needs no network.

    Parameters
    ----------
    title
        For the browser's tab, which adds the program's name.
    body
        Content of the page, without the footer.
    charts
        The charts as ``specs`` by name, and the ``data`` that several of them share.
    stamp
        What the page was made from; `stamp_of` reads it back.
    """
    made_from = [] if stamp is None else [Html(f'<meta name="{STAMP}" content="{stamp}">')]
    head = join(
        [
            Html('<meta charset="utf-8">'),
            *made_from,
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
            Html('<meta name="color-scheme" content="light dark">'),
            tag("title", f"{title} – halfseen"),
            Html(f"<style>\n{_resource('page.css')}</style>"),
        ]
    )
    content = join(
        [
            tag("a", "Skip to the content", class_="skip", href="#main"),
            *body,
            tag("footer", tag("p", "Written by halfseen. This page makes no network request.")),
            data_island("chart-data", charts),
            Html(f"<script>{drawing_code()}</script>"),
            Html(f"<script>{_resource('page.js')}</script>"),
        ]
    )
    whole = tag("html", tag("head", head), tag("body", content), lang="en")
    return f"<!doctype html>\n{whole}\n"


def stamp_of(path: Path) -> str | None:
    """Return what a page was made from, as far as its first lines say."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).decode(errors="replace")
    except OSError:
        return None
    found = re.search(rf'<meta name="{STAMP}" content="([^"]*)">', head)
    return found[1] if found else None


def packed(rows: Rows) -> dict[str, Any]:
    """Return rows as columns, strings as indices into a list: a fifth of the size.

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
