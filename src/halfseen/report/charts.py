"""The charts of a study: one definition each, for the page, for SVG and for PNG.

A chart never holds replications, only means and intervals, so its size does not depend on how
long or how often a study was played. Names given by the user are values in the data, never parts
of an expression.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.report.bounds import PAPER, bounds_along, potential_along
from halfseen.report.measures import (
    ARMS,
    Place,
    arms_drawn,
    drawn_checkpoints,
    mean_and_half,
    places,
    pulls_and_observations,
    tidy,
)
from halfseen.report.panels import FILL, INK, Axes, Figure, Panels, Rows, axis, decades, rounds_axis
from halfseen.result import Result

STEP, LEAST = 20, 96  # height of an arm, and of all of them at least
FITS = 300.0  # times the largest regret: a bound beyond that would flatten all curves
OFFSETS = 3  # values of lambda whose bounds are drawn
LANES = 80  # dots in a panel up to which every policy has its own line


def figures(result: Result, problem: int) -> list[Figure]:
    """Return the charts of one problem of a study, the most telling first."""
    return [
        *regret_figures(result, problem),
        *arm_figures(result, problem),
        *potential_figures(result, problem),
    ]


def regret_figures(result: Result, problem: int) -> list[Figure]:
    """Return regret against rounds on plain scales and, with bounds, on logarithmic ones."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    name = list(study.problems)[problem]
    rows, bounded = regret_rows(result, problem)
    key, words = f"problem-{problem + 1}-regret", "regret (reward lost so far)"
    note = (
        "Reward lost so far, averaged over replications; the band is the 95% interval of that"
        " average. Lower is better, and a curve that flattens has learned."
    )
    measured = [row for row in rows if row["kind"] == "policy"]
    most = max(row["mean"] + row["half"] for row in measured)
    scale = alt.Scale(domain=[0, 1.05 * most or 1.0], nice=False)
    plain = Axes(rounds_axis(study.horizon, log=False), words, {"axis": axis(), "scale": scale})
    layers = [panels.band(plain), *panels.curves(plain, _numbers("regret"))]
    drawn = [panels.draw(key, ("Regret", note, name), layers, rows, key)]
    positive = [row["mean"] for row in measured if row["mean"] > 0]
    if not positive or study.horizon == 1:
        return drawn

    proved = [row["mean"] for row in rows if row["kind"] == "bound"]
    top = 3.0 * max([most, *proved])
    low = max(min(positive), top / 1e6)
    scale = alt.Scale(type="log", domain=[low, top], nice=False)
    log = Axes(
        rounds_axis(study.horizon, log=True),
        words,
        {"scale": scale, "axis": axis(decades(low, top))},
        foot=low,
        log=True,
    )
    layers = [panels.band(log), *panels.bounds(log), *panels.curves(log, _numbers("regret"))]
    title = "Regret on logarithmic scales"
    note = "The same curves where early rounds and small differences show."
    if proved:
        title += ", with proved bounds"
        note += (
            f" Dashed: what is proved for {bounded}, the smallest of all bounds and the smallest of"
            " the paper’s, at every round, where they fit. They hold on average and for the worst"
            " case, and what happens is usually far below."
        )
    drawn.append(panels.draw(f"{key}-log", (title, note, name), layers, rows, key))
    return drawn


def regret_rows(result: Result, problem: int) -> tuple[Rows, str | None]:
    """Return mean regret and bounds at the checkpoints, and the policy the bounds are for."""
    study = result.study
    chosen = drawn_checkpoints(study)
    rounds = study.rounds_recorded[chosen]
    rows: Rows = []
    bounded: str | None = None
    final = result.tracks["regret"][problem][..., -1].mean(axis=-1, dtype=float).max()
    for place in places(study, problem):
        mean, half = mean_and_half(result.tracks["regret"][place.position][:, chosen])
        rows += _curve(place, rounds, mean, half)
        policy = place.names[2]
        if bounded in (None, policy):
            curves = bounds_along(place, study.horizon, rounds)
            bounded = policy if curves else bounded
            for label, values in curves.items():
                if values[-1] > FITS * final:
                    continue
                told = -1 if label == PAPER else 3 * (len(rounds) - 1) // 5
                rows += _bound(place, rounds, label, values, told)
    return rows, bounded


def arm_figures(result: Result, problem: int) -> list[Figure]:
    """Return how often each arm was seen and how often it was played."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    name = list(study.problems)[problem]
    playable = len(list(study.problems.values())[problem].playable)
    rows = arm_rows(result, problem)
    key = f"problem-{problem + 1}-arms"
    few = "" if playable <= ARMS else f" The {ARMS} most played of {playable:,} arms are shown."
    labels = list(dict.fromkeys(row["arm"] for row in rows))
    step = max(STEP, LEAST // len(labels))
    arms = alt.Y(
        "arm:N",
        sort=labels,
        title="arm (mean reward)",
        axis=alt.Axis(grid=False),
    )
    hints = [alt.Tooltip("arm:N", title="arm (mean reward)"), alt.Tooltip("censorship:N")]
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
        "Bars: share of an arm’s pulls whose reward came back, over all policies and replications."
        " Thin line: the true probability." + few
    )
    titles = ("Feedback seen, arm by arm", note, name)
    seen = panels.draw(
        f"{key}-seen", titles, [bars, truth], rows, key, {"step": step}, legend=False
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
                title="arm (mean reward)",
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
        "How often each policy played each arm, per replication, on a logarithmic scale. The best"
        " arm should be far to the right of the others." + few
    )
    titles = ("Where the rounds went", note, name)
    tall = {"step": max(step, 8 * len(names) + 8), "for": "position"} if lanes else {"step": step}
    return [seen, panels.draw(f"{key}-pulls", titles, [dots], rows, key, tall)]


def arm_rows(result: Result, problem: int) -> Rows:
    """Return the share of each arm's rewards that was seen, and how often it was pulled."""
    study = result.study
    arms = arms_drawn(result, problem)
    rows: Rows = []
    totals: dict[str, tuple[Vector, Vector]] = {}
    for place in places(study, problem):
        labels = [f"{arm} ({place.problem.means[arm]:.3g})" for arm in arms]
        pulls, seen = pulls_and_observations(result, place.position, arms)
        censorship = place.names[1]
        before = totals.get(censorship, (np.zeros(len(arms)), np.zeros(len(arms))))
        totals[censorship] = (before[0] + pulls, before[1] + seen)
        for label, count in zip(labels, pulls, strict=True):
            row = {"kind": "pulls", "censorship": censorship, "policy": place.names[2]}
            rows.append(row | {"arm": label, "pulls": tidy(count / study.replications)})
        if place.position[2] == len(study.policies) - 1:
            observe = place.censorship.probabilities(place.problem.arms)[arms]
            for label, count, times, p in zip(labels, *totals[censorship], observe, strict=True):
                row = {"kind": "seen", "censorship": censorship, "arm": label}
                numbers = {"pulls": tidy(count), "observe": tidy(p)}
                rows.append(row | numbers | ({"share": tidy(times / count)} if count else {}))
    return rows


def potential_figures(result: Result, problem: int) -> list[Figure]:
    """Return the measured potentials against their exact bound, one chart per order."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    drawn = []
    for order, alpha in enumerate(study.alphas):
        rows = potential_rows(result, problem, order)
        top = 1.15 * max(row["mean"] for row in rows)  # room for the words above the bound
        axes = Axes(
            rounds_axis(study.horizon, log=False),
            f"potential of order {alpha:g}",
            {"axis": axis(), "scale": alt.Scale(domain=[0, top], nice=False)},
        )
        key = f"problem-{problem + 1}-potential-{order + 1}"
        note = (
            f"The sum over rounds of 1 / (times the arm played had been seen + λ)^{alpha:g}: how"
            " much the policy paid for not knowing. Dashed: the bound no policy exceeds on average,"
            " exact for every number of rounds."
        )
        titles = (f"Potential of order {alpha:g}", note, list(study.problems)[problem])
        layers = [*panels.bounds(axes), *panels.curves(axes, _numbers("potential"))]
        drawn.append(panels.draw(key, titles, layers, rows, key))
    return drawn


def potential_rows(result: Result, problem: int, order: int) -> Rows:
    """Return mean potential and its exact bound at the checkpoints."""
    study = result.study
    chosen = drawn_checkpoints(study)
    rounds = study.rounds_recorded[chosen]
    offsets = dict.fromkeys(float(policy.regularization) for policy in study.policies.values())
    drawn = list(offsets)[:OFFSETS]
    rows: Rows = []
    done = set()
    for place in places(study, problem):
        track = result.tracks["potential"][place.position][:, chosen, order]
        rows += _curve(place, rounds, *mean_and_half(track))
        offset = float(place.policy.regularization)
        if offset in drawn and (place.names[1], offset) not in done:
            done.add((place.names[1], offset))
            label = "bound" if len(offsets) == 1 else f"bound, λ = {offset:g}"
            values = potential_along(place, study.alphas[order], rounds)
            rows += _bound(place, rounds, label, values)
    return rows


def axis_of_shares() -> dict[str, Any]:
    """Return the parts of a horizontal axis from nothing to all."""
    import altair as alt

    return {
        "title": "share of feedback seen",
        "scale": alt.Scale(domain=[0, 1]),
        "axis": alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    }


def _numbers(title: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("mean:Q", title=title, format=",.4~g"),
        alt.Tooltip("half:Q", title="± 95%", format=",.2~g"),
    ]


def _curve(place: Place, rounds: NDArray[np.int64], mean: Vector, half: Vector) -> Rows:
    names = {"kind": "policy", "censorship": place.names[1], "policy": place.names[2]}
    return [
        names
        | {
            "round": int(time),
            "mean": tidy(m),
            "half": tidy(h, 3),
            "mark": int(time == rounds[-1]),
        }
        for time, m, h in zip(rounds, mean, half, strict=True)
    ]


def _bound(
    place: Place, rounds: NDArray[np.int64], name: str, values: Vector, told: int = -1
) -> Rows:
    """Return a bound's curve; its name is written at checkpoint `told`."""
    names = {"kind": "bound", "censorship": place.names[1], "policy": name}
    return [
        names | {"round": int(time), "mean": tidy(value), "mark": int(time == rounds[told])}
        for time, value in zip(rounds, values, strict=True)
    ]
