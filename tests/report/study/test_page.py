import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from example_studies import small_study
from playwright.sync_api import expect
from scipy import stats

from halfseen import (
    UCB,
    UCB1,
    ArmedBandit,
    FixedArms,
    GaussianThompson,
    ImputeZero,
    RandomArms,
    Study,
    Uniform,
    read_spec,
    simulate,
)
from halfseen.report import report_is_current, write_report
from halfseen.report.study.leaders import in_a_sentence
from halfseen.studies.policy_comparison import leaders
from halfseen.tables import with_error
from report.page_rules import check_page

LIMIT = 1_500_000
EVIL = '</script><script>window.hit=1</script><img src=x onerror="window.hit=1">\'"&amp;{{1}} ☃é'


def written(path):
    """Return the page up to the code that draws the charts."""
    text, code, _ = path.read_text(encoding="utf-8").partition("<script>")
    assert code
    return text


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def chart_sizes(page):
    boxes = "[...document.querySelectorAll('.chart')].map(c => c.querySelector('svg.marks'))"
    return page.evaluate(
        boxes
        + ".map(s => s && [s.getBoundingClientRect().width, s.getBoundingClientRect().height])"
    )


@pytest.mark.slow
def test_the_page_is_small_and_every_chart_is_drawn_without_a_network(report, desktop):
    assert report.stat().st_size < LIMIT
    sizes = chart_sizes(desktop)
    assert len(sizes) == 7
    assert all(size is not None and min(size) > 80 for size in sizes)
    assert desktop.evaluate("document.querySelectorAll('.chart path').length") > 100


def test_nothing_in_the_page_comes_from_elsewhere(report):
    text = written(report)
    assert not re.search(r"<(link|img|iframe|source)\b", text)
    assert not re.search(r"<script[^>]*\bsrc\b", text)
    assert not re.search(r"url\(|@import", text.partition("</style>")[0])
    assert "default-src 'none'" in text


def test_a_narrow_screen_never_scrolls_sideways(report, show):
    page = show(report, 375)
    assert overflow(page) <= 0
    assert all(size[0] <= 375 for size in chart_sizes(page))
    page.set_viewport_size({"width": 800, "height": 800})
    assert overflow(page) <= 0


@pytest.mark.slow
def test_a_dark_screen_prints_on_white_paper(report, show):
    page = show(report, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) != "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    assert all(min(size) > 80 for size in chart_sizes(page))


def test_the_first_sentence_is_the_answer(result, desktop):
    regret = result.tracks["regret"][0, :, 0, :, -1]
    mean, error = regret.mean(axis=1), regret.std(axis=1, ddof=1) / np.sqrt(40)
    half = stats.t.ppf(0.975, 39) * error
    seen = result.tracks["observations"][0, 2, 0, :, -1].sum(axis=-1).mean() / 600
    lead = desktop.inner_text(".lead").replace("\u00a0", " ")
    assert lead.startswith(in_a_sentence(leaders(result)))
    factor = f"{mean[2] / mean[3]:#.3g} times"
    effect = f"makes the regret of UCB {factor} as large"
    assert lead.endswith(f" Missing feedback {effect} under “worst rarely seen”.")
    shown = desktop.inner_text("#answer").replace("\u00a0", " ")
    assert (
        f"Seeing {100 * seen:.0f}% of the feedback {effect} ({with_error(mean[2], half[2])} instead"
        f" of {with_error(mean[3], half[3])} over 600 rounds)."
    ) in shown
    assert desktop.inner_text("section#answer .caution").startswith("Every number here assumes")
    answer = desktop.inner_text("#answer")
    assert f"3 arms, effective dimension {1 / 0.9 + 1 / 0.5 + 1 / 0.05:.3g}." in answer
    assert "Imputing 0 for a missing reward (zeros)" in answer


def test_the_title_names_the_study_and_nothing_is_said_twice(report):
    check_page(report, "Regret of 4 policies on “five adverts”")


@pytest.mark.slow
def test_a_button_copies_the_specification(report, show):
    page = show(report)
    button = page.locator("#again button.copy").last
    button.click()
    expect(button).to_have_text(re.compile("Copied|Selected"))
    if button.inner_text() == "Selected":
        assert "[problems." in page.evaluate("window.getSelection().toString()")
    page.emulate_media(media="print")
    assert not button.is_visible()


@pytest.mark.slow
def test_the_first_key_leads_past_the_navigation(report, show):
    page = show(report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "MAIN"


@pytest.mark.slow
def test_navigation_stays_in_sight(report, show):
    page = show(report)
    page.evaluate("document.querySelector('#events').scrollIntoView({behavior: 'instant'})")
    assert page.evaluate("document.querySelector('nav').getBoundingClientRect().top") == 0
    assert page.evaluate("document.querySelector('#events').getBoundingClientRect().top") > 40


def test_the_tables_hold_the_summary_and_the_bounds(result, desktop):
    cells = desktop.locator("#numbers tbody tr").first.locator("td").all_inner_texts()
    first = result.summary().records()[0]
    assert cells[:2] == ["half seen", "UCB"]
    assert float(cells[2]) == pytest.approx(first["regret"], rel=0.01)
    assert cells[4].endswith("×")
    assert desktop.locator("#bounds tbody tr").count() > 8
    assert desktop.locator("#bounds strong").count() == 4
    assert "0 of 40" in desktop.inner_text("#events")


def test_the_spec_shown_gives_the_same_study(result, report):
    assert read_spec(report.parent / "spec.toml").digest() == result.study.digest()
    assert (report.parent / "summary.csv").read_text() == result.summary().to_csv()


def test_charts_are_files_too(report):
    pictures = sorted((report.parent / "charts").iterdir())
    assert len(pictures) == 14
    for path in pictures:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            assert ET.parse(path).getroot().tag.endswith("svg")


def test_pointing_at_a_curve_tells_its_numbers(desktop):
    point = desktop.locator(".chart").first.locator("path[aria-label*='policy: UCB']").last
    point.hover(force=True)
    tip = desktop.locator("#vg-tooltip-element")
    tip.wait_for(state="visible")
    assert "± 95%" in tip.inner_text()


@pytest.mark.slow
def test_names_cannot_become_code(tmp_path, show):
    study = Study(
        {EVIL: ArmedBandit([0.6, 0.5], reward="bernoulli")},
        {EVIL: Uniform(0.5)},
        {EVIL: UCB(), EVIL + "2": ImputeZero()},
        horizon=60,
        replications=3,
    )
    path = write_report(simulate(study), tmp_path)
    assert "<img" not in written(path)
    page = show(path, 375)
    page.locator(".chart").first.locator("path[aria-label*='onerror']").last.hover(force=True)
    page.locator("#vg-tooltip-element").wait_for(state="visible")
    assert "onerror" in page.inner_text("#vg-tooltip-element")
    assert page.evaluate("window.hit") is None
    assert page.locator("script").count() == 3
    assert page.locator("img").count() == 0
    assert page.locator("#answer h4").first.inner_text() == EVIL
    assert overflow(page) <= 0
    for picture in (tmp_path / "charts").glob("*.svg"):
        assert not ET.parse(picture).findall(".//{*}script")


ODD = {
    "one of everything": Study(
        ArmedBandit([0.5]), Uniform(0.5), UCB(), horizon=1, replications=1, alphas=[1]
    ),
    "no regret": Study(
        ArmedBandit([0.5, 0.5]), Uniform(0.5), UCB(), horizon=30, replications=2, alphas=[1]
    ),
    "many policies": Study(
        ArmedBandit([0.6, 0.5]),
        Uniform(0.5),
        {f"a policy with a long name, number {i}": UCB(regularization=i + 1) for i in range(18)},
        horizon=60,
        replications=2,
        checkpoints=6,
        alphas=[1],
    ),
    "many arms": Study(
        ArmedBandit(np.linspace(0, 1, 10_000)),
        Uniform(0.5),
        UCB1(),
        horizon=40,
        replications=2,
        checkpoints=4,
    ),
    "no baseline, wrong bound, moving arms": Study(
        {
            "one": ArmedBandit([0.6, 0.5, 0.1], actions=FixedArms([1, 2])),
            "two": ArmedBandit([0.6, 0.5, 0.1], actions=RandomArms([0.5, 0.5, 0.5])),
        },
        Uniform(0.3),
        {"wrong": UCB(bound=0.05), "UCB": UCB(), "G": GaussianThompson()},
        horizon=60,
        replications=3,
        baseline=False,
        alphas=[1],
    ),
}


QUICK = ("one of everything", "no regret")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in ODD],
)
def test_any_valid_study_has_a_report(name, tmp_path, show):
    path = write_report(simulate(ODD[name]), tmp_path)
    assert path.stat().st_size < LIMIT
    page = show(path, 375)
    assert overflow(page) <= 0
    sizes = chart_sizes(page)
    assert sizes
    assert all(size is not None and min(size) > 40 for size in sizes)
    assert "NaN" not in page.inner_text("main")
    if name == "many arms":
        assert "The 30 most played of 10,000 arms are shown." in page.inner_text("#charts")
    if name == "many policies":
        assert "14 of 18 policies" in page.inner_text("#charts")


def test_drawing_is_not_loaded_before_it_is_needed():
    code = "import sys, halfseen.report; print({'altair', 'vl_convert'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_report_is_current_until_its_numbers_change(report, result, tmp_path):
    folder = report.parent
    assert report_is_current(result, folder)
    other = simulate(small_study(seed=99), engine="reference")
    assert not report_is_current(other, folder)
    assert not report_is_current(result, tmp_path)
    (tmp_path / "report.html").write_text("another page")
    assert not report_is_current(result, tmp_path)


def test_the_first_screen_has_the_best_policy_and_a_chart(desktop):
    top = "document.querySelector('.chart svg').getBoundingClientRect().top + scrollY"
    assert desktop.evaluate(top) < 520
    assert "lost least" in desktop.locator("header .lead").inner_text()
