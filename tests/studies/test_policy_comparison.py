"""Comparisons are paired on the same draws, and their intervals are what they say."""

import numpy as np
import pytest
from example_studies import small_study
from scipy import stats

from halfseen import UCB, UCB1, ArmedBandit, InvalidInput, Result, Study, Uniform, simulate
from halfseen.studies.policy_comparison import leaders
from halfseen.studies.student_intervals import mean_interval


@pytest.fixture(scope="module")
def result():
    study = Study(
        {"easy": ArmedBandit([0.6, 0.2]), "hard": ArmedBandit([0.6, 0.5])},
        {"half": Uniform(0.5), "tenth": Uniform(0.1)},
        {"UCB": UCB(), "UCB1": UCB1(), "plain": UCB(regularization=0.1)},
        horizon=200,
        replications=30,
    )
    return simulate(study, engine="reference")


def filled(regret):
    """Return a result of a one-cell study in which regret at the horizon is as given."""
    replications, policies = regret.shape
    study = small_study(
        policies={f"p{i}": UCB(regularization=1.0 + i) for i in range(policies)},
        replications=replications,
        horizon=1_000,
    )
    found = Result.empty(study)
    rounds = study.rounds_recorded / study.horizon
    for i in range(policies):
        found.tracks["regret"][:, :, i] = regret[:, i, None] * np.sqrt(rounds)
    return found


@pytest.mark.slow
def test_the_paired_difference_agrees_with_a_paired_t_test(result):
    rows = result.compare("UCB", "UCB1", level=0.9).records()
    assert len(rows) == 6
    for i, problem in enumerate(result.study.problems):
        for j, censorship in enumerate(result.study.censorships):
            first, second = (result.tracks["regret"][i, j, k][:, -1] for k in (0, 1))
            row = next(r for r in rows if (r["problem"], r["censorship"]) == (problem, censorship))
            expected = stats.ttest_rel(first, second).confidence_interval(0.9)
            assert row["difference"] == pytest.approx(np.mean(first - second))
            assert (row["low"], row["high"]) == pytest.approx(tuple(expected))
            assert row["± 90%"] == pytest.approx((expected.high - expected.low) / 2)


def test_comparing_turned_round_changes_only_the_signs(result):
    one, other = result.compare("UCB", "UCB1").records(), result.compare("UCB1", "UCB").records()
    for row, turned in zip(one, other, strict=True):
        assert row["difference"] == -turned["difference"]
        assert (row["low"], row["high"]) == (-turned["high"], -turned["low"])
        assert row["share lower"] + turned["share lower"] == pytest.approx(1.0)


def test_censorships_and_problems_are_compared_too(result):
    rows = result.compare("half", "tenth", axis="censorship").records()
    assert [(r["problem"], r["policy"]) for r in rows][:2] == [("easy", "UCB"), ("easy", "UCB1")]
    regret = result.tracks["regret"][..., -1]
    assert rows[0]["difference"] == pytest.approx((regret[0, 0, 0] - regret[0, 1, 0]).mean())
    rows = result.compare("easy", "hard", axis="problem").records()
    assert rows[-1]["difference"] == pytest.approx((regret[0, 2, 2] - regret[1, 2, 2]).mean())


def test_one_replication_has_no_interval():
    found = filled(np.array([[1.0, 2.0]]))
    row = found.compare("p0", "p1").records()[0]
    assert (row["difference"], row["± 95%"], row["low"]) == (-1.0, None, None)
    assert found.best().records()[0]["clear"] is False


def test_a_comparison_names_what_it_compares(result):
    row = result.compare("UCB", "UCB1").records()[0]
    assert (row["policy"], row["against"]) == ("UCB", "UCB1")
    row = result.compare("half", "tenth", axis="censorship").records()[0]
    assert (row["policy"], row["censorship"], row["against"]) == ("UCB", "half", "tenth")


def test_a_tie_and_what_cannot_be_told_apart_are_not_called_the_best():
    noise = np.random.default_rng(1).normal(size=40)
    tie = filled(np.stack([20 + noise, 10 + noise, 10 + noise], axis=1)).best().records()[0]
    assert (tie["best"], tie["clear"], tie["behind by"]) == ("p1 and p2 tie", False, 0.0)
    close = filled(np.stack([10 + noise, 10.01 + noise[::-1], 20 + noise], axis=1))
    assert close.best().records()[0]["best"] == "p0 or p1"
    alone = filled(10 + noise[:, None]).best().records()[0]
    assert (alone["best"], alone["clear"]) == ("p0", None)
    once = filled(np.array([[1.0, 2.0]])).best().records()[0]
    assert once["best"] == "p0 or p1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("UBC", "UCB1", {}), "must be the name of a policy of the study; got 'UBC'. Did you mean"),
        (("UCB", "zebra", {}), "Use one of: UCB, UCB1, plain"),
        (("UCB", "UCB1", {"axis": "arm"}), "`axis` must be problem, censorship or policy"),
        (("UCB", "UCB1", {"level": 1.0}), "`level` must be a finite number above 0 and below 1"),
    ],
)
def test_wrong_names_and_levels_are_refused(result, options, message):
    first, second, more = options
    with pytest.raises(InvalidInput, match=message):
        result.compare(first, second, **more)


def test_the_best_policy_is_clear_only_when_all_others_are_surely_behind():
    noise = np.random.default_rng(1).normal(size=40)
    lead = filled(np.stack([10 + noise, 12 + noise + 0.1 * noise**2, 20 + noise], axis=1))
    row = lead.best().records()[0]
    assert (row["best"], row["next"], row["clear"]) == ("p0", "p1", True)
    assert "± 95%, adjusted" in row  # not the interval of `compare`, which holds alone
    assert row["behind by"] == pytest.approx(2 + 0.1 * np.mean(noise**2))
    tie = filled(np.stack([10 + noise, 10.01 + noise[::-1], 20 + noise], axis=1))
    assert tie.best().records()[0]["clear"] is False


def test_what_cannot_be_told_from_the_best_is_set_in_bold_too():
    noise = np.random.default_rng(1).normal(size=40)
    close = filled(np.stack([10 + noise, 10.01 + noise[::-1], 10.5 + noise], axis=1))
    lines = close.to_latex(["policy", "regret"], best="regret").splitlines()
    assert [line[:2] for line in lines if "mathbf" in line] == ["p0", "p1"] * 2
    # Unpaired, 10.5 is within the errors too; paired on the same draws it is surely behind.
    assert close.summary().records()[2]["± 95%"] > 0.3
    assert close.summary().to_latex(best="regret").count("mathbf") == 4


def test_a_best_policy_is_among_those_named_as_often_as_the_level_says():
    draws = np.random.default_rng(4).normal(size=(300, 5, 6))
    draws[..., 2:] += 0.5
    found = filled(draws[0])
    missed = 0
    for regret in draws:
        found.tracks["regret"][..., -1] = regret.T
        missed += not {"p0", "p1"} & set(leaders(found, 0.8)[0].names)
    assert missed / 300 < 0.2


def test_equal_policies_are_called_clear_no_more_often_than_the_level_allows():
    draws = np.random.default_rng(2).normal(10.0, 1.0, size=(2_000, 20, 4))
    clear = 0
    for regret in draws:  # as `best` does, without a study around it
        order = np.argsort(regret.mean(axis=0))
        rivals = [mean_interval(regret[:, k] - regret[:, order[0]], 0.95, 3) for k in order[1:]]
        clear += all(rival.excludes_zero for rival in rivals)
    assert clear / 2_000 < 0.05


def test_the_slope_of_a_square_root_is_a_half():
    values = np.random.default_rng(3).gamma(2.0, 5.0, size=(50, 2))
    for row in filled(values).slope(since=0.1):
        assert row["slope"] == pytest.approx(0.5)
        assert row["± 95%"] == pytest.approx(0.0, abs=1e-12)  # all curves have the same shape


@pytest.mark.slow
def test_the_interval_of_the_slope_covers():
    rng = np.random.default_rng(4)
    inside, tries = 0, 400
    for _ in range(tries):
        found = filled(np.ones((100, 1)))
        early = rng.gamma(4.0, 1.0, size=100)
        found.tracks["regret"][0, 0, 0] = early[:, None]
        found.tracks["regret"][0, 0, 0][:, -1] = early + rng.gamma(2.0, 6.0, size=100)
        row = found.slope(since=0.1).records()[0]
        truth = np.log(16.0 / 4.0) / np.log(1_000 / row["from round"])
        inside += abs(row["slope"] - truth) <= row["± 95%"]
    assert inside / tries > 0.92


def test_a_slope_without_a_round_before_the_horizon_is_refused():
    study = small_study(checkpoints=1)
    with pytest.raises(InvalidInput, match="`since` must leave a recorded round before"):
        simulate(study, engine="reference").slope()


def test_results_are_short_in_a_notebook_and_show_their_summary(result):
    assert len(repr(result)) < 200
    text = result._repr_html_()
    assert "30 replications of 200 rounds" in text
    assert text.count("<tr>") == 1 + 18
    drawn = result.plot().to_dict()
    rows = drawn["data"]["values"]
    assert len({row["world"] for row in rows}) == 6
    across = drawn["spec"]["layer"][0]["encoding"]["x"]  # as in reports: learning flattens curves
    assert (across["field"], across["scale"].get("type")) == ("round", None)
