"""The page of a policy's value: warnings, the answer, charts, tables, how to reproduce it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from halfseen.report.audit.charts import short
from halfseen.report.audit.command_line import log_in_command
from halfseen.report.core.document import NO_SCRIPT, charts_of, document, figure_place, section
from halfseen.report.core.drawing import with_images
from halfseen.report.core.markup import Html, aligned, table, tag
from halfseen.report.core.panels import Figure
from halfseen.report.value.value_charts import value_figures
from halfseen.studies.storage import is_marked, write_text
from halfseen.tables import Table, level_name, show

if TYPE_CHECKING:
    from halfseen.values.policy_value import PolicyValue

TITLE = "Is the new policy better?"
ONLY_IN_PYTHON = ("resamples", "seed")
DEFAULTS: tuple[Any, ...] = (None, (), [], "", ".", False)
UNCHANGED = {"threshold": 10.0, "interval": "normal", "level": 0.95}


def write_value(found: PolicyValue, folder: Path) -> Path:
    """Write the page, its charts as SVG and PNG, and its numbers as JSON.

    The folder must be new or empty, or hold another value: that one is replaced.
    """
    is_marked(folder, found.FILE)
    write_text(folder / found.FILE, json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n")
    planned = value_figures(found)
    everything = with_images([f for row in planned.values() for f in row], folder / "charts")
    each = iter(everything)
    drawn = {part: [next(each) for _ in row] for part, row in planned.items()}
    path = folder / "report.html"
    write_text(path, document(TITLE, body(found, drawn, folder), charts_of(everything)))
    return path


def body(found: PolicyValue, drawn: dict[str, list[Figure]], folder: Path) -> list[Html]:
    """Return the parts of the page."""
    sections = {
        "policies": ("The policies", policies_section(found, drawn["policies"])),
        "weights": ("Can this log tell?", weights_section(found)),
        "differ": ("If missing rewards differ", differ_section(found, drawn["differ"])),
        "estimates": ("Every estimator", estimates_section(found, drawn["estimates"])),
        "how": ("How it was computed", how_section(found, folder)),
    }
    links = [tag("a", title, href=f"#{name}") for name, (title, part) in sections.items() if part]
    header = tag(
        "header",
        tag("p", f"On {short(found.log)}: {found.rows:,} decisions", class_="eyebrow"),
        tag("h1", TITLE),
        *(tag("p", said, class_="caution") for said in found.warnings),
        *(tag("p", said, class_="lead") for said in found.answers),
        *([] if found.left_out is None else [tag("p", str(found.left_out), class_="note")]),
    )
    nav = tag("nav", tag("div", *links), aria_label="Sections")
    parts = [part for _, part in sections.values() if part]
    return [header, nav, tag("main", NO_SCRIPT, *parts)]


def policies_section(found: PolicyValue, drawn: list[Figure]) -> Html:
    """Return the two policies and their difference."""
    return section(
        "policies",
        "The policies",
        _table(found.policies, "Policies"),
        *(figure_place(figure) for figure in drawn),
        tag("p", found.assumption, class_="caution"),
    )


def weights_section(found: PolicyValue) -> Html:
    """Return the diagnostics, each with its target value."""
    checked = found.diagnostics
    k = "–" if checked.pareto_k is None else f"{checked.pareto_k:.2f}"
    skew = "–" if checked.skew is None else f"{checked.skew:.2g}"
    rows = [
        (
            "mean weight",
            f"{checked.mean_weight:.4g}",
            f"1; it is {checked.z:z.2f} standard errors away",
        ),
        ("effective decisions", f"{checked.effective_rows:,.0f}", "30 or more"),
        ("… if nothing were missing", f"{checked.effective_rows_actions:,.0f}", ""),
        ("largest share of one decision", f"{checked.largest_share:.2%}", "10% or less"),
        ("smallest propensity", f"{checked.smallest_propensity:.3g}", "0.05 or more"),
        ("Pareto k of the weights", k, "0.7 or less; – if few weights differ"),
        ("skewness² over decisions", skew, "0.07 or less; – if rewards have two values"),
        (
            "decisions in a context in which the arm has at most one reward",
            f"{checked.thin:.1%}",
            "below a third",
        ),
    ]
    return section(
        "weights",
        "Can this log tell?",
        tag("p", checked.verdict),
        table(("weights", "found", "should be"), rows, words=(0, 2), label="Diagnostics"),
    )


def differ_section(found: PolicyValue, drawn: list[Figure]) -> Html | None:
    """Return the bounds if missing rewards differ from seen ones."""
    if found.seen == found.rows:
        return None
    turning = [tag("p", found.turning)] if found.turning else []
    return section(
        "differ",
        "If missing rewards differ from seen ones",
        *turning,
        *(figure_place(figure) for figure in drawn),
        _table(found.sensitivity, "Bounds"),
        tag("p", found.bounds_note, class_="note"),
    )


def estimates_section(found: PolicyValue, drawn: list[Figure]) -> Html:
    """Return the value by every estimator."""
    certain = []
    if found.certain is not None:
        text = (
            f"At least {show(found.certain)} at {level_name(found.level)} for any number of"
            " decisions"
            ", if propensities and probabilities of being seen are right (clipped IPW, inequality"
            " of Maurer and Pontil): conservative."
        )
        certain.append(tag("p", text))
    return section(
        "estimates",
        "Every estimator",
        *(figure_place(figure) for figure in drawn),
        _table(found.estimates, "Estimates"),
        *certain,
    )


def how_section(found: PolicyValue, folder: Path) -> Html:
    """Explain the numbers, and return the command that reproduces them."""
    return section(
        "how",
        "How it was computed",
        tag(
            "p",
            "Each decision counts with the policy’s probability of its arm over the logging"
            " propensity, and where its reward was seen with one over the probability of being"
            " seen. The doubly robust estimate (DR) adds these weighted residuals of a regression"
            " to its prediction for the policy: it is consistent if either is correct.",
        ),
        *(tag("p", note, class_="note") for note in found.notes),
        tag("p", "The command that makes this page:"),
        tag("pre", tag("code", command_of(found, folder))),
    )


def command_of(found: PolicyValue, folder: Path) -> str:
    """Return the command that makes the same page; placeholders in capitals need Python."""
    words = [f"halfseen value {log_in_command(found.log)}"]
    for name, given in found.asked.items():
        if name == "target":
            if "target_file" not in found.asked:
                words.append(_policy(given, "always", "mix", "target"))
        elif name == "compare":
            if given != "logging" and "against_file" not in found.asked:
                words.append(_policy(given, "against-always", "against", "against"))
        elif name not in ONLY_IN_PYTHON and given not in DEFAULTS and UNCHANGED.get(name) != given:
            several = isinstance(given, list | tuple)
            text = ",".join(map(str, given)) if several else str(given)
            if isinstance(given, Mapping):
                text = _mixture(given)
            words.append(f"--{name.replace('_', '-')} {quote(text)}")
    return " ".join([*words, f"--out {quote(str(folder))}"])


def _policy(given: Any, always: str, mix: str, file: str) -> str:
    if isinstance(given, str):
        return f"--{file}-column {quote(given)}"
    if isinstance(given, Mapping) and not any(isinstance(v, Mapping) for v in given.values()):
        if len(given) == 1:
            return f"--{always} {quote(str(next(iter(given))))}"
        return f"--{mix} {quote(_mixture(given))}"
    return f"--{file}-file POLICY.csv"


def _mixture(given: Mapping[Any, Any]) -> str:
    """Write probabilities by arm as the command reads them, names with a comma in quotes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(f"{arm}={float(p)}" for arm, p in given.items())
    return line.getvalue()


def _table(found: Table, label: str) -> Html:
    names, *numbers = zip(*found.rows, strict=True)
    cells = map(aligned, numbers)
    signed = ([cell.replace("-", "−") for cell in column] for column in cells)
    return table(found.columns, list(zip(names, *signed, strict=True)), label=label)
