"""Smooth models along a direction: values, tails, kernels and staircases."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import special

from halfseen.censorship.link_models import (
    LINKS,
    LinkModel,
    Logistic,
    observe_probability,
    projection_at,
)
from halfseen.censorship.multi_threshold import MultiThreshold
from halfseen.censorship.step_approximation import staircase
from halfseen.errors import InvalidInput

INVERSES = {
    "logit": special.expit,
    "probit": special.ndtr,
    "cloglog": lambda z: -np.expm1(-np.exp(z)),
}
GRID = np.linspace(-1.0, 1.0, 20_001)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("slope", "offset"), [(-2.0, 0.5), (3.0, 1.0), (0.0, -1.0), (-20, -5)])
def test_values(link, slope, offset):
    model = LinkModel([0.0, 2.0], slope, offset, link)
    along = np.linspace(-1, 1, 301)
    rows = np.stack([np.sqrt(1.0 - along**2), along], axis=1)
    np.testing.assert_allclose(
        model.probabilities(rows), INVERSES[link](offset + slope * along), rtol=1e-13
    )
    low, high = model.observe_range
    found = model.probabilities(rows)
    assert low == pytest.approx(found.min(), rel=1e-15)
    assert high == pytest.approx(found.max(), rel=1e-15)


@pytest.mark.parametrize("link", LINKS)
def test_kernel_compiled_gives_the_same_numbers(link):
    table, fast = LinkModel([1.0], -4.0, 1.0, link).table(), njit(observe_probability)
    for s in np.linspace(-1, 1, 201):
        assert fast(s, table) == observe_probability(s, table)


@pytest.mark.parametrize("link", LINKS)
def test_the_inverse(link):
    table = LinkModel([1.0], -1.5, 0.3, link).table()
    for s in np.linspace(-1, 1, 41):
        assert projection_at(observe_probability(s, table), table) == pytest.approx(s, abs=1e-13)


def test_logistic_is_the_logit_link():
    logistic, linked = Logistic([1, 1], -3.0, 0.5), LinkModel([1, 1], -3.0, 0.5)
    rows = np.random.default_rng(1).uniform(-0.7, 0.7, size=(50, 2))
    assert np.array_equal(logistic.probabilities(rows), linked.probabilities(rows))
    assert logistic.table().tolist() == linked.table().tolist()
    assert Logistic([0, 1], 0.0, 0.0).probabilities([[0.3, 0.4]]).tolist() == [0.5]


def test_far_tails_neither_overflow_nor_vanish_silently():
    for link in LINKS:
        assert LinkModel([1.0], 0.0, 800.0, link).observe_range == (1.0, 1.0)
    assert Logistic([1.0], 0.0, -600.0).observe_range[0] == pytest.approx(math.exp(-600.0))
    assert observe_probability(0.0, np.array([2.0, -700.0, 0.0])) > 0.0
    for link, offset in (("logit", -800.0), ("probit", -40.0), ("cloglog", -800.0)):
        with pytest.raises(InvalidInput, match=r"`LinkModel\.offset` must give every action"):
            LinkModel([1.0], 0.0, offset, link)
    with pytest.raises(InvalidInput, match=r"`Logistic\.offset` must give every action"):
        Logistic([1.0], 1e4)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (([0.0], 1.0), "direction"),
        (([1.0], math.nan), "slope"),
        (([1.0], 1.0, math.inf), "offset"),
        (([1.0], 1.0, 0.0, "Logit"), "link"),
    ],
)
def test_bad_models(arguments, field):
    with pytest.raises(InvalidInput, match=rf"^`LinkModel\.{field}`"):
        LinkModel(*arguments)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("slope", [-6.0, -0.3, 2.5])
@pytest.mark.parametrize("regions", [1, 2, 7, 64])
def test_a_staircase_is_off_by_what_it_says_and_no_more(link, slope, regions):
    model = LinkModel([0.6, 0.8], slope, 0.4, link)
    steps, error = staircase(model, regions=regions)
    assert isinstance(steps, MultiThreshold)
    assert len(steps.observe) == regions
    rows = GRID[:, None] * np.array([0.6, 0.8])
    off = np.abs(steps.probabilities(rows) - model.probabilities(rows))
    low, high = model.observe_range
    assert error == pytest.approx((high - low) / (2 * regions), rel=1e-12)
    assert off.max() <= error + 1e-12
    finest = np.abs(np.diff(model.probabilities(rows))).max()
    assert off.max() >= error - finest


def test_no_other_staircase_does_better():
    model = Logistic([1.0], -4.0, 0.3)
    _, error = staircase(model, regions=3)
    rng = np.random.default_rng(1)
    p = model.along(GRID)
    for _ in range(300):
        cuts = np.sort(rng.uniform(-1, 1, size=2))
        pieces = np.split(p, np.searchsorted(GRID, cuts))
        assert max(np.ptp(piece) / 2 for piece in pieces if piece.size) >= error - 1e-4


def test_flat_and_steep_models():
    flat, error = staircase(Logistic([0.0, 1.0], 0.0, 1.0), regions=5)
    assert (len(flat.observe), error) == (1, 0.0)
    steep, error = staircase(Logistic([1.0], -300.0, 0.0), regions=20)
    off = np.abs(steep.probabilities(GRID[:, None]) - Logistic([1.0], -300.0).along(GRID))
    assert off.max() <= error + 1e-12
    rising, _ = staircase(Logistic([0.0, 1.0], 2.0), regions=4)
    assert rising.direction == (0.0, -1.0)
    with pytest.raises(InvalidInput, match=r"`regions` must be few enough"):
        staircase(Logistic([1.0], -1e-13, 0.0), regions=5000)


@pytest.mark.parametrize("regions", [0, -1, 1.5, None])
def test_bad_staircases(regions):
    with pytest.raises(InvalidInput, match=r"^`regions`"):
        staircase(Logistic([1.0], 1.0), regions=regions)
    with pytest.raises(InvalidInput, match="Give a Logistic or a LinkModel"):
        staircase(MultiThreshold([], [0.5], [1.0]), regions=3)
