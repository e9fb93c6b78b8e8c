"""The winner among actions with features: the ellipsoid's margins, and how often it is wrong."""

import math

import numpy as np
import pytest

from halfseen.errors import InvalidInput
from halfseen.theory import winning_action

ROWS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])


def test_margins_are_the_least_differences_over_the_ellipsoid():
    generator = np.random.default_rng(1)
    played = generator.normal(size=(200, 3)) / 2
    design, theta = 0.5 * np.eye(3) + played.T @ played, np.array([0.4, -0.2, 0.6])
    rows = generator.normal(size=(5, 3)) / 2
    found = winning_action(rows, theta, design, regularization=0.5, noise=0.3, bound=1.2, level=0.9)
    spread = math.log(np.linalg.det(design) / 0.5**3)
    radius = 0.3 * math.sqrt(spread + 2 * math.log(10)) + math.sqrt(0.5) * 1.2
    assert found.radius == pytest.approx(radius)
    unit = generator.normal(size=(200_000, 3))
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    root = np.linalg.cholesky(np.linalg.inv(design))
    thetas = theta + radius * unit @ root.T
    best = int(np.argmax(rows @ theta))
    assert found.leader == best
    for other in range(5):
        if other != best:
            least = (thetas @ (rows[best] - rows[other])).min()
            assert found.margins[other] == pytest.approx(least, rel=1e-3, abs=1e-4)
            assert found.margins[other] <= least
    assert math.isinf(found.margins[best])


def played(generator, theta, runs, rounds, **told):
    """Return the winners ever declared, in so many runs of random plays, half of them seen."""
    named = []
    for _ in range(runs):
        design, target = 0.01 * np.eye(2), np.zeros(2)
        for _ in range(rounds):
            row = ROWS[generator.integers(3)]
            if generator.random() < 0.5:
                design += np.outer(row, row)
                target += row * (row @ theta + 0.5 * generator.normal())
                estimate = np.linalg.solve(design, target)
                found = winning_action(ROWS, estimate, design, regularization=0.01, **told)
                if found.action is not None:
                    named.append(found.action)
                    break
        else:
            named.append(None)
    return named


def test_a_wrong_action_is_declared_far_less_often_than_the_level_allows():
    """The second action is best by 0.0016 only: whoever declares too early is often wrong."""
    theta, rounds = np.array([0.796, 0.4]), 80
    assert np.argmax(ROWS @ theta) == 1
    named = played(np.random.default_rng(7), theta, 60, rounds, noise=0.5, level=0.7)
    assert sum(one in (0, 2) for one in named) <= 3  # at a level that allows 18 of 60
    hasty = played(np.random.default_rng(7), theta, 60, rounds, noise=0.1, level=0.7)
    assert sum(one in (0, 2) for one in hasty) > 18  # told a fifth of the noise


def test_a_clear_winner_is_declared():
    theta = np.array([0.9, -0.2])
    named = played(np.random.default_rng(3), theta, 5, 600, noise=0.5, level=0.95)
    assert named == [0] * 5


def test_what_is_shown_is_a_sentence():
    rows, design = np.eye(2), np.eye(2) * 400.0
    assert "action 0 is shown to be the best at 95%" in repr(
        winning_action(rows, [0.9, 0.1], design, noise=0.5)
    )
    said = repr(winning_action(rows, [0.11, 0.1], design))
    assert "no action is shown to be the best at 95%; action 0 leads" in said
    assert "nothing to compare" in repr(winning_action(rows[:1], [0.9, 0.1], design))


def test_copies_of_the_leader_do_not_stand_in_its_way():
    design, theta = 1e4 * np.eye(2), np.array([0.9, 0.1])
    found = winning_action(np.vstack([ROWS, ROWS[:1]]), theta, design)
    assert found.action == 0
    tied = winning_action([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], design)
    assert tied.action is None
    assert tied.to_dict()["margins"][0] is None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"actions": [[1.0, 0.0, 0.0]]}, "`actions` must be an array"),
        ({"actions": [[math.nan, 0.0]]}, "`actions` must be an array of finite numbers"),
        ({"estimate": [0.1, 0.2, 0.3]}, "`actions` must be an array"),
        ({"design": np.eye(3)}, "`design` must be an array"),
        ({"level": 1.0}, "`level`"),
        ({"regularization": 0.0}, "`regularization` must be a finite number above 0"),
        ({"noise": -1.0}, "`noise`"),
        ({"actions": "two"}, "`actions` must be an array of finite numbers"),
        ({"actions": 3}, r"`actions` must be an array \(K, 2\)"),
        ({"actions": [[1e200, 0.0]]}, "`actions` must be .* at most 1e.75 in size"),
        ({"estimate": [1e200, 0.0]}, "`estimate` must be .* at most 1e.75 in size"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(changed, sentence):
    given = {"actions": ROWS, "estimate": [0.1, 0.2], "design": np.eye(2)} | changed
    with pytest.raises(InvalidInput, match=sentence):
        winning_action(given.pop("actions"), given.pop("estimate"), given.pop("design"), **given)


@pytest.mark.parametrize(
    "design", [np.zeros((2, 2)), 0.5 * np.eye(2), [[2.0, 1.0], [0.0, 2.0]], -np.eye(2)]
)
def test_a_design_without_its_ridge_or_asymmetric_is_refused(design):
    with pytest.raises(InvalidInput, match="eigenvalues of at least the regularization, 1"):
        winning_action(ROWS, [0.9, 0.1], design, regularization=1.0)


def test_a_design_of_many_observations_of_one_action_is_taken():
    design = np.eye(2) + 1e14 * np.outer(ROWS[1], ROWS[1])
    assert winning_action(ROWS, [0.6, 0.8], design).leader == 1


@pytest.mark.parametrize("actions", [[[1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]])
def test_an_action_without_a_rival_is_not_declared_the_best(actions):
    assert winning_action(actions, [0.5, 0.1], 1e6 * np.eye(2)).action is None


@pytest.mark.filterwarnings("error")
def test_a_tiny_regularization_is_no_overflow():
    """The logarithm of a quotient of 1e350 was infinite, and the leader had no rivals."""
    found = winning_action(np.eye(2), [1.0, 0.2], 1e60 * np.eye(2), regularization=1e-290)
    assert found.action == 0
    spread = 2 * 350 * math.log(10)
    assert found.radius == pytest.approx(math.sqrt(spread + 2 * math.log(20)))


def test_before_anything_was_observed_no_action_leads():
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    found = winning_action(rows, [0.0, 0.0], np.eye(2))
    assert found.equal == (1,)
    assert found.to_dict()["equal"] == [1]
    assert repr(found).endswith("at 95%; equally good so far: action 0 and action 1>")
    found = winning_action(rows, [0.5, 0.1], np.eye(2))
    assert repr(found).endswith("; action 0 leads>")
