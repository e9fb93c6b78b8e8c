"""The charts only linear bandits have: potential, eigenvalues, and censorship along a direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from halfseen.censorship.directions import projections
from halfseen.checks import Vector
from halfseen.problems import RandomActions
from halfseen.report.core.panels import FILL, HINTS, INK, Axes, Figure, Panels, Rows
from halfseen.report.core.scales import axis, decades, rounded, rounds_axis
from halfseen.report.study.curves import bound_rows, curve_rows, hints
from halfseen.report.study.linear_measures import (
    last_decade,
    order_one,
)
from halfseen.report.study.measures import (
    Place,
    drawn_checkpoints,
    places,
)
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import mean_and_half
from halfseen.theory.along_a_run import potential_bound_along
from halfseen.theory.linear.slope import best_of_finite, best_of_random, slope_law

FITS = 2.0  # times the largest potential: a bound beyond that is cut off, a slope left out
DOTS = 300  # actions drawn one by one
POINTS = 81  # points of a smooth curve
OBSERVED = 0  # index of the observed design in the recorded arrays
LARGEST, LEAST = "largest", "smallest"
DASHES = {LARGEST: [1, 0], LEAST: [5, 3]}


def potential_figures(result: Result, problem: int) -> list[Figure]:
    """Return the potential of order 1 against the logarithm of the round, if it was tracked."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    if order_one(study) is None or study.horizon == 1:
        return []
    rows, top = potential_rows(result, problem)
    axes = Axes(
        rounds_axis(study.horizon, log=True),
        "potential V₁",
        {"axis": axis(), "scale": alt.Scale(domain=[0, top], nice=False)},
    )
    law = (
        alt.Chart()
        .transform_filter("datum.kind == 'law'")
        .mark_line(strokeWidth=5, color=FILL, strokeCap="round", opacity=0.7)
        .encode(x=axes.x, y=axes.y(), detail="policy:N")
    )
    key = f"problem-{problem + 1}-potential"
    note = (
        "The squared widths of the actions played, added up: the cumulative uncertainty. The rounds"
        " are on a logarithmic scale, on which it becomes a straight line."
        " Dashed: the bound no policy exceeds on average; where it stops it leaves the chart, and"
        " the table under “Potential” has its end."
    )
    if any(row["kind"] == "law" for row in rows):
        note += " Thick grey: the slope LinUCB is expected to show on such actions."
    layers = [law, *panels.bounds(axes), *panels.curves(axes, hints("potential"))]
    titles = ("Potential against log round", note, list(study.problems)[problem])
    return [panels.draw(key, titles, layers, rows, key)]


def potential_rows(result: Result, problem: int) -> tuple[Rows, float]:
    """Return mean potential, its bound and the expected slope, and the top of the chart."""
    study, order = result.study, order_one(result.study)
    chosen = drawn_checkpoints(study)
    rounds = study.rounds_recorded[chosen]
    everything = list(places(study, problem))
    tracks = result.tracks["potential"][problem, ..., order]
    most = float(tracks[..., -1].mean(axis=-1).max())
    bounds: dict[tuple[str, float], tuple[Place, Vector]] = {}
    rows: Rows = []
    laws: list[Rows] = []
    for place in everything:
        track = result.tracks["potential"][place.position][:, :, order]
        rows += curve_rows(place, rounds, *mean_and_half(track[:, chosen]))
        laws.append(_law_rows(result, place, track.mean(axis=0)))
        # The bound is the same for every policy; a small lambda makes it larger.
        name = (place.names[1], float(place.policy.regularization))
        if name not in bounds and name[1] == everything[0].policy.regularization:
            bounds[name] = (place, potential_bound_along(*place.triple, 1.0, rounds))
    same = len({place.policy.regularization for place in everything}) == 1
    ends = [float(values[-1]) for _, values in bounds.values()]
    top = 1.15 * max([most, *(end for end in ends if end <= FITS * most)])
    if max(ends) > top:
        top = max(top, 2.0 * most)
    for place, values in bounds.values():
        inside = np.flatnonzero(values <= 0.93 * top)
        label = "bound" if same else f"bound, λ = {place.policy.regularization:g}"
        rows += bound_rows(place, rounds[inside], label, values[inside])
    for law in laws:
        if all(0.0 <= row["mean"] <= FITS * top for row in law):
            rows += law
    return rows, top or 1.0


def _law_rows(result: Result, place: Place, mean: Vector) -> Rows:
    """Return the expected slope as a line through the middle of the last factor of ten."""
    law, chosen = slope_law(*place.triple), last_decade(result.study)
    if law is None or len(chosen) < 2:
        return []
    time = np.log(result.study.rounds_recorded[chosen])
    ends = [0, -1]
    values = mean[chosen].mean() + law * (time[ends] - time.mean())
    names = {"kind": "law", "censorship": place.names[1], "policy": place.names[2]}
    return [
        names | {"round": int(result.study.rounds_recorded[chosen[end]]), "mean": rounded(value)}
        for end, value in zip(ends, values, strict=True)
    ]


def eigenvalue_figures(result: Result, problem: int) -> list[Figure]:
    """Return how the extreme eigenvalues of the observed design grow."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    rows = eigenvalue_rows(result, problem)
    if not rows or study.horizon == 1:
        return []
    values = [row["mean"] for row in rows]
    low, high = min(values) / 1.3, 1.3 * max(values)
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axes = Axes(
        rounds_axis(study.horizon, log=True),
        "eigenvalue",
        {"scale": scale, "axis": axis(decades(low, high))},
        foot=low,
        log=True,
    )
    base = alt.Chart().encode(x=axes.x, y=axes.y())
    ends = list(dict.fromkeys(row["end"] for row in rows))
    shown = list(dict.fromkeys(row["policy"] for row in rows))
    look = {"color": panels.colour(shown), "opacity": panels.faded()}
    layers = [
        base.transform_filter(f"datum.end == '{end}'")
        .mark_line(strokeWidth=2, **({} if panels.dashed else {"strokeDash": DASHES[end]}))
        .encode(**look, **panels.dash(shown))
        for end in ends
    ]
    layers[0] = layers[0].add_params(
        alt.selection_point(name="chosen", fields=["policy"], bind="legend")
    )
    last = base.transform_filter("datum.mark == 1").mark_point(filled=True, size=36)
    layers.append(last.encode(**look))
    words = ["policy:N", "censorship:N", "end:N"]
    layers.append(
        base.properties(name=HINTS)
        .mark_point(size=160, opacity=0)
        .encode(
            tooltip=[
                *(alt.Tooltip(word, title=word[:-2].replace("end", "which")) for word in words),
                alt.Tooltip("round:Q", format=","),
                alt.Tooltip("mean:Q", title="eigenvalue", format=",.4~g"),
            ]
        )
    )
    note = (
        "How much was seen in the direction seen most (solid) and in the one seen least (dashed):"
        " the largest and the smallest eigenvalue of λ plus the sum of aa′ over the seen rounds,"
        " on average over replications. Directions that grow slowly stay uncertain."
    )
    if any(place.policy.imputes for place in places(study, problem)):
        note += " Policies that learn from imputed rewards are left out."
    key = f"problem-{problem + 1}-eigenvalues"
    titles = ("Growth of the observed design", note, list(study.problems)[problem])
    return [panels.draw(key, titles, layers, rows, key)]


def eigenvalue_rows(result: Result, problem: int) -> Rows:
    """Return the mean largest and smallest eigenvalue of the observed design."""
    study = result.study
    chosen = drawn_checkpoints(study)
    rounds = study.rounds_recorded[chosen]
    rows: Rows = []
    for place in places(study, problem):
        if place.policy.imputes:
            continue
        d = place.problem.dimension
        values = result.tracks["eigenvalues"][place.position][:, chosen, OBSERVED, :d]
        ends = {LARGEST: values.max(axis=-1)} | ({LEAST: values.min(axis=-1)} if d > 1 else {})
        for end, each in ends.items():
            mean = each.mean(axis=0)
            names = {"censorship": place.names[1], "policy": place.names[2], "end": end}
            rows += [
                names
                | {"round": int(time), "mean": rounded(value), "mark": int(time == rounds[-1])}
                for time, value in zip(rounds, mean, strict=True)
            ]
    return rows


def direction_figures(result: Result, problem: int) -> list[Figure]:
    """Return the chance of being seen along the direction of each censorship that has one."""
    import altair as alt

    study, panels = result.study, Panels(result.study)
    rows = direction_rows(result, problem)
    if not rows:
        return []
    x = alt.X(
        "along:Q",
        title="⟨a, u⟩: how far an action points along u",
        scale=alt.Scale(domain=[-1, 1], nice=False),
        axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1]),
    )
    y: dict[str, Any] = {
        "title": "chance of being seen",
        "scale": alt.Scale(domain=[0, 1]),
        "axis": alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    }
    told = [
        alt.Tooltip("action:N"),
        alt.Tooltip("reward:Q", title="mean reward", format=".3~g"),
        alt.Tooltip("along:Q", title="⟨a, u⟩", format=".3~f"),
        alt.Tooltip("chance:Q", title="chance of being seen", format=".3~p"),
    ]
    band = (
        alt.Chart()
        .transform_filter("datum.kind == 'band'")
        .mark_rect(color=FILL, opacity=0.35)
        .encode(x=x, x2="until:Q")
    )
    line = (
        alt.Chart()
        .transform_filter("datum.kind == 'curve'")
        .mark_line(color=INK, strokeWidth=2)
        .encode(x=x, y=alt.Y("chance:Q", **y), order=alt.Order("step:Q"))
    )
    marks = alt.Chart().encode(x=x, y=alt.Y("chance:Q", **y), tooltip=told)
    dots = marks.transform_filter("datum.kind == 'action'").mark_point(
        filled=True, size=60, color=FILL, opacity=1, stroke=INK, strokeWidth=1
    )
    best = marks.transform_filter("datum.kind == 'best'")
    star = best.mark_point(filled=True, size=150, color=INK, opacity=1)
    word = best.transform_filter("datum.first == 1").mark_text(
        text="best", color=INK, fontSize=12, align="left", dx=4, dy=-14
    )
    kinds = {row["kind"] for row in rows}
    layers = [band] if "band" in kinds else []
    layers += [line]
    layers += [dots] if "action" in kinds else []
    layers += [star, word] if "best" in kinds else []
    note = "How likely a reward is to be seen, by how far the action points along the direction u."
    if "best" in kinds:
        note += " Dots: the actions; large, the best one."
    if "band" in kinds:
        note += " Shaded: where nine in ten of the best actions of a round lie."
    key = f"problem-{problem + 1}-direction"
    names = list(dict.fromkeys(row["censorship"] for row in rows))
    titles = ("What is seen, along a direction", note, list(study.problems)[problem])
    return [panels.draw(key, titles, layers, rows, key, legend=False, names=names)]


def direction_rows(result: Result, problem: int) -> Rows:
    """Return the curves, the actions of finite sets, and where the best random ones lie."""
    rows: Rows = []
    for place in places(result.study, problem):
        if place.position[2] > 0:
            continue
        found = place.censorship.along_direction(POINTS)
        if found is None:
            continue
        names = {"censorship": place.names[1]}
        for step, (along, chance) in enumerate(zip(*found, strict=True)):
            numbers = {"along": rounded(along), "chance": rounded(chance), "step": step}
            rows.append(names | {"kind": "curve"} | numbers)
        rows += [names | row for row in _where_actions_lie(place)]
    return rows


def _where_actions_lie(place: Place) -> Rows:
    problem = place.problem
    profile = place.censorship.profile(problem.dimension)
    if profile is None:
        return []
    direction = profile.direction.tolist()
    if isinstance(problem.actions, RandomActions):
        along = projections("actions", best_of_random(problem), direction)
        low, high = np.quantile(along, [0.05, 0.95])
        return [{"kind": "band", "along": rounded(low), "until": rounded(high)}]
    actions = problem.actions.fixed
    if actions is None or len(actions) > DOTS:
        return []
    along = projections("actions", actions, direction)
    seen = place.censorship.probabilities(actions)
    best = best_of_finite(problem).tolist()
    return [
        {
            "kind": "best" if k in best else "action",
            "action": str(k),
            "reward": rounded(mean),
            "along": rounded(along[k]),
            "chance": rounded(seen[k]),
            "first": int(k == best[0]),
        }
        for k, mean in enumerate(problem.means(actions))
    ]
