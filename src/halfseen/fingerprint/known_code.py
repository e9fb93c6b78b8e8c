"""Code that is known by its name and version: Python's own, and that of installed packages."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

LIBRARIES = {*sys.stdlib_module_names, "numpy", "scipy", "numba", "builtins"} - {"__main__"}
_MADE_AT_RUN_TIME = 1 << 9  # CPython's Py_TPFLAGS_HEAPTYPE
_MAKERS = {"builtins", "abc", "types", "dataclasses"}
_INSTALLED = {"site-packages", "dist-packages"}
_STANDARD = {os.path.realpath(os.path.dirname(os.__file__)), os.path.dirname(os.__file__)}


def package(module: Any) -> str:
    """Return the first part of a module's name, empty if it is not a string."""
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_library(module: Any) -> bool:
    """Return whether a module is Python's own or numpy's, scipy's or numba's.

    A file of the user's that has the name of a standard module is not: where it lies decides.
    """
    top = package(module)
    if top not in LIBRARIES:
        return False
    file = getattr(sys.modules.get(top), "__file__", None)
    if top not in sys.stdlib_module_names or not isinstance(file, str):
        return True
    return not is_installed(file) and any(file.startswith(place) for place in _STANDARD)


def is_library_class(kind: type) -> bool:
    """Return whether a class is a library's.

    One made by exec, by a call of `type` or by `make_dataclass` may say it is from a module of
    Python's that makes classes.
    """
    module = kind.__module__
    if module in _MAKERS and kind.__flags__ & _MADE_AT_RUN_TIME:
        return getattr(sys.modules.get(module), kind.__qualname__, None) is kind
    return is_library(module)


def is_installed(file: str) -> bool:
    """Return whether a file belongs to an installed package."""
    return bool(_INSTALLED & set(PurePath(file).parts))


@functools.cache
def version(package: str) -> str:
    """Return the version of an installed package and a hash of its sources, or that hash alone.

    Installing an edited package again under the same version changes the second, and so does
    editing a file where it was installed.
    """
    names = [package, *metadata.packages_distributions().get(package, [])]
    for name in names:
        try:
            found = metadata.distribution(name)
            files = (found.read_text("RECORD") or "").splitlines()
        except Exception:  # no such distribution, or a broken one
            continue
        sources = "\n".join(sorted(_present(found, line) for line in files if ".py," in line))
        return f"{found.version} {hashlib.sha256(sources.encode()).hexdigest()}"
    return _sources(sys.modules.get(package))


def _sources(module: Any) -> str:
    """Return a hash of the sources of a module that was copied to where packages are."""
    file = getattr(module, "__file__", None)
    if file is None:
        return ""
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    digest = hashlib.sha256()
    for path in sorted({Path(file), *(path for top in folders for path in top.rglob("*.py"))}):
        with suppress(OSError):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _present(found: metadata.Distribution, line: str) -> str:
    """Return what RECORD says of a file, or would say had the file been installed as it is now."""
    path, recorded, _ = line.rsplit(",", 2)
    try:
        content = Path(str(found.locate_file(path.strip('"')))).read_bytes()
    except OSError:
        return line
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return line if recorded == f"sha256={digest}" else f"{path},sha256={digest},{len(content)}"
