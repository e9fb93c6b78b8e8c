"""A small table with a text form and exports to CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.errors import InvalidInput, one_line
from halfseen.number_format import aligned as aligned
from halfseen.number_format import decimals_of_errors as decimals_of_errors
from halfseen.number_format import factor as factor
from halfseen.number_format import level_name as level_name
from halfseen.number_format import percent as percent
from halfseen.number_format import probability_name as probability_name
from halfseen.number_format import show as show
from halfseen.number_format import with_error as with_error

if TYPE_CHECKING:
    import pandas
    import polars

Z95 = 1.96  # standard errors on either side of a mean in its 95% interval
PLAIN = ' class="tex2jax_ignore mathjax_ignore"'  # notebooks look for no formulas between dollars
MOST_ROWS = 60  # shown in a console or notebook
_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {c: f"{{{c}}}" for c in "[]*"}  # after \\ they would be read as its arguments
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
    }
)
ENDS = (("low",), ("high",))  # of the interval whose half width is the column before
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\|`*_[]<>~"})


@dataclass(frozen=True, repr=False)
class Table:
    """Named columns and rows of plain values.

    Attributes
    ----------
    columns, rows
        The names, and the values of every row.
    leading
        By the name of a column, the places of the rows that may be the best of their world, where
        they were found by comparing replications and not by the numbers of the table.

    Examples
    --------
    >>> print(Table(("arm", "seen"), ((0, 0.25), (1, None))).to_markdown())
    | arm | seen |
    | --- | --- |
    | 0 | 0.25 |
    | 1 |  |
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    leading: Mapping[str, frozenset[int]] = field(default_factory=dict, compare=False)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [tuple(map(brief, line)) for line in [self.columns, *self.written()]]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        numeric = [self._numeric(name) for name in self.columns]
        padded = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([padded[0], "-" * len(padded[0]), *padded[1:]])

    def __repr__(self) -> str:
        return "\n".join([str(Table(self.columns, self.rows[:MOST_ROWS])), *self._more()])

    def _more(self) -> list[str]:
        """Return how many rows are not shown, if any."""
        left = len(self.rows) - MOST_ROWS
        return [f"... and {left:,} more {'row' if left == 1 else 'rows'}"] if left > 0 else []

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return list(self)

    def to_csv(self) -> str:
        """Return the table as comma-separated values, numbers in full precision.

        Text that a spreadsheet would evaluate as a formula is prefixed with an apostrophe.
        """
        lines = []
        for row in (self.columns, *self.rows):
            text = io.StringIO()
            cells = map(no_formula, row)
            csv.writer(text, lineterminator="\r\n").writerow(cells)  # quotes both \r and \n
            lines.append(text.getvalue().removesuffix("\r\n") + "\n")
        return "".join(lines)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        rule = ("---",) * len(self.columns)
        return "\n".join(
            "| "
            + " | ".join(cell if line is rule else _line(cell, _MARKDOWN) for cell in line)
            + " |"
            for line in [self.columns, rule, *self.written()]
        )

    def to_latex(
        self,
        columns: Sequence[str] | None = None,
        *,
        best: str | None = None,
        within: Sequence[str] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the table in LaTeX, ruled by the booktabs package.

        A column whose name begins with ± joins the column before it, as ``$35.0 \pm 4.9$``, unless
        that one is left out.

        Parameters
        ----------
        columns
            The columns to write, in this order; all if left out.
        best
            A column whose smallest value is set in bold, and with it those that do not differ
            significantly: of the regrets of a study by paired intervals, as in `Result.best`; of
            another column with ± by that, as if rows were independent.
        within
            Columns; the best is sought for each of their combinations. Left out, the columns before
            ``"policy"``, so that the best policies of each world are in bold; of a table without
            policies, and with ``()``, the best of all rows.
        caption, label
            Put the tabular into a table environment with these. What a caption has between two
            dollar signs is a formula.

        Examples
        --------
        >>> rows = (("UCB", 81.23, 4.91), ("IMED", 35.0, 3.0))
        >>> found = Table(("policy", "regret", "± 95%"), rows)
        >>> print(found.to_latex(best="regret"))
        \begin{tabular}{lr}
        \toprule
        policy & regret $\pm$ 95\% \\
        \midrule
        UCB & $81.2 \pm 4.9$ \\
        IMED & $\mathbf{35.0 \pm 3.0}$ \\
        \bottomrule
        \end{tabular}
        """
        within = self._worlds() if within is None else within
        chosen = list(self.columns) if columns is None else [self._known(c) for c in columns]
        for name in (best, *within):
            if name is not None:
                self._known(name)
        if best is not None and best not in chosen:
            raise InvalidInput("best", "must be among the columns", best, "Add it to `columns`.")
        if best is not None and not self._numeric(best):
            raise InvalidInput("best", "must be a column of numbers", best, "Leave it out.")
        bold = set() if best is None else self._may_be_best(best, within)
        errors = {name: error for name in self.columns if (error := self._error_of(name))}
        joined = {errors[name] for name in chosen if name in errors}
        chosen = [name for name in chosen if name not in joined]
        heads = [f"{name} {errors[name]}" if name in errors else name for name in chosen]
        lines = [" & ".join(_line(head, _LATEX) for head in heads) + r" \\"]
        for place, (row, written) in enumerate(zip(self, self.written(), strict=True)):
            texts = dict(zip(self.columns, written, strict=True))
            cells = []
            for name in chosen:
                error = row[errors[name]] if name in errors else None
                text = texts[name] if error is None else with_error(row[name], error)
                cells.append(_latex_cell(row[name], text, name == best and place in bold))
            lines.append(" & ".join(cells) + r" \\")
        kinds = "".join("r" if self._numeric(name) else "l" for name in chosen)
        tabular = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", lines[0], r"\midrule"]
        tabular += [*lines[1:], r"\bottomrule", r"\end{tabular}"]
        if caption is None and label is None:
            return "\n".join(tabular)
        head = [r"\begin{table}", r"\centering"]
        if caption is not None:
            head.append(rf"\caption{{{_with_formulas(caption)}}}")
        if label is not None:
            head.append(rf"\label{{{label}}}")
        return "\n".join([*head, *tabular, r"\end{table}"])

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas data frame, numbers in full precision."""
        import pandas as pd

        columns = {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}
        return pd.DataFrame(columns, columns=list(self.columns))

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a polars data frame, numbers in full precision."""
        try:
            import polars as pl
        except ImportError:
            raise InvalidInput(
                "to_polars", "needs the polars package", "none", "Install polars, or use to_pandas."
            ) from None
        columns = {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}
        return pl.DataFrame(columns, strict=False)

    def _repr_html_(self) -> str:
        """Return the table as HTML, which a notebook shows: its first rows if it is long."""
        sides = ["right" if self._numeric(name) else "left" for name in self.columns]

        def line(cells: Sequence[str], kind: str) -> str:
            content = "".join(
                f'<{kind} style="text-align: {side}">{html.escape(brief(cell, 500))}</{kind}>'
                for cell, side in zip(cells, sides, strict=True)
            )
            return f"<tr>{content}</tr>"

        first = Table(self.columns, self.rows[:MOST_ROWS])
        body = "\n".join(line(row, "td") for row in first.written())
        head = line(self.columns, "th")
        more = "".join(f"<p>{left}</p>" for left in self._more())
        return f"<table{PLAIN}>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>{more}"

    def _known(self, column: str) -> str:
        if column not in self.columns:
            raise InvalidInput(
                "columns",
                "must be columns of the table",
                column,
                f"Use {listed(self.columns, 20)}.",
            )
        return column

    def _numeric(self, column: str) -> bool:
        place = self.columns.index(column)
        values = [row[place] for row in self.rows]
        return all(isinstance(v, int | float | np.number | None) for v in values)

    def _worlds(self) -> tuple[str, ...]:
        """Return the columns that say where a policy was played."""
        return self.columns[: self.columns.index("policy")] if "policy" in self.columns else ()

    def _groups(self, within: Sequence[str]) -> list[list[int]]:
        """Return the places of the rows that agree in some columns."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(self):
            groups.setdefault(tuple(row[name] for name in within), []).append(place)
        return list(groups.values())

    def _may_be_best(self, best: str, within: Sequence[str]) -> set[int]:
        """Return the places of the rows that may have the smallest value of their group."""
        groups = self._groups(within)
        if best in self.leading and groups == self._groups(self._worlds()):
            return set(self.leading[best])
        error = self._error_of(best)
        rows = self.records()
        found = set()
        for group in groups:
            values = {i: v for i in group if (v := rows[i][best]) is not None and v == v}
            errors = {i: (rows[i][error] or 0.0) if error else 0.0 for i in values}
            for least in sorted(values, key=values.__getitem__)[:1]:
                found |= {
                    place
                    for place, value in values.items()
                    if value == values[least]
                    or value - values[least] <= math.hypot(errors[place], errors[least])
                }
        return found

    def _error_of(self, column: str) -> str | None:
        """Return the column after this one if that holds its errors."""
        following = self.columns[self.columns.index(column) + 1 :][:1]
        return following[0] if following and following[0].startswith("±") else None

    def written(self) -> list[tuple[str, ...]]:
        """Return the cells as text, the numbers of a column with the same number of decimals.

        A column whose name begins with ± has as many as the one before it, of which it is the
        error, and as the ends ``low`` and ``high`` after it.
        """
        columns = [_plain([row[i] for row in self.rows]) for i in range(len(self.columns))]
        decimals: dict[int, int | None] = {}
        for place in range(1, len(columns)):
            if self.columns[place].startswith("±") and _has_floats(columns[place]):
                ends = [i for i in (place + 1, place + 2) if self.columns[i : i + 1] in ENDS]
                group = (place - 1, place, *ends)
                decimals |= dict.fromkeys(group, decimals_of_errors(columns[place]))
        texts = [_column(values, decimals.get(place)) for place, values in enumerate(columns)]
        return list(zip(*texts, strict=True))


def _plain(values: Sequence[Any]) -> list[Any]:
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def _has_floats(values: Sequence[Any]) -> bool:
    """Return whether a column holds numbers that are not all whole by their type."""
    numeric = all(v is None or type(v) in (int, float) for v in values)
    return numeric and any(type(v) is float for v in values)


def _column(values: Sequence[Any], decimals: int | None) -> list[str]:
    if not _has_floats(values):
        return [show(value) for value in values]
    return aligned(values, missing="", decimals=decimals)


def _line(cell: str, escapes: dict[int, str]) -> str:
    return " ".join(cell.splitlines()).translate(escapes)


def _with_formulas(text: str) -> str:
    r"""Escape a text for LaTeX except what is between two dollar signs.

    >>> print(_with_formulas("50% at $T=10^4$"), _with_formulas("costs $5"))
    50\% at $T=10^4$ costs \$5
    """
    parts = " ".join(text.splitlines()).split("$")
    if len(parts) % 2 == 0:  # a dollar sign without its partner is money
        return _line(text, _LATEX)
    return "".join(f"${p}$" if i % 2 else _line(p, _LATEX) for i, p in enumerate(parts))


def _latex_cell(value: Any, text: str, bold: bool) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        text = _line(text, _LATEX)
        return rf"\textbf{{{text}}}" if bold else text
    text = text.replace("±", r"\pm").replace(",", "{,}").replace("inf", r"\infty")
    text = re.sub(r"e([+-])0*(\d+)", lambda e: rf" \cdot 10^{{{e[1].strip('+')}{e[2]}}}", text)
    return rf"$\mathbf{{{text}}}$" if bold else f"${text}$"


def no_formula(cell: Any) -> Any:
    """Return a cell that no spreadsheet evaluates as a formula; numbers are unchanged.

    >>> no_formula("=1+1"), no_formula("-1.5"), no_formula(-1.5), no_formula("a-b")
    ("'=1+1", '-1.5', -1.5, 'a-b')
    """
    risky = isinstance(cell, str) and cell.startswith(FORMULA) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell


def brief(text: str, width: int = 100) -> str:
    """Return a text on one line of at most `width` characters, control characters escaped.

    >>> brief("xylophone", 5)
    'xylo…'
    """
    text = one_line(text[: width + 1])
    return text if len(text) <= width else text[: width - 1] + "…"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Join the first names with commas and count the others.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(brief(name, 40) for name in names[:most]) + more


def table(
    records: Sequence[dict[str, Any]], leading: Mapping[str, frozenset[int]] | None = None
) -> Table:
    """Return a table of dictionaries that share their keys."""
    columns = tuple(records[0]) if records else ()
    rows = tuple(tuple(record[c] for c in columns) for record in records)
    return Table(columns, rows, leading or {})
