"""Transactions hold what has queued, and wait for more only where a commit is slow."""

import asyncio

import pytest

from halfseen.service import writer as writing
from halfseen.service.exchange import Decide
from service.driver import Driver, banner


@pytest.fixture
def driver(tmp_path):
    made = Driver(tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    yield made
    made.close()


def test_where_commits_are_slow_a_transaction_waits_for_the_clients_answered_last(
    driver, monkeypatch
):
    monkeypatch.setattr(writing, "LONGEST_PAUSE", 60.0)
    writer = driver.service.writer
    writer._usual, writer._expected = 120.0, 3
    append, sizes = writer.log.append, []
    monkeypatch.setattr(writer.log, "append", lambda e: (sizes.append(len(e)), append(e)))

    async def run():
        submit = driver.service.submit
        calls = [asyncio.ensure_future(submit("banner", [Decide()])) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert not any(call.done() for call in calls)
        await asyncio.gather(*calls, submit("banner", [Decide()]))

    driver.wait(run())
    assert sizes == [3]


def test_a_client_alone_never_waits_for_others(driver, monkeypatch):
    monkeypatch.setattr(writing, "LONGEST_PAUSE", 3600.0)
    writer = driver.service.writer
    for _ in range(3):
        writer._usual = 7200.0
        driver.submit(Decide())
    assert writer._expected == 1


def test_clients_that_have_gone_away_are_waited_for_once(driver):
    writer = driver.service.writer
    writer._usual, writer._expected = 0.02, 5
    driver.submit(Decide())
    assert writer._expected == 1
