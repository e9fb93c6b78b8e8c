"""Loops declared in a file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from halfseen.errors import InvalidInput
from halfseen.service.loop_config import LoopConfig, loop_config
from halfseen.studies.spec import parsed_toml, spec_text

DEMO = "demo"  # the name of the file that comes with halfseen


def read_loops(path: str | Path) -> list[LoopConfig]:
    """Return the loops that a TOML file declares, each as a table ``[loops.NAME]``.

    >>> [loop.name for loop in read_loops("demo")]
    ['demo']
    """
    if str(path) == DEMO:
        text = files("halfseen.service").joinpath("demo_loops.toml").read_text(encoding="utf-8")
    else:
        text = spec_text(path, "--loops")
    return parse_loops(text)


def parse_loops(text: str) -> list[LoopConfig]:
    """Return the loops that a text in TOML declares."""
    content = parsed_toml(text, "--loops")
    loops: Any = content.get("loops")
    if set(content) != {"loops"} or not isinstance(loops, dict) or not loops:
        raise InvalidInput(
            "--loops",
            "must hold a table [loops.NAME] for each loop and nothing else",
            sorted(content),
            "Write for example [loops.offers].",
        )
    return [_loop(name, settings) for name, settings in loops.items()]


def _loop(name: str, settings: Any) -> LoopConfig:
    if not isinstance(settings, dict):
        raise InvalidInput(f"loops.{name}", "must be a table", settings, f"Write [loops.{name}].")
    try:
        return loop_config({"name": name, **settings})
    except InvalidInput as error:
        field = f"loops.{name}.{error.field}"
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None
