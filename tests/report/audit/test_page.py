"""The page of an audit: it opens offline, draws its charts and escapes what it shows."""

import html
import json

import numpy as np
import pandas as pd
import pytest

from halfseen import audit
from halfseen.logs.comparison import compare
from halfseen.logs.forecast import Forecast
from halfseen.logs.goal import Goal
from halfseen.logs.plan import Plan
from halfseen.report.audit.answer_section import answer_section
from report.page_rules import check_page

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    n = 4000
    names = np.array(["<b>bold</b>", "b & c", "third"])
    a = rng.integers(0, 3, n)
    day = rng.uniform(0, 60, n)
    seen = rng.random(n) < np.array([0.1, 0.5, 0.9])[a] * np.where(day > 40, 0.4, 1.0)
    rewards = rng.normal(a / 10, 0.5)
    frame = pd.DataFrame({"offer": names[a], "profit": np.where(seen, rewards, np.nan)})
    frame["when"] = pd.Timestamp("2025-01-01") + pd.to_timedelta(day, unit="D")
    return audit(frame, action="offer", reward="profit", time="when")


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    return found.report(tmp_path_factory.mktemp("audit"))


@pytest.fixture(scope="module")
def whole_page(found, tmp_path_factory):
    forecast = found.plan(50, days=20, futures=20)
    compared = found.compare_imputations(horizon=500, replications=5)
    return found.report(tmp_path_factory.mktemp("whole"), forecast, compared)


@pytest.mark.slow
def test_every_chart_is_drawn(show, whole_page):
    opened = show(whole_page)
    places = opened.locator("[data-chart]")
    names = places.evaluate_all("all => all.map(place => place.dataset.chart)")
    assert names == [
        "audit-rates",
        "audit-parts",
        "audit-worth",
        "audit-time",
        "audit-differ",
        "audit-forecast",
        "problem-1-regret",
    ]
    assert opened.locator("[data-chart] svg.marks").count() == len(names)
    assert opened.locator("b").count() == 0
    assert "<b>bold</b>" in opened.locator("#rates").inner_text()
    for name in names:
        assert (whole_page.parent / "charts" / f"{name}.svg").exists()
    for link in opened.locator("nav a").evaluate_all("all => all.map(a => a.hash)"):
        assert opened.locator(link).count() == 1


@pytest.mark.slow
def test_the_chart_of_the_rates_is_whole_in_the_first_screen(show, page):
    chart = show(page).locator(".chart svg").first.bounding_box()
    assert chart["height"] > 100
    assert chart["y"] + chart["height"] < 720


def test_the_title_names_the_log_and_nothing_is_said_twice(page):
    check_page(page, "What missing feedback costs in ")


def test_it_fits_a_phone(show, page):
    opened = show(page, width=390)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_links_to_sections_wrap_where_they_do_not_fit_in_a_line(show, page):
    links = show(page, width=660).locator("nav div")
    assert links.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    assert links.evaluate("one => one.offsetHeight") > 60  # they take two lines


def test_nothing_missing_and_nothing_seen_still_make_a_page(tmp_path):
    for name, reward in (("all", 1.0), ("none", None)):
        found = audit({"a": [1, 2], "r": [reward, reward]}, action="a", reward="r")
        assert "What missing feedback costs" in found.report(tmp_path / name).read_text()


def test_what_waits_and_what_was_looked_for_is_on_the_page(tmp_path):
    rng = np.random.default_rng(3)
    n = 1500
    when, delay = rng.uniform(0, 60, n), rng.exponential(7.0, n)
    seen = (rng.random(n) < 0.7) & (when + delay <= 60)
    frame = pd.DataFrame(
        {"arm": rng.integers(0, 2, n), "r": np.where(seen, rng.normal(size=n), np.nan)}
    )
    frame["t"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(when, unit="D")
    frame["b"] = (frame.t + pd.to_timedelta(delay, unit="D")).where(seen)
    found = audit(frame, action="arm", reward="r", time="t", feedback_time="b")
    text = found.report(tmp_path / "page").read_text()
    for words in (
        "are pending and",
        'data-chart="audit-delays"',
        "What was tested",
        "not testable",
        "Name the column with unit=.",
        "appears by chance in about 1 of 1,000 logs",
    ):
        assert words in text


def test_a_warning_that_voids_the_numbers_stands_above_them_and_marks_them(tmp_path):
    log = {"offer": ["a", "b"] * 50, "sold": [1.0, None, 1.0, 1.0] * 25}
    found = audit(log, action="offer", reward="sold")
    assert [warning.kind for warning in found.warnings if warning.voids] == ["one-value"]
    page = found.report(tmp_path).read_text()
    first, mark, answer = (page.index(x) for x in ("Read this first", 'class="void"', "The answer"))
    assert first < mark < answer
    assert found.warnings[0].finding in page[: page.index("<nav")]


def test_arms_come_in_the_order_of_what_they_cost(tmp_path):
    log = {"offer": ["a"] * 4 + ["b"] * 4, "sold": [1, 2, 3, 4, 5, None, None, None]}
    found = audit(log, action="offer", reward="sold")
    assert [row["arm"] for row in found.to_dict()["rates"]] == ["b", "a"]
    page = found.report(tmp_path).read_text()
    cells = page[page.index('aria-label="Rates"') :]
    assert cells.index(">b</td>") < cells.index(">a</td>")
    assert "(1.10 to 1.10)" not in page


def test_rows_left_out_are_said_on_the_page(tmp_path):
    log = {"offer": ["a", "a", "b"], "sold": [1, None, 2]}
    found = audit(log, action="offer", reward="sold", drop_arms=["b"])
    assert "Left out: 1 of 3 rows (1 of b)." in found.report(tmp_path).read_text()


def test_a_voided_page_advises_nothing_and_marks_every_number(tmp_path):
    log = {"offer": ["a", "b"] * 300, "sold": [1.0, None, 1.0, 1.0, None, None] * 100}
    found = audit(log, action="offer", reward="sold")
    page = found.report(tmp_path, forecast=found.plan(100, days=7, futures=5)).read_text()
    for advice in ("The best arm", "safest arm", "More feedback is", "forecast for this log"):
        assert advice not in page
    style = page[: page.index("</style>")]
    for marked in (".void .factor", ".void .answers p", ".void figure", "td:not(:first-child)"):
        assert marked in style


def test_a_factor_stays_on_one_line(tmp_path):
    log = {"offer": ["a"] * 100, "sold": [1.0, 0.0, 1.0] + [None] * 97}
    page = audit(log, action="offer", reward="sold").report(tmp_path).read_text()
    assert ">33.3×<" in page
    assert "white-space: nowrap" in page[page.index(".factor {") :].split("}")[0]


def test_the_share_at_the_top_counts_no_reward_on_its_way_as_missing(tmp_path):
    rng = np.random.default_rng(5)
    log = pd.DataFrame({"offer": rng.choice(["a", "b"], 2000), "day": rng.random(2000) * 60})
    back = log.day + rng.exponential(20.0, 2000)
    log["back"] = back.where((rng.random(2000) < 0.8) & (back <= 60))
    log["sold"] = np.where(log.back.notna(), 1.0 * (rng.random(2000) < 0.5), np.nan)
    found = audit(log, action="offer", reward="sold", time="day", feedback_time="back", now=60)
    assert found.share - found.seen / found.rows > 0.1
    page = found.report(tmp_path).read_text()
    assert f">{100 * found.share:.3g}%</div>" in page
    assert "of outcomes are seen in the end" in page


def test_what_changed_since_the_last_audit_is_on_the_page(tmp_path):
    then = {"offer": ["a", "b"] * 200, "sold": [1.0, 0.0] * 200}
    now = {"offer": ["a", "b", "c"] * 200, "sold": [1.0, None, 0.0, 0.0, 1.0, 1.0] * 100}
    before, found = (audit(log, action="offer", reward="sold") for log in (then, now))
    changes = compare(found, before.to_dict())
    page = found.report(tmp_path, changes=changes).read_text()
    assert 'href="#changes"' in page
    assert "The share seen of “b” went from 100.0% to 50.0%." in page
    assert "New: c." in page
    assert json.loads((tmp_path / "audit.json").read_text())["changes"] == changes.to_dict()


def test_the_page_does_not_say_that_nothing_was_found_where_nothing_could_be_looked_for(tmp_path):
    flags = {"offer": ["a", "b"] * 30, "seen": [True, True, True, False] * 15}
    found = audit(flags, action="offer", observed="seen")
    states = [check.state for check in found.checks]
    page = found.report(tmp_path).read_text()
    assert set(states) == {"cannot be looked for"}
    assert "Nothing could be tested" in page
    assert "Nothing was found" not in page


@pytest.mark.parametrize(
    ("mine", "whole", "said"), [(np.inf, 40, ">6.2×"), (108, 35, "3.1×"), (35, 40, "0.88×")]
)
def test_a_forecast_that_is_not_seen_to_end_is_longer_than_what_was_seen(mine, whole, said):
    curve = np.zeros((4, 1))
    worlds = [Forecast("", np.full(3, float(d)), np.zeros(3), None, curve) for d in (mine, whole)]
    forecast = Plan(Goal(), 200.0, 500, *worlds, in_blocks=True)
    found = audit(
        {"offer": ["a", "b"] * 9, "sold": [1, None, 0] * 6}, action="offer", reward="sold"
    )
    section = answer_section(found, forecast, [])
    assert f">{html.escape(said)}<" in section
    assert "<p>A learner that starts without data" in section
