"""Windows last as long as a loop said when it decided, whatever its clock and its settings do."""

import duckdb
import pytest

from halfseen.service.exchange import Activate, Decide, Outcome
from halfseen.service.log_export import export_file
from service.driver import SECOND, Driver, banner, replay

YEARS = 10 * 366 * 86_400 * SECOND


@pytest.fixture
def driver(tmp_path):
    made = Driver(tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    yield made
    assert made.wait(made.service.check()) == []
    assert made.state().to_dict() == replay(made).to_dict()
    made.close()


def counts(driver):
    tally = driver.state().tally
    return tally.pending, tally.observed, tally.censored


def test_a_clock_set_far_forward_and_back_leaves_no_window_open(driver):
    began = driver.now
    driver.now += YEARS
    driver.submit(Decide("then"))
    driver.now = began + SECOND
    (after,) = driver.submit(Decide("after"))
    assert after.expires_at == driver.now + 10 * SECOND
    (again,) = driver.submit(Decide("then"))
    assert again.expires_at == driver.now + 10 * SECOND  # its window began anew
    driver.submit(Outcome("early", 1.0))
    driver.now += 11 * SECOND
    driver.sweep()
    assert counts(driver) == (0, 0, 2)
    assert driver.submit(Outcome("then", 1.0))[0].state == "late"
    assert driver.submit(Decide("early"))[0].state == "pending"  # its outcome waited one window


@pytest.mark.parametrize("restart", [False, True])
def test_the_sweeper_alone_notices_that_the_clock_was_set_back(driver, restart):
    driver.now += YEARS
    driver.submit(Decide("x"))
    driver.now -= YEARS
    for _ in range(3):  # once is enough
        driver.sweep()
    assert driver.state().seq == 2
    if restart:
        driver.restart()
    driver.now += 11 * SECOND
    driver.sweep()
    assert counts(driver) == (0, 0, 1)


def test_a_clock_a_little_behind_the_log_is_waited_for(driver):
    driver.submit(Decide("x"))
    last = driver.now
    driver.now -= 9 * SECOND
    assert driver.submit(Decide("y"))[0].expires_at == last + 10 * SECOND
    assert driver.state().seq == 2


def test_what_was_decided_in_a_wrong_year_is_exported_archived_and_erased_by_the_right_one(driver):
    began = driver.now
    driver.now += YEARS
    driver.submit(Decide("then"), Outcome("lost", 1.0))
    driver.now = began + SECOND
    driver.submit(Outcome("then", 1.0))
    file = driver.wait(export_file(driver.service, "banner", "parquet"))
    times = "epoch_us(decided_at), epoch_us(shown_at), epoch_us(ended_at)"
    with duckdb.connect() as connection:
        row = connection.execute(f"SELECT {times} FROM read_parquet('{file}')").fetchone()
    file.unlink()
    assert row == (driver.now,) * 3
    driver.now += 3 * 86_400 * SECOND
    driver.wait(driver.service.revise_loop(banner(retention=2.0)))
    assert driver.wait(driver.service.apply_retention()) == {"banner": 3}
    assert driver.state().find("then") is None


def test_decisions_keep_the_window_under_which_they_were_made(driver):
    held = driver.submit(Decide("long"), Decide("held", hold=True))[0]
    assert driver.wait(driver.service.revise_loop(banner(window=2.0)))["refolded"] is False
    (short,) = driver.submit(Decide("short"))
    assert driver.submit(Decide("long"))[0].expires_at == held.expires_at
    assert short.expires_at == driver.now + 2 * SECOND
    driver.restart()
    driver.drop()
    driver.open()
    driver.submit(Activate("held"))
    driver.now += 3 * SECOND
    driver.sweep()  # the one made last closes first
    assert [driver.state().find(name).state for name in ("long", "short", "held")] == [
        "pending",
        "censored",
        "pending",
    ]
    assert driver.submit(Outcome("long", 1.0))[0].state == "observed"
    driver.now += 8 * SECOND
    driver.sweep()
    assert counts(driver) == (0, 1, 2)


def test_the_window_can_change_after_events_were_archived(driver):
    driver.submit(Decide("x"), Outcome("x", 1.0))
    driver.now += 10**12
    driver.wait(driver.service.archive(driver.database.parent / "old", days=1.0))
    driver.wait(driver.service.revise_loop(banner(window=20.0)))
    assert driver.submit(Decide("y"))[0].expires_at == driver.now + 20 * SECOND


def test_outcomes_without_a_decision_take_the_same_time_however_many_there_are(driver):
    for start in range(0, 4000, 1000):
        driver.submit(*[Outcome(f"o{start + k}", 1.0) for k in range(1000)])
    looked = 0

    class Counted(dict):
        def values(self):
            for value in super().values():
                nonlocal looked
                looked += 1
                yield value

    state = driver.state()
    state.orphans = Counted(state.orphans)
    driver.submit(Outcome("one more", 1.0))
    assert looked == 1
    state.orphans = dict(state.orphans)
