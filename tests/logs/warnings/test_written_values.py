"""Values written for missing rewards are found; ordinary rewards are not suspected."""

import numpy as np
import pytest

from halfseen import audit
from halfseen.logs.warnings.far_values import negative_at_the_edge, sentinel
from halfseen.logs.warnings.sampled_rewards import rewards_of
from halfseen.logs.warnings.written_values import repeated_value, zeros_at_the_edge

N = 4000


def margin(rng):
    """Return what a contact earns: a sale, less the cost of the contact."""
    sale = np.where(rng.random(N) < 0.5, np.maximum(rng.gamma(3, 10, N), 1.5), 0.0)
    return (sale - 1.5).round(2)


def mixed(rng, share, value, others):
    return np.where(rng.random(N) < share, value, others)


ASKED = {
    "profit": lambda rng: mixed(rng, 0.5, 0.0, rng.normal(5, 20, N).round(2)),
    "a fee beside sales": lambda rng: mixed(rng, 0.6, -1.0, rng.integers(5, 400, N)),
    "a fee beside prices": lambda rng: mixed(rng, 0.9, -1.0, rng.choice([9, 19, 29, 49, 99], N)),
    "a timeout": lambda rng: mixed(rng, 0.03, 30_000.0, rng.gamma(4, 50, N)),
    "a prize": lambda rng: mixed(rng, 0.02, 100_000.0, rng.gamma(4, 50, N)),
    "a cap": lambda rng: np.minimum(rng.normal(size=N), 1.0),
    "shares watched": lambda rng: mixed(rng, 0.2, 1.0, rng.beta(2, 2, N)),
}
ORDINARY = {
    "normal": lambda rng, arm: rng.normal(size=N),
    "normal by arm": lambda rng, arm: rng.normal(arm, 0.5),
    "Poisson .3": lambda rng, arm: rng.poisson(0.3, N),
    "Poisson 1.5": lambda rng, arm: rng.poisson(1.5, N),
    "Poisson 60": lambda rng, arm: rng.poisson(60, N),
    "geometric 50": lambda rng, arm: rng.geometric(1 / 50, N),
    "zero-inflated Poisson": lambda rng, arm: rng.poisson(60, N) * (rng.random(N) < 0.6),
    "sales": lambda rng, arm: rng.lognormal(3, 1, N) * (rng.random(N) < 0.2),
    "stars": lambda rng, arm: rng.integers(1, 6, N),
    "-1, 0, 1": lambda rng, arm: rng.integers(-1, 2, N),
    "±1": lambda rng, arm: rng.choice([-1, 1], N),
    "prices": lambda rng, arm: rng.choice([4.99, 9.99, 19.99, 49.99, 99.0, 199.0, 299.0], N),
    "cents": lambda rng, arm: rng.lognormal(3, 1, N).round(2),
    "rounded": lambda rng, arm: rng.normal(size=N).round(1),
    "rounded to 0.01": lambda rng, arm: rng.normal(size=N).round(2),
    "t with 2 degrees": lambda rng, arm: rng.standard_t(2, N),
    "binary": lambda rng, arm: rng.integers(0, 2, N),
    "net margin": lambda rng, arm: margin(rng),
    **{name: lambda rng, arm, make=make: make(rng) for name, make in ASKED.items()},
}


def gone(rng, values, instead, share=1.0):
    """Write a value for 30% of the rewards, or for a share of those; drop the others."""
    values = np.asarray(values, dtype=float).copy()
    missing = rng.random(len(values)) < 0.3
    written = missing & (rng.random(len(values)) < share)
    values[written] = np.broadcast_to(instead, values.shape)[written]
    return np.where(missing & ~written, np.nan, values)


WRITTEN = {
    "-1 in normal": ("sentinel", lambda r, a: gone(r, np.abs(r.normal(size=N)), -1.0)),
    "-1 in counts": ("sentinel", lambda r, a: gone(r, r.poisson(4, N), -1.0)),
    "-1 in counts, 10%": ("sentinel", lambda r, a: gone(r, r.poisson(4, N), -1.0, 0.1)),
    "-1 in 1-10": ("sentinel", lambda r, a: gone(r, r.integers(1, 11, N), -1.0)),
    "999 in 1-10": ("sentinel", lambda r, a: gone(r, r.integers(1, 11, N), 999.0)),
    "zeros in N(1, 1)": ("zeros-look-imputed", lambda r, a: gone(r, r.normal(1, 1, N), 0.0)),
    "zeros, 5%": ("zeros-look-imputed", lambda r, a: gone(r, r.normal(1, 1, N), 0.0, 0.05)),
    "9999 in latencies": ("sentinel", lambda r, a: gone(r, r.gamma(4, 50, N), 9999.0)),
    "zeros in thousandths": (
        "zeros-look-imputed",
        lambda r, a: gone(r, r.normal(1, 1, N).round(3), 0.0),
    ),
    "0.5 in normal": ("repeated-value", lambda r, a: gone(r, r.normal(size=N), 0.5)),
}


@pytest.mark.parametrize("kind", ORDINARY)
def test_ordinary_rewards_are_not_suspected(kind):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        arm = rng.integers(0, 3, N)
        rewards = rewards_of(arm, np.asarray(ORDINARY[kind](rng, arm), dtype=float))
        assert sentinel(rewards) is None
        assert repeated_value(rewards) is None


@pytest.mark.parametrize("kind", WRITTEN)
def test_written_values_are_found(kind):
    name, make = WRITTEN[kind]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        arm = rng.integers(0, 3, N)
        values = make(rng, arm)
        kept = ~np.isnan(values)
        rewards = rewards_of(arm[kept], values[kept])
        found = sentinel(rewards) or repeated_value(rewards)
        assert found is not None
        assert found.kind == name


@pytest.mark.parametrize("kind", ASKED)
def test_what_values_cannot_tell_is_asked_in_a_note(kind):
    reward = ASKED[kind](np.random.default_rng(0))
    found = audit({"a": np.zeros(N), "r": reward}, action="a", reward="r")
    assert found.warnings == ()
    assert any("cannot tell" in note for note in found.notes)


def test_written_means_are_found():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        arm = rng.integers(0, 3, N)
        values, missing = rng.normal(arm, 1.0), rng.random(N) < 0.3
        whole = np.where(missing, values[~missing].mean(), values)
        means = np.array([values[~missing & (arm == a)].mean() for a in range(3)])
        own = np.where(missing, means[arm], values)
        for filled in (whole, own):
            assert repeated_value(rewards_of(arm, filled)).kind == "mean-written"


def test_zeros_at_the_edge_are_a_question():
    rng = np.random.default_rng(0)
    binary = rewards_of(np.zeros(N), (rng.random(N) < 0.69) * 1.0)
    (note,) = zeros_at_the_edge(binary)
    assert note.startswith("31% of the rewards are 0. If 0 can also mean")
    assert zeros_at_the_edge(rewards_of(np.zeros(N), rng.normal(size=N))) == []


def test_a_lone_negative_reward_is_a_question():
    rng = np.random.default_rng(0)
    (note,) = negative_at_the_edge(rewards_of(np.zeros(N), margin(rng)))
    assert "are -1.5, the only value below 0. Is it a code for a missing reward, or an" in note
    assert "far from" not in note
    code = rewards_of(np.zeros(N), np.where(rng.random(N) < 0.3, -1.0, rng.poisson(4, N)))
    warning = sentinel(code)
    assert "Is it a code for a missing reward" in warning.finding
    assert not warning.voids
    assert negative_at_the_edge(code) == []


def test_a_code_far_from_all_rewards_voids_the_numbers():
    rng = np.random.default_rng(0)
    warning = sentinel(rewards_of(np.zeros(N), gone_to(-999.0, rng)))
    assert "far from every other value" in warning.finding
    assert warning.voids


@pytest.mark.parametrize("code", [99, 999, 9999, -99, -999, 2.0**31 - 1])
@pytest.mark.parametrize("share", [0.003, 0.3])
def test_a_code_beside_0_and_1_or_a_rare_one_is_found(code, share):
    rng = np.random.default_rng(0)
    scales = [[0, 1], [-1, 1], [1, 2, 3, 4, 5], rng.normal(size=N), rng.poisson(2, N)]
    for values in scales:
        reward = np.where(rng.random(N) < share, code, rng.choice(values, N))
        warning = sentinel(rewards_of(np.zeros(N), reward))
        assert warning.voids, values
        assert warning.facts["value"] == code
    assert f"{100 * warning.facts['share']:.2g}% of the rewards" in warning.finding


def test_two_codes_at_once_are_both_named():
    rng = np.random.default_rng(0)
    reward = rng.choice([0, 1, 999, -999], N, p=[0.5, 0.4, 0.06, 0.04])
    warning = sentinel(rewards_of(np.zeros(N), reward * 1.0))
    assert "are -999 or 999, far from" in warning.finding
    assert warning.facts["share"] == (abs(reward) > 1).mean()


CLEAN = {
    "0 or 99": lambda r, n: r.choice([0, 99], n),
    "0, 9, 99, 999": lambda r, n: r.choice([0, 9, 99, 999], n, p=[0.9, 0.05, 0.03, 0.02]),
    "0, 5, 999": lambda r, n: r.choice([0, 5, 999], n, p=[0.9, 0.08, 0.02]),
    "9.99 and 99.99": lambda r, n: r.choice([0, 4.99, 9.99, 99.99], n, p=[0.9, 0.05, 0.03, 0.02]),
    "lognormal, very skewed": lambda r, n: r.lognormal(3, 2.5, n).round(2),
    "Zipf": lambda r, n: r.zipf(1.8, n),
    "Zipf, very skewed": lambda r, n: r.zipf(1.3, n),
    "Pareto, in tens": lambda r, n: (r.pareto(1, n) * 10).round(-1),
    "Cauchy, whole": lambda r, n: r.standard_cauchy(n).round(),
    "clipped at 99": lambda r, n: np.minimum(r.lognormal(3, 1, n).round(), 99),
    "stars and halves": lambda r, n: r.integers(1, 11, n) / 2,
    "sales, mostly 0": lambda r, n: r.lognormal(3, 1, n).round(2) * (r.random(n) < 0.05),
    "a lottery": lambda r, n: r.choice([0, 1, 5, 50, 1e4], n, p=[0.8, 0.1, 0.08, 0.015, 0.005]),
    "refunds": lambda r, n: r.choice([0, 19.99, -19.99], n, p=[0.9, 0.08, 0.02]),
}


@pytest.mark.parametrize("kind", CLEAN)
def test_clean_rewards_hold_no_code(kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = (100, 1000, N)[seed % 3]
        assert sentinel(rewards_of(np.zeros(n), np.asarray(CLEAN[kind](rng, n), float))) is None


def gone_to(code, rng):
    return np.where(rng.random(N) < 0.3, code, rng.normal(size=N).round(3))
