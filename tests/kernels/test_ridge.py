"""The running ridge state is the one a fresh inverse gives, also after a million observations."""

import math

import numpy as np
import pytest
from numba import njit

from halfseen.kernels import ridge

UPDATES = 1_000_000
D, K = 5, 8


def world(seed=1, d=D, k=K):
    rng = np.random.default_rng(seed)
    actions = rng.normal(size=(k, d))
    actions /= np.linalg.norm(actions, axis=1, keepdims=True)
    return rng, actions, 0.4 * rng.normal(size=d)


def driver(compile):
    """Return a loop that plays given actions, raw or compiled."""
    observe, estimate = compile(ridge.observe_action), compile(ridge.update_estimate)
    move, refresh = compile(ridge.update_actions), compile(ridge.refresh_actions)
    add, gather = compile(ridge.accumulate), compile(ridge.gather)
    refactor, upcoming = compile(ridge.refactor), compile(ridge.next_refactor)

    def run(columns, picks, rewards, regularization, scheduled, counted):
        d, k = columns.shape
        inverse = np.eye(d) / regularization
        theta, v, x = np.zeros(d), np.zeros(d), np.zeros(d)
        g, means, widths = np.zeros(k), np.zeros(k), np.zeros(k)
        counts, sums = np.zeros(k), np.zeros(k)
        design, design_rest = np.eye(d) * regularization, np.zeros((d, d))
        target, target_rest, factor = np.zeros(d), np.zeros(d), np.zeros((d, d))
        refresh(columns, inverse, theta, means, widths)
        logdet = d * math.log(regularization)
        due = upcoming(0, d)
        for t in range(picks.size):
            chosen = picks[t]
            for i in range(d):
                x[i] = columns[i, chosen]
            s = observe(inverse, x, v)
            logdet += math.log1p(s)
            step = estimate(theta, x, v, s, rewards[t])
            move(columns, v, s, step, g, means, widths)
            counts[chosen] += 1.0
            sums[chosen] += rewards[t]
            if not counted:
                add(design, design_rest, target, target_rest, x, rewards[t])
            if scheduled and t + 1 == due:
                due = upcoming(t + 1, d)
                if counted:
                    gather(columns, counts, sums, regularization, design, target)
                logdet = refactor(design, target, factor, inverse, theta)
                refresh(columns, inverse, theta, means, widths)
        return inverse, theta, logdet, means, widths, counts, sums

    return compile(run)


@pytest.fixture(scope="module")
def fast():
    return driver(njit)


def errors(actions, regularization, state):
    """Return the largest error of each part of the state against numpy's own inverse."""
    inverse, theta, logdet, means, widths, counts, sums = state
    design = regularization * np.eye(actions.shape[1]) + (actions.T * counts) @ actions
    fresh = np.linalg.inv(design)
    estimate = np.linalg.solve(design, actions.T @ sums)
    width = np.einsum("ki,ij,kj->k", actions, fresh, actions)
    return {
        "inverse": np.abs(inverse - fresh).max() / np.abs(fresh).max(),
        "theta": np.abs(theta - estimate).max(),
        "logdet": abs(logdet - np.linalg.slogdet(design)[1]),
        "means": np.abs(means - actions @ estimate).max(),
        "widths": np.abs(widths / width - 1.0).max(),
    }


def plays(rng, actions, theta, n, skewed):
    rare = np.full(len(actions), 1e-5)
    rare[0] = 1.0 - rare[1:].sum()
    chances = rare if skewed else np.full(len(actions), 1.0 / len(actions))
    picks = rng.choice(len(actions), size=n, p=chances)
    return picks, actions[picks] @ theta + rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.parametrize("scheduled", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_raw_and_compiled_agree_to_the_last_bit_and_with_numpy(fast, scheduled, counted):
    rng, actions, theta = world()
    picks, rewards = plays(rng, actions, theta, 300, skewed=False)
    columns = np.ascontiguousarray(actions.T)
    arguments = (columns, picks, rewards, 0.7, scheduled, counted)
    plain, quick = driver(lambda f: f)(*arguments), fast(*arguments)
    for one, other in zip(plain, quick, strict=True):
        assert np.array_equal(one, other)
    assert max(errors(actions, 0.7, plain).values()) < 1e-12
    assert np.array_equal(plain[0], plain[0].T)


DRIFT = [
    # lambda, skewed, bound without the schedule, bound with it
    (1.0, False, 1e-9, 1e-13),
    (1.0, True, 1e-7, 1e-9),
    (1e-3, False, 1e-6, 1e-13),
    (1e-3, True, 1e-4, 1e-9),
    (1e-6, False, 1e-2, 1e-13),
    (1e-6, True, 1.0, 1e-9),
]


@pytest.mark.slow
@pytest.mark.parametrize(("regularization", "skewed", "loose", "tight"), DRIFT)
def test_drift_over_a_million_updates(fast, regularization, skewed, loose, tight):
    rng, actions, theta = world()
    picks, rewards = plays(rng, actions, theta, UPDATES, skewed)
    columns = np.ascontiguousarray(actions.T)
    left_alone = errors(
        actions, regularization, fast(columns, picks, rewards, regularization, False, True)
    )
    assert max(left_alone.values()) < loose
    for counted in (True, False):
        state = fast(columns, picks, rewards, regularization, True, counted)
        found = errors(actions, regularization, state)
        assert max(found.values()) < tight, found
        assert np.array_equal(state[0], state[0].T)
        assert found["widths"] < left_alone["widths"]


def test_the_schedule_doubles_then_is_even():
    places = [0]
    while places[-1] < 2000:
        places.append(ridge.next_refactor(places[-1], 3))
    assert places[:10] == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert set(np.diff(places[9:]).tolist()) == {64 * 3}


def test_refactor_refuses_what_is_not_positive_definite():
    inverse, theta = np.full((2, 2), 7.0), np.full(2, 7.0)
    for design in ([[1.0, 2.0], [2.0, 1.0]], [[math.nan, 0.0], [0.0, 1.0]], np.zeros((2, 2))):
        arrays = np.array(design), np.ones(2), np.zeros((2, 2)), inverse, theta
        assert math.isnan(ridge.refactor(*arrays))
    assert (inverse == 7.0).all()
    assert (theta == 7.0).all()


@pytest.mark.parametrize("d", [1, 2, 7])
def test_refactor_and_gather_against_numpy(d):
    rng, actions, theta = world(seed=d, d=d, k=4)
    counts, sums = rng.integers(0, 50, size=4).astype(float), rng.normal(size=4)
    columns = np.ascontiguousarray(actions.T)
    design, target = np.empty((d, d)), np.empty(d)
    ridge.gather(columns, counts, sums, 0.3, design, target)
    fresh = 0.3 * np.eye(d) + (actions.T * counts) @ actions
    np.testing.assert_allclose(design, fresh, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(target, actions.T @ sums, rtol=1e-12, atol=1e-13)
    inverse, theta = np.empty((d, d)), np.empty(d)
    logdet = ridge.refactor(design, target, np.zeros((d, d)), inverse, theta)
    np.testing.assert_allclose(inverse, np.linalg.inv(fresh), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(theta, np.linalg.solve(fresh, target), rtol=1e-9, atol=1e-12)
    assert logdet == pytest.approx(np.linalg.slogdet(fresh)[1], abs=1e-12)


def test_compensated_sums_are_exact_where_plain_ones_drift(fast):
    x = np.array([0.1, 0.7])
    design, rest = np.eye(2), np.zeros((2, 2))
    target, target_rest = np.zeros(2), np.zeros(2)
    add = njit(ridge.accumulate)
    for _ in range(100_000):
        add(design, rest, target, target_rest, x, 0.3)
    exact = np.eye(2) + 100_000 * np.outer(x, x)
    np.testing.assert_allclose(design, exact, rtol=4e-16)
    np.testing.assert_allclose(target, 100_000 * 0.3 * x, rtol=4e-16)


def term_by_term(inverse, x):
    total = 0.0
    for i in range(x.size):
        g = 0.5 * inverse[i, i] * x[i]
        for j in range(i):
            g += inverse[i, j] * x[j]
        total += g * x[i]
    return 2.0 * total


@pytest.mark.parametrize(("d", "count"), [(1, 1), (3, 5), (10, 20), (17, 2)])
def test_products_and_widths_of_new_actions(d, count):
    rng = np.random.default_rng(d)
    rows, theta = rng.normal(size=(count, d)), rng.normal(size=d)
    design = np.eye(d) + rows.T @ rows
    inverse = np.linalg.inv(design)
    inverse = (inverse + inverse.T) / 2
    columns, out, g = np.ascontiguousarray(rows.T), np.full(count, 7.0), np.full((2, count), 7.0)
    ridge.project(columns, theta, out)
    np.testing.assert_allclose(out, rows @ theta, rtol=1e-12)
    first, second = np.full(count, 7.0), np.full(count, 7.0)
    ridge.project_both(columns, theta, -2.0 * theta, first, second)
    np.testing.assert_array_equal(first, out)
    np.testing.assert_array_equal(second, -2.0 * out)
    ridge.square_widths(columns, inverse, g, out)
    np.testing.assert_allclose(out, np.einsum("ki,ij,kj->k", rows, inverse, rows), rtol=1e-12)
    np.testing.assert_array_equal(out, [term_by_term(inverse, row) for row in rows])
    ridge.square_widths(columns, -inverse, g, out)  # rounding may leave a width below 0
    assert (out == 0.0).all()
