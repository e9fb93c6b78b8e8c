"""Every block of code in the documents runs, and prints what the page says it prints."""

import contextlib
import inspect
import io
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest

from halfseen import cli
from halfseen.policies import GLM_POLICIES, LINEAR_POLICIES, POLICIES
from halfseen.studies.spec import study_from

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if "_build" not in path.parts
]
LONG = {  # a study or a report of seconds each
    "CONTRIBUTING.md",
    "docs/click-data.md",
    "docs/concepts/missing-is-not-zero.md",
    "docs/concepts/missing-not-at-random.md",
    "docs/how-to/audit-a-log.md",
    "docs/how-to/compare-policies.md",
    "docs/how-to/follow-the-information-path.md",
    "docs/how-to/late-feedback.md",
    "docs/how-to/make-figures.md",
    "docs/how-to/plan-and-invest.md",
    "docs/how-to/resume-long-runs.md",
    "docs/how-to/run-a-study.md",
    "docs/how-to/simulate-linear-bandits.md",
    "docs/how-to/write-a-policy.md",
    "docs/quickstart.md",
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
SMALL = {"horizon": 300, "replications": 2}  # what a page's commands are cut down to


def blocks(path):
    """Return the language and text of every block of a page."""
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def runs(path):
    return any(kind in ("python", "console") for kind, _ in blocks(path))


def printed(call):
    """Return what a call writes to stdout, lines stripped on the right."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call()
    return tidy(out.getvalue())


def tidy(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def execute(text, path, names):
    """Run Python; compiled functions are found by their source, so it must lie in a file."""
    path.write_text(text, encoding="utf-8")
    exec(compile(text, str(path), "exec"), names)


def command(line):
    """Run a halfseen command in this process, cut down: a short study and no pictures."""
    whole = cli.study_named

    def short(*spec, **options):
        return study_from(whole(*spec, **options).to_dict() | SMALL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "study_named", short)
        patch.setattr("halfseen.report.core.drawing.write_images", lambda *_: {})
        patch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            cli.main()
    assert ended.value.code == 0, line


def name(path):
    return path.relative_to(ROOT).as_posix()


def test_long_pages_are_pages_with_code():
    assert set(map(name, filter(runs, PAGES))) > LONG


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(path, id=name(path), marks=[pytest.mark.slow] if name(path) in LONG else [])
        for path in filter(runs, PAGES)
    ],
)
def test_code_in_documents_runs(page, tmp_path, monkeypatch, own_kinds):
    """The blocks run in order, in one namespace, in an empty folder.

    A ``text`` block after a ``python`` block is what that printed. In a ``console`` block, lines
    after a command are what it printed. A ``toml`` block whose first line names a file is that
    file.
    """
    monkeypatch.chdir(tmp_path)
    names, output = {"__name__": "page"}, None
    for number, (kind, text) in enumerate(blocks(page)):
        said, output = output, None
        if kind == "python":
            path = tmp_path / f"block_{number}.py"
            output = printed(lambda text=text, path=path: execute(text, path, names))
        elif kind == "text" and said is not None:
            assert said == tidy(text)
        elif kind == "toml":
            named = re.match(r"# (\S+\.toml)\n", text)
            (tmp_path / (named[1] if named else "unnamed.toml")).write_text(text, encoding="utf-8")
        elif kind == "console":
            for line, result in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
                if line.startswith("halfseen "):
                    said_so = printed(lambda line=line: command(line))
                    assert not result.strip() or said_so == tidy(result)


def test_the_audit_is_the_first_of_the_how_tos():
    listed = (ROOT / "docs/how-to/index.md").read_text(encoding="utf-8").splitlines()
    pages = (line for line in listed if (ROOT / f"docs/how-to/{line}.md").exists())
    assert next(pages) == "audit-a-log"


def test_links_between_documents_lead_somewhere():
    for path in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_anchors_in_documents_exist():
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", text):
            there = path.parent / target if target else path
            content = there.read_text(encoding="utf-8")
            titles = re.findall(r"^#+ (.*)$", content, re.M)
            slugs = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
            known = slugs | set(re.findall(r'id="([^"]+)"', content))
            assert anchor in known, f"{path.name} links to {target}#{anchor}"


def test_the_table_of_contents_names_every_policy():
    text = (ROOT / "docs" / "contents.md").read_text(encoding="utf-8")
    for policy in (POLICIES | LINEAR_POLICIES | GLM_POLICIES).values():
        if policy.__module__.startswith("halfseen."):
            assert f"`{policy.__name__}`" in text


PUBLIC = ("theory", "testing", "integrations", "report", "claims", "policies", "problems")
PUBLIC += ("censorship", "integrations.gymnasium", "integrations.sklearn")


@pytest.mark.parametrize("module", ["halfseen", *(f"halfseen.{name}" for name in PUBLIC)])
def test_api_pages_list_every_public_name(module):
    content = import_module(module)
    pages = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/api/*.md"))
    listed = set(re.findall(r"^\.\. (?:auto\w+|py:data):: (?:[\w.]+\.)?(\w+)$", pages, re.M))
    own = [name for name, value in vars(content).items() if inspect.isclass(value)]
    names = set(getattr(content, "__all__", own))
    if not hasattr(content, "__all__"):
        names = {name for name in names if getattr(content, name).__module__ == content.__name__}
    assert names
    assert names - {"theory"} <= listed
