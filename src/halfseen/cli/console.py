"""What the command prints: tables and progress for people, JSON for programs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen import checks
from halfseen.cli.streams import answer_first, print_json

if TYPE_CHECKING:
    from halfseen.claims import Finding
    from halfseen.studies.result import Result
    from halfseen.studies.study import Study
    from halfseen.studies.summarize import Summary

LEAST = 1e-100  # probability of being observed whose 1/p^2 can still be added up


def present(result: Result, folder: Path, as_json: bool) -> None:
    """Print the summary, whatever becomes of the report, and write the report."""
    from halfseen.report import write_report

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
        print(f"Simulated in {seconds:.1f} s.")

    page = answer_first(text, content, as_json, lambda: write_report(result, folder))
    if not as_json:
        print(f"Report: {page}")


def present_summary(summary: Summary, folder: Path, as_json: bool) -> None:
    """Print what is left of a study that was too large to keep."""
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
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table as RichTable

    from halfseen.tables import show

    summary = result.summary()
    console = Console(markup=False, emoji=False, highlight=False)
    if not console.is_terminal:  # a file or a pipe: whole lines, however wide
        print(summary)
        return
    single = len(result.study.problems) == 1
    columns = [c for c in summary.columns if not (single and c == "problem")]
    grid = RichTable(
        title=f"Regret after {result.study.horizon:,} rounds",
        title_justify="left",
        box=SIMPLE,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0, 0, 1),
    )
    for name in columns:
        words = name in ("problem", "censorship", "policy")
        widest = max(len(show(record[name])) for record in summary)
        if words:
            grid.add_column(name, overflow="fold", min_width=min(widest, 12))
        else:
            grid.add_column(name, justify="right", min_width=widest)
    before = None
    for record in summary:
        group = (record["problem"], record["censorship"])
        if before is not None and group != before:
            grid.add_section()
        cells = [show(record[name]) for name in columns]
        if group == before:
            cells[columns.index("censorship")] = ""
        grid.add_row(*cells)
        before = group
    console.print(grid)


def print_dimension(observe: list[float] | None, noise: list[float] | None, as_json: bool) -> None:
    """Print the effective dimension, each arm's part in it and the value of its feedback."""
    from halfseen.tables import show, table
    from halfseen.theory import effective_dimension, feedback_value

    assert observe is not None
    for place, p in enumerate(observe):
        checks.number(f"--observe[{place}]", p, at_least=LEAST, at_most=1.0, fix=checks.OBSERVE_FIX)
    whole = effective_dimension(observe, noise)
    seen = effective_dimension([1.0] * len(observe), noise)
    scales = noise or [1.0] * len(observe)
    arms = table(
        [
            {
                "arm": arm,
                "observe": p,
                "noise": sigma,
                "contributes": sigma**2 / p,
                "share": sigma**2 / p / whole if whole else None,
                "worth of 1% more": float(value) / 100,
            }
            for arm, (p, sigma, value) in enumerate(
                zip(observe, scales, feedback_value(observe, noise), strict=True)
            )
        ]
    )
    if as_json:
        print_json(
            {
                "arms": len(observe),
                "everything_seen": seen,
                "effective_dimension": whole,
                "factor": whole / seen if seen else None,
                "per_arm": [
                    {
                        key.replace(" ", "_").replace("1%", "one_percent"): value
                        for key, value in record.items()
                    }
                    for record in arms
                ],
            }
        )
        return
    print(f"arms                 {len(observe)}")
    if noise is not None:
        print(f"if all were seen     {show(seen)}   (the sum of the squared noises)")
    print(f"effective dimension  {show(whole)}")
    if seen:
        print(f"factor               {show(whole / seen)}\n")
    print(arms)
    print(
        "\nThe worst-case regret grows like the root of the effective dimension. 'worth of 1% more'"
        "\nis how much the dimension falls when 1 in 100 more of that arm's rewards are seen. All"
        "\nof it assumes that, given the arm, what goes missing does not depend on the reward."
    )


def print_bounds(study: Study, folder: Path, as_json: bool) -> None:
    """Print every bound of every cell, with the measured regret where the folder holds it."""
    from halfseen.tables import show, table
    from halfseen.theory import regret_bounds

    measured = _measured(study, folder)
    names = [list(study.problems), list(study.censorships), list(study.policies)]
    cells = []
    for position, cell in study.cells():
        regret, potential = measured.get(position, (None, None))
        proved = regret_bounds(cell.problem, cell.censorship, cell.policy, study.horizon, potential)
        place = {
            axis: names[k][position[k]]
            for k, axis in enumerate(("problem", "censorship", "policy"))
        }
        cells.append(place | {"measured": regret} | proved.to_dict())
    if as_json:
        print_json(cells)
        return
    for found in cells:
        regret = found["measured"]
        print(f"{found['problem']} · {found['censorship']} · {found['policy']}")
        if regret is None:
            print(f"regret after {show(found['horizon'])} rounds: not measured yet")
        else:
            print(f"measured regret after {show(found['horizon'])} rounds: {show(regret)}")
        rows = [
            {
                "bound": bound["name"] + (" *" if bound["name"] == found["smallest"] else ""),
                "at most": bound["value"],
                "/ measured": bound["value"] / regret if regret else None,
                "from": bound["reference"] or bound["reason"],
            }
            for bound in found["bounds"]
            if bound["value"] is not None
        ]
        print(table(rows))
        absent = [b for b in found["bounds"] if b["value"] is None]
        for reason in sorted({b["reason"] for b in absent}):
            others = [b["name"] for b in absent if b["reason"] == reason]
            print(f"not here ({reason}): {', '.join(others)}")
        print()
    print("* the smallest")


def _measured(study: Study, folder: Path) -> dict[tuple[int, int, int], tuple[float, float | None]]:
    """Return the mean regret and, of linear bandits, the mean V_1 of every cell that was played."""
    from halfseen.errors import InvalidInput
    from halfseen.studies.folder import stored_study
    from halfseen.studies.result import Result

    try:
        if stored_study(folder, study) is None:
            return {}
    except InvalidInput:  # another study's folder
        return {}
    result, means = Result.empty(study), {}
    for position, cell in study.cells():
        if not result.read(folder, position, cell):
            continue
        potential = None
        if study.linear and 1.0 in study.alphas:
            order = study.alphas.index(1.0)
            potential = float(result.tracks["potential"][position][:, -1, order].mean())
        means[position] = (float(result.tracks["regret"][position][:, -1].mean()), potential)
    return means


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
                _print_finding(finding)
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


def _print_finding(finding: Finding) -> None:
    from halfseen.report.claims import claimed

    claim = finding.claim
    print(f"{claim.name}: {finding.verdict}")
    told = {
        "place": claim.place,
        "says": claim.says,
        "right": claim.right,
        "run": claim.how,
        "tight": finding.tightness,
        "see": claim.link,
    }
    for key, text in told.items():
        if text:
            print(f"  {key:<5}  {text}")
    parts = (("", finding.evidence.printed), ("corrected, ", finding.evidence.corrected))
    for statement, comparisons in parts:
        for one in comparisons:
            outcome = "refuted" if one.refuted else "holds"
            numbers = f"{one.measured.text} {claimed(one)}"
            print(f"    {outcome:<8} {numbers:<34} {statement}{one.where}")
    print()


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None]]:
    """Show a progress bar on stderr, for people only."""
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
    """Show what halfseen logs for people to know, such as the address of a dashboard."""
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
