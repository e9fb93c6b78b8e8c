"""Archiving, retention and forgetting lose nothing that may still come, and replay exactly."""

import contextlib
import json
import sqlite3
import zlib

import duckdb
import pytest

from halfseen.errors import InvalidInput
from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Activate, Decide, Noted, Outcome
from halfseen.service.refusals import StorageUnavailable
from halfseen.service.state_snapshots import packed, write_snapshot
from service.driver import SECOND, Driver, banner, replay

DAY = 86_400 * SECOND


def opened(tmp_path, **changes):
    driver = Driver(tmp_path / "log.sqlite")
    driver.wait(driver.service.create_loop(banner(**changes)))
    return driver


def exported(driver):
    async def rows():
        return [row async for some in driver.service.rows("banner") for row in some]

    return {row["decision"]: row for row in driver.wait(rows())}


def archived(driver, folder, days=0):
    paths = driver.wait(driver.service.archive(folder, days=days))
    found = {}
    for path in paths:
        query = f"SELECT decision, state, reward FROM '{path}'"
        found |= {name: (state, reward) for name, state, reward in duckdb.sql(query).fetchall()}
    return found


def test_archiving_leaves_what_is_held_or_pending_and_no_reward_is_lost(tmp_path):
    driver = opened(tmp_path)
    driver.submit(Decide("held", hold=True), Decide("open"), Decide("done"), Decide("gone"))
    driver.submit(Outcome("done", 1.0), Outcome("gone", None))
    driver.now += SECOND
    folder = tmp_path / "old"
    assert archived(driver, folder) == {"done": ("observed", 1.0), "gone": ("censored", None)}
    assert set(exported(driver)) == {"held", "open"}
    driver.restart()
    driver.submit(Outcome("open", 0.5), Activate("held"))
    driver.submit(Outcome("held", 0.25), Decide("new"))
    assert exported(driver)["open"]["reward"] == 0.5
    assert driver.state().to_dict() == replay(driver).to_dict()
    assert driver.wait(driver.service.check()) == []
    driver.now += SECOND
    assert archived(driver, folder) == {"open": ("observed", 0.5), "held": ("observed", 0.25)}
    assert len(list(folder.iterdir())) == 2
    assert set(exported(driver)) == {"new"}
    driver.close()


def test_archiving_leaves_decisions_whose_late_reward_would_be_learned(tmp_path):
    driver = opened(tmp_path, late="learn")
    driver.submit(Decide("x"), Decide("y"))
    driver.submit(Outcome("x", None), Outcome("y", 1.0))
    driver.now += 100 * DAY
    assert archived(driver, tmp_path / "old", days=1) == {"y": ("observed", 1.0)}
    assert driver.submit(Outcome("x", 1.0)) == [Noted("x", "late")]
    driver.now += 100 * DAY
    assert archived(driver, tmp_path / "old", days=1) == {"x": ("observed", 1.0)}
    driver.close()


def test_retention_leaves_what_is_held_and_deletes_what_has_ended(tmp_path):
    driver = opened(tmp_path, retention=10.0)
    driver.submit(Decide("held", hold=True), Decide("done"), Outcome("none", 1.0))
    driver.submit(Outcome("done", 1.0))
    driver.now += 11 * DAY
    driver.submit(Outcome("other", 1.0))  # clears what waited too long
    assert driver.wait(driver.service.apply_retention()) == {"banner": 3}
    assert driver.wait(driver.service.apply_retention()) == {"banner": 0}
    driver.submit(Activate("held"))
    driver.submit(Outcome("held", 1.0))
    assert exported(driver)["held"]["reward"] == 1.0
    assert driver.state().to_dict() == replay(driver).to_dict()
    driver.close()


@pytest.mark.parametrize("hold", [False, True])
def test_a_forgotten_outcome_without_a_decision_is_forgotten_in_a_replay_too(tmp_path, hold):
    driver = opened(tmp_path)
    driver.submit(Outcome("o", 1.0), Outcome("p", 1.0))
    if hold:
        driver.submit(Decide("o", hold=True))
    assert driver.wait(driver.service.forget("o")) == 1
    assert list(driver.state().orphans) == ["p"]
    assert driver.state().to_dict() == replay(driver).to_dict()
    driver.restart()
    assert driver.wait(driver.service.check()) == []
    (decided,) = driver.submit(Decide("o"))
    assert decided.state == "pending"
    driver.close()


def test_a_late_reward_that_is_learned_is_the_reward_of_the_export(tmp_path):
    driver = opened(tmp_path, late="learn")
    driver.submit(Decide("x"), Outcome("x", None))
    driver.submit(Outcome("x", 1.0))
    row = exported(driver)["x"]
    assert (row["state"], row["reward"], row["late_reward"]) == ("observed", 1.0, 1.0)
    driver.close()


def test_late_rewards_of_an_export_follow_the_rule_for_several(tmp_path):
    driver = opened(tmp_path, rewards="sum")
    driver.submit(Decide("x"), Outcome("x", None), Outcome("x", 1.0), Outcome("x", 5.0))
    row = exported(driver)["x"]
    assert (row["state"], row["reward"], row["late_reward"]) == ("censored", None, 6.0)
    driver.close()


def test_the_export_names_the_arms_on_offer_where_not_all_were(tmp_path):
    driver = opened(tmp_path)
    driver.submit(Decide("x", ["b", "c"]), Decide("y"))
    rows = exported(driver)
    assert (rows["x"]["available"], rows["y"]["available"]) == ('["b", "c"]', None)
    driver.close()


FEATURES = {"arms": None, "dimension": 2, "policy": {"kind": "lin-ucb"}}
ROWS = [[1.0, 0.0], [0.0, 1.0]]


def everything(path):
    """Return all that a file of SQLite and its journal and snapshots hold."""
    with sqlite3.connect(path) as connection:
        states = connection.execute("SELECT state FROM snapshots").fetchall()
    connection.close()
    journal = path.with_name(path.name + "-wal").read_bytes()
    return b"".join(zlib.decompress(state) for (state,) in states) + path.read_bytes() + journal


@pytest.mark.parametrize("changes", [{}, FEATURES])
def test_what_retention_deletes_is_nowhere_any_more(tmp_path, changes):
    driver = opened(tmp_path, retention=1.0, **changes)
    rows = ROWS if changes else None
    driver.submit(Decide("secret-1", features=rows), Outcome("secret-2", 0.25))
    driver.submit(Outcome("secret-1", 0.75), Decide("open", features=rows, hold=True))
    learned = driver.state().agent.observations
    driver.wait(driver.service._write_snapshot(driver.service.loop("banner")))
    driver.now += 2 * DAY
    assert driver.wait(driver.service.apply_retention()) == {"banner": 3}
    assert b"secret" not in everything(tmp_path / "log.sqlite")
    assert "secret" not in json.dumps(driver.state().to_dict())
    assert driver.state().agent.observations == learned == 1
    assert driver.state().find("open") is not None
    assert driver.state().to_dict() == replay(driver).to_dict()
    (made,) = driver.submit(Decide("secret-1", features=rows))
    assert made.created
    state = driver.state().to_dict()
    driver.drop()
    driver.open()
    assert driver.state().to_dict() == state
    assert driver.wait(driver.service.check()) == []
    seq = driver.state().seq
    assert driver.wait(driver.service.apply_retention()) == {"banner": 0}
    driver.now += 2 * DAY
    driver.wait(driver.service.apply_retention())
    assert driver.state().seq == seq  # deleting the notes of what was deleted makes no new ones
    driver.close()


def test_retention_erases_from_memory_what_was_archived_before(tmp_path):
    driver = opened(tmp_path, retention=1.0)
    driver.submit(Decide("old"), Outcome("old", 1.0), Decide("young"))
    driver.now += 1
    archived(driver, tmp_path / "files")
    assert driver.state().find("old") is not None
    driver.now += DAY // 2
    driver.wait(driver.service.apply_retention())
    assert driver.state().find("old") is not None
    driver.now += DAY
    driver.wait(driver.service.apply_retention())
    assert driver.state().find("old") is None
    assert driver.state().to_dict() == replay(driver).to_dict()
    driver.close()


@pytest.mark.slow
@pytest.mark.parametrize("work", ["forget", "retention"])
@pytest.mark.parametrize("changes", [{}, FEATURES])
def test_a_kill_at_any_statement_of_an_erasure_loses_nothing(tmp_path, monkeypatch, work, changes):
    driver = opened(tmp_path, retention=1.0, **changes)
    rows = ROWS if changes else None
    driver.submit(Decide("x", features=rows), Decide("y", features=rows, hold=True))
    driver.submit(Outcome("x", 1.0))
    driver.now += 2 * DAY
    before, run = driver.state().to_dict(), EventLog._run
    for place in range(100):
        left = place

        def kill(log, statement, values=()):
            nonlocal left
            if log is driver.service.writer.log:
                left -= 1
                if left < 0:
                    log.close()  # what was not committed is lost
                    raise StorageUnavailable("Killed.")
            return run(log, statement, values)

        service = driver.service
        erase = service.forget("x") if work == "forget" else service.apply_retention()
        monkeypatch.setattr(EventLog, "_run", kill)
        with contextlib.suppress(StorageUnavailable):
            driver.wait(erase)
        monkeypatch.setattr(EventLog, "_run", run)
        driver.drop()
        driver.open()
        assert driver.service.aside == {}
        assert driver.wait(driver.service.check()) == []
        assert driver.state().agent.observations == 1
        assert driver.state().to_dict() == replay(driver).to_dict()
        if driver.state().find("x") is None:
            break
        assert driver.state().to_dict() == before
    assert 5 < place < 30
    assert b'"x"' not in everything(tmp_path / "log.sqlite")
    driver.close()


def test_a_snapshot_from_before_an_erasure_is_not_stored_after_it(tmp_path):
    driver = opened(tmp_path)
    driver.submit(Decide("secret-1"), Outcome("secret-1", 1.0))
    live = driver.service.loop("banner")
    content, seq = packed(live.state.to_dict()), live.state.seq
    driver.wait(driver.service.forget("secret-1"))
    driver.wait(driver.service.writer.do(lambda log: write_snapshot(log, live.id, seq, content, 1)))
    assert b"secret" not in everything(tmp_path / "log.sqlite")
    driver.close()


def test_what_was_archived_is_forgotten_in_memory_and_snapshots(tmp_path):
    driver = opened(tmp_path)
    driver.submit(Decide("jane@example.org"), Decide("open"))
    driver.submit(Outcome("jane@example.org", 1.0))
    driver.now += SECOND
    assert set(archived(driver, tmp_path / "old")) == {"jane@example.org"}
    assert driver.state().find("jane@example.org") is not None
    assert driver.wait(driver.service.forget("jane@example.org")) == 1
    assert driver.wait(driver.service.forget("jane@example.org")) == 0
    driver.restart()
    assert driver.state().find("jane@example.org") is None
    assert "jane" not in json.dumps(driver.state().to_dict())
    assert driver.wait(driver.service.check()) == []
    driver.close()


def test_retention_of_a_loop_that_fails_does_not_spare_the_others(tmp_path, monkeypatch):
    driver = opened(tmp_path, retention=10.0)
    driver.wait(driver.service.create_loop(banner(name="other", retention=10.0)))
    asked = []

    async def failing(service, live, days):
        asked.append(live.name)
        raise OverflowError

    monkeypatch.setattr("halfseen.service.erasure.delete_older", failing)
    with pytest.raises(OverflowError) as caught:
        driver.wait(driver.service.apply_retention())
    assert asked == ["banner", "other"]
    assert caught.value.__notes__ == ["loop banner"]
    driver.close()


def test_retention_has_an_end():
    with pytest.raises(InvalidInput, match="`retention` must be"):
        banner(retention=1e300)


@pytest.mark.parametrize("what", ["export", "archive"])
def test_what_is_forgotten_while_the_log_is_read_stops_no_reading(tmp_path, monkeypatch, what):
    driver = opened(tmp_path)
    driver.submit(Decide("x"), Outcome("x", 1.0))
    driver.now += 10**12
    reader = driver.service._reader
    events_of = reader.events_of

    def meanwhile(loop, names):
        with sqlite3.connect(tmp_path / "log.sqlite") as other:
            other.execute("UPDATE events SET decision = 'forgotten-1'")
        other.close()
        return events_of(loop, names)

    async def exported():
        return [row["reward"] async for rows in driver.service.rows("banner") for row in rows]

    monkeypatch.setattr(reader, "events_of", meanwhile)
    if what == "export":
        assert driver.wait(exported()) == [1.0]
    else:
        (path,) = driver.wait(driver.service.archive(tmp_path / "old", days=1.0))
        assert path.exists()
    driver.close()
