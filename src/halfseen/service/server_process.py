"""The server process: opens the database, declares loops, listens and shuts down."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType

import uvicorn
from starlette.routing import BaseRoute

from halfseen.errors import InvalidInput, StorageError, no_password
from halfseen.service import loop_table
from halfseen.service.api_calls import Api
from halfseen.service.api_keys import KeyRing, new_key, row_of
from halfseen.service.database import Database
from halfseen.service.decision_service import Service
from halfseen.service.event_log import EventLog
from halfseen.service.foreign_requests import is_loopback
from halfseen.service.header_limit import LimitedHeaders
from halfseen.service.http_app import FastLane, build_app
from halfseen.service.loop_config import LoopConfig
from halfseen.service.refusals import StorageUnavailable
from halfseen.service.request_log import RequestLog
from halfseen.service.service_metrics import Metrics
from halfseen.service.writer import microseconds

GRACE = 3  # seconds that requests in progress may take after a signal to stop
LAST = 4.7  # seconds after which the process ends in any case: everything answered is on disk
RETENTION_EVERY = 3600.0  # seconds
Pages = Callable[[Api, bool], Sequence[BaseRoute]]  # given whether access is local only


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of `halfseen serve`.

    Attributes
    ----------
    database
        A file, or the address of a PostgreSQL server.
    loops
        Loops to declare before serving.
    host, port
        Where to listen; port 0 takes a free one.
    open
        Whether to serve without keys.
    read_only
        Whether to serve reading only.
    request_log
        Whether to write a line per request to stderr.
    """

    database: str
    loops: Sequence[LoopConfig] = ()
    host: str = "127.0.0.1"
    port: int = 8765
    open: bool = False
    read_only: bool = False
    request_log: bool = True


class DrainingServer(uvicorn.Server):
    """A server that drains on a signal and exits with code 0."""

    def __init__(self, config: uvicorn.Config, api: Api) -> None:
        super().__init__(config)
        self.api = api

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop accepting requests; those in progress are answered."""
        if not self.should_exit:
            last = threading.Timer(LAST, os._exit, (0,))
            last.daemon = True
            last.start()
        self.should_exit = self.api.stopping = True


def check_address(settings: Settings) -> None:
    """Refuse to serve without keys where others could reach the service."""
    if settings.open and not is_loopback(settings.host):
        raise InvalidInput(
            "--open",
            "must be left out where others can reach the service",
            settings.host,
            "Use keys, or --host 127.0.0.1 behind a proxy that asks for them.",
        )


async def serve(
    settings: Settings, say: Callable[[str], None] = print, pages: Pages | None = None
) -> None:
    """Serve until a signal says to stop.

    Parameters
    ----------
    settings
        What to serve and where.
    say
        Called with the address, and the first time with a key.
    pages
        Makes the pages beside the API.
    """
    check_address(settings)
    listening = _listen(settings.host, settings.port)
    with listening:
        service = await Service.open(settings.database, read_only=settings.read_only)
        try:
            if not settings.read_only:
                await declare(service, settings.loops, say)
            keys = None if settings.open else KeyRing(service.keys.all)
            if keys is not None:
                await _first_key(service, keys, settings.read_only, say)
            app = application(service, keys, settings, pages)
            said = ", ".join(config.name for config in service.loops()) or "none yet"
            say(f"halfseen serves {_address(settings, listening)}")
            say(f"Database: {no_password(settings.database)}. Loops: {said}.")
            keeping = asyncio.create_task(_keep(service)) if not settings.read_only else None
            await _run(app, listening)
            if keeping is not None:
                keeping.cancel()
        finally:
            await service.close()


def application(
    service: Service, keys: KeyRing | None, settings: Settings, pages: Pages | None = None
) -> FastLane:
    """Return the application of a service."""
    log = RequestLog(sys.stderr if settings.request_log else None)
    api = Api(service, keys, log, Metrics())
    shown = () if pages is None else pages(api, is_loopback(settings.host))
    return build_app(api, f"http://{settings.host}:{settings.port}", shown)


async def declare(
    service: Service, loops: Sequence[LoopConfig], say: Callable[[str], None]
) -> None:
    """Create the loops of a file, and revise those whose declaration has changed.

    Changes made over HTTP are kept: a restart with the same file changes nothing.
    """
    known = {config.name: config for config in service.loops()}
    declared = await service.read(loop_table.declared)
    for config in loops:
        name, before = config.name, known.get(config.name)
        if name in service.aside:
            continue
        if before is None:
            await service.create_loop(config)
        elif service.loop(name).archived:
            say(f"Loop {name} is archived: it makes no more decisions, whatever the file says.")
            continue
        elif before != config:
            wanted = loop_table.merged(before, declared.get(name), config)
            if wanted != before:
                found = await service.revise_loop(wanted)
                folded = " Its log was replayed." if found["refolded"] else ""
                say(f"Loop {name} is now at revision {found['revision']}.{folded}")
            if wanted != config:
                say(f"Loop {name} keeps the changes made since the file was first read.")
        if declared.get(name) != config:
            await service.writer.do(partial(loop_table.note_declared, config=config))
        if config.missing == 0:
            say(
                f"Loop {config.name} learns 0 where feedback is missing (missing = 0): unless no"
                " answer really means 0, it learns to avoid what is rarely answered."
            )


async def _first_key(
    service: Service, keys: KeyRing, read_only: bool, say: Callable[[str], None]
) -> None:
    """Issue a key if there is none."""
    await keys.refresh()
    if keys.empty and read_only:
        say("There are no keys yet: issue one with halfseen serve keys issue NAME.")
    elif keys.empty:
        key, text = new_key("first", "admin", microseconds())
        await service.keys.add(row_of(key))
        await keys.refresh()
        say(f"The first key (admin), shown only now: {text}")


async def _keep(service: Service) -> None:
    """Periodically delete decisions older than the retention of their loop."""
    while True:
        try:
            await service.apply_retention()
        except Exception as error:
            where = "".join(f" in {note}" for note in getattr(error, "__notes__", ()))
            print(f"halfseen: retention failed{where}: {type(error).__name__}.", file=sys.stderr)
        await asyncio.sleep(RETENTION_EVERY)


async def _run(app: FastLane, listening: socket.socket) -> None:
    config = uvicorn.Config(
        app,
        http=LimitedHeaders,
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    await DrainingServer(config, app.api).serve(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or refuse in a sentence."""
    try:
        return socket.create_server((host, port), family=_family(host), backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StorageError(
            f"Cannot listen on {host}:{port}: {reason}. Choose another --host or --port."
        ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _address(settings: Settings, listening: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listening.getsockname()[1]}"


def run_service(
    settings: Settings, say: Callable[[str], None] = print, pages: Pages | None = None
) -> None:
    """Run `serve` in a new event loop."""
    try:
        import uvloop
    except ImportError:  # Windows
        asyncio.run(serve(settings, say, pages))
    else:
        uvloop.run(serve(settings, say, pages))


@contextmanager
def stored(database: str) -> Iterator[EventLog]:
    """Open a database for its keys, beside the process that serves it."""
    try:
        opened = Database(database, read_only=True)
    except StorageError:  # there is none yet
        opened = Database(database)
    log = EventLog(opened)
    try:
        yield log
    except StorageUnavailable as error:
        raise error.in_full() from None
    finally:
        log.close()
        opened.close()
