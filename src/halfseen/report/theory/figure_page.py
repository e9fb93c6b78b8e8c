"""The figures of the theory as files: one page, and each as SVG and PNG."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from halfseen.censorship import MultiThreshold
from halfseen.report.core import drawing
from halfseen.report.core.document import document, main, top
from halfseen.report.core.markup import Html, chart_place, tag
from halfseen.report.theory.paper_figures import censorship_chart, dimension_chart
from halfseen.report.theory.reach_figures import (
    example,
    reachable_chart,
    switch_chart,
    thresholds_chart,
)
from halfseen.report.theory.worst_figures import potential_chart, regime_chart
from halfseen.studies.storage import explained, write_text
from halfseen.theory import information_path

Progress = Callable[[int, int, str], None]
TITLE = "The effective dimension under censorship, in seven figures"
LINKS = {
    "censorship": "Censorship",
    "dimension": "Two regions",
    "reachable": "What is reached",
    "thresholds": "What is kept",
    "switch": "A new base",
    "potential": "The worst case",
    "regimes": "One threshold",
}


def write_figures(folder: Path | str, progress: Progress | None = None) -> dict[str, Any]:
    """Write the paper's figures and two more, computed from default models.

    Parameters
    ----------
    folder
        Where to write ``figures.html``, which needs no network and no other file, and each figure
        as SVG and PNG.
    progress
        Called with the figures done, their number and the name of the next.

    Returns
    -------
    dict
        ``page``, the ``files`` written and the ``numbers`` of each figure.
    """
    folder = Path(folder)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    drawings = default_figures()
    specs = []
    for done, (name, draw) in enumerate(drawings.items()):
        if progress is not None:
            progress(done, 2 * len(drawings), f"computing {name}")
        specs.append(draw().to_dict())
    intro = (
        "Computed from the theory for models of a few regions. Point at a mark for its numbers."
        " Each figure is also next to this page, as SVG and PNG."
    )
    return write_page(folder / "figures.html", TITLE, intro, specs, LINKS, progress=progress)


def default_figures() -> dict[str, Callable[[], Any]]:
    """Return a function for each figure of the default models, in the order they are read."""
    path = information_path(example())
    angles = [math.radians(angle) for angle in (35, 61)]
    pair = information_path(MultiThreshold(angles, [1.0, 0.7, 0.35], example().direction))
    return {
        "censorship": censorship_chart,
        "dimension": lambda: dimension_chart(pair),
        "reachable": lambda: reachable_chart(path),
        "thresholds": lambda: thresholds_chart(path),
        "switch": lambda: switch_chart(path),
        "potential": lambda: potential_chart(example()),
        "regimes": lambda: regime_chart(path.dimension),
    }


def write_page(
    page: Path,
    title: str,
    intro: str,
    specs: Sequence[dict[str, Any]],
    links: Mapping[str, str],
    extra: Sequence[Html] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write charts as one page and each as SVG and PNG next to it.

    Parameters
    ----------
    page
        The page's path.
    title, intro
        Its heading and introduction.
    specs
        Charts as `framed` makes them, in Vega-Lite.
    links
        The navigation: titles of figures and sections by their anchors.
    extra
        Sections that follow the charts.
    progress
        Called before the figures are drawn.

    Returns
    -------
    dict
        ``page``, the ``files`` written and the ``numbers`` of each figure.
    """
    named = {spec["usermeta"]["name"]: spec for spec in specs}
    if progress is not None:
        progress(len(named), 2 * len(named), "drawing")
    failures = drawing.write_images(named, page.parent)
    body = [
        top("Theory, computed with halfseen", title, intro, links),
        main(tag("section", *_places(named, failures)), *extra),
    ]
    bare = {name: {k: v for k, v in spec.items() if k != "$schema"} for name, spec in named.items()}
    write_text(page, document(title, body, {"specs": bare, "data": {}}))
    drawn = [name for name in named if name not in failures]
    files = [str(page.parent / f"{name}.{kind}") for name in drawn for kind in ("svg", "png")]
    return {
        "page": str(page),
        "files": [str(page), *files],
        "numbers": {name: spec["usermeta"]["numbers"] for name, spec in named.items()},
    }


def _places(named: dict[str, dict[str, Any]], failures: dict[str, str]) -> Iterator[Html]:
    yield tag("noscript", tag("p", "The charts need JavaScript; see the SVG files."))
    for name, spec in named.items():
        words = (spec["title"]["text"], spec["usermeta"]["caption"], failures.get(name, ""))
        yield chart_place(name, *words)
