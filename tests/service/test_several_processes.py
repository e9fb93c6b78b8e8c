"""Several services on one PostgreSQL: the same log, the same agents. `make test-postgres`."""

import asyncio
import contextlib
import random
import subprocess
import sys
import time

import psycopg
import pytest

from halfseen.service import event_log
from halfseen.service.decision_service import Service
from halfseen.service.erasure import delete_older
from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Activate, Decide, Outcome, Served
from halfseen.service.refusals import Refusal, StorageUnavailable
from service import crashes
from service.crashes import compare, prepare
from service.driver import banner, replay_of

pytestmark = [pytest.mark.postgres, pytest.mark.filterwarnings("ignore")]


async def at_rest(*services, pending=None):
    """Wait until every service has folded the whole log; return its fold, which is theirs, too.

    A window may close at any moment: only states and a replay of one length are compared.
    """
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        await asyncio.sleep(0.3)
        replayed = (await replay_of(services[0])).to_dict()
        states = [service.loop("banner").state.to_dict() for service in services]
        if {state["seq"] for state in states} != {replayed["seq"]}:
            continue
        if pending in (None, replayed["tally"]["pending"]):
            assert all(state == replayed for state in states)
            return replayed
    raise AssertionError("no rest")


async def feed(service, chance, rounds, names):
    """Ask at random, about decisions that others ask about too; try again if storage is away."""
    for _ in range(rounds):
        name = f"d{chance.randrange(names)}"
        item = chance.choice(
            [
                Decide(name),
                Decide(name, hold=True),
                Activate(name),
                Served(name, chance.choice("abc")),
                Outcome(name, chance.choice([None, 0.0, 1.0])),
            ]
        )
        while True:
            try:
                await service.submit("banner", [item])
                break
            except StorageUnavailable:
                await asyncio.sleep(0.05)


def start_again(server):
    """Start a server, which may take longer than its package waits for."""
    for _ in range(100):
        try:
            return server.start()
        except (AssertionError, subprocess.SubprocessError):
            time.sleep(0.2)
    raise AssertionError("the server does not start")


@contextlib.asynccontextmanager
async def two(address, **changes):
    """Open two services on one database, and close them whatever happens."""
    async with contextlib.AsyncExitStack() as stack:
        opened = []
        for _ in range(2):
            opened.append(await Service.open(address))
            stack.push_async_callback(opened[-1].close)
            if len(opened) == 1:
                await opened[0].create_loop(banner(**changes))
        yield opened


@pytest.mark.parametrize("policy", ["ucb", "gaussian-thompson"])
def test_two_services_fed_at_random_end_with_equal_agents_bit_for_bit(address, policy):
    async def run():
        async with two(address, window=0.5, policy={"kind": policy}) as (first, second):
            feeds = [
                feed(service, random.Random(k), 40, 60)
                for k, service in enumerate([first, second, first, second, first, second])
            ]
            await asyncio.gather(*feeds)
            state = await at_rest(first, second, pending=0)  # windows close
            assert state["tally"]["decided"] > 30

    asyncio.run(run())


def test_one_decision_asked_of_two_services_at_once_is_made_once(address):
    async def run():
        async with two(address) as services:
            for k in range(20):
                answers = await asyncio.gather(
                    *(s.submit("banner", [Decide(f"d{k}")]) for s in services)
                )
                (one,), (other,) = answers
                assert (one.arm, one.probability) == (other.arm, other.probability)
                assert {one.created, other.created} == {True, False}
            assert (await at_rest(*services))["tally"]["decided"] == 20

    asyncio.run(run())


def test_a_new_arm_and_a_new_policy_reach_the_other_service(address):
    async def run():
        async with two(address) as (first, second):
            await feed(first, random.Random(0), 30, 20)
            await first.revise_loop(banner(arms=["a", "b", "c", "d"]))
            await feed(second, random.Random(1), 10, 20)
            assert second.config("banner").arms == ["a", "b", "c", "d"]
            await second.revise_loop(
                banner(arms=["a", "b", "c", "d"], policy={"kind": "gaussian-thompson"})
            )
            await feed(first, random.Random(2), 10, 20)
            await at_rest(first, second)

    asyncio.run(run())


def test_a_service_that_lagged_while_events_were_deleted_goes_on_from_the_snapshot(address):
    async def run():
        async with two(address) as (first, second):
            second._tasks[0].cancel()  # it follows no more
            await feed(first, random.Random(0), 30, 20)
            live = first.loop("banner")
            assert await delete_older(first, live, 0.0) > 0
            (made,) = await second.submit("banner", [Decide("after")])
            assert made.version == live.state.seq
            await at_rest(first, second)

    asyncio.run(run())


def test_a_service_that_lagged_goes_on_though_only_the_first_events_were_left(address):
    async def run():
        async with two(address) as (first, second):
            second._tasks[0].cancel()  # it follows no more
            await first.submit("banner", [Decide("held", hold=True), Decide("x")])
            await first.submit("banner", [Outcome("x", 1.0)])
            await asyncio.sleep(0.01)
            live = first.loop("banner")
            assert await delete_older(first, live, 0.0) == 2
            (made,) = await second.submit("banner", [Decide("after")])
            assert made.version == 4
            await at_rest(first, second)

    asyncio.run(run())


def test_a_server_that_restarts_loses_nothing_and_the_services_go_on(address, server):
    async def run():
        async with two(address) as (first, second):
            work = asyncio.gather(
                *(feed(s, random.Random(k), 150, 80) for k, s in enumerate([first, second] * 3))
            )
            await asyncio.sleep(0.2)
            await asyncio.to_thread(server.stop)
            with contextlib.suppress(Refusal):
                await first.submit("banner", [Decide("while away")])
            assert (await first.status("banner"))["loop"] == "banner"  # reading goes on
            await asyncio.to_thread(start_again, server)
            await work
            await at_rest(first, second)
            for _ in range(100):  # nothing more is asked
                if not (first.ready and second.ready):
                    await asyncio.sleep(0.1)
            assert first.ready
            assert second.ready
            assert first.numbers()["failures"] + second.numbers()["failures"] > 0

    asyncio.run(run())


def test_a_service_that_is_closed_while_its_threads_connect_leaves_no_connection(address):
    async def run():
        made = []
        async with two(address) as (service, _):
            follows = service._tasks[0]
            follows.cancel()
            await asyncio.wait([follows])
            await service.tail._in_thread(service.tail._disconnect)
            await service.read(EventLog.close)
            connect = service.database.connect

            def slowly():
                time.sleep(0.3)
                made.append(connect())
                return made[-1]

            service.database.connect = slowly
            waiting = [
                asyncio.ensure_future(service.tail._something_new()),
                asyncio.ensure_future(service.read(lambda log: log.tip(1))),
            ]
            await asyncio.sleep(0.1)
            for one in waiting:
                one.cancel()
        assert len(made) == 2
        assert all(connection.closed for connection in made)
        with pytest.raises(StorageUnavailable, match="has stopped"):
            await service.read(lambda log: log.tip(1))

    asyncio.run(run())


@pytest.mark.parametrize("read_only", [False, True])
def test_a_service_whose_queries_wait_for_a_lock_is_closed(address, monkeypatch, read_only):
    monkeypatch.setattr(event_log, "PATIENCE", 0.5)

    async def run():
        async with two(address):
            service = await Service.open(address, read_only=read_only)
            with psycopg.connect(address) as other:
                other.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
                reading = asyncio.ensure_future(service.read(lambda log: log.tip(1)))
                await asyncio.sleep(0.5)
                await asyncio.wait_for(service.close(), 10.0)
                with pytest.raises(StorageUnavailable):
                    await reading
                other.rollback()
            await service.close()  # again

    asyncio.run(run())


def test_two_processes_of_which_one_is_killed_lose_nothing(address):
    asyncio.run(prepare(address))
    program = [sys.executable, crashes.__file__, address, "serve"]
    serving = [subprocess.Popen([*program, seed], stdout=subprocess.PIPE) for seed in "ab"]
    for one in serving:
        assert one.stdout.readline() == b"ready\n"
    answered = []
    for one in serving:
        time.sleep(0.7)
        one.kill()
        said = one.stdout.read().decode()
        answered += said[: said.rfind("\n") + 1].splitlines()
        one.wait()
        one.stdout.close()
    assert len(answered) > 20
    asyncio.run(compare(address, answered))


def test_an_outcome_finds_the_decision_that_another_service_just_made(address):
    async def run():
        async with two(address) as (first, second):
            await first.create_loop(banner(name="other"))
            await second.refresh_loops()
            for k in range(5):
                await first.submit("banner", [Decide(f"x{k}")])
                assert await second.loops_of(f"x{k}") == ["banner"]

    asyncio.run(run())


def test_what_one_service_forgets_is_forgotten_by_the_other(address):
    async def run():
        async with two(address) as (first, second):
            await first.submit("banner", [Outcome("o", 1.0)])
            await at_rest(first, second)
            assert await first.forget("o") == 1
            (decided,) = await second.submit("banner", [Decide("o")])
            assert decided.state == "pending"
            assert (await at_rest(first, second))["orphans"] == []
            await first.submit("banner", [Decide("p")])
            assert await second.forget("p") == 1  # the other one made it just now
            await at_rest(first, second)

    asyncio.run(run())


FEATURES = {"arms": None, "dimension": 2, "policy": {"kind": "lin-ucb"}}


@pytest.mark.parametrize("by", ["writer", "tail"])
@pytest.mark.parametrize("changes", [FEATURES, {"late": "learn"}])
def test_a_service_that_lagged_while_a_decision_was_forgotten_goes_on(address, by, changes):
    async def run():
        async with two(address, **changes) as (first, second):
            rows = [[1.0, 0.0], [0.0, 1.0]] if "dimension" in changes else None
            await first.submit("banner", [Decide("x", features=rows), Outcome("x", None)])
            await at_rest(first, second)
            second._tasks[0].cancel()  # it follows no more
            late = [Outcome("x", 1.0), Decide("y", features=rows), Outcome("y", 0.5)]
            await first.submit("banner", late)
            assert [await first.forget(name) for name in "xy"] == [1, 1]
            if by == "writer":
                await second.submit("banner", [Decide("after", features=rows)])
            else:
                await second.follow(second.loop("banner"))
            state = await at_rest(first, second)
            assert state["tally"]["late_learned"] == int("late" in changes)

    asyncio.run(run())


def test_what_one_service_deletes_leaves_the_memory_of_the_other(address):
    async def run():
        async with two(address) as (first, second):
            await first.submit("banner", [Decide("x"), Outcome("x", 1.0), Outcome("early", 1.0)])
            await at_rest(first, second)
            await asyncio.sleep(0.01)
            assert await delete_older(first, first.loop("banner"), 0.0) == 3
            state = await at_rest(first, second)
            assert state["settled"] == state["orphans"] == []

    asyncio.run(run())


def test_a_late_reward_in_the_transaction_of_its_decision_is_stored(address):
    changes = {"arms": None, "dimension": 2, "policy": {"kind": "lin-ucb"}, "late": "learn"}
    rows = [[1.0, 0.0], [0.0, 1.0]]
    items = [Decide("q", features=rows), Outcome("q", None), Outcome("q", 1.0)]

    async def run():
        async with two(address, **changes) as (first, second):
            answers = await first.submit("banner", items)
            states = [getattr(answer, "state", None) for answer in answers]
            assert states[1:] == ["censored", "late"]
            assert first.ready
            await at_rest(first, second)

    asyncio.run(run())
