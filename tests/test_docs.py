"""Every block of code in the documents runs."""

import re
from pathlib import Path

import pytest

from halfseen.policies import LINEAR_POLICIES, POLICIES

ROOT = Path(__file__).parent.parent
BLOCKS = [
    (path.name, text)
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    for text in re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
]


@pytest.mark.parametrize("name", sorted({name for name, _ in BLOCKS}))
def test_code_in_documents_runs(name, tmp_path, monkeypatch):
    """The blocks of a page run in order, in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("halfseen.policies.POLICIES", dict(POLICIES))
    # Compiled functions are found again by their source, so the page's code must live in a file.
    source = "\n".join(text for page, text in BLOCKS if page == name)
    path = tmp_path / "page.py"
    path.write_text(source, encoding="utf-8")
    exec(compile(source, str(path), "exec"), {"__name__": "page"})


def test_links_between_documents_lead_somewhere():
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_readme_names_every_policy():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for policy in (POLICIES | LINEAR_POLICIES).values():
        if policy.__module__.startswith("halfseen."):
            assert f"`{policy.__name__}`" in text


def test_the_audit_in_the_readme_prints_what_it_says():
    from halfseen import audit, datasets

    said = re.search(
        r"```text\n(You see.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    found = audit(datasets.load_hiv_incentives().log, action="incentive", observed="collected")
    assert str(found) == said.group(1).rstrip("\n")
