"""The page of information paths."""

import pytest

from halfseen import MultiThreshold, theory
from halfseen.report.theory.path_page import write_paths
from halfseen.report.theory.reach_figures import example


@pytest.mark.slow
def test_the_page_holds_phases_reasons_and_what_is_reachable(tmp_path, show):
    names = {"<b>& one": example(), "two": MultiThreshold([1.0], [0.8, 0.3], [0, 0, 1])}
    paths = {name: theory.information_path(model) for name, model in names.items()}
    written = write_paths(paths, tmp_path)
    assert [path.rpartition("/")[2] for path in written["files"]] == [
        "path.html",
        *(f"path-{i}.{kind}" for i in (1, 2) for kind in ("svg", "png")),
    ]
    page = show(tmp_path / "path.html", 420)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert page.locator(".chart svg.marks").count() == 2
    assert page.locator("section h2").first.inner_text() == "<b>& one"
    assert page.locator("ol li").count() == 3 + len(paths["two"].phases)
    assert "gains as much per observation" in page.locator("ol li").nth(1).inner_text()
    assert page.locator("table").nth(1).locator("tbody tr").count() == 10
