"""Studies of generalized linear bandits from TOML to the report."""

import json

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    FiniteActions,
    GeneralizedLinearBandit,
    GLMThompson,
    ImputeZeroGLMUCB,
    InvalidInput,
    LinearBandit,
    LinUCB,
    PerAction,
    Result,
    RidgeGLMUCB,
    Study,
    simulate,
)
from halfseen.report.study.page import write_report
from halfseen.studies.spec import parse_spec
from halfseen.studies.toml_text import to_toml

pytestmark = pytest.mark.slow  # pages that are drawn whole

ROWS = [[0.9, 0.0], [0.0, 0.8], [-0.5, -0.5]]


@pytest.fixture(scope="module")
def study():
    return Study(
        {
            "clicks": GeneralizedLinearBandit(
                [0.8, 0.3], link="logistic", actions=FiniteActions(ROWS)
            )
        },
        {"patchy": PerAction([0.3, 0.8, 0.9])},
        {
            "optimist": GLMUCB(),
            "ridge": RidgeGLMUCB(),
            "sampler": GLMThompson(),
            "zeros": ImputeZeroGLMUCB(),
        },
        horizon=40,
        replications=3,
        checkpoints=6,
    )


@pytest.fixture(scope="module")
def folder(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("glm")
    result = simulate(study, engine="reference", out=folder)
    write_report(result, folder)
    return folder


def test_a_study_survives_toml_and_disk(study, folder):
    again = parse_spec(to_toml(study))
    assert again == study
    assert again.digest() == study.digest()
    loaded = Result.load(folder)
    assert loaded.study == study
    assert np.isfinite(loaded.tracks["regret"]).all()


def test_the_page_says_what_was_played(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in (
        "rewards of 0 or 1 with mean 1/(1 + exp(−⟨a, θ⟩))",
        "by maximum likelihood on observed rewards alone",
        "the policies GLMUCB and RidgeGLMUCB",
        "Imputing 0 for a missing reward (zeros) turned the regret of optimist",
        "paper&#x27;s order",
    ):
        assert words in page


def test_the_command_prints_bounds_as_json(study, folder, capsys):
    from halfseen.cli.console import print_bounds

    print_bounds(study, folder, as_json=True)
    cells = json.loads(capsys.readouterr().out)
    first = cells[0]
    assert first["policy"] == "optimist"
    assert first["measured"] is not None
    named = {bound["name"]: bound for bound in first["bounds"]}
    assert named["potential"]["applies"]
    assert named["paper's order"]["value"] > 0
    assert not named["paper's order"]["applies"]
    print_bounds(study, folder, as_json=False)
    assert "paper's order" in capsys.readouterr().out


def test_policies_and_problems_must_go_together():
    curved = GeneralizedLinearBandit([0.8, 0.3], link="logistic", actions=FiniteActions(ROWS))
    straight = LinearBandit([0.8, 0.3], 1.0, FiniteActions(ROWS))
    observe = PerAction([0.3, 0.8, 0.9])
    with pytest.raises(InvalidInput, match="generalized linear bandits"):
        Study(curved, observe, LinUCB(), horizon=10)
    with pytest.raises(InvalidInput, match="for linear bandits"):
        Study(straight, observe, GLMUCB(), horizon=10)
    with pytest.raises(InvalidInput, match="all generalized linear"):
        Study({"a": curved, "b": straight}, observe, GLMUCB(), horizon=10)
    with pytest.raises(InvalidInput, match=r"problems\.clicks\.link"):
        parse_spec(
            'horizon = 10\nproblems.clicks = { kind = "generalized-linear", theta = [1.0],'
            ' link = "cubic", actions = { kind = "finite", actions = [[1.0]] } }\n'
            'censorships.c = { kind = "uniform", observe = 0.5 }\npolicies.p = { kind = "glm-ucb" }'
        )
