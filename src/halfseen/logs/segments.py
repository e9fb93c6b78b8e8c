"""The audit of every segment of a log, side by side."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.display import Tabular
from halfseen.errors import InvalidInput
from halfseen.logs.audit import Audit
from halfseen.logs.audit_export import MOST_ARMS
from halfseen.logs.columns import Columns
from halfseen.logs.counts import read_decisions
from halfseen.logs.examine import examine
from halfseen.logs.log_options import prepared
from halfseen.logs.option_names import option
from halfseen.logs.queries import identifier, text
from halfseen.logs.row_filter import as_filter
from halfseen.logs.sentences import ASSUMPTION
from halfseen.logs.source import open_log
from halfseen.phrases import counted
from halfseen.tables import Table, brief
from halfseen.tables import table as as_table

if TYPE_CHECKING:
    import altair as alt

    from halfseen.logs.segment_comparison import SegmentComparison

MOST_SEGMENTS = 200


@dataclass(frozen=True, repr=False)
class SegmentedAudit(Tabular):
    """Audits of all rows of a log and of each segment.

    Attributes
    ----------
    by
        The column whose values are the segments.
    whole
        The audit of all rows.
    segments
        The audit of each segment by its name; rows without a value are the segment "(none)", or
        "((none))" if that is a value.
    """

    by: str
    whole: Audit
    segments: dict[str, Audit]

    @cached_property
    def table(self) -> Table:
        """One row per segment, the costliest first, after one for all rows."""
        factors = {name: found.headline_dimension.factor for name, found in self.segments.items()}
        order = sorted(factors, key=lambda name: -factors[name])
        whole = unused("(all)", self.segments)
        return as_table(
            [
                _record(self.by, name, found)
                for name, found in [(whole, self.whole), *((n, self.segments[n]) for n in order)]
            ]
        )

    def summary(self) -> str:
        """Return the table and every segment's warnings as text."""
        parts = [str(self.table)]
        parts[:0] = [] if self.whole.left_out is None else [str(self.whole.left_out)]
        for name, found in self.segments.items():
            parts += [f"{brief(name, 40)}: Warning: {warning}" for warning in found.warnings]
        return "\n\n".join([*parts, ASSUMPTION])

    def _headline(self) -> str:
        return f"{counted('segment', len(self.segments))} by {self.by}; {self.whole._headline()}"

    def _details(self) -> list[str | Table]:
        return [self.table]

    def __str__(self) -> str:
        return self.summary()

    def to_dict(self, most: int | None = MOST_ARMS) -> dict[str, Any]:
        """Return everything as plain values.

        Parameters
        ----------
        most
            How many arms to give at most in each segment, those that cost most; None for all.
        """
        return {
            "by": self.by,
            **self.whole.to_dict(most),
            "segments": [
                {"segment": name, **found.to_dict(most)} for name, found in self.segments.items()
            ],
        }

    def plot(self) -> alt.Chart:
        """Return a chart of every segment's factor with its interval, the largest first.

        Segments of which nothing was seen have none and are left out.
        """
        from halfseen.report.audit.segment_page import segments_chart
        from halfseen.report.core.style import chart_of

        return chart_of(segments_chart(self))

    def report(
        self,
        folder: Path | str,
        changes: SegmentComparison | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a page with every segment, and the numbers as CSV and JSON.

        Parameters
        ----------
        folder
            Where to write ``report.html``, ``rates.csv`` and ``audit.json``: new, empty, or
            another audit's, which is replaced.
        changes
            What `halfseen.logs.segment_comparison.compare_segments` returned, to show it too.
        options
            Further options of the command, for the one that the page shows.
        """
        from halfseen.report.audit.segment_page import write_segments

        return write_segments(self, Path(folder), changes, options)


def audit_by(
    log: Any,
    by: str,
    *,
    where: str | None = None,
    since: Any = None,
    until: Any = None,
    drop_arms: Sequence[str] = (),
    window: float | None = None,
    now: Any = None,
    empty_means: float | None = None,
    designed: bool = False,
    table: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    level: float = 0.95,
    **columns: Any,
) -> SegmentedAudit:
    """Audit every segment of a log.

    Parameters
    ----------
    log
        As in `halfseen.audit`.
    by
        The column whose values are the segments.
    where, since, until, drop_arms, window, now, empty_means, designed
        As in `halfseen.audit`.
    table, encoding, decimal, level
        As in `halfseen.audit`.
    columns
        Which column means what, as in `halfseen.audit`.

    Returns
    -------
    SegmentedAudit
        One audit per segment, a table of them, and a report.

    Examples
    --------
    >>> log = {"offer": ["a", "a", "b", "b"], "sold": [1, None, 0, 1], "land": list("xyxy")}
    >>> found = audit_by(log, "land", action="offer", reward="sold")
    >>> found.segments["x"].effective_dimension.factor
    1.0
    """
    given = {name: value for name, value in locals().items() if name not in ("log", "columns")}
    asked = {**columns, **given}
    designed = checks.yes_or_no("designed", designed)
    level = checks.number("level", level, above=0.0, below=1.0, fix="Use 0.95.")
    named = Columns(
        **{"action": None} | columns | {"features": tuple(columns.get("features") or ())}
    )
    source = open_log(log, table=table, encoding=encoding, decimal=decimal)
    source, notes = prepared(source, named, window, now, empty_means)
    rows = as_filter(where, since, until, drop_arms)
    options: dict[str, Any] = {"level": level, "window": window, "now": now, "notes": notes}
    opened = read_decisions(source, named, rows).log
    column = identifier(opened.column("by", by))
    value = f"CAST({column} AS VARCHAR)"
    found = opened.query(
        f"SELECT {value} AS segment, count(*) AS rows FROM {opened.relation} GROUP BY ALL"
        f" ORDER BY segment LIMIT {MOST_SEGMENTS + 1}"
    )["segment"]
    if len(found) > MOST_SEGMENTS:
        raise InvalidInput(
            "by",
            f"must be a column of at most {MOST_SEGMENTS} values",
            by,
            f"Group them first, or keep some with {option('where')}.",
        )
    missing = np.ma.getmaskarray(found)
    nameless = unused("(none)", [str(name) for name in np.asarray(found)[~missing]])
    segments = {}
    for name, none in zip(np.asarray(found), missing, strict=True):
        condition = f"{value} IS NULL" if none else f"{value} = {text(str(name))}"
        found_here = examine(opened.narrowed(condition), named, **options)
        segments[nameless if none else str(name)] = Audit(**found_here, designed=designed)
    whole = Audit(**examine(source, named, rows, **options), designed=designed, asked=asked)
    return SegmentedAudit(by, whole, segments)


def unused(name: str, taken: Collection[str]) -> str:
    """Return a name with enough brackets to differ from all values.

    >>> unused("(none)", ["a"]), unused("(none)", ["(none)"])
    ('(none)', '((none))')
    """
    while name in taken:
        name = f"({name})"
    return name


def _record(by: str, name: str, found: Audit) -> dict[str, Any]:
    whole = found.headline_dimension
    low, high = whole.factor_interval
    worst = found.arms[int(np.argmin(found.observe))] if len(found.arms) > 1 else ""
    return {
        by: name,
        "decisions": found.rows,
        "arms": len(found.arms),
        "never seen": len(found.never_seen),
        "share seen": found.share,
        "factor": whole.factor if math.isfinite(whole.factor) else None,
        "low": None if found.upper_end else low,
        "high": high if math.isfinite(high) else None,
        "seen least": brief(worst, 40),
        "warnings": ", ".join(dict.fromkeys(warning.kind for warning in found.warnings)),
    }
