"""How often each arm, action or region was played, and how much of its feedback was seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.checks import Vector
from halfseen.report.core.panels import FILL, INK, Figure, Panels, Rows
from halfseen.report.core.scales import axis, axis_of_shares, decades, rounded
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
LANES = 80  # dots in a panel up to which every policy has its own line


def arm_figures(result: Result, problem: int) -> list[Figure]:
    """Return how often each arm was seen and how often it was played."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    name = list(study.problems)[problem]
    bandit = list(study.bandits.values())[problem]
    one, title, best = _words(bandit)
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
    apart: dict[str, Any] = {"names": drawn}
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
    seen = panels.draw(
        f"{key}-seen", titles, [bars, truth], rows, key, {"step": step}, legend=False, **apart
    )

    pulled = [row["pulls"] for row in rows if row["kind"] == "pulls" and row["pulls"]]
    low, high = min(pulled) / 1.5, max(pulled) * 1.5
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    lanes = len(labels) * len(study.policies) <= LANES
    names = list(study.policies)
    lane = {"yOffset": alt.YOffset("policy:N", sort=names)} if lanes else {}
    dots = (
        alt.Chart()
        .transform_filter("datum.kind == 'pulls' && datum.pulls > 0")
        .mark_point(filled=True, size=70)
        .encode(
            y=alt.Y(
                "arm:N",
                sort=labels,
                title=title,
                axis=alt.Axis(grid=True, tickBand="extent"),
                scale=alt.Scale(padding=0),
            ),
            x=alt.X(
                "pulls:Q",
                title="pulls per replication (rounds)",
                scale=scale,
                axis=axis(decades(low, high)),
            ),
            color=panels.colour(),
            opacity=panels.faded(0.9),
            **lane,
            tooltip=[alt.Tooltip("policy:N"), *hints, alt.Tooltip("pulls:Q", format=",.4~g")],
        )
        .add_params(alt.selection_point(name="chosen", fields=["policy"], bind="legend"))
    )
    note = (
        f"How often each policy played each {one}, per replication, on a logarithmic scale."
        f" {best}{few}"
    )
    titles = ("Where the rounds went", note, name)
    tall = {"step": max(step, 8 * len(names) + 8), "for": "position"} if lanes else {"step": step}
    return [seen, panels.draw(f"{key}-pulls", titles, [dots], rows, key, tall, **apart)]


def _words(bandit: Any) -> tuple[str, str, str]:
    """Return what is counted, the title of its axis, and what to look for."""
    one = "action" if hasattr(bandit, "dimension") else "arm"
    if one == "action" and not bandit.actions.same_every_round:
        return "region", "region, as ⟨a, u⟩", "Regions are slices along the direction u."
    best = f"The best {one} should be far to the right of the others."
    return one, f"{one} (mean reward)", best


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
        for label, count in zip(labels, pulls, strict=True):
            row = {"kind": "pulls", "censorship": censorship, "policy": place.names[2]}
            rows.append(row | {"arm": label, "pulls": rounded(count / study.replications)})
        if place.position[2] == len(study.policies) - 1:
            for label, count, times, p in zip(labels, *totals[censorship], observe, strict=True):
                row = {"kind": "seen", "censorship": censorship, "arm": label}
                numbers = {"pulls": rounded(count), "observe": rounded(p)}
                rows.append(row | numbers | ({"share": rounded(times / count)} if count else {}))
    return rows
