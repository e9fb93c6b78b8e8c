"""Proved bounds, next to measurements."""

from __future__ import annotations

import math

from halfseen.report.core.document import section
from halfseen.report.core.markup import Html, table, tag
from halfseen.report.study.answers import times
from halfseen.report.study.bounds import bounds_at_horizon, in_words, smallest_proved
from halfseen.report.study.linear_measures import final_potential
from halfseen.report.study.measures import Place, final_regret, places
from halfseen.report.study.sections import repeated
from halfseen.studies.result import Result
from halfseen.tables import show
from halfseen.theory import RegretBounds, censoring_failure_probability
from halfseen.theory.along_a_run import bounded_policies, optimism_failure

TABLES = 4  # tables of bounds per problem, at most


def bounds_section(result: Result) -> Html:
    """Return proved bounds next to measurements, for every policy that has some."""
    study = result.study
    one = "action" if study.linear else "arm"
    kinds = bounded_policies(next(iter(study.bandits.values())))
    policies = [name for name, policy in study.policies.items() if type(policy) in kinds]
    intro = (
        f"Proved bounds on the expected regret of {in_words(kinds)}, next to the measured regret."
        f" Bold: the smallest. A bound covers the worst case with these {one}s and these"
        f" probabilities of being seen, so actual regret is usually far smaller."
    )
    if study.linear and 1.0 in study.alphas:
        intro += (
            " The row “measured potential” puts the mean potential of this study into the proof: it"
            " shows how much of the bound is due to the worst case, and is not known beforehand."
        )
    if not policies:
        ran = "which was not run" if len(kinds) == 1 else "which were not run"
        intro = f"The bounds are proved for {in_words(kinds)}, {ran}."
    blocks: list[object] = []
    several = len(study.problems) * len(policies) > 1
    for i, problem in enumerate(study.problems):
        for policy in policies[:TABLES]:
            content = _bound_table(result, i, policy)
            if several:
                title = policy if len(study.problems) == 1 else f"{problem}, {policy}"
                opened = {} if blocks else {"open": ""}
                content = tag("details", tag("summary", title), content, class_="fold", **opened)
            blocks.append(content)
    if len(policies) > TABLES:
        blocks.append(tag("p", f"The first {TABLES} of these policies are shown.", class_="note"))
    return section("bounds", "Proved bounds and measured regret", tag("p", intro), *blocks)


def _bound_table(result: Result, problem: int, policy: str) -> Html:
    study = result.study
    cells = [p for p in places(study, problem) if p.names[2] == policy]
    found = [bounds_at_horizon(place, study.horizon, _potential(result, place)) for place in cells]
    tables = [entry for entry in found if isinstance(entry, RegretBounds)]
    if not tables:
        return tag("p", str(found[0]))
    names = [place.names[1] for place in cells]
    measured = [final_regret(result, place.position).text for place in cells]
    rows: list[list[object]] = [["measured", *measured, ""]]
    for k, bound in enumerate(tables[0]):
        row: list[object] = [bound.name]
        for entry in tables:
            each = entry.bounds[k]
            text = show(each.value) if math.isfinite(each.value) else "–"
            text = text if each.applies or text == "–" else f"({text})"
            best = each.name == smallest_proved(entry).name
            row.append(tag("strong", text) if best else text)
        rows.append([*row, bound.reference if bound.applies else bound.reason])
    smallest = [smallest_proved(entry).value for entry in tables]
    ratios: list[object] = ["smallest / measured"]
    for place, value in zip(cells, smallest, strict=True):
        mean = final_regret(result, place.position).mean
        ratios.append(times(value / mean).removesuffix(" times") + "×" if mean > 0 else "–")
    rows.append([*ratios, ""])
    heads = ("bound on regret", *names, "where it comes from")
    starts = [i in (1, len(rows) - 1) for i in range(len(rows))]
    return table(heads, rows, words=(0, len(heads) - 1), label="Bounds", groups=starts)


def events_section(result: Result) -> Html:
    """Return how often the proofs' two failure events happened, next to their bounds."""
    study = result.study
    rows: list[list[object]] = []
    groups = []
    for place in places(study):
        optimism = result.tracks["optimism_failed"][place.position][:, -1]
        censoring = result.tracks["censoring_failed"][place.position][:, -1]
        limit, shortfall = _limits(place, study.horizon)
        rows.append(
            [
                *([_first(place)] if len(study.problems) > 1 else []),
                repeated(place.names[1]) if place.position[2] else place.names[1],
                place.names[2],
                "–" if optimism[0] < 0 else _share(int((optimism == 1).sum()), len(optimism)),
                "–" if limit is None else _small(limit),
                "–" if shortfall is None else _share(int((censoring == 1).sum()), len(censoring)),
                "–" if shortfall is None else _small(shortfall),
            ]
        )
        groups.append(place.position[2] == 0)
    heads = ["censorship", "policy", "optimism failed", "proved at most"]
    heads += ["feedback ran short", "proved at most"]
    if len(study.problems) > 1:
        heads = ["problem", *heads]
    note = (
        "The proofs exclude two rare events. Optimism failed: some arm’s true mean left the"
        " policy’s confidence interval at some round. Feedback ran short: some arm, played often"
        " enough, was seen less than half as often as expected."
    )
    if study.linear:
        note = (
            "The proofs exclude two rare events. Optimism failed: θ left the policy’s confidence"
            " ellipsoid at some round. Feedback ran short: in some direction the observed design"
            " fell below the expected one divided by c = 8 max(log(dT)/λ, 1)."
        )
    note += (
        " The table shows the share of replications in which each happened by the last round, and"
        " the probability proved; a dash where the policy has no interval or nothing is proved."
    )
    words = range(3 if len(study.problems) > 1 else 2)
    return section(
        "events",
        "How often the rare events happened",
        tag("p", note),
        table(heads, rows, words=words, label="Rare events", groups=groups),
    )


def _potential(result: Result, place: Place) -> float | None:
    found = final_potential(result, place.position) if place.linear else None
    return None if found is None else found.mean


def _limits(place: Place, horizon: int) -> tuple[float | None, float | None]:
    """Return the bounds on the two events; None where there is none."""
    optimism = optimism_failure(*place.triple, horizon)
    if place.linear:
        if place.policy.imputes:  # its design includes unseen rounds
            return None, None
        return optimism, 1.0 / max(horizon, 2)
    seen = place.chances[place.problem.playable]
    known = bool((seen > 0.0).all())
    return optimism, censoring_failure_probability(seen, horizon) if known else None


def _first(place: Place) -> str:
    """Return the problem's name, visually hidden where it repeats the row above."""
    again = place.position[1:] != (0, 0)
    return repeated(place.names[0]) if again else place.names[0]


def _share(hits: int, total: int) -> str:
    return f"{hits:,} of {total:,}"


def _small(value: float) -> str:
    """Format a probability.

    >>> _small(1.0), _small(0.0123), _small(2.5e-8)
    ('1', '0.0123', '2.5 × 10⁻⁸')
    """
    if value >= 1e-3 or value == 0.0:
        return f"{value:.3g}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits} × 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
