import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.errors import InvalidInput
from halfseen.theory import confidence_sequence, tightest_rho


def half_width(n, **options):
    """Return how far the upper limit is from a mean of 0."""
    return confidence_sequence([n], [0.0], **options).high[0]


def test_golden_two_sided():
    assert half_width(100, rho=1) == pytest.approx(0.327301862423, abs=5e-13)
    rho = tightest_rho(100)
    assert rho == pytest.approx(12.1773488699, abs=5e-11)
    assert half_width(100, rho=rho) == pytest.approx(0.303512241303, abs=5e-13)


def test_golden_one_sided():
    assert half_width(100, rho=1, side="high") == pytest.approx(0.30520336348, abs=5e-12)
    low = confidence_sequence([100], [0.0], rho=1, side="low").low[0]
    assert low == pytest.approx(-0.30520336348, abs=5e-12)


def test_golden_bernoulli():
    low, high = confidence_sequence([100], [30], reward="bernoulli")
    assert low[0] == pytest.approx(0.165651535388, abs=5e-13)
    assert high[0] == pytest.approx(0.462839865142, abs=5e-13)


@pytest.mark.parametrize(("n", "rho", "alpha"), [(7, 2.0, 0.1), (300, 10.0, 0.01)])
def test_at_its_limits_the_normal_mixture_is_one_over_alpha(n, rho, alpha):
    def mixture(mean, half):  # of exp(theta S - n theta^2/2) over theta ~ N(0, 1/rho), or its half
        total, width = mpmath.mpf(n * mean), 1 / mpmath.sqrt(rho)

        def density(x):
            prior = (2 if half else 1) * mpmath.npdf(x, 0, width)
            return prior * mpmath.exp(x * total - n * x * x / 2)

        start = 0 if half else -10 * width
        return mpmath.quad(density, [start, 0, total / (n + rho), 10 * width])

    both = half_width(n, rho=rho, level=1 - alpha)
    one = half_width(n, rho=rho, level=1 - alpha, side="high")
    assert float(mixture(both, half=False)) == pytest.approx(1 / alpha, rel=1e-9)
    assert float(mixture(one, half=True)) == pytest.approx(1 / alpha, rel=1e-9)
    assert one < both


def test_at_its_limits_the_beta_mixture_is_one_over_alpha():
    n, successes = 40, 9
    for q in confidence_sequence([n], [successes], reward="bernoulli"):
        q = mpmath.mpf(float(q[0]))
        ratio = mpmath.beta(successes + 0.5, n - successes + 0.5) / mpmath.beta(0.5, 0.5)
        ratio /= q**successes * (1 - q) ** (n - successes)
        assert float(ratio) == pytest.approx(20.0, rel=1e-10)


@pytest.mark.parametrize("mean", [0.05, 0.3, 0.5])
def test_bernoulli_ever_fails_with_probability_at_most_alpha_exactly(mean):
    """Follow the exact law of the number of successes, stopping where the limits are wrong."""
    alive, failed = np.array([1.0]), 0.0
    for n in range(1, 121):
        alive = np.append(alive, 0.0) * (1 - mean) + np.append(0.0, alive) * mean
        low, high = confidence_sequence(
            np.full(n + 1, n), np.arange(n + 1), level=0.9, reward="bernoulli"
        )
        wrong = (mean < low) | (mean > high)
        failed += alive[wrong].sum()
        alive[wrong] = 0.0
    assert 0.005 < failed <= 0.1


@pytest.mark.slow
@given(st.integers(1, 10**9), st.floats(0.0, 1.0), st.floats(0.5, 0.9999))
def test_limits_enclose_the_mean_and_widen_with_the_level(n, mean, level):
    for rewards in ("gaussian", "bernoulli"):
        low, high = confidence_sequence([n], [mean * n], level=level, reward=rewards)
        assert low[0] <= mean * (1 + 1e-12)
        assert mean * (1 - 1e-12) <= high[0]
        wider = confidence_sequence([n], [mean * n], level=(1 + level) / 2, reward=rewards)
        assert wider.low[0] <= low[0]
        assert high[0] <= wider.high[0]


def test_rho_is_best_where_it_says():
    for n, level in ((50, 0.95), (1e6, 0.5), (3, 0.999999)):
        rho = tightest_rho(n, level=level)
        best = half_width(n, rho=rho, level=level)
        assert best <= min(half_width(n, rho=rho * f, level=level) for f in (0.9, 1.1))


def test_nothing_observed_says_nothing():
    assert confidence_sequence([0], [0]) == ([-math.inf], [math.inf])
    assert confidence_sequence([0], [0], reward="bernoulli") == ([0.0], [1.0])


def test_only_successes_or_failures():
    low, high = confidence_sequence([20, 20], [0, 20], reward="bernoulli")
    assert low[0] == 0.0
    assert high[1] == 1.0
    assert high[0] == pytest.approx(1 - low[1], rel=1e-12)


def test_noise_scales_the_width():
    narrow, wide = confidence_sequence([9, 9], [0.0, 0.0], noise=[0.5, 2.0]).high
    assert wide == pytest.approx(4 * narrow)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"level": 1.0}, "`level` must be a finite number above 0 and below 1; got 1.0. Use 0.95."),
        ({"noise": math.inf}, "`noise` must be a finite number at least 0; got inf"),
        ({"rho": 0.0}, "`rho` must be a finite number above 0"),
        ({"reward": "bernouli"}, "Did you mean 'bernoulli'"),
        ({"side": "left"}, "`side` must be one of both, low, high"),
        ({"observed": [-1, 2]}, r"`observed\[0\]` must be a finite number at least 0"),
        ({"observed": [0, 2]}, r"`total\[0\]` must be 0 where nothing was observed; got 1.0"),
        ({"observed": [3]}, "`total` must have 1 entries"),
        (
            {"total": [1.0, 2.5], "reward": "bernoulli"},
            r"`total\[1\]` must be between 0 and 2, .* got 2.5. Use reward=\"gaussian\"",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, said):
    arguments = {"observed": [1, 2], "total": [1.0, 1.0]} | arguments
    observed, total = arguments.pop("observed"), arguments.pop("total")
    with pytest.raises(InvalidInput, match=said):
        confidence_sequence(observed, total, **arguments)


def test_bernoulli_limits_keep_their_digits_at_huge_counts():
    """Half of n ones: n kl(1/2, 1/2 + w) + log sqrt(2/(pi n)) = log 20, kl = -log(1 - 4 w^2)/2."""
    for n in (1e12, 1e16):
        low, high = confidence_sequence([n], [n / 2], reward="bernoulli")
        width = math.sqrt((math.log(20) + math.log(math.pi * n / 2) / 2) / (2 * n))
        assert high[0] - 0.5 == pytest.approx(width, rel=1e-6)
        assert 0.5 - low[0] == pytest.approx(width, rel=1e-6)
