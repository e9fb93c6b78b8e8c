"""The first section: the chart of regret, and the best policy in each world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from halfseen.phrases import joined
from halfseen.report.core.document import figure_place, section
from halfseen.report.core.markup import Html, aligned, table, tag
from halfseen.report.core.panels import Figure
from halfseen.studies.policy_comparison import Leaders, leaders
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import MeanInterval as MeanInterval
from halfseen.tables import decimals_of_errors

NOTE = (
    "Next: the policy with the second lowest mean regret, and how much more it lost, as a paired"
    " difference on the same draws, its interval wide enough for comparing all policies. Where"
    " several policies are named, these replications do not show which of them loses least; with a"
    " confidence of 95% the best is among them."
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
        rows = _table(result, leaders(result))
        content[1:1] = [rows, tag("p", NOTE, class_="note")]  # below the first chart
    return section("best", title, *content)


def in_a_sentence(worlds: Sequence[Leaders]) -> str:
    """State which policy lost least where, and where none is clearly the best.

    >>> world = Leaders("arms", "half", ("UCB",), False, 7.0, "IMED", MeanInterval(3.0, 1.0))
    >>> in_a_sentence([world])
    'UCB lost least, and its lead is clear.'
    >>> unclear = replace(world, names=("UCB", "IMED"))
    >>> in_a_sentence([unclear])
    'UCB and IMED do not differ significantly in regret in these replications.'
    >>> in_a_sentence([replace(unclear, tie=True)])
    'UCB and IMED tie: they lost the same in every replication.'
    >>> in_a_sentence([world, world, unclear])
    'UCB lost least in 2 of 3 worlds. In the other, no policy is clearly the best.'
    >>> in_a_sentence([world, world, replace(world, names=("UCB, missing = 0",))])
    'UCB lost least in 2 of 3 worlds, “UCB, missing = 0” in 1.'
    >>> in_a_sentence([world, world])
    'UCB lost least in both worlds.'
    >>> in_a_sentence([unclear, unclear])
    'No policy is clearly the best in any of 2 worlds.'
    """
    if len(worlds) == 1:
        world = worlds[0]
        if world.clear:
            return f"{world.names[0]} lost least, and its lead is clear."
        names = joined(world.names, "and")
        if world.tie:
            return f"{names} tie: they lost the same in every replication."
        return f"{names} do not differ significantly in regret in these replications."
    count = len(worlds)
    wins = Counter(world.names[0] for world in worlds if world.clear).most_common()
    if not wins:
        return f"No policy is clearly the best in any of {count:,} worlds."
    everywhere = "both worlds" if count == 2 else f"all {count:,} worlds"
    told = [f"{_name(name)} lost least in {_share(n, count, everywhere)}" for name, n in wins[:1]]
    told += [f"{_name(name)} in {n:,}" for name, n in wins[1:4]]
    rest = count - sum(n for _, n in wins)
    others = "the other" if rest == 1 else f"the other {rest:,}"
    unclear = f" In {others}, no policy is clearly the best." if rest else ""
    return f"{', '.join(told)}.{unclear}"


def _name(policy: str) -> str:
    """Quote a name that contains a comma."""
    return f"“{policy}”" if "," in policy else policy


def _share(part: int, whole: int, everywhere: str) -> str:
    return everywhere if part == whole else f"{part:,} of {whole:,} worlds"


def _table(result: Result, worlds: Sequence[Leaders]) -> Html:
    several = len(result.study.problems) > 1
    heads = (*(("problem",) if several else ()), "censorship", "lost least", "regret")
    heads += ("next", "more by", "lead")
    summary = result.summary().records()
    cells = [(r["problem"], r["censorship"], r["policy"]) for r in summary]
    decimals = decimals_of_errors([r["± 95%"] for r in summary])
    shown = aligned([r["regret"] for r in summary], decimals=decimals)
    regrets = dict(zip(cells, shown, strict=True))
    lines = [
        (
            *((world.problem,) if several else ()),
            world.censorship,
            tag("strong", world.names[0]) if world.clear else str(world),
            regrets[world.problem, world.censorship, world.names[0]],
            world.runner_up,
            "" if world.behind is None else world.behind.text,
            "clear" if world.clear else "none" if world.tie else "not clear",
        )
        for world in worlds
    ]
    words = [i for i, head in enumerate(heads) if head not in ("regret", "more by")]
    return table(heads, lines, words=words, label="Best policies")
