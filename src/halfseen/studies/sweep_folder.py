"""The folder of a sweep: a file that names what is varied, and a folder per value."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from halfseen.errors import InvalidInput, StorageError
from halfseen.studies.storage import (
    explained,
    is_marked,
    read_json,
    readable,
    sealed,
    write_text,
)
from halfseen.studies.study import Study
from halfseen.studies.toml_text import to_toml

SWEEP_FILE = "sweep.json"
PAGE, SPEC, CHARTS = "report.html", "spec.toml", "charts"
OF_PAGE = (f"{CHARTS}/sweep.svg", f"{CHARTS}/sweep.png", "summary.csv")
PLAIN = re.compile(r"\w[\w.,=+ -]{0,59}")  # at most 240 bytes; systems allow 255


class Stored(NamedTuple):
    """What the file of a sweep holds.

    Attributes
    ----------
    number, values
        What was varied, and over which values.
    study
        The study at the first value, as a dictionary.
    """

    number: str
    values: list[float]
    study: dict[str, Any]


def value_folder(folder: Path, number: str, value: float) -> Path:
    """Return where the study at one value is kept, under a digest if a name is no file name."""
    short = f"{value:g}"
    name = f"{number.replace('*', 'all')}={short if float(short) == value else repr(value)}"
    if not PLAIN.fullmatch(name):
        text = json.dumps([number, int(value) if value == int(value) else value])
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
    return folder / name


def check_sweep_folder(folder: Path, number: str, at: Callable[[float], Study]) -> None:
    """Refuse a folder of other files or of another sweep.

    Parameters
    ----------
    folder
        The folder.
    number
        What is varied.
    at
        Gives the study at a value.
    """
    if not is_marked(folder, SWEEP_FILE):
        return
    found = stored_sweep(folder)
    same = found.number == number
    if not same or _text(at(found.values[0]).to_dict()) != _text(found.study):
        raise InvalidInput(
            "out",
            "must be a new folder, not one that holds another sweep's results",
            str(folder),
            "Choose another folder.",
        )


def mark_sweep(folder: Path, number: str, values: Sequence[float], first: Study) -> None:
    """Write which sweep a folder belongs to, unless it says so already.

    A page of other values that is there is removed with its charts and numbers; its spec is
    rewritten, since that may be what is being run.
    """
    first.check_storable()
    content = sealed({"number": number, "values": list(values), "study": first.to_dict()})
    if not (folder / SWEEP_FILE).exists() or read_json(folder / SWEEP_FILE) != content:
        with explained(folder):
            if (folder / PAGE).is_file():
                if (folder / SPEC).is_file() and not first.functions:
                    write_text(folder / SPEC, to_toml(first, (number, values)))
                for name in (*OF_PAGE, PAGE):  # the page last: a run killed before is done again
                    (folder / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # other files are in it
                    (folder / CHARTS).rmdir()
        write_text(folder / SWEEP_FILE, json.dumps(content, indent=1) + "\n")


def holds_sweep(folder: Path) -> bool:
    """Return whether a folder belongs to a sweep."""
    with readable(folder):
        return (folder / SWEEP_FILE).exists()


def stored_sweep(folder: Path) -> Stored:
    """Return which sweep a folder belongs to."""
    path = folder / SWEEP_FILE
    content = read_json(path)
    keys = {*Stored._fields, "checksum"}
    if not isinstance(content, dict) or set(content) != keys or sealed(content) != content:
        raise StorageError(
            f"{path} is not a sweep, or was altered or written by another version of halfseen."
            " Choose another folder."
        )
    return Stored(content["number"], content["values"], content["study"])


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)
