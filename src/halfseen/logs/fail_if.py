"""Thresholds on an audit that set the exit status of the command."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from halfseen.errors import InvalidInput
from halfseen.tables import show

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.comparison import Comparison

SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
MEASURES: dict[str, Callable[[Audit], float]] = {
    "factor": lambda found: found.headline_dimension.factor,
    "factor_low": lambda found: (
        1.0 if found.upper_end else found.headline_dimension.factor_interval[0]
    ),
    "factor_high": lambda found: found.headline_dimension.factor_interval[1],
    "seen": lambda found: found.share,
    "rows": lambda found: found.rows,
    "arms": lambda found: len(found.arms),
    "never_seen": lambda found: int((found.counts.seen == 0).sum()),
    "warnings": lambda found: len(found.warnings),
}
CHANGES = "changes"  # the measure that needs an earlier audit
FORM = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<)\s*([0-9.eE+-]+)\s*(%?)\s*")


@dataclass(frozen=True)
class Threshold:
    """A condition under which an audit fails."""

    measure: str
    sign: str
    limit: float

    def crossed(self, found: Audit, compared: Comparison | None) -> str | None:
        """Return the violation, or None, also where only an upper bound of the factor is known."""
        return None if self._open(found) else self._said(found, compared)

    def left_open(self, found: Audit) -> str | None:
        """Return what an upper bound of the factor leaves undetermined, or None."""
        said = self._said(found, None) if self._open(found) else None
        if said is None:
            return None
        most = show(found.headline_dimension.factor)
        return (
            f"factor is at most {most}, as delays exceed the length of the log: whether it is"
            f" {self.sign}"
            f" {show(self.limit)} is undetermined, so it does not count. Use factor_high to fail on"
            " what is possible, factor_low on what is certain."
        )

    def _open(self, found: Audit) -> bool:
        return found.upper_end and self.measure == "factor" and self.sign in (">", ">=")

    def _said(self, found: Audit, compared: Comparison | None) -> str | None:
        if self.measure == CHANGES:
            value = math.nan if compared is None else float(compared.changes)
        else:
            value = float(MEASURES[self.measure](found))
        if not SIGNS[self.sign](value, self.limit):
            return None
        shown = show(value) if math.isfinite(value) else "infinite"
        if found.upper_end and self.measure in ("factor", "factor_high"):
            shown = f"at most {shown} (delays exceed the length of the log)"
        return f"{self.measure} is {shown}, and must not be {self.sign} {show(self.limit)}."


def read_threshold(text: str, compared: bool) -> Threshold:
    """Read a condition such as ``factor>2`` or ``seen<50%``.

    Parameters
    ----------
    text
        The condition.
    compared
        Whether there is an earlier audit to compare with.

    Examples
    --------
    >>> read_threshold("factor > 2", False)
    Threshold(measure='factor', sign='>', limit=2.0)
    """
    known = (*MEASURES, *((CHANGES,) if compared else ()))
    parts = FORM.fullmatch(text)
    try:
        limit = float(parts[3]) / (100.0 if parts[4] else 1.0) if parts else math.nan
    except ValueError:
        limit = math.nan
    if parts is None or parts[1] not in known or not math.isfinite(limit):
        more = "" if compared else "; with --compare also changes"
        if parts is not None and parts[1] == CHANGES:
            raise InvalidInput(
                "--fail-if",
                "must not name changes without an earlier audit to compare with",
                text,
                "Name one with --compare.",
            )
        raise InvalidInput(
            "--fail-if",
            f"must be a measure, a sign and a number ({', '.join(known)}{more})",
            text,
            'Write for example "factor>2" or "seen<0.5".',
        )
    return Threshold(parts[1], parts[2], limit)


def crossed_by(
    limits: list[Threshold],
    audits: dict[str, Audit],
    compared: Mapping[str, Comparison] | None = None,
) -> tuple[list[str], list[str]]:
    """Return the violations of each audit, and what is undetermined, after its name."""
    wrong, untold = [], []
    for name, found in audits.items():
        start = f"{name}: " if name else ""
        changes = None if compared is None else compared.get(name)
        for limit in limits:
            if said := limit.crossed(found, changes):
                wrong.append(f"{start}{said}")
            if said := limit.left_open(found):
                untold.append(f"{start}{said}")
    return wrong, untold
