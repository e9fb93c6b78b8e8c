import numpy as np
import pytest
from scipy.optimize import minimize

from halfseen import PerAction
from halfseen.errors import InvalidInput
from halfseen.theory import asymptotic_lower_bound, lower_bounds
from halfseen.theory.lower import graves_lai as module
from halfseen.theory.lower.graves_lai import graves_lai
from theory.lower.instances import A3, LINEAR, linear, waves


def solved(actions, theta, observe, noise=1.0):
    """Return the allocation of a problem given by plain arrays."""
    rows = np.array(actions, dtype=float)
    means = rows @ np.array(theta, dtype=float)
    gaps, best = means.max() - means, int(means.argmax())
    return graves_lai(rows, gaps, np.array(observe, dtype=float), noise, best), gaps, best


@pytest.mark.parametrize("name", LINEAR)
def test_golden(name):
    actions, theta, observe, noise, constant, uncensored, ignoring, plays = LINEAR[name]
    found = asymptotic_lower_bound(*linear(actions, theta, observe, noise))
    assert found.constant == pytest.approx(constant, rel=5e-12)
    assert found.ignoring == pytest.approx(ignoring, rel=5e-12)
    if uncensored is not None:
        assert found.uncensored == pytest.approx(uncensored, rel=5e-12)
    for action, value in plays.items():
        assert found.allocation[action] == pytest.approx(value, rel=1e-9)
    assert found.certificate == pytest.approx(found.constant, rel=1e-12)


def test_agrees_with_a_general_optimiser():
    observe = np.array([0.5, 0.9, 0.8, 0.05, 0.02, 0.3])
    found, gaps, best = solved(A3, (1, 0.2, -0.1), observe, 0.5)
    rows = np.array(A3)
    others = np.arange(6) != best

    def slack(logs):  # the best action played 1e9 times stands for infinitely often
        plays = np.where(others, 0.0, 1e9)
        plays[others] = np.exp(logs)
        information = (rows * (plays * observe)[:, None]).T @ rows
        lengths = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(information), rows)
        return 1.0 - lengths[others] * 0.5 / gaps[others] ** 2

    start = np.full(5, np.log(1000.0))
    by_slsqp = minimize(
        lambda logs: np.exp(logs) @ gaps[others] / 100,
        start,
        constraints={"type": "ineq", "fun": slack},
        bounds=[(-12.0, 12.0)] * 5,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert by_slsqp.fun * 100 == pytest.approx(found.constant, rel=1e-4)


def test_plays_are_feasible_and_the_certificate_is_below():
    observe = 0.05 + 0.3 * (np.arange(12) % 4)
    rows = waves(12, 5)
    found, gaps, best = solved(rows, (0.5, -0.3, 0.2, 0.4, -0.1), observe)
    plays = np.where(np.isinf(found.plays), 1e9, found.plays)
    information = (rows * (plays * observe)[:, None]).T @ rows
    lengths = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(information), rows)
    worse = np.arange(12) != best
    assert np.all(lengths[worse] <= gaps[worse] ** 2 / 2 * (1 + 1e-4))
    assert found.certificate <= found.constant * (1 + 1e-14)
    assert found.plays[worse] @ gaps[worse] == pytest.approx(found.constant, rel=1e-12)


def test_falls_as_any_action_is_observed_more_often():
    observe = np.array([0.5, 0.9, 0.8, 0.05, 0.02, 0.3])
    before = solved(A3, (1, 0.2, -0.1), observe)[0].constant
    for action in range(1, 6):
        more = observe.copy()
        more[action] = 1.0
        assert solved(A3, (1, 0.2, -0.1), more)[0].constant <= before * (1 + 1e-12)


def test_noise_and_probability_scale_it():
    observe = np.array([0.5, 0.9, 0.8, 0.05, 0.02, 0.3])
    before = asymptotic_lower_bound(*linear(A3, (1, 0.2, -0.1), observe, 0.5))
    noisy = asymptotic_lower_bound(*linear(A3, (1, 0.2, -0.1), observe, 1.5))
    rarer = asymptotic_lower_bound(*linear(A3, (1, 0.2, -0.1), observe / 10, 0.5))
    for name in ("constant", "ignoring"):
        assert getattr(noisy, name) == pytest.approx(9 * getattr(before, name), rel=1e-9)
        assert getattr(rarer, name) == pytest.approx(10 * getattr(before, name), rel=1e-9)


def test_relabelling_and_rotating_change_nothing():
    rng = np.random.default_rng(5)
    order, turn = rng.permutation(6), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    observe = np.array([0.5, 0.9, 0.8, 0.05, 0.02, 0.3])
    theta = np.array([1, 0.2, -0.1])
    before = solved(A3, theta, observe)[0]
    turned = solved(np.array(A3)[order] @ turn, theta @ turn, observe[order])[0]
    assert turned.constant == pytest.approx(before.constant, rel=1e-10)
    finite = np.isfinite(turned.plays)
    assert turned.plays[finite] == pytest.approx(before.plays[order][finite], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("growth", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("rare", [1.0, 0.03, 0.001])
def test_optimism_example_in_closed_form(growth, rare):
    e, noise = 0.01, 0.7
    actions = [[1, 0], [0, 1], [1 - e, growth * e]]
    found = solved(actions, (1, 0), (1, rare, 0.8), noise)[0]
    cheaper = min(1 / rare, 1 / (0.8 * growth**2 * e))
    assert found.constant == pytest.approx(2 * noise**2 * growth**2 * cheaper, rel=1e-12)


def test_one_dimension_has_bounded_regret():
    found, _, _ = solved([[1.0], [0.5], [-0.3]], [1.0], [0.5, 0.5, 0.5])
    assert (found.constant, found.certificate) == (0.0, 0.0)


@pytest.mark.parametrize("size", [1e-150, 1e-6, 1e150])
def test_units_do_not_matter(size):
    observe = np.array([0.5, 0.9, 0.8, 0.05, 0.02, 0.3])
    before = solved(A3, (1, 0.2, -0.1), observe)[0].constant
    theta = np.array([1, 0.2, -0.1]) * size
    assert solved(A3, theta, observe, size)[0].constant == pytest.approx(before * size, rel=1e-9)


def random_problem(rng):
    """Return actions, theta and p with gaps and probabilities of any size."""
    dimension = int(rng.integers(2, 9))
    count = int(rng.integers(dimension + 1, 31))
    rows = rng.normal(size=(count, dimension))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1))[:, None]
    theta = rng.normal(size=dimension) * 10 ** rng.uniform(-3, 1)
    if rng.random() < 0.3:  # all actions nearly as good
        rows[:, 0], theta[0] = 1.0, 5.0
    return rows, theta, 10 ** rng.uniform(-3, 0, count)


def test_copies_of_actions_change_nothing():
    rng = np.random.default_rng(3)
    for _ in range(40):
        rows, theta, observe = random_problem(rng)
        means = rows @ theta
        worse = np.flatnonzero(means < means.max())
        copied = rng.choice(worse, size=min(3, len(worse)), replace=False)
        once = solved(rows, theta, observe)[0]
        again = np.vstack([rows, rows[copied]])
        found = solved(again, theta, [*observe, *observe[copied]])[0]
        assert found.constant == pytest.approx(once.constant, rel=1e-7)
        assert found.constant >= found.certificate >= found.constant * (1 - 1e-6)


def largest_gap(seed, count):
    rng = np.random.default_rng(seed)
    found = [solved(*random_problem(rng))[0] for _ in range(count)]
    return max(1.0 - f.certificate / f.constant for f in found)


def test_the_certificate_closes_on_random_problems():
    assert largest_gap(seed=2, count=15) <= 1e-8


@pytest.mark.slow
def test_the_certificate_closes_on_300_random_problems():
    assert largest_gap(seed=1, count=300) <= 1e-8


def test_a_gap_far_below_the_others_leaves_no_gap_between_the_bounds():
    gaps, observe = np.array([1e-8, 0.15, 0.01]), np.array([1.0, 0.5, 0.2, 0.7])
    rows = np.vstack([np.zeros(3), np.eye(3)])
    found = asymptotic_lower_bound(*linear(rows, -gaps, observe, 1.0))
    assert found.constant == pytest.approx((2.0 / (gaps * observe[1:])).sum(), rel=1e-12)
    assert found.constant - found.certificate <= 1e-11 * found.constant
    assert found.ignoring >= found.constant


def test_few_actions_at_a_time_give_the_constant_of_all_at_once(monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 4))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    problem = rows, (0.5, 0.5, 0.5, 0.5), 10 ** rng.uniform(-3, 0, 60)
    few = solved(*problem)[0]
    monkeypatch.setattr(module, "FEW", 60)
    every = solved(*problem)[0]
    assert few.constant == pytest.approx(every.constant, rel=1e-9)
    assert 0 <= few.constant - few.certificate <= 1e-8 * few.constant


def test_a_thousand_actions_have_a_constant_with_a_certificate():
    """All at once they took a minute."""
    rng = np.random.default_rng(6)
    rows = rng.normal(size=(1000, 3))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    found = solved(rows, (0.6, 0.0, 0.8), rng.uniform(0.01, 1, 1000))[0]
    assert abs(found.constant - found.certificate) <= 1e-8 * found.constant


def test_a_support_that_does_not_span_all_directions_is_not_polished():
    """It ended in numpy's error that a matrix is not positive definite."""
    rows = [[-0.5, -0.1, -0.6], [-0.4, -0.6, -1.0], [0.0, 0.5, 0.6]]
    found = solved(rows, (-0.4, 0.7, 0.5), [1e-6, 0.01, 1e-4])[0]
    assert abs(found.constant - found.certificate) <= 1e-8 * found.constant


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("count", "dimension"), [(3, 9), (4, 4), (8, 8)])
def test_probabilities_too_small_for_a_certificate_are_refused(count, dimension):
    """They ended in numpy's "not positive definite", or in constants far above the certificate."""
    rows, theta = waves(count, dimension), np.ones(dimension) / 3.1
    with pytest.raises(InvalidInput, match=r"`censorship` must have larger .* got .*from 1e-80"):
        asymptotic_lower_bound(*linear(rows, theta, 10.0 ** -np.linspace(0, 80, count), 1.0))
    world = linear(rows, theta, 10.0 ** -np.linspace(0, 40, count), 1.0)
    found = asymptotic_lower_bound(*world)
    assert found.certificate == pytest.approx(found.constant, rel=1e-5)
    world = world[0], PerAction(10.0 ** -np.linspace(0, 80, count))
    assert lower_bounds(*world, 1000, 50).sentences() == [
        "No least slope is known here: for a bound, the censorship must have larger probabilities."
    ]
