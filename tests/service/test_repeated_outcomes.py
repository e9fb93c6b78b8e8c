"""An outcome that is sent again counts once, under every rule for several rewards."""

import sqlite3

import httpx
import pytest

from halfseen import Client, InvalidInput
from halfseen.service.exchange import Activate, Decide, Noted, Outcome, Served
from halfseen.service.refusals import Conflict
from service.driver import SECOND, Driver, banner, replay
from service.over_http import LOOP, listening, run

RULES = ["first", "last", "sum", "mean", "max"]
SUM = LOOP | {"rewards": "sum"}


def opened(tmp_path, **changes):
    driver = Driver(tmp_path / "log.sqlite")
    driver.wait(driver.service.create_loop(banner(**changes)))
    return driver


def learned(driver):
    driver.now += 11 * SECOND
    driver.sweep()
    assert driver.state().to_dict() == replay(driver).to_dict()
    return sum(driver.state().agent._totals)


@pytest.mark.parametrize("rule", RULES)
def test_the_same_key_counts_once_also_after_a_restart_and_before_the_decision(tmp_path, rule):
    driver = opened(tmp_path, rewards=rule)
    (early,) = driver.submit(Outcome("x", 1.0, key="k1"))
    assert early == Noted("x", "orphan")
    assert driver.submit(Outcome("x", 1.0, key="k1")) == [Noted("x", "orphan", created=False)]
    driver.submit(Decide("x"))
    driver.drop()
    driver.open()
    (again,) = driver.submit(Outcome("x", 1.0, key="k1"))
    assert again.created is False
    (other,) = driver.submit(Outcome("x", 0.5, key="k1"))
    assert isinstance(other, Conflict)
    assert learned(driver) == 1.0
    driver.close()


def test_different_keys_are_different_rewards_of_a_sum(tmp_path):
    driver = opened(tmp_path, rewards="sum")
    driver.submit(Decide("x"))
    for key in ("k1", "k2", "k1", "k2"):
        driver.submit(Outcome("x", 1.0, key=key))
    assert learned(driver) == 2.0
    driver.close()


@pytest.mark.parametrize(("rule", "right"), [("last", 0.0), ("sum", 1.0), ("mean", 0.5)])
def test_an_older_outcome_again_with_its_time_changes_nothing(tmp_path, rule, right):
    driver = opened(tmp_path, rewards=rule)
    driver.submit(Decide("x"))
    driver.submit(Outcome("x", 1.0, 1), Outcome("x", 0.0, 2))
    assert driver.submit(Outcome("x", 1.0, 1)) == [Noted("x", "pending", created=False)]
    assert learned(driver) == right
    driver.close()


def test_over_http_the_idempotency_key_of_an_outcome_counts_once(tmp_path):
    async def ask(place):
        post = place.client.post
        await post("/v1/loops/offers/decisions", json={"id": "a"})
        key = {"Idempotency-Key": "one"}
        for _ in range(2):
            await post("/v1/decisions/a/outcome", json={"reward": 1}, headers=key)
        items = [{"outcome": {"id": "a", "reward": 1}}] * 2
        for _ in range(2):
            headers = {"Idempotency-Key": "two"}
            await post("/v1/loops/offers/batch", json={"items": items}, headers=headers)
        answer = await post("/v1/decisions/a/outcome", json={"reward": 0}, headers=key)
        await post("/v1/decisions/a/outcome", json={"reward": None})
        return answer.status_code, (await place.client.get("/v1/loops/offers")).json()

    conflict, status = run(tmp_path, ask, SUM)
    assert conflict == 409
    assert [arm["mean"] for arm in status["arms"] if arm["observed"]] == [3.0]


def test_a_client_whose_answer_was_lost_counts_once(tmp_path, monkeypatch):
    import halfseen.client

    monkeypatch.setattr(halfseen.client.time, "sleep", lambda seconds: None)

    class Losing(httpx.HTTPTransport):
        lost = 0

        def handle_request(self, request):
            answer = super().handle_request(request)
            if request.url.path.endswith("outcome") and not self.lost:
                self.lost = 1
                answer.read()
                raise httpx.ReadError("lost")
            return answer

    with (
        listening(tmp_path, SUM) as place,
        Client(place.address, transport=Losing()) as client,
    ):
        decision = client.decide("offers")
        client.outcome(decision, 1.0)
        client.outcome(decision, None)
        rows = client.loop("offers")["arms"]
    assert [arm["mean"] for arm in rows if arm["observed"]] == [1.0]


@pytest.mark.parametrize("rule", RULES[1:])
def test_late_rewards_are_learned_only_where_the_first_counts(rule):
    with pytest.raises(InvalidInput, match='`late` must be "keep" where rewards is'):
        banner(rewards=rule, late="learn")


def test_a_late_reward_is_learned_however_long_ago_memory_dropped_the_decision(tmp_path):
    driver = opened(tmp_path, late="learn", rewards="first")
    driver.state().agent._ledger.remember = 3
    (old,) = driver.submit(Decide("old"))
    driver.now += 11 * SECOND
    driver.sweep()
    for k in range(5):
        driver.submit(Decide(f"d{k}"), Outcome(f"d{k}", 0.0))
    assert driver.state().find("old") is None
    assert driver.submit(Outcome("old", 1.0)) == [Noted("old", "late")]
    assert driver.submit(Outcome("old", 1.0)) == [Noted("old", "late", created=False)]
    status = driver.wait(driver.service.status("banner"))
    assert (status["late"], status["late_learned"]) == (1, 1)
    agent = driver.state().agent
    assert agent._totals[agent.arms.place("arm", old.arm)] == 1.0
    assert agent.observations == 6
    driver.restart()
    assert sum(driver.state().agent._totals) == 1.0
    driver.close()


def test_the_key_of_an_outcome_is_erased_with_the_decision(tmp_path):
    driver = opened(tmp_path, rewards="sum")
    driver.submit(Decide("x"), Outcome("x", 1.0, key="k1"))
    driver.wait(driver.service.forget("x"))
    driver.close()
    with sqlite3.connect(tmp_path / "log.sqlite") as base:
        query = "SELECT count(*) FROM events WHERE request IS NOT NULL AND kind <> 'forgotten'"
        assert base.execute(query).fetchone() == (0,)


@pytest.mark.parametrize("first", ["decision", "reward"])
def test_rewards_whose_sum_cannot_be_learned_are_refused_before_they_are_written(tmp_path, first):
    driver = opened(tmp_path, rewards="sum")
    if first == "decision":
        driver.submit(Decide("x"))
    one, two = driver.submit(Outcome("x", 1e100, 1), Outcome("x", 1e100, 2))
    assert one.state == ("pending" if first == "decision" else "orphan")
    assert str(two) == (
        "`reward` must leave the sum of the decision's rewards a number between -1e+100 and 1e+100;"
        " got 2e+100. Send smaller ones. Nothing was changed."
    )
    driver.submit(Decide("x"))
    assert learned(driver) == 1e100
    driver.close()


@pytest.mark.parametrize("rule", ["first", "last"])
def test_a_waiting_reward_that_a_revision_made_impossible_is_missing(tmp_path, rule):
    driver = opened(tmp_path, rewards=rule)
    driver.submit(Outcome("x", 0.5))
    if rule == "last":
        driver.submit(Decide("x"))
    driver.wait(driver.service.revise_loop(banner(rewards=rule, reward="bernoulli")))
    driver.submit(Decide("x"))
    assert learned(driver) == 0.0
    assert driver.state().find("x").state == "censored"
    driver.close()


def test_a_null_before_its_decision_ends_it_and_what_follows_is_late(tmp_path):
    driver = opened(tmp_path, rewards="sum")
    driver.submit(
        Outcome("x", None), Outcome("y", 1.0, 1), Outcome("y", None), Outcome("y", 2.0, 2)
    )
    x, y = driver.submit(Decide("x"), Decide("y"))
    assert (x.state, y.state) == ("censored", "observed")
    assert driver.state().tally.late == 1
    assert learned(driver) == 1.0
    driver.close()


def test_a_batch_about_one_decision_is_one_transaction(tmp_path):
    driver = opened(tmp_path, rewards="sum")
    driver.service.writer.commit_seconds.clear()
    some = [Outcome("x", 1.0, at) for at in range(300)]
    answers = driver.submit(Decide("x", hold=True), Activate("x"), Served("x", "b"), *some, some[0])
    assert [one.state for one in answers] == ["held"] + ["pending"] + ["pending"] * 302
    assert not answers[-1].created
    assert len(driver.service.writer.commit_seconds) == 1
    assert learned(driver) == 300.0
    driver.close()


def test_a_late_reward_and_its_repeat_in_one_transaction_are_learned_once(tmp_path):
    driver = opened(
        tmp_path, arms=None, dimension=2, policy={"kind": "lin-ucb"}, late="learn", name="banner"
    )
    driver.state().agent._ledger.remember = 1
    for name in ("x", "y"):
        driver.submit(Decide(name, features=[[1.0, 0.0]]), Outcome(name, None))
    assert driver.state().find("x") is None  # it is looked up in the log
    one, two, other = driver.submit(Outcome("x", 1.0), Outcome("x", 1.0), Outcome("x", 0.5))
    assert (one.state, two.state, two.created) == ("late", "late", False)
    assert isinstance(other, Conflict)
    assert driver.state().agent.observations == 1
    driver.close()


@pytest.mark.parametrize("memory", ["kept", "dropped"])
def test_the_rewards_of_a_decision_follow_the_rule_it_was_made_under(tmp_path, memory):
    driver = opened(tmp_path, rewards="sum")
    driver.submit(Decide("x"), Outcome("x", 1.0, key="k1"), Decide("held", hold=True))
    driver.wait(driver.service.revise_loop(banner(rewards="first")))
    (second,) = driver.submit(Outcome("x", 5.0, key="k2"))
    assert (second.state, second.created) == ("pending", True)
    if memory == "dropped":
        driver.state().agent._ledger.remember = 1
        driver.submit(Outcome("x", None), Decide("y"), Outcome("y", 0.0))
        assert driver.state().find("x") is None
    for key, reward in (("k2", 5.0), ("k1", 1.0)):
        (again,) = driver.submit(Outcome("x", reward, key=key))
        assert again == Noted("x", "pending" if memory == "kept" else "observed", created=False)
    driver.submit(Decide("new"), Outcome("new", 2.0), Activate("held"), Outcome("held", 3.0, 1))
    assert driver.submit(Outcome("held", 4.0, 2)) == [Noted("held", "pending")]
    driver.restart()
    driver.now += 11 * SECOND
    driver.sweep()
    assert sum(driver.state().agent._totals) == (1.0 + 5.0) + 2.0 + (3.0 + 4.0)
    driver.close()
