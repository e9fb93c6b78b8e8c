"""What people get wrong is answered with the field, the value and the fix."""

import sys

import pytest

from halfseen import (
    UCB,
    ArmedBandit,
    InvalidInput,
    PerArm,
    Study,
    Uniform,
    audit,
    plan,
    simulate,
    summarize,
    sweep,
    theory,
)
from halfseen.cli import app
from halfseen.cli.ending import ended
from halfseen.studies.spec import parse_spec

ARMS, HALF = ArmedBandit([0.6, 0.5]), Uniform(0.5)
STUDY = Study(ARMS, HALF, UCB(), horizon=10, replications=2)
LOG = {"arm": ["x", "y"] * 20, "reward": [1.0, None, 0.0, 1.0] * 10}
SPEC = """
horizon = 10
problems.a = { kind = "arms", means = [0.6, 0.5] }
censorships.b = { kind = "uniform", observe = 0.5 }
policies.c = { kind = "ucb" }
"""


@pytest.mark.parametrize(
    ("make", "field", "fix"),
    [
        (lambda: ArmedBandit(means=[]), "ArmedBandit.means", "Give at least one number."),
        (lambda: ArmedBandit(means=5), "ArmedBandit.means", "Give a list, such as"),
        (lambda: ArmedBandit(["a"]), "ArmedBandit.means[0]", "Give a number."),
        (lambda: ArmedBandit([0.5, 0.4], noise=[1]), "ArmedBandit.noise", "Match the number of"),
        (lambda: ArmedBandit([0.5], reward="normal"), "ArmedBandit.reward", "mean 'gaussian'?"),
        (lambda: PerArm([]), "PerArm.observe", "Give at least one number."),
        (lambda: Study(ARMS, HALF, UCB(), horizon="many"), "Study.horizon", "Give a whole number."),
        (lambda: Study(ARMS, HALF, UCB(), horizon=0), "Study.horizon", "Use 1 or more."),
        (lambda: Study(ARMS, HALF, UCB(), horizon=2**60), "Study.horizon", "281474976710656 or"),
        (lambda: Study(ARMS, HALF, UCB, horizon=9), "Study.policies", "Write UCB()"),
        (lambda: Study(ARMS, HALF, {"a": UCB}, horizon=9), "Study.policies['a']", "Write UCB()"),
        (lambda: Study(ARMS, [HALF], UCB(), horizon=9), "Study.censorships", '{"first": ...'),
        (lambda: simulate("arms"), "study", "Make one with Study(...)"),
        (lambda: simulate(STUDY, engine="gpu"), "engine", "Did you mean 'cuda'?"),
        (lambda: simulate(STUDY, engine="reference", out=5), "out", 'Write out="folder".'),
        (lambda: summarize(3), "study", "Make one with Study(...)"),
        (lambda: sweep(3, "horizon", [1]), "study", "Make one with Study(...)"),
        (lambda: plan("x", [0.2], traffic=9), "means", "Give a list"),
        (lambda: plan([0.6], [0.2], traffic=9, noise="x"), "noise", "Give a list"),
        (lambda: plan([0.6], [0.2], traffic=9, policy=5), "policy", "Use for example UCB()."),
        (
            lambda: audit(LOG, action="arm", reward="reward").plan(9, policy="UCB"),
            "policy",
            "Use for example UCB().",
        ),
        (lambda: theory.dimension_by_arm(0.5), "observe", "Give a list"),
        (lambda: parse_spec(SPEC.replace("10", '"many"')), "horizon", "as 10_000."),
        (lambda: parse_spec(SPEC.replace("10", "10.5")), "horizon", "as 10_000."),
        (lambda: parse_spec("alphas = 1" + SPEC), "alphas", "in brackets"),
        (lambda: parse_spec("stop = 1" + SPEC), "stop", "Put it in quotes."),
        (lambda: parse_spec('baseline = "no"' + SPEC), "baseline", "true or false"),
    ],
)
def test_a_wrong_value_in_python_or_toml_names_its_field_and_the_fix(make, field, fix):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert caught.value.field == field
    assert fix in caught.value.fix
    assert "None" not in caught.value.requirement


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("study ams", "Did you mean 'arms'?"),
        ("study --horizon many", "`--horizon` must be a whole number; got 'many'. Write digits"),
        ("study arms --seed=x", "`--seed` must be a whole number; got 'x'."),
        ("invest --budget lots --observe 0.5 --cost 1", "`--budget` must be a number; got 'lots'."),
        ("study arms --engine gpu --out nowhere", "Did you mean 'cuda'?"),
        ("auditt log.csv", "Did you mean 'audit'? Try: "),
        ("verify --seed -1", "`--seed` must be a whole number of at least 0; got -1."),
        ("plan --log log.csv --traffic 9", "`--action` must be given; got None. Name that column"),
        ("plan --traffic 9", "`--means` must be given; got None. Or name a --log"),
        ("completion tcsh", "`SHELL` must be one of bash, zsh, fish; got 'tcsh'."),
    ],
)
def test_a_wrong_command_ends_with_exit_code_2_and_one_sentence(
    arguments, said, monkeypatch, capsys, tmp_path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["halfseen", *arguments.split()])
    assert ended(app) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
