"""What a service keeps, answers and refuses, one case at a time."""

import asyncio
import json
import sqlite3

import duckdb
import pytest

from halfseen import InvalidInput, StorageError
from halfseen.agents.more_arms import with_arms
from halfseen.service.decision_service import Service
from halfseen.service.exchange import Activate, Decide, Noted, Outcome, Served
from halfseen.service.loop_config import loop_config
from halfseen.service.refusals import (
    Conflict,
    InvalidField,
    QueueFull,
    ReadOnly,
    StorageUnavailable,
    UnknownDecision,
    UnknownLoop,
)
from service.driver import SECOND, Driver, banner, replay


@pytest.fixture
def driver(tmp_path):
    made = Driver(tmp_path / "log.sqlite")
    made.wait(made.service.create_loop(banner()))
    yield made
    made.close()


def features(name="ads", **changes):
    given = {"name": name, "dimension": 2, "policy": {"kind": "lin-ucb"}, "window": 10.0}
    return loop_config(given | changes)


@pytest.mark.parametrize(("law", "noise"), [("bernoulli", 0.5), ("poisson", 3.0)])
def test_the_law_of_a_loop_decides_its_noise_of_new_arms_too(law, noise):
    config = banner(reward=law, noise=None, bound=9.0)
    agent = config.agent()
    assert agent.setting.noise.tolist() == [noise] * len(config.arms)
    more = with_arms(agent, [*config.arms, "new"], noise=config.noise, floor=config.floor)
    assert more.setting.noise.tolist() == [noise] * (len(config.arms) + 1)


ROWS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]


@pytest.mark.parametrize("kind", ["lin-ucb", "lin-thompson", "ridge-glm-ucb", "glm-thompson"])
def test_a_replay_of_a_loop_of_features_equals_its_state_bit_for_bit(tmp_path, kind):
    driver = Driver(tmp_path / "log.sqlite")
    driver.wait(driver.service.create_loop(features(policy={"kind": kind})))
    for k in range(30):
        (made,) = driver.submit(Decide(f"d{k}", features=ROWS, hold=k % 7 == 0), loop="ads")
        assert made.arm in ("0", "1", "2")
        if k % 7 == 0:
            driver.submit(Activate(made.id), loop="ads")
        if k % 5 == 0:
            driver.submit(Served(made.id, "other", 0.5, [0.0, -1.0]), loop="ads")
        if k % 3:
            driver.submit(Outcome(made.id, float(k % 2)), loop="ads")
    driver.now += 20 * SECOND
    driver.sweep("ads")
    assert driver.state("ads").tally.censored == 10
    state = driver.state("ads").to_dict()
    assert replay(driver, "ads").to_dict() == state
    driver.restart()
    assert driver.state("ads").to_dict() == state
    driver.close()


def test_a_proposal_leaves_no_trace_and_depends_on_the_id_alone(driver):
    before = driver.state().to_dict()
    first = driver.state().agent.propose(id="x")
    assert driver.state().agent.propose(id="x") == first
    assert driver.state().to_dict() == before


def test_the_probabilities_of_a_floor_are_those_of_many_ids(driver):
    agent = driver.state().agent
    made = [agent.propose(id=str(k)) for k in range(4000)]
    for arm in range(3):
        chosen = [entry for entry in made if entry.choice == arm]
        (chance,) = {round(entry.probability, 12) for entry in chosen}
        assert abs(len(chosen) - 4000 * chance) < 4 * (4000 * chance * (1 - chance)) ** 0.5


def test_the_same_request_gets_the_same_answer_even_when_memory_has_dropped_it(driver, monkeypatch):
    driver.state().agent._ledger.remember = 3
    (first,) = driver.submit(Decide("x", ["a", "b"]))
    driver.submit(Outcome("x", 1.0))
    for k in range(5):
        driver.submit(Decide(f"d{k}"))
        driver.submit(Outcome(f"d{k}", None))
    assert driver.state().find("x") is None
    again, other, outcome, differing = driver.submit(
        Decide("x", ["a", "b"]), Decide("x"), Outcome("x", 1.0), Outcome("x", 0.5)
    )
    assert (again.arm, again.probability, again.created) == (first.arm, first.probability, False)
    assert isinstance(other, Conflict)
    assert outcome == Noted("x", "observed", created=False)
    assert isinstance(differing, Conflict)
    assert driver.submit(Outcome("d0", 1.0)) == [Noted("d0", "late")]
    assert driver.submit(Outcome("d0", 1.0)) == [Noted("d0", "late", created=False)]
    assert driver.wait(driver.service.loops_of("x")) == ["banner"]


def test_requests_for_one_decision_in_one_call_are_carried_out_in_their_order(driver):
    answers = driver.submit(Outcome("x", 1.0), Decide("x"), Outcome("x", 1.0), Decide("x", ["a"]))
    assert [getattr(answer, "state", "conflict") for answer in answers] == [
        "orphan",
        "observed",
        "observed",
        "conflict",
    ]
    assert driver.state().agent.observations == 1


def test_an_outcome_without_a_decision_waits_for_one_window(driver):
    driver.submit(Outcome("x", 1.0), Outcome("y", None))
    driver.now += 11 * SECOND
    late, _ = driver.submit(Decide("x"), Outcome("z", 1.0))
    assert late.state == "pending"
    assert list(driver.state().orphans) == ["z"]
    status = driver.wait(driver.service.status("banner"))
    assert status["unmatched"] == 3


@pytest.mark.parametrize(
    ("item", "field"),
    [
        (Decide("x", ["d"]), "available"),
        (Decide("x", []), "available"),
        (Decide("x", features=[[1.0]]), "features"),
        (Decide("é\n"), "id"),
        (Decide("x" * 129), "id"),
        (Decide(7), "id"),
        (Outcome("made", "1"), "reward"),
        (Outcome("made", 1e300), "reward"),
        (Served("made", "z"), "arm"),
        (Served("made", "a", 1.5), "probability"),
        (Served("made", "a", None, [1.0]), "features"),
        (Outcome(None, 1.0), "id"),
    ],
)
def test_a_bad_request_is_refused_by_its_field_and_writes_nothing(driver, item, field):
    driver.submit(Decide("made"))
    before = driver.state().seq
    (refused,) = driver.submit(item)
    assert isinstance(refused, InvalidField)
    assert (refused.field, refused.status) == (field, 422)
    assert refused.fix
    assert driver.state().seq == before


@pytest.mark.parametrize(
    "rows", [None, [], [[1.0]], [[1.0, 2.0]], [["x", "y"]], [[float("nan"), 0.0]], 3, [[[1.0]]]]
)
def test_bad_features_are_refused(driver, rows):
    driver.wait(driver.service.create_loop(features()))
    (refused,) = driver.submit(Decide("x", features=rows), loop="ads")
    assert isinstance(refused, InvalidField)
    assert refused.field.startswith(("features", "actions"))


def test_what_is_not_known_is_refused(driver):
    with pytest.raises(UnknownLoop, match="no loop 'other'"):
        driver.submit(Decide(), loop="other")
    activate, served = driver.submit(Activate("x"), Served("x", "a"))
    assert isinstance(activate, UnknownDecision)
    assert isinstance(served, UnknownDecision)


def test_more_requests_than_may_wait_are_refused(tmp_path):
    driver = Driver(tmp_path / "log.sqlite", queue_limit=5)
    driver.wait(driver.service.create_loop(banner()))
    with pytest.raises(QueueFull):
        driver.submit(*[Decide()] * 6)
    assert len(driver.submit(*[Decide()] * 5)) == 5
    driver.close()


def test_a_second_process_on_one_file_is_refused_unless_it_only_reads(driver, tmp_path):
    driver.submit(Decide("x"))
    with pytest.raises(StorageError, match=r"served by another process \(pid \d+\).*--read-only"):
        Driver(tmp_path / "log.sqlite")
    reader = Driver(tmp_path / "log.sqlite", read_only=True)
    assert reader.state().to_dict() == driver.state().to_dict()
    with pytest.raises(ReadOnly):
        reader.submit(Decide("y"))
    driver.submit(Decide("y"))
    reader.wait(asyncio.sleep(0.5))
    assert reader.state().to_dict() == driver.state().to_dict()
    reader.close()


def test_a_newer_schema_is_refused(tmp_path):
    Driver(tmp_path / "log.sqlite").close()
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    connection.close()
    with pytest.raises(StorageError, match="newer version of halfseen"):
        Driver(tmp_path / "log.sqlite")


@pytest.mark.parametrize("address", ["mysql://host/base", "no/such/folder/log.sqlite"])
def test_an_address_that_cannot_be_is_refused(address):
    with pytest.raises(InvalidInput, match="database"):
        asyncio.run(Service.open(address))


def test_no_server_is_a_sentence_without_the_password():
    with pytest.raises(StorageError, match="Cannot use postgresql") as raised:
        asyncio.run(Service.open("postgresql://user:secret@127.0.0.1:1/base"))
    assert "secret" not in str(raised.value)


def full(driver, pages):
    """Let the file of the writer's connection grow no further."""
    connection = driver.service.writer.log._connection
    size = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {size + pages}")


def test_a_full_disk_refuses_keeps_what_was_answered_and_recovers_by_itself(driver):
    driver.submit(Decide("first"))
    full(driver, 3)
    kept, refused = [], None
    for k in range(2000):
        try:
            driver.submit(Decide(f"d{k}"), Decide(f"e{k}"))
            kept += [f"d{k}", f"e{k}"]
        except StorageUnavailable as error:
            refused = error
            break
    assert refused.status == 503
    assert kept
    assert driver.state().tally.decided == 1 + len(kept)
    assert not driver.service.ready
    assert driver.wait(driver.service.status("banner"))["decided"] == 1 + len(kept)
    driver.submit(Decide("later"))  # a new connection has no limit
    assert driver.service.ready
    assert driver.service.numbers()["failures"] == 1
    state = driver.state().to_dict()
    assert replay(driver).to_dict() == state
    assert all(driver.state().find(name) for name in [*kept, "later"])
    assert driver.state().find(f"d{len(kept) // 2}") is None


def test_snapshots_are_as_far_apart_as_decisions_are_pending(tmp_path):
    driver = Driver(tmp_path / "log.sqlite", snapshot_every=10)
    driver.wait(driver.service.create_loop(banner()))

    async def written(*items):
        await driver.service.submit("banner", list(items))
        await asyncio.gather(*driver.service._retiring)
        return driver.service.loop("banner").snapshot

    assert driver.wait(written(*[Decide(f"d{k}") for k in range(100)])) == 100
    assert driver.wait(written(*[Decide(f"e{k}") for k in range(20)])) == 100
    assert driver.wait(written(*[Outcome(f"d{k}", 1.0) for k in range(100)])) == 220
    assert driver.wait(written(*[Outcome(f"e{k}", 1.0) for k in range(10)])) == 230
    driver.close()


def test_a_damaged_snapshot_is_passed_over_and_named_by_the_check(driver, tmp_path):
    driver.submit(*[Decide(f"d{k}") for k in range(20)])
    state = driver.state().to_dict()
    driver.restart()
    driver.drop()
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        connection.execute("UPDATE snapshots SET state = zeroblob(100)")
    connection.close()
    driver.open()
    assert driver.state().to_dict() == state
    assert (
        "20 is damaged, or of another version of halfseen or of the policy's code"
        in driver.wait(driver.service.check())[0]
    )


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (0.5, "does not agree with a replay"),
        (2e100, "Loop banner: its log cannot be replayed (event 25: `reward` must be a number"),
    ],
)
def test_an_event_that_was_altered_is_found_by_the_check(driver, tmp_path, reward, said):
    driver.submit(*[Decide(f"d{k}") for k in range(20)])
    driver.submit(*[Outcome(f"d{k}", 1.0) for k in range(20)])
    driver.restart()
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        connection.execute("UPDATE events SET reward = ? WHERE seq = 25", (reward,))
    connection.close()
    assert said in driver.wait(driver.service.check())[0]


def test_a_loop_is_created_once_and_not_with_other_settings(driver):
    assert driver.wait(driver.service.create_loop(banner())) == banner()
    with pytest.raises(Conflict, match="other settings"):
        driver.wait(driver.service.create_loop(banner(window=5.0)))


def test_arms_come_and_go_and_estimates_of_the_others_stay(driver):
    for k in range(30):
        driver.submit(Decide(f"d{k}"))
        driver.submit(Outcome(f"d{k}", k / 30))
    before = driver.wait(driver.service.status("banner"))["arms"]
    told = driver.wait(driver.service.revise_loop(banner(arms=["a", "b", "c", "d"], retired=["b"])))
    assert (told["revision"], told["refolded"]) == (2, False)
    after = driver.wait(driver.service.status("banner"))["arms"]
    assert [row | {"retired": False} for row in after[:3]] == before
    assert (after[3]["observed"], after[1]["retired"]) == (0, True)
    made = driver.submit(*[Decide() for _ in range(200)])
    assert {one.arm for one in made} == {"a", "c", "d"}
    (refused,) = driver.submit(Decide("x", ["b"]))
    assert "retired" in str(refused)
    assert replay(driver).to_dict() == driver.state().to_dict()
    with pytest.raises(InvalidField, match="cannot be removed"):
        driver.wait(driver.service.revise_loop(banner(arms=["a", "c"])))


def test_another_policy_folds_the_whole_log_again(driver):
    for k in range(30):
        driver.submit(Decide(f"d{k}"))
        driver.submit(Outcome(f"d{k}", 1.0 if k % 2 else None))
    told = driver.wait(driver.service.revise_loop(banner(policy={"kind": "gaussian-thompson"})))
    assert told["refolded"]
    assert told["before"] == told["after"]
    assert driver.state().agent.policy.kind == "gaussian-thompson"
    state = driver.state().to_dict()
    assert replay(driver).to_dict() == state
    driver.restart()
    assert driver.state().to_dict() == state
    driver.submit(Decide("half"))
    driver.submit(Outcome("half", 0.5))
    with pytest.raises(InvalidField, match="does not fit"):
        driver.wait(driver.service.revise_loop(banner(reward="bernoulli")))


def test_an_archived_loop_still_takes_outcomes(driver):
    driver.submit(Decide("x"))
    driver.wait(driver.service.archive_loop("banner"))
    refused, noted = driver.submit(Decide("y"), Outcome("x", 1.0))
    assert isinstance(refused, Conflict)
    assert noted.state == "observed"
    driver.restart()
    assert isinstance(driver.submit(Decide("y"))[0], Conflict)


def test_missing_as_zero_is_learned_only_where_the_loop_says_so(tmp_path):
    for missing, learned in ((None, 0.0), (0, 1.0)):
        driver = Driver(tmp_path / f"{missing}.sqlite")
        driver.wait(driver.service.create_loop(banner(missing=missing)))
        (made,) = driver.submit(Decide("x"))
        driver.submit(Outcome("x", None))
        place = driver.state().places[made.arm]
        assert driver.state().agent._state[place, 0] == learned  # observations the policy believes
        row = driver.wait(driver.service.status("banner"))["arms"][place]
        assert (row["observed"], row["seen"], row["mean"]) == (0, 0.0, None)
        driver.close()


def everything(path):
    """Return all that a file of SQLite and its journal hold."""
    return path.read_bytes() + path.with_name(path.name + "-wal").read_bytes()


@pytest.mark.parametrize("state", ["observed", "pending", "held"])
def test_a_forgotten_decision_is_not_in_the_file_and_what_was_learned_stays(
    driver, tmp_path, state
):
    driver.submit(Decide("secret-id", hold=state == "held"), Decide("other"))
    if state == "observed":
        driver.submit(Outcome("secret-id", 1.0, 5))
    driver.wait(driver.service._write_snapshot(driver.service.loop("banner")))
    assert driver.wait(driver.service.forget("secret-id")) == 1
    assert driver.wait(driver.service.forget("secret-id")) == 0
    assert driver.state().find("secret-id") is None
    assert driver.state().agent.observations == (state == "observed")
    assert "secret-id" not in json.dumps(driver.state().to_dict())
    assert replay(driver).to_dict() == driver.state().to_dict()
    assert b"secret-id" not in everything(tmp_path / "log.sqlite")
    state = driver.state().to_dict()
    driver.restart()
    assert driver.state().to_dict() == state


def test_old_events_are_deleted_and_the_loop_goes_on(tmp_path):
    driver = Driver(tmp_path / "log.sqlite")
    driver.wait(driver.service.create_loop(banner(retention=1.0)))
    driver.submit(*[Decide(f"d{k}") for k in range(10)])
    driver.submit(*[Outcome(f"d{k}", 1.0) for k in range(10)])
    driver.now += 2 * 86_400 * SECOND
    driver.submit(Decide("new"))
    assert driver.wait(driver.service.apply_retention()) == {"banner": 20}
    assert driver.wait(driver.service.apply_retention()) == {"banner": 0}
    state = driver.state().to_dict()
    driver.restart()
    assert driver.state().to_dict() == state
    assert driver.wait(driver.service.check()) == []
    assert driver.submit(Outcome("new", 1.0)) == [Noted("new", "observed")]
    assert driver.state().agent.observations == 11
    with pytest.raises(Conflict, match="archived or erased"):
        driver.wait(driver.service.revise_loop(banner(policy={"kind": "ucb1"})))
    driver.wait(driver.service.revise_loop(banner(arms=["a", "b", "c", "d"], retention=1.0)))
    state = driver.state().to_dict()
    driver.drop()
    driver.open()
    assert driver.state().to_dict() == state
    driver.close()


def test_archived_decisions_are_a_log_that_the_audit_reads(driver, tmp_path):
    made = driver.submit(*[Decide(f"d{k}") for k in range(60)])
    driver.submit(*[Outcome(f"d{k}", float(k % 2) if k % 3 else None) for k in range(60)])
    driver.now += 86_400 * SECOND
    (path,) = driver.wait(driver.service.archive(tmp_path / "old", days=0.5))
    assert driver.wait(driver.service.archive(tmp_path / "old", days=0.5)) == []
    rows = duckdb.sql(
        f"SELECT decision, arm, propensity, reward, state FROM '{path}' ORDER BY version, decision"
    ).fetchall()
    assert len(rows) == 60
    by_id = {one.id: one for one in made}
    for name, arm, chance, reward, state in rows:
        assert (arm, chance) == (by_id[name].arm, by_id[name].probability)
        assert (reward is None) == (state == "censored")
    from halfseen import audit

    found = audit(path, action="arm", reward="reward", time="decided_at")
    assert (found.counts.rows.sum(), found.counts.seen.sum()) == (60, 40)


def test_rows_tell_what_was_shown_with_its_probability(driver):
    driver.submit(Decide("x", ["a"]), Decide("y", hold=True), Decide("z", ["b"]))
    driver.submit(Served("x", "c", 0.25), Outcome("z", None))
    driver.submit(Outcome("x", 1.0), Outcome("z", 0.5))

    async def rows():
        return [row async for some in driver.service.rows("banner", 2) for row in some]

    x, y, z = driver.wait(rows())
    assert (x["arm"], x["chosen"], x["propensity"], x["reward"]) == ("c", "a", 0.25, 1.0)
    assert (y["state"], y["shown_at"]) == ("held", None)
    assert (z["state"], z["reward"], z["late_reward"]) == ("censored", None, 0.5)


def test_keys_are_stored_and_revoked(driver):
    keys = driver.service.keys
    row = {"id": "k1", "name": "web", "role": "decide", "hash": "00", "created": 1}
    driver.wait(keys.add(row))
    assert driver.wait(keys.revoke("k1", 5))
    assert not driver.wait(keys.revoke("k1", 6))
    assert driver.wait(keys.all()) == [row | {"revoked": 5}]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"window": 0}, "window"),
        ({"window": "x"}, "window"),
        ({"arms": None}, "arms"),
        ({"dimension": 3}, "arms"),
        ({"arms": ["a", "a"]}, "arms"),
        ({"arms": ["a", ""]}, "arms"),
        ({"retired": ["z"]}, "retired"),
        ({"retired": ["a", "b", "c"]}, "retired"),
        ({"policy": {"kind": "ubc"}}, "policy"),
        ({"rewards": "firs"}, "rewards"),
        ({"rewards": "sum", "reward": "bernoulli"}, "rewards"),
        ({"missing": 1}, "missing"),
        ({"floor": 0.5}, "floor"),
        ({"name": "a b"}, "name"),
        ({"retention": 0}, "retention"),
        ({"retention": 1e-6}, "retention"),
        ({"colour": 1}, "colour"),
        ({"arms": None, "dimension": 2, "policy": {"kind": "lin-ucb"}, "store_features": False},
         "store_features"),
        ({"arms": None, "dimension": 2, "policy": {"kind": "lin-thompson"}, "missing": 0},
         "missing"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_named_with_its_value_and_a_fix(changes, named):
    with pytest.raises(InvalidInput, match=named) as raised:
        banner(**changes)
    assert raised.value.fix


@pytest.mark.parametrize(
    ("rule", "learned"), [("last", 0.5), ("sum", 1.75), ("mean", 1.75 / 3), ("max", 1.0)]
)
def test_several_rewards_are_learned_when_the_window_closes(tmp_path, rule, learned):
    driver = Driver(tmp_path / "log.sqlite")
    driver.wait(driver.service.create_loop(banner(rewards=rule)))
    driver.submit(Decide("x"), Decide("never"))
    for at, reward in enumerate([0.25, 1.0, 0.5]):
        assert driver.submit(Outcome("x", reward, at)) == [Noted("x", "pending")]
    assert driver.submit(Outcome("x", 0.5, 2)) == [Noted("x", "pending", created=False)]
    assert driver.state().agent.observations == 0
    driver.now += 11 * SECOND
    driver.sweep()
    assert sum(driver.state().agent._totals) == learned
    assert driver.state().find("x").reward == learned
    assert driver.state().find("never").state == "censored"
    assert driver.submit(Outcome("x", 9.0, 9)) == [Noted("x", "late")]
    assert driver.state().agent.observations == 1
    driver.close()


@pytest.mark.parametrize(("late", "observations"), [("keep", 0), ("learn", 1)])
def test_late_rewards_are_counted_and_learned_if_the_loop_says_so(tmp_path, late, observations):
    driver = Driver(tmp_path / "log.sqlite")
    driver.wait(driver.service.create_loop(banner(late=late)))
    driver.submit(Decide("x"))
    driver.now += 11 * SECOND
    assert driver.submit(Outcome("x", 1.0)) == [Noted("x", "late")]
    assert driver.state().agent.observations == observations
    status = driver.wait(driver.service.status("banner"))
    assert (status["late"], status["late_learned"], status["censored"]) == (1, observations, 1)
    driver.close()
