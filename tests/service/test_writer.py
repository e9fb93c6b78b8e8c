"""Transactions hold what has queued, and wait for more only where a commit is slow."""

import asyncio

import pytest

from halfseen.service import planning
from halfseen.service import writer as writing
from halfseen.service.exchange import Decide, Noted, Outcome
from halfseen.service.refusals import StorageUnavailable
from service.driver import Driver, banner

SERVER = [pytest.mark.postgres, pytest.mark.filterwarnings("ignore")]


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


@pytest.fixture(params=["sqlite", pytest.param("server", marks=SERVER)])
def anywhere(request, tmp_path):
    server = request.param == "server"
    made = Driver(request.getfixturevalue("address") if server else tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    made.wait(made.service.create_loop(banner(name="other")))
    yield made
    made.close()


def test_what_the_database_never_takes_fails_its_own_call_only(anywhere, monkeypatch, capsys):
    driver, submit = anywhere, anywhere.service.submit
    marks = {"bad": 2**70, "good": 7}  # a column takes 63 bits
    monkeypatch.setattr(planning, "mark_of", marks.get)
    driver.submit(*[Decide(name) for name in "xyz"])
    driver.now += 11_000_000
    driver.service.sweep()

    async def together():
        calls = [submit("banner", [Outcome(name, 1.0, key=key)]) for name, key in asked]
        return await asyncio.gather(*calls, submit("other", [Decide("d")]), return_exceptions=True)

    asked = [("x", "good"), ("y", "bad"), ("z", None)]
    x, y, z, other = driver.wait(together())
    assert (x, z) == ([Noted("x", "late")], [Noted("z", "late")])
    assert other[0].state == "pending"
    assert not isinstance(y, StorageUnavailable)
    assert isinstance(y, Exception)
    assert "loop banner: " in capsys.readouterr().err
    driver.submit()
    assert driver.state().find("y").state == "censored"
    assert driver.service.ready
    assert driver.service.writer.queued == 0


def test_after_a_failure_the_service_is_ready_again_without_another_request(anywhere, monkeypatch):
    driver, log = anywhere, anywhere.service.writer.log
    monkeypatch.setattr(writing, "FIRST_WAIT", 0.01)
    run, away = log._run, True

    def failing(statement, values=()):
        if away:
            raise OSError("no space left")
        return run(statement, values)

    monkeypatch.setattr(log, "_run", failing)

    async def recovered():
        for _ in range(200):
            if not driver.service.ready:
                await asyncio.sleep(0.01)
        return driver.service.ready

    with pytest.raises(StorageUnavailable):
        driver.submit(Decide())
    assert not driver.service.ready
    driver.wait(asyncio.sleep(0.05))
    assert not driver.service.ready
    away = False
    assert driver.wait(recovered())
    away = True
    with pytest.raises(StorageUnavailable):
        driver.wait(driver.service.archive_loop("other"))
    assert not driver.service.ready
    away = False
    assert driver.wait(recovered())
