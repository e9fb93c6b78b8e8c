"""The growth of a linear bandit's potential, next to its bound and its expected slope."""

from __future__ import annotations

import math
from typing import Any

from halfseen.phrases import number
from halfseen.report.core.document import section
from halfseen.report.core.markup import Html, aligned, table, tag
from halfseen.report.study.linear_measures import final_potential, fitted_slope
from halfseen.report.study.measures import places
from halfseen.report.study.sections import repeated
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import MeanInterval
from halfseen.theory.along_a_run import potential_bound_along
from halfseen.theory.linear.slope import slope_law

NOTE = (
    "The potential V₁ adds up the squared width of every action played, and regret grows at most"
    " like the square root of rounds times V₁. Asymptotically V₁ grows like a slope times"
    " log(round). Fitted slope: least squares on the checkpoints of the last factor of ten of the"
    " rounds. Expected slope: an empirical law for LinUCB, not a bound. With the same"
    " actions in every round it is 1/p at the best action, and it is approached slowly; with random"
    " actions it is Tr(E[p aa′]⁻¹ E[aa′]) over the best actions of the rounds, estimated here from"
    " a sample. The worst case is d/p_min. A dash: nothing known, or too few checkpoints."
)
MADE_UP = (
    "A policy that learns imputed rewards counts every round as seen, so its potential looks small:"
    " it is overconfident."
)


def growth_section(result: Result) -> Html:
    """Return the potential of order 1, its bound, its fitted slope and the slope expected."""
    study = result.study
    content = [tag("p", NOTE)]
    if any(policy.imputes for policy in study.policies.values()):
        content.append(tag("p", MADE_UP))
    for i, problem in enumerate(study.problems):
        if len(study.problems) > 1:
            content.append(tag("h3", problem))
        content.append(_table(result, i))
    return section("growth", "Growth of the potential", *content)


def _table(result: Result, problem: int) -> Html:
    study = result.study
    cells = list(places(study, problem))
    columns: dict[str, list[Any]] = {
        "censorship": [repeated(c.names[1]) if c.position[2] else c.names[1] for c in cells],
        "policy": [c.names[2] for c in cells],
        "V₁ at the end": [_text(final_potential(result, c.position)) for c in cells],
        "proved at most": [
            number(value) if value < math.inf else "–"
            for c in cells
            for value in potential_bound_along(*c.triple, 1.0, study.rounds_recorded[-1:]).tolist()
        ],
        "fitted slope": [_text(fitted_slope(result, c.position)) for c in cells],
        "expected slope": aligned([slope_law(*c.triple) for c in cells]),
        "d/p_min": aligned([c.dimension for c in cells]),
    }
    groups = [c.position[2] == 0 for c in cells]
    rows = list(zip(*columns.values(), strict=True))
    return table(tuple(columns), rows, words=(0, 1), label="Potential", groups=groups)


def _text(value: MeanInterval | None) -> str:
    return "–" if value is None else value.text
