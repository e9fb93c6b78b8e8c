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
from halfseen.service.loop_config import loop_config
from halfseen.service.refusals import Refusal
from halfseen.service.state_snapshots import read_configs, replayed

CLIENTS = 12
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
    service = await Service.open(database, snapshot_every=500)
    await service.create_loop(loop_config(CONFIG))

    def say(text):
        os.write(pipe, f"{text}\n".encode())

    say("ready")
    chances = [random.Random(f"{seed}/{k}") for k in range(CLIENTS)]
    await asyncio.gather(*(client(service, say, chance) for chance in chances))


async def compare(database, answered, thorough=True):
    """Assert that the log holds what was answered, once, and that the state is its fold."""
    service = await Service.open(database, sweep=False)
    live = service.loop("banner")
    log = [None]
    while log[-1] is None or log[-1].seq != live.state.seq:  # a server may still commit the last
        log = [event async for events in service.events("banner") for event in events]
    state = live.state.to_dict()
    found = {}
    for event in log:
        found.setdefault((event.decision, event.kind), []).append(event)
    for line in answered:
        kind, name, *rest = line.split()
        if kind == "D":
            (event,) = found[name, "decided"]
            assert (event.arm, event.probability) == (rest[0], float(rest[1])), line
        else:
            (event,) = found[name, rest[0]]
            assert event.reward == float(rest[1]), line
    learned = [event for (_, kind), rows in found.items() if kind == "observed" for event in rows]
    assert len(learned) == len({event.decision for event in learned})
    assert sum(state["agent"]["observations"]) == len(learned)
    assert sum(state["agent"]["totals"]) == sum(event.reward for event in learned)
    last = log[-1].seq
    fresh = await service.read(
        lambda log: replayed(log, live.id, live.base, read_configs(log, live.id), last)
    )
    assert fresh.to_dict() == state
    if thorough:
        assert await service.check() == []
    await service.close()
    return live.state.seq


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
    asyncio.run(prepare(database))
    answered = []
    for k in range(kills):
        answered += killed(database, f"{seed}/{k}", chance.uniform(0.0, 0.3))
        events = asyncio.run(compare(database, answered, k % 20 == 0 or k == kills - 1))
        print(f"{k + 1} kills, {events} events", flush=True)


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
