"""Small pieces of HTML. Every piece of text is escaped here and nowhere else."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from halfseen.tables import aligned as aligned

ROWS = 250  # shown of a table
LONG_WORD = 100  # characters shown of a word
STEERING = (*range(9), 11, 12, *range(14, 32), *range(127, 160))  # controls a page cannot show
ONE_LINE = re.compile(r"(?<![\w-])(--[a-z][a-z-]*[a-z]|\d{4}-\d\d-\d\d)(?![\w-])")
TURNING = {c: f"\\u{c:04x}" for c in (*STEERING, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
TURNING |= {9: r"\t", 13: r"\r"}  # a page shows them as spaces


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def escape(text: object) -> Html:
    """Escape text for HTML, with non-breaking spaces around ±.

    Overlong words are cut; control and bidirectional characters are shown as escapes.

    >>> escape("<b>'&")
    '&lt;b&gt;&#x27;&amp;'
    """
    if isinstance(text, Html):
        return text
    plain = re.sub(rf"(\S{{{LONG_WORD}}})\S+", r"\1…", str(text)).translate(TURNING)
    return Html(html.escape(plain).replace(" ± ", "\u00a0±\u00a0"))


def join(parts: Iterable[object], between: str = "\n") -> Html:
    """Join pieces of HTML; plain text is escaped."""
    return Html(between.join(escape(part) for part in parts))


def tag(name: str, *content: object, **attributes: str) -> Html:
    """Return an element; a trailing underscore in an attribute's name is dropped.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    return Html(f"<{name}{given}>{join(content, '')}</{name}>")


def unbroken(text: str) -> Html:
    """Escape text in which options of a command and dates stay on one line.

    >>> unbroken("Name --feedback-time.")
    'Name <span class="unbroken">--feedback-time</span>.'
    """
    return Html(ONE_LINE.sub(r'<span class="unbroken">\g<0></span>', escape(text)))


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    words: Collection[int] = (0,),
    label: str = "",
    groups: Sequence[bool] | None = None,
) -> Html:
    """Return a table in a box that scrolls horizontally if needed.

    Parameters
    ----------
    heads
        Column titles.
    rows
        Cells.
    words
        Indices of the text columns; the others hold numbers and are right-aligned.
    label
        The table's accessible name.
    groups
        For each row, whether a new group of rows starts there.
    """
    kinds: list[dict[str, str]] = [
        {"class_": "word"} if i in words else {} for i in range(len(heads))
    ]
    head = [tag("th", t, scope="col", **kind) for t, kind in zip(heads, kinds, strict=True)]
    body = []
    for i, row in enumerate(rows[:ROWS]):
        cells = [tag("td", _one_line(cell), **kind) for cell, kind in zip(row, kinds, strict=True)]
        starts = groups is not None and i > 0 and groups[i]
        body.append(tag("tr", *cells, **({"class_": "group"} if starts else {})))
    look = {} if groups is None else {"class_": "grouped"}
    inner = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body), **look)
    box = tag("div", inner, class_="box", tabindex="0", role="region", aria_label=label or "Table")
    if len(rows) <= ROWS:
        return box
    return join([box, tag("p", f"The first {ROWS} of {len(rows):,} rows.", class_="note")])


def _one_line(cell: object) -> object:
    plain = isinstance(cell, str) and not isinstance(cell, Html)
    return str(cell).replace("\n", r"\n") if plain else cell


def chart_place(name: str, title: str, note: str, trouble: str = "") -> Html:
    """Return the placeholder in which the page's script draws a chart, with title and note.

    Parameters
    ----------
    name
        Of the chart; empty where there is none to draw.
    title, note
        What it shows and how to read it.
    trouble
        Error message, if it could not be drawn.
    """
    words = [tag("p", note, class_="note")] if note else []
    words += [tag("p", trouble, class_="caution")] if trouble else []
    caption = tag("figcaption", tag("h3", title), *words)
    return tag(
        "figure",
        caption,
        *([canvas(name, title)] if name else []),
        **({"id": name} if name else {}),
    )


def canvas(name: str, title: str) -> Html:
    """Return the element that a chart is drawn into."""
    return tag("div", class_="chart", data_chart=name, role="img", aria_label=title)


def data_island(name: str, content: Any) -> Html:
    """Return JSON inside a script element, where no text can close the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Html(f'<script type="application/json" id="{name}">{text}</script>')
