"""Keys: roles, hashes, revocation, and what no log may hold."""

import json

import pytest

from halfseen.errors import InvalidInput
from halfseen.service.api_keys import digest_of, matches, new_key
from service.over_http import LOOP, issued, run

DECIDE = "/v1/loops/offers/decisions"


def test_a_key_is_stored_as_the_hash_of_its_secret_only():
    key, text = new_key("shop", "decide", 5)
    secret = text.split("_", 2)[2]
    assert len(secret) == 43  # 256 bits
    assert key.digest == digest_of(secret)
    assert secret not in str(key)
    assert matches(key, text)
    assert not matches(key, text[:-1] + ("A" if text[-1] != "A" else "B"))
    assert not matches(key, "hs_")


@pytest.mark.parametrize(("name", "role"), [("", "admin"), ("x" * 129, "admin"), ("x", "root")])
def test_keys_need_a_name_and_a_known_role(name, role):
    with pytest.raises(InvalidInput):
        new_key(name, role, 0)


def test_each_role_may_do_what_those_before_it_may(tmp_path):
    calls = [
        ("POST", DECIDE, {}),
        ("GET", "/v1/loops/offers", None),
        ("POST", "/v1/loops", LOOP | {"name": "more"}),
    ]

    async def ask(place):
        found = {}
        for role in ("decide", "report", "admin"):
            header = await issued(place, role)
            found[role] = [
                (await place.client.request(m, path, json=body, headers=header)).status_code
                for m, path, body in calls
            ]
        return found

    assert run(tmp_path, ask, keys=True) == {
        "decide": [201, 403, 403],
        "report": [201, 200, 403],
        "admin": [201, 200, 201],
    }


def test_nothing_but_health_and_the_api_page_is_answered_without_a_key(tmp_path):
    async def ask(place):
        found = {}
        for path, methods in place.app.app.openapi()["paths"].items():
            for method in methods:
                url = path.replace("{loop}", "offers").replace("{id}", "x")
                answer = await place.client.request(method, url, json={})
                found[method, path] = answer.status_code
        wrong = {"Authorization": "Bearer hs_000000000000_" + "a" * 43}
        basic = {"Authorization": "Basic eDp5"}
        bad = [await place.client.post(DECIDE, json={}, headers=h) for h in (wrong, basic)]
        return found, bad

    found, bad = run(tmp_path, ask, keys=True)
    free = {path for (_, path), status in found.items() if status != 401}
    assert free == {"/healthz", "/readyz", "/openapi.json", "/api"}
    assert [answer.status_code for answer in bad] == [401, 401]
    assert bad[0].headers["www-authenticate"].startswith("Bearer")


def test_a_revoked_key_is_refused_and_a_new_one_is_noticed(tmp_path):
    async def ask(place):
        header = await issued(place, "decide")
        before = await place.client.post(DECIDE, json={}, headers=header)
        (row,) = await place.service.keys.all()
        await place.service.keys.revoke(row["id"], 1)
        await place.ring.refresh()
        after = await place.client.post(DECIDE, json={}, headers=header)
        place.ring._read = -1e9  # as if read long ago
        from halfseen.service.api_keys import row_of

        key, text = new_key("later", "decide", 2)
        await place.service.keys.add(row_of(key))
        new = {"Authorization": f"bearer {text}"}
        return before, after, await place.client.post(DECIDE, json={}, headers=new)

    statuses = [answer.status_code for answer in run(tmp_path, ask, keys=True)]
    assert statuses == [201, 401, 201]


def test_logs_hold_a_line_per_request_without_keys_bodies_and_features(tmp_path, capsys):
    features = LOOP | {"name": "articles", "dimension": 2, "policy": {"kind": "lin-ucb"}}
    del features["arms"]

    async def ask(place):
        header = await issued(place, "admin")
        path = "/v1/loops/articles/decisions"
        body = {"id": "secret-id", "features": [[0.125, 0.5], [0.25, 0.75]]}
        await place.client.post(path, json=body, headers=header)
        await place.client.post("/v1/decisions/secret-id/outcome", json={"reward": 0.625})
        place.api.log.flush()
        return place.lines.getvalue(), header["Authorization"]

    text, key = run(tmp_path, ask, features, keys=True)
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(x["loop"], x["kind"], x["status"]) for x in lines] == [
        ("articles", "decide", 201),
        ("", "outcome", 401),
    ]
    assert all(set(line) == {"at", "loop", "kind", "status", "ms"} for line in lines)
    everything = text + "".join(capsys.readouterr())
    for secret in (key[7:], key[-20:], "secret-id", "0.125", "0.625"):
        assert secret not in everything
