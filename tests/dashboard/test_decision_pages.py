"""Decisions listed, searched and followed from choice to outcome; the value of other policies."""

import asyncio
import html
import re
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from starlette.responses import HTMLResponse

from dashboard.conftest import EVIL
from halfseen import value
from halfseen.dashboard.dashboard_site import LATER, with_later
from halfseen.dashboard.decision_pages import was_told
from halfseen.dashboard.loop_figures import text
from halfseen.service.exchange import Activate, Decide, Outcome, Served
from halfseen.service.loop_events import Event


def listed(page):
    """Return the ids of a list of decisions."""
    return [html.unescape(one) for one in re.findall(r'<th scope="row"><a [^>]*>([^<]*)</a>', page)]


def test_decisions_are_listed_newest_first_and_paged(opened):
    with opened.client() as client:
        page = client.get("/loops/offers/decisions?find=visit-").text
        older = html.unescape(re.search(r'<a href="(\?[^"]*before=\d+)">Older', page)[1])
        second = client.get(f"/loops/offers/decisions{older}").text
    assert listed(page) == [f"visit-{k}" for k in range(299, 249, -1)]
    assert listed(second)[0] == "visit-249"


@pytest.mark.parametrize("state", ["observed", "censored", "pending", "held"])
def test_decisions_are_searched_by_id_arm_and_state(opened, state):
    with opened.client() as client:
        page = client.get(f"/loops/offers/decisions?find=visit-&state={state}&arm=red").text
    known = opened.service.loop("offers").state
    expected = [f"visit-{k}" for k in range(299, -1, -1)]
    expected = [one for one in expected if known.find(one).state == state]
    expected = [one for one in expected if known.find(one).arm == "red"]
    assert listed(page) == expected[:50]


def test_nonsense_in_a_search_finds_nothing_and_breaks_nothing(opened):
    with opened.client() as client:
        for query in ("find=%25", "find=' OR 1=1 --"):
            assert client.get(f"/loops/offers/decisions?{query}").status_code == 200
        for query in ("before=x", "before=-5", "before=" + "9" * 40, "state=x"):
            answer = client.get(f"/loops/offers/decisions?{query}")
            assert answer.status_code == 422
            assert f"`{query.partition('=')[0]}` must be" in answer.text
            assert len(listed(answer.text)) == 50
        page = client.get("/loops/offers/decisions?find=%25").text
    assert listed(page) == []


def test_a_life_without_a_reward_says_who_ended_it(opened):
    async def ended():
        await opened.service.submit("offers", [Decide(id="told")])
        await opened.service.submit("offers", [Outcome("told", None)])

    opened.do(ended())
    with opened.client() as client:
        page = client.get("/loops/offers/decisions/told").text
    assert "reported that none will come" in page
    assert "window closed" not in page


@pytest.mark.parametrize(("seconds", "told"), [(59, True), (60, False), (61, False)])
def test_a_window_closes_when_it_has_passed_since_the_decision_was_shown(seconds, told):
    rules = {3: SimpleNamespace(window=60.0)}
    events = [
        Event(1, 5, 3, "x", "held", 0),
        Event(1, 6, 3, "x", "activated", 10**9),
        Event(1, 9, 3, "x", "censored", 10**9 + seconds * 10**6),
    ]
    assert [was_told(event, events, rules) for event in events] == [False, False, told]


def test_the_life_of_a_decision_goes_from_choice_to_outcome(opened):
    name = f"held/{EVIL}"
    service = opened.service

    async def lived():
        await service.submit("offers", [Decide(id=name, hold=True)])
        await service.submit("offers", [Activate(name)])
        await service.submit("offers", [Served(name, "green", probability=0.5)])
        await service.submit("offers", [Outcome(name, 1.0)])

    opened.do(lived())
    with opened.client() as client:
        answer = client.get(f"/loops/offers/decisions/{quote(name, safe='')}")
        missing = client.get("/loops/offers/decisions/none")
    page = html.unescape(answer.text)
    said = ["Chosen, and held", "Shown", "Something else was shown", "The reward came"]
    places = [page.index(f"<strong>{one}.") for one in said]
    assert places == sorted(places)
    assert "Arm green, with probability 0.5." in page
    assert "Reward 1." in page
    assert "<script>alert" not in answer.text
    assert missing.status_code == 404


def test_the_value_of_another_policy_is_that_of_the_library(opened, tmp_path):
    with opened.client() as client:
        page = html.unescape(client.get("/loops/offers/value?p0=70&p2=30").text)
        log = tmp_path / "log.parquet"
        log.write_bytes(client.get("/v1/loops/offers/export").content)
    found = value(
        log,
        target={"red": 0.7, "green": 0.3},
        action="arm",
        reward="reward",
        propensity="propensity",
        where="state <> 'held'",
    )
    assert found.answers[0] in page
    assert text(found.value) in page


@pytest.mark.parametrize(
    ("query", "said"), [("p0=70", "must sum to 100"), ("p0=x", "must be a percentage")]
)
def test_percentages_that_cannot_be_get_a_sentence(opened, query, said):
    with opened.client() as client:
        answer = client.get(f"/loops/offers/value?{query}")
    assert answer.status_code == 422
    assert said in answer.text


def test_a_page_is_shown_before_what_takes_long_is_computed():
    async def parts():
        called = []

        async def part():
            called.append(True)
            return "<b>"

        page = with_later(HTMLResponse(f"first{LATER}last", headers={"X-One": "1"}), part)
        assert page.headers["x-one"] == "1"
        assert "content-length" not in page.headers
        sent = aiter(page.body_iterator)
        assert await anext(sent) == b"first"
        assert not called
        return [one async for one in sent]

    assert asyncio.run(parts()) == [b"<b>", b"last"]


def test_a_loop_of_features_has_no_page_on_the_value_of_arms(opened):
    with opened.client() as client:
        answer = client.get("/loops/articles/value")
    assert answer.status_code == 404
    assert "chooses among features, not arms" in answer.text
