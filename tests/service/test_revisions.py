"""Loops that several people revise at once stay loops that can be folded."""

import asyncio

import pytest

from halfseen.service import loop_table
from halfseen.service.exchange import Decide, Outcome
from halfseen.service.refusals import Conflict, StorageUnavailable
from service.driver import Driver, banner
from service.over_http import run


@pytest.fixture
def driver(tmp_path):
    made = Driver(tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    yield made
    made.close()


def test_of_two_revisions_at_once_one_is_refused_and_the_loop_still_opens(driver):
    several = [banner(arms=["a", "b", "c", "d"]), banner(window=20.0), banner(window=20.0)]

    async def at_once():
        calls = map(driver.service.revise_loop, several)
        return await asyncio.gather(*calls, return_exceptions=True)

    first, second, _ = driver.wait(at_once())
    assert first["revision"] == 2
    assert isinstance(second, Conflict)
    assert str(second) == ("Loop banner was revised meanwhile. Nothing was changed.")
    ended = driver.service
    driver.restart()
    with pytest.raises(StorageUnavailable, match="is stopping"):
        driver.wait(ended.archive_loop("banner"))
    assert driver.service.aside == {}
    assert driver.service.config("banner").arms == ["a", "b", "c", "d"]
    assert driver.wait(driver.service.revise_loop(several[0]))["revision"] == 2  # again is safe


def test_two_patches_at_once_never_undo_each_other(tmp_path):
    async def ask(place):
        patch = place.client.patch
        changes = [{"arms": ["red", "blue", "green"]}, {"floor": 0.2}]
        calls = [patch("/v1/loops/offers", json=change) for change in changes]
        answers = await asyncio.gather(*calls)
        config = place.service.config("offers")
        return sorted(answer.status_code for answer in answers), len(config.arms), config.floor

    assert run(tmp_path, ask) in [([200, 409], 3, 0.1), ([200, 409], 2, 0.2), ([200, 200], 3, 0.2)]


def test_a_log_that_was_cut_meanwhile_is_not_folded_again(driver):
    driver.submit(Decide("x"), Outcome("x", 1.0))
    driver.now += 10**12
    driver.wait(driver.service.archive(driver.database.parent / "old", days=1.0))
    live = driver.service.loop("banner")
    live.base = 0  # as a process knows it that did not hear of it yet
    with pytest.raises(Conflict, match="archived or erased"):
        driver.wait(driver.service.revise_loop(banner(policy={"kind": "moss"})))


def test_a_revision_that_is_known_and_not_folded_yet_is_not_undone(driver):
    state = driver.state()
    config = banner(arms=["a", "b", "c", "d"])
    driver.wait(driver.service.writer.do(lambda log: _revised_elsewhere(log, driver, config)))
    assert state.learn_of({1: banner(), 2: config})  # as another process begins to follow
    with pytest.raises(Conflict, match="revised meanwhile"):
        driver.wait(driver.service.revise_loop(banner(floor=0.2)))


def _revised_elsewhere(log, driver, config):
    live = driver.service.loop("banner")
    return loop_table.revise(log, live, config, driver.now, 1)
