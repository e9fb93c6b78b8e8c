"""No page of the dashboard keeps readers out, by the rules of axe-core."""

import pytest

from dashboard.test_dashboard_browser import PATHS

MORE = [f"/loops/offers/{one}" for one in ("decisions/visit-17", "archive", "export")]


@pytest.mark.parametrize(
    ("width", "scheme"), [(1200, "light"), pytest.param(390, "dark", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "path", [*PATHS, *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)]
)
def test_no_page_keeps_readers_out(browser, opened, barriers, path, width, scheme):
    size = {"width": width, "height": 900}
    with browser.new_context(viewport=size, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(f"{opened.address}{path}")
        if page.locator("#pictures figure").count():
            page.wait_for_selector("html[data-drawn]")
        assert barriers(page) == []


@pytest.mark.slow
def test_signing_in_keeps_no_reader_out(browser, locked, barriers):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(locked.address)
        assert page.get_by_role("button").count() > 0
        assert barriers(page) == []
