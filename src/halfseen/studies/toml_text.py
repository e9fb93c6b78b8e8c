"""Studies written as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput

if TYPE_CHECKING:
    from halfseen.studies.study import Study


def to_toml(study: Study, sweep: tuple[str, Sequence[float]] | None = None) -> str:
    """Write a study as TOML, with the number it is swept over and its values if there is one."""
    for place, function in study.functions.items():
        raise InvalidInput(
            place,
            "must be described by numbers to be written as TOML",
            function,
            "Give the function's values: PerAction, or SequenceOfActions of sampled rounds.",
        )
    lines = []
    for key, value in study.to_dict().items():
        if not isinstance(value, dict):
            lines.append(f"{key} = {_toml(value)}")
            continue
        for name, table in value.items():
            lines += ["", f"[{key}.{_toml(name)}]"]
            lines += [f"{entry} = {_toml(content)}" for entry, content in table.items()]
    if sweep is not None:
        number, values = sweep
        lines += ["", "[sweep]", f"number = {_toml(number)}", f"values = {_toml(list(values))}"]
    return "\n".join(lines) + "\n"


def _toml_key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _toml(key)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return "[" + ", ".join(_toml(entry) for entry in value) + "]"
    if isinstance(value, dict):
        entries = (f"{_toml_key(key)} = {_toml(entry)}" for key, entry in value.items())
        return "{ " + ", ".join(entries) + " }"
    return repr(value)
