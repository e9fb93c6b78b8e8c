"""Nothing rests on a snapshot that cannot be read."""

import sqlite3

import pytest

from halfseen import StorageError
from halfseen.service import state_snapshots
from halfseen.service.exchange import Decide, Outcome
from halfseen.service.state_snapshots import packed, unpacked, write_snapshot
from halfseen.studies.storage import sealed
from service.driver import Driver, banner


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
    content = unpacked(stored)
    return packed(sealed({**content, "agent": 5}))


@pytest.mark.parametrize("broken", [lambda content: b"x", lambda content: damaged(packed(content))])
def test_what_cannot_be_read_back_is_not_stored_and_nothing_is_deleted(
    driver, monkeypatch, capsys, broken
):
    state = driver.state().to_dict()
    monkeypatch.setattr(state_snapshots, "packed", broken)
    with pytest.raises(StorageError, match="event 11 of loop banner was not stored"):
        driver.wait(driver.service.forget("d0"))
    assert asked(driver, "SELECT count(*) FROM events WHERE decision = 'd0'") == [(2,)]
    driver.restart()
    assert "snapshot of event 10 of loop banner was not stored" in capsys.readouterr().err
    assert asked(driver, "SELECT seq FROM snapshots") == []
    assert driver.state().to_dict() == state


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
    asked(driver, "INSERT INTO snapshots VALUES (1, 9, 2, ?)", packed(wrong.to_dict()))
    driver.open()
    assert driver.state().to_dict() == state


def test_what_comes_while_a_snapshot_is_written_does_not_change_it(driver):
    driver.wait(driver.service.revise_loop(banner(rewards="sum")))
    driver.submit(Outcome("early", 1.0, 1))
    content = driver.state().to_dict()
    driver.submit(Outcome("early", 1.0, 2))
    assert sealed(content) == content


def test_a_snapshot_from_before_a_revision_is_not_stored_after_it(driver):
    stored, seq = packed(driver.state().to_dict()), driver.state().seq
    driver.wait(driver.service.revise_loop(banner(rewards="sum")))
    driver.wait(driver.service.writer.do(lambda log: write_snapshot(log, 1, seq, stored, 1)))
    assert asked(driver, "SELECT seq FROM snapshots") == []
    assert driver.wait(driver.service.check()) == []
