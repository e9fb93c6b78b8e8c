"""The page of an audit by segments: one table, then each segment's answer and warnings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.logs.audit_export import AUDIT_FILE, MOST_ARMS
from halfseen.report.audit.charts import short
from halfseen.report.audit.command_line import command_line
from halfseen.report.audit.warnings_section import void_section, warning_sentences
from halfseen.report.core.arm_rows import MOST, points
from halfseen.report.core.document import charts_of, code, document, main, section, top
from halfseen.report.core.markup import Html, table, tag
from halfseen.report.core.panels import Figure, Rows
from halfseen.studies.storage import is_marked, write_text
from halfseen.tables import Table, level_name, show

if TYPE_CHECKING:
    from halfseen.logs.segment_comparison import SegmentComparison
    from halfseen.logs.segments import SegmentedAudit

LINKS = 12  # segments in the navigation


def write_segments(
    found: SegmentedAudit,
    folder: Path,
    changes: SegmentComparison | None = None,
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Write the page of an audit by segments, and its numbers as CSV and JSON."""
    is_marked(folder, AUDIT_FILE)
    numbers: dict[str, Any] = {"charts": []} | found.to_dict(MOST_ARMS)
    numbers |= {} if changes is None else {"changes": changes.to_dict()}
    write_text(folder / AUDIT_FILE, json.dumps(numbers, indent=1, allow_nan=False) + "\n")
    parts = found.segments.items()
    columns = (found.by, *found.whole.rates.columns)
    rows = tuple((name, *row) for name, part in parts for row in part.rates.rows)
    write_text(folder / "rates.csv", Table(columns, rows).to_csv())
    path = folder / "report.html"
    body = _body(found, command_line(found.whole, folder, dict(options or {})), changes)
    write_text(path, document(_title(found), body, charts_of([])))
    return path


def segments_chart(found: SegmentedAudit) -> Figure:
    """Return every segment's factor with its interval."""
    rows: Rows = []
    for record in found.table:
        if record["factor"] is None:
            continue
        row = {"panel": "all", "name": record[found.by], "value": record["factor"]}
        known = record["high"] is not None
        rows.append(row | ({"low": record["low"], "high": record["high"]} if known else {}))
    if not rows:
        raise InvalidInput(
            "log", "must have an arm that was seen", found.whole.log, "Wait for its first reward."
        )
    note = (
        "How many times as many decisions are needed as with complete feedback, in the worst case,"
        f" with its {level_name(found.whole.level)} interval."
    )
    titles = ("What missing feedback costs", note, found.by)
    return points("audit-segments", titles, rows[: MOST + 1], "factor")


def _body(
    found: SegmentedAudit, command: str, changes: SegmentComparison | None = None
) -> list[Html]:
    whole = found.whole
    voiding = [warning.finding for warning in whole.warnings if warning.voids]
    links = {"segments": "All segments"}
    links |= {_anchor(i): name for i, name in enumerate(list(found.segments)[:LINKS])}
    header = top(
        f"An audit with halfseen: {whole.rows:,} decisions, {len(found.segments):,} segments",
        _title(found),
        voiding[0] if voiding else " ".join(whole.answers[:2]),
        links | {"how": "The command"},
        *([] if whole.left_out is None else [tag("p", str(whole.left_out), class_="caution")]),
    )
    records = found.table.records()
    rows = [tuple(_cell(key, value) for key, value in record.items()) for record in records]
    words = (0, len(found.table.columns) - 2, len(found.table.columns) - 1)
    note = (
        f"Factor: how many times as many decisions are needed as with complete feedback, in the"
        f" worst case, with its {level_name(whole.level)} interval. It is for the arms that were"
        " seen; – if none was. All arms of all segments are in rates.csv, next to this page."
    )
    segments = section(
        "segments",
        "Segment by segment",
        table(found.table.columns, rows, words=words, label="Segments"),
        tag("p", note, class_="note"),
    )
    how = section("how", "The command that makes this page", code(command))
    first = [void_section(whole), tag("div", segments, class_="void")]
    each = [_segment(found, i) for i in range(len(found.segments))]
    since = [] if changes is None else [_changes(changes)]
    return [header, main(*since, *(first if voiding else [segments]), *each, how)]


def _changes(changes: SegmentComparison) -> Html:
    said = (tag("p", sentence) for sentence in changes.findings)
    note = tag("p", changes.how, class_="note")
    return section("changes", "Since the last audit", *said, note)


def _cell(key: str, value: object) -> object:
    if key == "share seen" and isinstance(value, float):
        return f"{value:.1%}"
    return "–" if value is None else show(value)


def _title(found: SegmentedAudit) -> str:
    return f"What missing feedback costs in {short(found.whole.log)}, by {found.by}"


def _anchor(segment: int) -> str:
    return f"segment-{segment + 1}"


def _segment(whole: SegmentedAudit, place: int) -> Html:
    name, found = list(whole.segments.items())[place]
    heading = tag("h3", f"{whole.by}: {name}")
    answers: list[object] = [tag("p", answer) for answer in found.answers]
    if found.voided:
        answers = [tag("div", *answers, class_="void answers")]
    items = [tag("li", *warning_sentences(warning)) for warning in found.warnings]
    warnings: list[object] = [tag("ul", *items)] if items else []
    parts = [*warnings, *answers] if found.voided else [*answers, *warnings]
    return tag("section", heading, *parts, id=_anchor(place))
