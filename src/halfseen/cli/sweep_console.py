"""What the command prints of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from halfseen.cli.console import tell_time
from halfseen.cli.streams import answer_first, print_text
from halfseen.errors import InvalidInput

if TYPE_CHECKING:
    from halfseen.studies.study import Study
    from halfseen.studies.sweep import Sweep


def play_sweep(study: Study, varied: tuple[str, list[float]], **options: Any) -> Sweep:
    """Play what a spec sweeps over; errors name the keys of its table."""
    from halfseen.studies.sweep import sweep

    keys = {"path": "sweep.number", "values": "sweep.values"}
    try:
        return sweep(study, *varied, **options)
    except InvalidInput as error:
        field = keys.get(error.field, error.field)
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None


def present_sweep(
    swept: Sweep,
    folder: Path,
    as_json: bool,
    report: Literal["always", "if changed", "never"] = "always",
) -> None:
    """Print regret against the varied number and its slope, and write the page."""
    seconds = sum(
        facts.get("seconds", 0.0) for result in swept.results for facts in result.facts.values()
    )
    slopes = swept.slope() if swept.has_slope else None

    def content(page: Path | None) -> dict[str, Any]:
        return {
            "folder": str(folder),
            "report": None if page is None else str(page),
            "seconds": seconds,
            "number": swept.path,
            "values": list(swept.values),
            "summary": swept.summary().records(),
            "slope": None if slopes is None else slopes.records(),
        }

    def text() -> None:
        print_text(f"Regret against {swept.path}\n{swept.summary()}\n")
        if slopes is not None:
            print_text(f"Slope of log regret against log {swept.coordinate}\n{slopes}\n")
        tell_time(seconds, swept.results, folder)

    def write() -> Path | None:
        from halfseen.report.study.page_folder import PAGE
        from halfseen.report.study.sweep_page import sweep_page_is_current

        if report == "never":
            return None
        if report == "if changed" and sweep_page_is_current(swept, folder):
            return folder / PAGE
        return swept.report(folder)

    page = answer_first(text, content, as_json, write)
    if not as_json:
        print(f"Kept in {folder}." if page is None else f"Report: {page}")
