"""The paper's pictures of reachability: the turning line, both thresholds, the change of base."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halfseen.censorship import MultiThreshold
from halfseen.errors import InvalidInput
from halfseen.report.core.panels import INK, MUTED, PALETTE, Rows
from halfseen.report.theory.framing import (
    HEIGHT,
    STROKE,
    WIDTH,
    angle_axis,
    dashes,
    degrees,
    framed,
    label,
    legend,
    palette,
    rows_of,
)
from halfseen.tables import show
from halfseen.theory import InformationPath
from halfseen.theory.linear.turning import Base, base_of, squared_sine

BLUE, RED, GREEN, PURPLE, ORANGE = PALETTE[:5]
POINTS = 121  # points of a curve
TURNS = 60  # steps of the slider
MARGIN = 0.12  # squared sine shown beyond that of the base
FLOOR = 0.8  # the smallest ratio drawn
REACHED, ONLY, APART = "reached, then both are kept", "reached, then replaces it", "not reached"
BELOW: dict[str, Any] = {"align": "right", "dx": -2, "dy": 13}  # left of a line that falls
ABOVE: dict[str, Any] = {"align": "left", "dx": 4, "dy": -9}  # right of it


def example() -> MultiThreshold:
    """Return the default model, in six dimensions: some regions are reachable, some are not."""
    angles = [math.radians(angle) for angle in (12, 46, 57, 61)]
    return MultiThreshold(angles, [0.9, 0.73, 0.46, 0.45, 0.35], [0, 0, 0, 0, 0, 1])


def reachable_chart(path: InformationPath) -> Any:
    """Draw the regions reachable from the most censored one, and the line that turns to them.

    Parameters
    ----------
    path
        The information path of the model.

    Returns
    -------
    altair.LayerChart
        One panel; on a page, a slider turns the line.

    Examples
    --------
    >>> from halfseen.theory import information_path
    >>> chart = reachable_chart(information_path(example()))
    >>> chart.to_dict()["usermeta"]["numbers"]["reachable"]
    [0, 1, 2]
    """
    import altair as alt

    base = base_of(path, path.numbers[-1])
    dots = _dots(path, base)
    reached = [row for row in dots if row["kind"] != APART]
    first = min(reached, key=lambda row: row["meets"], default=None)
    met = None if first is None else base.time(first["meets"], path.regularization)
    top = 1.08 * max([float(base.line(0.0, base.limit)), *(row["value"] for row in dots)])
    x = angle_axis(min(1.0, base.sine + MARGIN))
    y = alt.Y(
        "value:Q",
        title="p of the region / p of the base",
        scale=alt.Scale(domain=[FLOOR, top], nice=False),
        axis=alt.Axis(tickCount=6),
    )
    shades = {"the turning line": GREEN, "where it ends: r*": RED}
    patterns = {"the turning line": [6, 3], "where it ends: r*": [1, 0]}
    turning, ending = shades
    lines = _ends(base, 1.0, turning) + _ends(base, base.limit, ending)
    words = [_word(base, 1.0, 0.3, "t = 0"), _word(base, base.limit, 0.35, "t → ∞")]
    if first is not None:
        lines += _ends(base, first["meets"], turning)
        words.append(_word(base, first["meets"], 0.45, f"t = {show(met)}"))
    line = alt.Chart(rows_of(lines)).encode(x=x, y=y)
    marks = alt.Chart(rows_of(dots)).encode(x=x, y=y)
    slider = alt.param(
        name="moment",
        value=0,
        bind=alt.binding_range(min=0, max=TURNS, step=1, name="Turn the line: "),
    )
    moved = (
        alt.Chart(rows_of(_turns(base, path.regularization)))
        .encode(x=x, y=y)
        .transform_filter("datum.step == moment && moment > 0")
    )
    layers = [
        marks.mark_rule(color=MUTED, strokeWidth=1, opacity=0.6).encode(y2=alt.datum(FLOOR)),
        line.mark_line(strokeWidth=2.2).encode(
            color=palette("line", shades, **STROKE),
            strokeDash=dashes("line", patterns, **STROKE),
            detail="part:N",
        ),
        *(
            label(alt.Chart(rows_of([row])).encode(x=x, y=y), **style)
            for row, style in zip(words, (BELOW, ABOVE, BELOW), strict=False)
        ),
        moved.mark_line(color=GREEN, strokeWidth=5, opacity=0.75),
        label(moved.transform_filter("datum.sine == 0"), **ABOVE | {"fontWeight": 600}),
        _spots(marks),
        label(marks, **ABOVE | {"dx": 9}),
        *_pivot(base, x, y),
    ]
    names = ", ".join(str(row["region"]) for row in reached) or "none"
    caption = (
        f"Marks: regions, by their lowest angle and by how often they are seen next to region"
        f" {base.number}, the base. As the base is played the dashed line turns about it, from flat"
        " towards the solid one, and the first region it meets is taken up. Above the solid line"
        f" none is ever met. Reachable here: {names}."
    )
    if first is not None:
        caption += f" First met: {first['region']}."
    numbers = {
        "base": base.number,
        "reachable": [row["region"] for row in reached],
        "first": None if first is None else first["region"],
        "met at": met,
    }
    chart = _apart(alt.layer(*layers)).add_params(slider)
    title = "Which regions a base reaches, and which first"
    return framed(chart, "reachable", title, caption, numbers)


def thresholds_chart(path: InformationPath) -> Any:
    """Draw both thresholds on the ratio of probabilities, from the most censored region.

    Parameters
    ----------
    path
        The information path of the model.

    Returns
    -------
    altair.LayerChart
        One panel.
    """
    import altair as alt

    base = base_of(path, path.numbers[-1])
    dots = _dots(path, base)
    shades = {"r*: reached if below": RED, "r†: both kept if above": BLUE, "u": ORANGE, "l": ORANGE}
    patterns = dict(zip(shades, ([1, 0], [1, 0], [7, 3], [2, 3]), strict=True))
    sines = np.linspace(0.0, base.sine, POINTS)
    u, l, star, dagger = base.ratios(sines)  # noqa: E741
    rows = [
        {"curve": name, "sine": float(s), "value": float(v)}
        for name, values in zip(shades, (star, dagger, u, l), strict=True)
        for s, v in zip(sines, values, strict=True)
    ]
    top = 1.06 * max([float(u[0]), *(row["value"] for row in dots)])
    x = angle_axis(min(1.0, base.sine + MARGIN))
    y = alt.Y(
        "value:Q",
        title="ratio to the base",
        scale=alt.Scale(domain=[0.0, top], nice=False),
        axis=alt.Axis(tickCount=6),
    )
    marks = alt.Chart(rows_of(dots)).encode(x=x, y=y)
    low = f"datum.kind == '{ONLY}'"
    layers = [
        alt.Chart(rows_of(rows))
        .mark_line(strokeWidth=2.2)
        .encode(
            x=x,
            y=y,
            color=palette("curve", shades, **STROKE),
            strokeDash=dashes("curve", patterns, **STROKE),
            tooltip=[alt.Tooltip("curve:N"), alt.Tooltip("value:Q", format=".4~g")],
        ),
        _spots(marks),
        label(marks.transform_filter(f"!({low})"), **ABOVE | {"dx": 9}),
        label(marks.transform_filter(low), dx=9, dy=12),
        *_pivot(base, x, y),
    ]
    caption = (
        f"How often a region is seen, over how often region {base.number}, the base, is. Below the"
        " red line a region is reached. If it is above the blue curve it then stays next to the"
        " base for ever; if below, it replaces the base. The red line lies below u, the ratio of"
        " squared cosines, and the blue curve above l, that of squared sines."
    )
    numbers = {
        f"region {pair.region}": {
            name: getattr(pair, name)
            for name in ("ratio", "r_star", "r_dagger", "u", "l", "reachable", "dual_reachable")
        }
        for pair in path.reachability
        if pair.base == base.number
    }
    title = "Two thresholds decide what follows the base"
    return framed(_apart(alt.layer(*layers)), "thresholds", title, caption, numbers)


def switch_chart(path: InformationPath) -> Any:
    """Draw how both thresholds move when the path changes its base.

    Parameters
    ----------
    path
        An information path that leaves its first region for another.

    Returns
    -------
    altair.LayerChart
        One panel.
    """
    import altair as alt

    if len(path.phases) < 2 or len(path.phases[1].regions) == 2:
        raise InvalidInput(
            "path",
            "must leave its first region for another one",
            f"regions {path.regions}, {path.regime} in the end",
            "Choose a model in which a region is reachable and not dual reachable.",
        )
    bases = [base_of(path, number) for number in path.regions[:2]]
    old, new = bases
    shades = {"reached if below": RED, "both kept if above": BLUE}
    rows: Rows = []
    for base in bases:
        sines = np.linspace(0.0, base.sine, POINTS)
        for name, values in zip(shades, base.ratios(sines)[2:], strict=True):
            about = {"curve": name, "base": f"from region {base.number}"}
            rows += [
                about | {"sine": float(s), "value": base.observe * float(v)}
                for s, v in zip(sines, values, strict=True)
            ]
    for base, time, (x_now, y_now), shade in zip(
        bases, path.switch_times, path.designs, (GREEN, PURPLE), strict=False
    ):
        name = f"turning line at t = {show(time)}"
        shades[name] = shade
        for row in _ends(base, y_now / x_now, ""):
            about = {"curve": name, "base": f"from region {new.number}", "sine": row["sine"]}
            rows.append(about | {"value": base.observe * row["value"]})
    dots = [
        {
            "sine": squared_sine(angle),
            "value": p,
            "words": f"region {number}",
            "angle": degrees(angle),
            "area": 150 if number in (old.number, new.number) else 60,
        }
        for number, angle, p in zip(path.numbers, path.angles_radians, path.observe, strict=True)
    ]
    x = angle_axis(min(1.0, old.sine + MARGIN))
    y = alt.Y(
        "value:Q",
        title="chance of being seen",
        scale=alt.Scale(domain=[0.0, 1.05], nice=False),
        axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    patterns = {f"from region {old.number}": [2, 3], f"from region {new.number}": [1, 0]}
    marks = alt.Chart(rows_of(dots)).encode(x=x, y=y)
    layers = [
        alt.Chart(rows_of(rows))
        .mark_line(strokeWidth=2.2, clip=True)
        .encode(
            x=x,
            y=y,
            color=palette("curve", shades, **STROKE),
            strokeDash=dashes("base", patterns, **STROKE | {"orient": "bottom"}),
        ),
        marks.mark_point(filled=True, opacity=1, color=INK).encode(
            size=alt.Size("area:Q", scale=None),
            tooltip=[
                alt.Tooltip("words:N", title="which"),
                alt.Tooltip("angle:N"),
                alt.Tooltip("value:Q", title="seen", format=".3~p"),
            ],
        ),
        label(marks.transform_filter("datum.area == 150"), **BELOW | {"dx": -4, "dy": 16}),
        label(marks.transform_filter("datum.area != 150"), **ABOVE | {"dy": -21}),
    ]
    caption = (
        f"At t = {show(path.switch_times[0])} the turning line meets region {new.number}, which"
        f" replaces region {old.number} as the base. Both thresholds now start from region"
        f" {new.number}, solid instead of dotted, and the line turns on about it from where it"
        " stood."
    )
    numbers: dict[str, Any] = {"from": old.number, "to": new.number, "at": path.switch_times[0]}
    if len(path.phases) > 2:
        caption += f" At t = {show(path.switch_times[1])} it meets region {path.regions[2]}."
        numbers |= {"then": list(path.phases[2].regions), "then at": path.switch_times[1]}
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    title = "When the base changes, so does what it reaches"
    return framed(chart, "switch", title, caption, numbers, columns=2)


def _dots(path: InformationPath, base: Base) -> Rows:
    angle = dict(zip(path.numbers, path.angles_radians, strict=True))
    return [
        {
            "sine": squared_sine(angle[pair.region]),
            "value": pair.ratio,
            "region": pair.region,
            "words": f"region {pair.region}",
            "angle": degrees(angle[pair.region]),
            "kind": APART if not pair.reachable else REACHED if pair.dual_reachable else ONLY,
            "r_star": pair.r_star,
            "r_dagger": pair.r_dagger,
            "meets": base.meeting(pair) if pair.reachable else None,
        }
        for pair in path.reachability
        if pair.base == base.number
    ]


def _ends(base: Base, turned: float, line: str) -> Rows:
    return [
        {"sine": s, "value": float(base.line(s, turned)), "line": line, "part": f"{turned:.9g}"}
        for s in (0.0, base.sine)
    ]


def _word(base: Base, turned: float, place: float, words: str) -> dict[str, Any]:
    sine = place * base.sine
    return {"sine": sine, "value": float(base.line(sine, turned)), "words": words}


def _turns(base: Base, regularization: float) -> Rows:
    """Return the line at evenly spaced slopes, for the slider."""
    rows: Rows = []
    left = float(base.line(0.0, base.limit)) - 1.0
    for step in range(1, TURNS + 1):
        turned = base.turned_to(1.0 + step / TURNS * left) if step < TURNS else base.limit
        time = "→ ∞" if step == TURNS else f"= {show(base.time(turned, regularization))}"
        rows += [row | {"step": step, "words": f"t {time}"} for row in _ends(base, turned, "")]
    return rows


def _spots(marks: Any) -> Any:
    """Return a mark per region, told apart by colour and by shape."""
    import altair as alt

    shades = {REACHED: RED, ONLY: PURPLE, APART: MUTED}
    look = {"orient": "bottom", "symbolSize": 110}
    scale = alt.Scale(domain=list(shades), range=["circle", "square", "cross"])
    return marks.mark_point(filled=True, size=120, opacity=1).encode(
        color=palette("kind", shades, **look),
        shape=alt.Shape("kind:N", sort=list(shades), scale=scale, legend=legend(**look)),
        tooltip=[
            alt.Tooltip("words:N", title="which"),
            alt.Tooltip("angle:N"),
            alt.Tooltip("kind:N", title="what happens"),
            alt.Tooltip("value:Q", title="ratio", format=".4~g"),
            alt.Tooltip("r_star:Q", title="r*", format=".4~g"),
            alt.Tooltip("r_dagger:Q", title="r†", format=".4~g"),
        ],
    )


def _pivot(base: Base, x: Any, y: Any) -> list[Any]:
    import altair as alt

    spot = {"sine": base.sine, "value": 1.0, "words": "base"}
    mark = alt.Chart(rows_of([spot])).encode(x=x, y=y)
    return [
        mark.mark_point(filled=True, size=140, color=INK, opacity=1),
        label(mark, dx=11),
    ]


def _apart(chart: Any) -> Any:
    """Return layers whose lines and marks have legends of their own."""
    alone = dict.fromkeys(("color", "strokeDash", "shape"), "independent")
    return chart.resolve_scale(**alone).properties(width=WIDTH, height=HEIGHT)
