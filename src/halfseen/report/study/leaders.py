"""The first thing a reader wants: the picture of regret, and which policy lost least where."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from halfseen.phrases import number
from halfseen.report.core.document import figure_place, section
from halfseen.report.core.markup import Html, aligned, table, tag
from halfseen.report.core.panels import Figure
from halfseen.studies.result import Result
from halfseen.tables import with_error

NOTE = (
    "Next: the policy with the second lowest mean regret, and how much more it lost, as a paired"
    " difference on the same draws; intervals hold for all policies together at 95%. “Not clear”:"
    " another policy may be as good, as far as these replications can tell."
)


def best_section(result: Result, figures: dict[str, Figure]) -> Html:
    """Return the first chart of every problem, and the best policy of every world.

    Parameters
    ----------
    result
        Everything.
    figures
        The charts to show, by the name of their problem.
    """
    several = len(result.study.problems) > 1
    content = [
        figure_place(
            replace(figure, title=f"{figure.title}, problem “{problem}”") if several else figure
        )
        for problem, figure in figures.items()
    ]
    title = "Regret by round"
    if len(result.study.policies) > 1:
        title = "Which policy lost least"
        rows = _table(result, result.best().records())
        content[1:1] = [rows, tag("p", NOTE, class_="note")]  # below the first chart
    return section("best", title, *content)


def in_a_sentence(rows: list[dict[str, Any]]) -> str:
    """Say which policy lost least, and in how many worlds its lead is clear.

    >>> row = {"best": "UCB", "clear": True}
    >>> in_a_sentence([row, row | {"clear": False}])
    'UCB lost least in both worlds; its lead is clear in 1 of them.'
    >>> in_a_sentence([row | {"best": "Thompson"}])
    'Thompson lost least, and its lead is clear.'
    >>> in_a_sentence([row, row, row | {"best": "Thompson"}])
    'UCB lost least in 2 of 3 worlds; its lead is clear in both of them. Thompson in 1 of 3.'
    """
    worlds = len(rows)
    leaders = Counter(row["best"] for row in rows).most_common()
    name, count = leaders[0]
    clear = sum(row["clear"] for row in rows if row["best"] == name)
    if worlds == 1:
        return f"{name} lost least, " + (
            "and its lead is clear." if clear else "but its lead is not clear."
        )
    if count == worlds:
        where = "both worlds" if worlds == 2 else f"all {worlds} worlds"
    else:
        where = f"{count} of {worlds} worlds"
    everywhere = "it" if count == 1 else "both of them" if count == 2 else "all of them"
    sure = everywhere if clear == count else f"{clear or 'none'} of them"
    others = "".join(f" {other} in {n} of {worlds}." for other, n in leaders[1:4])
    return f"{name} lost least in {where}; its lead is clear in {sure}.{others}"


def _table(result: Result, rows: list[dict[str, Any]]) -> Html:
    several = len(result.study.problems) > 1
    heads = (*(("problem",) if several else ()), "censorship", "lost least", "regret")
    heads += ("next", "more by", "lead")
    summary = result.summary().records()
    cells = [(r["problem"], r["censorship"], r["policy"]) for r in summary]
    regrets = dict(zip(cells, aligned([r["regret"] for r in summary]), strict=True))
    lines = [
        (
            *((row["problem"],) if several else ()),
            row["censorship"],
            tag("strong", row["best"]),
            regrets[row["problem"], row["censorship"], row["best"]],
            row["next"],
            _difference(row),
            "clear" if row["clear"] else "not clear",
        )
        for row in rows
    ]
    words = [i for i, head in enumerate(heads) if head not in ("regret", "more by")]
    return table(heads, lines, words=words, label="Best policies")


def _difference(row: dict[str, Any]) -> str:
    error = row["± 95%, together"]
    return number(row["behind by"]) if error is None else with_error(row["behind by"], error)
