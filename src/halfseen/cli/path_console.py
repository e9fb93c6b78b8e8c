"""What `halfseen path` and `halfseen figures` read and print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen import checks
from halfseen.cli.console import progress_bar
from halfseen.cli.streams import answer_first, print_json
from halfseen.errors import InvalidInput

if TYPE_CHECKING:
    from halfseen.studies.study import Study

LARGEST_DIMENSION = 100_000
EXAMPLE = "the example of halfseen figures"


def models_in(study: Study) -> dict[str, Any]:
    """Return the censorships of a study that act along a direction."""
    found = {name: c for name, c in study.censorships.items() if hasattr(c, "direction")}
    if not found:
        kinds = sorted({str(c.kind) for c in study.censorships.values()})
        raise InvalidInput(
            "SPEC",
            "must have a censorship along a direction",
            f"only {', '.join(kinds)}",
            "Add one of kind multi-threshold, logistic or link, or give --threshold-radians and"
            " --observe instead of a spec.",
        )
    return found


def model_from(
    thresholds: list[float] | None, observe: list[float] | None, dimension: int | None
) -> dict[str, Any]:
    """Return the model given by angles and probabilities, or the example."""
    from halfseen.censorship import MultiThreshold

    d = None
    if dimension is not None:
        d = checks.whole("--dimension", dimension, at_least=1, at_most=LARGEST_DIMENSION)
    if thresholds is None and observe is None:
        from halfseen.report.theory.reach_figures import example

        model = example()
        if d is not None:
            model = MultiThreshold(model.threshold_radians, model.observe, _last_axis(d))
        return {EXAMPLE: model}
    if observe is None:
        raise InvalidInput(
            "--observe",
            "must be given with --threshold-radians",
            "nothing",
            "Write one probability per region, as --threshold-radians 0.7,1.3 --observe 1,0.5,0.4.",
        )
    try:
        model = MultiThreshold(thresholds or [], observe, _last_axis(3 if d is None else d))
    except InvalidInput as error:
        field = error.field.replace("MultiThreshold.", "--").replace("_", "-")
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None
    return {"the model": model}


def print_paths(
    models: dict[str, Any],
    dimension: int | None,
    regularization: float,
    regions: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Print the information path of each model and draw it if asked."""
    from halfseen.theory import information_path

    paths = {
        name: information_path(model, dimension, regularization=regularization, regions=regions)
        for name, model in models.items()
    }
    files: list[str] = []

    def write() -> Path | None:
        from halfseen.report.theory.path_page import write_paths

        if out is None:
            return None
        written = write_paths(paths, out)
        files.extend(written["files"])
        return Path(written["page"])

    def content(_: Path | None) -> dict[str, Any]:
        told = [{"model": name} | path.to_dict() for name, path in paths.items()]
        return {"paths": told, "files": files}

    def text() -> None:
        for name, path in paths.items():
            print(f"{name}: {path}\n")

    page = answer_first(text, content, as_json, write)
    if page is not None and not as_json:
        print(f"Written: {page}")


def print_figures(out: Path, as_json: bool) -> None:
    """Write all figures and print where they are."""
    from halfseen.report.theory.figure_page import write_figures

    with progress_bar() as progress:
        written = write_figures(out, progress)
    if as_json:
        print_json(written)
        return
    for path in written["files"]:
        print(path)
    print(f"Open {written['page']} in a browser.", file=sys.stderr)


def _last_axis(dimension: int) -> list[float]:
    return [0.0] * (dimension - 1) + [1.0]
