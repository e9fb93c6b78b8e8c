"""A service in this process, asked over HTTP without a network."""

import asyncio
import io
import threading
from contextlib import asynccontextmanager, contextmanager
from types import SimpleNamespace

import httpx
import uvicorn

from halfseen.service.api_calls import Api
from halfseen.service.api_keys import KeyRing, new_key, row_of
from halfseen.service.decision_service import Service
from halfseen.service.header_limit import LimitedHeaders
from halfseen.service.http_app import build_app
from halfseen.service.loop_config import loop_config
from halfseen.service.request_log import RequestLog
from halfseen.service.service_metrics import Metrics

LOOP = {
    "name": "offers",
    "arms": ["red", "blue"],
    "policy": {"kind": "ucb"},
    "noise": 0.5,
    "floor": 0.1,
    "window": 60,
}


@asynccontextmanager
async def served(folder, *loops, keys=False, pages=None, **options):
    """Open a service with loops; give what is needed to ask it and to look inside."""
    service = await Service.open(folder / "log.sqlite", **options)
    try:
        for settings in loops:
            await service.create_loop(loop_config(settings))
        ring = KeyRing(service.keys.all) if keys else None
        lines, metrics = io.StringIO(), Metrics()
        api = Api(service, ring, RequestLog(lines), metrics)
        app = build_app(api, "http://test", () if pages is None else pages(api, True))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield SimpleNamespace(
                client=client, service=service, api=api, app=app, lines=lines, ring=ring
            )
    finally:
        await service.close()


def run(folder, ask, *loops, **options):
    """Run a coroutine function with a service of these loops, and return what it returns."""

    async def main():
        async with served(folder, *(loops or (LOOP,)), **options) as place:
            return await ask(place)

    return asyncio.run(main())


async def issued(place, role):
    """Issue a key and return the header that carries it."""
    key, text = new_key(f"test {role}", role, 0)
    await place.service.keys.add(row_of(key))
    await place.ring.refresh()
    return {"Authorization": f"Bearer {text}"}


@contextmanager
def listening(folder, *loops, keys=False, role="admin", pages=None):
    """Serve loops on a port of this machine from a thread; give the address and a key."""
    ready, ended = threading.Event(), threading.Event()
    place = SimpleNamespace(address=None, key=None, error=None)

    async def main():
        async with served(folder, *loops, keys=keys, pages=pages) as inside:
            if keys:
                place.key = (await issued(inside, role))["Authorization"].removeprefix("Bearer ")
            place.service, place.ring, place.api = inside.service, inside.ring, inside.api
            place.loop = asyncio.get_running_loop()
            config = uvicorn.Config(
                inside.app, port=0, log_level="error", ws="none", http=LimitedHeaders
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve())
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            place.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
            ready.set()
            while not ended.is_set():
                await asyncio.sleep(0.02)
            server.should_exit = True
            await serving

    def work():
        try:
            asyncio.run(main())
        except BaseException as error:
            place.error = error
            ready.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(60)
    try:
        if place.error is not None:
            raise place.error
        yield place
    finally:
        ended.set()
        thread.join()
