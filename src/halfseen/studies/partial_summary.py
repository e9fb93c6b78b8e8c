"""The unfinished summary of one cell, kept on disk so that a rerun continues from it."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from halfseen.engine.player import blank_track
from halfseen.engine.reduce import Fold, Part
from halfseen.studies.storage import CELLS, PARTS, read_cell, read_facts, readable, write_cell
from halfseen.studies.study import AnyCell

KEEP_SECONDS = 5.0


@dataclass
class Draft:
    """The summary of one cell so far; with a path, saved there every few seconds."""

    cell: AnyCell
    digest: str
    place: Path | None
    fold: Fold = field(default_factory=Fold)
    precision: str = "double"
    kept: int = 0
    kept_at: float = field(default_factory=time.monotonic)

    def add(self, part: Part) -> None:
        """Merge in some replications."""
        self.fold.add(part)
        if time.monotonic() - self.kept_at > KEEP_SECONDS:
            self.keep()

    def keep(self) -> None:
        """Save what is new; the earlier file is removed once the new one is complete."""
        count = self.fold.count
        if self.place is None or count == self.kept:
            return
        moments = self.fold.moments
        names = next(iter(moments.values()))
        arrays = {name: np.stack([m[name] for m in moments.values()]) for name in names}
        facts = {"spans": list(moments), "precision": self.precision}
        write_cell(self.place, str(count), arrays | self.fold.histograms, facts)
        if self.kept:
            shutil.rmtree(self.place / CELLS / str(self.kept), ignore_errors=True)
        self.kept, self.kept_at = count, time.monotonic()

    def drop(self) -> None:
        """Remove it from disk: its cell is finished."""
        if self.place is not None:
            shutil.rmtree(self.place, ignore_errors=True)
            with suppress(OSError):  # not empty yet, or never made
                self.place.parent.rmdir()
        self.place, self.fold = None, Fold()


def draft_of(cell: AnyCell, digest: str, folder: Path | None) -> Draft:
    """Return a cell's draft in a folder, or a new one."""
    draft = Draft(cell, digest, None if folder is None else folder / PARTS / digest)
    if draft.place is None:
        return draft
    with readable(draft.place):
        names = [path.name for path in (draft.place / CELLS).glob("*")]
    counts = [int(name) for name in names if name.isdecimal()]
    if counts:
        name = str(max(counts))
        facts = read_facts(draft.place, name) or {}
        spans = [(first, last) for first, last in facts["spans"]]
        blank = Part.of(blank_track(cell, 1))
        (moments,) = blank.moments.values()
        stacks = {key: np.empty((len(spans), *array.shape)) for key, array in moments.items()}
        read_cell(draft.place, name, stacks | blank.histograms)
        parts = {span: {k: a[row] for k, a in stacks.items()} for row, span in enumerate(spans)}
        draft.fold = Fold(parts, blank.histograms)
        draft.precision, draft.kept = facts["precision"], draft.fold.count
    return draft
