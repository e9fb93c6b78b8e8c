"""Regret between lower and upper bounds: a chart, and how far each policy is from the lower one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.report.core.document import section
from halfseen.report.core.markup import Html, aligned, table, tag
from halfseen.report.core.panels import FILL, Axes, Figure, Panels, Rows
from halfseen.report.core.scales import axis, decades, rounded, rounds_axis
from halfseen.report.study.bounds import SMALLEST, bounds_along
from halfseen.report.study.curves import bound_rows, curve_rows, hints
from halfseen.report.study.measures import (
    Place,
    drawn_checkpoints,
    final_regret,
    places,
)
from halfseen.report.study.sections import repeated
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import mean_and_half, mean_interval
from halfseen.theory import FiniteLowerBound, LowerBounds, finite_lower_bound, lower_bounds
from halfseen.theory.lower.gathered import slope_in_log

ABOVE, BELOW = "proved above", "proved below"
DRAWN = 30  # checkpoints


def corridor_figures(result: Result, problem: int) -> list[Figure]:
    """Return the chart of regret between its lower and upper bounds, where both are known."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    rows, policy = corridor_rows(result, problem)
    measured = [row["mean"] for row in rows if row["kind"] == "policy" and row["mean"] > 0]
    if policy is None or not measured or study.horizon == 1:
        return []
    key = f"problem-{problem + 1}-corridor"
    top = 2.0 * max(row["high"] for row in rows if row["kind"] == "corridor")
    foot = max(min(measured), top / 1e6)
    axes = Axes(
        rounds_axis(study.horizon, log=True),
        "regret (reward lost so far)",
        {
            "scale": alt.Scale(type="log", domain=[foot, top], nice=False, clamp=True),
            "axis": axis(decades(foot, top)),
        },
        foot=foot,
        log=True,
    )
    band = (
        alt.Chart()
        .transform_filter("datum.kind == 'corridor'")
        .mark_area(color=FILL, opacity=0.28)
        .encode(x=axes.x, y=axes.y("low"), y2="high:Q")
    )
    note = (
        f"Upper: the smallest bound proved for {policy}. Lower: the regret of any policy that, on"
        " neighbouring problems in which one worse arm is raised above the best, loses no more than"
        f" {policy} was measured to lose here: at first nothing. C log T is not drawn: it is an"
        " asymptotic slope, not a bound at finite T."
    )
    drawn = {row["censorship"] for row in rows if row["kind"] == "corridor"}
    others = [f"“{name}”" for name in study.censorships if name not in drawn]
    if others:
        note += (
            f" Under {' and '.join(others)} there is no band: bounds are not known on both sides."
        )
    titles = ("Between lower and upper bounds", note, list(study.problems)[problem])
    layers = [band, *panels.bounds(axes), *panels.curves(axes, hints("regret"))]
    return [panels.draw(key, titles, layers, rows, key)]


def corridor_rows(result: Result, problem: int) -> tuple[Rows, str | None]:
    """Return measured curves and the bounds around them, and the policy the bounds are for."""
    study = result.study
    chosen = drawn_checkpoints(study)
    chosen = chosen[np.unique(np.linspace(0, len(chosen) - 1, DRAWN).round().astype(int))]
    rounds = study.rounds_recorded[chosen]
    rows: Rows = []
    policy: str | None = None
    for place in places(study, problem):
        mean, half = mean_and_half(result.tracks["regret"][place.position][:, chosen])
        rows += curve_rows(place, rounds, mean, half)
        if place.linear or policy not in (None, place.names[2]):
            continue
        below = _below(place, rounds, mean)
        above = bounds_along(place, study.horizon, rounds).get(SMALLEST)
        if below is None or above is None:
            continue
        policy = place.names[2]
        rows += _band(place, rounds, below, above)
    return rows, policy


def _below(place: Place, rounds: NDArray[np.int64], mean: Vector) -> Vector | None:
    """Return the lower bound at each round, given the regret measured there; None without one.

    In the first rounds the bound may be above what was measured: no policy loses so little on the
    neighbouring problems too. Only the last rounds, in which it says something, count.
    """
    try:
        below = np.array(
            [
                finite_lower_bound(place.problem, place.seen, float(time), most).value
                if most > 0.0
                else 0.0
                for time, most in zip(rounds, mean.tolist(), strict=True)
            ]
        )
    except InvalidInput:
        return None
    early = np.flatnonzero((below > mean) | (below == 0.0))
    below[: early[-1] + 1 if len(early) else 0] = 0.0
    return below


def _band(place: Place, rounds: NDArray[np.int64], below: Vector, above: Vector) -> Rows:
    names = {"kind": "corridor", "censorship": place.names[1]}
    rows: Rows = [
        names | {"round": int(time), "low": rounded(max(low, 1e-300)), "high": rounded(high)}
        for time, low, high in zip(rounds, below, above, strict=True)
    ]
    rows += bound_rows(place, rounds, ABOVE, above, 3 * (len(rounds) - 1) // 5)
    there = below > 0.0
    if there.any():
        rows += bound_rows(place, rounds[there], BELOW, below[there])
    return rows


def lower_section(result: Result) -> Html:
    """Return the growth of regret next to the lower bounds."""
    study = result.study
    intro = (
        "How fast regret grew over the last tenfold of rounds, per unit of log T, next to C, the"
        " lower bound for any consistent policy, which one that imputes missing rewards is not; C"
        " is about growth as T goes to infinity, and a policy may be below"
        " C log T at any given T. “At least”: what a policy"
        " must have lost by the last round if, wherever one worse arm is raised above the best, it"
        " loses no more than was measured here; “more elsewhere”: no policy loses so little on all"
        " of these problems; “nothing yet”: too few rounds for the regret measured."
    )
    if not study.linear:
        intro += (
            " “Worst case”: what every policy loses at least on some problem with the same p, not"
            " necessarily on this one."
        )
    blocks: list[object] = []
    any_known = False
    for i, problem in enumerate(study.problems):
        found = [
            (place, _bounds(result, place)) for place in places(study, i) if not place.generalized
        ]
        known = [(place, low) for place, low in found if low.asymptotic is not None]
        if len(study.problems) > 1:
            blocks.append(tag("h3", problem))
        if not known:
            said = ["No lower bound is known for generalized linear bandits."]
            blocks += [tag("p", one) for one in (found[0][1].sentences() if found else said)]
            continue
        any_known = True
        blocks += [_growth_table(result, known), _least_table(known)]
        blocks += [tag("p", said, class_="note") for said in _left_out(found)]
    if any_known:
        blocks.insert(0, tag("p", intro))
    return section("lower", "Lower bounds", *blocks)


def _left_out(found: list[tuple[Place, LowerBounds]]) -> list[str]:
    """Return a sentence for each censorship, or policy under one, that has no least growth."""
    unknown = [(place.names, low) for place, low in found if low.asymptotic is None]
    some = {place.names[1] for place, low in found if low.asymptotic is not None}
    named = {
        f"“{policy}” under “{name}”" if name in some else f"“{name}”": low.sentences()[0]
        for (_, name, policy), low in unknown
    }
    return [f"Not in these tables: {name}. {said}" for name, said in named.items()]


def _bounds(result: Result, place: Place) -> LowerBounds:
    regret = final_regret(result, place.position).mean
    return lower_bounds(place.problem, place.seen, result.study.horizon, regret)


def _growth_table(result: Result, known: list[tuple[Place, LowerBounds]]) -> Html:
    study = result.study
    rows: list[list[object]] = []
    names = [place.names[1] for place, _ in known]
    groups = [at == 0 or names[at - 1] != name for at, name in enumerate(names)]
    for (place, low), first in zip(known, groups, strict=True):
        assert low.asymptotic is not None
        start, slopes = slope_in_log(study.rounds_recorded, result.tracks["regret"][place.position])
        slope, least = mean_interval(slopes), low.asymptotic.constant
        grew = start < study.horizon
        rows.append(
            [
                place.names[1] if first else repeated(place.names[1]),
                place.names[2],
                slope.text if grew else "–",
                least,
                slope.mean / least if grew and least > 0.0 else None,
                final_regret(result, place.position).text,
                _least_by_now(low.finite),
            ]
        )
    columns = [list(column) for column in zip(*rows, strict=True)]
    for at, unit in ((3, ""), (4, "×"), (6, "")):
        numbers = [None if isinstance(cell, str) else cell for cell in columns[at]]
        shown = zip(columns[at], aligned(numbers, unit), strict=True)
        columns[at] = [cell if isinstance(cell, str) else text for cell, text in shown]
    heads = ("censorship", "policy", "growth", "least growth C", "ratio", "regret", "at least")
    return table(
        heads,
        list(zip(*columns, strict=True)),
        words=(0, 1),
        label="Growth of regret",
        groups=groups,
    )


def _least_by_now(finite: FiniteLowerBound | None) -> str | float:
    """Return the bound, or a word where it says nothing or no policy is that good everywhere."""
    if finite is None:
        return "–"
    if not finite.possible:
        return "more elsewhere"
    return finite.value if finite.says_something else "nothing yet"


def _least_table(known: list[tuple[Place, LowerBounds]]) -> Html:
    """Return one row per censorship: what changes with how often actions are seen."""
    first = {_seen_name(place): low for place, low in reversed(known)}
    linear = known[0][0].linear
    heads = ["censorship", "least growth C", "if all were seen"]
    heads += ["if p is ignored", "worth of knowing p"] if linear else ["worst case, any policy"]
    rows: list[list[Any]] = []
    for name, low in reversed(first.items()):
        assert low.asymptotic is not None
        least = low.asymptotic
        row = [name, least.constant, least.uncensored]
        if linear:
            row += [least.ignoring, least.worth]
        else:
            row.append(None if low.minimax is None else low.minimax.value)
        rows.append(row)
    names, *columns = zip(*rows, strict=True)
    units = ["", "", "", "×"]
    cells = [names, *(aligned(c, u) for c, u in zip(columns, units, strict=False))]
    return table(tuple(heads), list(zip(*cells, strict=True)), words=(0,), label="Least growth")


def _seen_name(place: Place) -> str:
    """Return the name of a censorship, and which policies its bounds are stated for."""
    name = place.names[1]
    return f"{name}, covariate not observed" if place.censorship.informs else name
