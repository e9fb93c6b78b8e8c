import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from halfseen import ArmedBandit, FixedArms, PerArm, Uniform
from halfseen.errors import InvalidInput
from halfseen.theory import identification_time

GOLDEN = [
    ("gaussian", (0.5, 0.3), (1, 0.01), 6050, (1 / 11, 10 / 11), 200, 10100, 10100),
    (
        *("gaussian", (1, 0.8, 0.5, 0.2), (0.9, 0.1, 0.5, 0.05), 969.045179183),
        (0.22997944, 0.6873063, 0.01719701, 0.06551725),
        *(211.920534015, 1191.10506439, 2222.22222222),
    ),
    (
        *("bernoulli", (0.5, 0.45, 0.43, 0.4), (0.2, 0.9, 0.5, 0.1), 3060.64946719),
        (0.49449928, 0.21181661, 0.0998693, 0.19381481),
        *(989.792140262, 3324.29856845, 4868.58989889),
    ),
    (
        *("poisson", (2, 1.5, 1.2, 1), (0.1, 0.3, 0.9, 0.5), 357.471144029),
        (0.59818329, 0.35987848, 0.02112874, 0.02080949),
        *(65.7985232003, 384.66171444, 726.130128172),
    ),
    (
        *("exponential", (1, 0.8, 0.5), (0.9, 0.1, 0.5), 751.815056113),
        (0.23323243, 0.75269593, 0.01407164),
        *(166.18732792, 930.013002988, 1420.69145255),
    ),
]


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row[0]} {len(row[1])}")
def test_golden(row):
    reward, means, observe, rounds, weights, uncensored, ignoring, equal = row
    found = identification_time(ArmedBandit(means, reward=reward), PerArm(observe))
    assert found.rounds == pytest.approx(rounds, rel=5e-12)
    assert found.weights == pytest.approx(weights, abs=6e-9)
    assert found.uncensored == pytest.approx(uncensored, rel=5e-12)
    assert found.ignoring == pytest.approx(ignoring, rel=5e-12)
    assert found.equal == pytest.approx(equal, rel=5e-12)


@pytest.mark.parametrize(
    ("gap", "noise", "observe"),
    [
        (0.2, (1, 1), (1, 1e-30)),
        (0.2, (1, 1), (1e-300, 1)),
        (1e-150, (1, 1), (1, 0.5)),
        (1e100, (1, 1), (1, 0.5)),
        (0.2, (1e-30, 1), (1, 0.5)),
        (1e-9, (1e-120, 2e-120), (1e-9, 0.5)),
    ],
)
def test_no_probability_gap_or_noise_is_too_extreme_for_the_closed_form(gap, noise, observe):
    found = identification_time(ArmedBandit([0.0, -gap], noise=noise), PerArm(observe))
    roots = [s / math.sqrt(p) for s, p in zip(noise, observe, strict=True)]
    assert found.rounds == pytest.approx(2 * (sum(roots) / gap) ** 2, rel=1e-9)
    assert found.weights == pytest.approx(np.array(roots) / sum(roots), rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.01, 2.0),
    st.tuples(st.floats(1e-3, 1.0), st.floats(1e-3, 1.0)),
    st.tuples(st.floats(0.1, 3.0), st.floats(0.1, 3.0)),
)
def test_two_gaussian_arms_in_closed_form(gap, observe, noise):
    arms = ArmedBandit([0.0, -gap], noise=noise)
    found = identification_time(arms, PerArm(observe))
    roots = [s / math.sqrt(p) for s, p in zip(noise, observe, strict=True)]
    assert found.rounds == pytest.approx(2 * sum(roots) ** 2 / gap**2, rel=1e-9)
    assert found.weights == pytest.approx(np.array(roots) / sum(roots), rel=1e-6)
    assert found.rounds <= found.equal * (1 + 1e-12)
    assert found.equal <= 2 * found.rounds * (1 + 1e-12)


def test_agrees_with_a_general_optimiser():
    means, seen = np.array([0.6, 0.5, 0.3]), np.array([0.3, 0.9, 0.05])

    def kl(m, q):
        return m * math.log(m / q) + (1 - m) * math.log((1 - m) / (1 - q))

    def nats(w, arm):
        x, y = w[0] * seen[0], w[arm] * seen[arm]
        m = (x * means[0] + y * means[arm]) / (x + y)
        return x * kl(means[0], m) + y * kl(means[arm], m)

    found = identification_time(ArmedBandit(means, reward="bernoulli"), PerArm(seen))
    best = minimize(
        lambda v: -100 * v[3],
        [1 / 3, 1 / 3, 1 / 3, 1e-4],
        constraints=[
            {"type": "eq", "fun": lambda v: v[:3].sum() - 1},
            {"type": "ineq", "fun": lambda v: 100 * (nats(v, 1) - v[3])},
            {"type": "ineq", "fun": lambda v: 100 * (nats(v, 2) - v[3])},
        ],
        bounds=[(1e-6, 1)] * 4,
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.rounds == pytest.approx(1 / best.x[3], rel=1e-5)
    assert found.weights == pytest.approx(best.x[:3], abs=1e-3)


seen_often = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seen_often, st.sampled_from(["gaussian", "bernoulli"]), st.floats(1e-3, 1.0))
def test_between_the_uncensored_time_over_the_extremes_of_p(observe, reward, share):
    arms = ArmedBandit([0.7, 0.6, 0.2], reward=reward)
    found = identification_time(arms, PerArm(observe))
    assert found.uncensored / max(observe) <= found.rounds * (1 + 1e-9)
    assert found.rounds <= found.uncensored / min(observe) * (1 + 1e-9)
    assert found.rounds <= min(found.ignoring, found.equal) * (1 + 1e-9)
    rarer = identification_time(arms, PerArm([p * share for p in observe]))
    assert rarer.rounds == pytest.approx(found.rounds / share, rel=1e-9)


def test_equal_rivals_and_extreme_probabilities():
    arms = ArmedBandit([1.0, 0.8, 0.8])
    found = identification_time(arms, PerArm([1e-9, 1.0, 0.5]))
    assert found.rounds == pytest.approx(50005477375.6, rel=1e-9)
    found = identification_time(ArmedBandit([1, 0.8, 0], reward="bernoulli"), PerArm([1, 0.1, 0.5]))
    assert math.isfinite(found.rounds)


def test_expected_rounds_grow_with_certainty():
    found = identification_time(ArmedBandit([0.5, 0.3]), PerArm([1, 0.01]))
    assert found.expected_rounds(0.05) == pytest.approx(6050 * 0.9 * math.log(19))


def test_arms_that_cannot_be_played_get_no_share():
    arms = ArmedBandit([0.5, 9.0, 0.3], actions=FixedArms([0, 2]))
    found = identification_time(arms, PerArm([1, 0.5, 0.01]))
    assert found.rounds == pytest.approx(6050)
    assert found.weights[1] == 0.0


@pytest.mark.parametrize(
    ("arms", "options", "said"),
    [
        (ArmedBandit([0.5, 0.5]), {}, "must have one best arm"),
        (ArmedBandit([0.5]), {}, "`ArmedBandit.means` must have at least 2 entries"),
        (ArmedBandit([0.5, 0.1], noise=0), {}, "`ArmedBandit.noise` must be above 0"),
        (
            ArmedBandit([0.5, 0.1]),
            {"family": "gaussian-unknown-variance"},
            "`family` must be one of gaussian, bernoulli, poisson, exponential for an ident",
        ),
        (
            ArmedBandit([0.5, 0.4], reward="uniform", noise=0.1),
            {},
            "`ArmedBandit.reward` must be one of gaussian, .* got 'uniform'",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arms, options, said):
    with pytest.raises(InvalidInput, match=said):
        identification_time(arms, PerArm([0.5] * arms.arms), **options)


def test_a_law_that_is_not_worked_out_is_refused_as_such_whatever_else_is_wrong():
    """Told to lower the noise, or to use uniform rewards, one met a second refusal."""
    for arms in (
        ArmedBandit([1.0, 0.5], noise=0.2, reward="uniform"),
        ArmedBandit([1.0, 0.5], reward="student-t"),
    ):
        said = "one of gaussian, bernoulli, poisson, exponential for an identification time"
        with pytest.raises(InvalidInput, match=said):
            identification_time(arms, Uniform(0.5))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("law", "means", "observe", "expected"),
    [
        ("exponential", (1.0, 1e-17), (0.5, 0.5), 0.058010191058872965),
        ("exponential", (1.0, 1e-100), (0.9, 0.001), 4.374046435909292),
        ("exponential", (0.9, 1e-17), (1e-25, 1.0), 111126018.564),
        ("poisson", (0.9, 1e-17), (1e-300, 1.0), 2.92101054757e298),
        ("bernoulli", (1.0, 0.5), (1.0, 1e-300), 2.92587982676e297),
        ("bernoulli", (1.0, 0.5), (1.0, 1e-25), 3.78050253172e23),
        ("bernoulli", (0.9, 0.0), (1e-300, 1.0), 1.62445106764e297),
    ],
)
def test_means_and_probabilities_of_any_size(law, means, observe, expected):
    """By a search with 800 digits; some ended in an error of arithmetic, some in 0 rounds."""
    found = identification_time(ArmedBandit(means, reward=law), PerArm(observe))
    assert found.rounds == pytest.approx(expected, rel=3e-12)


@pytest.mark.parametrize("law", ["gaussian", "bernoulli", "poisson", "exponential"])
def test_more_rounds_than_a_number_can_hold_are_infinite(law):
    close = ArmedBandit([0.9, 0.9 - 1e-12], reward=law)
    found = identification_time(close, PerArm([1.0, 1e-300]))
    assert found.rounds == math.inf
    assert found.to_dict()["rounds"] is None
    assert found.weights.sum() == pytest.approx(1.0)
