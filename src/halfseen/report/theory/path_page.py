"""Information paths as a page: their charts, their phases and what they can reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halfseen.report.core.markup import Html, table, tag
from halfseen.report.theory.figure_page import write_page
from halfseen.report.theory.path_charts import path_chart
from halfseen.tables import show
from halfseen.theory import InformationPath


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
