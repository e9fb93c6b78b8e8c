"""The documentation site builds without a warning, needs no network and shows its formulas."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import halfseen

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from gallery import page, parts  # noqa: E402
from mathml import mathml  # noqa: E402

pytestmark = pytest.mark.slow  # the site is built, which runs every script of the gallery
SCRIPTS = sorted(DOCS.glob("gallery/plot_*.py"))
NOTEBOOKS = sorted(DOCS.glob("gallery/*.ipynb"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site in a new folder; this runs every script of the gallery."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-d"]
    command += [str(folder / "trees"), str(DOCS), str(folder / "html")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert ended.returncode == 0, ended.stderr
    return folder / "html"


def test_every_script_has_a_page_and_a_picture(site):
    assert len(SCRIPTS) >= 10
    cards = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    for script in SCRIPTS:
        assert f'href="{script.stem}.html"' in cards
        assert (site / "gallery" / f"{script.stem}.html").exists()
        picture = (site / "_static" / "gallery" / f"{script.stem}.svg").read_text(encoding="utf-8")
        assert picture.count("<path") > 3


def test_cards_stand_in_reading_order_and_say_what_their_picture_shows(site):
    cards = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    listed = re.findall(r'<a class="card" href="(\w+)\.html"><img src="[^"]*" alt="([^"]*)"', cards)
    assert {name for name, _ in listed} == {path.stem for path in (*SCRIPTS, *NOTEBOOKS)}
    assert [name for name, _ in listed][:3] == ["first_study", "audit_in_a_notebook", "plot_regret"]
    assert all(len(words.split()) > 4 for _, words in listed)


def test_notebooks_are_run_and_shown_with_what_they_print_and_draw(site):
    assert len(NOTEBOOKS) >= 2
    for path in NOTEBOOKS:
        assert all(not cell.get("outputs") for cell in json.loads(path.read_text())["cells"])
        text = (site / "gallery" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert f"_static/gallery/{path.stem}.svg" in text
        assert "<table" in text
    audited = (site / "gallery" / "audit_in_a_notebook.html").read_text(encoding="utf-8")
    assert "You see 69% of outcomes" in audited


def test_pages_tell_the_version_and_lead_to_the_source(site):
    text = (site / "api" / "studies.html").read_text(encoding="utf-8")
    assert f"halfseen {halfseen.__version__}" in text
    assert 'href="../_modules/halfseen/studies/study.html#' in text


def test_the_index_for_programs_names_every_page_and_every_public_name(site):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith(f"# halfseen {halfseen.__version__}\n\n> ")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    for target in targets:
        file, _, anchor = target.partition("#")
        assert (site / file).exists(), target
        assert not anchor or f'id="{anchor}"' in (site / file).read_text(encoding="utf-8"), target
    pages = {target for target in targets if "#" not in target}
    made = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    beside = {"genindex.html", "search.html", "py-modindex.html"}
    assert made - pages - beside == {m for m in made if m.startswith(("_modules/", "_static/"))}
    named = set(re.findall(r"^- \[(halfseen[\w.]*)\]", text, re.M))
    lacking = [name for name in halfseen.__all__ if not any(n.endswith(f".{name}") for n in named)]
    assert [n for n in lacking if not inspect.ismodule(getattr(halfseen, n))] == []


def test_search_shows_snippets_without_a_server(site, browser):
    window = browser.new_page()
    window.goto((site / "search.html").as_uri() + "?q=censorship")
    window.wait_for_selector("#search-results p.context", timeout=20_000)
    assert "censorship" in window.inner_text("#search-results p.context >> nth=0").lower()
    window.close()


@pytest.mark.parametrize("width", [1200, 390])
def test_no_page_scrolls_sideways(site, browser, width):
    window = browser.new_page(viewport={"width": width, "height": 900})
    wide = []
    for path in sorted(site.rglob("*.html")):
        if "_modules" not in path.parts:
            window.goto(path.as_uri(), wait_until="domcontentloaded")
            if window.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                wide.append(path.name)
    window.close()
    assert wide == []


def test_nothing_is_loaded_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for path in pages:
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=\"([^\"]+)\"", text)
        loaded += re.findall(r"<link[^>]*rel=\"stylesheet\"[^>]*href=\"([^\"]+)\"", text)
        assert not [address for address in loaded if re.match(r"(?:https?:)?//", address)], path


def test_no_formula_is_left_as_latex(site):
    formulas = 0
    for path in site.rglob("*.html"):
        for formula in re.findall(r"<math.*?</math>", path.read_text(encoding="utf-8"), re.S):
            formulas += 1
            assert "\\" not in formula, (path.name, formula)
    assert formulas > 300


@pytest.mark.parametrize(
    ("latex", "wanted"),
    [
        (r"\mathbb E", "𝔼"),
        (r"\mathbf 1", "𝟏"),
        (r"\Big\{x\Big\}", ">{<"),
        (r"d_{\rm eff}", "<mtext>eff</mtext>"),
        (r"a\preceq b", "<mo>⪯</mo>"),
        (r"\langle a\rangle", '<mo stretchy="false">⟨</mo>'),
        ("a<b", "&lt;"),
    ],
)
def test_formulas_follow_mathml_core(latex, wanted):
    markup = mathml(latex, block=False)
    assert wanted in markup
    assert "mathvariant" not in markup


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), (r"\{", r"\}")])
def test_a_power_of_large_brackets_belongs_to_all_that_is_between_them(opening, closing):
    markup = mathml(rf"a+\Big{opening}\frac xy\Big{closing}^2", block=True)
    base = markup.partition("<msup>")[2].partition("</msup>")[0]
    assert base.startswith("<mrow><mo")
    assert base.endswith("</mo></mrow><mn>2</mn>")
    assert "mfrac" in base
    assert base.count('stretchy="true"') == 2
    assert "maxsize" not in markup
    assert markup.index("<mi>a</mi>") < markup.index("<msup>")


def test_a_bracket_without_its_partner_is_left_as_it_is():
    assert mathml(r"\Big(\frac xy", block=True).count("<mo") == 1


def test_limits_stand_below_in_displays():
    assert "<munder>" in mathml(r"\sum_a x_a", block=True)
    assert "<munder>" not in mathml(r"\sum_a x_a", block=False)


def test_a_script_becomes_a_page():
    source = '"""# Title & more\n\nWords.\n"""\n\nx = 1\n'
    assert parts(source) == ("# Title & more\n\nWords.", "x = 1")
    assert 'alt="Words."' in page(source, "plot_x")
    with pytest.raises(ValueError, match="heading"):
        parts("x = 1\n")
