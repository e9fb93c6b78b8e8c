"""The studies and folders that commands are given."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halfseen.errors import InvalidInput, did_you_mean

if TYPE_CHECKING:
    from halfseen.studies.study import Study

BUILT_IN = ("arms", "linear")


def study_named(spec: str, imports: list[str] | None = None, **numbers: int | None) -> Study:
    """Return a built-in study by its name, or the study in a file.

    Parameters
    ----------
    spec
        The name or the file.
    imports
        Modules to import first, which register kinds of their own.
    **numbers
        Horizon, replications and seed that take the place of the study's.
    """
    from halfseen.kinds import import_kinds
    from halfseen.studies.spec import parse_spec

    import_kinds(imports or ())
    found = parse_spec(text_of(spec))
    if all(value is None for value in numbers.values()):
        return found
    from halfseen.studies.sweep import with_numbers

    try:
        return with_numbers(found, **numbers)
    except InvalidInput as error:
        field = f"--{error.field.removeprefix('Study.')}"
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None


def text_of(spec: str) -> str:
    """Return the TOML of a built-in study by its name, or that in a file."""
    from importlib.resources import files

    from halfseen.studies.spec import spec_text

    if spec in BUILT_IN:
        return files("halfseen.studies").joinpath(f"{spec}.toml").read_text(encoding="utf-8")
    meant = did_you_mean(spec, BUILT_IN, "", 0.5)
    if meant and not Path(spec).exists():
        raise InvalidInput("SPEC", "must be a file or a built-in study", spec, meant)
    return spec_text(spec)


def as_run(study: Study, folder: Path, horizon: int | None) -> Study:
    """Return the study with the numbers its results in a folder were played with.

    Those are the horizon, unless it is given, the replications and the seed.
    """
    from halfseen.studies.folder import numbers_run
    from halfseen.studies.sweep import with_numbers

    other = numbers_run(folder, study)
    if horizon is not None and "horizon" in other:
        return study
    if other:
        told = ", ".join(f"{name} {value:,}" for name, value in other.items())
        print(f"As in {folder}: {told}.", file=sys.stderr)
    return with_numbers(study, **other)


def sweep_named(spec: str, **numbers: int | None) -> tuple[str, list[float]] | None:
    """Return the number that a study varies and its values; None if it varies none.

    Parameters
    ----------
    spec
        The name or the file.
    **numbers
        Horizon, replications and seed that were given; the one varied must not be.
    """
    from halfseen.studies.spec import sweep_in

    found = sweep_in(text_of(spec))
    if found is not None and numbers.get(found[0]) is not None:
        raise InvalidInput(
            f"--{found[0]}",
            "must be left out: the spec sweeps over it",
            numbers[found[0]],
            "Leave it out, or edit the table [sweep].",
        )
    return found


def check_folder(out: Path, field: str = "--out") -> None:
    """Raise if a folder cannot be written to, before anything long is run."""
    try:
        place = next(path for path in (out, *out.absolute().parents) if path.exists())
        usable = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    except OSError as error:
        requirement = f"must be a folder that can be used ({error.strerror})"
        raise InvalidInput(field, requirement, str(out), "Choose another name.")
    if not place.is_dir():
        raise InvalidInput(field, "must be a folder", str(out), "Choose another name.")
    if not usable:
        raise InvalidInput(
            field, "must be a folder you may write to", str(out), "Choose another place."
        )


def check_new_file(option: str, path: Path) -> None:
    """Refuse to write over a file, or where none can be, before anything long is run."""
    try:
        usable = not path.exists() and path.absolute().parent.is_dir()
    except OSError:
        usable = False
    if not usable:
        raise InvalidInput(
            f"--{option}",
            "must be a new file in a folder that exists",
            str(path),
            "Choose another.",
        )
