"""Studies of late feedback in docs/gallery give the regrets that independent code measured.

Means and standard errors are those of reference code that shares nothing with this package.
"""

import math
from pathlib import Path

import pytest

from halfseen import simulate
from halfseen.studies.spec import read_spec

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
# Spec: problem or censorship, policy: mean, standard error, after 10,000 rounds.
REGRETS = {
    "late-arms": {
        "UCB": (161, 3),
        "queued UCB": (150, 6),
        "hopeful UCB": (201, 4),
        "elimination": (633, 4),
        "optimistic elimination": (659, 4),
    },
    "late-slow-best-arm": {
        "UCB": (82, 2),
        "queued UCB": (81, 5),
        "hopeful UCB": (26, 1),
        "elimination": (699, 6),
        "optimistic elimination": (1000, 0.5),
    },
    "late-bad-news-first": {
        "UCB": (970, 1),
        "queued UCB": (966, 3),
        "hopeful UCB": (53, 2),
        "elimination": (877, 3),
        "optimistic elimination": (500, 0.5),
    },
}
CONVERSIONS = {
    "one law": {"no answer = 0": (132, 2), "laws known": (135, 2), "laws known, KL": (101, 2)},
    "best offer slow": {
        "no answer = 0": (449, 3),
        "laws known": (88, 1),
        "laws known, KL": (84, 2),
        "one law for all": (453, 3),
    },
}
WINDOWS = (0, 5, 20, 50, 200, 1000)
BY_WINDOW = {
    "slow arm best": (133, 74, 70, 79, 85, 86),
    "slow arm second": (785, 449, 252, 184, 143, 132),
}


def final(spec):
    """Return mean and standard error of the regret by problem, censorship and policy."""
    regret = simulate(read_spec(GALLERY / f"{spec}.toml")).data.regret.isel(checkpoint=-1)
    error = regret.std("replication", ddof=1) / math.sqrt(regret.sizes["replication"])
    return regret.mean("replication"), error


def agree(found, error, expected, known):
    assert abs(found.item() - expected) <= 4.0 * math.hypot(error.item(), known)


@pytest.mark.slow
@pytest.mark.parametrize("spec", REGRETS)
def test_late_arms_lose_what_independent_code_measured(spec):
    mean, error = final(spec)
    for policy, (expected, known) in REGRETS[spec].items():
        agree(mean.sel(policy=policy), error.sel(policy=policy), expected, known)


@pytest.mark.slow
def test_late_conversions_lose_what_independent_code_measured():
    mean, error = final("late-conversions")
    for censorship, policies in CONVERSIONS.items():
        for policy, (expected, known) in policies.items():
            at = {"censorship": censorship, "policy": policy}
            agree(mean.sel(at), error.sel(at), expected, known)


@pytest.mark.slow
def test_regret_by_window_is_what_independent_code_measured():
    mean, error = final("late-windows")
    for problem, row in BY_WINDOW.items():
        for window, expected in zip(WINDOWS, row, strict=True):
            at = {"problem": problem, "censorship": f"window {window}"}
            agree(mean.sel(at), error.sel(at), expected, 3.0)


@pytest.mark.parametrize("spec", [*REGRETS, "late-conversions", "late-windows"])
def test_specs_of_late_feedback_can_be_read(spec):
    assert read_spec(GALLERY / f"{spec}.toml").late
