"""The claims and their verdicts as one page, a LaTeX table and charts."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.claims.claim import (
    CORRECTED,
    FAR,
    HOLDS,
    VERDICTS,
    Comparison,
    Curve,
    Finding,
    Line,
)
from halfseen.claims.intervals import LEVEL
from halfseen.phrases import counted
from halfseen.report.core.document import charts_of, code, document, main, section, top
from halfseen.report.core.drawing import attempt, with_images
from halfseen.report.core.markup import Html, canvas, table, tag
from halfseen.report.core.panels import INK, Axes, Figure, Panels, Rows
from halfseen.report.core.scales import axis, decades, rounded
from halfseen.studies.storage import write_text
from halfseen.tables import Table
from halfseen.tables import table as plain_table

TITLE = "The paper’s claims about censorship, and which of them hold"
NOTE = (
    f"Every interval covers the truth with probability {LEVEL:.2%}: Student’s over replications, by"
    " Clopper and Pearson for frequencies. A claim is refuted when a measurement contradicts it"
    " beyond its interval; for a limit, also beyond the tolerance for finite sizes. Shown is the"
    " instance closest to a contradiction, or furthest beyond it. Measured for"
    " correction: the same for the corrected statement, which may be about another quantity."
    " Tightest: the largest share of the bound that a measurement reaches, the lower end of its"
    f" interval; marked where the instance was searched for. Below {FAR:g} the bound is far from"
    " tight."
)
DASHED = "Dashed: what is claimed. Lines: what was computed, or measured with its interval."
CHARTS = f"In the charts, d{DASHED[1:]}"
SIDES = {  # where a line's name is drawn: alignment, baseline and distance across and down
    "above left": ("right", "bottom", -2, -4),
    "above right": ("left", "bottom", 2, -4),
    "below left": ("right", "top", -2, 4),
    "below right": ("left", "top", 2, 4),
}
PLAIN = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "≠": "not",
        "½": "1/2",
        "α": "alpha",
        "δ": "delta",
        "⋆": "*",
        "±": "+/-",
    }
)


@dataclass(frozen=True)
class Names:
    """The names of a chart's panels and lines."""

    censorships: tuple[str, ...]
    policies: tuple[str, ...]


def write_verification(findings: Sequence[Finding], folder: Path | str) -> Path:
    """Write the verdicts as a page, a LaTeX table, JSON and charts.

    Parameters
    ----------
    findings
        What `halfseen.claims.verify` returned.
    folder
        Where to write ``verify.html``, ``verify.tex``, ``verify.json`` and ``charts``.

    Returns
    -------
    pathlib.Path
        The page.
    """
    folder = Path(folder)
    content = [finding.to_dict() for finding in findings]
    write_text(folder / "verify.json", json.dumps(content, indent=1, allow_nan=False) + "\n")
    write_text(folder / "verify.tex", latex(findings) + "\n")
    planned: list[Figure] = []
    for finding in findings:
        if finding.evidence.curve is not None:
            title = finding.evidence.curve.title
            planned += attempt(finding.claim.name, title, partial(_figures, finding))
    drawn = {one.name: one for one in with_images(planned, folder / "charts")}
    path = folder / "verify.html"
    families = dict.fromkeys(finding.claim.family for finding in findings)
    sections = [
        _verdicts(findings),
        *(_family(family, findings, drawn) for family in families),
        _again(),
    ]
    body = [_top(findings), main(*sections)]
    page = document(TITLE, body, charts_of(drawn.values()))
    write_text(path, page)
    return path


def verdict_table(findings: Sequence[Finding]) -> Table:
    """Return one row per claim: the verdict and the most informative comparison."""
    return plain_table(
        [
            {
                "claim": f.claim.name,
                "verdict": f.verdict + ("" if f.as_recorded else f" (not {f.claim.expected})"),
                "measured": f.telling.measured.text,
                "claimed": claimed(f.telling),
                "corrected": claimed(f.telling_corrected),
                "measured for correction": measured(f.telling_corrected),
                "tightest": tightest(f),
            }
            for f in findings
        ]
    )


def tightest(finding: Finding) -> str:
    """Format the largest share of the bound that an instance reaches; empty for equalities."""
    best = finding.evidence.closest
    return "" if best is None else f"{best.strain:.2g}"


def latex(findings: Sequence[Finding]) -> str:
    """Return the verdicts as a LaTeX table in ASCII."""
    rows = [
        {
            "claim": f.claim.place if f.claim.place != "new" else f"new: {f.claim.name}",
            "verdict": f.verdict,
            "measured": f.telling.measured.text,
            "claimed": claimed(f.telling, words=True),
            "corrected": claimed(f.telling_corrected, words=True),
            "measured for correction": measured(f.telling_corrected),
        }
        for f in findings
    ]
    plain = [{key: text.translate(PLAIN) for key, text in row.items()} for row in rows]
    return plain_table(plain).to_latex()


def claimed(comparison: Comparison | None, words: bool = False) -> str:
    """Format what is claimed; empty without a comparison."""
    return "" if comparison is None else comparison.statement(words)


def measured(comparison: Comparison | None) -> str:
    """Format what was measured; empty without a comparison."""
    return "" if comparison is None else comparison.measured.text


def counts(findings: Sequence[Finding]) -> str:
    """Count the claims by verdict.

    >>> counts([])
    '0 claims'
    """
    tally = Counter(finding.verdict for finding in findings)
    met = [verdict for verdict in VERDICTS if tally[verdict]]
    told = [f"{tally[verdict]} {_verb(verdict, tally[verdict])}" for verdict in met]
    return ": ".join([counted("claim", len(findings)), *([", ".join(told)] if told else [])])


def _verb(verdict: str, count: int) -> str:
    if verdict == HOLDS:
        return "holds" if count == 1 else "hold"
    if verdict == CORRECTED:
        return verdict if count == 1 else "hold corrected"
    return verdict


def _figures(finding: Finding) -> list[Figure]:
    return [figure(finding)]


def figure(finding: Finding) -> Figure:
    """Return the chart of a claim: what was measured as lines, what is claimed dashed."""
    import altair as alt

    curve = finding.evidence.curve
    assert curve is not None
    name, panel = finding.claim.name, curve.title
    lines = tuple(line.name for line in curve.lines if not line.claimed)
    panels = Panels(Names((panel,), lines))
    rows = _rows(curve, panel)
    heights = [row["mean"] for row in rows]
    low, high = min(heights), max(heights)
    if curve.log_upwards:
        low, high = low / 1.5, 1.8 * high
        scale = alt.Scale(type="log", domain=[low, high], nice=False)
        vertical = {"scale": scale, "axis": axis(decades(low, high))}
        axes = Axes(_across(curve), curve.upwards, vertical, foot=low, log=True)
    else:
        scale = alt.Scale(domain=[min(0.0, low), 1.15 * high], nice=False)
        axes = Axes(_across(curve), curve.upwards, {"axis": axis(), "scale": scale})
    hints = [
        alt.Tooltip("mean:Q", title=curve.upwards, format=",.4~g"),
        alt.Tooltip("half:Q", title="± half of its interval", format=",.2~g"),
    ]
    layers = [panels.band(axes), *_dashed(axes), *panels.curves(axes, hints)]
    return panels.draw(name, (curve.title, DASHED, name), layers, rows, name)


def _across(curve: Curve) -> object:
    import altair as alt

    across = [float(x) for line in curve.lines for x in line.x]
    ends = [min(across), max(across)]
    kind = {"type": "log"} if curve.log_across else {}
    ticks = axis(decades(*ends)) if curve.log_across else axis()
    scale = alt.Scale(domain=ends, nice=False, **kind)
    return alt.X("round:Q", title=curve.across, scale=scale, axis=ticks)


def _dashed(axes: Axes) -> list[Any]:
    """Return what is claimed as dashed lines, each named on the side where there is room."""
    import altair as alt

    base = alt.Chart().transform_filter(f"datum.kind == 'bound' && {axes.shown}")
    base = base.encode(x=axes.x, y=axes.y())
    line = base.mark_line(strokeWidth=1.2, strokeDash=[5, 3], color=INK)
    layers = [line.encode(detail="policy:N")]
    for side, (align, baseline, across, down) in SIDES.items():
        text = base.transform_filter(f"datum.side == {side!r}").mark_text(
            align=align, baseline=baseline, dx=across, dy=down, fontSize=11, color=INK
        )
        layers.append(text.encode(text="policy:N"))
    return layers


def _rows(curve: Curve, panel: str) -> Rows:
    """Return the points of all lines and, for claimed ones, where their label goes."""
    rows: Rows = []
    for line in curve.lines:
        spot, side = _label(curve, line) if line.claimed else (-1, "")
        half = line.half or [0.0] * len(line.x)
        rows += [
            {
                "kind": "bound" if line.claimed else "policy",
                "censorship": panel,
                "policy": line.name,
                "round": rounded(float(x)),
                "mean": rounded(float(y)),
                "half": rounded(float(h), 3),
                "mark": int(k == len(line.x) - 1),
                "side": side if k == spot else "",
            }
            for k, (x, y, h) in enumerate(zip(line.x, line.y, half, strict=True))
        ]
    return rows


def _label(curve: Curve, line: Line) -> tuple[int, str]:
    """Return the point and the side at which a line's label has most room.

    A label is above or below its line, on the side towards which the line bends away.
    """
    across = np.log(line.x) if curve.log_across else np.asarray(line.x, dtype=float)
    where = (across - across[0]) / (across[-1] - across[0])
    spots = [k for k in range(len(line.x)) if 0.45 <= where[k] <= 0.85]
    spots = spots or [int(np.abs(where - 0.65).argmin())]
    choices = [(_room(curve, line, k, up), k, up) for k in spots for up in (True, False)]
    _, spot, above = max(choices, key=lambda c: (c[0], c[2], -abs(where[c[1]] - 0.65)))
    rises = line.y[-1] >= line.y[0]
    return spot, ("above" if above else "below") + (" left" if above == rises else " right")


def _room(curve: Curve, line: Line, spot: int, above: bool) -> float:
    """Return how far the next line above or below a point is."""
    x, y = line.x[spot], line.y[spot]
    others = [float(np.interp(x, other.x, other.y)) for other in curve.lines if other is not line]
    on_side = [v for v in others if (v >= y if above else v <= y)]
    if curve.log_upwards:
        return min((abs(math.log(v / y)) for v in on_side), default=math.inf)
    return min((abs(v - y) for v in on_side), default=math.inf)


def _top(findings: Sequence[Finding]) -> Html:
    families = dict.fromkeys(finding.claim.family for finding in findings)
    links = {"verdicts": "Verdicts"}
    links |= {_anchor(family): family.capitalize() for family in families}
    links |= {"again": "Run it again"}
    wrong = [f.claim.name for f in findings if not f.as_recorded]
    lead = counts(findings) + "."
    lead += f" Not as recorded: {', '.join(wrong)}." if wrong else " All as recorded."
    paper = "Guinet, Amin, Jaillet, Effective Dimension in Bandit Problems under Censorship, 2022"
    return top(paper, TITLE, lead, links)


def _verdicts(findings: Sequence[Finding]) -> Html:
    rows = [
        (
            tag("a", f.claim.name, href=f"#{f.claim.name}"),
            f.claim.place,
            tag("strong", f.verdict) if f.verdict != HOLDS else f.verdict,
            f.telling.measured.text,
            claimed(f.telling),
            claimed(f.telling_corrected) or "–",
            measured(f.telling_corrected) or "–",
            tightest(f) or "–",
        )
        for f in findings
    ]
    heads = (
        "claim",
        "place in the paper",
        "verdict",
        "measured",
        "as printed",
        "corrected",
        "measured for correction",
        "tightest",
    )
    content = table(heads, rows, words=(0, 1, 2), label="Verdicts")
    return section("verdicts", "Verdicts", tag("p", f"{NOTE} {CHARTS}", class_="note"), content)


def _family(family: str, findings: Sequence[Finding], drawn: dict[str, Figure]) -> Html:
    blocks = [_claim(f, drawn.get(f.claim.name)) for f in findings if f.claim.family == family]
    return section(_anchor(family), family.capitalize(), *blocks)


def _claim(finding: Finding, drawn: Figure | None) -> Html:
    claim = finding.claim
    place = f"{claim.name}, not in the paper" if claim.place == "new" else claim.place
    parts: list[object] = [
        tag("h3", f"{place}: {finding.verdict}", id=claim.name),
        tag("p", claim.says),
    ]
    if claim.right:
        parts.append(tag("p", tag("strong", "Right: "), claim.right, class_="caution"))
    how = claim.how + (f" Correction: {claim.link}." if claim.link else "")
    parts.append(tag("p", f"{how} {finding.tightness}".strip(), class_="note"))
    if drawn is not None:
        words = [tag("p", drawn.trouble, class_="caution")] if drawn.trouble else []
        spot = [canvas(drawn.name, drawn.title)] if drawn.spec else []
        parts.append(tag("figure", *spot, *words))
    rows = [_row(c, "as printed") for c in finding.evidence.printed]
    rows += [_row(c, "corrected") for c in finding.evidence.corrected]
    heads = ("statement", "instance", "measured", "claimed", "")
    numbers = table(heads, rows, words=(0, 1), label=f"Numbers of {claim.name}")
    title = counted("comparison", len(rows))
    parts.append(tag("details", tag("summary", title), numbers, class_="fold"))
    return tag("div", *parts, class_="claim")


def _row(comparison: Comparison, statement: str) -> tuple[object, ...]:
    outcome = tag("strong", "refuted") if comparison.refuted else "holds"
    where = comparison.where
    where += f" (closest of {comparison.searched:,} searched)" if comparison.searched else ""
    return (statement, where, comparison.measured.text, claimed(comparison), outcome)


def _again() -> Html:
    command = code("halfseen verify --out DIR")
    words = "The same command gives the same numbers. With --quick it takes about a minute."
    return section("again", "Run it again", tag("p", words), command)


def _anchor(family: str) -> str:
    return family.replace(" ", "-")
