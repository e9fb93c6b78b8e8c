"""Charts as images, and the JavaScript that draws them in a page, from a separate process.

If drawing fails, a sentence replaces the chart and the report is still written.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from halfseen.errors import one_line
from halfseen.report.core.panels import Figure
from halfseen.studies.storage import explained, write_bytes, write_text

WORKER = Path(__file__).with_name("draw_worker.py")
SNIPPET = "window.vegaEmbed = vegaEmbed;"
PATIENCE = 300.0  # seconds for all charts of a page


class Picture(NamedTuple):
    """A chart as SVG and PNG."""

    svg: str
    png: bytes


@dataclass(frozen=True)
class Drawn:
    """Charts as pictures, or the reasons why they could not be drawn, by name."""

    pictures: dict[str, Picture]
    failures: dict[str, str]


def draw(charts: Mapping[str, dict[str, Any]]) -> Drawn:
    """Draw charts independently: one that fails or crashes the process affects no other.

    Parameters
    ----------
    charts
        Vega-Lite with the data inside, by name.
    """
    pictures: dict[str, Picture] = {}
    failures: dict[str, str] = {}
    left = list(charts)
    while left:
        asked = {"charts": [charts[name] for name in left], "version": version()}
        answers, trouble = _ask(asked)
        for name, answer in zip(left, answers, strict=False):
            if "error" in answer:
                failures[name] = _sentence(answer["error"])
            else:
                pictures[name] = Picture(answer["svg"], base64.b64decode(answer["png"]))
        left = left[len(answers) :]
        if left and not answers:  # the first chart crashed the process; the next might not
            failures[left.pop(0)] = trouble
            if not pictures:  # nor was any drawn before
                failures |= dict.fromkeys(left, trouble)
                break
    return Drawn(pictures, failures)


def drawing_code() -> str:
    """Return the JavaScript that draws charts, in which no text ends the script element.

    Empty where it could not be made, with a warning that says why.
    """
    code, trouble = _code()
    if not code:
        _code.cache_clear()
        warnings.warn(f"The page shows no charts: {trouble}", RuntimeWarning, stacklevel=2)
    return code


@cache
def _code() -> tuple[str, str]:
    answers, trouble = _ask({"snippet": SNIPPET, "version": version()})
    code: str = answers[0]["code"] if answers else ""
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--"), trouble


def with_images(figures: Sequence[Figure], folder: Path) -> list[Figure]:
    """Write charts as SVG and PNG; return them with a sentence where that failed."""
    failures = write_images({f.name: f.still for f in figures if f.spec}, folder)
    return [
        replace(figure, trouble=failures[figure.name]) if figure.name in failures else figure
        for figure in figures
    ]


def write_images(charts: Mapping[str, dict[str, Any]], folder: Path) -> dict[str, str]:
    """Write charts as SVG and PNG; return a sentence for each that failed.

    Parameters
    ----------
    charts
        Vega-Lite with the data inside, by the name of the files.
    folder
        Where to write them.
    """
    meanwhile = threading.Thread(target=_code)  # the page needs it next
    meanwhile.start()
    drawn = draw(charts)
    meanwhile.join()
    for name, picture in drawn.pictures.items():
        write_text(folder / f"{name}.svg", picture.svg)
        write_bytes(folder / f"{name}.png", picture.png)
    for name in drawn.failures:
        with explained(folder):
            for kind in ("svg", "png"):  # an older picture would show other numbers
                (folder / f"{name}.{kind}").unlink(missing_ok=True)
    tell(drawn.failures)
    return {
        name: f"There is no SVG or PNG of this chart: {reason}"
        for name, reason in drawn.failures.items()
    }


def attempt(name: str, title: str, make: Callable[[], list[Figure]]) -> list[Figure]:
    """Return charts, or a placeholder that says why they could not be drawn.

    With ``HALFSEEN_DEBUG`` set the error is raised instead.
    """
    try:
        return make()
    except Exception as error:
        if os.environ.get("HALFSEEN_DEBUG"):
            raise
        reason = _sentence(f"{type(error).__name__}: {error}")
        tell({name: reason})
        return [Figure(name, title, "", {}, name, [], f"This chart could not be drawn: {reason}")]


def tell(failures: Mapping[str, str]) -> None:
    """Warn of charts that could not be drawn."""
    if failures:
        names, reason = ", ".join(failures), next(iter(failures.values()))
        what = f"The chart {names}" if len(failures) == 1 else f"{len(failures)} charts ({names})"
        warnings.warn(f"{what} could not be drawn: {reason}", RuntimeWarning, stacklevel=3)


def version() -> str:
    """Return the Vega-Lite version the charts are written in, as vl-convert wants it."""
    import altair as alt

    return str(alt.SCHEMA_VERSION).rpartition(".")[0]


def _ask(asked: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """Return the worker's answers, and why there are not more of them."""
    known = os.pathsep.join(path for path in sys.path if path)
    trouble = ""
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(WORKER)],
            input=json.dumps(asked).encode(),
            capture_output=True,
            env=os.environ | {"PYTHONPATH": known},
            timeout=PATIENCE,
        )
        said = done.stdout
        if done.returncode:
            lines = done.stderr.decode(errors="replace").splitlines()
            words = [line for line in lines if line.strip(" #=")] or ["it ended without a message"]
            fatal = next((line for line in words if "Fatal" in line), words[-1])
            trouble = f"the process that draws ended early ({fatal.strip('# ')})"
    except subprocess.TimeoutExpired as error:
        said, trouble = error.stdout or b"", f"drawing took more than {PATIENCE:g} seconds"
    except OSError as error:
        said, trouble = b"", f"the process that draws did not start ({error.strerror})"
    answers = [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]
    return answers, _sentence(trouble)


def _sentence(reason: str) -> str:
    first = next((line for line in reason.splitlines() if line.strip()), "no reason was given")
    return one_line(first.strip()[:200]).rstrip(".") + "."
