"""Loops and keys are changed only by admins, after a confirmation, and it is noted who did it."""

import asyncio
import html
import re
import sqlite3

import pytest
from service.over_http import run, served

from dashboard.conftest import EVIL, OFFERS
from dashboard.test_sign_in import key_of
from halfseen.dashboard.loop_form import config_of, form_of
from halfseen.dashboard.page_list import pages_of
from halfseen.service.database import SCHEMA
from halfseen.service.loop_config import loop_config

NEW = {"name": "banner", "arms": f"a\r\n{EVIL}\r\n", "window": "60"}


def sent(client, path, **fields):
    """Send the form of a page."""
    text = client.get(path).text
    token = re.search(r'name="token" value="([^"]+)"', text)[1]
    return client.post(path, data={"token": token} | fields)


def changes(client):
    page = html.unescape(client.get("/trail").text)
    return re.findall(r'data-title="What">([^<]*a (?:loop|key|log)|expired decisions)</td>', page)


def test_only_admins_see_and_send_what_changes(locked):
    paths = ["/new-loop", "/keys", "/trail"]
    paths += [f"/loops/offers/{what}" for what in ("edit", "expire", "archive")]
    for role, status in (("report", 403), ("admin", 200)):
        with locked.client(key_of(locked, role)) as client:
            assert {client.get(path).status_code for path in paths} == {status}
            page = client.get("/loops/offers").text
            assert ("/loops/offers/edit" in page) == (role == "admin")
    with locked.client(key_of(locked, "report")) as client:
        client.get("/")
        token = client.cookies["halfseen_form"]
        for path in ("/new-loop", "/keys", "/loops/offers/archive"):
            given = {"token": token, "confirmed": "yes", "name": "x", "role": "admin"}
            assert client.post(path, data=given).status_code == 403
    assert not locked.service.loop("offers").archived


def test_no_change_without_the_token_of_the_form(locked):
    with locked.client(locked.key) as client:
        client.get("/")
        answer = client.post("/loops/offers/archive", data={"confirmed": "yes"})
    assert answer.status_code == 403
    assert not locked.service.loop("offers").archived


def test_a_loop_is_made_and_edited_after_a_confirmation_and_noted(locked):
    with locked.client(locked.key) as client:
        asked = sent(client, "/new-loop", **NEW)
        assert "Create the loop banner?" in asked.text
        assert "<script>alert" not in asked.text
        assert "banner" not in [config.name for config in locked.service.loops()]
        made = sent(client, "/new-loop", **NEW, confirmed="yes")
        assert made.headers["location"] == "/loops/banner"
        assert locked.service.config("banner").arms == ["a", EVIL]
        edited = sent(client, "/loops/banner/edit", window="120")
        assert "window: 60.0 becomes 120.0" in edited.text
        assert "Existing decisions keep their window" in edited.text
        assert "log is replayed" in sent(client, "/loops/banner/edit", policy="moss").text
        sent(client, "/loops/banner/edit", window="120", confirmed="yes")
        assert locked.service.config("banner").window == 120.0
        assert locked.service.config("banner").arms == ["a", EVIL]
        sent(client, "/loops/banner/archive")
        assert locked.service.loop("banner").archived
        assert changes(client)[:3] == ["archived a loop", "changed a loop", "made a loop"]
        assert "test admin" in client.get("/trail").text


def test_a_loop_can_be_changed_before_it_is_confirmed_and_needs_a_new_name(locked):
    with locked.client(locked.key) as client:
        assert ">Edit<" in sent(client, "/new-loop", **NEW | {"name": "other"}).text
        again = sent(client, "/new-loop", **NEW | {"name": "other"}, confirmed="no").text
        assert 'name="name" value="other"' in again
        assert html.escape(EVIL, quote=False) in again.replace("&#34;", '"')
        assert 'id="trouble"' not in again
        taken = sent(client, "/new-loop", **NEW | {"name": "offers"})
        assert taken.status_code == 422
        assert "`name` must be a new one; got" in html.unescape(taken.text)


def test_a_loop_is_archived_once(locked):
    with locked.client(locked.key) as client:
        sent(client, "/new-loop", **NEW | {"name": "old"}, confirmed="yes")
        sent(client, "/loops/old/archive")
        assert client.get("/loops/old/archive").headers["location"] == "/loops/old"
        assert "/loops/old/archive" not in client.get("/loops/old").text
        assert changes(client)[:2] == ["archived a loop", "made a loop"]


def test_arms_cannot_be_taken_away_and_that_is_said_before_the_confirmation(locked):
    with locked.client(locked.key) as client:
        answer = sent(client, "/loops/offers/edit", arms="red")
    assert answer.status_code == 422
    assert "cannot be removed, renamed or reordered" in answer.text
    assert "Change offers?" not in answer.text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "<b>"}, "`name`"),
        ({"name": "x", "arms": "a\nb", "window": "soon"}, "`window`"),
        ({"name": "x", "arms": "a\nb", "policy": "{"}, "`policy`"),
        (
            {"name": "offers", "arms": "a\nb", "confirmed": "yes"},
            "Loop offers exists with other settings",
        ),
    ],
)
def test_settings_that_cannot_be_get_a_sentence_and_keep_what_was_typed(locked, fields, said):
    with locked.client(locked.key) as client:
        answer = sent(client, "/new-loop", **fields)
    assert answer.status_code == 422
    assert said in html.unescape(answer.text)
    assert html.escape(fields["name"]) in answer.text


def test_a_form_keeps_the_settings_of_a_loop():
    config = loop_config(OFFERS | {"seed": 7, "policy": {"kind": "ucb", "regularization": 2.0}})
    assert config_of(form_of(config), config) == config


def test_keys_are_issued_once_shown_and_revoked(locked):
    with locked.client(locked.key) as client:
        asked = sent(client, "/keys", name=EVIL, role="report")
        assert "Issue a key of the role report?" in asked.text
        issued = sent(client, "/keys", name=EVIL, role="report", confirmed="yes")
        assert (issued.status_code, issued.headers["location"]) == (303, "/keys")
        shown = client.get("/keys")  # which can be loaded again
        secret = re.search(r'id="secret">(hs_[^<]+)<', shown.text)[1]
        assert secret not in client.get("/keys").text
        client.cookies.set("halfseen_new_key", "hs_of another site", path="/keys")
        assert 'id="secret"' not in client.get("/keys").text
        assert "<script>alert" not in shown.text
        with locked.client(secret) as other:
            assert other.get("/").status_code == 200
            sent(client, f"/keys/{secret.split('_')[1]}/revoke")
            assert other.get("/").status_code == 303
        assert changes(client)[:2] == ["revoked a key", "issued a key"]
        assert sent(client, "/keys", name="", role="report").status_code == 422


def test_pending_decisions_are_expired_and_the_log_exported(locked):
    pending = locked.service.loop("offers").state.tally.pending
    assert pending > 0
    with locked.client(locked.key) as client:
        assert f"0 of the {pending} pending" in client.get("/loops/offers/expire").text
        assert f"{pending} of the" in client.get("/loops/offers/expire?minutes=0").text
        sent(client, "/loops/offers/expire", minutes="0")
        assert locked.service.loop("offers").state.tally.pending == 0
        log = sent(client, "/loops/offers/export", format="csv")
        assert log.headers["content-disposition"].endswith('"offers.csv"')
        assert len(log.text.splitlines()) >= 300
        assert changes(client)[:2] == ["exported a log", "expired decisions"]


async def nothing(place):
    """Ask for nothing."""


def test_a_service_that_only_reads_changes_nothing(tmp_path):
    async def ask():
        async with served(tmp_path, read_only=True, pages=pages_of) as place:
            place.client.base_url = "http://127.0.0.1"
            await place.client.get("/keys")
            token = place.client.cookies["halfseen_form"]
            given = {"token": token, "name": "x", "role": "admin", "confirmed": "yes"}
            return await place.client.post("/keys", data=given)

    run(tmp_path, nothing)
    answer = asyncio.run(ask())
    assert answer.status_code == 403
    assert "read only" in answer.text


def test_an_older_database_gets_the_table_of_changes(tmp_path):
    async def listed(place):
        from halfseen.service.change_table import add_change, newest_changes

        row = (1, None, "me", "made a loop", "offers", "")
        await place.service.writer.do(lambda log: add_change(log, row))
        return await place.service.read(newest_changes)

    run(tmp_path, nothing)
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        connection.execute("DROP TABLE changes")
        connection.execute("UPDATE meta SET value = '1' WHERE name = 'schema'")
    connection.close()
    assert run(tmp_path, listed) == [(1, None, "me", "made a loop", "offers", "")]
    with sqlite3.connect(tmp_path / "log.sqlite") as connection:
        found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    connection.close()
    assert found == (str(SCHEMA),)
