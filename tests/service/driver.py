"""A service driven step by step, with a clock of its own."""

import asyncio

from halfseen.service.decision_service import Service
from halfseen.service.loop_config import loop_config
from halfseen.service.state_snapshots import read_configs, replayed

SECOND = 1_000_000
BANNER = {
    "name": "banner",
    "arms": ["a", "b", "c"],
    "policy": {"kind": "ucb"},
    "noise": 0.5,
    "window": 10.0,
    "floor": 0.1,
}


def banner(**changes):
    return loop_config(BANNER | changes)


class Driver:
    """A service whose calls are waited for one by one."""

    def __init__(self, database, **options):
        self.now = 1_800_000_000 * SECOND
        self.database, self.options = database, options
        self.loop = asyncio.new_event_loop()
        self.service = None
        try:
            self.open()
        except BaseException:
            self.loop.close()
            raise

    def open(self):
        options = {"sweep": False, "clock": lambda: self.now} | self.options
        self.service = self.wait(Service.open(self.database, **options))

    def wait(self, awaitable):
        return self.loop.run_until_complete(awaitable)

    def submit(self, *items, loop="banner"):
        return self.wait(self.service.submit(loop, list(items)))

    def sweep(self, loop="banner"):
        self.service.sweep()
        self.submit(loop=loop)

    def state(self, loop="banner"):
        return self.service.loop(loop).state

    def restart(self):
        self.wait(self.service.close())
        self.open()

    def drop(self):
        """End the service as a kill would: nothing is drained and no snapshot is taken."""
        service = self.service
        for task in service._tasks:
            task.cancel()
        service.writer._task.cancel()
        self.wait(asyncio.gather(service.writer._task, *service._tasks, return_exceptions=True))
        service.writer._pool.shutdown()
        service.writer.log.close()
        service.stop_reading()
        service.tail.close()
        service.database.close()

    def close(self):
        self.wait(self.service.close())
        self.loop.close()


async def replay_of(service, loop="banner"):
    """Return the state that the log alone gives."""
    live = service.loop(loop)
    return await service.read(
        lambda log: replayed(log, live.id, live.base, read_configs(log, live.id))
    )


def replay(driver, loop="banner"):
    """Return the state that the log of a driven service alone gives."""
    return driver.wait(replay_of(driver.service, loop))
