"""The paper's pictures of the model: censorship along a direction, dimension against a ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from halfseen.censorship import MultiThreshold, staircase
from halfseen.censorship.link_models import LinkedCensorship, Logistic
from halfseen.checks import Vector
from halfseen.errors import InvalidInput
from halfseen.report.core.panels import INK, MUTED, PALETTE, Rows
from halfseen.report.theory.framing import (
    HALF,
    HEIGHT,
    STROKE,
    WIDTH,
    dashes,
    framed,
    label,
    palette,
    rows_of,
)
from halfseen.tables import show
from halfseen.theory import (
    InformationPath,
    bi_region_dimension,
    dual_reachability_threshold,
    reachability_threshold,
    smallest_bi_region_dimension,
)
from halfseen.theory.linear.reachability import Reachability, two_region_dimension
from halfseen.theory.linear.turning import base_of

BLUE, RED, GREEN, PURPLE, ORANGE = PALETTE[:5]
POINTS = 241  # points of a curve
SMOOTH = 81  # of a smooth censorship
OVER = 1.35  # the top of the dimension's chart, in units of d


def example_steps() -> MultiThreshold:
    """Return the default multi-threshold model, with k = 2 thresholds as in the paper's figure."""
    return MultiThreshold([math.radians(20), math.radians(55)], [0.9, 0.6, 0.25], [0, 0, 1])


def example_smooth() -> Logistic:
    """Return the default smooth model."""
    return Logistic([0, 0, 1], slope=-3.0, offset=0.8)


def censorship_chart(
    steps: MultiThreshold | None = None,
    smooth: LinkedCensorship | None = None,
    regions: int = 6,
) -> Any:
    """Draw a multi-threshold and a smooth censorship along their direction.

    Parameters
    ----------
    steps
        The multi-threshold model; left out, one with two thresholds.
    smooth
        The smooth model; left out, a logistic one.
    regions
        Number of steps of the staircase drawn over the smooth model.

    Returns
    -------
    altair.HConcatChart
        Two panels.

    Examples
    --------
    >>> censorship_chart().to_dict()["usermeta"]["numbers"]["staircase error"] < 0.1
    True
    """
    import altair as alt

    steps, smooth = steps or example_steps(), smooth or example_smooth()
    stairs, error = staircase(smooth, regions)
    flipped = stairs.direction != smooth.direction
    names = ("multi-threshold", "smooth", "staircase")
    shades = dict(zip(names, (GREEN, RED, BLUE), strict=True))
    dash = dict(zip(names, ([1, 0], [1, 0], [5, 3]), strict=True))
    panels = []
    for drawn, title in (
        ({"multi-threshold": (steps, False)}, "Multi-threshold: a few steps"),
        (
            {"smooth": (smooth, False), "staircase": (stairs, flipped)},
            f"{_name(smooth)}, and its staircase of {len(stairs.observe)} steps",
        ),
    ):
        rows: Rows = []
        for name, (model, turned) in drawn.items():
            found = model.along_direction(SMOOTH)
            assert found is not None
            along, chance = found
            along = -along if turned else along
            rows += [
                {"model": name, "along": float(s), "chance": float(p), "step": i}
                for i, (s, p) in enumerate(zip(along, chance, strict=True))
            ]
        line = alt.Chart(rows_of(rows)).encode(
            x=alt.X(
                "along:Q",
                title="a · u: how far an action points along u",
                scale=alt.Scale(domain=[-1, 1], nice=False),
                axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1]),
            ),
            y=alt.Y(
                "chance:Q",
                title="chance of being seen",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
            ),
            color=palette("model", shades, **STROKE),
            strokeDash=dashes("model", dash, **STROKE),
            order="step:Q",
            detail="model:N",
            tooltip=[
                alt.Tooltip("model:N"),
                alt.Tooltip("along:Q", title="a · u", format=".3~f"),
                alt.Tooltip("chance:Q", title="chance of being seen", format=".3~p"),
            ],
        )
        heading = alt.TitleParams(title, fontSize=13, fontWeight=600, offset=8)
        panels.append(line.mark_line(strokeWidth=2.5).properties(width=HALF, title=heading))
    caption = (
        "How likely a reward is to be seen, by how far the action points along the direction u."
        " Left: the paper’s model, in which feedback becomes rarer in steps. Right: a smooth model"
        f" and the steps that approximate it, with an error of at most {show(error)}."
    )
    numbers = {
        "observe": list(steps.observe),
        "thresholds in degrees": [math.degrees(angle) for angle in steps.threshold_radians],
        "staircase steps": len(stairs.observe),
        "staircase error": error,
    }
    title = "Censorship along a direction"
    return framed(
        alt.hconcat(*panels, spacing=32), "censorship", title, caption, numbers, width=2 * HALF
    )


def _name(smooth: LinkedCensorship) -> str:
    link = str(getattr(smooth, "link", "logistic"))
    return {"logistic": "Logistic", "logit": "Logistic"}.get(link, link.capitalize())


def dimension_chart(path: InformationPath, region: int | None = None) -> Any:
    """Draw the effective dimension of two regions against the ratio of their probabilities.

    Parameters
    ----------
    path
        The information path of a model with two regions or more; its most censored is the base.
    region
        Number of the other region; left out, the nearest below the base that is not at the
        equator, where there is one.

    Returns
    -------
    altair.LayerChart
        One panel.
    """
    import altair as alt

    pair = _pair(path, region)
    u, l, d = pair.u, pair.l, path.dimension  # noqa: E741
    r_star = reachability_threshold(u, l, d)
    r_dagger = dual_reachability_threshold(u, l, d)
    least = smallest_bi_region_dimension(u, l, d)
    begin, end, top = max(1.0, r_dagger), min(u * 1.08, 1.0 + 1.45 * (r_star - 1.0)), OVER * d
    names = (
        f"only region {pair.region} in the end",
        "both regions",
        f"only the base, region {pair.base}",
    )
    shades = dict(zip(names, (PURPLE, ORANGE, BLUE), strict=True))
    stretches = ((1.0, r_dagger), (begin, r_star), (r_star, max(end, r_star)))
    rows = _stretches(pair, d, dict(zip(names, stretches, strict=True)))
    ghost = _formula(pair, d, np.linspace(1.0, min(end, u), POINTS)[1:-1])
    ghost = [row for row in ghost if row["value"] <= top and not begin <= row["ratio"] <= r_star]
    for row in ghost:
        row["side"] = int(row["ratio"] > r_star)
    x = alt.X(
        "ratio:Q",
        title=f"p of region {pair.region} / p of the base",
        scale=alt.Scale(domain=[1.0, end], nice=False),
        axis=alt.Axis(tickCount=6),
    )
    y = alt.Y(
        "value:Q",
        title="effective dimension × p of the base",
        scale=alt.Scale(domain=[0.0, top], nice=False),
    )
    words = f"smallest: {show(least.dimension)} at {show(least.ratio)}"
    marks = [{"ratio": least.ratio, "value": least.dimension, "words": words}]
    cuts = [{"ratio": r_star, "value": 0.09 * top, "words": f"r* = {show(r_star)}"}]
    if r_dagger > 1.0:
        cuts.append({"ratio": r_dagger, "value": 0.09 * top, "words": f"r† = {show(r_dagger)}"})
    value = bi_region_dimension(u, l, pair.ratio, d)
    here = [{"ratio": pair.ratio, "value": value, "words": f"this model: {show(pair.ratio)}"}]
    told = [
        alt.Tooltip("part:N", title="in the end"),
        alt.Tooltip("ratio:Q", format=".4~g"),
        alt.Tooltip("value:Q", title="dimension × p", format=".4~g"),
    ]
    rule = alt.Chart(rows_of(cuts)).encode(x=x)
    least_mark = alt.Chart(rows_of(marks)).encode(x=x, y=y)
    here_mark = alt.Chart(rows_of(here)).encode(x=x, y=y)
    layers = [
        alt.Chart(rows_of([{"ratio": begin, "until": r_star, "value": 0.0}]))
        .mark_rule(strokeWidth=9, color=ORANGE)
        .encode(x=x, x2="until:Q", y=y),
        alt.Chart(rows_of(ghost))
        .mark_line(color=MUTED, strokeDash=[2, 3], strokeWidth=1.3)
        .encode(x=x, y=y, detail="side:N"),
        rule.mark_rule(color=MUTED, strokeDash=[5, 3]),
        label(rule.encode(y=y), dx=6),
        alt.Chart(rows_of(rows))
        .mark_line(strokeWidth=3)
        .encode(x=x, y=y, color=palette("part", shades, **STROKE), tooltip=told),
        least_mark.mark_point(filled=True, size=90, color=INK, opacity=1),
        label(least_mark, align="center", dx=0, dy=18),
    ]
    ends_here = set(path.phases[-1].regions) <= {pair.base, pair.region}
    if ends_here and 0.05 * (end - 1.0) < abs(pair.ratio - least.ratio) and pair.ratio <= end:
        layers += [
            here_mark.mark_point(
                shape="diamond", filled=False, size=120, color=INK, strokeWidth=2, opacity=1
            ),
            label(here_mark, align="right", dx=-8, dy=-9),
        ]
    caption = (
        f"The growth of the information path on two regions in {d} dimensions, times p of the base,"
        " as the other region is seen more often. Orange along the axis: the ratios between r† and"
        " r* at which both are played for ever. There the dimension falls to"
        f" {show(least.dimension)} and rises again to {d}. Dotted: the two-region formula where it"
        " does not hold."
    )
    numbers = {
        "u": u,
        "l": l,
        "dimension": d,
        "r_star": r_star,
        "r_dagger": r_dagger,
        "smallest": least.dimension,
        "smallest at": least.ratio,
        "ratio": pair.ratio,
        "value": here[0]["value"],
        "the path ends there": ends_here,
    }
    title = "The effective dimension is smallest at a ratio in between"
    return framed(
        alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        "dimension",
        title,
        caption,
        numbers,
    )


def _stretches(pair: Reachability, d: int, parts: dict[str, tuple[float, float]]) -> Rows:
    """Return the effective dimension over named intervals of ratios; none of an empty one."""
    rows: Rows = []
    for name, (low, high) in parts.items():
        if low < high:
            ratios = np.linspace(low, high, POINTS)
            values = bi_region_dimension(pair.u, pair.l, ratios, d)
            rows += [
                {"part": name, "ratio": float(r), "value": float(v)}
                for r, v in zip(ratios, values, strict=True)
            ]
    return rows


def _formula(pair: Reachability, d: int, ratios: Vector) -> Rows:
    """Return the two-region formula, also at ratios where it does not hold."""
    values = two_region_dimension(pair.u, pair.l, ratios, d)
    return [{"ratio": float(r), "value": float(v)} for r, v in zip(ratios, values, strict=True)]


def _pair(path: InformationPath, region: int | None) -> Reachability:
    base = base_of(path, path.numbers[-1])
    pairs = {pair.region: pair for pair in path.reachability if pair.base == base.number}
    if region is None:
        return next((pair for pair in reversed(pairs.values()) if pair.l > 0.0), pairs[min(pairs)])
    if region not in pairs:
        raise InvalidInput(
            "region", f"must be one of {', '.join(map(str, pairs))}", region, "Choose one of those."
        )
    return pairs[region]
