"""All figures, as files and as a page in a browser."""

import json
import sys
import xml.etree.ElementTree as ET

import pytest

from halfseen import cli, theory
from halfseen.report.theory.reach_figures import example
from report.page_rules import check_page

pytestmark = pytest.mark.slow  # pages that are drawn whole

NAMES = ["censorship", "dimension", "reachable", "thresholds", "switch", "potential", "regimes"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the folder that `halfseen figures` wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        patch.setattr(sys, "argv", ["halfseen", "figures", "--out", str(folder), "--json"])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
    assert stopped.value.code == 0
    return folder, json.loads(printed[0])


def test_every_figure_is_in_the_navigation(written):
    check_page(written[0] / "figures.html", "The effective dimension under censorship, in seven")


def test_every_figure_is_a_file(written):
    folder, content = written
    names = {f"{name}.{kind}" for name in NAMES for kind in ("svg", "png")} | {"figures.html"}
    assert {path.name for path in folder.iterdir()} == names
    assert set(content["files"]) == {str(folder / name) for name in names}
    assert content["page"] == str(folder / "figures.html")
    assert list(content["numbers"]) == NAMES
    for name in NAMES:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        texts = [text.text or "" for text in ET.parse(folder / f"{name}.svg").iter("{*}text")]
        assert not {"undefined", "NaN", "null"} & set(texts)


def test_the_key_numbers_are_the_theorys(written):
    numbers = written[1]["numbers"]
    path = theory.information_path(example())
    assert numbers["switch"]["at"] == path.switch_times[0]
    slopes = list(numbers["potential"]["slopes"].values())
    assert slopes[2] == pytest.approx(path.effective_dimension)
    assert slopes[0] == pytest.approx(6 / 0.35)
    gathered = list(numbers["potential"]["potential"].values())
    assert gathered[0] > gathered[1] > gathered[2] > gathered[3]


@pytest.mark.parametrize("width", [1280, 420])
def test_the_page_is_drawn_without_a_network_or_a_complaint(written, show, width):
    page = show(written[0] / "figures.html", width)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    sizes = page.evaluate(
        "[...document.querySelectorAll('.chart svg.marks')].map(s => s.getBoundingClientRect())"
        ".map(r => [r.width, r.height])"
    )
    assert len(sizes) == len(NAMES)
    assert all(min(size) > 200 for size in sizes)
    captions = page.locator("figcaption p").all_inner_texts()
    assert min(map(len, captions)) > 100
    if width < 1000:
        return

    chart = page.locator("[data-chart=reachable]")
    assert "t = 0" in chart.locator("svg.marks").text_content()
    before = chart.locator("svg.marks text").count()
    slider = chart.locator("input[type=range]")
    slider.evaluate("e => { e.value = 30; e.dispatchEvent(new Event('input')); }")
    page.wait_for_function(
        "n => document.querySelectorAll('[data-chart=reachable] svg.marks text').length > n",
        arg=before,
    )

    page.locator("[data-chart=thresholds] path[aria-label*='region 2']").last.hover(force=True)
    tip = page.locator("#vg-tooltip-element")
    tip.wait_for(state="visible")
    assert "reached, then replaces it" in tip.inner_text()
