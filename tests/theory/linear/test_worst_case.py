"""The worst case of the continuous potential: golden values, other solvers, other plans."""

import math
import time

import numpy as np
import pytest
from scipy import optimize

from halfseen import (
    InvalidInput,
    Logistic,
    MultiThreshold,
    PerArm,
    Population,
    Uniform,
)
from halfseen.theory import (
    continuous_potential_bracket,
    region_actions,
    worst_case_dimension,
    worst_case_potential,
)
from halfseen.theory.linear.regions import reduced

UP = [0, 0, 1]


def degrees(angles, observe, direction=UP):
    return MultiThreshold([math.radians(angle) for angle in angles], observe, direction)


GOLDEN = [
    (degrees([70], [1, 0.5]), 1.0, 1e3, 27.8959076007),
    (degrees([70], [1, 0.5]), 1.0, 1e6, 69.2296399861),
    (degrees([40, 75], [0.55, 0.5, 0.45]), 1.0, 1e3, 32.1906016358),
    (degrees([40, 75], [1, 0.5, 0.45]), 2.0, 1e3, 27.4477859719),
    (degrees([30], [1, 0.5]), 0.5, 1e3, 34.8728309958),
    (MultiThreshold([], [0.6], [1, 0, 0, 0]), 1.0, 1e3, 33.4485322454),
]


@pytest.mark.parametrize(("censorship", "lam", "horizon", "value"), GOLDEN)
def test_golden_values(censorship, lam, horizon, value):
    worst = worst_case_potential(censorship, regularization=lam, horizon=horizon)
    assert worst.value == pytest.approx(value, rel=1e-11)
    assert worst.lower <= worst.value <= worst.upper
    assert worst.gap <= 1e-12 * value
    assert worst.residual < 1e-12
    assert sum(worst.durations.values()) == pytest.approx(horizon, rel=1e-12)
    rows = region_actions(censorship)
    few = worst_case_potential(censorship, regularization=lam, horizon=horizon, actions=rows)
    assert few.value == pytest.approx(value, rel=1e-10)
    assert few.gap <= 1e-9 * value


def test_golden_switch():
    worst = worst_case_potential(degrees([70], [1, 0.5]), horizon=1e3)
    assert worst.switch_times == pytest.approx([703.538863157], rel=1e-11)
    assert list(worst.durations) == [1, 0]


def random_model(rng, k=None):
    """Return a model, its dimension, a regularization and a horizon, at times extreme."""
    d = int(rng.integers(1, 13))
    k = int(rng.integers(1, 8)) if k is None else k
    angles = np.sort(rng.uniform(-0.4, 1.5707, k))
    if rng.random() < 0.2:
        angles = np.sort(np.arccos(10 ** rng.uniform(-7, -0.1, k)))
    observe = np.sort(10 ** rng.uniform(-2.5, 0, k + 1))[::-1]
    if rng.random() < 0.2:
        observe = np.sort(0.5 * (1 + 10 ** rng.uniform(-11, -1, k + 1)))[::-1]
    model = MultiThreshold(angles, observe, [1.0] + [0.0] * (d - 1))
    return model, d, float(10 ** rng.uniform(-3, 3)), float(10 ** rng.uniform(0, 9))


def potential_of(path, d, lam):
    """Return the integral of a'W^-1 a over pieces (p, q, time), in closed form."""
    x = y = lam
    total = 0.0
    for p, q, duration in path:
        up, out = p * q * duration, p * (1 - q) * duration / max(d - 1, 1)
        total += (math.log1p(up / y) + (d - 1) * math.log1p(out / x)) / p
        x, y = x + out, y + up
    return total


def greedy(regions, d, lam, horizon, score, steps=300):
    """Follow a greedy path in steps that grow with time; return its potential exactly."""
    edges = np.concatenate([[0.0], np.geomspace(horizon * 1e-6, horizon, steps)])
    x = y = lam
    path = []
    for duration in np.diff(edges):
        places = zip(regions.observe, regions.along, strict=True)
        p, q = max(places, key=lambda place: score(place[0], place[1] / y + (1 - place[1]) / x))
        path.append((p, q, duration))
        y, x = y + p * q * duration, x + p * (1 - q) * duration / (d - 1)
    return potential_of(path, d, lam)


def check_against_other_plans(seed):
    rng = np.random.default_rng(seed)
    model, d, lam, horizon = random_model(rng)
    worst = worst_case_potential(model, regularization=lam, horizon=horizon)
    low, high = model.observe_range
    bracket = continuous_potential_bracket(d, low, horizon, lam, observe_max=high)
    slack = 1 + 1e-9
    assert bracket.lower <= worst.upper * slack
    assert worst.value <= bracket.upper * slack
    assert worst.gap <= 1e-9 * worst.value
    if d == 1:
        return
    regions = reduced(model, d)
    last = float(regions.along[0])
    pure = potential_of([(regions.observe[0], max(last, 1 / d), horizon)], d, lam)
    paths = [
        pure,
        greedy(regions, d, lam, horizon, lambda p, width: width),
        greedy(regions, d, lam, horizon, lambda p, width: width / p),
    ]
    for _ in range(3):  # other angles, other orders
        p, q = np.array(model.observe), rng.uniform(0, 1, len(model.observe))
        bottoms = [max(angle, 0.0) for angle in (-1.0, *model.threshold_radians)]
        tops = [max(angle, 0.0) for angle in (*model.threshold_radians, math.pi / 2)]
        q = [
            math.sin(b + share * (t - b)) ** 2 for b, t, share in zip(bottoms, tops, q, strict=True)
        ]
        shares = rng.dirichlet(np.ones(len(p))) * horizon
        order = rng.permutation(len(p))
        paths.append(potential_of([(p[i], q[i], shares[i]) for i in order], d, lam))
    assert max(paths) <= worst.upper * slack


@pytest.mark.parametrize("block", range(5))
def test_no_other_plan_does_better(block):
    for seed in range(20 * block, 20 * block + 20):
        check_against_other_plans(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5, 25))
def test_no_other_plan_does_better_on_more_models(block):
    for seed in range(20 * block, 20 * block + 20):
        check_against_other_plans(seed)


def by_general_solver(model, d, lam, horizon):
    """Maximise over durations AND angles in every region, played in turn, with SLSQP."""
    p = np.array(model.observe[::-1])
    bottoms = np.array([-math.pi / 2, *model.threshold_radians])[::-1]
    tops = np.array([*model.threshold_radians, math.pi / 2])[::-1]
    lows, highs = (np.sin(np.maximum(angles, 0.0)) ** 2 for angles in (bottoms, tops))
    count = len(p)
    scale = d / p[0] * math.log1p(p[0] * horizon / (d * lam))

    def value(z):
        shares = np.abs(z[:count]) / np.abs(z[:count]).sum()
        pieces = zip(p, z[count:], shares * horizon, strict=True)
        return -potential_of(list(pieces), d, lam) / scale

    best = 0.0
    for start in (0.5, 0.05):
        z = np.concatenate([np.full(count, 1 / count), lows + start * (highs - lows)])
        found = optimize.minimize(
            value,
            z,
            method="SLSQP",
            bounds=[(1e-9, 1)] * count + list(zip(lows, highs, strict=True)),
            options={"maxiter": 300, "ftol": 1e-12},
        )
        best = max(best, -found.fun * scale)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_a_general_solver_that_may_choose_angles_agrees(seed):
    """In particular no region wants to be played above its lowest angle."""
    rng = np.random.default_rng(1000 + seed)
    d, k = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    angles = np.sort(rng.uniform(0.2, 1.4, k))
    observe = np.sort(rng.uniform(0.05, 1.0, k + 1))[::-1]
    model = MultiThreshold(angles, observe, [1.0] + [0.0] * (d - 1))
    lam, horizon = float(10 ** rng.uniform(-1, 1)), float(10 ** rng.uniform(0.5, 4))
    worst = worst_case_potential(model, regularization=lam, horizon=horizon)
    other = by_general_solver(model, d, lam, horizon)
    assert other <= worst.value * (1 + 1e-9)
    assert other == pytest.approx(worst.value, rel=1e-3)


def test_any_order_of_small_steps_by_dynamic_programming():
    """Over a grid of designs, the best of all sequences of regions comes near J*, from below."""
    model, d, lam, horizon, steps = degrees([65], [1.0, 0.4]), 3, 1.0, 60.0, 120
    regions, duration = reduced(model, d), horizon / steps

    def state(first):
        x, y = lam, lam
        for p, q, c, count in zip(*regions[2:5], first, strict=True):
            x, y = x + p * c / (d - 1) * count * duration, y + p * q * count * duration
        return x, y

    best = {(0, 0): 0.0}
    for _ in range(steps):
        ahead = {}
        for (i, j), value in best.items():
            x, y = state((i, j))
            for place, after in enumerate(((i + 1, j), (i, j + 1))):
                p, q, c = (float(entry[place]) for entry in regions[2:5])
                gain = math.log1p(p * q * duration / y)
                gain += (d - 1) * math.log1p(p * c * duration / (d - 1) / x)
                ahead[after] = max(ahead.get(after, 0.0), value + gain / p)
        best = ahead
    worst = worst_case_potential(model, horizon=horizon)
    assert max(best.values()) <= worst.value
    assert max(best.values()) == pytest.approx(worst.value, rel=1e-3)


@pytest.mark.parametrize(
    ("d", "angle", "p0", "p1"), [(3, 70, 1.0, 0.5), (5, 45, 0.9, 0.2), (2, 80, 0.6, 0.5)]
)
def test_single_threshold_for_long_horizons(d, angle, p0, p1):
    """J* = J_pure + Delta + o(1); theory of the single threshold."""
    q, c = math.sin(math.radians(angle)) ** 2, math.cos(math.radians(angle)) ** 2
    assert d * q > 1
    r = p0 / p1
    beta = (d * r - d + 1) / (d * (r - c))
    delta = d * math.log(beta) + (d - 1) / r * math.log1p(r / c * (1 - beta) / beta)
    model = degrees([angle], [p0, p1], [1.0] + [0.0] * (d - 1))
    errors = []
    for horizon in (1e4, 1e6, 1e8):
        worst = worst_case_potential(model, horizon=horizon)
        pure = potential_of([(p1, q, horizon)], d, 1.0)
        errors.append(abs(worst.value - pure - delta / p1))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-4
    assert worst.switch_times[0] / horizon == pytest.approx(beta, rel=1e-6)


def test_growth_tends_to_the_dimension():
    model = degrees([40, 75], [1, 0.5, 0.2])
    values = [worst_case_potential(model, horizon=t).value for t in (1e10, 1e12)]
    slope = (values[1] - values[0]) / math.log(100)
    assert slope == pytest.approx(worst_case_dimension(model), rel=1e-6)
    assert worst_case_dimension(model) == 15.0


def test_more_rounds_and_less_feedback_add_and_the_slope_is_the_derivative():
    model = degrees([40, 75], [1, 0.5, 0.2])
    thinner = degrees([40, 75], [1, 0.4, 0.2])
    for horizon in (1e-3, 1.0, 1e3, 1e6):
        worst = worst_case_potential(model, horizon=horizon)
        further = worst_case_potential(model, horizon=horizon * (1 + 1e-4))
        slope = (further.value - worst.value) / (1e-4 * horizon)
        assert worst.slope == pytest.approx(slope, rel=2e-4)
        assert worst_case_potential(thinner, horizon=horizon).value > worst.value


def test_tiny_and_huge_horizons():
    model = degrees([40, 75], [1, 0.5, 0.2])
    assert worst_case_potential(model, horizon=0).value == 0.0
    for horizon in (1e-9, 1e-3, 1e12):
        worst = worst_case_potential(model, horizon=horizon)
        assert worst.gap <= 1e-9 * worst.value
    assert worst_case_potential(model, horizon=1e-9).value == pytest.approx(1e-9, rel=1e-6)
    for lam in (1e-12, 1e12):
        scaled = worst_case_potential(model, regularization=lam, horizon=1e3 * lam)
        plain = worst_case_potential(model, horizon=1e3)
        assert scaled.value == pytest.approx(plain.value, rel=1e-12)


def test_eight_regions_are_fast():
    rng = np.random.default_rng(5)
    spent = []
    for _ in range(20):
        model, _, lam, horizon = random_model(rng, k=7)
        start = time.perf_counter()
        worst_case_potential(model, regularization=lam, horizon=horizon)
        spent.append(time.perf_counter() - start)
    assert np.median(spent) < 0.05


def test_other_models():
    even = 3 / 0.4 * math.log1p(0.4 * 100 / 3)
    assert worst_case_potential(Uniform(0.4), 3, horizon=100).value == pytest.approx(even)
    people = Population([0.5, 1.2, math.pi / 2], weights=[5, 3, 2])
    same = people.censorship([0, 1, 0])
    assert (
        worst_case_potential(people, 3, horizon=1e4).value
        == worst_case_potential(same, horizon=1e4).value
    )
    smooth = Logistic([0, 0, 1], slope=-3.0, offset=0.5)
    coarse = worst_case_potential(smooth, horizon=1e4)
    fine = worst_case_potential(smooth, horizon=1e4, regions=40)
    assert coarse.lower < fine.lower < fine.value < fine.upper < coarse.upper
    assert fine.gap < 0.06 * fine.value
    assert worst_case_dimension(smooth) == 3 / smooth.observe_range[0]
    assert worst_case_dimension(Uniform(0.4), 3) == pytest.approx(7.5)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: worst_case_potential(Uniform(0.5), horizon=10), "dimension"),
        (lambda: worst_case_potential(degrees([70], [1, 0.5]), 4, horizon=10), "dimension"),
        (lambda: worst_case_potential(PerArm([0.5]), horizon=10), "censorship"),
        (
            lambda: worst_case_potential(Uniform(0.5), 3, regularization=0.0, horizon=10),
            "regularization",
        ),
        (
            lambda: worst_case_potential(Uniform(0.5), 3, regularization=1e-300, horizon=10),
            "regularization",
        ),
        (lambda: worst_case_potential(Uniform(0.5), 3, horizon=-1), "horizon"),
        (lambda: worst_case_potential(Uniform(0.5), 3, horizon=math.inf), "horizon"),
        (lambda: worst_case_dimension(Uniform(0.5)), "dimension"),
    ],
)
def test_bad_values_are_named(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field


def test_lead_over_the_pure_circle_golden():
    """One threshold: J* - J_pure converges to the bracket, 70 degrees, (1, .5), d = 3."""
    model, q = degrees([70], [1.0, 0.5]), math.sin(math.radians(70)) ** 2
    for horizon, lead in ((1e3, 2.0737263808), (1e6, 2.0998021240), (1e9, 2.0998284244)):
        pure = 2 * (2 * math.log1p(0.25 * (1 - q) * horizon) + math.log1p(0.5 * q * horizon))
        worst = worst_case_potential(model, horizon=horizon)
        assert worst.value - pure == pytest.approx(lead, abs=1e-9)
    r, c = 2.0, 1 - q
    beta = (3 * r - 2) / (3 * (r - c))
    limit = 2 * (3 * math.log(beta) + 2 / r * math.log(1 + r / c * (1 - beta) / beta))
    assert limit == pytest.approx(2.0998284507, abs=1e-9)
