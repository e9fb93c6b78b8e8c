"""Run a study."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from halfseen import checks
from halfseen.engine.arguments import Track
from halfseen.engine.backends import cpu, reference
from halfseen.engine.backends import dask as cluster
from halfseen.engine.compile_watch import watching
from halfseen.engine.cuda import run as cuda
from halfseen.errors import InvalidInput, compiler_complaint
from halfseen.studies.compile_time import CompileTime
from halfseen.studies.folder import PRECISIONS, optional_folder
from halfseen.studies.result import Result
from halfseen.studies.storage import CELLS, PARTS, read_cell, readable, write_cell
from halfseen.studies.study import AnyCell, Position, Study


class Engine(Protocol):
    """A way to play all replications of a cell."""

    def run(
        self,
        cell: AnyCell,
        track: Track,
        *,
        report: Callable[[int], None],
        workers: int,
        start: int = 0,
    ) -> str | None:
        """Play the replications from `start` on, reporting them as they finish.

        Returns the precision of the numbers if it is not double.
        """


ENGINES: dict[str, Engine] = {"cpu": cpu, "cuda": cuda, "reference": reference}
NAMES = ("cpu", "cuda", "dask", "reference", "auto")
OTHER_NAMES = {"gpu": "cuda", "numba": "cpu", "cluster": "dask", "python": "reference"}
MANY_REPLICATIONS, MANY_ROUNDS = 10_000, 10**11  # a GPU is worth its compile time from this size on
Progress = Callable[[int, int, str], None]
Settling = AbstractContextManager[Callable[[AnyCell], None]]  # to be called before a cell is played


def simulate(
    study: Study,
    *,
    engine: str = "cpu",
    precision: str = "double",
    workers: int | None = None,
    scheduler: str | None = None,
    out: Path | str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Play every cell of a study.

    Parameters
    ----------
    study
        What to run.
    engine
        ``"cpu"``, compiled and on all cores; ``"cuda"``, on an NVIDIA GPU; ``"dask"``, on a
        cluster; ``"reference"``, plain Python; or ``"auto"``, cpu or cuda by size.
    precision
        ``"double"``, or on a GPU ``"single"``: faster; the draws differ from double precision.
        It is used for policies that jump from observation to observation on few arms, up to a
        horizon of 2**24; the others stay with double.
    workers
        How many threads, or processes on dask without a scheduler; all cores by
        default. No result depends on it.
    scheduler
        Address of a running Dask scheduler; left out, dask starts a cluster on this machine.
    out
        A folder to keep finished cells in, and on dask finished chunks of cells. What is found
        there is not played again.
    progress
        Called with the replications done, their total and the name of the cell.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform, simulate
    >>> study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=100, replications=2)
    >>> sorted(simulate(study, engine="reference").data.sizes.items())[:3]
    [('alpha', 2), ('arm', 2), ('censorship', 2)]
    """
    threads = thread_count(workers, scheduler)
    check_progress(progress)
    engine, run = chosen_engine(study, engine, precision, scheduler)
    result = Result.empty(study)
    with optional_folder(out, study, precision, result.fingerprints) as folder:
        played = _fill(result, engine, run, threads, scheduler, folder, progress)
    return replace(result, played=played)


def _fill(
    result: Result,
    engine: str,
    run: Callable[..., str | None],
    threads: int,
    scheduler: str | None,
    folder: Path | None,
    progress: Progress | None,
) -> int:
    """Read what a folder holds of a study and play the rest; return how many cells that were."""
    study = result.study
    cells = list(study.cells())
    total = len(cells) * study.replications
    done = 0
    started = time.perf_counter()
    clock = CompileTime()

    def report(replications: int, position: Position) -> None:
        nonlocal done
        clock.stop()
        done += replications
        if progress is not None:
            progress(done, total, cell_name(study, position))

    def compiling(position: Position) -> None:
        clock.start()
        if progress is not None:
            progress(done, total, f"compiling {cell_name(study, position)}")

    def finish(digest: str, track: Track, used: str | None = None) -> None:
        nonlocal started
        now, compiled = time.perf_counter(), clock.taken()
        facts: dict[str, Any] = {
            "seconds": now - started - compiled,
            "compiling": compiled,
            "engine": engine,
            "precision": used or "double",
            "versions": versions(),
        }
        started = now
        result.facts[digest] = facts
        if folder is not None:
            write_cell(folder, digest, track.arrays(), facts)

    to_play = []
    for position, cell in cells:
        if folder is not None and result.read(folder, position, cell):
            report(study.replications, position)
        else:
            to_play.append((position, cell, result.fingerprints.cells[position]))
    if not to_play:
        return 0
    if engine == "dask":
        _on_cluster(result, to_play, folder, scheduler, threads, report, finish)
        return len(to_play)
    with compiled_ahead(engine, threads, [cell for _, cell, _ in to_play]) as settle:
        for position, cell, digest in to_play:
            report(0, position)
            started = time.perf_counter()
            track = result.track(position, cell)
            name = cell_name(study, position)
            with watching(partial(compiling, position)), _compilable(name, cell):
                settle(cell)
                used = run(cell, track, report=partial(report, position=position), workers=threads)
            finish(digest, track, used)
    return len(to_play)


@contextmanager
def _compilable(name: str, cell: AnyCell) -> Iterator[None]:
    """Turn compiler errors about a kernel into a sentence that names the cell."""
    try:
        yield
    except Exception as error:
        said = compiler_complaint(error)
        if said is None:
            raise
        raise InvalidInput(
            name,
            f"must have kernels that numba can compile ({said})",
            cell.policy,
            "Try halfseen.testing on your own kinds, for example check_policy, which names the"
            " kernel; engine='reference' plays them as plain Python.",
        ) from error


def _on_cluster(
    result: Result,
    to_play: list[tuple[Position, AnyCell, str]],
    folder: Path | None,
    scheduler: str | None,
    workers: int,
    report: Callable[[int, Position], None],
    finish: Callable[[str, Track], None],
) -> None:
    """Play cells on a Dask cluster; finished chunks are kept until their cell is written."""
    jobs = []
    for position, cell, digest in to_play:
        track = result.track(position, cell)
        parts = None if folder is None else folder / PARTS / digest
        found = []
        if parts is not None:
            with readable(parts):
                found = cluster.finished_chunks(parts / CELLS)

        def keep(
            found: Track,
            first: int,
            last: int,
            track: Track = track,
            parts: Path | None = parts,
            position: Position = position,
        ) -> None:
            arrays = found.arrays()
            for name, target in track.rows(first, last).arrays().items():
                target[...] = arrays[name]
            if parts is not None:
                write_cell(parts, cluster.chunk_name(first, last), arrays, {})
            report(last - first, position)

        def close(digest: str = digest, track: Track = track, parts: Path | None = parts) -> None:
            finish(digest, track)
            if parts is not None:
                shutil.rmtree(parts, ignore_errors=True)
                with suppress(OSError):  # not empty yet
                    parts.parent.rmdir()

        for first, last in found:
            assert parts is not None
            read_cell(parts, cluster.chunk_name(first, last), track.rows(first, last).arrays())
        lacks = cluster.lacking(len(track.regret), found)
        report(sum(last - first for first, last in found), position)
        if lacks:
            jobs.append(cluster.Job(cell, lacks, keep, close))
        else:
            close()
    cluster.run_all(jobs, scheduler, workers)


def chosen_engine(
    study: Study, engine: str, precision: str, scheduler: str | None
) -> tuple[str, Callable[..., str | None]]:
    """Return the name of the engine to use and how it plays a cell, or refuse it."""
    if not isinstance(study, Study):
        raise InvalidInput(
            "study", "must be a Study", study, "Make one with Study(...) or read_spec(path)."
        )
    if checks.one_of("engine", engine, NAMES, OTHER_NAMES) == "auto":
        engine, _ = choose_engine(study)
    run: Callable[..., str | None] = ENGINES.get(engine, cpu).run
    if checks.one_of("precision", precision, PRECISIONS) == "single":
        if engine != "cuda":
            raise InvalidInput(
                "precision", f"must be double on the {engine} engine", precision, "Leave it out."
            )
        run = partial(run, single=True)
    if scheduler is not None and engine != "dask":
        raise InvalidInput(
            "scheduler", f"must be left out on the {engine} engine", scheduler, "Use engine dask."
        )
    if engine == "dask":
        cluster.check(scheduler)
    if engine == "cuda":
        cuda.check(cell for _, cell in study.cells())
    return engine, run


def compiled_ahead(engine: str, threads: int, cells: list[AnyCell]) -> Settling:
    """Compile loops that are not in the cache in other processes, on the cpu engine."""
    if engine != "cpu":
        return nullcontext(lambda cell: None)
    from halfseen.engine.compile_ahead import compiling_ahead  # imports numba

    return compiling_ahead(cells, threads)


def thread_count(workers: int | None, scheduler: str | None) -> int:
    """Return the number of threads asked for, all cores if none was."""
    if workers is not None and scheduler is not None:
        raise InvalidInput(
            "workers", "must be left out with a scheduler", workers, "Its cluster has its own."
        )
    if workers is None:
        return cpu.cores()
    fix = "Leave it out to use all cores."
    return checks.whole("workers", workers, at_least=1, at_most=1024, fix=fix)


def check_progress(progress: Progress | None) -> None:
    """Refuse an object that is not callable, before the simulation."""
    if progress is not None and not callable(progress):
        raise InvalidInput(
            "progress",
            "must be a function of the replications done, their total and the name of the cell",
            progress,
            "Write one, or leave it out: without it nothing is shown.",
        )


def cell_name(study: Study, position: Position) -> str:
    """Return the names of a cell's problem, censorship and policy in one line."""
    axes = (study.problems, study.censorships, study.policies)
    return " · ".join(list(axis)[place] for axis, place in zip(axes, position, strict=True))


def choose_engine(study: Study) -> tuple[str, str]:
    """Return cuda for large studies that a GPU here can play, else cpu, and the reason.

    Large is at least 10,000 replications and 1e11 rounds in all.

    Examples
    --------
    >>> from halfseen import UCB, ArmedBandit, Study, Uniform
    >>> choose_engine(Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=100))
    ('cpu', 'fewer than 10,000 replications')
    """
    cells = [cell for _, cell in study.cells()]
    if study.replications < MANY_REPLICATIONS:
        return "cpu", f"fewer than {MANY_REPLICATIONS:,} replications"
    if len(cells) * study.replications * study.horizon < MANY_ROUNDS:
        return "cpu", f"fewer than {MANY_ROUNDS:.0e} rounds in all".replace("e+", "e")
    for cell in cells:
        what = cuda.refusal(cell)
        if what is not None:
            return "cpu", f"the cuda engine cannot play {what}"
    try:
        cuda.device()
    except InvalidInput:
        return "cpu", "no GPU was found"
    return "cuda", "a GPU was found and the study is large"


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute the numbers."""
    return {"python": platform.python_version()} | cluster.packages()
