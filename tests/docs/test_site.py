"""The documentation site builds without a warning, needs no network and shows its formulas."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from gallery import page, parts  # noqa: E402
from mathml import mathml  # noqa: E402

SCRIPTS = sorted(DOCS.glob("gallery/plot_*.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site in a new folder; this runs every script of the gallery."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-d"]
    command += [str(folder / "trees"), str(DOCS), str(folder / "html")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return folder / "html"


@pytest.mark.slow
def test_every_script_has_a_page_and_a_picture(site):
    assert len(SCRIPTS) >= 10
    cards = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    for script in SCRIPTS:
        assert f'href="{script.stem}.html"' in cards
        assert (site / "gallery" / f"{script.stem}.html").exists()
        picture = (site / "_static" / "gallery" / f"{script.stem}.svg").read_text(encoding="utf-8")
        assert picture.count("<path") > 3


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for path in pages:
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=\"([^\"]+)\"", text)
        loaded += re.findall(r"<link[^>]*rel=\"stylesheet\"[^>]*href=\"([^\"]+)\"", text)
        assert not [address for address in loaded if re.match(r"(?:https?:)?//", address)], path


@pytest.mark.slow
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


def test_limits_stand_below_in_displays():
    assert "<munder>" in mathml(r"\sum_a x_a", block=True)
    assert "<munder>" not in mathml(r"\sum_a x_a", block=False)


def test_a_script_becomes_a_page():
    source = '"""# Title & more\n\nWords.\n"""\n\nx = 1\n'
    assert parts(source) == ("# Title & more\n\nWords.", "x = 1")
    assert 'alt="Title &amp; more"' in page(source, "plot_x")
    with pytest.raises(ValueError, match="heading"):
        parts("x = 1\n")
