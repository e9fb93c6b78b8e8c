"""How often each arm, action or region was played, and how much of its feedback was seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.report.core.panels import FILL, INK, Figure, Panels, Rows, faceted
from halfseen.report.core.scales import axis_of_shares, rounded
from halfseen.report.study.linear_measures import counted_apart, labels_and_chances, regions
from halfseen.report.study.measures import (
    ARMS,
    arms_drawn,
    places,
    playable,
    pulls_and_observations,
)
from halfseen.studies.result import Result

STEP, LEAST = 20, 96  # height of an arm, and of all of them at least
LEGEND = 12  # arms up to which their colours are explained
MILD, WORST = "#f3c59b", "#a33f00"  # colours of arms by their gap
NEAR, FAR = "#bcd9ee", "#00507d"  # of regions


def arm_figures(result: Result, problem: int) -> list[Figure]:
    """Return how often each arm was seen and how often it was played."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    name = list(study.problems)[problem]
    bandit = list(study.bandits.values())[problem]
    one, title = _words(bandit)
    cuts = _cuts(result, problem)
    if len(cuts) > 1:
        title = "region"
    rows = arm_rows(result, problem)
    if not rows:
        return []
    key = f"problem-{problem + 1}-{one}s"
    most = 0 if one == "region" else len(playable(bandit))
    few = "" if most <= ARMS else f" The {ARMS} most played of {most:,} {one}s are shown."
    drawn = [n for n in study.censorships if any(row["censorship"] == n for row in rows)]
    labels = list(dict.fromkeys(row["arm"] for row in rows))
    least = min(len({r["arm"] for r in rows if r["censorship"] == n}) for n in drawn)
    step = max(STEP, LEAST // least)
    arms = alt.Y(
        "arm:N",
        sort=labels,
        title=title,
        axis=alt.Axis(grid=False),
    )
    hints = [alt.Tooltip("arm:N", title=title), alt.Tooltip("censorship:N")]
    share = axis_of_shares()

    base = alt.Chart().transform_filter("datum.kind == 'seen'").encode(y=arms)
    exact = [
        alt.Tooltip("share:Q", title="share seen", format=".4p"),
        alt.Tooltip("observe:Q", title="true probability", format=".4p"),
        alt.Tooltip("pulls:Q", title="pulls, all policies", format=",.4~g"),
    ]
    bars = base.mark_bar(height=12, color=FILL).encode(
        x=alt.X("share:Q", **share), tooltip=[*hints, *exact]
    )
    truth = base.mark_tick(thickness=2, height=18, color=INK).encode(
        x=alt.X("observe:Q", **share), tooltip=[*hints, *exact]
    )
    note = (
        f"Bars: share of the pulls {'in a' if one == 'region' else 'of an'} {one} whose reward came"
        " back, over all policies and replications."
        " Thin line: the true probability." + few
    )
    titles = (f"Feedback seen, {one} by {one}", note, name)
    look: dict[str, Any] = {"height": {"step": step}, "legend": False, "names": drawn}
    seen = panels.draw(f"{key}-seen", titles, [bars, truth], rows, key, **look)

    few += " The rest of a bar is the others." if few else ""
    note = f"How much of its rounds each policy spent on each {one}. {_reading(one)}{few}"
    titles = ("Where the rounds went", note, name)
    return [seen, _rounds_figure(result, titles, rows, key, title)]


def _rounds_figure(
    result: Result, titles: tuple[str, str, str], rows: Rows, key: str, title: str
) -> Figure:
    """Return a bar per policy, divided among the arms."""
    import altair as alt

    policies = list(result.study.policies)
    pulls = [row for row in rows if row["kind"] == "pulls"]
    shades = {r["arm"]: r["shade"] for r in sorted(pulls, key=lambda row: row["place"])}
    explained = len(shades) <= LEGEND
    look = alt.Legend(title=title, orient="top", symbolLimit=0) if explained else None
    scale = alt.Scale(domain=list(shades), range=list(shades.values()))
    drawn = {row["censorship"] for row in pulls}
    bars = (
        alt.Chart()
        .transform_filter("datum.kind == 'pulls'")
        .mark_bar(height=14)
        .encode(
            y=alt.Y("policy:N", sort=policies, title=None, axis=alt.Axis(grid=False)),
            x=alt.X("portion:Q", stack="zero", **axis_of_shares("share of the rounds")),
            color=alt.Color("arm:N", scale=scale, legend=look),
            order=alt.Order("place:Q"),
            tooltip=[
                alt.Tooltip("policy:N"),
                alt.Tooltip("censorship:N"),
                alt.Tooltip("arm:N", title=title),
                alt.Tooltip("pulls:Q", title="rounds per replication", format=",.4~g"),
                alt.Tooltip("portion:Q", title="share of the rounds", format=".3~p"),
            ],
        )
    )
    return faceted(
        f"{key}-pulls",
        titles,
        [bars],
        rows,
        key,
        {"step": 22},
        field="censorship",
        names=[n for n in result.study.censorships if n in drawn],
        entries=list(shades) if explained else (),
        widths=list(shades),
    )


def _reading(one: str) -> str:
    if one == "region":
        return "Regions are slices along the direction u, the darker the further along it."
    return f"Grey: the best {one}. The darker the orange, the worse the {one}."


def _shades(bandit: Any, labels: Sequence[str], arms: Sequence[int]) -> dict[str, tuple[int, str]]:
    """Return the place in a bar and the colour of each arm, action or region."""
    if _words(bandit)[0] == "region":
        last = max(len(labels) - 1, 1)
        return {label: (i, _between(NEAR, FAR, i / last)) for i, label in enumerate(labels)}
    means = bandit.means(bandit.actions.fixed) if hasattr(bandit, "dimension") else bandit.means
    gaps = np.max(np.asarray(means)[playable(bandit)]) - np.asarray(means)[list(arms)]
    worst = float(gaps.max()) or 1.0
    order = np.argsort(gaps, kind="stable")
    places = {int(arm): place for place, arm in enumerate(order)}
    return {
        label: (places[i], _between(MILD, WORST, gap / worst) if gap > 0.0 else FILL)
        for i, (label, gap) in enumerate(zip(labels, gaps.tolist(), strict=True))
    }


def _between(start: str, end: str, share: float) -> str:
    """Mix two colours.

    >>> _between("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = ((int(start[i : i + 2], 16), int(end[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def _words(bandit: Any) -> tuple[str, str]:
    """Return what is counted, and the title of its axis."""
    one = "action" if hasattr(bandit, "dimension") else "arm"
    if one == "action" and not bandit.actions.same_every_round:
        return "region", "region, as ⟨a, u⟩"
    return one, f"{one} (mean reward)"


def _cuts(result: Result, problem: int) -> set[tuple[str, ...]]:
    """Return the different ways in which censorships cut the actions into regions."""
    if not result.study.linear:
        return set()
    return {tuple(regions(place)) for place in places(result.study, problem)} - {()}


def arm_rows(result: Result, problem: int) -> Rows:
    """Return the share of each arm's rewards that was seen, and how often it was pulled.

    Those of actions, where a linear bandit has finitely many; else those of regions, under every
    censorship that has some.
    """
    study = result.study
    rows: Rows = []
    cuts = _cuts(result, problem)
    totals: dict[str, tuple[Vector, Vector]] = {}
    for place in places(study, problem):
        counted = counted_apart(place)
        if counted == 0:
            continue
        arms = arms_drawn(result, problem, counted)
        labels, observe = labels_and_chances(place, arms)
        if len(cuts) > 1:  # regions that differ cannot share an axis: number them
            labels = [str(arm + 1) for arm in arms]
        pulls, seen = pulls_and_observations(result, place.position, arms)
        censorship = place.names[1]
        before = totals.get(censorship, (np.zeros(len(arms)), np.zeros(len(arms))))
        totals[censorship] = (before[0] + pulls, before[1] + seen)
        shades = _shades(place.problem, labels, arms.tolist())
        for label, count in zip(labels, (pulls / study.replications).tolist(), strict=True):
            names = {"kind": "pulls", "censorship": censorship, "policy": place.names[2]}
            numbers = {"pulls": rounded(count), "portion": rounded(count / study.horizon)}
            where, shade = shades[label]
            rows.append(names | {"arm": label, "place": where, "shade": shade} | numbers)
        if place.position[2] == len(study.policies) - 1:
            for label, count, times, p in zip(labels, *totals[censorship], observe, strict=True):
                row = {"kind": "seen", "censorship": censorship, "arm": label}
                numbers = {"pulls": rounded(count), "observe": rounded(p)}
                rows.append(row | numbers | ({"share": rounded(times / count)} if count else {}))
    return rows
