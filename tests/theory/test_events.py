from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import xarray
from scipy import special

from halfseen.errors import InvalidInput
from halfseen.theory import (
    censoring_failure_probability,
    event_frequencies,
    optimism_failure_probability,
)
from halfseen.theory.events import clopper_pearson

AXES = ("problem", "censorship", "policy", "replication", "checkpoint")


def result(optimism, censoring):
    shape = optimism.shape
    data = xarray.Dataset(
        {"optimism_failed": (AXES, optimism), "censoring_failed": (AXES, censoring)},
        coords={
            "problem": ["one"],
            "censorship": ["half"],
            "policy": ["ucb", "random"],
            "checkpoint": np.arange(shape[-1]) + 1,
        },
    )
    return SimpleNamespace(data=data)


def test_optimism_probability():
    assert optimism_failure_probability(7, 100) == pytest.approx(14 / 10**4)
    assert optimism_failure_probability(7, 1) == 1.0


def test_censoring_probability():
    found = censoring_failure_probability([0.5, 0.25], 1000, delta=0.25)
    assert found == pytest.approx(min(1.0, 2 * 6 / 0.0625 * 1000**-0.75))
    assert censoring_failure_probability([0.5, 0.25], 1000) == pytest.approx(2 * 6 * 4 / 1e9)
    assert censoring_failure_probability([0.5], 1) == 1.0


def binomial_below(trials, p, count):
    return special.bdtr(count - 1, trials, p) if count > 0 else 0.0


@pytest.mark.parametrize("delta", [0.1, 0.2, 0.3])
def test_censoring_probability_is_above_the_exact_sum_of_tails(delta):
    """One arm, always played: the sum over rounds of P(Bin(t, p) < (1 - delta) p t)."""
    p, horizon = 0.5, 2000
    start = int(np.ceil(24 * np.log(horizon) / p + 1))
    tails = sum(
        binomial_below(t, p, int(np.ceil((1 - delta) * p * t))) for t in range(start, horizon + 1)
    )
    assert tails <= 2 / (p * delta**2) * horizon ** (-12 * delta**2)


def test_frequencies_and_intervals():
    optimism = np.zeros((1, 1, 2, 50, 3), dtype=np.int8)
    optimism[0, 0, 0, :5, 1:] = 1
    optimism[0, 0, 0, 5:9, 2] = 1
    optimism[0, 0, 1] = -1
    censoring = np.ones_like(optimism)
    found = event_frequencies(result(optimism, censoring))
    ucb = found.sel(problem="one", censorship="half", policy="ucb")
    assert ucb.frequency.sel(event="optimism").values.tolist() == [0.0, 0.1, 0.18]
    assert ucb.frequency.sel(event="censoring").values.tolist() == [1.0, 1.0, 1.0]
    assert ucb.replications.sel(event="optimism").values.tolist() == [50, 50, 50]
    undefined = found.sel(policy="random", event="optimism")
    for name in ("frequency", "lower", "upper"):
        assert np.isnan(undefined[name]).all()
    assert undefined.replications.values.tolist() == [[[0, 0, 0]]]
    assert (ucb.lower <= ucb.frequency).all()
    assert (ucb.frequency <= ucb.upper).all()
    assert found.checkpoint.values.tolist() == [1, 2, 3]


def test_intervals_by_their_definition():
    """At the lower end P(X >= k) = 2.5%, at the upper end P(X <= k) = 2.5%."""
    for hits, total in [(1, 20), (10, 20), (19, 20), (3, 1000)]:
        lower, upper = clopper_pearson(hits, total)
        assert special.bdtrc(hits - 1, total, lower) == pytest.approx(0.025)
        assert special.bdtr(hits, total, upper) == pytest.approx(0.025)
    lower, upper = clopper_pearson([0, 20], [20, 20])
    assert lower[0] == 0.0
    assert upper[1] == 1.0
    assert upper[0] == pytest.approx(1 - 0.025 ** (1 / 20))
    assert lower[1] == pytest.approx(0.025 ** (1 / 20))


@pytest.mark.parametrize(("seen", "rows"), [(0, 7), (1, 7), (3, 7), (7, 7), (450, 1000)])
def test_the_exact_interval_solves_the_two_tail_equations(seen, rows):
    low, high = (float(end) for end in clopper_pearson(seen, rows))

    def at_most(k, p):
        return float(
            sum(mpmath.binomial(rows, i) * p**i * (1 - p) ** (rows - i) for i in range(k + 1))
        )

    if seen > 0:
        assert at_most(seen - 1, mpmath.mpf(low)) == pytest.approx(0.975, abs=1e-9)
    else:
        assert low == 0.0
    if seen < rows:
        assert at_most(seen, mpmath.mpf(high)) == pytest.approx(0.025, abs=1e-9)
    else:
        assert high == 1.0


def test_exact_intervals_cover():
    for rows in (1, 4, 25):
        seen = np.arange(rows + 1)
        low, high = clopper_pearson(seen, rows)
        for p in np.linspace(0.01, 0.99, 45):
            chance = np.array([float(mpmath.binomial(rows, k)) for k in seen])
            chance = chance * p**seen * (1 - p) ** (rows - seen)
            assert chance[(low <= p) & (p <= high)].sum() >= 0.95 - 1e-9


@pytest.mark.parametrize("thing", [None, SimpleNamespace(), SimpleNamespace(data=xarray.Dataset())])
def test_something_else_is_refused(thing):
    with pytest.raises(InvalidInput, match="`result` must hold `optimism_failed`"):
        event_frequencies(thing)
