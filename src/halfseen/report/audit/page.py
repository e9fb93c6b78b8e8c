"""The page of an audit: the answer, the warnings, the rates, and how to reproduce them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from halfseen.logs.audit_export import AUDIT_FILE, MOST_ARMS, rates_table
from halfseen.report.audit.answer_section import answer_section
from halfseen.report.audit.charts import audit_figures, forecast_chart, short
from halfseen.report.audit.command_line import command_line
from halfseen.report.audit.context_means_part import context_means_part
from halfseen.report.audit.warnings_section import (
    changes_section,
    delays_section,
    void_section,
    warnings_section,
)
from halfseen.report.core.document import (
    NO_SCRIPT,
    charts_of,
    code,
    document,
    figure_place,
    main,
    section,
    top,
)
from halfseen.report.core.drawing import attempt, with_images
from halfseen.report.core.markup import Html, aligned, table, tag
from halfseen.report.core.panels import Figure
from halfseen.report.study.charts import regret_figures
from halfseen.studies.storage import explained, is_marked, read_json, write_text
from halfseen.tables import level_name, show

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.comparison import Comparison
    from halfseen.logs.plan import Plan
    from halfseen.studies.result import Result

CHAPTERS = {
    "answer": "Answer",
    "changes": "Since the last audit",
    "warnings": "Warnings",
    "rates": "Rates",
    "delays": "Pending rewards",
    "time": "Over time",
    "differ": "If missing rewards differ",
    "direction": "Along a direction",
    "forecast": "Forecast",
    "imputations": "Imputed rewards",
    "how": "How it was computed",
}
MOST_BOUNDED = 30  # largest number of arms in the table of bounds


class Extras(NamedTuple):
    """Further content of an audit's page.

    Attributes
    ----------
    forecast, imputations, changes
        How long learning takes, the cost of imputing rewards, changes since an earlier audit.
    options
        Further options of the command that makes the page.
    """

    forecast: Plan | None = None
    imputations: Result | None = None
    changes: Comparison | None = None
    options: Mapping[str, Any] | None = None


def write_audit(found: Audit, folder: Path, extras: Extras) -> Path:
    """Write an audit's page, its charts as SVG and PNG, and its numbers as CSV and JSON.

    The folder must be new or empty, or hold another audit: that one is replaced. Results based on
    numbers that a warning invalidates are omitted.
    """
    if found.voided:
        extras = Extras(options=extras.options)
    forecast, imputations = extras.forecast, extras.imputations
    before = read_json(folder / AUDIT_FILE) if is_marked(folder, AUDIT_FILE) else {}
    planned = audit_figures(found)
    if _by_day(forecast):
        planned["forecast"] = attempt(
            "audit-forecast", "Forecast", lambda: [forecast_chart(forecast, short(found.log))]
        )
    if imputations is not None:
        planned["imputations"] = attempt(
            "problem-1-regret", "Regret", lambda: regret_figures(imputations, 0)[:1]
        )
    charts = [figure.name for figures in planned.values() for figure in figures]
    numbers = {"charts": charts} | found.to_dict(MOST_ARMS)
    if extras.changes is not None:
        numbers["changes"] = extras.changes.to_dict()
    write_text(folder / AUDIT_FILE, json.dumps(numbers, indent=1, allow_nan=False) + "\n")
    old = before.get("charts", []) if isinstance(before, dict) else []
    _remove(folder / "charts", [name for name in old if name not in charts])
    write_text(folder / "rates.csv", found.rates.to_csv())
    everything = with_images([f for row in planned.values() for f in row], folder / "charts")
    each = iter(everything)
    drawn = {part: [next(each) for _ in row] for part, row in planned.items()}
    days = None if getattr(forecast, "in_blocks", False) else forecast  # made without --traffic
    more = {"traffic": days and days.traffic, "imputations": imputations is not None}
    more |= extras.options or {}
    parts = body(found, drawn, extras, command_line(found, folder, more))
    page = document(page_title(found), parts, charts_of(everything))
    path = folder / "report.html"
    write_text(path, page)
    return path


def _remove(folder: Path, names: list[str]) -> None:
    """Remove the pictures of charts by their names."""
    pictures = {f"{name}.{kind}" for name in names for kind in ("svg", "png")}
    with explained(folder):
        for path in folder.glob("*"):
            if path.name in pictures:
                path.unlink()


def body(found: Audit, drawn: dict[str, list[Figure]], extras: Extras, command: str) -> list[Html]:
    """Return the parts of the page."""
    forecast, imputations, changes, _ = extras
    sections = {
        "answer": answer_section(found, forecast, drawn["rates"][:1]),
        "changes": None if changes is None else changes_section(changes),
        "warnings": warnings_section(found),
        "rates": rates_section(found, drawn["rates"][1:]),
        "delays": delays_section(found, drawn["delays"]) if found.maturity else None,
        "time": time_section(found, drawn["time"]) if drawn["time"] else None,
        "differ": differ_section(found, drawn["differ"]) if drawn["differ"] else None,
        "direction": direction_section(found, drawn["direction"]) if found.direction else None,
        "forecast": forecast_section(forecast, drawn["forecast"]) if _by_day(forecast) else None,
        "imputations": imputations_section(imputations, drawn["imputations"])
        if imputations
        else None,
        "how": how_section(command),
    }
    links = {name: CHAPTERS[name] for name in sections if sections[name]}
    arms = f"{len(found.arms):,} arm{'s' * (len(found.arms) != 1)}"
    voiding = [warning for warning in found.warnings if warning.voids]
    lead = voiding[0].finding if voiding else " ".join(found.answers[:2])
    header = top(
        f"An audit with halfseen: {found.rows:,} decisions, {arms}",
        page_title(found),
        lead,
        links,
        *([] if found.left_out is None else [tag("p", str(found.left_out), class_="note")]),
    )
    parts = [part for part in sections.values() if part]
    if voiding:
        parts = [void_section(found), tag("div", *parts, class_="void")]
    return [header, main(NO_SCRIPT, *parts)]


def page_title(found: Audit) -> str:
    """Return what the page is about."""
    return f"What missing feedback costs in {short(found.log)}"


def rates_section(found: Audit, drawn: list[Figure]) -> Html:
    """Return each arm's contribution, the value of more feedback, and the rates as numbers."""
    records = rates_table(found, found.costliest(250)).records()
    columns = {
        "arm": [r["arm"] for r in records],
        "decisions": [f"{r['rows']:,}" for r in records],
        "seen": [f"{r['seen']:,}" for r in records],
    }
    for name in ("rate", "shrunken"):
        low, high = ("low", "high") if name == "rate" else (f"{name} low", f"{name} high")
        columns[name] = [f"{r[name]:.1%}" for r in records]
        spans = [f"{100 * r[low]:.1f} to {r[high]:.1%}" for r in records]
        columns["interval" if name == "rate" else "its interval"] = spans
    columns |= {
        "mean reward": aligned([r["mean reward"] for r in records]),
        "cost (1/rate)": aligned([r["contributes"] for r in records]),
    }
    note = (
        f"Exact intervals hold {level_name(found.level)} of the time whatever the rate. Shrunken"
        f" rates borrow strength from the other arms, with a prior worth {show(found.prior.worth)}"
        f" rows seen at {found.prior.mean:.1%}. All arms are in rates.csv, next to this page."
    )
    places = [figure_place(figure) for figure in drawn]
    rows = list(zip(*columns.values(), strict=True))
    return section(
        "rates",
        "Arm by arm",
        *places,
        tag("p", note, class_="note"),
        table(tuple(columns), rows, label="Rates"),
    )


def time_section(found: Audit, drawn: list[Figure]) -> Html:
    """Return the rates over time."""
    moved = [c for c in found.courses if c.changes]
    words = "No change of rate was found, at a fixed mix of arms." if not moved else ""
    rows = [("all arms" if c.name is None else c.name, c.in_words(found.dated, 20)) for c in moved]
    content: list[object] = [figure_place(figure) for figure in drawn]
    content += [tag("p", words)] if words else [table(("arm", "rates"), rows, words=(0, 1))]
    return section("time", "Over time", *content)


def differ_section(found: Audit, drawn: list[Figure]) -> Html:
    """Return bounds on the means if missing rewards differ from seen ones."""
    from halfseen.logs.sentences import missing_in_words

    said = [] if found.voided else missing_in_words(found)
    levels = [found.bounds(gamma) for gamma in (1.0, 1.5, 2.0, 5.0, math.inf)]
    order = sorted(range(len(levels[0].names)), key=lambda i: -levels[0].low[i])[:MOST_BOUNDED]
    rows = [
        (
            levels[0].names[i],
            f"{levels[0].low[i]:.3g} ± {levels[0].low_error[i]:.2g}",
            *(f"{level.low[i]:.3g} to {level.high[i]:.3g}" for level in levels[1:]),
        )
        for i in order
    ]
    safest = (x.safe if x.safe_shown(found.level) else f"undetermined ({x.safe})" for x in levels)
    rows.append(("safest", *safest))
    rows.append(("least risked", *(level.least_regret for level in levels)))
    worst = (level.widened(found.level).regret for level in levels)
    rows.append(
        (f"better by at most ({level_name(found.level)})", *(f"{regret:.3g}" for regret in worst))
    )
    names = ("arm", "seen mean ± standard error", "1.5-fold", "2-fold", "5-fold", "worst case")
    return section(
        "differ",
        "If missing rewards differ from seen ones",
        *(tag("p", sentence) for sentence in said),
        *(figure_place(figure) for figure in drawn),
        tag(
            "p",
            "Bounds on each arm’s mean if the odds of being seen differ by this factor between any"
            " two rewards. In the worst case a missing reward can be anything in the range of"
            " rewards seen. “Safest” is the maximin arm, with the largest lower bound; “least"
            " risked” the minimax-regret arm. The last rows include sampling error; the ranges do"
            " not.",
            class_="note",
        ),
        table(names, rows, words=(0, 1, 2, 3, 4, 5), label="Bounds"),
        *context_means_part(found),
    )


def direction_section(found: Audit, drawn: list[Figure]) -> Html:
    """Return how feedback becomes rarer along the features."""
    fit = found.direction
    assert fit is not None
    weights = [(n, f"{w:+.3f}", show(raw)) for n, w, raw in fit.weights.rows]
    regions = fit.regions
    cells = [tuple("–" if v is None else show(v) for v in row) for row in regions.rows]
    steps: list[object] = [table(fit.weights.columns, weights, label="Weights")]
    steps += [figure_place(figure) for figure in drawn]
    steps += [table(regions.columns, cells, words=(), label="Regions")]
    return section(
        "direction",
        "Along a direction",
        *(tag("p", fact) for fact in fit.findings),
        *(steps if len(fit.rates) > 1 else []),
        table(("effective dimension", ""), [(k, show(v)) for k, v in fit.hardness.items()]),
    )


def _by_day(forecast: Plan | None) -> TypeGuard[Plan]:
    return forecast is not None and not forecast.in_blocks


def forecast_section(forecast: Plan, drawn: list[Figure]) -> Html:
    """Return how long it takes, with this feedback and with all of it."""
    rows = [
        (
            r["world"],
            *(
                "–" if v is None else f"{v:.0%}" if k == "never" else show(v)
                for k, v in r.items()
                if k != "world"
            ),
        )
        for r in forecast.worlds
    ]
    return section(
        "forecast",
        "How long it takes",
        *(tag("p", sentence) for sentence in forecast.findings),
        table(forecast.worlds.columns, rows, label="Forecast"),
        tag("p", forecast.premises, class_="note"),
        *([tag("p", forecast.surprise)] if forecast.surprise else []),
        *(figure_place(figure) for figure in drawn),
    )


def imputations_section(result: Result, drawn: list[Figure]) -> Html:
    """Return the regret of five ways to treat a missing reward at these rates."""
    from halfseen.logs.imputation import imputation_table

    found = imputation_table(result)
    names, *numbers = zip(*found.rows, strict=True)
    cells = [names, *map(aligned, numbers)]
    intro = (
        f"UCB on the means, noise and rates of this log for {result.study.horizon:,} decisions,"
        f" {result.study.replications:,} times. Skipping is correct and simple. Imputing zero or"
        " the mean so far is a mistake, even where it happens to lose less: the sign of its bias"
        " depends on which arm is best, which is not known yet. Inverse propensity and doubly"
        " robust use the true rates."
    )
    return section(
        "imputations",
        "What imputing rewards costs",
        tag("p", intro),
        table(found.columns, list(zip(*cells, strict=True)), label="Imputations"),
        *(figure_place(figure) for figure in drawn),
    )


def how_section(command: str) -> Html:
    """Return what every number means and how to reproduce it."""
    return section(
        "how",
        "How it was computed",
        tag(
            "p",
            "The effective dimension is the sum over arms of 1/p, p being the probability that the"
            " arm’s reward is seen. A problem is as hard to learn as one with that many arms that"
            " are always seen, every arm copied 1/p times; in the worst case regret grows like its"
            " square root. Its interval convolves the exact distributions of the rates, and has no"
            " upper limit when an arm was never seen.",
        ),
        tag("p", "The command that makes this page:"),
        code(command),
    )
