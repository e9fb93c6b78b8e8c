"""The answer on the page of an audit: what is seen, what that costs, the best arm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfseen.report.audit.charts import ARMS
from halfseen.report.core.document import figure_place, section
from halfseen.report.core.markup import Html, tag
from halfseen.report.core.panels import Figure

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.plan import Plan


def answer_section(found: Audit, forecast: Plan | None, drawn: list[Figure]) -> Html:
    """Return the answer: what is seen of every arm, what it costs at worst, the forecast."""
    from halfseen.logs.sentences import (
        ASSUMPTION,
        along_features,
        best_in_words,
        beyond_worst_case,
        outlook_in_words,
    )

    whole = found.dimension_of_seen
    waited = found.maturity
    waits = waited is not None and waited.pending.sum() >= 0.5
    title = "of outcomes are seen in the end" if waits else "of outcomes are seen"
    if waited is not None and waited.stated:
        title = f"of outcomes are back within {waited.duration(waited.window)}"
    so_far = " so far; others are pending" if waits else ""
    text = f"{found.seen:,} of {found.rows:,} decisions{so_far}."
    items = [_item(f"{100 * found.share:.3g}%", title, text)]
    if len(found.answers) > 1 and whole is not None:
        most = " at most: delays exceed the length of the log" if found.upper_end else ""
        title = f"as many decisions, in the worst case over all problems{most}"
        text = (
            "Over the same number of decisions, the reward lost grows by its square root,"
            f" {math.sqrt(whole.factor):.3g} times."
        )
        if forecast is None or not beyond_worst_case(found, forecast):
            text += " Most problems are kinder."
        items.append(_item(_times(whole.factor), title, text))
    if forecast is not None and (forecast.in_blocks or not math.isnan(forecast.factor)):
        text = (
            outlook_in_words(found, forecast)
            if forecast.in_blocks
            else "The goal is defined below."
        )
        items.append(_item(forecast.times_as_long, "as long, forecast for this log", text))
    if best := best_in_words(found):
        items.append(_item("→", "The best arm", best[0]))
    if found.seen and not found.complete and not found.voided:
        worth = [] if found.worth_most is None else [str(found.worth_most)]
        more = {
            "Where more feedback is worth most": worth,
            "Along the features": along_features(found),
        }
        items += [_item("→", title, text) for title, texts in more.items() for text in texts]
    shown = min(ARMS, len(found.arms))
    few = [] if shown == len(found.arms) else [f"The {shown} arms that cost most are drawn."]
    return section(
        "answer",
        "The answer",
        *(figure_place(figure) for figure in drawn),
        *(tag("p", note, class_="note") for note in few),
        tag("ul", *items, class_="answers"),
        tag("h3", "When this holds"),
        tag("p", ASSUMPTION, class_="caution"),
    )


def _times(factor: float) -> str:
    """Write a factor short enough for one line.

    >>> _times(21.337), _times(1.5), _times(math.inf)
    ('21.3×', '1.5×', '∞')
    """
    return (
        f"{factor:,.0f}×"
        if 100.0 <= factor < math.inf
        else (f"{factor:.3g}×" if math.isfinite(factor) else "∞" if factor > 1.0 else "–")
    )


def _item(factor: str, title: str, text: str) -> Html:
    return tag(
        "li", tag("div", factor, class_="factor"), tag("div", tag("h4", title), tag("p", text))
    )
