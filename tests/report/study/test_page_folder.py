"""A report replaces an earlier report, and nothing else."""

import importlib
import sys

import pytest
from example_studies import small_study

from halfseen import ArmedBandit, InvalidInput, read_spec, simulate, sweep
from halfseen.censorship import CENSORSHIPS
from halfseen.report import write_report

pytestmark = pytest.mark.usefixtures("blank_pictures")

FILES = ("report.html", "summary.csv", "spec.toml")


@pytest.fixture(scope="module")
def result():
    return simulate(small_study(), engine="reference")


@pytest.mark.parametrize("name", FILES)
def test_a_report_is_not_written_over_files_that_are_not_its_own(result, tmp_path, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(InvalidInput, match="must be a new or empty folder"):
        write_report(result, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


def test_a_report_is_not_written_into_the_folder_of_another_study_or_a_sweep(result, tmp_path):
    other = small_study(horizon=result.study.horizon + 1)
    simulate(other, out=tmp_path / "other", engine="reference")
    with pytest.raises(InvalidInput, match="holds another study's results"):
        write_report(result, tmp_path / "other")
    sweep(result.study, "seed", [1], out=tmp_path / "sweep", engine="reference")
    with pytest.raises(InvalidInput, match="holds a sweep's results"):
        write_report(result, tmp_path / "sweep")


@pytest.mark.slow
def test_a_report_is_written_again_alone_and_next_to_its_study(result, tmp_path):
    result.save(tmp_path / "study")
    for folder in ("study", "page"):
        write_report(result, tmp_path / folder)
        assert write_report(result, tmp_path / folder) == tmp_path / folder / "report.html"


MODULE = """
from dataclasses import dataclass
import numpy as np
from halfseen import Censorship, register
@register
@dataclass(frozen=True)
class Dim(Censorship):
    p: float
    kind = "dim, for tests"
    def probabilities(self, actions):
        return np.full(actions, self.p)
"""


@pytest.mark.slow
def test_how_to_run_it_again_names_the_modules_of_own_kinds(tmp_path, monkeypatch, own_kinds):
    (tmp_path / "dim_for_tests.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    dim = importlib.import_module("dim_for_tests").Dim(0.5)
    study = small_study(censorships=dim)
    page = write_report(simulate(study, engine="reference"), tmp_path / "page").read_text()
    assert "halfseen study spec.toml --out DIR --import dim_for_tests<" in page
    swept = sweep(study, "seed", [1], engine="reference")
    page = swept.report(tmp_path / "sweep").read_text()
    assert "halfseen study sweep.toml --import dim_for_tests<" in page
    del CENSORSHIPS[dim.kind]
    with pytest.raises(InvalidInput, match="--import MODULE"):
        read_spec(tmp_path / "page/spec.toml")


@pytest.mark.slow
def test_the_page_of_several_problems_begins_with_a_regret_chart_of_each_by_name(tmp_path):
    problems = {"near": ArmedBandit([0.5, 0.4, 0.3]), "far": ArmedBandit([0.9, 0.1, 0.1])}
    found = simulate(small_study(problems=problems), engine="reference")
    page = found.report(tmp_path).read_text()
    best = page.partition('id="best"')[2].partition('id="answer"')[0]
    for i, name in enumerate(problems, 1):
        assert f"<h3>Regret, problem “{name}”</h3>" in best
        assert f'data-chart="problem-{i}-regret"' in best
        assert page.count(f'data-chart="problem-{i}-regret"') == 1
