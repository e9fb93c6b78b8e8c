"""Kill a service under load again and again, and compare its log with what it had answered.

`python crashes.py DATABASE KILLS SEED` serves from a forked process, kills that at a random
moment, opens the database anew and raises an AssertionError if anything answered is not there, is
there twice, or was learned twice.
"""

import asyncio
import os
import random
import signal
import sys
import time

from halfseen.service.decision_service import Service
from halfseen.service.exchange import Decide, Outcome
from halfseen.service.fold import LoopState
from halfseen.service.loop_config import loop_config
from halfseen.service.refusals import Refusal

CLIENTS = 12
ONE_LOG = 30  # kills before another log is begun
CONFIG = {
    "name": "banner",
    "arms": ["a", "b", "c"],
    "policy": {"kind": "bernoulli-thompson"},
    "reward": "bernoulli",
    "window": 0.1,
}


async def client(service, say, chance):
    while True:
        name = f"{chance.getrandbits(64):016x}" if chance.random() < 0.5 else None
        try:
            (made,) = await service.submit("banner", [Decide(name)])
            say(f"D {made.id} {made.arm} {made.probability!r}")
            if chance.random() < 0.2:
                await asyncio.sleep(0.15)
            if chance.random() < 0.7:
                reward = float(chance.random() < 0.5)
                (noted,) = await service.submit("banner", [Outcome(made.id, reward)])
                say(f"O {made.id} {noted.state} {reward!r}")
        except Refusal:  # the database is away for a moment
            await asyncio.sleep(0.01)


async def serve(database, pipe, seed):
    """Serve and report every answer until killed."""
    service = await Service.open(database, snapshot_every=200)
    await service.create_loop(loop_config(CONFIG))

    def say(text):
        os.write(pipe, f"{text}\n".encode())

    say("ready")
    chances = [random.Random(f"{seed}/{k}") for k in range(CLIENTS)]
    await asyncio.gather(*(client(service, say, chance) for chance in chances))


class Seen:
    """What the log held when it was last compared: its events by decision, and their fold."""

    def __init__(self):
        self.found, self.rewards, self.state = {}, [], None

    async def follow(self, service):
        live = service.loop("banner")
        if self.state is None:
            self.state = LoopState(live.id, live.state.configs)
        while self.state.seq != live.state.seq:  # a server may still commit the last
            async for events in service.events("banner", self.state.seq):
                self.state.fold_all(events)
                for event in events:
                    self.found.setdefault((event.decision, event.kind), []).append(event)
                self.rewards += [e.reward for e in events if e.kind == "observed"]


async def compare(database, answered, seen=None):
    """Assert that the log holds what was answered, once, and that the state is its fold.

    With what was `seen` before, only what is new is read; else everything is, and snapshots are
    compared with a replay.
    """
    service = await Service.open(database, read_only=seen is not None, sweep=False)
    found = Seen() if seen is None else seen
    await found.follow(service)
    for line in answered:
        kind, name, *rest = line.split()
        if kind == "D":
            (event,) = found.found[name, "decided"]
            assert (event.arm, event.probability) == (rest[0], float(rest[1])), line
        else:
            (event,) = found.found[name, rest[0]]
            assert event.reward == float(rest[1]), line
    agent = service.loop("banner").state.agent
    assert all(len(e) == 1 for (_, kind), e in found.found.items() if kind == "observed")
    assert sum(agent._seen) == len(found.rewards)
    assert sum(agent._totals) == sum(found.rewards)
    assert found.state.to_dict() == service.loop("banner").state.to_dict()
    if seen is None:
        assert await service.check() == []
    await service.close()
    return found.state.seq


def killed(database, seed, seconds):
    """Serve from a forked process, kill it after a time, and return what it had answered."""
    out, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        asyncio.run(serve(database, pipe, seed))
    os.close(pipe)
    with os.fdopen(out, "rb") as lines:
        assert lines.readline() == b"ready\n"
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        said = lines.read().decode()
    os.waitpid(child, 0)
    return said[: said.rfind("\n") + 1].splitlines()


def main(database, kills, seed):
    chance = random.Random(seed)
    for first in range(0, kills, ONE_LOG):  # short logs are opened quickly
        last = min(first + ONE_LOG, kills)
        place = database if "://" in database else f"{database}-{first}"
        asyncio.run(prepare(place))
        answered, seen = [], Seen()
        for k in range(first, last):
            new = killed(place, f"{seed}/{k}", chance.uniform(0.0, 0.3))
            answered += new
            events = asyncio.run(compare(place, new, seen))
            print(f"{k + 1} kills, {events} events", flush=True)
        asyncio.run(compare(place, answered))


async def prepare(database):
    """Create the loop, so that everything is compiled before the first fork."""
    service = await Service.open(database)
    await service.create_loop(loop_config(CONFIG))
    (made,) = await service.submit("banner", [Decide()])
    await service.submit("banner", [Outcome(made.id, 1.0)])
    await service.close()


if __name__ == "__main__":
    if sys.argv[2] == "serve":  # until killed from outside
        asyncio.run(serve(sys.argv[1], sys.stdout.fileno(), sys.argv[3]))
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
