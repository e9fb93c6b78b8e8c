"""A regret bound, and the table of all bounds for a policy on a problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from halfseen import checks
from halfseen.display import Shown, Tabular
from halfseen.phrases import counted
from halfseen.tables import Table, show, table

if TYPE_CHECKING:
    import altair as alt

PAPER = "Guinet, Amin, Jaillet (2022)"


@dataclass(frozen=True, repr=False)
class Bound(Shown):
    """One upper bound on the expected regret.

    Attributes
    ----------
    name
        Name in the table.
    value
        The bound; infinity if it does not apply. A finite value that does not apply is an order of
        growth, not a bound.
    terms
        Its terms, by name, which add up to the value.
    reference
        The statement it comes from.
    paper
        True for the paper's own bound (with its misprints corrected), False for a sharper one.
    applies
        Whether its conditions hold.
    reason
        Why it does not apply; empty if it does.
    """

    name: str
    value: float
    terms: Mapping[str, float] = field(default_factory=dict)
    reference: str = ""
    paper: bool = False
    applies: bool = True
    reason: str = ""

    def _headline(self) -> str:
        if not self.applies:
            return f"{self.name} does not apply: {self.reason}"
        return f"regret is at most {show(self.value)} ({self.name}; {self.reference})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; None for infinite values."""
        return {
            "name": self.name,
            "value": self.value if math.isfinite(self.value) else None,
            "terms": dict(self.terms),
            "reference": self.reference,
            "paper": self.paper,
            "applies": self.applies,
            "reason": self.reason,
        }


@dataclass(frozen=True, repr=False)
class RegretBounds(Tabular):
    """All bounds on the expected regret of one policy on one problem.

    Iterate over it, select a bound by name (``bounds["joint"]``), print it, or take the `smallest`.

    Attributes
    ----------
    horizon
        Number of rounds for which they hold.
    bounds
        The bounds, sharper ones first.
    """

    horizon: int
    bounds: tuple[Bound, ...]

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    def __getitem__(self, name: str) -> Bound:
        known = {bound.name: bound for bound in self.bounds}
        return known[checks.one_of("name of a bound", name, known)]

    @property
    def smallest(self) -> Bound:
        """The smallest bound that applies."""
        return min((bound for bound in self.bounds if bound.applies), key=lambda b: b.value)

    def table(self) -> Table:
        """Return one row per bound."""
        return table(
            [
                {
                    "bound": bound.name,
                    "regret at most": bound.value if math.isfinite(bound.value) else None,
                    "smallest": "*" if bound is self.smallest else "",
                    "by": bound.reference if bound.applies else f"no: {bound.reason}",
                }
                for bound in self.bounds
            ]
        )

    def plot(self) -> alt.Chart:
        """Return a chart of the bounds that apply, the smallest marked."""
        from halfseen.report.theory.bound_charts import bounds_chart

        return bounds_chart(self)

    def _headline(self) -> str:
        best = self.smallest
        rounds = counted("round", self.horizon)
        return f"regret after {rounds} is at most {show(best.value)} ({best.name})"

    def _details(self) -> list[str | Table]:
        return [self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "horizon": self.horizon,
            "smallest": self.smallest.name,
            "bounds": [bound.to_dict() for bound in self.bounds],
        }

    def __str__(self) -> str:
        width = max(len(bound.name) for bound in self.bounds)
        best = self.smallest
        lines = [f"Expected regret after {counted('round', self.horizon)} is at most"]
        for bound in self.bounds:
            value = f"{bound.value:>16,.6g}" if math.isfinite(bound.value) else f"{'-':>16}"
            mark = "<" if bound is best else " "
            note = bound.reference if bound.applies else bound.reason
            lines.append(f"  {bound.name:<{width}} {value} {mark} {note}")
        return "\n".join(lines)
