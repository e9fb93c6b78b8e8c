"""Loops over HTTP: made, read, revised, archived, audited, exported, forgotten."""

import json

import duckdb
import pytest

from halfseen import audit, value
from halfseen.service.service_metrics import Metrics
from service.over_http import LOOP, run


def test_loops_are_made_read_revised_and_archived(tmp_path):
    more = LOOP | {"name": "more"}

    async def ask(place):
        client = place.client
        made = [await client.post("/v1/loops", json=more) for _ in "ab"]
        clash = await client.post("/v1/loops", json=more | {"window": 5})
        revised = await client.patch("/v1/loops/more", json={"arms": ["red", "blue", "green"]})
        renamed = await client.patch("/v1/loops/more", json={"name": "x"})
        read = await client.get("/v1/loops/more")
        listed = await client.get("/v1/loops")
        gone = await client.delete("/v1/loops/more")
        after = await client.post("/v1/loops/more/decisions", json={})
        return made, clash, revised, renamed, read, listed, gone, after

    made, clash, revised, renamed, read, listed, gone, after = run(tmp_path, ask)
    assert [answer.status_code for answer in made] == [201, 200]
    assert (clash.status_code, renamed.status_code) == (409, 422)
    assert revised.json()["revision"] == 2
    assert [arm["arm"] for arm in read.json()["arms"]] == ["red", "blue", "green"]
    assert {loop["name"] for loop in listed.json()["loops"]} == {"offers", "more"}
    assert gone.status_code == 204
    assert after.status_code == 409


def test_a_bad_loop_is_refused_with_field_value_and_fix(tmp_path):
    async def ask(place):
        bad = [LOOP | {"window": -1}, LOOP | {"policy": {"kind": "ucbb"}}, {"name": "x"}]
        return [await place.client.post("/v1/loops", json=body) for body in bad]

    for answer, field in zip(run(tmp_path, ask), ("window", "policy.kind", None), strict=True):
        assert answer.status_code == 422
        assert answer.json()["fix"]
        assert field is None or answer.json()["field"].endswith(field)


async def played(place, rounds=60):
    """Make decisions; red pays 1 and is seen every third time, blue pays 0 and is always seen."""
    for k in range(rounds):
        answer = await place.client.post("/v1/loops/offers/decisions", json={"id": f"d{k}"})
        red = answer.json()["arm"] == "red"
        if not red or k % 3 == 0:
            body = {"reward": 1 if red else 0}
            await place.client.post(f"/v1/decisions/d{k}/outcome", json=body)


@pytest.mark.slow
def test_an_export_is_read_by_audit_and_value_and_the_service_audits_itself(tmp_path):
    async def ask(place):
        await played(place)
        await place.client.post("/v1/loops/offers/decisions", json={"id": "held", "hold": True})
        files = {}
        for kind in ("csv", "parquet"):
            answer = await place.client.get(f"/v1/loops/offers/export?format={kind}")
            files[kind] = tmp_path / f"log.{kind}"
            files[kind].write_bytes(answer.content)
        wrong = await place.client.get("/v1/loops/offers/export?format=xls")
        own = await place.client.get("/v1/loops/offers/audit")
        return files, wrong, own, await place.service.status("offers")

    files, wrong, own, status = run(tmp_path, ask)
    assert wrong.status_code == 422
    content = own.json()
    assert content["rows"] == 60  # what is held was never shown
    assert content["seen"] == status["observed"]
    counts = {arm["arm"]: arm["observed"] for arm in status["arms"]}
    for file in files.values():
        rows = duckdb.sql(f"SELECT arm, count(reward) FROM '{file}' GROUP BY arm").fetchall()
        assert dict(rows) == counts
        common = {"action": "arm", "reward": "reward", "propensity": "propensity"}
        found = audit(file, where="state <> 'held'", time="shown_at", **common)
        assert found.rows == 60
        worth = value(file, target={"red": 1.0}, where="state <> 'held'", **common)
        assert worth.value == 1.0
    types = duckdb.sql(f"DESCRIBE SELECT * FROM '{files['parquet']}'").fetchall()
    assert {name: kind for name, kind, *_ in types}["shown_at"] == "TIMESTAMP"


def test_a_decision_is_forgotten(tmp_path):
    async def ask(place):
        await place.client.post("/v1/loops/offers/decisions", json={"id": "secret"})
        done = await place.client.delete("/v1/decisions/secret")
        none = await place.client.delete("/v1/decisions/secret")
        export = await place.client.get("/v1/loops/offers/export?format=csv")
        return done, none, export

    done, none, export = run(tmp_path, ask)
    assert (done.status_code, done.json()) == (200, {"forgotten": 1})
    assert none.status_code == 404
    assert "secret" not in export.text


def test_metrics_have_the_names_that_are_documented(tmp_path):
    async def ask(place):
        await played(place)
        return (await place.client.get("/metrics")).text, await place.service.status("offers")

    text, status = run(tmp_path, ask)
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert (
        float(lines['halfseen_outcomes_total{loop="offers",state="observed"}'])
        == (status["observed"])
    )
    made = sum(
        float(lines[f'halfseen_decisions_total{{arm="{a}",loop="offers"}}']) for a in LOOP["arms"]
    )
    assert made == 60.0
    assert float(lines['halfseen_pending{loop="offers"}']) == status["pending"]
    assert float(lines['halfseen_effective_dimension{loop="offers"}']) >= 2.0
    assert 'halfseen_seen_ratio{arm="red",loop="offers"}' in lines
    assert float(lines["halfseen_commit_seconds_count"]) > 0
    assert float(lines["halfseen_queue"]) == float(lines["halfseen_lag_events"]) == 0.0
    assert float(lines['halfseen_request_seconds_count{kind="decide"}']) == 60.0
    assert float(lines['halfseen_requests_total{kind="decide",status="201"}']) == 60.0


def test_metrics_without_loops_can_be_read():
    assert b"halfseen_queue" in Metrics().text()


def test_unknown_addresses_and_methods_are_problem_documents(tmp_path):
    async def ask(place):
        return [
            await place.client.get("/nothing"),
            await place.client.put("/v1/loops", json={}),
            await place.client.get("/v1/decisions/x/outcome"),
        ]

    missing, put, get = run(tmp_path, ask)
    assert (missing.status_code, put.status_code, get.status_code) == (404, 405, 405)
    assert put.headers["allow"] == "GET, POST"
    for answer in (missing, put, get):
        assert answer.headers["content-type"] == "application/problem+json"
        assert json.loads(answer.content)["fix"]


def test_read_only_serves_reading_and_refuses_writing(tmp_path):
    async def make(place):
        await place.client.post("/v1/loops/offers/decisions", json={"id": "x"})

    run(tmp_path, make)

    async def ask(place):
        read = await place.client.get("/v1/loops/offers")
        return read, await place.client.post("/v1/loops/offers/decisions", json={})

    import asyncio

    from service.over_http import served

    async def main():
        async with served(tmp_path, read_only=True) as place:
            return await ask(place)

    read, write = asyncio.run(main())
    assert (read.status_code, read.json()["decided"], write.status_code) == (200, 1, 403)
