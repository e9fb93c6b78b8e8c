import re

import numpy as np
import pytest
from scipy import stats

from halfseen import (
    DesignExploration,
    FiniteActions,
    LinearBandit,
    LinEpsilonGreedy,
    LinkModel,
    LinRandom,
    LinUCB,
    MultiThreshold,
    PerAction,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    read_spec,
    simulate,
)
from halfseen.report import write_report
from halfseen.report.study.answers import answers, surprise
from halfseen.studies.result import Result
from report.page_rules import check_page

pytestmark = pytest.mark.slow  # pages that are drawn whole

LIMIT = 1_500_000
HORIZON, REPLICATIONS = 1000, 30


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def chart_sizes(page):
    return page.evaluate(
        "[...document.querySelectorAll('.chart')].map(c => c.querySelector('svg.marks'))"
        ".map(s => s && [s.getBoundingClientRect().width, s.getBoundingClientRect().height])"
    )


def test_every_chart_is_drawn_without_a_network(linear_report, linear_desktop):
    assert linear_report.stat().st_size < LIMIT
    sizes = chart_sizes(linear_desktop)
    assert len(sizes) == 14
    assert all(size is not None and min(size) > 80 for size in sizes)
    assert len(list((linear_report.parent / "charts").iterdir())) == 28


def test_a_narrow_screen_never_scrolls_sideways(linear_report, show):
    page = show(linear_report, 375)
    assert overflow(page) <= 0
    assert all(size[0] <= 375 for size in chart_sizes(page))


def test_the_answer_is_in_the_tracks(linear_result, linear_desktop):
    regret = linear_result.tracks["regret"][:, :, 0, :, -1]
    mean = regret.mean(axis=2)
    error = regret.std(axis=2, ddof=1) / np.sqrt(REPLICATIONS)
    half = stats.t.ppf(0.975, REPLICATIONS - 1) * error
    seen = linear_result.tracks["observations"][:, :, 0, :, -1].sum(axis=-1).mean(axis=-1) / HORIZON
    factors = mean[:, :2] / mean[:, 2:]
    i, j = np.unravel_index(factors.argmax(), factors.shape)
    lead = linear_desktop.inner_text(".lead").replace("\u00a0", " ")
    numbers = f"({mean[i, j]:.1f} ± {half[i, j]:.1f} instead of {mean[i, 2]:.1f}"
    assert f"{factors[i, j]:#.3g} times as large under" in lead
    answer = linear_desktop.inner_text("#answer").replace("\u00a0", " ")
    assert f"Seeing {100 * seen[i, j]:.0f}% of the feedback" in answer
    assert f"{factors[i, j]:#.3g} times as large {numbers} ± {half[i, 2]:.1f} over 1,000" in answer
    assert "Dimension 4, worst case 40." in answer
    assert "given the action, whether a reward is seen does not depend on the reward" in answer
    assert "Imputing 0 for a missing reward (zeros) turned the regret of LinUCB" in answer


def test_nothing_is_said_twice_on_a_linear_page(linear_report):
    check_page(linear_report, "Regret of 3 policies on 2 problems")


def test_the_slopes_and_laws_stand_in_a_table(linear_result, linear_desktop):
    rounds = linear_result.study.rounds_recorded
    late = rounds >= HORIZON / 10
    rows = linear_desktop.locator("#growth tbody tr").all()
    assert len(rows) == 18
    for row, (i, j, k) in zip(rows, np.ndindex(2, 3, 3), strict=True):
        cells = row.locator("td").all_inner_texts()
        tracks = linear_result.tracks["potential"][i, j, k, :, :, 1]
        slope = np.polyfit(np.log(rounds[late]), tracks[:, late].mean(axis=0), 1)[0]
        assert float(re.split(r"\s±", cells[4])[0]) == pytest.approx(slope, rel=0.05)
        assert (cells[5] == "–") == (k > 0)
    assert "#growth" in linear_desktop.locator("nav").inner_html()


def test_bounds_and_events(linear_result, linear_desktop):
    bounds = linear_desktop.inner_text("#bounds")
    assert "measured potential" in bounds
    assert "paper's theorem, sharper factor" in bounds
    assert linear_desktop.locator("#bounds strong").count() == 6
    rows = linear_desktop.locator("#events tbody tr")
    assert rows.count() == 18
    first = rows.first.locator("td").all_inner_texts()
    failed = (linear_result.tracks["optimism_failed"][0, 0, 0, :, -1] == 1).sum()
    assert first[3:] == [f"{failed} of 30", "0.001", "0 of 30", "0.001"]
    assert rows.nth(2).locator("td").all_inner_texts()[3:] == ["30 of 30", "–", "–", "–"]


def test_the_spec_shown_gives_the_same_study(linear_result, linear_report):
    assert read_spec(linear_report.parent / "spec.toml").digest() == linear_result.study.digest()


def test_lower_regret_of_a_rarely_seen_best_action_is_explained(linear_result):
    tracks = dict(linear_result.tracks)
    tracks["regret"] = tracks["regret"].copy()
    tracks["regret"][:, 0] = 0.5 * tracks["regret"][:, 2]
    lower = Result(linear_result.study, tracks, {})
    assert "the best action is rarely seen" in surprise(answers(lower, 0)[0])
    assert "not a rule to count on" in surprise(answers(lower, 1)[0])
    assert [surprise(answer) for answer in answers(linear_result, 1)] == [None, None]


def test_words():
    bandit = LinearBandit([0.6, -0.8], 0.5, RandomActions(3, 2, "gaussian"))
    assert bandit.in_words() == (
        "An action a pays ⟨a, θ⟩ plus normal noise of 0.5; 2 dimensions, θ = (0.6, −0.8), of length"
        " 1; 3 actions drawn anew every round, normal, shortened to length 1 where longer."
    )
    same = LinearBandit([0.6, 0.8], 0.5, FiniteActions([[1.0, 0.0]]))
    assert same.in_words().endswith("the same 1 action in every round.")
    assert MultiThreshold([0.5], [0.9, 0.2], [0, 2]).in_words() == (
        "In steps along u = (0, 1): a reward is seen with probability 0.9 where ⟨a, u⟩ is small,"
        " 0.2 from 0.479 on."
    )
    assert LinkModel([0, 1], -1.0, 0.5, "probit").in_words() == (
        "Smoothly along u = (0, 1), probit with slope −1 and offset 0.5: the probability of being"
        " seen is 0.933, 0.691, 0.309 at ⟨a, u⟩ = −1, 0, 1."
    )
    assert "seen with probability 0.9, 0.2" in PerAction([0.9, 0.2]).in_words()


RNG = np.random.default_rng(3)
PLANE = FiniteActions([[1, 0], [0, 1], [0.6, 0.6]])
ODD = {
    "one of everything": Study(
        LinearBandit([0.5], 1.0, FiniteActions([[1.0]])),
        Uniform(0.5),
        LinUCB(),
        horizon=1,
        replications=1,
        alphas=[1],
    ),
    "nothing to learn": Study(
        LinearBandit([0.0, 0.0], 0.0, FiniteActions([[0.0, 0.0]])),
        Uniform(0.5),
        LinUCB(),
        horizon=30,
        replications=2,
    ),
    "no order one, no direction, no baseline": Study(
        LinearBandit([0.6, 0.3], 0.5, PLANE),
        {"listed": PerAction([0.1, 0.9, 0.5]), "half": Uniform(0.5)},
        {"wrong": LinUCB(bound=0.1), "random": LinRandom(), "design": DesignExploration()},
        horizon=40,
        replications=3,
        baseline=False,
        alphas=[],
    ),
    "a sequence, and regions that differ": Study(
        LinearBandit([0.6, 0.3], 0.5, SequenceOfActions(RNG.uniform(-0.6, 0.6, (60, 3, 2)))),
        {
            "two": MultiThreshold([0.1], [0.9, 0.2], [1, 1]),
            "three": MultiThreshold([-0.3, 0.3], [0.9, 0.5, 0.2], [0, 1]),
            "probit": LinkModel([1, 0], 1.0, link="probit"),
        },
        {"LinUCB": LinUCB(), "greedy": LinEpsilonGreedy(regularization=2.0)},
        horizon=60,
        replications=3,
    ),
    "many policies": Study(
        LinearBandit([0.6, 0.3], 0.5, PLANE),
        Uniform(0.5),
        {f"a policy with a long name, number {i}": LinUCB(i + 1.0) for i in range(16)},
        horizon=60,
        replications=2,
        checkpoints=6,
    ),
    "many actions and dimensions": Study(
        {
            "finite": LinearBandit(
                [0.1] * 20, 0.5, FiniteActions(RNG.normal(size=(400, 20)), normalize=True)
            ),
            "plane": LinearBandit([0.6, 0.3], 0.5, RandomActions(3, 2)),
        },
        Uniform(0.3),
        LinUCB(),
        horizon=30,
        replications=2,
        checkpoints=4,
    ),
}


QUICK = ("one of everything", "nothing to learn")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in ODD],
)
def test_any_valid_linear_study_has_a_report(name, tmp_path, show):
    path = write_report(simulate(ODD[name]), tmp_path)
    assert path.stat().st_size < LIMIT
    page = show(path, 375)
    assert overflow(page) <= 0
    sizes = chart_sizes(page)
    assert sizes
    assert all(size is not None and min(size) > 40 for size in sizes)
    assert "NaN" not in page.inner_text("main")
    if not ODD[name].alphas:
        assert page.locator("#growth").count() == 0
        assert "#growth" not in page.locator("nav").inner_html()
    if name.startswith("many actions"):
        assert "The 30 most played of 400 actions are shown." in page.inner_text("#charts")
