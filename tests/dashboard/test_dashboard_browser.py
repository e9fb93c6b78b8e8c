"""The dashboard in a browser: it draws, follows the loops, pauses, and runs nothing of others."""

import pytest

from dashboard.conftest import EVIL, OFFERS, fed
from halfseen.dashboard import log_summary
from halfseen.explorer.arm_labels import arm_labels
from halfseen.service.exchange import Decide, Outcome
from halfseen.service.loop_config import loop_config

MORE = ["/new-loop", "/keys", "/trail", "/loops/articles"]
MORE += [f"/loops/offers/{one}" for one in ("decisions", "value?p0=100", "edit", "expire")]
PATHS = ["/", "/loops/offers", *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)]

WIDER = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.outerHTML)"


@pytest.fixture
def visit(browser, opened):
    contexts = []

    def look(path, width=1200, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: page.said.append(dialog.message))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"{opened.address}{path}")
        return page

    yield look
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1200, "light"), pytest.param(390, "dark", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("path", PATHS)
def test_every_page_fits_says_nothing_and_asks_nobody_else(visit, opened, path, width, scheme):
    page = visit(path, width, scheme)
    if page.locator("#pictures").count():
        page.wait_for_selector("html[data-drawn]")
        assert page.locator("svg.marks").count() == page.locator("figure").count() > 0
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".scroll, nav div").evaluate_all(WIDER) == []
    assert page.said == []
    assert all(url.startswith((opened.address, "data:")) for url in page.asked)


def test_names_of_arms_and_decisions_are_text_and_nothing_else(visit, opened):
    opened.do(fed(opened.service, count=5, name=EVIL))
    page = visit("/loops/offers")
    page.wait_for_selector("html[data-drawn]")
    assert page.locator("table th span[title]").first.get_attribute("title") == EVIL
    assert arm_labels([EVIL])[0] in page.locator("table").first.inner_text()
    for path in ("/decisions", "/value", "/edit"):
        page.goto(f"{opened.address}/loops/offers{path}")
        assert page.locator("main img, main script:not([type='application/json'])").count() == 0
    page.goto(f"{opened.address}/loops/offers/decisions")
    page.get_by_role("link", name=f"{EVIL}-0", exact=True).click()
    assert EVIL in page.locator("h1").inner_text()
    assert page.said == []


@pytest.mark.slow
def test_numbers_follow_the_loop_until_paused_and_charts_are_not_drawn_anew(visit, opened):
    page = visit("/loops/offers")
    page.wait_for_selector("html[data-updates]")
    cell = page.locator("[data-cell=decided]")
    before = int(cell.inner_text())
    page.evaluate("document.querySelector('#estimates svg').dataset.mine = 'yes'")
    opened.do(fed(opened.service, count=20, name="live"))
    page.wait_for_selector(f"[data-cell=decided]:text-is('{before + 20}')")
    assert page.locator("#estimates svg[data-mine]").count() == 1
    page.get_by_role("button", name="Pause").click()
    assert page.locator("#live-state").inner_text() == "Paused"
    opened.do(fed(opened.service, count=5, name="paused"))
    page.wait_for_timeout(1500)
    assert int(cell.inner_text()) == before + 20
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(f"[data-cell=decided]:text-is('{before + 25}')")
    assert page.said == []


@pytest.mark.slow
def test_a_loop_that_was_empty_gets_its_charts_and_sentences_while_one_looks(
    visit, opened, monkeypatch
):
    monkeypatch.setattr(log_summary, "FRESH", 1.0)
    new = OFFERS | {"name": "young", "arms": ["a" * 123 + "1", "a" * 123 + "2", "__proto__"]}
    opened.do(opened.service.create_loop(loop_config(new)))
    page = visit("/loops/young")
    assert "How to ask for one" in page.locator("#begin a[href='/api']").inner_text()
    page.wait_for_selector("#warnings p:has-text('cannot be audited yet')")
    page.wait_for_selector("html[data-drawn]")
    assert page.locator("figure").evaluate_all("all => all.map(one => one.id)") == [
        "chances",
        "pending",
    ]
    page.evaluate("document.querySelector('#pending svg').dataset.mine = 'yes'")

    async def feed():
        decided = await opened.service.submit("young", [Decide() for _ in range(90)])
        told = [Outcome(one.id, float(k % 2)) for k, one in enumerate(decided) if k % 3]
        await opened.service.submit("young", told)

    opened.do(feed())
    page.wait_for_selector("#estimates svg.marks")
    assert page.locator("#begin").count() == 0
    page.wait_for_selector("#course svg.marks", timeout=90_000)
    page.wait_for_selector("#warnings p:has-text('of outcomes')")
    page.wait_for_selector("#invest-title")
    shown = page.locator("figure").evaluate_all("all => all.map(one => one.id)")
    assert shown == ["seen", "estimates", "course", "chances", "pending"]
    assert page.locator("#course svg .mark-line path[stroke]").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    assert page.said == []


@pytest.mark.slow
def test_on_a_phone_the_list_of_loops_shows_every_column(visit):
    page = visit("/", 390)
    page.locator("tbody th a").first.evaluate("one => (one.textContent = 'a'.repeat(64))")
    assert page.locator(".scroll").evaluate_all(WIDER) == []
    for name in ("dimension", "forecast", "winner", "warnings"):
        box = page.locator(f"[data-cell='offers/{name}']").bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    assert page.locator("nav").evaluate("one => one.firstElementChild.scrollWidth") <= 390


@pytest.mark.slow
def test_on_paper_tables_are_tables_that_fit_and_forms_are_left_out(visit):
    for path in ("/", "/loops/offers", "/loops/offers/decisions"):
        page = visit(path, 720)  # a sheet within its margins
        page.emulate_media(media="print")
        assert (
            page.locator("table").first.evaluate("one => getComputedStyle(one).display") == "table"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 720
        assert not any(one.is_visible() for one in page.locator("form").all())


@pytest.mark.slow
def test_pages_can_be_read_and_used_without_a_script(visit):
    page = visit("/loops/offers", java_script_enabled=False)
    assert not page.locator("#pictures").is_visible()
    assert page.locator("[data-cell=mean-0]").inner_text() != "–"
    assert not page.locator("#pause").is_visible()
    page.get_by_role("link", name="Decisions", exact=True).click()
    page.get_by_label("Id begins with").fill("visit-17")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="visit-17", exact=True).click()
    assert "Chosen and shown" in page.locator(".life").inner_text()
