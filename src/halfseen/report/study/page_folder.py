"""Prevents pages from overwriting unrelated files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from halfseen.errors import InvalidInput
from halfseen.report.core.document import stamp_of
from halfseen.studies.folder import check_same_study
from halfseen.studies.storage import STUDY_FILE, is_marked, readable
from halfseen.studies.study import Study
from halfseen.studies.sweep_folder import SWEEP_FILE, check_sweep_folder

PAGE = "report.html"
INCOMPLETE = "incomplete"  # stamp of a page with a chart that could not be drawn


def check_study_page(folder: Path, study: Study) -> None:
    """Refuse a folder that is neither new or empty, nor the study's, nor that of a page only."""
    _check(folder, STUDY_FILE, SWEEP_FILE, lambda: check_same_study(folder, study))


def check_sweep_page(folder: Path, number: str, at: Callable[[float], Study]) -> None:
    """Refuse a folder that is neither new or empty, nor the sweep's, nor that of a page only."""
    _check(folder, SWEEP_FILE, STUDY_FILE, lambda: check_sweep_folder(folder, number, at))


def _check(folder: Path, own: str, other: str, check: Callable[[], None]) -> None:
    with readable(folder, "Cannot use", "Choose another folder"):
        ours, theirs = (folder / own).exists(), (folder / other).exists()
    if ours:
        check()
    elif theirs:
        what = "a sweep's" if other == SWEEP_FILE else "a study's"
        raise InvalidInput(
            "folder",
            f"must be a new folder, not one that holds {what} results",
            str(folder),
            "Choose another folder.",
        )
    elif stamp_of(folder / PAGE) is None:
        is_marked(folder, own)  # refuses other files
