"""Decisions and outcomes over HTTP: states, idempotency, batches, refusals."""

import json

import pytest

from service.over_http import LOOP, run

OTHER = LOOP | {"name": "banners"}
DECIDE = "/v1/loops/offers/decisions"


def test_a_decision_is_answered_with_arm_probability_state_version_and_end_of_window(tmp_path):
    async def ask(place):
        return await place.client.post(DECIDE, json={"id": "x"})

    answer = run(tmp_path, ask)
    content = answer.json()
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert set(content) == {
        "id",
        "loop",
        "arm",
        "probability",
        "state",
        "version",
        "expires_at",
    }
    assert (content["id"], content["state"], content["version"]) == ("x", "pending", 0)
    assert content["arm"] in LOOP["arms"]
    assert content["expires_at"].endswith("Z")


def test_the_same_decision_id_repeats_the_answer_and_another_request_under_it_conflicts(tmp_path):
    async def ask(place):
        return [
            await place.client.post(DECIDE, json=body)
            for body in ({"id": "x"}, {"id": "x"}, {"id": "x", "available": ["red"]})
        ]

    first, again, other = run(tmp_path, ask)
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.content == again.content


def test_an_idempotency_key_names_a_decision_that_has_no_id(tmp_path):
    async def ask(place):
        header = {"Idempotency-Key": '"k-1"'}
        one = [await place.client.post(DECIDE, json={}, headers=header) for _ in "ab"]
        many = [
            await place.client.post(DECIDE, json={"count": 2}, headers={"Idempotency-Key": "m"})
            for _ in "ab"
        ]
        return one, many, await place.service.status("offers")

    one, many, status = run(tmp_path, ask)
    assert one[0].json()["id"] == "k-1"
    assert one[0].content == one[1].content
    assert [d["id"] for d in many[0].json()["decisions"]] == ["m.1", "m.2"]
    assert many[0].content == many[1].content
    assert status["decided"] == 3


def test_an_outcome_is_learned_once_however_often_it_is_sent(tmp_path):
    async def ask(place):
        await place.client.post(DECIDE, json={"id": "x"})
        bodies = [{"reward": 1}, {"reward": 1.0}, {"reward": 0.5}]
        answers = [await place.client.post("/v1/decisions/x/outcome", json=b) for b in bodies]
        return answers, await place.service.status("offers")

    answers, status = run(tmp_path, ask)
    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert answers[0].json() == {"id": "x", "loop": "offers", "state": "observed"}
    assert (status["observed"], status["censored"]) == (1, 0)


def test_null_is_missing_and_teaches_nothing(tmp_path):
    async def ask(place):
        await place.client.post(DECIDE, json={"id": "x"})
        answer = await place.client.post("/v1/decisions/x/outcome", json={"reward": None})
        return answer.json()["state"], await place.service.status("offers")

    state, status = run(tmp_path, ask)
    assert state == "censored"
    assert [arm["mean"] for arm in status["arms"]] == [None, None]


def test_held_is_activated_and_served_says_what_was_shown(tmp_path):
    async def ask(place):
        held = await place.client.post(DECIDE, json={"id": "x", "hold": True})
        shown = await place.client.post("/v1/decisions/x/activate", json={})
        other = "red" if held.json()["arm"] == "blue" else "blue"
        body = {"arm": other, "probability": 0.25}
        served = await place.client.post("/v1/decisions/x/served", json=body)
        rows = [row async for some in place.service.rows("offers") for row in some]
        return held.json(), shown.json(), served.json(), other, rows

    held, shown, served, other, rows = run(tmp_path, ask)
    assert (held["state"], held["expires_at"]) == ("held", None)
    assert shown["state"] == served["state"] == "pending"
    assert (rows[0]["arm"], rows[0]["propensity"]) == (other, 0.25)


def test_an_outcome_before_its_decision_is_accepted_and_kept(tmp_path):
    async def ask(place):
        early = await place.client.post("/v1/decisions/y/outcome", json={"reward": 1})
        await place.client.post(DECIDE, json={"id": "y"})
        return early, await place.service.status("offers")

    early, status = run(tmp_path, ask)
    assert (early.status_code, early.json()["state"]) == (202, "orphan")
    assert status["observed"] == 1


def test_an_id_of_two_loops_needs_the_name_of_the_loop(tmp_path):
    async def ask(place):
        for name in ("offers", "banners"):
            await place.client.post(f"/v1/loops/{name}/decisions", json={"id": "x"})
        path = "/v1/decisions/x/outcome"
        unclear = await place.client.post(path, json={"reward": 1})
        clear = await place.client.post(f"{path}?loop=banners", json={"reward": 1})
        unknown = await place.client.post("/v1/decisions/none/outcome", json={"reward": 1})
        return unclear, clear, unknown

    unclear, clear, unknown = run(tmp_path, ask, LOOP, OTHER)
    assert (unclear.status_code, clear.status_code, unknown.status_code) == (409, 200, 404)
    assert "?loop=NAME" in unclear.json()["fix"]
    assert clear.json()["loop"] == "banners"


def test_a_batch_is_answered_item_by_item_in_order(tmp_path):
    items = [
        {"decide": {"id": "x"}},
        {"outcome": {"id": "x", "reward": 1}},
        {"outcome": {"id": "x", "reward": 2}},
        {"served": {"id": "none", "arm": "red"}},
        {"outcome": {"id": "x"}},
        7,
    ]

    async def ask(place):
        return await place.client.post("/v1/loops/offers/batch", json={"items": items})

    answer = run(tmp_path, ask)
    entries = answer.json()["items"]
    assert answer.status_code == 200
    assert [entry["status"] for entry in entries] == [201, 200, 409, 404, 422, 422]
    assert entries[1]["answer"]["state"] == "observed"
    assert entries[4]["problem"]["field"] == "reward"


BAD = [
    (DECIDE, b"{", 400, None),
    (DECIDE, b"[]", 400, None),
    (DECIDE, b"\xff", 400, None),
    (DECIDE, b'{"id": NaN}', 400, None),
    (DECIDE, b"[" * 50_000, 400, None),
    (DECIDE, b'{"id": 7}', 422, "id"),
    (DECIDE, b'{"id": ""}', 422, "id"),
    (DECIDE, json.dumps({"id": "x" * 129}).encode(), 422, "id"),
    (DECIDE, b'{"availble": []}', 422, "availble"),
    (DECIDE, b'{"available": ["green"]}', 422, "available"),
    (DECIDE, b'{"available": []}', 422, "available"),
    (DECIDE, b'{"features": [["a"]]}', 422, "features[0]"),
    (DECIDE, b'{"features": [[1, 2], [3]]}', 422, "features"),
    (DECIDE, b'{"features": []}', 422, "features"),
    (DECIDE, b'{"hold": 1}', 422, "hold"),
    (DECIDE, b'{"count": 1001}', 422, "count"),
    (DECIDE, b'{"at": "yesterday"}', 422, "at"),
    ("/v1/loops/none/decisions", b"{}", 404, "loop"),
    ("/v1/decisions/x/outcome", b"{}", 422, "reward"),
    ("/v1/decisions/x/outcome", b'{"reward": "1"}', 422, "reward"),
    ("/v1/decisions/x/outcome", b'{"reward": true}', 422, "reward"),
    ("/v1/decisions/x/outcome", b'{"reward": 1e999}', 422, "reward"),
    ("/v1/decisions/x/outcome", b'{"reward": 1' + b"0" * 400 + b"}", 422, "reward"),
    ("/v1/decisions/none/activate", b"{}", 404, "id"),
    ("/v1/loops/offers/batch", b'{"items": []}', 422, "items"),
]


def test_what_is_wrong_is_refused_with_field_value_and_fix(tmp_path):
    async def ask(place):
        await place.client.post(DECIDE, json={"id": "x"})
        return [await place.client.post(path, content=body) for path, body, _, _ in BAD]

    for answer, (path, body, status, field) in zip(run(tmp_path, ask), BAD, strict=True):
        problem = answer.json()
        assert answer.status_code == status, (path, body[:40], problem)
        assert answer.headers["content-type"] == "application/problem+json"
        assert problem["status"] == status
        assert problem.get("field") == field, (path, body[:40], problem)
        assert problem["detail"]
        assert problem["fix"]
        assert "Traceback" not in answer.text


def test_large_bodies_and_batches_are_refused(tmp_path):
    async def chunks():
        for _ in range(80):
            yield b" " * 1024

    async def ask(place):
        batch = "/v1/loops/offers/batch"
        return [
            await place.client.post(DECIDE, content=b" " * (64 * 1024 + 1)),
            await place.client.post(DECIDE, content=chunks()),
            await place.client.post(batch, content=b" " * (2 * 1024 * 1024 + 1)),
            await place.client.post(batch, json={"items": [{"decide": {}}] * 1001}),
        ]

    assert [answer.status_code for answer in run(tmp_path, ask)] == [413] * 4


def test_a_full_queue_is_429_with_retry_after(tmp_path):
    async def ask(place):
        return await place.client.post(DECIDE, json={"count": 11})

    answer = run(tmp_path, ask, queue_limit=10)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_a_database_that_fails_is_503_with_retry_after_and_no_traceback(tmp_path):
    async def ask(place):
        def fails(events):
            from halfseen.service.refusals import StorageUnavailable

            raise StorageUnavailable("The disk is full.")

        place.service.writer.log.append = fails
        return await place.client.post(DECIDE, json={})

    answer = run(tmp_path, ask)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["detail"] == "The disk is full."


def test_an_unforeseen_error_is_500_and_says_nothing_of_its_inside(tmp_path, capsys):
    async def ask(place):
        place.service.submit = None
        return await place.client.post(DECIDE, json={})

    answer = run(tmp_path, ask)
    assert answer.status_code == 500
    assert "NoneType" not in answer.text
    assert "NoneType" in capsys.readouterr().err


@pytest.mark.parametrize("decision", ["a/b", "a b", "ü", "%41", "x?y"])
def test_ids_with_unusual_characters_are_found_in_the_path(tmp_path, decision):
    from urllib.parse import quote

    async def ask(place):
        await place.client.post(DECIDE, json={"id": decision})
        path = f"/v1/decisions/{quote(decision, safe='')}/outcome"
        return await place.client.post(path, json={"reward": 1})

    answer = run(tmp_path, ask)
    assert answer.json() == {"id": decision, "loop": "offers", "state": "observed"}


def test_a_name_that_is_none_is_told_by_its_place(tmp_path):
    async def ask(place):
        body = {"available": ["n", ""], "features": [[1, 0], [0, 1]]}
        return await place.client.post("/v1/loops/ads/decisions", json=body)

    ads = {"name": "ads", "dimension": 2, "policy": {"kind": "lin-ucb"}, "window": 60}
    assert run(tmp_path, ask, ads).json()["detail"] == (
        "`available[1]` must be a printable text of 1 to 128 characters; got ''. Use another name."
    )


def test_names_of_erased_decisions_are_not_taken(tmp_path):
    async def ask(place):
        post, key = place.client.post, {"Idempotency-Key": "forgotten-2"}
        event = {"eventId": "forgotten-3", "actions": [{"id": "red"}]}
        return [
            await post(DECIDE, json={"id": "forgotten-1"}),
            await post(DECIDE, json={"count": 2}, headers=key),
            await post("/v1/decisions/forgotten-1/outcome", json={"reward": 1}),
            await post("/loops/offers/personalizer/v1.0/rank", json=event),
        ]

    answers = run(tmp_path, ask)
    assert [answer.status_code for answer in answers] == [422] * 4
    assert answers[0].json()["detail"] == (
        '`id` must not begin with "forgotten-", as the names of erased decisions do; got'
        " 'forgotten-1'. Use another id."
    )


@pytest.mark.parametrize(("chance", "status"), [(float("nan"), 500), (-0.1, 500), (1 + 1e-12, 201)])
def test_a_probability_that_is_none_is_never_kept(tmp_path, monkeypatch, chance, status):
    async def ask(place):
        agent = place.service.loop("offers").state.agent
        propose = agent.propose

        def proposed(*given, **more):
            entry = propose(*given, **more)
            entry.probability = chance
            return entry

        monkeypatch.setattr(agent, "propose", proposed)
        answer = await place.client.post(DECIDE, json={"id": "x"})
        return answer, (await place.service.status("offers"))["decided"]

    answer, decided = run(tmp_path, ask)
    assert (answer.status_code, decided) == (status, int(status == 201))
    if status == 500:
        assert "chose 'red' with the invalid probability" in answer.json()["detail"]
    else:
        assert answer.json()["probability"] == 1.0
