"""A loop whose log cannot be folded is put aside, and stops neither the others nor a start."""

import asyncio
import sqlite3

import pytest

from halfseen.service.exchange import Decide
from halfseen.service.refusals import LoopAside, UnknownDecision
from service.driver import Driver, banner
from service.over_http import LOOP, run


@pytest.fixture
def driver(tmp_path):
    made = Driver(tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    made.wait(made.service.create_loop(banner(name="other")))
    made.submit(Decide("x"))
    yield made
    made.close()


def spoil(path):
    """Write an event that no agent can learn, as an earlier version could."""
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO events (loop, seq, revision, decision, kind, at, reward)"
            " VALUES (1, 2, 1, 'x', 'observed', 1800000000000000, 2e100)"
        )
    connection.close()


def test_a_start_serves_the_other_loops_and_says_what_is_wrong(driver, tmp_path, capsys):
    driver.drop()
    spoil(tmp_path / "log.sqlite")
    driver.open()
    reason = (
        "Loop banner is put aside: its log cannot be replayed (event 2: `reward` must be a number"
        " between -1e+100 and 1e+100; got 2e+100. Use miss() for missing feedback). The other loops"
        " are served."
    )
    assert driver.service.aside == {"banner": reason}
    assert reason in capsys.readouterr().err
    with pytest.raises(LoopAside, match="put aside"):
        driver.submit(Decide("y"))
    with pytest.raises(LoopAside):
        driver.wait(driver.service.create_loop(banner()))
    for ask in (driver.service.loops_of, driver.service.forget):
        with pytest.raises(LoopAside):
            driver.wait(ask("x"))
    assert driver.submit(Decide("y"), loop="other")[0].state == "pending"
    assert driver.wait(driver.service.check()) == [reason]
    assert driver.service.numbers()["aside"] == 1
    assert driver.service.ready


def test_an_event_of_another_process_refuses_the_requests_of_its_loop_only(driver, tmp_path):
    spoil(tmp_path / "log.sqlite")
    submit = driver.service.submit

    async def both():
        calls = submit("banner", [Decide("y")]), submit("other", [Decide("y")])
        return await asyncio.gather(*calls, return_exceptions=True)

    refused, (made,) = driver.wait(both())
    assert isinstance(refused, LoopAside)
    assert made.state == "pending"
    assert driver.service.writer.queued == 0


def test_what_was_committed_and_cannot_be_folded_stops_its_loop_only(driver, monkeypatch):
    def fold_all(events):
        raise ZeroDivisionError

    monkeypatch.setattr(driver.state(), "fold_all", fold_all)
    with pytest.raises(LoopAside, match="ZeroDivisionError"):
        driver.submit(Decide("y"))
    assert driver.submit(Decide("y"), loop="other")[0].state == "pending"
    driver.drop()
    driver.open()
    assert driver.state().find("y").state == "pending"  # a restart folds it after all


def test_readiness_and_status_say_it_over_http(tmp_path):
    async def ask(place):
        place.service._put_aside(1, "offers", ValueError())
        ready = await place.client.get("/readyz")
        status = await place.client.get("/v1/loops/offers")
        lost = await place.client.post("/v1/decisions/none/outcome", json={"reward": 1})
        return ready, status, lost

    ready, status, lost = run(tmp_path, ask, LOOP, LOOP | {"name": "other"})
    assert ready.status_code == 200
    assert ready.json()["aside"] == ["Loop offers is put aside: its log cannot be replayed."]
    assert status.status_code == 503
    assert "(ValueError)" in status.json()["detail"]
    assert lost.json()["title"] == UnknownDecision.title  # not kept for the loop that is left
