"""Whatever people call their arms, policies, censorships and problems, the report is right."""

import json

import numpy as np
import pandas as pd
import pytest

from halfseen import (
    GLMUCB,
    UCB,
    ArmedBandit,
    FiniteActions,
    GeneralizedLinearBandit,
    LinearBandit,
    LinUCB,
    MultiThreshold,
    Study,
    Uniform,
    audit,
    simulate,
)
from halfseen.report import write_report
from halfseen.report.core.neutral_names import label, neutral
from halfseen.report.theory.path_page import write_paths
from halfseen.theory import information_path
from report.hostile_names import NAMES, ODD, OWNED

PRINTABLE = [name for name in ODD if name.strip() and name.isprintable()]  # studies refuse others
POLICIES = [*OWNED[:6], *PRINTABLE[:8]]
CENSORSHIPS = ["constructor", "__proto__", *PRINTABLE[8:]]
ARGUMENTS = {"horizon": 60, "replications": 3, "checkpoints": 5}


def texts(page, place):
    found = page.locator(f"[data-chart='{place}'] text").all_text_contents()
    return {" ".join(text.split()) for text in found}


def shown(name):
    return " ".join(label(name).split())


def cut(text, name):
    return text.endswith("…") and name.startswith(text[:-1])


def check(page, names, place):
    assert page.evaluate("window.hacked") is None
    charts = page.locator("[data-chart]").count()
    assert page.locator("[data-chart] svg.marks").count() == charts
    written = texts(page, place)
    for name in names:
        wanted = shown(name)
        if wanted:
            assert any(wanted == text or cut(text, wanted) for text in written), name


@pytest.fixture(scope="module")
def arms_page(tmp_path_factory):
    study = Study(
        {"</script>": ArmedBandit([0.6, 0.5])},
        {name: Uniform(0.5) for name in CENSORSHIPS},
        {name: UCB() for name in POLICIES},
        **ARGUMENTS,
    )
    return write_report(simulate(study), tmp_path_factory.mktemp("hostile"))


@pytest.mark.slow
def test_policies_and_censorships_named_like_javascript_are_drawn_by_their_names(arms_page, show):
    page = show(arms_page)
    check(page, [*POLICIES, *CENSORSHIPS], "problem-1-regret")
    pictures = {path.stem for path in (arms_page.parent / "charts").iterdir()}
    assert "problem-1-arms-pulls" in pictures
    said = page.locator("[data-chart] svg [aria-label]").evaluate_all(
        "all => all.map(mark => mark.getAttribute('aria-label')).join(' ')"
    )
    assert "constructor" in said  # what screen readers say
    assert "policy0" not in said + page.inner_text("body")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["linear", "glm"])
def test_linear_and_generalized_reports_take_any_names(kind, tmp_path, show):
    actions = FiniteActions([[1, 0], [0, 1], [0.6, 0.8]])
    if kind == "linear":
        problem, policy = LinearBandit([0.5, 0.2], 0.5, actions), LinUCB()
    else:
        problem = GeneralizedLinearBandit([0.5, 0.2], actions=actions)
        policy = GLMUCB()
    censorship = MultiThreshold([0.2], [0.9, 0.5], [1, 0])
    study = Study(
        {"__proto__": problem},
        {"toString": censorship, ODD[0]: censorship},
        {"constructor": policy, "valueOf": policy, "[0]": policy},
        **ARGUMENTS,
    )
    page = show(write_report(simulate(study), tmp_path))
    check(page, ("constructor", "valueOf"), "problem-1-regret")
    check(page, ("toString", ODD[0]), "problem-1-direction")


@pytest.mark.slow
def test_an_audit_takes_any_arms_columns_and_contexts(tmp_path, show):
    rng = np.random.default_rng(0)
    n = 40 * len(NAMES)
    arm = np.arange(n) % len(NAMES)
    seen = rng.random(n) < 0.6
    names = np.array([name or "empty" for name in NAMES], dtype=object)
    frame = pd.DataFrame(
        {
            "constructor": names[arm],
            "toString": np.where(seen, rng.random(n), np.nan),
            "__proto__": np.arange(n),
            "</script>": names[(arm * 7) % len(NAMES)],
        }
    )
    found = audit(
        frame, action="constructor", reward="toString", time="__proto__", context="</script>"
    )
    page = show(found.report(tmp_path))
    check(page, names.tolist(), "audit-rates")
    json.loads((tmp_path / "audit.json").read_text())


@pytest.mark.slow
def test_a_path_takes_any_names_of_models(tmp_path, show):
    model = MultiThreshold([0.5], [1.0, 0.75], [0, 0, 1])
    written = write_paths(
        {name: information_path(model) for name in ("__proto__", ODD[0], ODD[11])}, tmp_path
    )
    page = show(tmp_path / "path.html")
    assert page.evaluate("window.hacked") is None
    assert page.locator("[data-chart] svg.marks").count() == 3
    assert len(written["files"]) == 7


def test_the_same_rows_get_the_same_keys_and_every_name_of_the_chart_has_a_label():
    rows = [{"policy": "toString", "mean": 1.0}, {"policy": "b", "mean": 2.0}]
    channel = {
        "field": "policy",
        "type": "nominal",
        "sort": ["b", "toString", "unplayed"],
        "scale": {"domain": ["b", "toString", "unplayed"]},
        "legend": {"title": None},
    }
    spec = {"spec": {"layer": [{"encoding": {"color": channel, "tooltip": [{"field": "policy"}]}}]}}
    chart, coded = neutral(spec, rows)
    assert [row["policy"] for row in coded] == ["policy0", "policy1"]
    layer = chart["spec"]["layer"][0]["encoding"]
    assert layer["color"]["sort"] == ["policy1", "policy0", "policy2"]
    assert layer["color"]["scale"]["domain"] == layer["color"]["sort"]
    assert layer["tooltip"] == [{"title": "policy", "field": "policy_label"}]
    (labels,) = chart["params"]
    assert labels["value"] == {"policy0": "toString", "policy1": "b", "policy2": "unplayed"}
    assert spec["spec"]["layer"][0]["encoding"]["color"]["sort"][0] == "b"
    assert "toString" not in json.dumps({k: v for k, v in chart.items() if k != "params"})
