"""The engines available on this machine, and their speed."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from halfseen.censorship import Uniform
from halfseen.display import Shown
from halfseen.engine.backends import cpu
from halfseen.engine.code_cache import VARIABLE, cache_folder, can_write, clear_cache, kept
from halfseen.engine.cuda import run as cuda
from halfseen.errors import InvalidInput, StorageError
from halfseen.phrases import counted
from halfseen.policies import UCB
from halfseen.problems import ArmedBandit
from halfseen.studies.study import Study

PACKAGES = ("halfseen", "numpy", "scipy", "numba", "xarray", "numba-cuda", "distributed")
SECONDS = 1.0
HORIZON = 100_000


@dataclass(frozen=True, repr=False)
class Examination(Shown):
    """What `examine` found.

    Attributes
    ----------
    engines
        For every engine ``"ready"``, or the sentence that says what is missing.
    versions
        Versions of Python and of the packages that compute; None where one is not installed.
    cores
        Logical cores that this process may use.
    gpu
        Name of the GPU, or None.
    cache
        Folder of the compiled code, None if the user has no home.
    cache_bytes
        Size of what is in it.
    cache_writable
        Whether compiled code can be kept there; if not, every process compiles again.
    rounds_per_second
        UCB on ten arms with every reward seen, by engine: all cores, or the whole GPU.
    """

    engines: dict[str, str]
    versions: dict[str, str | None]
    cores: int
    gpu: str | None
    cache: str | None
    cache_bytes: int
    cache_writable: bool
    rounds_per_second: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [(f"engine {name}", text) for name, text in self.engines.items()]
        lines += [(name, version or "not installed") for name, version in self.versions.items()]
        lines += [("cores", str(self.cores)), ("GPU", self.gpu or "none found")]
        size = f"{self.cache_bytes / 2**20:.1f} MiB"
        where = f"{self.cache}, {size}" if self.cache else "not kept on disk"
        if self.cache and not self.cache_writable:
            where = (
                f"not kept on disk: {self.cache} is no folder that can be written. Set"
                f" {VARIABLE} to one."
            )
        lines += [("compiled code", where)]
        for engine, speed in self.rounds_per_second.items():
            lines.append((f"speed of {engine}", f"{speed:.2g} rounds/s (UCB, 10 arms, all seen)"))
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines)


@dataclass(frozen=True)
class Cleared:
    """What `clear` deleted.

    Attributes
    ----------
    cache
        Folder of the compiled code.
    entries
        How many compiled functions it held.
    cache_bytes
        Their size.
    """

    cache: str | None
    entries: int
    cache_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        if self.cache is None:
            return "No compiled code is kept: there is no home folder."
        size = f"{self.cache_bytes / 2**20:.1f} MiB"
        return f"Deleted {counted('compiled function', self.entries)} ({size}) from {self.cache}."


def clear() -> Cleared:
    """Delete all compiled code that is kept on disk."""
    folder = cache_folder()
    try:
        return Cleared(None if folder is None else str(folder), *clear_cache())
    except OSError as error:
        raise StorageError(f"{folder} could not be cleared: {error.strerror}.")


def examine() -> Examination:
    """Examine this machine: about a second per engine, and a compilation the first time."""
    engines = {"cpu": "ready", "reference": "ready", "cuda": "ready", "dask": "ready"}
    gpu = None
    try:
        name = getattr(cuda.device().current_context().device, "name", "simulated")
        gpu = name.decode() if isinstance(name, bytes) else str(name)
    except InvalidInput:
        engines["cuda"] = "not here: install halfseen[cuda] on a machine with an NVIDIA GPU"
    if find_spec("distributed") is None:
        engines["dask"] = "not here: install halfseen[dask]"
    means = [0.5 - 0.05 * arm for arm in range(10)]
    study = Study(ArmedBandit(means), Uniform(1.0), UCB(), horizon=HORIZON, checkpoints=1)
    speeds = {"cpu": _speed(cpu.run, study, 8)}
    if gpu not in (None, "simulated"):
        speeds["cuda"] = _speed(cuda.run, study, 1 << 18)
    folder = cache_folder()
    return Examination(
        engines=engines,
        versions={name: _version(name) for name in ("python", *PACKAGES)},
        cores=cpu.cores(),
        gpu=gpu,
        cache=None if folder is None else str(folder),
        cache_bytes=kept().size,
        cache_writable=can_write(),
        rounds_per_second=speeds,
    )


def _speed(run: Any, study: Study, replications: int) -> float:
    """Return rounds a second, from runs that double until one takes a second."""
    cell = next(study.cells())[1]
    workers = cpu.cores()
    seconds = 0.0
    while seconds < SECONDS / 2:
        track = cell.blank(replications, cell.groups, 0)
        if seconds == 0.0:  # the first time compiles
            run(cell, track, report=lambda done: None, workers=workers)
        started = time.perf_counter()
        run(cell, track, report=lambda done: None, workers=workers)
        seconds = time.perf_counter() - started
        replications *= 2
    return replications / 2 * study.horizon / seconds


def _version(package: str) -> str | None:
    if package == "python":
        return platform.python_version()
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
