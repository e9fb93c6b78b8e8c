"""Winners among Poisson and exponential rewards: exact mixtures over Gamma(rho, rho)."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.errors import InvalidInput
from halfseen.theory import confidence_sequence, evidence, winner
from halfseen.theory.anytime.gamma_mixture import least_product
from halfseen.theory.anytime.samples import Samples

LAWS = ("poisson", "exponential")


def log_ratio(law, n, total, mean, rho):
    """Return the log of the mixture divided by the likelihood at a mean, in high precision."""
    n, total, rho, mean = mpmath.mpf(n), mpmath.mpf(total), mpmath.mpf(rho), mpmath.mpf(mean)
    events, expected = (total, n * mean) if law == "poisson" else (n, total / mean)
    gammas = mpmath.loggamma(rho + events) - mpmath.loggamma(rho)
    return rho * mpmath.log(rho) + gammas - (rho + events) * mpmath.log(rho + expected) + expected


@pytest.mark.parametrize(
    ("law", "n", "total", "rho", "low", "high"),
    [
        ("poisson", 100, 150, 10, 1.15387656926098, 1.90461892708951),
        ("poisson", 40, 90, 1, 1.55746243245753, 3.12001689807308),
        ("exponential", 100, 150, 10, 1.12554123099706, 2.07385596208973),
        ("exponential", 40, 90, 1, 1.41681062100629, 3.9071093602401),
    ],
)
def test_golden_limits(law, n, total, rho, low, high):
    found = confidence_sequence([n], [total], reward=law, rho=rho)
    assert found.low[0] == pytest.approx(low, rel=1e-13)
    assert found.high[0] == pytest.approx(high, rel=1e-13)


@pytest.mark.parametrize(
    ("law", "a", "b", "rho", "expected"),
    [
        ("poisson", (100, 200), (400, 600), 10, 2.03596734784277),
        ("poisson", (20, 15), (30, 3), 2, 4.14082328183775),
        ("exponential", (100, 100), (400, 200), 10, 17.5655154210104),
        ("exponential", (20, 15), (30, 3), 0.5, 18.788604696687),
    ],
)
def test_golden_evidence(law, a, b, rho, expected):
    assert evidence(a, b, reward=law, rho=rho) == pytest.approx(expected, abs=2e-12)


@pytest.mark.parametrize("law", LAWS)
def test_the_ratio_is_the_mean_of_likelihood_ratios_over_the_gamma_law(law):
    n, total, mean, rho = 12, 31, 1.7, 2.5
    with mpmath.workdps(30):

        def density(theta):
            prior = rho**rho / mpmath.gamma(rho) * theta ** (rho - 1) * mpmath.exp(-rho * theta)
            if law == "poisson":
                return prior * theta**total * mpmath.exp(-(theta - 1) * n * mean)
            return prior * theta**n * mpmath.exp(-(theta - 1) * total / mean)

        mixed = mpmath.log(mpmath.quad(density, [0, 0.3, 0.6, 1, 1.5, 2, 4, 20]))
        assert float(mixed) == pytest.approx(float(log_ratio(law, n, total, mean, rho)), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.floats(1e-3, 100.0),
    st.floats(0.01, 0.999),
)
def test_at_finite_limits_the_mixture_is_one_over_alpha_and_the_mean_is_between(
    law, n, total, rho, level
):
    found = confidence_sequence([n], [total], reward=law, rho=rho, level=level)
    low, high = float(found.low[0]), float(found.high[0])
    assert low < total / n < high
    for limit in (low, high):
        if 0.0 < limit < math.inf:
            with mpmath.workdps(30):
                ratio = float(log_ratio(law, n, total, limit, rho))
            assert ratio == pytest.approx(-math.log1p(-level), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_evidence_is_the_smallest_product_over_a_common_mean(law):
    rng = np.random.default_rng(5)
    for _ in range(20):
        (n, x), (m, y), rho = rng.integers(1, 60, 2), rng.integers(1, 60, 2), rng.uniform(0.1, 20)
        pairs = sorted(((n, x), (m, y)), key=lambda pair: -pair[1] / pair[0])
        means = np.geomspace(pairs[1][1] / pairs[1][0], pairs[0][1] / pairs[0][0], 4001)
        brute = min(
            sum(log_ratio(law, int(k), int(s), mean, rho) for k, s in pairs) for mean in means[::20]
        )
        found = evidence(*pairs, reward=law, rho=rho)
        if pairs[0][1] * pairs[1][0] > pairs[1][1] * pairs[0][0]:
            assert found <= float(brute) + 1e-10
            assert found == pytest.approx(float(brute), abs=0.01)


@pytest.mark.parametrize("law", LAWS)
@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 5000), st.integers(1, 5000))
def test_evidence_speaks_for_the_larger_mean_only_and_has_no_unit_of_time(law, n, m, x, y):
    there = evidence((n, x), (m, y), reward=law)
    back = evidence((m, y), (n, x), reward=law)
    assert min(there, back) == -math.inf
    if law == "exponential" and x * m != y * n:  # rounding would make one of equal means larger
        scaled = evidence((n, x * 1e-200), (m, y * 1e-200), reward=law)
        assert scaled == pytest.approx(there, rel=1e-9, abs=1e-9)


def test_poisson_limits_are_ever_wrong_with_probability_at_most_alpha_exactly():
    """Follow the exact law of the sum, stopping where the limits are wrong."""
    for mean, rho in ((0.2, 0.5), (1.0, 1.0), (3.0, 10.0)):
        top = int(60 * mean + 90)
        x = np.arange(top)
        log_counts = x * math.log(mean) - mean - np.array([math.lgamma(k + 1) for k in x])
        step, alive, failed = np.exp(log_counts), (x == 0).astype(float), 0.0
        for n in range(1, 41):
            alive = np.convolve(alive, step)[:top]
            low, high = confidence_sequence(
                np.full(top, n), x, level=0.9, reward="poisson", rho=rho
            )
            wrong = (mean < low) | (mean > high)
            failed += alive[wrong].sum()
            alive[wrong] = 0.0
        assert 0.003 < failed <= 0.1
        assert failed + alive.sum() == pytest.approx(1.0, abs=1e-9)  # nothing was cut off


@pytest.mark.slow
@pytest.mark.parametrize("shape", [1.0, 3.0])
def test_exponential_limits_are_ever_wrong_with_probability_at_most_alpha(shape):
    """Gamma laws of shape 1 or more are less variable than exponential ones."""
    rng, runs, n = np.random.default_rng(6), 2000, 2000
    counts, failed = np.arange(1.0, n + 1), 0
    for _ in range(runs):
        sums = np.cumsum(rng.gamma(shape, 7.0 / shape, n))
        low, high = confidence_sequence(counts, sums, level=0.8, reward="exponential")
        failed += bool(np.any((low > 7.0) | (high < 7.0)))
    assert failed / runs <= 0.2
    assert failed > (20 if shape == 1.0 else -1)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_evidence_against_an_equal_mean_reaches_its_threshold_no_more_often_than_alpha(law, share):
    """Two arms of one mean, drawn unequally often; a tenth of the runs may cross."""
    rng, runs, n, crossed = np.random.default_rng(7), 2000, 3000, 0
    for _ in range(runs):
        arm = rng.random(n) < share
        drawn = rng.poisson(0.7, n) if law == "poisson" else rng.exponential(0.7, n)
        counts, others = np.cumsum(arm), np.cumsum(~arm)
        both = np.minimum(counts, others) > 0
        first, second = (
            Samples(played[both], np.cumsum(drawn * mask)[both], np.ones(1), 10.0, law)
            for played, mask in ((counts, arm), (others, ~arm))
        )
        wrong = (first.means > second.means) & (least_product(first, second) >= math.log(10))
        crossed += bool(wrong.any())
    assert crossed / runs <= 0.1


@pytest.mark.parametrize("law", LAWS)
def test_a_winner_is_declared_by_either_rule(law):
    rivals = [1500, 900] if law == "poisson" else [500.0, 300.0]
    leader = 3000 if law == "poisson" else 1000.0
    found = winner([1000, 1000, 1000], [leader, *rivals], reward=law)
    assert (found.arm, found.shown_by) == (0, ("separate", "pairwise"))
    far_more = winner([10**7, 100, 100], [leader * 10**4, *(0.1 * r for r in rivals)], reward=law)
    assert far_more.arm == 0
    assert winner([10, 10, 0], [30, 10, 0], reward=law).arm is None


def test_nothing_or_little_observed():
    assert confidence_sequence([0], [0], reward="poisson") == ([0.0], [math.inf])
    low, high = confidence_sequence([0, 3], [0, 1.0], reward="exponential")
    assert low[0] == 0.0
    assert low[1] > 0.0
    assert np.all(np.isinf(high))
    low, high = confidence_sequence([50], [0], reward="poisson")
    assert low[0] == 0.0
    assert 0.0 < high[0] < 0.5


@pytest.mark.parametrize("law", LAWS)
def test_one_side_is_that_of_both(law):
    both = confidence_sequence([100], [150], reward=law)
    low = confidence_sequence([100], [150], reward=law, side="low")
    high = confidence_sequence([100], [150], reward=law, side="high")
    assert (low.low[0], low.high[0]) == (both.low[0], math.inf)
    assert (high.low[0], high.high[0]) == (0.0, both.high[0])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1e6, 1e12, 1e15])
def test_digits_are_kept_at_any_count(law, n):
    """Arms of mean 1 whose means are 6 standard errors apart."""
    more = math.floor(n + 6 * math.sqrt(2 * n))
    with mpmath.workdps(50):
        mean = mpmath.findroot(
            lambda m: mpmath.diff(
                lambda q: log_ratio(law, n, more, q, 10) + log_ratio(law, n, n, q, 10), m
            ),
            1 + mpmath.mpf(more - n) / (2 * n),
            tol=1e-20,
        )
        exact = float(log_ratio(law, n, more, mean, 10) + log_ratio(law, n, n, mean, 10))
    assert evidence((n, more), (n, n), reward=law) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("law", "total", "said"),
    [
        ("poisson", 1.5, r"`total\[0\]` must be a whole number from 0 to 1e.100"),
        ("poisson", -1, r"`total\[0\]` must be a whole number from 0 to 1e.100"),
        ("exponential", 0, r"`total\[0\]` must be above 0, as exponential rewards are; got 0.0"),
        ("exponential", -1, r"`total\[0\]` must be above 0"),
    ],
)
def test_sums_that_the_law_cannot_have_are_refused(law, total, said):
    with pytest.raises(InvalidInput, match=said):
        confidence_sequence([2], [total], reward=law)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rho", [1e-300, 1e-3, 1e150, 1e300])
def test_no_number_is_too_large(law, rho):
    for counts, totals in (
        ([100, 90], [50, 40]),
        ([1e100, 3], [1e99, 3]),
        ([5, 1e100], [1e100, 1]),
    ):
        found = winner(counts, totals, reward=law, rho=rho)
        assert not np.any(np.isnan(found.evidence))
        low, high = confidence_sequence(counts, totals, reward=law, rho=rho)
        means = np.array(totals) / np.array(counts)
        assert np.all((low <= means * (1 + 1e-12)) & (means <= high * (1 + 1e-12)))
