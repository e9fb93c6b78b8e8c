"""An information path as a page: its design over time, its phases and reachable regions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.report.core.markup import Html, table, tag
from halfseen.report.core.panels import FILL, INK, MUTED, PALETTE, Rows
from halfseen.report.core.scales import axis, decades
from halfseen.report.theory.figure_page import write_page
from halfseen.report.theory.framing import HALF, STROKE, dashes, framed, palette, rows_of
from halfseen.tables import show
from halfseen.theory import InformationPath

BLUE, RED = PALETTE[:2]
POINTS = 121  # points of a curve
LONGEST = 1e15  # later switches are not drawn
NARROW = 0.09  # share of the axis below which a phase has no room for its label
SHADES = {"across the direction, x": BLUE, "along it, y": RED}
PATTERNS = {"across the direction, x": [6, 3], "along it, y": [1, 0]}


def path_chart(
    path: InformationPath, name: str = "path", model: str = "", width: int = HALF
) -> Any:
    """Draw the design of an information path over time, and the ratio of its two numbers.

    Parameters
    ----------
    path
        The path.
    name
        The figure's file name, without the extension.
    model
        What the model is called, for the title.
    width
        Of each of the two panels, in pixels.

    Returns
    -------
    altair.HConcatChart
        Two panels: x and y, and y/x.

    Examples
    --------
    >>> from halfseen.censorship import MultiThreshold
    >>> from halfseen.theory import information_path
    >>> path = information_path(MultiThreshold([math.pi / 3], [1.0, 0.75], [0, 0, 1]))
    >>> path_chart(path).to_dict()["usermeta"]["numbers"]["regime"]
    'bi-region'
    """
    import altair as alt

    first, last = _span(path)
    kinks = [time for time in path.switch_times if first < time < last]
    times = np.unique(np.concatenate([np.geomspace(first, last, POINTS), kinks]))
    across, along = path.design(times)
    rows: Rows = [
        {"which": which, "time": float(t), "value": float(v)}
        for which, values in zip(SHADES, (across, along), strict=True)
        for t, v in zip(times, values, strict=True)
    ]
    ratio: Rows = [
        {"time": float(t), "value": float(v)} for t, v in zip(times, along / across, strict=True)
    ]
    x = alt.X(
        "time:Q",
        title="time, in rounds",
        scale=alt.Scale(type="log", domain=[first, last], nice=False),
        axis=axis(decades(first, last)),
    )
    band, words = _bands(path, first, last)
    low, high = min(across.min(), along.min()), 1.5 * max(across.max(), along.max())
    panels = []
    for data, title, look, marks in (
        (
            rows,
            "design",
            {
                "scale": alt.Scale(type="log", domain=[float(low), float(high)], nice=False),
                "axis": axis(decades(float(low), float(high))),
            },
            {
                "color": palette("which", SHADES, **STROKE),
                "strokeDash": dashes("which", PATTERNS, **STROKE),
            },
        ),
        (
            ratio,
            "y / x",
            {
                "scale": alt.Scale(
                    domain=[0.0, 1.15 * max(1.0, float((along / across).max()))], nice=False
                )
            },
            {"color": alt.value(INK)},
        ),
    ):
        y = alt.Y("value:Q", title=title, **look)
        told = [
            alt.Tooltip("time:Q", format=",.4~g"),
            alt.Tooltip("value:Q", title=title, format=",.4~g"),
        ]
        base = alt.Chart(rows_of(data)).encode(x=x, y=y)
        layers = [
            alt.Chart(rows_of(band))
            .mark_rect(opacity=0.3)
            .encode(x=x, x2="until:Q", color=alt.Color("shade:N", scale=None, legend=None)),
            base.mark_line(strokeWidth=2.5).encode(**marks),
            base.mark_point(size=140, opacity=0).encode(tooltip=told),
            alt.Chart(rows_of(words))
            .mark_text(color=MUTED, fontSize=12, baseline="top")
            .encode(x=x, y=alt.value(4), text="words:N"),
        ]
        panel = alt.layer(*layers).resolve_scale(color="independent", strokeDash="independent")
        panels.append(panel.properties(width=width, height=300))
    end = " and ".join(map(str, path.phases[-1].regions))
    worst = path.worst_case_dimension
    caption = (
        "The design across the direction of the censorship and along it, while the path plays the"
        f" regions numbered at the top. In the end it plays {end}. Effective dimension"
        f" {show(path.effective_dimension)}; d / p_min, the true worst case, is {show(worst)}."
    )
    numbers = {
        "regime": path.regime,
        "effective dimension": path.effective_dimension,
        "d / p_min": worst,
        "regions": list(path.regions),
        "switch times": list(path.switch_times),
    }
    title = f"The information path of {model}" if model else "The information path"
    chart = alt.hconcat(*panels, spacing=32)
    return framed(chart, name, title, caption, numbers, width=2 * width)


def write_paths(paths: Mapping[str, InformationPath], folder: Path | str) -> dict[str, Any]:
    """Write the pages, charts and tables of information paths.

    Parameters
    ----------
    paths
        The paths, by the name of their model.
    folder
        Where to write ``path.html`` and each chart as SVG and PNG.

    Returns
    -------
    dict
        ``page``, the ``files`` written and the ``numbers`` of each figure.
    """
    several = len(paths) > 1
    specs = [
        path_chart(path, f"path-{i + 1}" if several else "path", name if several else "").to_dict()
        for i, (name, path) in enumerate(paths.items())
    ]
    extra = [_section(i, *entry) for i, entry in enumerate(paths.items())]
    intro = (
        "The path of a policy that always plays the action with the largest gain per observation."
        " It is not the worst case, which grows with d / p_min. All of it assumes that whether a"
        " reward is seen does not depend on the reward."
    )
    names = list(paths)
    whose = f"{len(names)} censorships" if several else f"“{names[0]}”"
    links = {} if several else {"path": "The path"}
    links |= {_anchor(i): name if several else "Phases" for i, name in enumerate(names)}
    page = Path(folder) / "path.html"
    return write_page(page, f"The information path of {whose}", intro, specs, links, extra)


def _anchor(path: int) -> str:
    return f"phases-{path + 1}"


def _section(place: int, name: str, path: InformationPath) -> Html:
    phases = [
        (
            show(phase.start),
            "∞" if phase.end == math.inf else show(phase.end),
            " and ".join(map(str, phase.regions)),
            show(phase.x),
            show(phase.y),
        )
        for phase in path.phases
    ]
    content = [
        tag("h2", f"{name[:1].upper()}{name[1:]}"),
        tag("h3", "Phases"),
        table(
            ("from", "to", "region", "x", "y"),
            phases,
            words=(),
            label=f"Phases of {name}",
        ),
        tag("ol", *(tag("li", phase.reason) for phase in path.phases)),
    ]
    if path.reachability:
        reach = [
            (
                str(pair.base),
                str(pair.region),
                *(show(value) for value in (pair.ratio, pair.r_star, pair.r_dagger)),
                "yes" if pair.reachable else "no",
                "yes" if pair.dual_reachable else "no",
            )
            for pair in path.reachability
        ]
        content += [
            tag("h3", "Reachability"),
            table(
                ("base", "region", "p ratio", "r*", "r†", "reachable", "dual reachable"),
                reach,
                words=(),
                label=f"Reachability of {name}",
            ),
        ]
    return tag("section", *content, id=_anchor(place))


def _span(path: InformationPath) -> tuple[float, float]:
    """Return the first and last time drawn."""
    shown = [time for time in path.switch_times if 0.0 < time < LONGEST]
    pace = path.regularization / path.observe[-1]
    return (shown[0] / 30.0, 30.0 * shown[-1]) if shown else (0.1 * pace, 1000.0 * pace)


def _bands(path: InformationPath, first: float, last: float) -> tuple[Rows, Rows]:
    """Return a band for every other phase, and labels for those that have room."""
    band: Rows = []
    words: Rows = []
    for place, phase in enumerate(path.phases):
        start, end = max(phase.start, first), min(phase.end, last)
        if start >= end:
            continue
        shade = FILL if place % 2 else "transparent"
        band.append({"time": start, "until": end, "shade": shade})
        if math.log(end / start) > NARROW * math.log(last / first):
            middle = math.exp(0.5 * (math.log(start) + math.log(end)))
            words.append({"time": middle, "words": " and ".join(map(str, phase.regions))})
    return band, words
