import math

import numpy as np
import pytest

from halfseen.errors import InvalidInput
from halfseen.theory import confidence_sequence, evidence, winner

COUNTS, TOTALS = [1800, 1000, 800], [900.0, 240.0, 80.0]


def test_either_is_one_of_the_two_rules_at_half_the_risk():
    found = winner(COUNTS, TOTALS, rho=10)
    assert (found.arm, found.leader, found.shown_by) == (0, 0, ("separate", "pairwise"))
    assert found.threshold == pytest.approx(math.log(2 * 2 / 0.05))
    for rival in (1, 2):
        pair = (COUNTS[0], TOTALS[0]), (COUNTS[rival], TOTALS[rival])
        assert found.evidence[rival] == pytest.approx(evidence(*pair))
        high = confidence_sequence(
            [COUNTS[rival]], [TOTALS[rival]], level=1 - 0.05 / 6, side="high"
        )
        assert found.high[rival] == pytest.approx(high.high[0], rel=1e-12)
    assert winner(COUNTS, TOTALS, rule="separate").low > found.low


def test_separate_sees_what_pairwise_does_not_when_the_leader_has_far_more_observations():
    counts, totals = [10_000_000, 100], [5e6, 5.0]
    assert winner(counts, totals, rho=10).shown_by == ("separate",)
    assert winner(counts, totals, rho=10, rule="pairwise").arm is None


def test_pairwise_sees_what_separate_does_not_when_observations_are_equal():
    counts, totals = [200, 200], [100.0, 24.0]
    assert winner(counts, totals, rho=10).shown_by == ("pairwise",)
    assert winner(counts, totals, rho=10, rule="separate").arm is None


def test_ties_and_unseen_arms_leave_the_question_open():
    assert winner([10**6, 10**6], [10.0, 10.0]).arm is None
    assert winner([10**6, 0], [10.0, 0.0], noise=0.1).arm is None
    assert winner([0, 0], [0, 0]).leader is None


def test_equal_arms_are_not_said_to_lead():
    """Of two arms with the same mean the first was said to lead."""
    found = winner([10, 5, 20, 0], [5.0, 2.5, 3.0, 0.0])
    assert found.equal == (1,)
    assert found.to_dict()["equal"] == [1]
    assert repr(found).endswith("at 95%; equally good so far: arm 0 and arm 1>")
    assert repr(winner([10, 20], [5.0, 3.0])).endswith("; arm 0 leads>")
    assert repr(winner([1] * 9, [1.0] * 9)).endswith("so far: arm 0 and 8 others>")


def test_a_level_below_1_is_not_written_as_certain():
    assert "best at 95%;" in repr(winner([10, 20], [5.0, 3.0]))
    assert "best at over 99.99999%;" in repr(winner([10, 20], [5.0, 3.0], level=1 - 1e-12))


def test_relabelling_changes_nothing():
    found = winner(COUNTS[::-1], TOTALS[::-1])
    assert found.arm == 2
    assert found.evidence[::-1].tolist() == winner(COUNTS, TOTALS).evidence.tolist()


def test_a_dict_has_no_infinities():
    assert winner(COUNTS, TOTALS).to_dict()["evidence"][0] is None


def test_an_unknown_rule_is_refused():
    with pytest.raises(InvalidInput, match="`rule` must be one of either, separate, pairwise"):
        winner([1], [1], rule="both")


def played(rng, means, observe, rounds):
    """Return counts and sums after every round in which UCB saw a reward."""
    counts, sums, track = np.zeros(len(means)), np.zeros(len(means)), []
    for _ in range(rounds):
        if counts.min() == 0:
            arm = int(counts.argmin())
        else:
            arm = int(np.argmax(sums / counts + np.sqrt(2 * math.log(counts.sum()) / counts)))
        if rng.random() < observe[arm]:
            counts[arm] += 1
            sums[arm] += means[arm] + rng.standard_normal()
            track.append((counts.copy(), sums.copy()))
    return np.array([c for c, _ in track]), np.array([s for _, s in track])


@pytest.mark.slow
def test_limits_under_ucb_sampling_fail_less_often_than_alpha():
    """Means .3, .2, .1, seen with .2, .9, .05: three sequences at .05/3; the limit is 5%."""
    rng, means = np.random.default_rng(3), np.array([0.3, 0.2, 0.1])
    failed, runs = 0, 400
    for _ in range(runs):
        counts, sums = played(rng, means, [0.2, 0.9, 0.05], 3000)
        low, high = confidence_sequence(counts.ravel(), sums.ravel(), level=1 - 0.05 / 3)
        truth = np.tile(means, len(counts))
        failed += bool(np.any((truth < low) | (truth > high)))
    assert failed / runs <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["either", "separate", "pairwise"])
def test_a_wrong_winner_under_ucb_sampling_is_rarer_than_alpha(rule):
    """Looked at after each tenth observation at level .8, so that wrong ones would be seen."""
    rng, means = np.random.default_rng(4), np.array([0.3, 0.25, 0.0])
    wrong, runs = 0, 150
    for _ in range(runs):
        counts, sums = played(rng, means, [0.3, 0.9, 0.5], 1500)
        looks = range(9, len(counts), 10)
        arms = (winner(counts[k], sums[k], level=0.8, rule=rule).arm for k in looks)
        wrong += next((arm for arm in arms if arm is not None), 0) != 0
    assert wrong / runs <= 0.2


@pytest.mark.parametrize("rule", ["either", "separate", "pairwise"])
def test_a_single_arm_is_not_declared_the_best(rule):
    found = winner([1000], [500.0], rule=rule)
    assert (found.arm, found.leader, found.shown_by) == (None, 0, ())
    assert "nothing to compare" in repr(found)
