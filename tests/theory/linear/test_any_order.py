"""Probabilities in any order along the direction: path, dimension and worst case."""

import itertools
import math

import numpy as np
import pytest

from halfseen import MultiThreshold
from halfseen.theory import (
    information_path,
    optimal_design_dimension,
    region_actions,
    worst_case_dimension,
    worst_case_potential,
)
from halfseen.theory.linear.worst_case_finite import worst_case_of
from theory.random_thresholds import rings

CUT_1, CUT_2 = (math.degrees(math.asin(math.sqrt(q))) for q in (1 / 20, 1 / 5))
MODELS = {
    "A": (3, 1.0, [30, 70], [1, 0.3, 0.6]),
    "B": (3, 1.0, [-50, -15, 15, 50], [1, 0.4, 0.25, 0.4, 1]),
    "C": (4, 1.0, [-65, -20, 35, 50, 80], [0.2, 0.7, 0.9, 0.5, 0.8, 0.3]),
    "D": (5, 2.0, [-60, -18, -8, 8, 18, 60], [0.5, 0.9, 0.33, 0.3, 0.33, 0.9, 0.5]),
    "F": (3, 1.0, [-CUT_2, -CUT_1, CUT_1, CUT_2], [0.45, 0.31, 0.3, 0.31, 0.45]),
}
# edge, regime, effective dimension, first switch, design there, offset, J and J* at 1e3 and 1e6
GOLDEN = {
    "A": (
        "isotropic single region 10 - - - 10 46.151205168413 115.1293546492 46.151205168413"
        " 115.1293546492"
    ),
    "B": (
        "upper bi-region 10.5963251613386 15.848414954848 2.8483465572165 1.2654106242791"
        " 9.6943587297047 48.278697627034 121.37339157446 51.536996761939 134.20101758268"
    ),
    "C": (
        "lower bi-region 15.2499710942323 91.765582726603 2.0926601051426 16.075136229893"
        " 6.0749965926919 60.502547265595 165.75334498693 67.416300739944 204.42121325057"
    ),
    "D": (
        "upper bi-region 15.5112469673157 21.618324730142 - - 30.877351746334 - -"
        " 56.000813244553 170.36970815917"
    ),
    "F": (
        "upper bi-region 9.494949494949495 1.8103643358226 - - 9.2194263773004 44.265615726116"
        " 109.76735383514 45.52101727364 114.46668583162"
    ),
}


def model(name):
    d, lam, degrees, observe = MODELS[name]
    angles = [math.radians(angle) for angle in degrees]
    return MultiThreshold(angles, observe, [0.0] * (d - 1) + [1.0]), lam


def random_model(rng):
    d, cuts = int(rng.integers(1, 8)), int(rng.integers(1, 7))
    angles = np.sort(rng.uniform(-1.55, 1.55, cuts))
    observe = rng.choice([0.1, 0.2, 0.3, 0.5, 0.8, 1.0], cuts + 1) * rng.choice([1.0, 0.9])
    if rng.uniform() < 0.3:  # the same on both sides of the equator
        angles = np.unique(np.abs(angles))
        angles = np.concatenate([-angles[::-1], angles])
        half = rng.uniform(0.1, 1.0, len(angles) // 2 + 1)
        observe = np.concatenate([half[:0:-1], half])
    return MultiThreshold(angles, observe, [0.0] * (d - 1) + [1.0])


@pytest.mark.parametrize("name", MODELS)
def test_path_and_worst_case_of_any_order_golden(name):
    found, lam = model(name)
    edge, *rest = GOLDEN[name].split()
    regime, rest = ("single region", rest[2:]) if rest[0] == "single" else (rest[0], rest[1:])
    path = information_path(found, regularization=lam)
    assert (path.edge, path.regime) == (edge, regime)
    switch, x, y = (path.switch_times[0], *path.designs[0]) if path.designs else (0.0, 0.0, 0.0)
    best = [worst_case_potential(found, regularization=lam, horizon=t).value for t in (1e3, 1e6)]
    paths = path.potential(np.array([1e3, 1e6])).tolist()
    numbers = [path.effective_dimension, switch, x, y, path.steady_offset, *paths, *best]
    for value, printed in zip(numbers, rest, strict=True):
        if printed != "-":
            assert value == pytest.approx(float(printed), rel=3e-13)


def test_kept_ends_and_plan_of_any_order_golden():
    lower = information_path(model("C")[0])
    kept = np.sin(lower.angles_radians) ** 2
    assert kept == pytest.approx([0, 0.116977778441, 0.328989928337, 0.821393804843], abs=1e-12)
    assert lower.observe == (0.9, 0.7, 0.5, 0.2)
    assert lower.regions == (0, 3)
    plan = worst_case_potential(model("B")[0], horizon=1000).durations
    assert list(plan) == [2, 3, 4]
    expected = [751.229858776, 231.850783214, 16.9193580104]
    assert list(plan.values()) == pytest.approx(expected, rel=1e-7)
    switches = information_path(model("F")[0]).switch_times
    assert switches == pytest.approx([1.8103643358226, 20.564607377235], rel=1e-12)
    assert information_path(model("F")[0]).effective_dimension == pytest.approx(940 / 99)


@pytest.mark.parametrize("name", MODELS)
def test_path_of_any_order_follows_the_largest_gain(name):
    """Play the best of all ends of all regions per observation, in many short steps."""
    found, lam = model(name)
    d = len(found.direction)
    spots = ends(found)
    x = y = lam
    time = potential = 0.0
    marks, information = [], 0.003 * lam
    for _ in range(4000):
        worth = [((1 - q) / x + q / y, p, q) for p, q in spots]
        _, p, q = max(worth, key=lambda spot: spot[0] / spot[1])
        information *= 1.003
        across, along = x + information * (1 - q) / (d - 1), y + information * q
        potential += ((d - 1) * math.log(across / x) + math.log(along / y)) / p
        x, y, time = across, along, time + information / p
        marks.append((time, potential))
    path = information_path(found, regularization=lam)
    for time, potential in marks[1000::500]:
        assert path.potential(time) == pytest.approx(potential, rel=0.01)


def ends(found):
    """Return p and q at both ends of every region, and at 1/d where a region contains it."""
    d = len(found.direction)
    edges = [-1.0, *np.sin(found.threshold_radians), 1.0]
    middle = math.sqrt(1 / d)
    spots = []
    for low, high, p in zip(edges, edges[1:], found.observe, strict=False):
        inner = [s for s in (-middle, 0.0, middle) if low < s < high]
        spots += [(p, s * s) for s in (low, high, *inner)]
    return spots


def test_any_order_against_the_hull_of_all_ends():
    """The D-optimal design over all ends knows nothing of records, folds or lower ends."""
    rng = np.random.default_rng(11)
    kinds = set()
    for _ in range(400):
        found = random_model(rng)
        path = information_path(found)
        kinds.add((path.edge, path.regime))
        design = optimal_design_dimension(found)
        assert path.effective_dimension == pytest.approx(design.dimension, rel=1e-9)
        assert design.gap < 1e-9
        assert sum(path.shares) == pytest.approx(1.0)
        assert [phase.reason for phase in path.phases]
        many = len(path.numbers) if path.dimension > 1 else 0
        assert len(path.reachability) == many * (many - 1) // 2
        assert worst_case_dimension(found) == len(found.direction) / min(found.observe)
    assert len(kinds) >= 5


def test_worst_case_of_any_order_against_all_ends_as_actions():
    """The general program over actions at both ends of all regions finds the same J*."""
    rng = np.random.default_rng(12)
    for _ in range(25):
        found = random_model(rng)
        d = len(found.direction)
        if not 2 <= d <= 4:
            continue
        spots = ends(found)
        rows = np.concatenate([rings([math.asin(math.sqrt(q))], d) for _, q in spots])
        observe = np.repeat([p for p, _ in spots], 2 * (d - 1))
        horizon = float(10 ** rng.uniform(0, 5))
        other = worst_case_of(rows, observe, 1.0, horizon)
        worst = worst_case_potential(found, horizon=horizon)
        assert worst.value == pytest.approx(other.value, rel=1e-8)


def test_region_actions_of_any_order_reach_the_worst_case():
    rng = np.random.default_rng(13)
    for _ in range(40):
        found = random_model(rng)
        actions = region_actions(found)
        worst = worst_case_potential(found, horizon=500.0)
        reached = worst_case_potential(found, horizon=500.0, actions=actions)
        assert reached.value == pytest.approx(worst.value, rel=1e-8)


def test_two_bands_of_equal_probability_explore_evenly_together():
    found = MultiThreshold([-0.2, 0.2, 1.1], [0.9, 0.3, 0.9, 0.3], [0, 0, 1])
    path = information_path(found)
    assert (path.edge, path.regions, path.effective_dimension) == ("isotropic", (1, 3), 10.0)
    share = path.shares[1]
    low, high = math.sin(0.2) ** 2, math.sin(1.1) ** 2
    assert share * low + path.shares[3] * high == pytest.approx(1 / 3)
    worst = worst_case_potential(found, horizon=1000)
    assert worst.value == pytest.approx(10 * math.log1p(0.1 * 1000))
    assert worst.durations == pytest.approx({1: 1000 * share, 3: 1000 * (1 - share)})
    assert "Together with region 1" in path.phases[0].reason


def test_one_coordinate_plays_the_largest_square_per_probability():
    found = MultiThreshold([0.5], [0.05, 1.0], [1.0])  # the opposite of what is seen often
    assert information_path(found).effective_dimension == 20.0
    inside = MultiThreshold([-0.5, 0.5], [1.0, 0.05, 0.9], [1.0])
    path = information_path(inside)
    assert (path.edge, path.effective_dimension) == ("upper", 20.0)
    assert path.design(3.0)[1] == pytest.approx(1 + 3 * 0.05 * math.sin(0.5) ** 2)
    weak = MultiThreshold([-0.2, 0.2], [1.0, 0.05, 0.9], [1.0])  # too short to be worth it
    assert information_path(weak).effective_dimension == pytest.approx(1 / 0.9)
    assert worst_case_dimension(weak) == 20.0
    grid = np.linspace(0.0, 1000.0, 100_001)
    q = math.sin(0.2) ** 2
    first = np.log1p(0.05 * q * grid)
    values = (20 - 1 / 0.9) * first + np.log1p(0.05 * q * grid + 0.9 * (1000 - grid)) / 0.9
    best = worst_case_potential(weak, horizon=1000.0)
    assert best.value == pytest.approx(values.max(), rel=1e-8)


def test_turning_the_direction_changes_nothing():
    rng = np.random.default_rng(14)
    for _ in range(30):
        found = random_model(rng)
        turned = MultiThreshold(
            [-angle for angle in found.threshold_radians[::-1]],
            found.observe[::-1],
            [-entry for entry in found.direction],
        )
        one, other = information_path(found), information_path(turned)
        assert one.effective_dimension == pytest.approx(other.effective_dimension, rel=1e-12)
        assert one.potential(100.0) == pytest.approx(other.potential(100.0), rel=1e-9)
        values = [worst_case_potential(m, horizon=100.0).value for m in (found, turned)]
        assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_the_printed_loop_is_wrong_for_other_orders():
    """Start at the last region and play lower ends, as printed: not the path's dimension."""
    printed = {"B": 8.65442193, "C": 8.41911213, "D": 15.09803922, "F": 6.66666667}
    for name, wrong in printed.items():
        found, _ = model(name)
        d = len(found.direction)
        edges = [max(math.sin(a), 0.0) ** 2 for a in (-1.0, *found.threshold_radians)]
        assert as_printed(edges, found.observe, d) == pytest.approx(wrong, rel=1e-8)
        assert abs(information_path(found).effective_dimension - wrong) > 0.1


def as_printed(along, observe, d):
    """Return the dimension of the paper's loop, from the squared sine of each lower end."""
    start, ratio = len(observe) - 1, None
    kept = [j for j in range(len(observe)) if j + 1 >= len(along) or along[j + 1] > 0.0]
    if d * along[start] <= 1:
        return d / observe[start]
    for _ in itertools.count():
        best = None
        for i in (j for j in kept if j < start):
            u, l = (1 - along[i]) / (1 - along[start]), along[i] / along[start]  # noqa: E741
            r = observe[i] / observe[start]
            lead = u - r
            if r >= ((d - 1) * u + l) / d or lead <= 0:
                continue
            meeting = (r * along[start] - along[i]) / (lead * (1 - along[start]))
            if best is None or meeting < best[0]:
                best = (meeting, i, u, l, r)
        if best is None:
            return d / observe[start]
        ratio, i, u, l, r = best  # noqa: E741
        if r > d * l * u / (u + (d - 1) * l):
            return ((d - 1) * (1 - l) / (r - l) + (u - 1) / (u - r)) / observe[start]
        start = i
    return ratio


def test_regions_thinner_than_rounding_count_where_they_are_rarest():
    thin = MultiThreshold([-1e-13, 1e-13], [0.9, 0.1, 0.5], [0, 0, 1])
    path = information_path(thin)
    assert path.effective_dimension == pytest.approx(optimal_design_dimension(thin).dimension)
    assert path.numbers[-1] == 1
    at_the_equator = MultiThreshold([1e-13, 1.2], [0.9, 0.5, 0.2], [0, 0, 1])
    assert information_path(at_the_equator).numbers == (1, 2)
    near_the_pole = MultiThreshold([0.5, 1.5707963267933258], [0.7, 0.1, 0.6], [1.0])
    actions = region_actions(near_the_pole).actions
    assert near_the_pole.probabilities(actions).tolist() == [0.1]
