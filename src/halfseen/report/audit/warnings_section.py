"""The part of an audit's page on checks, warnings, changes and pending rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from halfseen.logs.warnings.log_warning import CHANCE
from halfseen.phrases import counted
from halfseen.report.core.document import figure_place, section
from halfseen.report.core.markup import Html, table, tag, unbroken
from halfseen.report.core.panels import Figure

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.comparison import Comparison
    from halfseen.logs.warnings.log_warning import LogWarning

MOST_CHANGES = 250  # rates that changed, in the table
NOT_LOOKED_FOR = "cannot be looked for"
STATES = {"small": "found, too small to matter", NOT_LOOKED_FOR: "not testable"}


def warnings_section(found: Audit) -> Html:
    """Return every warning, then every check with its result."""
    content: list[object] = []
    if found.warnings:
        content.append(tag("ul", *(_item(warning) for warning in found.warnings)))
    else:
        content.append(tag("p", _nothing_found(found)))
    rows = [
        (
            check.looked_for,
            STATES.get(check.state, check.state),
            "See above." if check.state == "found" else unbroken(_detail(check.detail)),
        )
        for check in found.checks
    ]
    content += [
        tag("h3", "What was tested"),
        table(("check", "result", ""), rows, words=(0, 1, 2), label="Checks"),
        tag("p", CHANCE, class_="note"),
        *(tag("p", unbroken(note), class_="note") for note in found.notes),
    ]
    return section("warnings", "Warnings", *content)


def _nothing_found(found: Audit) -> str:
    """Return why there is no warning: nothing was found, or nothing could be tested."""
    left_out = sum(check.state == NOT_LOOKED_FOR for check in found.checks)
    if left_out == len(found.checks):
        return "Nothing could be tested: the log has too few rows or columns, as listed here."
    if not left_out:
        return "Nothing was found that would change the conclusions."
    return (
        "Nothing was found that would change the conclusions, by the"
        f" {counted('check', len(found.checks) - left_out)} that could be made;"
        f" {left_out} could not."
    )


def void_section(found: Audit) -> Html:
    """Return the warnings that invalidate every number, to be shown above them."""
    voiding = (warning for warning in found.warnings if warning.voids)
    return section(
        "void",
        "Read this first",
        *(tag("p", *warning_sentences(warning), class_="caution") for warning in voiding),
        tag(
            "p",
            "Until then the numbers below are invalid: they are struck through, charts are faded.",
        ),
    )


def _item(warning: LogWarning) -> Html:
    return tag("li", *warning_sentences(warning))


def warning_sentences(warning: LogWarning) -> tuple[object, ...]:
    """Return what was found, what it does to the conclusions, and what to do."""
    finding, effect, remedy = map(unbroken, (warning.finding, warning.effect, warning.remedy))
    return tag("strong", finding), " ", effect, " ", tag("em", remedy)


def _detail(text: str) -> str:
    """Return a detail as a separate sentence."""
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def changes_section(changes: Comparison) -> Html:
    """Return what changed since an earlier audit."""
    rows = [
        (
            "all arms" if c.arm is None else c.arm,
            f"{c.before:.1%}",
            f"{c.now:.1%}",
            f"{c.chance:.2g}",
        )
        for c in changes.rates[:MOST_CHANGES]
    ]
    names = ("arm", "share seen then", "now", "p-value")
    return section(
        "changes",
        "Since the last audit",
        *(tag("p", sentence) for sentence in changes.findings),
        *([table(names, rows, label="Changes")] if rows else []),
        tag("p", changes.how, class_="note"),
    )


def delays_section(found: Audit, drawn: list[Figure]) -> Html:
    """Return the pending rewards and the delay distributions."""
    assert found.maturity is not None
    return section(
        "delays",
        "Pending rewards",
        *(tag("p", sentence) for sentence in found.maturity.findings),
        *(figure_place(figure) for figure in drawn),
        tag("p", found.maturity.assumption, class_="note"),
    )
