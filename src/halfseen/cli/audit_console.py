"""What the commands for logs print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.cli.streams import answer_first, print_json, print_text

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.comparison import Comparison
    from halfseen.logs.plan import Plan
    from halfseen.logs.segment_comparison import SegmentComparison
    from halfseen.logs.segments import SegmentedAudit
    from halfseen.studies.result import Result


def print_segments(
    found: SegmentedAudit,
    folder: Path | None,
    as_json: bool,
    changes: SegmentComparison | None = None,
    options: dict[str, Any] | None = None,
) -> None:
    """Print an audit by segments, and write its report if a folder is given."""
    from halfseen.logs.audit_export import MOST_ARMS

    more: dict[str, Any] = {} if changes is None else {"changes": changes.to_dict()}
    page = answer_first(
        lambda: print_text("\n\n".join(str(part) for part in (changes, found) if part) + "\n"),
        lambda page: (
            found.to_dict(MOST_ARMS) | more | {"report": None if page is None else str(page)}
        ),
        as_json,
        lambda: None if folder is None else found.report(folder, changes, options),
    )
    if page is not None and not as_json:
        print(f"Report: {page}")


def print_audit(
    found: Audit,
    folder: Path | None,
    as_json: bool,
    forecast: Plan | None = None,
    imputations: Result | None = None,
    changes: Comparison | None = None,
    options: dict[str, Any] | None = None,
) -> None:
    """Print the summary of an audit, and write its report; print even if writing fails."""
    from halfseen.logs.audit_export import MOST_ARMS, snake_keys
    from halfseen.logs.imputation import imputation_table
    from halfseen.logs.sentences import forecast_in_words

    if found.voided:
        forecast = imputations = None
    compared = None if imputations is None else imputation_table(imputations)

    def content(page: Path | None) -> dict[str, Any]:
        more: dict[str, Any] = {"report": None if page is None else str(page)}
        if forecast is not None:
            more["forecast"] = forecast.to_dict()
        if compared is not None:
            more["imputations"] = snake_keys(compared.records())
        if changes is not None:
            more["changes"] = changes.to_dict()
        return found.to_dict(MOST_ARMS) | more

    def text() -> None:
        words = None if forecast is None else forecast_in_words(found, forecast)
        parts = (changes, found, words, compared)
        print_text("\n\n".join(str(part) for part in parts if part) + "\n")

    def write() -> Path | None:
        if folder is None:
            return None
        return found.report(folder, forecast, imputations, changes, options)

    page = answer_first(text, content, as_json, write)
    if page is not None and not as_json:
        print(f"Report: {page}")


def print_found(found: Any, as_json: bool, source: Audit | None = None) -> None:
    """Print an object as text or as JSON.

    Parameters
    ----------
    found
        What to print.
    as_json
        Whether as JSON.
    source
        The audit of its log: warnings that invalidate its numbers and excluded rows are printed
        first.
    """
    grave = [] if source is None else [warning for warning in source.warnings if warning.voids]
    left_out = None if source is None else source.left_out
    if as_json:
        more: dict[str, Any] = {} if left_out is None else {"left_out": left_out.to_dict()}
        if source is not None:
            more["warnings"] = [vars(warning) for warning in grave]
        print_json(found.to_dict() | more)
    else:
        first = [*(f"Warning: {warning}" for warning in grave), *([left_out] if left_out else [])]
        print_text("\n\n".join(map(str, [*first, found])))
