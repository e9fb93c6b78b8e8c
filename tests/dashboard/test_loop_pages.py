"""The numbers on the pages are those of the library, and names are text and nothing else."""

import html
import json
import re

import numpy as np
import pytest

from dashboard.conftest import EVIL, fed
from halfseen.dashboard.log_summary import summary_of
from halfseen.dashboard.loop_figures import played_next, share_text, text
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
    assert shown["offers/seen"] == share_text(found.share)
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


def test_missing_as_zero_is_a_sentence_with_the_loss(opened, tmp_path):
    with opened.client() as client:
        said = cells(client.get("/loops/offers").text)["zeros"]
    arms, rates = status(opened)["arms"], audited(opened, tmp_path).rates
    rates = {row["arm"]: row["rate"] for row in rates}
    seen = [arm["mean"] for arm in arms]
    zero = [arm["mean"] * rates[arm["arm"]] for arm in arms]
    best, seeming = int(np.argmax(seen)), int(np.argmax(zero))
    assert best != seeming
    assert arms[seeming]["arm"] in said
    assert text(zero[seeming]) in said
    assert f"{text(seen[best] - seen[seeming])} lost" in said


def test_where_more_feedback_is_worth_most_is_what_invest_says(opened, tmp_path):
    rates = {row["arm"]: row["rate"] for row in audited(opened, tmp_path).rates}
    arms = [arm["arm"] for arm in status(opened)["arms"]]
    found = invest([rates[arm] for arm in arms], 1.0, 0.1, names=arms)
    with opened.client() as client:
        page = html.unescape(client.get("/loops/offers").text)
    assert f"begin with {next(iter(found.arms))['arm']}." in page
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
    assert found.share_back(2.0) == pytest.approx(0.4)
    assert found.expected([2.0, 0.0], 10.0) == pytest.approx(0.2 / 0.6 + 0.6)
    assert found.course[0]["decisions"] == 5
    assert found.course[0]["share"] == pytest.approx(3 / 5)


def test_charts_hold_the_numbers_of_the_table(opened):
    with opened.client() as client:
        pictures = {p["name"]: p for p in island(client.get("/loops/offers").text)["pictures"]}
    arms = status(opened)["arms"]
    assert [row["mean"] for row in pictures["estimates"]["rows"]] == [a["mean"] for a in arms]
    assert len(pictures["seen"]["rows"]) == 3
    assert sum(row["pending"] for row in pictures["pending"]["rows"]) == status(opened)["pending"]
    assert {"course", "delays", "chances"} <= set(pictures)


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
    assert any(EVIL[:40] in str(p["spec"]) for p in island(page)["pictures"])


def test_numbers_stream_as_they_change(opened):
    with opened.client() as client, client.stream("GET", "/loops/offers/live") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        first = json.loads(next(line for line in lines if line.startswith("data"))[6:])
        opened.do(fed(opened.service, count=10, name="more"))
        later = json.loads(next(line for line in lines if line.startswith("data"))[6:])
    before, after = (int(one["cells"]["decided"]) for one in (first, later))
    assert after == before + 10
    assert {p["name"] for p in first["pictures"]} >= {"seen", "estimates", "pending"}


def test_streams_end_when_the_process_is_told_to_stop(opened):
    with opened.client() as client, client.stream("GET", "/live") as answer:
        lines = answer.iter_lines()
        next(lines)
        opened.inside.api.stopping = True
        try:
            assert sum(line.startswith("data") for line in lines) <= 2
        finally:
            opened.inside.api.stopping = False
