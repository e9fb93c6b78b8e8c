"""The README is followed line by line: every command works as typed, every number is right."""

import re
import shlex
import tomllib

import duckdb
import pytest

from docs.test_pages import ROOT, blocks, command, printed
from halfseen import theory

README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCED = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
TYPED = [text for kind, text in FENCED if not kind]
INLINE = re.findall(r"`(halfseen [^`]+ [^`]+)`", README)


def lines():
    return [line.partition("#")[0].strip() for block in TYPED for line in block.splitlines()]


def test_everything_typed_is_a_target_of_make_or_a_command():
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert len(lines()) >= 4
    for line in lines():
        program, *words = shlex.split(line)
        assert program in ("make", "halfseen"), line
        if program == "make":
            assert set(words) <= made, line
    for name in re.findall(r"`make ([\w-]+)`", README):
        assert name in made


def test_commands_work_as_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.sql(
        "COPY (SELECT i % 3 AS offer, CASE WHEN i % 4 THEN i % 2 END AS sold,"
        " DATE '2026-01-01' + CAST(i // 40 AS INTEGER) AS day FROM range(4000) r(i))"
        " TO 'log.parquet'"
    )
    ran = [line for line in lines() if line.startswith("halfseen ")] + INLINE
    assert len(ran) >= 3
    for line in ran:
        printed(lambda line=line: command(line))
    assert (tmp_path / "my-study" / "report.html").exists()


def test_what_is_installed_is_an_extra_of_the_clone():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    found = re.findall(r"pip install ([^`\n]+)", README)
    assert len(found) >= 3
    for target in found:
        named = re.fullmatch(r"'\.\[([\w,]+)\]'", target)
        assert named, f"{target} is on no index"
        assert set(named[1].split(",")) <= set(extras), target


def test_it_says_where_the_command_is_installed():
    venv = re.search(r"^VENV := (\S+)", (ROOT / "Makefile").read_text(), re.M)[1]
    told = README.index(f"`. {venv}/bin/activate`")
    assert README.index("make study") < told < README.index("halfseen explore")


def test_the_study_shows_a_factor_above_one_and_the_bound_says_something():
    table = next(text for kind, text in blocks(ROOT / "README.md") if "effective dimension" in text)
    rows = table.partition("\n\n")[0].splitlines()[2:]
    factors = [float(row.split()[-4]) for row in rows]
    assert max(factors) > 1.5
    code = next(text for _, text in blocks(ROOT / "README.md") if "regret_bounds" in text)
    names = {}
    exec(code, names)
    said = re.search(r"at most (\d+) after a million rounds; the worst arm's is ([\d,]+)", code)
    value, trivial = float(said[1]), float(said[2].replace(",", ""))
    assert names["bounds"].smallest.value == pytest.approx(value, abs=0.5)
    assert names["bounds"]["trivial"].value == pytest.approx(trivial)
    assert trivial > 100 * value
    dimension = float(re.search(r"\]\)  # ([\d.]+) instead of 3", code)[1])
    assert theory.effective_dimension([0.9, 0.1, 0.5]) == pytest.approx(dimension, abs=0.05)


def test_it_is_short():
    assert len(README) <= 5_047  # a third of its longest
