"""The numbers on the pages are those of the library, and names are text and nothing else."""

import asyncio
import html
import json
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
from service.over_http import run

from dashboard.conftest import EVIL, OFFERS, fed
from halfseen import Agent, BernoulliThompson
from halfseen.dashboard.chart_numbers import course_arms, course_table
from halfseen.dashboard.log_summary import LogSummary, summary_of
from halfseen.dashboard.loop_charts import loop_pictures
from halfseen.dashboard.loop_figures import (
    MINUTE,
    RECENT,
    decisions_a_minute,
    expected_in_words,
    played_next,
    share_text,
    text,
)
from halfseen.dashboard.page_list import pages_of
from halfseen.dashboard.regret_forecast import regret_forecast
from halfseen.dashboard.seen_course import corrected
from halfseen.explorer.arm_labels import arm_labels
from halfseen.logs.invest import invest
from halfseen.service.log_export import audit_file


def cells(page):
    """Return the numbers of a page by their names."""
    found = re.findall(r'data-cell="([^"]*)"[^>]*>([^<]*)<', page)
    return {name: html.unescape(value) for name, value in found}


def island(page):
    found = re.search(r'<script[^>]*id="start"[^>]*>(.*?)</script>', page, re.S)
    return json.loads(found[1])


def status(place, loop="offers"):
    return place.do(place.service.status(loop))


def audited(place, folder):
    """Return the audit of a loop's own log."""
    log = folder / "log.parquet"
    with place.client() as client:
        log.write_bytes(client.get("/v1/loops/offers/export").content)
    return audit_file(log, 600.0)


def test_all_loops_show_the_numbers_of_their_agents_and_audits(opened, tmp_path):
    with opened.client() as client:
        shown = cells(client.get("/").text)
    known, found = status(opened), audited(opened, tmp_path)
    assert shown["offers/decided"] == text(known["decided"])
    assert shown["offers/pending"] == text(known["pending"]) != "0"
    assert re.fullmatch(f"{share_text(found.share)} within [\\d.]+ s", shown["offers/seen"])
    assert shown["offers/dimension"] == text(found.effective_dimension.value)
    assert shown["offers/factor"] == text(found.effective_dimension.factor)
    assert shown["offers/rate"] == "300"
    assert shown["articles/dimension"] == "–"


def test_a_loop_shows_the_estimates_rates_and_limits_of_the_library(opened, tmp_path):
    with opened.client() as client:
        shown = cells(client.get("/loops/offers").text)
    rates = {row["arm"]: row for row in audited(opened, tmp_path).rates}
    agent = opened.service.loop("offers").state.agent
    for place, row in enumerate(agent.estimates(0.95).rows):
        arm, mean, least, most, *_ = row
        rate = rates[arm]
        assert shown[f"mean-{place}"] == text(mean)
        assert shown[f"interval-{place}"] == f"{text(least)} to {text(most)}"
        assert shown[f"share-{place}"] == share_text(rate["rate"])
        assert (
            shown[f"between-{place}"] == f"{share_text(rate['low'])} to {share_text(rate['high'])}"
        )


def test_what_is_played_next_is_what_the_agent_proposes(opened):
    live = opened.service.loop("offers")
    chances = played_next(live)
    assert sum(chances.values()) == pytest.approx(1.0)
    before = live.state.agent.to_dict()
    for k in range(50):
        proposed = live.state.agent.propose(id=f"test-{k}")
        assert chances[live.state.agent.arms.name(proposed.choice)] == proposed.probability
    assert live.state.agent.to_dict() == before


@pytest.mark.parametrize("retired", [0, 1])
def test_what_is_played_next_is_known_of_many_arms(retired):
    agent = Agent(BernoulliThompson(), arms=30, reward="bernoulli", floor=0.01, seed=1)
    for k in range(60):
        agent.observe(agent.choose(), float(k % 2))
    config = SimpleNamespace(offered=lambda: range(30 - retired))
    chances = played_next(SimpleNamespace(state=SimpleNamespace(agent=agent, config=config)))
    assert len(chances) == 30 - retired
    assert sum(chances.values()) == pytest.approx(1.0)
    assert len(set(chances.values())) > 2


def test_missing_as_zero_is_a_sentence_with_the_loss(opened, tmp_path):
    with opened.client() as client:
        said = cells(client.get("/loops/offers").text)["zeros"]
    arms, rates = status(opened)["arms"], audited(opened, tmp_path).rates
    rates = {row["arm"]: row["rate"] for row in rates}
    seen = [arm["mean"] for arm in arms]
    zero = [arm["mean"] * rates[arm["arm"]] for arm in arms]
    best, seeming = int(np.argmax(seen)), int(np.argmax(zero))
    assert best != seeming
    assert arm_labels([arm["arm"] for arm in arms])[seeming] in said
    assert text(zero[seeming]) in said
    assert f"{text(seen[best] - seen[seeming])} lost" in said


def test_where_more_feedback_is_worth_most_is_what_invest_says(opened, tmp_path):
    rates = {row["arm"]: row["rate"] for row in audited(opened, tmp_path).rates}
    arms = [arm["arm"] for arm in status(opened)["arms"]]
    found = invest([rates[arm] for arm in arms], 1.0, 0.1, names=arms)
    with opened.client() as client:
        page = html.unescape(client.get("/loops/offers").text)
    assert f"begin with <span>{next(iter(found.arms))['arm']}</span>." in page
    assert f"to {found.dimension_after:.4g}, and worst-case regret by" in page


def undated(said):
    """Leave out how long a loop was followed, which grows while one looks."""
    return re.sub(r"within [\d.,]+ \w+", "within", said)


def test_warnings_and_answers_are_those_of_the_audit(opened, tmp_path):
    with opened.client() as client:
        page = undated(html.unescape(client.get("/loops/offers").text))
    found = audited(opened, tmp_path)
    for said in found.answers:
        assert undated(said) in page
    assert re.search(r"As of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC;", page)
    assert all(str(warning) in page for warning in found.warnings)


def test_the_delay_curve_is_kaplan_meier_on_the_log(tmp_path):
    import duckdb

    log = tmp_path / "log.parquet"
    rows = [(1, "observed"), (1, "observed"), (2, "censored"), (3, "observed"), (10, "censored")]
    values = ", ".join(
        f"('a', '{state}', TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01' + INTERVAL {s} SECOND,"
        f" {1 if state == 'observed' else 'NULL'}, 1.0, 'd{k}')"
        for k, (s, state) in enumerate(rows)
    )
    duckdb.sql(
        f"COPY (SELECT * FROM (VALUES {values}) AS t(arm, state, shown_at, ended_at, reward,"
        f" propensity, decision)) TO '{log}'"
    )
    found = summary_of(log, 1, 10.0)
    # who ended without a reward has waited the whole window: 5, then 3 at risk
    assert [(row["delay"], row["share"]) for row in found.delays] == [
        (1.0, pytest.approx(2 / 5)),
        (3.0, pytest.approx(1 - 3 / 5 * 2 / 3)),
    ]
    assert found.expected([2.0, 0.0], 10.0) == pytest.approx(0.2 / 0.6 + 0.6)
    assert found.course[0]["decisions"] == 5
    assert found.course[0]["share"] == pytest.approx(3 / 5)
    assert 0.2 < found.course[0]["low"] < 3 / 5 < found.course[0]["high"] < 0.9


def test_charts_hold_the_numbers_of_the_table(opened):
    with opened.client() as client:
        pictures = {p["name"]: p for p in island(client.get("/loops/offers").text)["pictures"]}
    arms = status(opened)["arms"]
    assert [row["mean"] for row in pictures["estimates"]["rows"]] == [a["mean"] for a in arms]
    assert len(pictures["seen"]["rows"]) == 3
    ages = [row for row in pictures["pending"]["rows"] if row["kind"] == "age"]
    assert sum(row["pending"] for row in ages) == status(opened)["pending"]
    curve = [row["share"] for row in pictures["pending"]["rows"] if row["kind"] == "delay"]
    assert curve == sorted(curve)
    assert len(curve) > 2
    assert all(row["low"] <= row["share"] <= row["high"] for row in pictures["course"]["rows"])
    assert "chances" in pictures


def test_a_loop_of_features_has_a_page_too(opened):
    with opened.client() as client:
        answer = client.get("/loops/articles")
    assert answer.status_code == 200
    assert cells(answer.text)["decided"] == "0"


def test_an_unknown_loop_is_a_page_with_a_sentence(opened):
    with opened.client() as client:
        answer = client.get("/loops/%3Cscript%3Ealert(1)")
    assert answer.status_code == 404
    assert "There is no loop" in answer.text
    assert "<script>alert" not in answer.text


def test_names_are_escaped_in_pages_and_islands(opened):
    with opened.client() as client:
        page = client.get("/loops/offers").text
    assert "<script>alert" not in page
    assert "<img" not in page
    shown = arm_labels([EVIL])[0]
    assert any(
        shown in p["spec"].get("params", [{}])[0].get("value", []) for p in island(page)["pictures"]
    )


@pytest.mark.slow
def test_numbers_stream_as_they_change(opened):
    with opened.client() as client, client.stream("GET", "/loops/offers/live") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        first = json.loads(next(line for line in lines if line.startswith("data"))[6:])
        opened.do(fed(opened.service, count=10, name="more"))
        later = json.loads(next(line for line in lines if line.startswith("data"))[6:])
    before, after = (cells(one["parts"]["loop_top.html"])["decided"] for one in (first, later))
    assert int(after) == int(before) + 10
    assert {p["name"] for p in first["pictures"]} >= {"seen", "estimates", "pending"}


def test_what_is_streamed_agrees_with_itself(opened):
    opened.do(fed(opened.service, count=30, name="agree"))
    with opened.client() as client, client.stream("GET", "/loops/offers/live") as answer:
        line = next(line for line in answer.iter_lines() if line.startswith("data"))
    found = json.loads(line[6:])
    top, ends = found["parts"]["loop_top.html"], found["parts"]["loop_ends.html"]
    shown = cells(top)
    pending = next(p for p in found["pictures"] if p["name"] == "pending")["rows"]
    assert sum(row.get("pending", 0) for row in pending) == int(shown["pending"])
    assert f"effective dimension from {shown['dimension']} to" in ends
    assert all(said in html.unescape(top) for said in ("Warnings of the audit", "of outcomes"))
    assert {"title", "note"} <= set(found["pictures"][0])


def test_a_loop_younger_than_its_window_says_within_which_time_it_is_seen(opened):
    with opened.client() as client:
        page = client.get("/loops/offers").text
    age = re.fullmatch(r"[\d.]+% within (.*)", cells(page)["seen"])[1]
    assert f"are those of rewards within {age}." in page
    seen = next(p for p in island(page)["pictures"] if p["name"] == "seen")
    assert f"come within {age}," in seen["note"]


def test_what_is_pending_is_said_only_where_delays_are_known_up_to_the_window():
    delays = [{"delay": 1.0, "share": 0.5, "low": 0.4, "high": 0.6}]
    known, young = LogSummary(1, delays=delays), LogSummary(1, delays=delays, within=20.0)
    said = expected_in_words(known, [0.0, 0.0, 30.0], 60.0)
    assert said == "Expected before their windows close: 1 of the 3 pending rewards."
    assert expected_in_words(young, [0.0, 0.0, 30.0], 60.0) == ""
    assert expected_in_words(None, [0.0], 60.0) == ""


def test_the_regret_forecast_is_the_plan_of_the_audit(opened, tmp_path):
    found = audited(opened, tmp_path)
    plan, forecast = found.plan(200, days=50, futures=50), regret_forecast(found)
    assert forecast.lost == plan.yours.regret.mean()
    assert forecast.low < forecast.lost < forecast.high
    assert forecast.all_seen == plan.everything.regret.mean()
    assert forecast.left_out == 0
    with opened.client() as client:
        shown, page = cells(client.get("/").text), client.get("/loops/offers").text
    assert shown["articles/forecast"] == "–"
    assert f"loses {cells(page)['forecast']} in reward" in page
    assert "It assumes" in page


def test_decisions_a_minute_are_those_even_after_a_burst_of_expiries(tmp_path):
    now = 200 * MINUTE
    events = [("decided", now - 3 * MINUTE)] * 300 + [("censored", now - MINUTE // 2)] * 20_500
    events += [("decided", now - 5)]

    def execute(query, values):
        if "LIMIT 1" in query and "DESC" not in query:
            return [(at,) for _, at in events[values[1] - 1 : values[1]]]
        kept = [(at,) for kind, at in events[max(0, values[1] - 1) :] if kind == "decided"]
        return kept[::-1][:RECENT]

    async def read(work):
        return work(SimpleNamespace(execute=execute))

    live = SimpleNamespace(id=1, state=SimpleNamespace(seq=len(events)))
    service = SimpleNamespace(read=read)
    assert asyncio.run(decisions_a_minute(service, live, now)) == 1.0
    events += [("decided", now - k * MINUTE // 60_000) for k in range(30_000, 0, -1)]
    live.state.seq = len(events)
    assert asyncio.run(decisions_a_minute(service, live, now)) == pytest.approx(60_000, rel=1e-3)


def test_the_course_corrects_for_what_may_still_come():
    # of 100 decisions half of whose rewards that come have had time to, 30 were seen: 60 will be
    share, low, high, known = corrected(*(np.array([x]) for x in (30.0, 0.0, 70.0, 0.5)))
    assert share[0] == pytest.approx(0.6)
    assert low[0] < 0.5 < 0.7 < high[0]
    assert known[0] < 50
    # nothing pending: the plain share with Wilson's interval
    share, low, high, known = corrected(*(np.array([x]) for x in (3.0, 7.0, 0.0, 0.0)))
    assert (share[0], known[0]) == (pytest.approx(0.3), pytest.approx(10.0))
    assert (low[0], high[0]) == (pytest.approx(0.1078, abs=1e-4), pytest.approx(0.6032, abs=1e-4))


def test_arms_with_equal_beginnings_or_odd_names_have_lines_of_their_own():
    names = ["a" * 123 + "1", "a" * 123 + "2", "__proto__", "constructor"]
    course = [
        {"arm": name, "at": at, "share": 0.5, "low": 0.4, "high": 0.6, "decisions": 9, "seen": 4}
        for name in names
        for at in (0.0, 1000.0)
    ]
    status = {"arms": [], "window": 60.0, "level": 0.95}
    pictures = loop_pictures(status, {}, [], LogSummary(1, course=course))
    found = next(p for p in pictures if p.name == "course")
    assert [row["arm"] for row in found.rows] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(set(found.spec["params"][0]["value"])) == 4


def test_what_cannot_be_audited_names_no_file(opened):
    with opened.client() as client:
        page = html.unescape(client.get("/loops/articles").text)
    said = re.search("The log cannot be audited yet[^<]*", page)[0]
    assert "/" not in said
    assert "got" not in said


def test_first_pages_do_not_wait_for_the_audit_of_each_loop(tmp_path):
    many = [OFFERS | {"name": f"loop-{k}"} for k in range(8)]

    async def ask(place):
        began = time.perf_counter()
        page = (await place.client.get("/")).text
        return page, time.perf_counter() - began

    async def slow(*_):
        await asyncio.sleep(1.0)
        yield []

    page, seconds = run(tmp_path, ask, *many, pages=lambda api, local: slowly(api, local, slow))
    assert page.count("being audited") == 8
    assert seconds < 4.0


def slowly(api, local, slow):
    """Return the pages of a service whose logs take long to read."""
    api.service.rows = slow
    return pages_of(api, local)


@pytest.mark.slow
def test_streams_end_when_the_process_is_told_to_stop(opened):
    with opened.client() as client, client.stream("GET", "/live") as answer:
        lines = answer.iter_lines()
        next(lines)
        opened.inside.api.stopping = True
        try:
            assert sum(line.startswith("data") for line in lines) <= 2
        finally:
            opened.inside.api.stopping = False


def test_arms_beyond_those_with_most_decisions_can_be_drawn_too():
    names = [f"arm {k}" for k in range(9)]
    course = [
        {"arm": name, "at": at, "share": 0.5, "low": 0.4, "high": 0.6, "decisions": k, "seen": 0}
        for k, name in enumerate(names)
        for at in (0.0, 60_000.0)
    ]
    status = {"arms": [{"arm": name, "retired": True} for name in names[::-1]]}
    status |= {"window": 60.0, "level": 0.95}
    summary = LogSummary(1, course=course)
    usual = course_arms(summary, status["arms"])
    assert usual.drawn == names[:1:-1]  # in the order of the loop
    (chart,) = (p for p in loop_pictures(status, {}, [], summary) if p.name == "course")
    assert "7 arms of 9, with most decisions" in chart.note
    chosen = course_arms(summary, status["arms"], ["arm 0", "arm 1"])
    assert chosen.drawn == ["arm 1", "arm 0"]
    (chart,) = (p for p in loop_pictures(status, {}, [], summary, chosen) if p.name == "course")
    assert {row["label"] for row in chart.rows} == {"arm 0", "arm 1"}
    table = course_table(summary, chosen)
    assert table["columns"] == chosen.drawn
    assert table["rows"][1] == ("1970-01-01 00:01:00", ["50% (40% to 60%)"] * 2)
    assert "'nope'" in course_arms(summary, status["arms"], ["nope"]).trouble
    assert "7 arms can be drawn" in course_arms(summary, status["arms"], names).trouble


def test_charts_can_be_read_as_numbers(opened):
    with opened.client() as client:
        page = client.get("/loops/offers?course=red").text
    ages = re.findall('data-title="Pending">([^<]*)<', page)
    assert sum(map(int, ages)) == status(opened)["pending"]
    rows = next(p for p in island(page)["pictures"] if p["name"] == "course")["rows"]
    shares = re.findall('data-title="red">([^ ]*) ', page)
    assert shares == [share_text(row["share"]) for row in rows]
    assert 'data-live="/loops/offers/live?course=red"' in page
