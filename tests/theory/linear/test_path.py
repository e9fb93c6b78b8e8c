"""The information path against golden values, D-optimal designs and a greedy policy."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfseen.censorship import Logistic, MultiThreshold, PerArm, Population, Uniform, staircase
from halfseen.errors import InvalidInput
from halfseen.theory.linear.optimal_design import optimal_design_dimension
from halfseen.theory.linear.path import information_path
from theory.random_thresholds import CLEAR, model, random_models

EXACT = 1e-9


def path(degrees, observe, d=3, regularization=1.0):
    return information_path(model(np.radians(degrees), observe, d), regularization=regularization)


def squared_sines(squares, observe, d=3):
    return information_path(model([math.asin(math.sqrt(q)) for q in squares], observe, d))


def test_bi_region():
    found = path([70], [1, 0.5])
    assert (found.regime, found.regions) == ("bi-region", (1, 0))
    assert found.effective_dimension == pytest.approx(4.30540728933, rel=EXACT)
    assert found.reachability[0].r_star == pytest.approx(5.69908811361, rel=EXACT)
    assert found.switch_times == pytest.approx([3.48954704674], rel=EXACT)
    assert found.designs[0] == pytest.approx((1.10204986532, 2.54067379272), rel=EXACT)
    assert found.steady_offset == pytest.approx(4.13247433143, rel=EXACT)
    assert found.potential([1e3, 1e6]) == pytest.approx([23.2675403892, 52.9905027886], rel=EXACT)


def test_a_region_is_left_behind():
    found = path([40, 75], [0.55, 0.5, 0.45])
    assert (found.regime, found.regions) == ("bi-region", (2, 1, 0))
    assert found.effective_dimension == pytest.approx(5.96744112301, rel=EXACT)
    assert found.switch_times == pytest.approx([0.540071978361, 4.09609282068], rel=EXACT)
    assert found.designs[1] == pytest.approx((1.52982971425, 1.96138338291), rel=EXACT)
    assert found.steady_offset == pytest.approx(5.89618326467, rel=EXACT)
    assert found.potential(1e3) == pytest.approx(30.6177192886, rel=EXACT)
    assert found.shares[2] == 0.0
    assert sum(found.shares) == pytest.approx(1.0)


def test_single_region_in_the_end():
    found = path([40, 75], [1, 0.5, 0.45], regularization=2.0)
    assert (found.regime, found.regions) == ("single region", (2, 1))
    assert found.effective_dimension == 6.0
    assert found.switch_times == pytest.approx([1.08014395672], rel=EXACT)
    assert found.potential(1e3) == pytest.approx(26.5771238482, rel=EXACT)
    assert found.steady_offset is None
    assert found.shares == (0.0, 1.0, 0.0)


def test_fractions():
    found = path([60], [1, 0.75])
    assert found.effective_dimension == pytest.approx(7 / 2, rel=1e-14)
    assert found.switch_times == pytest.approx([32 / 27], rel=1e-14)
    assert found.designs[0] == pytest.approx((10 / 9, 5 / 3), rel=1e-14)
    assert found.steady_offset == pytest.approx(31 / 9, rel=1e-14)


def test_uniform():
    found = information_path(Uniform(0.6), 4)
    assert found.effective_dimension == pytest.approx(20 / 3, rel=1e-15)
    assert found.potential(1e3) == pytest.approx(33.4485322454, rel=EXACT)
    assert found.regions == (0,)
    assert found.observe == (0.6,)


def test_isotropic():
    found = path([30], [1, 0.5], regularization=0.5)
    assert (found.regime, found.regions, found.effective_dimension) == ("single region", (1,), 6.0)
    assert found.potential(1e3) == pytest.approx(34.8728309958, rel=EXACT)
    x, y = found.design(50.0)
    assert x == y == pytest.approx(found.steady_offset * 0.5 / 3 + 50 * 0.5 / 3, rel=1e-15)


def test_at_r_star():
    found = path([60], [1, 0.375])
    assert (found.regime, found.regions, found.effective_dimension) == ("single region", (1,), 8.0)
    assert not found.reachability[0].reachable


def test_at_r_dagger():
    found = squared_sines([0.5, 0.9], [1, 0.6, 0.44])
    assert (found.regime, found.regions) == ("single region", (2, 1))
    assert found.effective_dimension == pytest.approx(5.0, rel=1e-15)
    assert [row.dual_reachable for row in found.reachability] == [True, True, False]


@pytest.mark.parametrize("step", [1e-13, 3e-12, 1e-10, 1e-7])
@pytest.mark.parametrize(
    ("squares", "observe"), [([0.75], [1, 0.375]), ([0.5, 0.9], [1, 0.6, 0.44])]
)
def test_continuous_at_the_thresholds(step, squares, observe):
    times = np.array([0.0, 1.0, 10.0, 1e3, 1e6])
    at = squared_sines(squares, observe)
    for sign in (-1, 1):
        near = squared_sines(squares, [*observe[:-1], observe[-1] * (1 + sign * step)])
        assert near.effective_dimension == pytest.approx(at.effective_dimension, rel=10 * step)
        assert near.potential(times) == pytest.approx(at.potential(times), rel=20 * step)
        assert near.design(1e4) == pytest.approx(at.design(1e4), rel=20 * step)


def test_equality_as_typed_is_seen_as_equality():
    for degrees in range(56, 89):
        c = math.cos(math.radians(degrees)) ** 2
        ratio = 2 / (3 * c)
        for wobble in (-1e-15, 0.0, 1e-15):
            found = path([degrees], [1, 1 / ratio * (1 + wobble)])
            assert found.regions == (1,), degrees


def test_two_regions_met_at_once():
    """Of the policies that gain equally per observation, the limit from below is taken."""
    slope = (0.9 / 0.45) / (1.0 - 0.1 / 0.45)  # of the line through (c/p, q/p) of regions 0 and 2
    middle = 0.5 / slope + 0.5
    at = squared_sines([0.5, 0.9], [1.0, middle, 0.45])
    outer = squared_sines([0.9], [1.0, 0.45])
    assert at.effective_dimension == pytest.approx(outer.effective_dimension, rel=1e-13)
    assert at.regions == (2, 1)
    below = squared_sines([0.5, 0.9], [1.0, middle * (1 - 1e-10), 0.45])
    assert below.potential(1e4) == pytest.approx(at.potential(1e4), rel=1e-8)
    assert below.design(1e4) == pytest.approx(at.design(1e4), rel=1e-8)
    above = squared_sines([0.5, 0.9], [1.0, middle * (1 + 1e-10), 0.45])
    assert above.effective_dimension == pytest.approx(at.effective_dimension, rel=1e-9)
    assert above.potential(1e4) == pytest.approx(outer.potential(1e4), rel=1e-12)
    assert above.potential(1e4) < at.potential(1e4) * 0.999  # as fast, but later


def test_equal_probabilities_are_merged_into_the_lowest():
    whole = path([40, 75], [0.9, 0.5, 0.5])
    parts = path([40], [0.9, 0.5])
    assert whole.numbers == (0, 1)
    assert whole.regions == parts.regions
    assert whole.potential(1e3) == parts.potential(1e3)
    assert whole.shares == (*parts.shares, 0.0)
    assert path([40, 75], [0.1 + 0.1 + 0.1, 0.3, 0.3]).numbers == (0,)


def test_regions_below_the_equator_are_left_out():
    whole = path([-50, -20, 70], [1, 0.9, 0.8, 0.4])
    assert whole.numbers == (2, 3)
    assert whole.angles_radians[0] == 0.0
    assert whole.regions == (3, 2)
    assert whole.potential(1e3) == path([70], [0.8, 0.4]).potential(1e3)
    assert path([0, 70], [1, 0.8, 0.4]).numbers == (1, 2)


def test_one_coordinate():
    found = information_path(MultiThreshold([0.5], [1, 0.25], [2.0]), regularization=3.0)
    assert (found.regions, found.effective_dimension) == ((1,), 4.0)
    assert found.potential(10.0) == pytest.approx(4 * math.log1p(2.5 / 3), rel=1e-15)


def greedy(models, regularization, horizon, step):
    """Follow argmax (1/p) a'W^-1 a over every end of every region, all models at once."""
    d = np.array([len(m.direction) for m in models], dtype=float)
    q, p = np.zeros((len(models), 24)), np.full((len(models), 24), 1e9)
    for k, m in enumerate(models):
        ends = [-1.0, *np.sin(m.threshold_radians), 1.0]
        spots = [
            (s**2, observe)
            for low, high, observe in zip(ends, ends[1:], m.observe, strict=False)
            for s in {low, high, min(max(low, 0.0), high)}
        ]
        q[k, : len(spots)], p[k, : len(spots)] = np.transpose(spots)
    c = np.where(d[:, None] > 1, 1.0 - q, 0.0)
    x = np.full(len(models), regularization)
    y, t, gathered = x.copy(), np.zeros(len(models)), np.zeros(len(models))
    rows = np.arange(len(models))
    others = np.maximum(d - 1, 1)
    while (t < horizon).any():
        best = np.argmax((c / x[:, None] + q / y[:, None]) / p, axis=1)
        across, along, seen = c[rows, best], q[rows, best], p[rows, best]
        leverage = across / x + along / y
        time_spent = np.minimum(step / (leverage * seen), horizon - t)
        observed = time_spent * seen
        gain_x, gain_y = observed * across / others / x, observed * along / y
        gathered += ((d - 1) * np.log1p(gain_x) + np.log1p(gain_y)) / seen
        x, y, t = x * (1 + gain_x), y * (1 + gain_y), t + time_spent
    return gathered, x, y


@pytest.mark.slow
def test_agrees_with_the_greedy_policy():
    models = random_models(500, kinds=CLEAR)
    gathered, x, y = greedy(models, 0.7, 500.0, step=0.004)
    for m, j, across, along in zip(models, gathered, x, y, strict=True):
        found = information_path(m, regularization=0.7)
        assert found.potential(500.0) == pytest.approx(j, rel=2e-3)
        if len(m.direction) > 1:
            assert found.design(500.0) == pytest.approx((across, along), rel=2e-2)


def test_agrees_with_the_optimal_design():
    for m in random_models(1000):
        design = optimal_design_dimension(m)
        assert design.gap < 1e-12
        assert information_path(m).effective_dimension == pytest.approx(design.dimension, rel=1e-10)


@given(st.integers(0, 10_000), st.floats(1e-3, 1e3))
def test_scaling(seed, factor):
    m = random_models(1 + seed % 6, seed)[-1]
    times = np.array([0.3, 7.0, 1e3])
    plain = information_path(m)
    stretched = information_path(m, regularization=factor)
    assert stretched.potential(times * factor) == pytest.approx(plain.potential(times), rel=1e-12)
    assert stretched.regions == plain.regions
    halved = information_path(model(m.threshold_radians, np.array(m.observe) / 2, len(m.direction)))
    assert halved.effective_dimension == pytest.approx(2 * plain.effective_dimension, rel=1e-12)
    assert halved.potential(times) == pytest.approx(2 * plain.potential(times / 2), rel=1e-9)


@given(st.integers(0, 10_000))
def test_the_potential_rises_smoothly_to_its_slope(seed):
    found = information_path(random_models(1 + seed % 6, seed)[-1])
    assert found.potential(0.0) == 0.0
    assert found.design(0.0) == (1.0, 1.0)
    for t, (x, y) in zip(found.switch_times, found.designs, strict=True):
        assert found.design(t) == pytest.approx((x, y), rel=1e-12)
        assert found.potential(t * (1 - 1e-13)) == pytest.approx(found.potential(t), rel=1e-9)
    low, high = found.potential(1e40), found.potential(1e50)
    assert (high - low) / math.log(1e10) == pytest.approx(found.effective_dimension, rel=1e-6)
    d, p = found.dimension, found.observe
    assert d / p[0] * (1 - 1e-9) <= found.effective_dimension <= d / p[-1] * (1 + 1e-9)


def test_steady_design_is_proportional():
    found = path([70], [1, 0.5])
    first, second = found.design(10.0), found.design(1e5)
    scale = (1e5 + found.steady_offset) / (10.0 + found.steady_offset)
    assert second == pytest.approx((first[0] * scale, first[1] * scale), rel=1e-12)
    shares = np.array(found.shares)
    q, p = np.sin(found.angles_radians) ** 2, np.array(found.observe)
    growth = (second[1] - first[1]) / (1e5 - 10.0)
    assert growth == pytest.approx((shares * p * q).sum(), rel=1e-12)


def test_population():
    people = Population([math.radians(70), math.pi / 2], weights=[1, 1])
    found = information_path(people, 3)
    assert found.effective_dimension == pytest.approx(4.30540728933, rel=EXACT)


def test_smooth_censorship_by_steps():
    smooth = Logistic([0, 0, 3.0], slope=2.0, offset=1.0)
    steps, error = staircase(smooth, 8)
    found = information_path(smooth)
    assert found.error == error > 0.0
    assert found.effective_dimension == information_path(steps).effective_dimension
    finer = information_path(smooth, regions=400)
    assert finer.error < error / 40
    assert information_path(steps).error == 0.0


def test_phases_say_why():
    found = path([40, 75], [0.55, 0.5, 0.45])
    first, second, last = found.phases
    assert (first.start, first.regions, first.x, first.y) == (0.0, (2,), 1.0, 1.0)
    assert first.end == second.start == found.switch_times[0]
    assert last.regions == (1, 0)
    assert last.end == math.inf
    assert "least observed (p = 0.45)" in first.reason
    assert "p_1/p_2 = 1.111 is below r* = 5.988" in second.reason
    assert "Region 1 takes 95.0% of the time, region 0 5.0%." in last.reason
    assert "not below 1.136" in path([40, 75], [1, 0.5, 0.45]).phases[-1].reason
    assert "keep all directions" in path([30], [1, 0.5]).phases[0].reason
    assert [found.region_at(t) for t in (0.0, 2.0, 50.0)] == [(2,), (1,), (1, 0)]
    table = found.table()
    assert len(table) == 3
    assert str(table).splitlines()[-1].count("1 and 0") == 1


def test_every_path_can_be_explained():
    for m in random_models(60):
        found = information_path(m)
        assert len(found.phases) == len(found.regions) == len(found.switch_times) + 1
        kept = len(found.numbers) if found.dimension > 1 else 0
        assert len(found.reachability) == kept * (kept - 1) // 2
        assert all(phase.reason.endswith(".") for phase in found.phases)


def test_far_apart_probabilities():
    found = information_path(
        MultiThreshold([1.5707963], [1.0, 1e-300], [0, 1]), None, regularization=1e-3
    )
    assert math.isfinite(found.effective_dimension)
    assert found.potential(1e300) > 0.0


def test_speed():
    m = model(np.linspace(0.1, 1.5, 7), np.linspace(1.0, 0.6, 8), 5)
    start = time.perf_counter()
    for _ in range(1000):
        information_path(m)
    assert time.perf_counter() - start < 1.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"censorship": Uniform(0.5)}, "has no direction"),
        ({"censorship": PerArm([0.5])}, "must be a model along a direction"),
        ({"dimension": 4}, "must be 3"),
        ({"dimension": 0}, "at least 1"),
        ({"regularization": 0.0}, "regularization"),
        ({"censorship": Logistic([0, 1], slope=-1.0), "regions": 0}, "regions"),
    ],
)
def test_what_is_refused(change, words):
    given_ = {"censorship": model([0.5], [1, 0.5], 3)} | change
    with pytest.raises(InvalidInput, match=words):
        information_path(**given_)


@pytest.mark.parametrize("time", [-1.0, math.nan, math.inf, "soon"])
def test_times_that_are_refused(time):
    found = path([70], [1, 0.5])
    for method in (found.potential, found.design, found.region_at):
        with pytest.raises(InvalidInput, match="at least 0"):
            method(time)


def test_a_path_as_plain_values_and_as_text_says_what_it_holds():
    found = path([40, 75], [1, 0.5, 0.45], regularization=2.0)
    plain = found.to_dict()
    assert plain["angles_radians"] == pytest.approx([0.0, math.radians(40.0), math.radians(75.0)])
    assert plain["worst_case_dimension"] == pytest.approx(3 / 0.45) == found.worst_case_dimension
    assert plain["ratio"] == found.effective_dimension / found.worst_case_dimension
    assert [phase["end"] for phase in plain["phases"]] == [*found.switch_times, None]
    text = str(found)
    assert "regions 0, 1, 2 at 0°, 40°, 75° from the equator" in text
    assert str(found.reachability_table()) in text
    assert all(phase.reason.split(".")[0][:40] in text for phase in found.phases)


def test_a_smooth_path_tells_the_smallest_probability_of_the_model():
    smooth = Logistic([0.0, 0.0, 2.0], 0.5)
    found = information_path(smooth)
    assert found.smallest_observe == smooth.observe_range[0] < found.observe[-1]
    assert f"off by at most {found.error:.4g}" in str(found)
