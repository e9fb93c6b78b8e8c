"""Rules for the whole tree: small files, short functions, one name per idea, nothing of a machine.

The lists below are what still breaks a rule. They only shrink: an entry that no longer breaks its
rule must be deleted, and nothing is added.
"""

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from house import DEPTH, LINES, POSITIONAL, depth, measures, positional

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "halfseen"
LINES_OF_A_FILE = 400

LONG_FUNCTIONS: set[str] = set()
DEEP_FUNCTIONS: set[str] = set()
MANY_PARAMETERS: set[str] = set()
SAME_IDEA = {  # one idea in several rooms: theory.linear.path, claims.linear.path
    "adaptivity",
    "bounds",
    "charts",
    "designs",
    "dimension",
    "ellipsoid",
    "events",
    "page",
    "path",
    "potential",
    "programs",
    "reduce",
    "regret",
    "worst_case",
}
FAMILIES = {"arms", "linear", "glm", "base"}  # of problems: a module in each folder that has them
MACHINE = re.compile(
    r"(?<![\w.}])/(?:tmp|work|root|opt|home|Users)/\w"
    r"|[\w.-]*(?:py[p]i\.o[r]g|python[h]osted|npm[j]s\.|crate[s]\.io|docke[r]\.io|ghc[r]\.io|qua[y]\.io)"
    r"|anacond[a]\.org"
)


def tracked():
    """Return the files of the tree that git knows or would add."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


@cache
def functions():
    """Return every function of the source as (module and name, its node)."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.append((f"{path.stem}.{node.name}", node))
    return found


def only(listed, found, rule):
    """Assert that exactly the listed break a rule; the list only shrinks."""
    assert found - listed == set(), f"These break the rule: {rule}."
    assert listed - found == set(), f"These keep the rule now ({rule}): delete them from the list."


def test_no_file_of_the_source_is_over_400_lines():
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCE.rglob("*.py")}
    assert [str(p.relative_to(ROOT)) for p, n in lengths.items() if n > LINES_OF_A_FILE] == []


def test_no_function_is_over_120_lines():
    long = {n for n, f in functions() if f.end_lineno - f.lineno >= LINES}
    only(LONG_FUNCTIONS, long, "at most 120 lines a function")


def test_no_function_takes_over_8_positional_parameters():
    many = {n for n, f in functions() if positional(f) > POSITIONAL}
    only(MANY_PARAMETERS, many, "at most 8 positional parameters")


def test_no_function_nests_deeper_than_5_blocks():
    deep = {n for n, f in functions() if depth(f) > DEPTH}
    only(DEEP_FUNCTIONS, deep, "at most 5 blocks inside one another")


def test_blocks_are_counted_as_a_reader_counts_them():
    chain = ast.parse("def f(x, /, y, *, z):\n  if x:\n    1\n  elif y:\n    for k in z: k\n")
    assert (depth(chain.body[0]), positional(chain.body[0])) == (2, 2)
    found = measures({"engine/one.py": "def f(a):\n    return isinstance(a, int)\n"})
    assert found["longest function"] == "2 (one.f)"
    assert found["isinstance lines in engine and report"] == "1"


def test_a_module_name_is_used_once_in_the_tree():
    homes = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        if path.stem not in FAMILIES | {"__init__", "__main__"}:
            homes[path.stem].append(path)
    shared = {name for name, paths in homes.items() if len(paths) > 1}
    only(SAME_IDEA, shared, "one module of a name, unless it is the same idea")


def test_tests_stand_where_the_modules_they_are_named_after_do():
    homes = defaultdict(set)
    for path in [*SOURCE.rglob("*.py"), *SOURCE.rglob("*/")]:
        homes[path.stem] |= {path.parent.relative_to(SOURCE)}
        if path.is_dir():  # the tests of a package stand in it or beside it
            homes[path.stem] |= {path.relative_to(SOURCE)}
    for path in (ROOT / "tests").rglob("test_*.py"):
        folder = path.parent.relative_to(ROOT / "tests")
        if folder == Path("docs"):
            continue
        assert (SOURCE / folder).is_dir(), f"{path}: no package has that name"
        known = homes.get(path.stem.removeprefix("test_"), {folder})
        assert folder in known, f"{path} is named after a module of {known}"


@pytest.mark.parametrize(
    "once", ["1.96", "get_close_matches", "def clopper_pearson", "def percent"]
)
def test_a_definition_stands_in_one_module(once):
    homes = [path for path in SOURCE.rglob("*.py") if once in path.read_text(encoding="utf-8")]
    assert len(homes) == 1


def text_of(path):
    """Return the text of a file, or nothing for pictures and the like."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_file_names_a_place_of_a_machine_or_a_registry():
    found = [
        f"{path.relative_to(ROOT)}: {hit.group()}"
        for path in tracked()
        if path != Path(__file__)
        for hit in MACHINE.finditer(text_of(path))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("cd /tmp/build", True),
        ('Path("/home/ann/log.csv")', True),
        ("--index-url https://" + "py" + "pi.org/simple", True),
        ("https://files.python" + "hosted.org/packages", True),
        ("$OUT/tmp/x and src/home/y", False),
        ("pkg:pypi/numpy@2.4.6", False),
    ],
)
def test_places_and_registries_are_noticed(line, caught):
    assert bool(MACHINE.search(line)) is caught


def test_the_walk_sees_the_source():
    names = {name for name, _ in functions()}
    assert "simulate" in {name.partition(".")[2] for name in names}
    assert len(names) > 500


def test_every_test_that_the_page_on_reliability_names_is_there():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    files = list((ROOT / "tests").rglob("test_*.py"))
    defined = {name for f in files for name in re.findall(r"^def (test_\w+)", text_of(f), re.M)}
    named = set(re.findall(r"`(test_\w+(?:\.py)?)`", page))
    assert len(named) > 20
    assert named - defined - {path.name for path in files} == set()


def test_every_file_of_tests_that_a_page_names_is_there():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"tests/[\w/]+\.py", text_of(page))}
    assert len(named) > 5
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []
