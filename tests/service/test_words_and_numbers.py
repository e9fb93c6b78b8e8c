"""What a loop says of itself agrees with what was shown, and refusals name the request's fields."""

import asyncio
import json
import re
import shlex
import socket
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from halfseen import Client, InvalidInput, StorageError, value
from halfseen.cli import app
from halfseen.service import loop_calls
from halfseen.service.decision_service import Service
from halfseen.service.loop_config import loop_config
from halfseen.service.loop_files import parse_loops
from halfseen.service.server_process import declare
from halfseen.service.writer import microseconds
from service.over_http import LOOP, listening, run

ACTIONS = {"name": "ads", "dimension": 2, "policy": {"kind": "lin-ucb"}, "window": 60}


def test_counts_per_arm_follow_what_was_served(tmp_path):
    async def ask(place):
        for k in range(6):
            body = {"id": f"d{k}", "available": ["red"]}
            await place.client.post("/v1/loops/offers/decisions", json=body)
            if k < 4:
                await place.client.post(f"/v1/decisions/d{k}/served", json={"arm": "blue"})
            if k < 2:
                await place.client.post(f"/v1/decisions/d{k}/served", json={"arm": "red"})
            await place.client.post(f"/v1/decisions/d{k}/outcome", json={"reward": 1})
        return (await place.client.get("/v1/loops/offers")).json()["arms"]

    arms = run(tmp_path, ask)
    assert [(arm["decisions"], arm["settled"]) for arm in arms] == [(4, 4), (2, 2)]


def test_the_effective_dimension_leaves_retired_arms_out(tmp_path):
    async def ask(place):
        for arm in ("red", "blue"):
            body = {"id": arm, "available": [arm]}
            await place.client.post("/v1/loops/offers/decisions", json=body)
            await place.client.post(f"/v1/decisions/{arm}/outcome", json={"reward": 1})
        before = (await place.client.get("/v1/loops/offers")).json()
        await place.client.patch("/v1/loops/offers", json={"retired": ["dud"]})
        after = (await place.client.get("/v1/loops/offers")).json()
        return before["effective_dimension"], after["effective_dimension"]

    loop = LOOP | {"arms": ["red", "blue", "dud"]}
    assert run(tmp_path, ask, loop) == (None, 2.0)


def an_hour_ago():
    """Return a time before which, by the clock of the audit, every delay has passed."""
    return microseconds() - 3_600_000_000


@pytest.mark.slow
@pytest.mark.parametrize("late", ["keep", "learn"])
def test_the_audit_of_the_how_to_gives_the_numbers_of_the_service(tmp_path, capsys, late):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "run-it-for-real.md"
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"^halfseen audit log\.parquet .*$", text, re.M)

    async def ask(place):
        for k in range(60):
            body = {"id": f"d{k}", "hold": k % 3 == 0}
            await place.client.post("/v1/loops/offers/decisions", json=body)
            if k % 3 == 1:
                reward = None if k % 2 else 1
                await place.client.post(f"/v1/decisions/d{k}/outcome", json={"reward": reward})
        log = await place.client.get("/v1/loops/offers/export")
        (tmp_path / "log.parquet").write_bytes(log.content)
        return (await place.client.get("/v1/loops/offers/audit")).json()

    audited = run(tmp_path, ask, LOOP | {"late": late}, clock=an_hour_ago)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    arguments = shlex.split(command.replace("$(date -u '+%F %T')", now))[1:]
    arguments[1] = str(tmp_path / "log.parquet")
    window = ["--window", str(60 / 86_400)] if late == "keep" else []
    app([*arguments, *window, "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    for name in ("rows", "seen", "share", "effective_dimension"):
        assert found[name] == audited[name]
    assert (found["rows"], found["seen"]) == (40, 10)


def test_a_loop_that_learns_late_rewards_agrees_with_its_own_audit(tmp_path):
    async def ask(place):
        for k in range(60):
            body = {"id": f"d{k}", "available": ["red" if k % 2 else "blue"]}
            await place.client.post("/v1/loops/offers/decisions", json=body)
            if k % 3 == 0:
                await place.client.post(f"/v1/decisions/d{k}/outcome", json={"reward": None})
            if k % 6 != 4:
                await place.client.post(f"/v1/decisions/d{k}/outcome", json={"reward": 1})
            else:
                await place.client.post(f"/v1/decisions/d{k}/outcome", json={"reward": None})
        status = (await place.client.get("/v1/loops/offers")).json()
        audited = (await place.client.get("/v1/loops/offers/audit")).json()
        return status, audited

    status, audited = run(tmp_path, ask, LOOP | {"late": "learn"}, clock=an_hour_ago)
    assert status["late_learned"] == 20
    assert status["effective_dimension"] == pytest.approx(2.5)
    assert audited["effective_dimension"]["value"] == pytest.approx(status["effective_dimension"])


BAD = [
    ("offers", {"id": "."}, "id"),
    ("offers", {"id": ".."}, "id"),
    ("offers", {"at": "0001-01-01T00:00:00+14:00"}, "at"),
    ("offers", {"at": "9999-12-31T23:59:59-14:00"}, "at"),
    ("offers", {"id": "a\ufffd"}, "id"),
    ("ads", {"features": [[1, 0], [3, 0]]}, "features[1]"),
    ("ads", {"features": []}, "features"),
    ("ads", {"features": [[1, 0], [0, 1]], "available": ["n", "n", "m"]}, "available"),
    ("ads", {"features": [[1, 0], [0, 1]], "available": ["n", "m", "m"]}, "available"),
    ("ads", {"features": [[1, 0], [0, 1]], "available": ["n", "n"]}, "available"),
    ("ads", {"features": [[1, 0]], "available": ["n" * 200]}, "available[0]"),
]


@pytest.mark.parametrize(("loop", "body", "field"), BAD)
def test_a_decision_that_cannot_be_is_refused_by_its_field(tmp_path, loop, body, field):
    async def ask(place):
        return await place.client.post(f"/v1/loops/{loop}/decisions", json=body)

    answer = run(tmp_path, ask, LOOP, ACTIONS)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_times_at_the_ends_of_the_calendar_are_exported(tmp_path):
    async def ask(place):
        for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"):
            await place.client.post("/v1/loops/offers/decisions", json={"at": at})
        files = [
            await place.client.get(f"/v1/loops/offers/export?format={kind}")
            for kind in ("csv", "parquet")
        ]
        return [file.status_code for file in files], files[0].text

    statuses, text = run(tmp_path, ask)
    assert statuses == [200, 200]
    assert "0001-01-01 00:00:00.000000" in text
    assert "9999-12-31 23:59:59.999999" in text


def test_refusals_speak_of_requests_not_of_python(tmp_path):
    async def ask(place):
        post = place.client.post
        await post("/v1/loops/offers/decisions", json={"id": "x"})
        await post("/v1/loops/ads/decisions", json={"id": "y", "features": [[1, 0]]})
        return [
            await post("/v1/decisions/x/outcome", json={"reward": 0.5}),
            await post("/v1/decisions/x/outcome", json={"reward": 1e300}),
            await post("/v1/loops", json=LOOP | {"name": "z", "floor": 2}),
            await post("/v1/loops", json=LOOP | {"name": "z", "arms": ["a", "a"]}),
            await post("/v1/loops", json=ACTIONS | {"name": "z", "dimension": 0}),
            await post("/v1/loops", json=ACTIONS | {"name": "z", "dimension": 5000}),
            await post("/v1/decisions/y/served", json={"arm": "other"}),
        ]

    answers = run(tmp_path, ask, LOOP | {"reward": "bernoulli"}, ACTIONS)
    assert [answer.status_code for answer in answers] == [422] * 7
    assert [answer.json()["field"] for answer in answers] == [
        "reward",
        "reward",
        "floor",
        "arms",
        "dimension",
        "dimension",
        "features",
    ]
    for answer in answers:
        assert "Agent" not in answer.text
        assert "miss()" not in answer.text


SAID = [
    (
        {"policy": "ucb"},
        "`policy` must be a table with a kind; got 'ucb'. Write { kind = \"ucb\" }",
    ),
    ({"arms": []}, "`arms` must name at least one arm; got []. Give"),
    ({"polcy": {"kind": "ucb"}, "policy": None}, "`polcy` must be a setting of a loop"),
]


@pytest.mark.parametrize(("changes", "said"), SAID)
def test_settings_are_refused_by_what_is_wrong_with_them(changes, said):
    settings = {name: v for name, v in (LOOP | changes).items() if v is not None}
    with pytest.raises(InvalidInput, match=re.escape(said)):
        loop_config(settings)


def test_what_cannot_be_is_said_in_the_words_of_a_request(tmp_path):
    long = "x" * 200

    async def ask(place):
        post = place.client.post
        features = {"features": [[1, 0], [0, 1]], "available": ["n", "n"]}
        return [
            await post("/v1/loops/offers/decisions", content='{"at": ' + "9" * 6000 + "}"),
            await post("/v1/loops/ads/decisions", json=features),
            await post("/v1/decisions/%ff/outcome?loop=offers", json={"reward": 1}),
            await post("/loops/ads/personalizer/v1.0/rank", json={"actions": [{"id": long}]}),
        ]

    digits, twice, address, action = (a.json()["detail"] for a in run(tmp_path, ask, LOOP, ACTIONS))
    assert digits == "The body is not JSON: a number has 6,000 digits; at most 4,000 are read."
    assert twice == "`available` must name each action once; got 'n'. Give different names."
    assert address.startswith("`id` must be UTF-8")
    assert action.startswith("`actions` must have printable ids of at most 128 characters")


def test_arms_on_offer_are_not_kept_where_features_are_not(tmp_path):
    async def ask(place):
        for name, settings in (("x", {"store_features": False}), ("y", {"store_features": True})):
            revised = await place.client.patch("/v1/loops/offers", json=settings)
            assert revised.json()["refolded"] is False
            body = {"id": name, "available": ["red"]}
            for status in (201, 200):
                answer = await place.client.post("/v1/loops/offers/decisions", json=body)
                assert answer.status_code == status
            rows = [row async for some in place.service.rows("offers") for row in some]
            assert ("available" in rows[0]) is (name == "y")
        return [e.features async for es in place.service.events("offers") for e in es if e.arm]

    assert run(tmp_path, ask) == [None, b'["red"]']


def test_metrics_count_what_is_held_and_no_counter_goes_down(tmp_path):
    async def ask(place):
        post = place.client.post
        await post("/v1/decisions/x/outcome", json={"reward": 1})
        before = (await place.client.get("/metrics")).text
        for body in ({"id": "x"}, {"hold": True}):
            await post("/v1/loops/offers/decisions", json=body)
        return before, (await place.client.get("/metrics")).text

    before, after = run(tmp_path, ask)
    assert 'halfseen_unmatched{loop="offers"} 1.0' in before
    assert 'halfseen_unmatched{loop="offers"} 0.0' in after
    assert 'halfseen_held{loop="offers"} 1.0' in after
    assert "unmatched" not in "".join(line for line in after.splitlines() if "_total" in line)


def test_load_balancers_may_probe_with_head(tmp_path):
    async def ask(place):
        return [(await place.client.head(path)).status_code for path in ("/healthz", "/readyz")]

    assert run(tmp_path, ask) == [200, 200]


@pytest.mark.parametrize("sent", [0, 10])
def test_a_body_that_is_cut_off_decides_nothing(tmp_path, capfd, sent):
    with listening(tmp_path, LOOP) as place:
        host, port = place.address.removeprefix("http://").split(":")
        body = b'{"id": "visit-1", "hold": true}'
        with socket.create_connection((host, int(port))) as connection:
            head = f"POST /v1/loops/offers/decisions HTTP/1.1\r\nHost: {host}\r\n"
            head += "Content-Length: 31\r\n\r\n"
            connection.sendall(head.encode() + body[:sent])
            time.sleep(0.1)
        deadline = time.monotonic() + 10.0
        while not place.api.metrics._children and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(place.api.metrics._children) == [("decide", 400)]
        with Client(place.address) as client:
            assert client.loop("offers")["decided"] == 0
    assert "Traceback" not in capfd.readouterr().err


def test_what_the_database_says_is_for_the_operator_only(tmp_path, capsys):
    async def ask(place):
        log = place.service.writer.log
        log.execute("SELECT 1")
        log._connection.close()  # a driver then calls it an error of the program
        answer = await place.client.post("/v1/loops/offers/decisions")
        return answer.json()["detail"]

    said = run(tmp_path, ask)
    assert said == "The database rejects a statement of halfseen. Nothing was stored."
    assert "says: Cannot operate on a closed database." in capsys.readouterr().err


def test_the_audit_of_a_loop_without_decisions_says_so(tmp_path):
    async def ask(place):
        return await place.client.get("/v1/loops/offers/audit")

    answer = run(tmp_path, ask)
    assert (answer.status_code, answer.json()["field"]) == (422, "loop")
    assert "has shown no decision yet" in answer.json()["detail"]


def test_an_archived_loop_is_not_revised_and_a_name_given_twice_is_refused(tmp_path):
    async def ask(place):
        body = b'{"id":"a","id":"b"}'
        twice = await place.client.post("/v1/loops/offers/decisions", content=body)
        await place.client.delete("/v1/loops/offers")
        return twice, await place.client.patch("/v1/loops/offers", json={"window": 5})

    twice, patched = run(tmp_path, ask)
    assert (twice.status_code, patched.status_code) == (400, 409)
    assert "occurs twice" in twice.json()["detail"]


def test_settings_are_checked_beside_the_event_loop(tmp_path, monkeypatch):
    threads = []

    def noted(content):
        threads.append(threading.current_thread())
        return loop_config(content)

    monkeypatch.setattr(loop_calls, "loop_config", noted)

    async def ask(place):
        await place.client.post("/v1/loops", json=LOOP | {"name": "z"})
        await place.client.patch("/v1/loops/z", json={"window": 5})
        return threading.current_thread()

    serving = run(tmp_path, ask)
    assert len(threads) == 2
    assert serving not in threads


def test_the_client_says_what_was_served_in_a_loop_of_features(tmp_path):
    with listening(tmp_path, ACTIONS) as place, Client(place.address) as client:
        decision = client.decide("ads", features=[[1, 0], [0, 1]])
        assert client.served(decision, "other", features=[0.5, 0.5])["state"] == "pending"


def test_rows_without_a_propensity_can_be_left_out_of_a_value(tmp_path):
    with listening(tmp_path, LOOP) as place, Client(place.address) as client:
        for k in range(40):
            decision = client.decide("offers")
            if k % 8 == 0:
                client.served(decision, "blue" if decision.arm == "red" else "red")
            client.outcome(decision, 1.0)
        log = client.export("offers", tmp_path / "log.parquet")
    names = {"action": "arm", "reward": "reward", "propensity": "propensity"}
    found = value(log, **names, target={"blue": 1.0}, where="propensity IS NOT NULL")
    assert found.rows == 35


TOML = '[loops.gap]\narms = ["x", "y"]\npolicy = {{ kind = "ucb" }}\nwindow = {window}\n'


def test_a_restart_with_the_same_file_keeps_what_was_revised_since(tmp_path):
    async def started(*, window=60, arms='["x", "y"]', change=None):
        service = await Service.open(tmp_path / "log.sqlite")
        said = []
        text = TOML.format(window=window).replace('["x", "y"]', arms)
        await declare(service, parse_loops(text), said.append)
        if change is not None:
            settings = service.config("gap").to_dict() | change
            await service.revise_loop(loop_config(settings))
        config = service.config("gap")
        await service.close()
        return config, said

    async def main():
        await started()
        changed, _ = await started(change={"arms": ["x", "y", "z"], "retired": ["x"], "floor": 0.2})
        same, said = await started()
        assert same == changed
        assert said == ["Loop gap keeps the changes made since the file was first read."]
        edited, _ = await started(window=30, arms='["x", "y", "w"]')
        assert edited == changed.model_copy(update={"window": 30.0, "arms": ["x", "y", "z", "w"]})

    asyncio.run(main())


@pytest.mark.parametrize("what", [("forget", "x"), ("archive", "old")])
def test_a_database_that_is_not_there_is_not_made(tmp_path, what):
    path = tmp_path / "typo.sqlite"
    arguments = ["serve", *what, "--database", str(path)]
    with pytest.raises(StorageError, match="There is no database"):
        app(arguments, standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_an_action_with_an_empty_id_is_refused_also_if_it_is_excluded(tmp_path):
    async def ask(place):
        body = {"actions": [{"id": ""}, {"id": "a"}], "excludedActions": [""]}
        return await place.client.post("/personalizer/v1.0/rank", json=body)

    assert run(tmp_path, ask, ACTIONS | {"name": "personalizer"}).status_code == 422
