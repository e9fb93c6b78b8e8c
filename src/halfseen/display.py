"""Display of objects: a line in a console, a small block in a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from halfseen.tables import PLAIN, Table, brief, show

if TYPE_CHECKING:
    import pandas
    import polars

LISTED = 6  # entries of a list that are written out
WIDE = 160  # characters of a line


class Shown:
    """An object that shows itself in one line in a console and as a small block in a notebook.

    A class overrides `_headline`, the line, and `_details`, the sentences and tables that a
    notebook shows below it; left out, the line is the first paragraph of its text, or else its
    fields. With dataclasses it needs
    ``@dataclass(repr=False)``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Found(Shown):
    ...     value: float
    ...     best_arm: str
    >>> Found(1234.56, "a")
    <Found: value 1,235, best arm a>
    """

    def _headline(self) -> str:
        if type(self).__str__ is not object.__str__:
            return " ".join(str(self).partition("\n\n")[0].split())
        return ", ".join(f"{name} {text}" for name, text in self._values())

    def _details(self) -> Iterable[str | Table]:
        return ()

    def _values(self) -> list[tuple[str, str]]:
        """Return the names of the fields and their values in brief, without those left out."""
        if not is_dataclass(self):
            return []
        values = ((entry.name, getattr(self, entry.name)) for entry in fields(self) if entry.repr)
        return [(name.replace("_", " "), rounded(v)) for name, v in values if v is not None]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {brief(self._headline(), WIDE)}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return block(type(self).__name__, self._headline(), self._details())


class Tabular(Shown):
    """An object described mainly by one table, which it exports as a data frame or in LaTeX.

    A class sets `_frame`, the name of the property or method that has the table.
    """

    _frame: ClassVar[str] = "table"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas data frame, numbers in full precision."""
        return self._framed().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a polars data frame, numbers in full precision."""
        return self._framed().to_polars()

    def to_latex(
        self,
        columns: Sequence[str] | None = None,
        *,
        best: str | None = None,
        within: Sequence[str] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        """Return the table in LaTeX; the arguments are those of `Table.to_latex`."""
        return self._framed().to_latex(
            columns, best=best, within=within, caption=caption, label=label
        )

    def _framed(self) -> Table:
        found: Any = getattr(self, self._frame)
        return found if isinstance(found, Table) else found()


class ShownAsCall(Shown):
    """A part of a study: its line is the call that makes it, with long lists cut short.

    Attributes
    ----------
    summary
        What it is or does, in a sentence, for reports and notebooks; left out, the first sentence
        of the docstring. A derived class does not inherit it, for it differs.
    """

    summary: ClassVar[str]

    def __repr__(self) -> str:
        if not is_dataclass(self):
            return object.__repr__(self)
        given = ", ".join(
            f"{entry.name}={exact(getattr(self, entry.name))}"
            for entry in fields(self)
            if entry.repr
        )
        return f"{type(self).__name__}({given})"

    def in_words(self) -> str:
        """Return what it is or does in a sentence."""
        return str(vars(type(self)).get("summary") or first_sentence(type(self).__doc__))

    def _headline(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        return block(type(self).__name__, self._headline(), self._details(), formulas=True)

    def _details(self) -> Iterable[str | Table]:
        rows = self._values()
        return [Table(("parameter", "value"), tuple(rows))] if rows else []


def block(
    name: str, headline: str, details: Iterable[str | Table], *, formulas: bool = False
) -> str:
    r"""Return a name with its line, and paragraphs and tables below, as HTML.

    Text between dollar signs is a formula in the headline only if `formulas` says so, and nowhere
    else: it is from a log or a study, whose arms may be called $5 and $10.

    >>> block("Plan", "a < b", ["One."]).partition(">")[2]
    '<p><strong>Plan</strong>: a &lt; b</p>\n<p>One.</p></div>'
    """
    first = f"<p><strong>{html.escape(name)}</strong>: {html.escape(headline)}</p>"
    parts = [
        detail._repr_html_() if isinstance(detail, Table) else _paragraph(detail)
        for detail in details
    ]
    if formulas:
        return f"<div>{first}</div>\n<div{PLAIN}>" + "\n".join(parts) + "</div>"
    return f"<div{PLAIN}>" + "\n".join([first, *parts]) + "</div>"


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text).replace(chr(10), '<br>')}</p>"


def rounded(value: Any) -> str:
    """Write a value of a result in brief, numbers to about four digits.

    >>> rounded(np.array([6.42857, 3.57143])), rounded(1 / 3), rounded(range(9))
    ('(6.429, 3.571)', '0.3333', '(0, 1, 2, 3, 4, 5, … 9 in all)')
    >>> rounded({"rounds": 1200.4}), rounded(np.zeros((3, 2)))
    ('{rounds: 1,200}', 'array of 3 x 2')
    """
    if isinstance(value, Mapping):
        entries = [f"{key}: {rounded(entry)}" for key, entry in list(value.items())[:LISTED]]
        return f"{{{', '.join(entries)}{', …' * (len(value) > LISTED)}}}"
    return _written(value, lambda entry: show(entry) or "none")


def exact(value: Any) -> str:
    """Write a parameter in full, but long lists by their first entries.

    >>> exact((0.1, 0.25)), exact([1.0] * 9), exact("sphere")
    ('(0.1, 0.25)', '(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, … 9 in all)', "'sphere'")
    """
    return _written(value, repr)


def _written(value: Any, one: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim != 1:
        return "array of " + " x ".join(f"{size:,}" for size in value.shape)
    if isinstance(value, np.ndarray):
        value = value[: LISTED + 1].tolist() + [None] * max(0, len(value) - LISTED - 1)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        entries = [_written(entry, one) for entry in value[:LISTED]]
        if len(value) > LISTED:
            entries.append(f"… {len(value):,} in all")
        return f"({', '.join(entries)}{',' * (len(value) == 1 and one is repr)})"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the function {value.__qualname__}"
    return str(one(value))


def first_sentence(text: str | None) -> str:
    r"""Return the first sentence of a docstring without its markup.

    >>> first_sentence("Play with probability :math:`\\varepsilon` what `UCB` plays.\n\nMore.")
    'Play with probability $\\varepsilon$ what UCB plays.'
    """
    first = " ".join((text or "").strip().partition("\n\n")[0].split())
    first = re.sub(r":math:`([^`]*)`", r"$\1$", first)
    return re.sub(r"`+([^`]*)`+", r"\1", first)
