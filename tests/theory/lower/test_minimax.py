import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.errors import InvalidInput
from halfseen.theory import minimax_lower_bound

SEEN = [0.9, 0.1, 0.5, 0.3, 0.05]


def test_golden():
    first, second, _ = minimax_lower_bound(SEEN, 10_000).terms.values()
    assert first == pytest.approx(22.5333146778, abs=5e-11)
    assert second == pytest.approx(61.4555931693, abs=5e-11)
    noisy = minimax_lower_bound([0.5, 0.2, 0.8, 0.3], 10_000, noise=[0.1, 1, 2, 0.3])
    assert noisy.terms["one arm raised"] == pytest.approx(12.1661001931, abs=5e-11)
    assert noisy.terms["all arms alike"] == pytest.approx(42.6848464023, abs=5e-11)
    bernoulli = minimax_lower_bound(SEEN, 10_000, reward="bernoulli")
    assert bernoulli.terms["one arm raised"] == pytest.approx(11.2567212097, abs=5e-11)
    assert bernoulli.terms["all arms alike"] == pytest.approx(30.7220984744981751, abs=1e-12)
    assert bernoulli.terms["arms capped"] == pytest.approx(50.3363749203379545, abs=1e-12)
    assert bernoulli.largest_mean == pytest.approx(0.0134968408531094603, abs=1e-14)


rates = st.floats(0.001, 1.0)


@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
@given(st.lists(st.tuples(rates, rates), min_size=2, max_size=8))
def test_a_problem_seen_less_is_never_easier(rewards, pairs):
    seen_more, seen_less = zip(*((max(pair), min(pair)) for pair in pairs), strict=True)
    easier = minimax_lower_bound(seen_more, 1000, reward=rewards).value
    harder = minimax_lower_bound(seen_less, 1000, reward=rewards).value
    assert harder >= easier * (1 - 1e-12)


def test_one_arm_seen_ever_less_does_not_lower_the_bound():
    found = [minimax_lower_bound([0.5, 0.5, p], 1000).value for p in (0.5, 0.1, 0.01, 1e-4, 1e-9)]
    assert found == sorted(found)


@given(st.lists(rates, min_size=2, max_size=6), st.integers(0, 2**32 - 1))
def test_no_smaller_variances_that_were_tried_give_more(observe, seed):
    """The proof holds with any v' <= v; the best of them is a cap at one of the v."""
    capped = minimax_lower_bound(observe, 1000).terms["arms capped"]
    v = 1.0 / np.array(observe)
    tried = v * np.random.default_rng(seed).random((2000, len(v))) ** 0.3
    tried = np.concatenate([tried, np.minimum(v, np.linspace(v.min() / 2, v.max(), 500)[:, None])])
    total = tried.sum(axis=1)
    bound = 0.5 * (1 - tried.max(axis=1) / total) ** 2 * np.sqrt(1000 * total)
    assert capped >= bound.max() * (1 - 1e-12)
    alike = minimax_lower_bound(observe, 1000).terms["all arms alike"]
    assert capped >= alike * (1 - 1e-12)


@pytest.mark.parametrize("observe", [[0.5, 0.5], [1.0, 1e-300]])
def test_the_bernoulli_bound_at_its_limits(observe):
    assert minimax_lower_bound(observe, 0, reward="bernoulli").value == 0.0
    short = minimax_lower_bound([1.0, 1e-300], 100, reward="bernoulli").value
    assert short == pytest.approx(100 / 32)  # nothing is observed in 100 rounds


@pytest.mark.parametrize("horizon", [1, 50, 10_000])
def test_the_bernoulli_gap_is_the_best_one(horizon):
    rest = sum(1 / p for p in SEEN) - 1 / 0.9
    gaps = np.linspace(1e-6, 0.25 - 1e-6, 400_001)
    tried = horizon * gaps / 8 * np.exp(horizon / (2 * rest) * np.log1p(-16 * gaps**2))
    found = minimax_lower_bound(SEEN, horizon, reward="bernoulli").terms["one arm raised"]
    assert found == pytest.approx(tried.max(), rel=1e-6)
    assert found >= tried.max() * (1 - 1e-12)


@pytest.mark.parametrize("horizon", [1, 50, 10_000])
def test_the_bernoulli_gap_and_cap_of_the_second_proof_are_the_best_ones(horizon):
    """Against a search over gaps and over caps that are none of the 1/p."""
    v, gaps = 1.0 / np.array(SEEN), np.linspace(1e-6, 0.5 - 1e-6, 20_001)
    spread = np.sqrt(-np.log1p(-4 * gaps**2)) / 2
    tried = []
    for cap in np.append(np.linspace(1.0, 20.0, 200), v):
        w = np.minimum(v, cap)
        others = 1 - w.max() / w.sum() - math.sqrt(horizon / w.sum()) * spread
        tried.append((gaps * horizon * others).max())
    found = minimax_lower_bound(SEEN, horizon, reward="bernoulli").terms["arms capped"]
    assert found == pytest.approx(max(tried), rel=1e-5)
    assert found >= max(tried) * (1 - 1e-12)


def test_the_bernoulli_bounds_grow_like_the_root_of_the_horizon_at_any_horizon():
    """From 1e16 rounds on the first was too large by a factor of 1.65."""
    for horizon in (1e8, 1e14, 1e20, 1e290):
        found = minimax_lower_bound([0.5, 0.5, 0.5], horizon, reward="bernoulli").terms
        assert found["one arm raised"] == pytest.approx(
            math.exp(-0.5) / 32 * math.sqrt(4 * horizon), rel=1e-7
        )
        capped = 0.25 * (2 / 3) ** 2 * math.sqrt(6 * horizon)
        assert found["arms capped"] == pytest.approx(capped, rel=1e-7)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=8), st.floats(1.0, 1e9))
def test_is_of_the_order_of_the_effective_dimension(observe, horizon):
    found = minimax_lower_bound(observe, horizon).value
    order = math.sqrt(sum(1 / p for p in observe) * horizon)
    assert math.exp(-0.5) / 16 / math.sqrt(2) * order * (1 - 1e-12) <= found <= order / 2


def test_noise_scales_it():
    once = minimax_lower_bound(SEEN, 1000)
    twice = minimax_lower_bound(SEEN, 1000, noise=2.0)
    assert twice.value == pytest.approx(2 * once.value)
    assert twice.largest_mean == pytest.approx(2 * once.largest_mean)


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match=r"`observe` must have at least 2 entries"):
        minimax_lower_bound([0.5], 100)
    with pytest.raises(InvalidInput, match=r"`observe\[1\]` .*above 0"):
        minimax_lower_bound([0.5, 0.0], 100)
    with pytest.raises(InvalidInput, match="`noise` must be a finite number"):
        minimax_lower_bound([0.5, 0.5], 100, noise=math.inf)


def test_arms_without_noise_cost_nothing_in_the_worst_case():
    assert minimax_lower_bound([0.5, 0.5], 1e4, noise=0.0).value == 0.0
    some = minimax_lower_bound([0.5, 0.5, 0.5], 1e4, noise=[0.0, 1.0, 1.0])
    assert some.terms["arms capped"] == pytest.approx(0.5 * 0.25 * math.sqrt(4e4))


def test_nothing_overflows_and_vanishing_probabilities_are_refused():
    plain = minimax_lower_bound([0.5, 0.3], 1e4).value
    assert minimax_lower_bound([0.5, 0.3], 1e4, noise=1e200).value == pytest.approx(1e200 * plain)
    assert minimax_lower_bound([0.5, 1e-300], 1e300).value < math.inf
    with pytest.raises(InvalidInput, match=r"`observe\[1\]` must not be below 1e-300"):
        minimax_lower_bound([0.5, 5e-324], 1e4)
