"""Who may look: a key in a cookie no script reads, and forms that other sites cannot send."""

import json
import re

import httpx
import pytest
from service.over_http import issued


def token(client, path="/sign-in"):
    """Open a page and return the token of its forms; the cookie is kept by the client."""
    text = client.get(path).text
    return re.search(r'name="token" value="([^"]+)"', text)[1]


def key_of(place, role):
    header = place.do(issued(place.inside, role))
    return header["Authorization"].removeprefix("Bearer ")


def test_without_a_key_every_page_leads_to_sign_in_and_back(locked):
    with locked.client() as client:
        for path in ("/", "/loops/offers"):
            answer = client.get(path)
            assert answer.status_code == 303
            assert answer.headers["location"].startswith("/sign-in")
        assert "next=%2Floops%2Foffers" in answer.headers["location"]
        assert client.get("/live").status_code == 401


def test_a_key_is_given_once_and_kept_where_scripts_and_other_sites_cannot_read_it(locked):
    with locked.client() as client:
        given = {"key": locked.key, "token": token(client)}
        answer = client.post("/sign-in?next=/loops/offers", data=given)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/loops/offers"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert client.get("/").status_code == 200
        out = client.post("/sign-out", data={"token": token(client, "/")})
        assert out.status_code == 303
        assert client.get("/").status_code == 303


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_signing_in_leads_to_no_other_site(locked, target):
    with locked.client() as client:
        given = {"key": locked.key, "token": token(client)}
        answer = client.post("/sign-in", params={"next": target}, data=given)
        assert answer.headers["location"] == "/"


def test_a_key_that_is_not_valid_or_may_only_decide_is_refused_in_a_sentence(locked):
    with locked.client() as client:
        for key in ("hs_000000000000_" + "a" * 43, "", key_of(locked, "decide")):
            answer = client.post("/sign-in", data={"key": key, "token": token(client)})
            assert answer.status_code == 401
            assert 'role="alert"' in answer.text
        assert "A key of the role decide may not do this." in answer.text
    with locked.client(key_of(locked, "decide")) as client:
        assert client.get("/").status_code == 403


def test_a_form_without_its_token_or_from_another_site_is_refused(locked):
    with locked.client() as client:
        mine = token(client)
        for given, headers in (
            ({"key": locked.key}, {}),
            ({"key": locked.key, "token": "x"}, {}),
            ({"key": locked.key, "token": mine}, {"Sec-Fetch-Site": "cross-site"}),
        ):
            answer = client.post("/sign-in", data=given, headers=headers)
            assert answer.status_code == 401
            assert "was not sent by this page" in answer.text
            assert "halfseen_key" not in client.cookies


def test_the_cookie_opens_no_part_of_the_api(locked):
    with locked.client(locked.key) as client:
        assert client.get("/v1/loops").status_code == 401


@pytest.mark.parametrize(
    "path", ["/", "/loops/offers", "/v1/loops", "/v1/loops/offers/export", "/explore/", "/metrics"]
)
def test_without_keys_only_names_of_this_machine_are_answered(opened, path):
    with opened.client() as client:
        for host in ("127.0.0.1:1", "localhost", "[::1]:8765"):
            assert client.get(path, headers={"Host": host}).status_code == 200
        answer = client.get(path, headers={"Host": "rebound.example"})
        assert answer.status_code == 403
        assert "host name of this machine" in answer.text
        assert "offers" not in answer.text


CROSS = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
)


@pytest.mark.parametrize("headers", CROSS)
def test_without_keys_no_page_of_another_site_can_decide_or_make_a_loop(opened, headers):
    made = {"name": "forged", "arms": ["a", "b"], "policy": {"kind": "ucb"}, "window": 3}
    plain = {"Content-Type": "text/plain"}
    with opened.client() as client:
        before = client.get("/v1/loops/offers").json()["decided"]
        for path, body in (("/v1/loops", made), ("/v1/loops/offers/decisions", {})):
            answer = client.post(path, content=json.dumps(body), headers=plain | headers)
            assert answer.status_code == 403
            assert answer.json()["field"] in ("Sec-Fetch-Site", "Origin")
        assert client.get("/v1/loops/offers").json()["decided"] == before
        assert client.get("/v1/loops/forged").status_code == 404


def test_links_from_elsewhere_and_the_pages_of_the_service_itself_are_answered(opened):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with opened.client() as client:
        for path in ("/", "/explore/", "/api"):
            assert client.get(path, headers=link).status_code == 200
            hidden = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
            assert client.get(path, headers=hidden).status_code == 403
        for own in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": opened.address}):
            answer = client.post("/v1/loops/offers/decisions", json={}, headers=own)
            assert answer.status_code == 201


def test_with_keys_the_api_is_answered_under_any_name_and_the_explorer_is_not(locked):
    named = {"Host": "decide.example"}
    with locked.client(locked.key) as client:
        own = named | {"Authorization": f"Bearer {locked.key}"}
        assert client.get("/v1/loops", headers=own).status_code == 200
        assert 'href="/explore/"' not in client.get("/", headers=named).text
        assert client.get("/explore/", headers=named).status_code == 403


def test_the_api_page_and_the_explorer_are_beside_the_dashboard(opened):
    with opened.client() as client:
        assert "halfseen: API" in client.get("/api").text
        assert client.get("/explore/").status_code == 200
        assert client.get("/nowhere").status_code == 404


def test_an_address_without_a_page_is_a_page_to_readers_and_a_document_to_clients(opened):
    with opened.client() as client:
        page = client.get("/nowhere", headers={"Accept": "text/html,*/*"})
        assert page.status_code == 404
        assert "There is nothing at this address." in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]
        for path in ("/nowhere", "/v1/nowhere"):
            answer = client.get(path, headers={"Accept": "application/json"})
            assert answer.headers["content-type"] == "application/problem+json"
        assert client.post("/nowhere", headers={"Accept": "text/html"}).status_code == 404
        assert client.get("/v1/decisions/x/outcome").status_code == 405


def test_the_explorer_is_there_only_where_this_machine_alone_can_ask(tmp_path):
    from service.over_http import run

    from halfseen.dashboard.page_list import pages_of

    async def ask(place):
        return [(await place.client.get(path)).status_code for path in ("/explore/", "/sign-in")]

    assert run(tmp_path, ask, keys=True, pages=lambda api, _: pages_of(api, False)) == [404, 200]


def test_pages_forbid_inline_scripts_and_are_not_kept(locked):
    answer = httpx.get(f"{locked.address}/sign-in")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
