"""Personalizer's requests, as its REST reference writes them."""

from halfseen.service.feature_hashing import hashed
from service.over_http import LOOP, run

ARTICLES = {
    "name": "personalizer",
    "dimension": 16,
    "policy": {"kind": "lin-ucb"},
    "noise": 0.5,
    "floor": 0.1,
    "window": 60,
}
RANK = {
    "contextFeatures": [{"timeOfDay": "morning"}, {"device": {"kind": "phone", "old": True}}],
    "actions": [
        {"id": "sport", "features": [{"topic": "ball", "length": 3}]},
        {"id": "news", "features": [{"topic": "world"}]},
        {"id": "weather"},
    ],
    "excludedActions": ["weather"],
    "eventId": "e1",
}


def test_rank_reward_and_activate_have_personalizers_statuses_and_bodies(tmp_path):
    async def ask(place):
        base = "/personalizer/v1.0"
        ranked = await place.client.post(f"{base}/rank", json=RANK)
        again = await place.client.post(f"{base}/rank", json=RANK)
        reward = await place.client.post(f"{base}/events/e1/reward", json={"value": 0.5})
        deferred = RANK | {"eventId": "e2", "deferActivation": True}
        await place.client.post(f"{base}/rank", json=deferred)
        before = await place.service.status("personalizer")
        activated = await place.client.post(f"{base}/events/e2/activate")
        after = await place.service.status("personalizer")
        return ranked, again, reward, activated, before, after

    ranked, again, reward, activated, before, after = run(tmp_path, ask, ARTICLES)
    content = ranked.json()
    assert (ranked.status_code, reward.status_code, activated.status_code) == (201, 204, 204)
    assert content == again.json()
    assert content["eventId"] == "e1"
    assert next(one["id"] for one in content["ranking"]) == content["rewardActionId"]
    assert {one["id"] for one in content["ranking"]} == {"sport", "news", "weather"}
    probability = {one["id"]: one["probability"] for one in content["ranking"]}
    assert probability["weather"] == 0.0
    assert 0.0 < probability[content["rewardActionId"]] <= 1.0
    assert (reward.content, activated.content) == (b"", b"")
    assert (before["held"], before["observed"]) == (1, 1)
    assert (after["held"], after["pending"]) == (0, 1)


def test_a_loop_in_the_address_and_a_loop_of_arms_work_too(tmp_path):
    async def ask(place):
        body = {"actions": [{"id": "red"}, {"id": "blue"}], "eventId": "é" * 200}
        base = "/loops/offers/personalizer/v1.0"
        ranked = await place.client.post(f"{base}/rank", json=body)
        event = ranked.json()["eventId"]
        reward = await place.client.post(f"{base}/events/{event}/reward", json={"value": 1})
        return ranked, reward, await place.service.status("offers")

    ranked, reward, status = run(tmp_path, ask, LOOP)
    assert ranked.json()["eventId"] == "é" * 200
    assert reward.status_code == 204
    assert status["observed"] == 1


def test_bad_rank_requests_are_refused_with_the_field(tmp_path):
    bad = [
        ({}, "actions"),
        ({"actions": []}, "actions"),
        ({"actions": [{"id": "a"}] * 2}, "actions"),
        ({"actions": [{"id": str(k)} for k in range(51)]}, "actions"),
        ({"actions": [{"id": "a"}], "excludedActions": ["a"]}, "excludedActions"),
        ({"actions": [{"id": "a", "features": ["x"]}]}, "features"),
        ({"actions": [{"id": "a"}], "eventId": ""}, "eventId"),
        ({"actions": [{"id": "a"}], "deferActivation": 1}, "deferActivation"),
    ]

    async def ask(place):
        return [await place.client.post("/personalizer/v1.0/rank", json=b) for b, _ in bad]

    for answer, (body, field) in zip(run(tmp_path, ask, ARTICLES), bad, strict=True):
        assert (answer.status_code, answer.json()["field"]) == (422, field), body


def test_names_that_no_database_can_hold_are_refused(tmp_path):
    body = b'{"actions": [{"id": "\\ud800"}, {"id": "b\\u0000"}]}'
    rows = b'{"features": [[1, 0], [0, 1]], "available": ["\\ud800", "b"]}'

    async def ask(place):
        return [
            await place.client.post("/personalizer/v1.0/rank", content=body),
            await place.client.post("/v1/loops/personalizer/decisions", content=rows),
        ]

    for answer in run(tmp_path, ask, ARTICLES | {"dimension": 2}):
        assert answer.status_code == 422, answer.text


def test_a_reward_that_is_no_finite_number_is_refused(tmp_path):
    bodies = [b"{}", b'{"value": "1"}', b'{"value": true}', b'{"value": 1' + b"0" * 400 + b"}"]

    async def ask(place):
        path = "/personalizer/v1.0/events/e/reward"
        return [await place.client.post(path, content=body) for body in bodies]

    for answer in run(tmp_path, ask, ARTICLES):
        assert (answer.status_code, answer.json()["field"]) == (422, "value")


def test_hashing_depends_on_features_and_not_on_their_order():
    one = hashed([{"a": 1, "b": "x"}], [{"c": True}], "n", 64)
    assert one == hashed([{"b": "x"}, {"a": 1}], [{"c": True}], "n", 64)
    for other in (
        hashed([{"a": 2, "b": "x"}], [{"c": True}], "n", 64),
        hashed([{"a": 1, "b": "x"}], [{"c": False}], "n", 64),
        hashed([{"a": 1, "b": "x"}], [{"c": True}], "m", 64),
    ):
        assert other != one


def test_hashed_vectors_have_length_one_whatever_is_sent():
    for context in (
        [],
        [{"x": 1e300}],
        [{"x": -(10**400)}],
        [{"x": -5, "y": [1, 2, "z"], "n": None}],
    ):
        vector = hashed(context, [], "a", 8)
        assert abs(sum(x * x for x in vector) - 1.0) < 1e-12
