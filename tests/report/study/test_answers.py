import numpy as np
import pytest

from halfseen import UCB, ArmedBandit, ImputeZero, PerArm, Study, Uniform
from halfseen.report.study.answers import answers, headline, imputation, surprise
from halfseen.report.study.leaders import best_section
from halfseen.report.study.measures import left_out, shown
from halfseen.report.study.sections import numbers_section
from halfseen.studies.result import Result
from halfseen.studies.student_intervals import MeanInterval


def result_with(final, *, replications=4, policies=None, baseline=True, censorship=None):
    """Return a result whose regrets at the horizon are given: censorships x policies."""
    study = Study(
        ArmedBandit([0.6, 0.5]),
        censorship or {"some": PerArm([0.1, 0.9])},
        policies or {"UCB": UCB()},
        horizon=100,
        replications=replications,
        checkpoints=1,
        baseline=baseline,
    )
    result = Result.empty(study)
    spread = np.linspace(-0.5, 0.5, replications) if replications > 1 else np.zeros(1)
    for j, row in enumerate(final):
        for k, value in enumerate(row):
            result.tracks["regret"][0, j, k, :, -1] = value + spread * (value > 0)
    result.tracks["observations"][..., -1, :] = 20
    return result


def sentence(*args, **kwargs):
    return answers(result_with(*args, **kwargs), 0)[0].sentence


def test_more_regret():
    text = sentence([[50.0], [10.0]])
    assert text == (
        "Seeing 40% of the feedback makes the regret of UCB 5.00 times as large (50.00 ± 0.68"
        " instead of 10.00 ± 0.68 over 100 rounds)."
    )


def test_less_regret_is_said_and_explained():
    found = answers(result_with([[5.0], [10.0]]), 0)[0]
    assert "lowers the regret of UCB to 0.500 times what it was" in found.sentence
    assert "the best arm is rarely seen" in surprise(found)
    other = result_with([[5.0], [10.0]], censorship={"some": PerArm([0.9, 0.1])})
    assert "not a rule to count on" in surprise(answers(other, 0)[0])


def test_a_difference_within_the_noise_is_no_difference():
    result = result_with([[10.1], [10.0]])
    result.tracks["regret"][0, 0, 0] = result.tracks["regret"][0, 0, 0][::-1]  # not of a piece
    found = answers(result, 0)[0]
    assert "leaves the regret of UCB as it was, as far as 4 replications can tell" in found.sentence
    assert surprise(found) is None


def test_a_small_difference_in_every_replication_is_told_on_the_same_draws():
    found = answers(result_with([[10.1], [10.0]]), 0)[0]
    assert found.regret.half_width > 0.5  # more than the difference
    assert "makes the regret of UCB 1.01 times as large" in found.sentence


def test_nothing_to_compare_with():
    assert "no run where everything is seen" in sentence([[5.0]], baseline=False)
    assert "lose reward where it otherwise loses none" in sentence([[5.0], [0.0]])
    assert "costs UCB nothing" in sentence([[0.0], [0.0]])
    all_seen = {"all": Uniform(1.0)}
    assert sentence([[5.0]], censorship=all_seen).startswith("Nothing is missing, and UCB loses")


def test_one_replication_has_no_interval():
    text = sentence([[50.0], [10.0]], replications=1)
    assert "as it was, as far as one replication can tell (50 instead of 10 over" in text


def test_the_headline_is_the_largest_certain_factor():
    censorship = {"a": Uniform(0.5), "b": Uniform(0.2), "c": Uniform(0.1)}
    result = result_with([[20.0], [50.0], [30.0], [10.0]], censorship=censorship)
    assert headline(result).place.names[1] == "b"


def test_what_imputing_cost():
    policies = {"UCB": UCB(), "zeros": ImputeZero()}
    text = imputation(result_with([[10.0, 80.0], [9.0, 9.0]], policies=policies), 0)
    assert text == [
        "Imputing 0 for a missing reward (zeros) turned the regret of UCB from 10.00 ± 0.68"
        " into 80.00 ± 0.68 under “some”, 8.00 times as much."
    ]
    alone = imputation(result_with([[80.0], [9.0]], policies={"zeros": ImputeZero()}), 0)
    assert "cannot be judged" in alone[0]


def test_imputing_that_happened_to_help_is_explained():
    policies = {"UCB": UCB(), "zeros": ImputeZero()}
    censorship = {"bad": PerArm([0.1, 0.9]), "good": PerArm([0.9, 0.1])}
    regrets = [[10.0, 80.0], [50.0, 20.0], [9.0, 9.0]]
    result = result_with(regrets, policies=policies, censorship=censorship)
    assert "Under “good” it happened to lower it" in imputation(result, 0)[0]


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (1551.3, 29.1, "1,551 ± 29"),
        (0.0123, 0.00051, "0.01230 ± 0.00051"),
        (7.0, 0.0, "7"),
        (1e6, 12345.0, "1,000,000 ± 12,345"),
    ],
)
def test_estimates_have_the_digits_they_deserve(mean, half, text):
    assert MeanInterval(mean, half).text == text


def test_a_page_has_room_for_some_and_always_for_the_baseline():
    study = Study(
        {f"p{i}": ArmedBandit([0.6, 0.5]) for i in range(9)},
        {f"c{i}": Uniform(0.9 - i / 50) for i in range(20)},
        {f"u{i}": UCB(regularization=i + 1) for i in range(20)},
        horizon=3,
        replications=1,
        alphas=(0.5, 1.0, 2.0),
    )
    whole = Result.empty(study)
    whole.tracks["regret"][0, -1, 0] = 7.0
    part = shown(whole)
    assert list(part.study.censorships)[-1] == "everything seen"
    assert part.tracks["regret"][0, -1, 0, 0, -1] == 7.0
    assert {n: a.shape[:3] for n, a in part.tracks.items()} == dict.fromkeys(
        whole.tracks, (len(part.study.problems), 9, 14)
    )
    assert left_out(study, part.study) == (
        "Shown to keep this page small: 2 of 9 problems, 9 of 21 censorships, 14 of 20 policies,"
        " 2 of 3 orders of the potential."
    )
    assert left_out(study, study) == ""


def test_the_page_writes_the_numbers_of_the_table():
    policies = {"UCB": UCB(), "zero": ImputeZero()}
    found = result_with([[84.274, 1072.574], [120.2, 69.8145]], policies=policies)
    written = [row[3] for row in found.summary().written()]
    assert written == ["84.27", "1,072.57", "120.20", "69.81"]
    page = str(numbers_section(found))
    assert all(f">{regret}<" in page for regret in written)
    best = str(best_section(found, {}))
    assert ">84.27<" in best
    assert ">69.81<" in best
