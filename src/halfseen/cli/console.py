"""What the command prints: tables and progress for people, JSON for programs."""

from __future__ import annotations

import logging
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from halfseen import checks
from halfseen.cli.streams import answer_first, print_json
from halfseen.phrases import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from halfseen.claims import Finding
    from halfseen.studies.result import Result
    from halfseen.studies.study import Study
    from halfseen.studies.summarize import Summary
    from halfseen.tables import Table

WORDS = ("problem", "censorship", "policy")  # columns of a summary that name a cell
NAME, GAP = 12, 2  # least width of a name, and between columns, in a terminal
SHORT = 0.05  # compile times in seconds below which none is printed
LEAST = 1e-100  # smallest probability for which sums of 1/p^2 do not overflow


def present(
    result: Result,
    folder: Path,
    as_json: bool,
    report: Literal["always", "if changed", "never"] = "always",
) -> None:
    """Print the summary, even if writing the report fails, and write the report.

    With ``"if changed"``, a report of the same numbers by the same version is left as it is.
    """
    seconds = sum(facts.get("seconds", 0.0) for facts in result.facts.values())

    def content(page: Path | None) -> dict[str, Any]:
        return {
            "digest": result.study.digest(),
            "folder": str(folder),
            "report": None if page is None else str(page),
            "seconds": seconds,
            "summary": result.summary().records(),
        }

    def text() -> None:
        _print_table(result)
        tell_time(seconds, [result], folder)
        if report != "never" and sys.stderr.isatty():
            print("Writing the report.", file=sys.stderr)

    def write() -> Path | None:
        if report == "never":
            return None
        from halfseen.report import report_is_current, write_report

        if report == "if changed" and report_is_current(result, folder):
            return folder / "report.html"
        return write_report(result, folder)

    page = answer_first(text, content, as_json, write)
    if not as_json and page is not None:
        print(f"Report: {page}")


def tell_time(seconds: float, results: Sequence[Result], folder: Path) -> None:
    """Print how long compiling and simulating took, and whether that was now or earlier."""
    played = [result.played for result in results]
    if any(played):
        facts = [each for result in results for each in result.facts.values()]
        compiling = sum(each.get("compiling", 0.0) for each in facts)
        first = f"Compiled in {compiling:.1f} s, simulated" if compiling >= SHORT else "Simulated"
        print(f"{first} in {seconds:.1f} s.")
        return
    if None not in played:
        cells = counted("cell", sum(len(result.fingerprints.cells) for result in results))
        what = "the only cell is" if cells == "1 cell" else f"all {cells} are"
        print(f"Nothing was left to play: {what} in {folder}.", file=sys.stderr)
    print(f"Simulated earlier, in {seconds:.1f} s.")


def present_summary(summary: Summary, folder: Path, as_json: bool) -> None:
    """Print the summary of a study whose trajectories were not kept."""
    seconds = sum(facts["seconds"] for facts in summary.facts.values())
    if as_json:
        records = summary.table().records()
        digest = summary.study.digest()
        print_json(
            {"digest": digest, "folder": str(folder), "seconds": seconds, "summary": records}
        )
        return
    print(summary.table())
    print(
        f"{summary.study.replications:,} replications a cell, in {seconds:.1f} s. Kept in {folder}."
    )


def _print_table(result: Result) -> None:
    from rich.console import Console

    from halfseen.studies.result import WINNER_COLUMNS

    summary = result.summary()
    console = Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:  # a file or a pipe: lines are not wrapped
        print(summary)
        _explain_winners(summary)
        return
    single = len(result.study.problems) == 1
    names = [c for c in WORDS if not (single and c == "problem")]
    numbers = [c for c in summary.columns if c not in (*WORDS, *WINNER_COLUMNS)]
    _print_grids(console, f"Regret after {result.study.horizon:,} rounds", names, numbers, summary)
    if result.study.stop is not None:
        title = f"Winners, at level {result.study.level:g}"
        _print_grids(console, title, names, list(WINNER_COLUMNS), summary)
        _explain_winners(summary)


def _explain_winners(summary: Table) -> None:
    """Explain an empty number of rounds to a winner, if there is one."""
    if any(record.get("rounds to winner", 0.0) is None for record in summary):
        print("Rounds to winner: the median; empty where at most half of the replications have one")


def _print_grids(
    console: Console, title: str, names: list[str], numbers: list[str], summary: Table
) -> None:
    """Print columns of a summary, in several grids where one is too wide; no number is cut."""
    cells = dict(zip(summary.columns, zip(*summary.written(), strict=True), strict=True))
    widest = {name: max(map(len, (name, *cells[name]))) for name in (*names, *numbers)}
    folded = {name: widest[name] for name in numbers}
    if sum(widest.values()) + GAP * (len(widest) - 1) > console.width:
        folded = {name: max(map(len, (*name.split(), *cells[name]))) for name in numbers}
    beside = sum(min(widest[name], NAME) + GAP for name in names)
    console.width = max(console.width, beside + max(folded.values()))
    room = console.width - beside
    grids: list[dict[str, int]] = [{}]
    for name, width in folded.items():
        if grids[-1] and sum(grids[-1].values()) + GAP * len(grids[-1]) + width > room:
            grids.append({})
        grids[-1][name] = width
    for place, widths in enumerate(grids):
        head = f"{title}, continued" if place else title
        console.print(_grid(head, names, widths, cells))


def _grid(
    title: str, names: list[str], widths: dict[str, int], cells: dict[str, tuple[str, ...]]
) -> RichTable:
    """Return names and numbers of the cells of a study, ruled between worlds."""
    from rich.box import SIMPLE
    from rich.table import Table as RichTable

    grid = RichTable(
        title=title,
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )
    for name in names:
        grid.add_column(name, overflow="fold")
    for name, width in widths.items():
        grid.add_column(name, justify="right", width=width)
    before = None
    worlds = list(zip(cells["problem"], cells["censorship"], strict=True))
    for place, world in enumerate(worlds):
        if before is not None and world != before:
            grid.add_section()
        row = {name: cells[name][place] for name in (*names, *widths)}
        if world == before:
            row["censorship"] = ""
        grid.add_row(*row.values())
        before = world
    return grid


def print_dimension(observe: list[float] | None, noise: list[float] | None, as_json: bool) -> None:
    """Print the effective dimension, each arm's contribution and the value of its feedback."""
    from halfseen.theory import dimension_by_arm

    assert observe is not None
    for place, p in enumerate(observe):
        checks.number(f"--observe[{place}]", p, at_least=LEAST, at_most=1.0, fix=checks.OBSERVE_FIX)
    from halfseen.cli.audit_console import print_found

    print_found(dimension_by_arm(observe, noise=noise), as_json)


def print_bounds(study: Study, folder: Path, as_json: bool) -> None:
    """Print every bound of every cell, with the measured regret where the folder holds it."""
    from halfseen.report.study.bounds import study_bounds

    cells = study_bounds(study, folder)
    if as_json:
        print_json([cell.to_dict() for cell in cells])
        return
    for cell in cells:
        print(f"{cell}\n")
    print("* the smallest")


def present_claims(as_json: bool) -> None:
    """Print the name and the statement of every claim."""
    from halfseen.claims.registry import claims

    known = claims().values()
    if as_json:
        print_json(
            [{"name": claim.name, "place": claim.place, "says": claim.says} for claim in known]
        )
        return
    for claim in known:
        print(claim.name)
        print(textwrap.fill(claim.says, 80, initial_indent="  ", subsequent_indent="  "))


def present_verdicts(
    findings: list[Finding], folder: Path | None, as_json: bool, *, details: bool
) -> None:
    """Print the verdicts, and write them into a folder if there is one."""
    from halfseen.report.claims import counts, verdict_table, write_verification

    wrong = [finding for finding in findings if not finding.as_recorded]
    seconds = sum(finding.seconds for finding in findings)

    def content(page: Path | None) -> dict[str, Any]:
        return {
            "as_recorded": not wrong,
            "seconds": seconds,
            "report": None if page is None else str(page),
            "claims": [finding.to_dict() for finding in findings],
        }

    def text() -> None:
        if details:
            for finding in findings:
                print(f"{finding}\n")
        else:
            print(verdict_table(findings))
        print(f"{counts(findings)}; {seconds:.1f} s.")
        for finding in wrong:
            print(
                f"Not as recorded: {finding.claim.name}, {finding.verdict}"
                f" instead of {finding.claim.expected}."
            )

    def write() -> Path | None:
        return None if folder is None else write_verification(findings, folder)

    page = answer_first(text, content, as_json, write)
    if page is not None and not as_json:
        print(f"Page: {page}")


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show a progress bar on stderr if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with (
        Progress(*columns, console=console, disable=not sys.stderr.isatty(), transient=True) as bar,
        notes(lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True)),
    ):
        task = bar.add_task("starting", total=None)

        def progress(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield progress


@contextmanager
def notes(show: Callable[[str], None]) -> Iterator[None]:
    """Show messages that halfseen logs, such as the address of a dashboard."""
    logger, handler = logging.getLogger("halfseen"), logging.Handler()
    handler.emit = lambda record: show(record.getMessage())  # type: ignore[method-assign]
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
