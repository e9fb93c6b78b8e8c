"""A chart that cannot be drawn costs that chart and a sentence, never the report."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from halfseen import audit
from halfseen.report import write_report
from halfseen.report.core import drawing
from halfseen.report.core.drawing import attempt, draw, with_images

CHART = {
    "data": {"values": [{"x": 1}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
LOG = {"arm": ["a", "b"] * 20, "reward": [1.0, None, 0.0, 1.0] * 10}
# A worker that ends as V8 does where memory is short, when it meets a chart with that mark.
DYING = """
import json, os, signal, sys
asked = json.load(sys.stdin)
if "snippet" in asked:
    print(json.dumps({"code": "window.vegaEmbed = null"}), flush=True)
for chart in asked.get("charts", ()):
    if chart["mark"] == "death":
        print("# Fatal process out of memory: heap", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTRAP)
    print(json.dumps({"svg": "<svg/>", "png": ""}), flush=True)
"""


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """Return a function that puts another program in place of the worker."""

    def put(code):
        path = tmp_path / "worker.py"
        path.write_text(code)
        monkeypatch.setattr(drawing, "WORKER", path)
        drawing._code.cache_clear()

    yield put
    drawing._code.cache_clear()


def test_a_chart_that_vega_refuses_costs_no_other():
    found = draw({"good": CHART, "bad": CHART | {"mark": "nonsense"}, "fine": CHART})
    assert list(found.pictures) == ["good", "fine"]
    assert found.pictures["good"].png.startswith(b"\x89PNG")
    assert list(found.failures) == ["bad"]
    assert found.failures["bad"].endswith(".")


def test_a_chart_that_ends_the_process_costs_no_other(worker):
    worker(DYING)
    dead = CHART | {"mark": "death"}
    found = draw({"a": CHART, "b": dead, "c": CHART, "d": dead, "e": CHART})
    assert list(found.pictures) == ["a", "c", "e"]
    reason = "the process that draws ended early (Fatal process out of memory: heap)."
    assert found.failures == {"b": reason, "d": reason}


def test_where_no_chart_can_be_drawn_it_is_not_tried_one_by_one(worker, tmp_path):
    log = tmp_path / "starts"
    worker(f"open({str(log)!r}, 'a').write('x')\nimport os; os.abort()")
    found = draw(dict.fromkeys("abcdef", CHART))
    assert list(found.failures) == list("abcdef")
    assert log.read_text() == "x"


def test_a_worker_that_hangs_or_cannot_start_is_given_up(worker, monkeypatch):
    worker("import time; time.sleep(60)")
    monkeypatch.setattr(drawing, "PATIENCE", 0.5)
    assert "took more than 0.5 seconds" in draw({"a": CHART}).failures["a"]
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert "did not start" in draw({"a": CHART}).failures["a"]


@pytest.mark.slow
def test_a_report_without_any_chart_says_so_and_has_all_numbers(worker, result, tmp_path, show):
    worker("import os; os.abort()")
    with pytest.warns(RuntimeWarning, match="could not be drawn|shows no charts"):
        path = write_report(result, tmp_path / "out")
    assert (tmp_path / "out" / "summary.csv").exists()
    assert list((tmp_path / "out").glob("charts/*")) == []
    page = show(path)
    assert "There is no SVG or PNG of this chart" in page.inner_text("#charts")
    assert "the drawing code is missing from this page" in page.inner_text("#charts")
    assert page.locator("#numbers tbody tr").count() == 16


@pytest.mark.slow
def test_an_old_picture_of_a_chart_that_fails_now_is_removed(worker, result, tmp_path):
    write_report(result, tmp_path)
    (tmp_path / "charts" / "problem-1-regret.png").write_text("old")
    worker("import os; os.abort()")
    with pytest.warns(RuntimeWarning):
        write_report(result, tmp_path)
    assert list((tmp_path / "charts").iterdir()) == []


@pytest.mark.slow
def test_an_error_while_a_chart_is_made_costs_that_chart(monkeypatch, tmp_path, show):
    def broken(*_):
        raise ZeroDivisionError("nothing to <b>divide</b>")

    monkeypatch.setattr("halfseen.report.audit.charts.worth_chart", broken)
    found = audit(LOG, action="arm", reward="reward")
    with pytest.raises(ZeroDivisionError):
        found.report(tmp_path / "debug")
    monkeypatch.delenv("HALFSEEN_DEBUG")
    with pytest.warns(RuntimeWarning, match="audit-worth could not be drawn: ZeroDivisionError"):
        page = show(found.report(tmp_path / "out"))
    told = page.inner_text("#rates")
    assert "This chart could not be drawn: ZeroDivisionError: nothing to <b>divide</b>." in told
    assert page.locator("#rates [data-chart] svg.marks").count() == 1
    assert "audit-worth" in json.loads((tmp_path / "out" / "audit.json").read_text())["charts"]


@pytest.mark.slow
def test_a_chart_the_browser_cannot_draw_leaves_a_sentence(monkeypatch, tmp_path, show):
    from halfseen.report.audit import page as audit_page

    def spoiled(figures, folder):
        first, *rest = with_images(figures, folder)
        return [replace(first, spec=first.spec | {"facet": None}), *rest]

    monkeypatch.setattr(audit_page, "with_images", spoiled)
    page = show(audit(LOG, action="arm", reward="reward").report(tmp_path))
    assert "This chart could not be drawn" in page.inner_text("[data-chart=audit-rates]")
    assert page.locator("#rates [data-chart] svg.marks").count() == 2


@pytest.mark.slow
def test_where_address_space_is_short_the_answer_is_printed_and_the_report_written(tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\na,1\nb,\na,0\nb,1\n")
    command = (
        f"ulimit -v {12 * 2**20};"
        f" {sys.executable} -m halfseen audit log.csv --action arm --reward reward --out audit"
    )
    environment = {k: v for k, v in os.environ.items() if k != "HALFSEEN_DEBUG"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("You see 75% of outcomes")
    assert "could not be drawn: the process that draws ended early" in ended.stderr
    assert "C stack trace" not in ended.stderr
    assert (tmp_path / "audit" / "report.html").exists()
    assert (tmp_path / "audit" / "rates.csv").exists()


def test_attempts_return_what_is_made():
    assert attempt("a", "A", list) == []
