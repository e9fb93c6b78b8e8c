"""The dask engine: replications in chunks on the workers of a Dask cluster.

A chunk is played as by the cpu engine, so the numbers are the same to the last bit. Workers return
its tracks, or its statistics if only those are kept.
"""

from __future__ import annotations

import logging
import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from halfseen.engine.arguments import Track
from halfseen.engine.cells.arms import Cell
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import blank_track, ready
from halfseen.engine.reduce import Part, Span
from halfseen.errors import HalfseenError, InvalidInput

CHUNK_SECONDS = 2.0
CONNECT_SECONDS = 10.0
MOST_BYTES = 1 << 26  # most bytes of the tracks in one chunk
GROWTH = 8  # largest ratio of a chunk's replications to those of the chunk used to size it
SHELF = "halfseen"  # name under which the scheduler holds the cells being played
SETTINGS = {  # for a local cluster; with Dask's defaults its monitoring takes 8% of a core
    "distributed.scheduler.allowed-failures": 20,  # workers that may die while playing one chunk
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
}


@dataclass
class Job:
    """A cell to play, its missing replications, and a callback for every finished chunk.

    `keep` receives the track of a chunk, or its `Part` if `reduce`, and its first and last
    replication.
    """

    cell: Cell | LinearCell
    lacks: list[Span]
    keep: Callable[[Any, int, int], None]
    finish: Callable[[], None]
    reduce: bool = False
    name: str = ""
    size: int = 1
    open_chunks: int = 0

    def next_chunk(self, slots: int) -> Span:
        """Take the next replications to play."""
        first, last = self.lacks.pop(0)
        left = last - first + sum(b - a for a, b in self.lacks)
        fair = max(math.ceil(left / (4 * slots)), self.size // 16)  # smaller towards the end
        end = min(last, first + max(1, min(self.size, fair)))
        if end < last:
            self.lacks.insert(0, (end, last))
        return first, end

    def fit_size(self, rows: int, seconds: float) -> None:
        """Choose the size of the next chunks from the duration of one."""
        row_bytes = sum(array.nbytes for array in blank_track(self.cell, 1).arrays().values())
        wanted = math.floor(CHUNK_SECONDS * rows / max(seconds, 1e-6))
        self.size = max(1, min(wanted, GROWTH * rows, MOST_BYTES // max(row_bytes, 1)))


def lacking(replications: int, finished: Iterable[Span]) -> list[Span]:
    """Return the spans of replications that are not finished.

    >>> lacking(10, [(4, 6), (0, 2)])
    [(2, 4), (6, 10)]
    """
    spans = []
    reached = 0
    for first, last in sorted(finished):
        if first > reached:
            spans.append((reached, first))
        reached = max(reached, last)
    return [*spans, (reached, replications)] if reached < replications else spans


def check(scheduler: str | None) -> None:
    """Raise, before anything is played or written, if the cluster cannot be used."""
    if find_spec("distributed") is None:
        raise InvalidInput(
            "engine",
            "needs the package distributed",
            "dask",
            "Install halfseen[dask] or use the cpu engine.",
        )
    if scheduler is not None:
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:  # a notebook's own thread already runs a loop
            if not pool.submit(asyncio.run, _answers(scheduler)).result():
                raise InvalidInput(
                    "scheduler",
                    "must be the address of a running Dask scheduler",
                    scheduler,
                    "Start one with `dask scheduler` and give the address it prints.",
                )


async def _answers(address: str) -> bool:
    """Return whether a scheduler answers; a failed `Client` would warn when it is deleted."""
    import asyncio

    from distributed import Security
    from distributed.core import rpc

    try:
        arguments = Security().get_connection_args("client")
        async with rpc(address, timeout=CONNECT_SECONDS, connection_args=arguments) as server:
            known = await asyncio.wait_for(server.identity(), CONNECT_SECONDS)
    except Exception:  # any exception may be raised here
        return False
    return isinstance(known, dict) and known.get("type") == "Scheduler"


@contextmanager
def connected(scheduler: str | None, workers: int) -> Iterator[Any]:
    """Yield a client of the cluster at an address, or of a new one on this machine."""
    import dask
    from distributed import Client, LocalCluster
    from distributed.utils import silence_logging_cmgr

    if scheduler is not None:
        with silence_logging_cmgr(logging.CRITICAL), Client(scheduler) as client:
            _announce(client)
            yield client
        return
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
            preload=[__name__],
        ) as cluster,
        Client(cluster) as client,
    ):
        _announce(client)
        try:
            yield client
        except BaseException:
            _end_workers(cluster)
            raise


def _end_workers(cluster: Any) -> None:
    """Kill workers in the middle of a replication, which they would finish before closing."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(nanny.pid, signal.SIGKILL)


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C to the client; Dask calls this in every worker started on this machine."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _announce(client: Any) -> None:
    with suppress(KeyError):  # raised for a scheduler without a dashboard
        logging.getLogger(__name__).info("Dask's dashboard: %s", client.dashboard_link)


def run_all(jobs: list[Job], scheduler: str | None, workers: int) -> None:
    """Play every job on the cluster at an address, or on new workers on this machine."""
    if jobs:
        with connected(scheduler, workers) as client:
            run_on(client, jobs)


def run_on(client: Any, jobs: list[Job], wait_seconds: float = 60.0) -> None:
    """Play every job; the next one begins as soon as workers have no work left on the last."""
    from distributed import wait
    from distributed.client import CancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    running: dict[Any, tuple[Job, int, int]] = {}
    try:
        client.wait_for_workers(1, timeout=wait_seconds)
        slots, looked = _slots(client), time.monotonic()
        waiting, done, total = list(jobs), 0, sum(b - a for job in jobs for a, b in job.lacks)
        while waiting or running:
            while waiting and len(running) < 2 * slots:
                job = waiting[0]
                job.name = job.name or _published(client, job.cell)
                first, last = job.next_chunk(slots)
                key = f"halfseen at {100 * done // total}%-{uuid4().hex}"  # seen on the dashboard
                future = client.submit(played, job.name, first, last, job.reduce, key=key)
                running[future] = (job, first, last)
                job.open_chunks += 1
                if not job.lacks:
                    waiting.pop(0)
            for future in wait(list(running), return_when="FIRST_COMPLETED").done:
                job, first, last = running.pop(future)
                found, seconds = future.result()
                job.fit_size(last - first, seconds)
                job.keep(found, first, last)
                done += last - first
                job.open_chunks -= 1
                if not job.lacks and not job.open_chunks:
                    job.finish()
                    client.set_metadata([SHELF, job.name], None)
            if time.monotonic() - looked > 5.0:
                slots, looked = _slots(client), time.monotonic()
    except (KilledWorker, CancelledError, CommClosedError, TimeoutError) as error:
        raise HalfseenError(
            f"The cluster was lost ({type(error).__name__}). Finished chunks are kept if there is a"
            " folder. Check its workers, then run again."
        )
    finally:
        client.cancel(list(running))


def _published(client: Any, cell: Cell | LinearCell) -> str:
    """Publish a cell on the scheduler and return its name."""
    import cloudpickle

    ready(cell)  # compiles once for all workers that share this disk
    name = uuid4().hex
    client.set_metadata([SHELF, name], [cloudpickle.dumps(cell), packages()])
    return name


def packages() -> dict[str, str]:
    """Return the versions of the packages on which the numbers depend."""
    return {name: metadata.version(name) for name in ("halfseen", "numpy", "numba")}


def played(name: str, first: int, last: int, reduce: bool) -> tuple[Track | Part, float]:
    """Play replications of a published cell; return tracks or statistics, and the seconds."""
    cell, play = _loaded(name)
    started = time.perf_counter()
    track = blank_track(cell, last - first)
    play(first, last, track, first)
    found = Part.of(track, first) if reduce else track
    return found, time.perf_counter() - started


@lru_cache(maxsize=4)
def _loaded(name: str) -> tuple[Cell | LinearCell, Callable[..., None]]:
    """Return a published cell and its compiled loop, cached in every worker."""
    import cloudpickle
    from distributed import get_client

    pickled, wanted = get_client().get_metadata([SHELF, name])
    for package, version in packages().items():
        if version != wanted[package]:
            raise HalfseenError(
                f"A worker has {package} {version}, this machine has {wanted[package]}."
                " Install the same versions everywhere, then run again."
            )
    cell = cloudpickle.loads(pickled)
    return cell, ready(cell)


def _slots(client: Any) -> int:
    return max(1, sum(client.ncores().values()))


def finished_chunks(folder: Path) -> list[Span]:
    """Return the chunks kept in a folder, by the names `chunk_name` gave them."""
    names = [path.name.split("-") for path in folder.glob("*-*") if path.is_dir()]
    return [(int(a), int(b)) for a, b in names if a.isdecimal() and b.isdecimal()]


def chunk_name(first: int, last: int) -> str:
    """Return the name of a chunk's folder.

    >>> chunk_name(0, 25)
    '0-25'
    """
    return f"{first}-{last}"
