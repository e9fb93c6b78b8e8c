"""The explorer in a browser: it draws, follows the sliders and shows the library's numbers."""

import os
import re
from pathlib import Path

import pytest

from halfseen import theory
from halfseen.explorer.site import VIEWS
from halfseen.tables import show

PICTURES = Path(__file__).parents[2] / "docs" / "images"
MORE = ["", "nowhere", "log", "arms?tour=2&horizon=100", *list(VIEWS)[1:]]
SCREENS = [(1200, "light"), pytest.param(390, "dark", marks=pytest.mark.slow)]


@pytest.fixture
def visit(browser, address):
    contexts = []

    def opened(path, width=1200, scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"{address}/{path}")
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.slow
def test_the_picture_of_the_documentation_is_that_of_the_page(visit, tmp_path):
    """Set HALFSEEN_PICTURES to the folder of the documentation's pictures to take it anew."""
    page = visit("arms", 1200)
    page.wait_for_selector("text=128 of 128 replications", timeout=60_000)
    folder = Path(os.environ.get("HALFSEEN_PICTURES", tmp_path))
    page.screenshot(path=folder / "explore.png")
    size = (folder / "explore.png").read_bytes()[16:24]
    assert size == (PICTURES / "explore.png").read_bytes()[16:24]


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n == "arms" else [pytest.mark.slow]) for n in VIEWS]
)
def test_every_page_draws_its_charts_and_fits(visit, address, name, width, scheme, tmp_path):
    page = visit(name, width, scheme)
    page.wait_for_selector("html[data-drawn]")
    pictures = page.locator("#pictures figure")
    assert page.locator("#pictures svg.marks").count() == pictures.count() > 0
    if page.locator("#played").count():
        page.wait_for_selector("#played[data-done]", timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("nav div").evaluate("one => one.scrollWidth") <= width
    drawn = "one => getComputedStyle(one).backgroundColor"
    assert page.locator("svg.marks").first.evaluate(drawn) == "rgba(0, 0, 0, 0)"
    for caption in page.locator("figcaption").all():  # charts are saved beside their title
        box, save = caption.bounding_box(), caption.locator("+ .chart summary").bounding_box()
        assert box["y"] <= save["y"] + 1
        assert save["y"] + save["height"] <= box["y"] + box["height"]
    assert page.said == []
    assert all(url.startswith((address, "data:")) for url in page.asked)
    page.screenshot(path=tmp_path / "page.png", full_page=True)


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize(
    "path", ["arms", *(pytest.param(one, marks=pytest.mark.slow) for one in MORE)]
)
def test_no_page_keeps_readers_out(visit, barriers, path, width, scheme):
    page = visit(path, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    if page.locator("#pictures figure").count():
        page.wait_for_selector("html[data-drawn]")
    assert barriers(page) == []


@pytest.mark.slow
def test_an_audit_keeps_no_reader_out(visit, barriers, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arm,reward\n" + "a,1\nb,0\nb,\n" * 50)
    page = visit("log")
    page.set_input_files("#file", path)
    page.wait_for_selector("#rates svg.marks")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert barriers(page) == []


@pytest.mark.slow
def test_a_saved_chart_can_be_read_on_any_ground(visit):
    page = visit("thresholds", 1200, "dark")
    page.wait_for_selector("html[data-drawn]")
    page.locator("#globe summary").click()
    with page.expect_download() as saved:
        page.locator("#globe").get_by_text("Save as SVG").click()
    assert re.search('<rect[^>]* fill="#ffffff"', saved.value.path().read_text())


def test_moving_a_slider_moves_answers_charts_code_and_address(visit):
    page = visit("arms?means=0.6,0.5&observe=0.5,0.5&horizon=500")
    page.wait_for_selector("html[data-drawn]")
    before = page.locator("#weights svg.marks").inner_html()
    slider = page.get_by_label("Probability of being seen, p, number 1")
    slider.fill("0.1")
    page.wait_for_selector("html[data-took]")
    size = show(theory.effective_dimension([0.1, 0.5]))
    assert f"is {size} instead of 2" in page.locator("#answers").inner_text()
    assert "observe=0.1,0.5" in page.url
    assert "PerArm([0.1, 0.5])" in page.locator("#python").text_content()
    assert "observe = [0.1, 0.5]" in page.locator("#toml").text_content()
    assert page.locator("#weights svg.marks").inner_html() != before
    page.reload()
    assert f"is {size} instead of 2" in page.locator("#answers").inner_text()
    assert page.said == []


@pytest.mark.slow
def test_nonsense_in_a_field_leaves_the_last_good_picture(visit):
    page = visit("arms?means=0.6,0.5&observe=0.5,0.5&horizon=500")
    page.wait_for_selector("html[data-drawn]")
    before = page.locator("#weights svg.marks").inner_html()
    field = page.locator("input[name=observe]")
    field.fill("0.5,many")
    field.press("Enter")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "`observe` must be a number; got 'many'" in page.locator("#trouble").inner_text()
    assert page.locator("#weights svg.marks").inner_html() == before
    assert page.said == []


@pytest.mark.slow
def test_nonsense_in_one_list_leaves_the_others_and_the_simulation_alone(visit):
    page = visit("arms?tour=3&means=0.6,0.5,0.4&observe=0.3,0.9,0.8&horizon=500")
    page.wait_for_selector("html[data-drawn]")
    field = page.locator("input[name=means]")
    for written in ("", "0.6", "0.6,,0.4", "many"):
        field.fill(written)
        field.press("Enter")
        page.wait_for_selector(f'#trouble:has-text("{written.split(",")[0]}")')
        assert page.locator("input[name=observe]").input_value() == "0.3,0.9,0.8"
    page.wait_for_selector("text=128 of 128 replications")
    field.fill("0.6,0.5")
    field.press("Enter")
    page.wait_for_url("**/arms?tour=3&means=0.6,0.5&observe=0.3,0.9&horizon=500")
    assert page.said == []


@pytest.mark.slow
def test_a_mean_that_is_typed_brings_its_probability(visit):
    page = visit("arms?means=0.6,0.5&observe=0.5,0.25&horizon=500")
    page.wait_for_selector("html[data-drawn]")
    for means, observe, size in (("0.6,0.5,0.4", "0.5,0.25,0.25", 3), ("0.6,0.5", "0.5,0.25", 2)):
        page.locator("input[name=means]").fill(means)
        page.locator("input[name=means]").press("Enter")
        page.wait_for_selector(f"text=instead of {size}")
        assert page.locator("input[name=observe]").input_value() == observe
        assert not page.locator("#trouble").is_visible()


@pytest.mark.slow
def test_a_refused_file_leaves_the_audit_before_and_says_whose_it_is(visit, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("arm,reward\n" + "a,1\nb,0\nb,\n" * 50)
    bad.write_bytes(b"arm,reward\n" + "caf\xe9,1\ntea,0\ntea,\n".encode("latin-1") * 50)
    page = visit("log")
    page.set_input_files("#file", good)
    page.wait_for_selector("#rates svg.marks")
    page.set_input_files("#file", bad)
    page.wait_for_selector("#trouble:not([hidden])")
    said = page.locator("#trouble").inner_text()
    assert said.startswith("bad.csv: `log` must be text in UTF-8.")
    assert said.endswith("What is shown below is still good.csv.")
    assert page.locator("#file-name").inner_text() == "good.csv"
    page.get_by_label("encoding").select_option("latin-1")
    page.wait_for_selector("#rates >> text=café")
    assert page.locator("#file-name").inner_text() == "bad.csv"
    assert not page.locator("#trouble").is_visible()
    assert page.said == []


@pytest.mark.slow
def test_a_file_whose_columns_have_other_names_is_asked_about(visit, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("foo,bar\n" + "a,1\nb,0\nb,\n" * 50)
    page = visit("log")
    page.set_input_files("#file", path)
    page.wait_for_selector("#status:has-text('Say which column of other.csv names the arm')")
    page.get_by_label("action").select_option("foo")
    page.get_by_label("reward").select_option("bar")
    page.get_by_role("button", name="Audit").click()
    page.wait_for_selector("#rates svg.marks")
    assert page.locator("#status").inner_text() == ""


@pytest.mark.slow
def test_an_arm_can_be_added_and_taken_away(visit):
    page = visit("arms?means=0.6,0.5&observe=0.5,0.5&horizon=500")
    page.wait_for_selector("html[data-drawn]")
    page.get_by_role("button", name="+ one more").click()
    page.wait_for_selector("text=instead of 3")
    assert "means=0.6,0.5,0.5&" in page.url
    page.get_by_role("button", name="− the last").click()
    page.wait_for_selector("text=instead of 2")
    assert re.search("means=0.6,0.5&", page.url)


@pytest.mark.slow
def test_a_threshold_that_is_added_lies_above_the_others(visit):
    page = visit("thresholds?degrees=60&observe=1,0.75")
    page.wait_for_selector("html[data-drawn]")
    page.get_by_role("button", name="+ one more").click()
    page.wait_for_url("**degrees=60,74.5&observe=1,0.75,0.75**")
    assert not page.locator("#trouble").is_visible()


@pytest.mark.slow
def test_the_tour_goes_through_five_steps(visit):
    page = visit("")
    page.get_by_role("link", name="Everything is seen").click()
    for number in range(1, 5):
        assert f"Step {number} of 5" in page.locator(".tour").inner_text()
        page.get_by_role("link", name="Next →").click()
    assert "Step 5 of 5" in page.locator(".tour").inner_text()


@pytest.mark.slow
def test_a_page_can_be_read_without_a_script(visit):
    page = visit("thresholds?degrees=60&observe=1,0.75", java_script_enabled=False)
    assert "effective dimension of the path is 3.5" in page.locator("#answers").inner_text()
    assert page.get_by_text("The charts need JavaScript").is_visible()
    assert not page.locator("#pictures").is_visible()
    page.locator("input[name=observe]").fill("1,1")
    page.get_by_role("button", name="Show").click()
    assert "effective dimension of the path is 3;" in page.locator("#answers").inner_text()


@pytest.mark.slow
def test_names_in_a_log_are_text_and_nothing_else(visit, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    arms = ["<script>alert(1)</script>", "__proto__", "constructor"]
    rows = [f"{arms[i % 3]},{i % 2 if i % 5 else ''}" for i in range(300)]
    path.write_text("\n".join(["arm,reward", *rows]))
    page = visit("log")
    page.on("dialog", lambda dialog: page.said.append(dialog.message))
    page.set_input_files("#file", path)
    page.wait_for_selector("#rates svg.marks")
    assert "<script>ale…/script>" in page.locator("#rates").inner_text()
    assert page.locator("#shown img, #shown script").count() == 0
    assert page.said == []
