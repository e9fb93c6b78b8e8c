"""A service with its pages on a port of this machine, fed with decisions and outcomes."""

import asyncio
import re
import time

import httpx
import pytest
from service.over_http import listening

from halfseen.dashboard.page_list import pages_of
from halfseen.service.exchange import Decide, Outcome

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
OFFERS = {
    "name": "offers",
    "arms": ["red", EVIL, "green"],
    "policy": {"kind": "kl-ucb"},
    "reward": "bernoulli",
    "floor": 0.1,
    "window": 600,
    "late": "learn",
}
ARTICLES = {
    "name": "articles",
    "dimension": 3,
    "policy": {"kind": "lin-ucb"},
    "noise": 0.5,
    "window": 60,
}
SEEN = {"red": 3, EVIL: 2, "green": 1}  # one of so many is seen


async def fed(service, loop="offers", count=300, name="visit"):
    """Let a loop decide, and report some outcomes: seen, never to come, and still pending."""
    decided = await service.submit(loop, [Decide(id=f"{name}-{k}") for k in range(count)])
    told = []
    for place, one in enumerate(decided):
        if place % 5 == 4:
            continue
        seen = place % SEEN[one.arm] == 0
        told.append(Outcome(one.id, float(place % 2) if seen else None))
    await service.submit(loop, told)


def audited(place):
    """Wait until the audits of all loops are made, and the forecast of the first."""
    with place.client(place.key) as client:
        for _ in range(300):
            found = re.search(r'data-cell="offers/forecast">([^<]*)<', page := client.get("/").text)
            if "being audited" not in page and found[1] != "–":
                return
            time.sleep(0.1)
    raise AssertionError("The loops are not audited.")


class Place:
    """A service that listens, and the thread it belongs to."""

    def __init__(self, inside):
        self.inside, self.address, self.service = inside, inside.address, inside.service
        self.key = inside.key

    def do(self, work):
        """Run a coroutine where the service lives."""
        return asyncio.run_coroutine_threadsafe(work, self.inside.loop).result(60)

    def client(self, key=None):
        client = httpx.Client(base_url=self.address, timeout=60, follow_redirects=False)
        if key is not None:
            client.cookies.set("halfseen_key", key)
        return client


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A service without keys."""
    folder = tmp_path_factory.mktemp("open")
    with listening(folder, OFFERS, ARTICLES, pages=pages_of) as inside:
        place = Place(inside)
        place.do(fed(place.service))
        audited(place)
        yield place


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A service with keys."""
    folder = tmp_path_factory.mktemp("keys")
    with listening(folder, OFFERS, keys=True, pages=pages_of) as inside:
        place = Place(inside)
        place.do(fed(place.service))
        audited(place)
        yield place
