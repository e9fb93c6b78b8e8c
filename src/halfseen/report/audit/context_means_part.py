"""The part of an audit's page on means by context."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.report.core.markup import Html, table, tag
from halfseen.tables import show

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit


def context_means_part(found: Audit) -> list[Html]:
    """Return the means if the context explains missing rewards; nothing without contexts."""
    means = found.context_means
    if means is None:
        return []
    shown = means.table
    rows = [
        tuple("–" if v is None else show(v) if isinstance(v, float) else v for v in row)
        for row in shown.rows
    ]
    note = (
        "Two assumptions that the log cannot distinguish. The context explains it: among decisions"
        " of an arm in a context, missing rewards are like seen ones. It is a proxy: being seen"
        " depends on the reward alone, about which the context is informative; – where it is too"
        " uninformative or contradicts that."
    )
    said = means.findings or ("Means by context are those of the rewards seen, within error.",)
    return [
        tag("h3", "If the context explains what is missing"),
        *(tag("p", sentence) for sentence in said),
        table(shown.columns, rows, label="Means by context"),
        tag("p", note, class_="note"),
    ]
