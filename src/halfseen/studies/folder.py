"""The folder of a study's results: its owner, its lock, and reading it back."""

from __future__ import annotations

import contextlib
import errno
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from halfseen.errors import InvalidInput, StorageError, shorten
from halfseen.studies.spec import study_from, unknown_kinds
from halfseen.studies.storage import (
    LOCK_FILE,
    STUDY_FILE,
    explained,
    is_marked,
    read_json,
    readable,
    sealed,
    tidy,
    write_text,
)
from halfseen.studies.study import TRAJECTORIES, Fingerprints, Study
from halfseen.tables import brief, listed

NUMBERS = ("horizon", "replications", "seed")  # settings that a command may override
PRECISIONS = ("double", "single")
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextlib.contextmanager
def reserve_folder(
    folder: Path, study: Study, precision: str, fingerprints: Fingerprints
) -> Iterator[Path]:
    """Reserve a folder for this study while it is written to; refuse another study's folder."""
    study.check_storable()
    check_owner(folder, study, precision)
    with _locked(folder):
        present = check_owner(folder, study, precision)  # another run may just have finished
        if present is None or present["code"] != fingerprints.nouns:
            content = _content(study, precision, fingerprints)
            write_text(folder / STUDY_FILE, json.dumps(sealed(content), indent=1) + "\n")
        tidy(folder)
        yield folder


def check_owner(folder: Path, study: Study, precision: str) -> dict[str, Any] | None:
    """Return what a folder's study file holds, None if there is none; refuse another study's."""
    present = _read(folder) if is_marked(folder, STUDY_FILE) else None
    if present is None:
        return None
    _check_same(present, folder, study)
    if present["precision"] != precision:
        kept = present["precision"]
        raise InvalidInput(
            "precision",
            f"must be {kept}, that of the results in {folder}",
            precision,
            f"Use {kept}, or choose another folder.",
        )
    return present


def check_same_study(folder: Path, study: Study) -> None:
    """Refuse a folder that holds another study."""
    _check_same(_read(folder), folder, study)


def _check_same(present: dict[str, Any], folder: Path, study: Study) -> None:
    if _text(present["study"]) == _text(study.to_dict()):
        return
    other = _other_numbers(present["study"], study)
    fix = "Choose another folder."
    if other:
        told = ", ".join(f"{name} {value:,}" for name, value in other.items())
        fix += f" It was run with {told}: use the same to resume it."
    raise InvalidInput(
        "out",
        "must be a new folder, not one that holds another study's results",
        str(folder),
        fix,
    )


def numbers_run(folder: Path, study: Study) -> dict[str, int]:
    """Return the horizon, replications and seed with which a folder's run differs from a study.

    Nothing where the folder holds no study, or one that differs in anything else.
    """
    with readable(folder):
        if not (folder / STUDY_FILE).exists():
            return {}
    return _other_numbers(_read(folder)["study"], study)


def _other_numbers(stored: dict[str, Any], study: Study) -> dict[str, int]:
    given = study.to_dict()
    other = {name: stored[name] for name in NUMBERS if stored.get(name) != given[name]}
    return other if _text(stored) == _text(given | other) else {}


def stored_study(folder: Path, study: Study | None = None) -> Study | None:
    """Return the study a folder belongs to, or None; one with Python functions must be given."""
    with readable(folder):
        if not (folder / STUDY_FILE).exists():
            return None
    content = _read(folder)
    if study is not None:
        if _text(content["study"]) != _text(study.to_dict()):
            raise InvalidInput(
                "study", "must be the one in the folder", str(folder), "Give the same study."
            )
        return study
    if content["functions"]:
        raise StorageError(
            f"{folder} holds a study with Python functions ({listed(content['functions'])}),"
            " which no file holds. Give the study again, in Python:"
            " `Result.load(folder, study)`, or Summary.load."
        )
    for place, kind in unknown_kinds(content["study"]):
        raise StorageError(_unknown(folder, place, kind, content["defined"]))
    try:
        return study_from(content["study"])
    except InvalidInput as error:
        raise StorageError(
            f"{folder / STUDY_FILE} cannot be read by this version of halfseen, or needs a file"
            f" that is gone: {error}"
        ) from None


def not_all_there(
    folder: Path,
    fingerprints: Fingerprints,
    what: str = "study",
    run: str = "Run the same `halfseen study` again",
) -> StorageError:
    """Return why a folder lacks cells: other code played it, or it was not played to its end."""
    content = _read(folder)
    if content["trajectories"] != TRAJECTORIES:
        return StorageError(
            f"{folder} was played by another version of halfseen, whose numbers differ. {run}:"
            " it is simulated again, and the earlier results are kept."
        )
    changed = [p for p, code in fingerprints.nouns.items() if content["code"].get(p) != code]
    if changed:
        return StorageError(
            f"{folder} was played with other code: the code or file behind {listed(changed)} has"
            f" changed since. {run}: what changed is simulated again, and the earlier results are"
            " valid again with the old code."
        )
    return StorageError(f"{folder} holds an unfinished {what}. {run}: it resumes where it stopped.")


def _content(study: Study, precision: str, fingerprints: Fingerprints) -> dict[str, Any]:
    return {
        "precision": precision,
        "trajectories": TRAJECTORIES,
        "code": fingerprints.nouns,
        "defined": _definitions(study),
        "functions": list(study.functions),
        "study": study.to_dict(),
    }


def _definitions(study: Study) -> dict[str, str]:
    """Return where code that is not halfseen's was defined, by place."""
    found = {}
    for place, noun in study.nouns().items():
        parts: dict[str, Any] = {
            place: type(noun),
            f"{place}.base": type(getattr(noun, "base", None)),
        }
        if getattr(noun, "generalized", False):
            parts[f"{place}.link"] = noun.curve.mean
        for inner, code in parts.items():
            module = getattr(code, "__module__", None) or "__main__"
            if module.partition(".")[0] not in ("halfseen", "builtins"):
                found[inner] = f"{module}.{getattr(code, '__qualname__', type(code).__name__)}"
    return found


def _unknown(folder: Path, place: str, kind: str, defined: dict[str, str]) -> str:
    what = "link" if place.endswith(".link") else "kind"
    made = "make the link" if what == "link" else "register the class"
    where = defined.get(place, "")
    module = where.rpartition(".")[0]
    if not where:
        how = f"Import the module that defines it and {made} there"
    elif where.startswith("__main__."):
        name = where.removeprefix("__main__.")
        how = f"It was defined as {name} in a script or notebook: {made} again"
    else:
        how = (
            f"It was defined as {where}: import that module and {made} there (the command:"
            f" --import {module})"
        )
    return (
        f"{folder} is whole, but its {brief(place, 60)} is of the {what} {shorten(kind)}, which is"
        " not known here."
        f" {how}, then load it; or give the study, in Python: `Result.load(folder, study)`."
    )


def _read(folder: Path) -> dict[str, Any]:
    """Return the content of a folder's study file, if it is unaltered."""
    path = folder / STUDY_FILE
    content = read_json(path)
    keys = {"precision", "trajectories", "code", "defined", "functions", "study", "checksum"}
    if not isinstance(content, dict) or set(content) != keys or sealed(content) != content:
        raise StorageError(
            f"{path} is not a study, or was altered or written by another version of halfseen."
            " Choose another folder."
        )
    return content


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other runs; the lock ends with the process, however that ends."""
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        file = (folder / LOCK_FILE).open("ab")
    except OSError:  # nothing can be written here, so no lock is needed
        yield
        return
    with file:
        if not _lock(file):
            raise StorageError(
                f"{folder} is in use by another run. Wait until it has ended, or choose another"
                " folder."
            )
        yield


def _lock(file: BinaryIO) -> bool:
    """Lock a file unless another process has; file systems without locks never refuse."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _HELD
    return True


@contextlib.contextmanager
def optional_folder(
    out: Path | str | None, study: Study, precision: str, fingerprints: Fingerprints
) -> Iterator[Path | None]:
    """Reserve a folder if there is one."""
    if out is None:
        yield None
        return
    if not isinstance(out, str | Path):
        raise InvalidInput("out", "must be the path of a folder", out, 'Write out="folder".')
    with reserve_folder(Path(out), study, precision, fingerprints) as folder:
        yield folder
