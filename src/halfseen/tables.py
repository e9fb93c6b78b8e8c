"""A small table with a text form and exports to CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.errors import one_line

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
    }
)
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\|`*_[]<>~"})


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values.

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

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [tuple(map(brief, line)) for line in [self.columns, *self._written()]]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        numeric = [
            all(isinstance(row[i], int | float | None) for row in self.rows)
            for i in range(len(self.columns))
        ]
        padded = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([padded[0], "-" * len(padded[0]), *padded[1:]])

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
            for line in [self.columns, rule, *self._written()]
        )

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        body = [
            " & ".join(_line(cell, _LATEX) for cell in line) + r" \\"
            for line in [self.columns, *self._written()]
        ]
        head = rf"\begin{{tabular}}{{{'l' * len(self.columns)}}}"
        return "\n".join(
            [head, r"\hline", body[0], r"\hline", *body[1:], r"\hline", r"\end{tabular}"]
        )

    def _written(self) -> list[tuple[str, ...]]:
        return [tuple(show(cell) for cell in row) for row in self.rows]


def _line(cell: str, escapes: dict[int, str]) -> str:
    return " ".join(cell.splitlines()).translate(escapes)


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


def show(value: Any) -> str:
    """Format a value: about four significant digits, thousands separated, None as nothing.

    >>> show(12345.678), show(0.00123456), show(3), show(None)
    ('12,346', '0.001235', '3', '')
    """
    if value is None:
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value != value:
            return ""
        return f"{value:,.0f}" if 999.95 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value)


def percent(share: float) -> str:
    """Format a share as a percentage; 0% and 100% only if it is exactly that.

    >>> percent(0.6562), percent(0.0421), percent(1.0), percent(0.9996), percent(1 - 1e-7)
    ('66%', '4.2%', '100%', '99.96%', '99.99999%')
    """
    value = 100.0 * share
    if value in (0.0, 100.0) or 10.0 <= value < 99.5:
        return f"{value:.0f}%"
    if value < 99.5:
        return f"{value:.2g}%"
    places = max(2, -math.floor(math.log10(abs(100.0 - value)) + 1e-6))
    return f"{value:.{places}f}".rstrip("0") + "%"


def counted(what: str, count: int) -> str:
    """Format a count with its noun, singular or plural.

    >>> counted("policy", 1), counted("policy", 3), counted("round", 20000)
    ('1 policy', '3 policies', '20,000 rounds')
    """
    plural = {"policy": "policies"}.get(what, f"{what}s")
    return f"{count:,} {what if count == 1 else plural}"


def table(records: Sequence[dict[str, Any]]) -> Table:
    """Return a table of dictionaries that share their keys."""
    columns = tuple(records[0]) if records else ()
    return Table(columns, tuple(tuple(record[c] for c in columns) for record in records))
