"""Figures not in the paper: its dimension next to the true worst case."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from halfseen import checks, theory
from halfseen.report.core.panels import INK, PALETTE, Rows
from halfseen.report.core.scales import axis, decades, rounded
from halfseen.report.theory.framing import HEIGHT, STROKE, WIDTH, dashes, framed, palette, rows_of
from halfseen.tables import show
from halfseen.theory.linear import one_threshold, ways_to_play
from halfseen.theory.linear.path import SINGLE

ROUNDS = 61  # horizons at which potentials are computed
OPTIMUM, PURE = "largest possible", "most censored region only"
PATH, WIDEST = "information path (the paper’s)", "least known direction (myopic)"
SHADES = dict(zip((OPTIMUM, PURE, PATH, WIDEST), (INK, *PALETTE[:3]), strict=True))
DASHES = dict(zip(SHADES, ([1, 0], [7, 3], [1, 0], [2, 3]), strict=True))
ANGLES, RATIOS = 90, 22  # cells of the map
LAP = 0.3  # overlap of neighbouring cells, so that no seam shows


def potential_chart(
    censorship: Any,
    dimension: int | None = None,
    regularization: float = 1.0,
    *,
    horizon: float = 1e6,
) -> Any:
    """Draw the potential of four ways to play against the logarithm of the horizon.

    Parameters
    ----------
    censorship
        A `MultiThreshold`, `Uniform`, `Population`, `Logistic` or `LinkModel`.
    dimension
        Number of coordinates of an action; left out, the length of the censorship's direction.
    regularization
        The paper's lambda.
    horizon
        The largest number of rounds.

    Returns
    -------
    altair.LayerChart
        One panel.
    """
    import altair as alt

    last = checks.number("horizon", horizon, at_least=10.0, fix="Use for example 1e6.")
    path = theory.information_path(censorship, dimension, regularization=regularization)
    horizons = np.geomspace(1.0, last, ROUNDS)
    found = dict(zip(SHADES, ways_to_play.potentials(path, censorship, horizons), strict=True))
    slopes = dict(zip(SHADES, ways_to_play.slopes(path, censorship), strict=True))
    worst = slopes[OPTIMUM]
    names = {name: f"{name}: slope {show(slope)}" for name, slope in slopes.items()}
    rows: Rows = [
        {
            "way": names[name],
            "horizon": float(t),
            "value": float(v),
            "slope": slopes[name],
            "behind": float(o - v),
        }
        for name, values in found.items()
        for t, v, o in zip(horizons, values, found[OPTIMUM], strict=True)
    ]
    x = alt.X(
        "horizon:Q",
        title="number of rounds T",
        scale=alt.Scale(type="log", domain=[1, last], nice=False),
        axis=axis(decades(1, last)),
    )
    top = 1.04 * float(found[OPTIMUM][-1])
    y = alt.Y("value:Q", title="potential J(T)", scale=alt.Scale(domain=[0, top], nice=False))
    pick = alt.selection_point(name="chosen", fields=["way"], bind="legend")
    colour = palette("way", {names[k]: v for k, v in SHADES.items()}, **STROKE)
    base = alt.Chart(rows_of(rows)).encode(x=x, y=y)
    line = base.mark_line(strokeWidth=2.5).encode(
        color=colour,
        strokeDash=dashes("way", {names[k]: v for k, v in DASHES.items()}, **STROKE),
        opacity=alt.condition(pick, alt.value(1.0), alt.value(0.15)),
    )
    hint = base.mark_point(size=140, opacity=0).encode(
        tooltip=[
            alt.Tooltip("way:N", title="way to play"),
            alt.Tooltip("horizon:Q", title="rounds", format=",.3~s"),
            alt.Tooltip("value:Q", title="J", format=".4~g"),
            alt.Tooltip("behind:Q", title="behind the largest", format=".4~g"),
        ]
    )
    caption = (
        f"The potential in {path.dimension} dimensions. On this scale each way to play ends on a"
        " straight line. The paper calls the slope of the information path,"
        f" {show(path.effective_dimension)}, the largest. Staying in the most censored region alone"
        f" grows faster, with d / p_min = {show(worst)}, and the true largest keeps a constant lead"
        " over it."
    )
    gap = float(found[OPTIMUM][-1] - found[PURE][-1])
    numbers: dict[str, Any] = {
        "horizon": last,
        "slopes": slopes,
        "lead over the most censored region": gap,
        "potential": {name: float(values[-1]) for name, values in found.items()},
    }
    if worst <= path.effective_dimension * (1.0 + 1e-9):
        caption = (
            f"The potential in {path.dimension} dimensions. In this model"
            f" the information path grows with d / p_min = {show(worst)}, as fast as any."
        )
    chart = alt.layer(line.add_params(pick), hint).properties(width=WIDTH, height=HEIGHT)
    title = "The paper’s path is not the worst case"
    if worst <= path.effective_dimension * (1.0 + 1e-9):
        title = "Here the paper’s path grows like the worst case"
    return framed(chart, "potential", title, caption, numbers, columns=2)


def regime_chart(dimension: int = 6, *, largest_ratio: float = 10.0) -> Any:
    """Draw a map of all models with one threshold: regime, and dimension over d / p_min.

    Parameters
    ----------
    dimension
        Number of coordinates of an action, at least 2.
    largest_ratio
        The largest ratio of the probabilities below and above the threshold.

    Returns
    -------
    altair.LayerChart
        One panel.
    """
    import altair as alt

    d = checks.whole("dimension", dimension, at_least=2)
    most = checks.number("largest_ratio", largest_ratio, above=1.0, fix="Use 10.")
    cells, border = regime_rows(d, most)
    x = alt.X(
        "angle:Q",
        title="threshold, degrees above the equator",
        scale=alt.Scale(domain=[0, 90], nice=False),
        axis=alt.Axis(values=[0, 15, 30, 45, 60, 75, 90], grid=False),
    )
    y = alt.Y(
        "ratio:Q",
        title="p below the threshold / p above it",
        scale=alt.Scale(type="log", domain=[1, most], nice=False),
        axis=alt.Axis(values=decades(1, most), labelExpr="format(datum.value, '~g')", grid=False),
    )
    scale = alt.Scale(domain=[0.2, 1.0], scheme="cividis", clamp=True)
    bar = alt.Legend(
        title="dimension of the path / (d / p_min)",
        orient="top",
        direction="horizontal",
        gradientLength=320,
        titleFontWeight="normal",
        titleFontSize=12,
        titleLimit=400,
        titleColor=INK,
    )
    told = [
        alt.Tooltip("regime:N", title="in the end"),
        alt.Tooltip("share:Q", title="share of d / p_min", format=".3f"),
    ]
    whole = [{"angle": 0, "angle2": 90, "ratio": 1, "ratio2": most, "share": 1, "regime": SINGLE}]
    colour = alt.Color("share:Q", scale=scale, legend=bar)
    sides = {"x": x, "x2": "angle2:Q", "y": y, "y2": "ratio2:Q"}
    ground = alt.Chart(rows_of(whole)).mark_rect().encode(**sides, color=colour, tooltip=told)
    heat = (
        alt.Chart(rows_of(cells))
        .mark_rect(clip=True, aria=False)
        .encode(
            **sides,
            color=colour,
            tooltip=[
                alt.Tooltip("centre:Q", title="threshold, degrees", format=".1f"),
                alt.Tooltip("middle:Q", title="ratio of p", format=".3~g"),
                *told,
            ],
        )
    )
    even = math.degrees(one_threshold.even_angle(d))
    edge = alt.Chart(rows_of(border)).mark_line(color="#ffffff", strokeWidth=3)
    wall = alt.Chart(rows_of([{"angle": even}])).mark_rule(
        color="#ffffff", strokeWidth=2, strokeDash=[5, 4]
    )
    words = [
        (even / 2, most**0.5, ["one region,", "kept even"], "#111111"),
        (0.5 * (even + border[-1]["angle"]), most**0.85, ["one region"], "#111111"),
        (76.0, most**0.45, ["two regions"], "#ffffff"),
    ]
    text = [
        alt.Chart(rows_of([{"angle": angle, "ratio": ratio}]))
        .mark_text(text=lines, color=shade, fontSize=13, fontWeight=600)
        .encode(x=x, y=y)
        for angle, ratio, lines, shade in words
    ]
    least = min(cells, key=lambda cell: cell["share"])
    caption = (
        f"Every model with one threshold in {d} dimensions. Bright, outside the white line: one"
        " region is played in the end and the path grows with d / p_min, the true worst case; left"
        " of the dashed line that region keeps all directions equally known. Inside, where the"
        " threshold is high and the other region is not seen too often, the path plays two regions"
        f" and grows slower, down to {show(least['share'])} of it on this map."
    )
    numbers = {
        "dimension": d,
        "evenly up to degrees": even,
        "smallest share": least["share"],
        "at degrees": least["centre"],
        "at ratio": least["middle"],
    }
    chart = alt.layer(
        ground, heat, edge.encode(x=x, y=y, order="step:Q"), wall.encode(x=x), *text
    ).properties(width=WIDTH, height=HEIGHT)
    title = "Where the paper’s dimension falls short of the worst case"
    return framed(chart, "regimes", title, caption, numbers)


def regime_rows(d: int, most: float) -> tuple[Rows, Rows]:
    """Return cells that fill the bi-region regime, and its border."""
    even = one_threshold.even_angle(d)
    edges = np.linspace(even, math.pi / 2, ANGLES + 1)
    cells: Rows = []
    border: Rows = [{"angle": math.degrees(even), "ratio": 1.0}]
    for low, high in pairwise(edges.tolist()):
        centre = 0.5 * (low + high)
        star = one_threshold.largest_ratio(centre, d)
        if star < most:
            border.append({"angle": math.degrees(centre), "ratio": star})
        for near, far in pairwise(np.geomspace(1.0, min(star, most), RATIOS + 1).tolist()):
            middle = math.sqrt(near * far)
            path = one_threshold.path_of(centre, middle, d)
            values = {
                "angle": math.degrees(low),
                "angle2": math.degrees(high) + LAP,
                "ratio": near,
                "ratio2": far + LAP * (far - near) * (far < star),
                "centre": math.degrees(centre),
                "middle": middle,
                "share": path.effective_dimension / (d * middle),
            }
            row = {key: rounded(value, 6) for key, value in values.items()}
            cells.append(row | {"regime": path.regime})
    last = math.degrees(one_threshold.largest_ratio_at(most, d))
    border.append({"angle": last, "ratio": most})
    return cells, [row | {"step": step} for step, row in enumerate(border)]
