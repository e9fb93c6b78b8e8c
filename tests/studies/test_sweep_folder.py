"""The folder of a sweep holds all that it writes."""

import pytest

from halfseen import UCB, ArmedBandit, Study, Uniform, sweep
from halfseen.studies.sweep import Sweep


@pytest.mark.parametrize(
    "name", ["a/../../../escaped", "/rooted", "1/5 seen, v1.0", "..", "x" * 260, "é" * 130, "a\\b"]
)
def test_folders_of_values_stay_in_that_of_the_sweep_whatever_a_world_is_called(name, tmp_path):
    study = Study(ArmedBandit([0.6, 0.5]), {name: Uniform(0.5)}, UCB(), horizon=9, replications=2)
    out = tmp_path / "one/two/three/out"
    found = sweep(study, f"censorships.{name}.observe", [0.2, 0.9], out=out, engine="reference")
    marks = list(tmp_path.rglob("study.json"))
    assert len(marks) == 2
    assert {mark.parent.parent for mark in marks} == {out}
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert Sweep.load(out) == found
    again = sweep(study, f"censorships.{name}.observe", [0.9], out=out, engine="reference")
    assert [result.played for result in again.results] == [0]


def test_values_that_differ_in_the_seventh_digit_have_folders_of_their_own(tmp_path):
    study = Study(ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=9, replications=2)
    values = [1234567, 1234568, 2**60, 2**60 + 1]
    found = sweep(study, "seed", values, out=tmp_path, engine="reference")
    assert Sweep.load(tmp_path) == found
