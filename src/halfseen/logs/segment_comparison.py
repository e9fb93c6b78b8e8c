"""What changed between two audits by segments, beyond chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from halfseen.display import Shown
from halfseen.errors import InvalidInput
from halfseen.logs.comparison import CHANCE, Comparison, compare, read_audit
from halfseen.logs.option_names import option
from halfseen.logs.segments import SegmentedAudit
from halfseen.logs.sentences import shortened
from halfseen.tables import listed


@dataclass(frozen=True, repr=False)
class SegmentComparison(Shown):
    """What changed since an earlier audit by the same column.

    Attributes
    ----------
    whole
        What changed in all rows.
    parts
        What changed in every segment that both audits have, by name.
    new, vanished
        Segments that only one of the two audits has.
    """

    whole: Comparison
    parts: Mapping[str, Comparison]
    new: tuple[str, ...]
    vanished: tuple[str, ...]

    @property
    def findings(self) -> tuple[str, ...]:
        """What changed, in sentences; segments in which nothing did are left out."""
        words = [f"New segments: {listed(self.new)}."] if self.new else []
        words += [f"Segments gone: {listed(self.vanished)}."] if self.vanished else []
        if self.whole.changes or self.whole.overlap is not None:
            words.append(f"In all rows: {' '.join(self.whole.findings)}")
        for name, part in self.parts.items():
            if part.changes:
                words.append(f"In {shortened(name)}: {' '.join(part.findings)}")
        return tuple(words) or ("Nothing changed beyond chance.",)

    @property
    def how(self) -> str:
        """How it was found out, and what it assumes."""
        return (
            f"All rows and {len(self.parts):,} segments were compared; if nothing changed, any"
            f" change is named with a probability of at most {CHANCE:.1%}. Both audits must be of"
            f" different rows: of a log that grows, audit the new part ({option('since')})."
        )

    def __str__(self) -> str:
        return "Since the earlier audit: " + " ".join([*self.findings, self.how])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: those of all rows, and of every segment."""
        return self.whole.to_dict() | {
            "segments": {name: part.to_dict() for name, part in self.parts.items()},
            "new_segments": list(self.new),
            "vanished_segments": list(self.vanished),
        }


def compare_segments(found: SegmentedAudit, before: Any) -> SegmentComparison:
    """Return what changed since an earlier audit by the same column, segment by segment.

    Parameters
    ----------
    found
        The audit of now.
    before
        An earlier one: what `SegmentedAudit.to_dict` returned, or the path of a file that holds it.

    Returns
    -------
    SegmentComparison
        The changes, the probability of a false one shared by all segments.
    """
    old = before if isinstance(before, dict) else read_audit(before)
    if old.get("by") != found.by or not isinstance(old.get("segments"), list):
        raise InvalidInput(
            "compare",
            f"must be an audit by the same column, {found.by}",
            "one of all rows" if old.get("by") is None else f"one by {old['by']}",
            f"Audit the earlier log with {option('by', found.by)} too, or compare without it.",
        )
    then = {str(part.get("segment")): part for part in old["segments"]}
    common = [name for name in found.segments if name in then]
    level = CHANCE / (len(common) + 1)
    return SegmentComparison(
        compare(found.whole, old, level=level),
        {name: compare(found.segments[name], then[name], level=level) for name in common},
        tuple(name for name in found.segments if name not in then),
        tuple(name for name in then if name not in found.segments),
    )
