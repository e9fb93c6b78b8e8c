"""The report: one self-contained page, and its charts as files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from halfseen import __version__
from halfseen.report.core.document import NO_SCRIPT, charts_of, document, main, stamp_of
from halfseen.report.core.drawing import with_images
from halfseen.report.core.panels import Figure
from halfseen.report.study import corridor, growth, leaders, proofs, sections
from halfseen.report.study.charts import figures
from halfseen.report.study.measures import left_out, shown
from halfseen.report.study.page_folder import INCOMPLETE, check_study_page
from halfseen.studies.result import Result
from halfseen.studies.storage import write_text
from halfseen.studies.toml_text import to_toml


def write_report(result: Result, folder: Path | str) -> Path:
    """Write a study's report.

    Parameters
    ----------
    result
        What `simulate` returned or `Result.load` read.
    folder
        Where to write ``report.html``, which needs no network and no other file, and next to it
        ``spec.toml`` (unless the study holds Python functions), ``summary.csv`` and every chart
        as SVG and PNG in ``charts``. It must be new or empty, hold this study's results, or
        hold an earlier report, which is replaced.

    Returns
    -------
    pathlib.Path
        The page.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=50, replications=2)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(simulate(study), folder).name
    'report.html'
    """
    folder = Path(folder)
    check_study_page(folder, result.study)
    part = shown(result)
    if not result.study.functions:
        write_text(folder / "spec.toml", to_toml(result.study))
    write_text(folder / "summary.csv", result.summary().to_csv())
    planned = {i: figures(part, i) for i in range(len(part.study.problems))}
    everything = iter(
        with_images([figure for row in planned.values() for figure in row], folder / "charts")
    )
    drawn = {i: [next(everything) for _ in row] for i, row in planned.items()}
    path = folder / "report.html"
    write_text(path, page(result, part, drawn))
    return path


def page(result: Result, part: Result, drawn: dict[int, list[Figure]]) -> str:
    """Return the whole page.

    Parameters
    ----------
    result
        The whole result.
    part
        The part that is shown in detail.
    drawn
        The charts of each problem of that part.
    """
    rest = left_out(result.study, part.study)
    drawn = _each_sentence_once(drawn)
    everything = [figure for row in drawn.values() for figure in row]
    names = list(part.study.problems)
    first = {names[i]: row[0] for i, row in drawn.items() if row}
    others = {i: row[1:] for i, row in drawn.items()}
    body = [
        sections.head(result),
        main(
            NO_SCRIPT,
            leaders.best_section(result, first),
            sections.answer_section(part, rest),
            sections.run_section(result),
            sections.numbers_section(result),
            sections.charts_section(part, others, rest),
            *(
                [growth.growth_section(part)]
                if part.study.linear and 1.0 in part.study.alphas
                else []
            ),
            proofs.bounds_section(part),
            corridor.lower_section(part),
            proofs.events_section(result),
            sections.again_section(result),
        ),
    ]
    failed = any(figure.trouble for figure in everything)  # to be drawn again next time
    stamp = INCOMPLETE if failed else report_stamp(result)
    return document(sections.page_title(result.study), body, charts_of(everything), stamp)


def _each_sentence_once(drawn: dict[int, list[Figure]]) -> dict[int, list[Figure]]:
    """Return the charts, their notes without what the note of an earlier chart says."""
    said: set[str] = set()
    shown: dict[int, list[Figure]] = {}
    for problem, row in drawn.items():
        shown[problem] = []
        for figure in row:
            sentences = re.split(r"(?<=\.) (?=[A-Z“])", figure.note)
            note = " ".join(one for one in sentences if one not in said)
            said.update(sentences)
            shown[problem].append(replace(figure, note=note))
    return shown


def report_stamp(result: Result) -> str:
    """Return what decides the report: the version that writes it and the numbers it is about."""
    return f"{__version__} {result.study.digest()}"


def report_is_current(result: Result, folder: Path) -> bool:
    """Return whether the folder holds the report of these numbers, written by this version.

    Parameters
    ----------
    result
        What the report is about.
    folder
        Where `write_report` wrote it.
    """
    return stamp_of(folder / "report.html") == report_stamp(result)
