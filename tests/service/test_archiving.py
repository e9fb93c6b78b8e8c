"""Archiving, retention and forgetting lose nothing that may still come, and replay exactly."""

import duckdb
import pytest

from halfseen.service.exchange import Activate, Decide, Noted, Outcome
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
