"""Nothing rests on a snapshot that cannot be read."""

import asyncio
import json
import sqlite3
import zlib

import pytest

from halfseen import StorageError
from halfseen.service import decision_service, state_snapshots
from halfseen.service.exchange import Activate, Decide, Outcome, Served
from halfseen.service.state_snapshots import Capture, packed, unpacked, write_snapshot
from halfseen.studies.storage import sealed
from service.driver import SECOND, Driver, banner


@pytest.fixture
def driver(tmp_path):
    made = Driver(tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    made.submit(*[Decide(f"d{k}") for k in range(9)], Outcome("d0", 1.0))
    yield made
    made.close()


def asked(driver, statement, *values):
    connection = sqlite3.connect(driver.database)
    with connection:
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


def damaged(stored):
    """Return a snapshot of which only the checksum is right."""
    return in_one(sealed({**unpacked(stored), "agent": 5}))


def in_one(content):
    """Return a snapshot as earlier versions stored it."""
    return zlib.compress(json.dumps(content).encode())


@pytest.mark.parametrize("broken", [lambda lines: b"x", lambda lines: damaged(packed(lines))])
def test_what_cannot_be_read_back_is_not_rested_on_and_nothing_is_deleted(
    driver, monkeypatch, broken
):
    state = driver.state().to_dict()
    monkeypatch.setattr(state_snapshots, "packed", broken)
    with pytest.raises(StorageError, match="event 11 of loop banner was not stored"):
        driver.wait(driver.service.forget("d0"))
    assert asked(driver, "SELECT count(*) FROM events WHERE decision = 'd0'") == [(2,)]
    monkeypatch.setattr(decision_service, "packed", broken)
    driver.restart()
    assert asked(driver, "SELECT seq FROM snapshots") == [(10,)]
    assert driver.state().to_dict() == state  # of the log


def test_snapshots_of_earlier_versions_are_read(driver):
    driver.restart()
    driver.drop()
    state = driver.state().to_dict()
    asked(driver, "UPDATE snapshots SET state = ?", in_one(state))
    driver.open()
    assert driver.state().to_dict() == state
    assert driver.service.loop("banner").snapshot == 10


@pytest.mark.parametrize("rows", [1, 2, 250])
def test_a_snapshot_is_of_one_event_while_the_loop_goes_on(driver, monkeypatch, rows):
    monkeypatch.setattr(state_snapshots, "ROWS", rows)
    driver.wait(driver.service.revise_loop(banner(rewards="sum")))
    driver.submit(Decide("held", hold=True), Decide("gone", hold=True), Outcome("early", 1.0))
    content = driver.state().to_dict()
    lines = Capture(driver.state()).lines()
    written = [next(lines), next(lines)]
    driver.submit(
        *[Outcome("d1", 1.0), Outcome("d8", 1.0), Outcome("d7", None), Served("d6", "c")],
        *[Activate("held"), Outcome("early", 2.0), Decide("early"), Decide("new")],
    )
    driver.wait(driver.service.forget("gone"))
    driver.now += 11 * SECOND
    driver.sweep()
    assert unpacked(packed([*written, *lines])) == content != driver.state().to_dict()
    driver.submit(Outcome("d2", 1.0))
    assert driver.state().watcher is None


def test_a_snapshot_is_of_one_event_when_the_clock_is_set_back_meanwhile(driver, monkeypatch):
    monkeypatch.setattr(state_snapshots, "ROWS", 1)
    content = driver.state().to_dict()
    lines = Capture(driver.state()).lines()
    written = [next(lines)]
    driver.now -= 3600 * SECOND
    driver.submit(Decide("later"))
    assert unpacked(packed([*written, *lines])) == content


def test_requests_are_answered_while_a_snapshot_is_written(driver, monkeypatch):
    monkeypatch.setattr(state_snapshots, "ROWS", 1)
    service = driver.service

    async def both():
        snapshot = asyncio.ensure_future(service._write_snapshot(service.loop("banner")))
        await asyncio.sleep(0)
        answers = await service.submit("banner", [Decide("meanwhile")])
        return answers, snapshot.done(), await snapshot

    answers, done, _ = driver.wait(both())
    assert (answers[0].state, done) == ("pending", False)
    assert asked(driver, "SELECT seq FROM snapshots") == [(10,)]
    assert driver.wait(service.check()) == []


def test_a_start_falls_back_to_the_snapshot_before_one_that_is_damaged(driver):
    driver.restart()
    driver.submit(Decide("later"))
    state = driver.state().to_dict()
    driver.restart()
    driver.drop()
    newest = asked(driver, "SELECT state FROM snapshots WHERE seq = 11")[0][0]
    asked(driver, "UPDATE snapshots SET state = ? WHERE seq = 11", damaged(newest))
    driver.open()
    assert driver.state().to_dict() == state
    assert driver.service.loop("banner").snapshot == 10


def test_a_snapshot_ahead_of_the_log_or_that_the_log_does_not_follow_is_passed_over(driver):
    driver.restart()
    state = driver.state().to_dict()
    driver.submit(Decide("later"))
    driver.restart()
    driver.drop()
    asked(driver, "DELETE FROM events WHERE seq = 11")  # of a backup that is older
    driver.open()
    assert driver.state().to_dict() == state
    driver.drop()
    wrong = driver.state().empty()
    wrong.seq = 9
    asked(driver, "DELETE FROM snapshots")
    asked(driver, "INSERT INTO snapshots VALUES (1, 9, 2, ?)", packed(Capture(wrong).lines()))
    driver.open()
    assert driver.state().to_dict() == state


def test_what_comes_while_a_snapshot_is_written_does_not_change_it(driver):
    driver.wait(driver.service.revise_loop(banner(rewards="sum")))
    driver.submit(Outcome("early", 1.0, 1))
    content = driver.state().to_dict()
    driver.submit(Outcome("early", 1.0, 2))
    assert sealed(content) == content


def test_a_snapshot_from_before_a_revision_is_not_stored_after_it(driver):
    stored, seq = packed(Capture(driver.state()).lines()), driver.state().seq
    driver.wait(driver.service.revise_loop(banner(rewards="sum")))
    driver.wait(driver.service.writer.do(lambda log: write_snapshot(log, 1, seq, stored, 1)))
    assert asked(driver, "SELECT seq FROM snapshots") == []
    assert driver.wait(driver.service.check()) == []
