"""Compiled code on disk, in the user's cache folder.

An entry's name is a digest of the fingerprint of everything the function can reach, the argument
types, the versions of Python, numba and LLVM, the settings of numba that change what it emits, and
the instruction set of the machine. The path and the modification time of a source file do not
matter, so that clones, virtual environments and read-only installs share entries. A damaged entry
is deleted and compiled again. If the folder cannot be written, code is compiled for the process
alone, and one log message says so.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from halfseen.engine.compile_watch import announce
from halfseen.engine.shared_code import needs, provide

FORMAT = b"halfseen compiled code 6\n"
LARGEST = 2**30  # bytes; beyond this, the least recently used entries are deleted
ABANDONED = 3600  # seconds after which a draft belongs to no running process
ENTRY, DRAFT = ".code", ".draft"
VARIABLE = "HALFSEEN_CACHE_DIR"
# Settings of numba's, such as NUMBA_OPT, with which it emits other code.
SETTINGS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "USING_SVML",
)
log = logging.getLogger("halfseen")


def cache_folder() -> Path | None:
    """Return the folder of compiled code: HALFSEEN_CACHE_DIR, or one in the user's cache folder.

    None if there is no such home: the user's, or that of the user it names, as ``~ann`` does.
    """
    told = os.environ.get(VARIABLE)
    try:
        if told:
            return Path(told).expanduser().absolute()
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
        base = base if base.is_absolute() else home / ".cache"
    return base / "halfseen" / "compiled"


class Kept(NamedTuple):
    """The contents of the cache: the number of entries and their size in bytes."""

    entries: int
    size: int


def kept(folder: Path | None = None) -> Kept:
    """Return the number of entries in the cache folder and their size."""
    found = _files(folder or cache_folder())
    return Kept(len(found), sum(size for _, size, _ in found))


def clear_cache(folder: Path | None = None) -> Kept:
    """Delete all compiled code and return its number and size; other files are left alone."""
    entries, size = 0, 0
    place = folder or cache_folder()
    if place is not None and place.exists():
        os.scandir(place).close()  # say so if it cannot be read, instead of finding nothing
    for _, found, path in _files(place, drafts=True):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        entries += path.suffix == ENTRY
        size += found
    return Kept(entries, size)


def _files(folder: Path | None, drafts: bool = False) -> list[tuple[float, int, Path]]:
    """Return the time of last use, size and path of each entry, the oldest first."""
    found = []
    endings = (ENTRY, DRAFT) if drafts else (ENTRY,)
    with suppress(OSError):
        for path in [] if folder is None else list(folder.iterdir()):
            if path.suffix in endings:
                with suppress(OSError):  # another process may have deleted it
                    status = path.stat()
                    found.append((status.st_mtime, status.st_size, path))
    return sorted(found)


def prune(folder: Path, largest: int = LARGEST) -> None:
    """Delete abandoned drafts, and the least recently used entries until the rest fits."""
    found = _files(folder, drafts=True)
    size = sum(bytes_ for _, bytes_, path in found if path.suffix == ENTRY)
    now = time.time()
    for used, bytes_, path in found:
        old = now - used > ABANDONED if path.suffix == DRAFT else size > largest
        if old:
            with suppress(OSError):
                path.unlink()
            size -= bytes_ if path.suffix == ENTRY else 0


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _digest(what: Any) -> str:
    return hashlib.sha256(repr(what).encode()).hexdigest()[:24]


def stems_kept() -> set[str]:
    """Return the prefixes of the names of all entries."""
    return {path.name.partition("-")[0] for _, _, path in _files(cache_folder())}


def can_write() -> bool:
    """Return whether entries can be written to the cache folder, by writing a draft there."""
    folder = cache_folder()
    if folder is None:
        return False
    draft = folder / f"{os.getpid()}-tried{DRAFT}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_bytes(bytes(4096))
    except OSError:
        return False
    finally:
        _remove(draft)
    return True


_told: set[str] = set()


def _tell_once(why: str) -> None:
    if "unwritable" not in _told:
        _told.add("unwritable")
        log.warning(
            "halfseen: compiled code cannot be kept on disk (%s), so every process compiles"
            " again. Set %s to a writable folder.",
            why,
            VARIABLE,
        )


class CodeCache(_Cache):  # type: ignore[misc]
    """Numba's cache interface, for one function.

    Parameters
    ----------
    fingerprint
        A digest of everything the function can reach.
    keep
        Whether to use the disk at all.
    """

    leads = True  # announces compilations and prunes the folder; False for parts of a loop

    def __init__(self, fingerprint: str, *, keep: bool) -> None:
        self._fingerprint = fingerprint
        self._folder = cache_folder()
        self._keep = keep

    @property
    def cache_path(self) -> str | None:
        """The folder, or None if nothing is cached."""
        return str(self._folder) if self._keep and self._folder is not None else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for given argument types, None if there is none.

        The modules that `refresh` imports, which take a third of a second, are needed only by the
        compiler; compiled code needs only numba's runtime.
        """
        rtsys.initialize(target_context)
        result = None
        if self._keep and self._folder is not None:
            path = self._folder / self._name(sig, target_context.codegen())
            try:
                result = self._read(path, sig, target_context)
            except (FileNotFoundError, PermissionError):
                pass
            except NotADirectoryError:
                _tell_once(f"{self._folder} is not a folder")
                self._folder = None
            except Exception as error:  # pickle and LLVM may raise anything for a damaged file
                log.info("halfseen: %s is damaged (%s) and is compiled again", path, error)
                _remove(path)
        if result is None and self.leads:
            announce()
            target_context.refresh()
        return result

    def _read(self, path: Path, sig: Any, target_context: Any) -> Any:
        if path.exists() and not path.is_file():  # reading a pipe would block
            raise ValueError("it is not a regular file")
        content = path.read_bytes()
        start = len(FORMAT) + 32
        digest, body = content[len(FORMAT) : start], content[start:]
        if not content.startswith(FORMAT) or hashlib.sha256(body).digest() != digest:
            raise ValueError("its digest does not match")
        found, needed, reduced = pickle.loads(body)
        if found != sig:
            raise ValueError("its argument types differ")
        provide(needed)
        result = self.rebuilt(target_context, reduced)
        with suppress(OSError):
            os.utime(path)  # the least recently used entries are deleted first
        return result

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function to a draft, which is renamed once it is complete."""
        if not self._keep or not self.lasting(data.library):
            return
        if self._folder is None:
            _tell_once("there is no home folder")
            return
        body = dumps((sig, needs(data.library), self.reduced(data)))
        path = self._folder / self._name(sig, data.codegen)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(suffix=DRAFT, dir=self._folder)
            try:
                with open(handle, "wb") as file:
                    file.write(FORMAT + hashlib.sha256(body).digest() + body)
                os.replace(draft, path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft)
                raise
            if self.leads:
                prune(self._folder)
        except OSError as error:
            _tell_once(f"{self._folder}: {error.strerror or error}")

    def lasting(self, library: Any) -> bool:
        """Return whether code contains no addresses that are valid only in this process."""
        return not library.has_dynamic_globals

    def reduced(self, result: Any) -> Any:
        """Return a compiled function in the form that is written to disk."""
        return result._reduce()

    def rebuilt(self, target_context: Any, reduced: Any) -> Any:
        """Return the compiled function from the form returned by `reduced`."""
        return CompileResult._rebuild(target_context, *reduced)

    def stem(self, codegen: Any) -> str:
        """Return the prefix of the names of a function's entries, for all argument types."""
        versions = (sys.version_info[:3], numba.__version__, llvmlite.__version__)
        tag = sys.implementation.cache_tag
        settings = [str(getattr(config, name, None)) for name in SETTINGS]
        machine = codegen.magic_tuple()
        return _digest((FORMAT, self._fingerprint, versions, tag, settings, machine))

    def _name(self, sig: Any, codegen: Any) -> str:
        return f"{self.stem(codegen)}-{_digest(sig)}{ENTRY}"

    def enable(self) -> None:
        """Use the disk."""
        self._keep = True

    def disable(self) -> None:
        """Stop using the disk."""
        self._keep = False

    def flush(self) -> None:
        """Do nothing: entries are addressed by content and never stale."""
