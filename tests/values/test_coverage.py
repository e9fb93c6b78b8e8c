"""Coverage of 95% intervals in many logs."""

import numpy as np
import pytest
from scipy.special import ndtr

from halfseen import value
from halfseen.values.gamma_value import gamma_bounds, in_cells
from halfseen.values.influence import Sample, Weighting, influence, normal_interval

ROWS, LOGS = 1000, 500
BOUND = 3.0 * np.sqrt(0.05 * 0.95 / LOGS)  # three errors of a coverage of 95%
ESTIMATORS = ("DM", "IPW", "SNIPW", "DR", "SNDR")


def logistic_fit(x, y, steps=8):
    """Return the coefficients of a logistic regression, by Newton's method."""
    beta = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ beta))
        beta += np.linalg.solve((x.T * (p * (1 - p))) @ x + 1e-6 * np.eye(len(beta)), x.T @ (y - p))
    return beta


def covered(rng, p_right, q_right):
    """Return whether each estimator's interval holds the truth in one log.

    First of the value of arm 1, .5, then of its difference from arm 0, .2. Rewards and being seen
    depend on a normal feature; a wrong model leaves it out.
    """
    x, arm = rng.normal(size=ROWS), rng.integers(0, 2, ROWS)
    reward = 0.5 + 0.5 * x + 0.5 * rng.normal(size=ROWS) + 0.2 * (arm - 1)
    seen = rng.random(ROWS) < 1 / (1 + np.exp(-0.5 - x))
    one = np.ones(ROWS)
    by_p, by_q = (np.column_stack([one, x] if right else [one]) for right in (p_right, q_right))
    p, fitted, expected = np.empty(ROWS), np.empty(ROWS), np.empty((2, ROWS))
    for fold in (np.arange(ROWS) % 2 == 0, np.arange(ROWS) % 2 == 1):
        beta = logistic_fit(by_p[~fold], seen[~fold].astype(float))
        p[fold] = np.maximum(1 / (1 + np.exp(-by_p[fold] @ beta)), 0.01)
        for k in (0, 1):
            rows = ~fold & seen & (arm == k)
            fit = np.linalg.lstsq(by_q[rows], reward[rows], rcond=None)[0]
            mine = fold & (arm == k)
            fitted[mine] = by_q[mine] @ fit
            expected[k, fold] = by_q[fold] @ fit
    rows = Sample(one, seen, np.where(seen, reward, 0.0), 0 * one)
    always = [Weighting(2.0 * (arm == k) / p, fitted, expected[k]) for k in (0, 1)]
    held = []
    for name in ESTIMATORS:
        other, found = (influence(name, rows, policy) for policy in always)
        for values, truth in ((found, 0.5), (found - other, 0.2)):
            low, high = normal_interval(values.estimate(rows), values.error(rows), 0.95)
            held.append(low <= truth <= high)
    return np.reshape(held, (-1, 2))


def coverage(p_right, q_right):
    rng = np.random.default_rng([p_right, q_right])
    shares = np.mean([covered(rng, p_right, q_right) for _ in range(LOGS)], axis=0)
    return [dict(zip(ESTIMATORS, of.tolist(), strict=True)) for of in shares.T]


@pytest.mark.slow
@pytest.mark.parametrize(("p_right", "q_right"), [(1, 1), (1, 0), (0, 1)])
def test_doubly_robust_intervals_cover_if_either_model_is_right(p_right, q_right):
    found, apart = coverage(p_right, q_right)
    for name in ("DR", "SNDR"):
        assert found[name] >= 0.95 - BOUND
        assert apart[name] >= 0.95 - BOUND
    if p_right:
        assert apart["IPW"] >= 0.95 - BOUND
        assert apart["SNIPW"] >= 0.95 - BOUND
        assert found["IPW"] >= 0.95 - BOUND
        assert found["SNIPW"] >= 0.95 - BOUND
    else:
        assert found["SNIPW"] < 0.6
    assert found["DM"] < 0.7  # its spread says nothing about the regression


@pytest.mark.slow
def test_no_interval_covers_if_both_models_are_wrong():
    found, _ = coverage(0, 0)
    assert max(found.values()) < 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("gamma", "least", "most"), [(1, 0, 0.02), (2, 0, 0.5), (3, 0.94, 1)])
def test_gamma_intervals_cover_from_the_true_gamma_on(gamma, least, most):
    rng = np.random.default_rng(gamma)
    held = []
    for _ in range(300):
        reward = (rng.random(2000) < 0.5).astype(float)
        odds = np.where(reward > 0, 1.5, 0.5)  # of being seen: an odds ratio of 3
        seen = rng.random(2000) < odds / (1 + odds)
        rows = Sample(np.ones(2000), seen, reward * seen, np.zeros(2000))
        bounds = gamma_bounds(in_cells(rows, np.zeros(2000, dtype=int)), np.ones(2000), gamma)
        low, high = bounds.interval(0.95)
        held.append(low <= 0.5 <= high)
    assert least <= np.mean(held) <= most


def drawn_log(rng, rows=600):
    """Return a log of two contexts and two arms, rewards of 0 and 1, seen at rates of cells."""
    x = rng.integers(0, 2, rows)
    chance = np.where(x == 0, 0.7, 0.3)
    arm = (rng.random(rows) < chance).astype(int)
    mean = np.array([[0.3, 0.6], [0.7, 0.4]])[x, arm]
    seen = rng.random(rows) < np.array([[0.9, 0.3], [0.4, 0.7]])[x, arm]
    reward = (rng.random(rows) < mean).astype(float)
    return {
        "x": np.array(["u", "v"])[x],
        "arm": arm,
        "paid": np.where(seen, reward, np.nan),
        "chance": np.where(arm == 1, chance, 1 - chance),
    }


@pytest.mark.slow
@pytest.mark.parametrize("propensity", ["chance", None])
def test_values_and_differences_cover_in_whole_evaluations(propensity):
    rng = np.random.default_rng(11)
    target = {"u": {"1": 0.9, "0": 0.1}, "v": {"1": 0.1, "0": 0.9}}
    truth = 0.5 * (0.9 * 0.6 + 0.1 * 0.3) + 0.5 * (0.1 * 0.4 + 0.9 * 0.7)
    logging = 0.5 * (0.7 * 0.6 + 0.3 * 0.3) + 0.5 * (0.3 * 0.4 + 0.7 * 0.7)
    columns = {"action": "arm", "reward": "paid", "context": "x", "propensity": propensity}
    held = []
    for _ in range(200):
        found = value(drawn_log(rng), target=target, **columns)
        apart = found.difference
        held.append((found.low <= truth <= found.high, apart.low <= truth - logging <= apart.high))
    assert np.mean(held, axis=0) == pytest.approx([0.95, 0.95], abs=3 * np.sqrt(0.0475 / 200))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "interval"),
    [(name, "normal") for name in ESTIMATORS[1:]] + [("IPW", "bootstrap"), ("DR", "bootstrap")],
)
def test_intervals_of_300_decisions_cover_with_known_probabilities_of_being_seen(
    estimator, interval
):
    rng = np.random.default_rng(4)
    options = {"observe": {"0": 0.8, "1": 0.4}, "estimator": estimator, "interval": interval}
    held, certain = [], []
    for _ in range(300):
        arm = rng.integers(0, 2, 300)
        paid = (rng.random(300) < np.where(arm == 1, 0.6, 0.4)).astype(float)
        seen = rng.random(300) < np.where(arm == 1, 0.4, 0.8)
        rows = {"arm": arm, "paid": np.where(seen, paid, np.nan), "chance": np.full(300, 0.5)}
        columns = {"action": "arm", "reward": "paid", "propensity": "chance", "compare": {"0": 1}}
        found = value(rows, target={"1": 1}, resamples=200, **columns, **options)
        apart = found.difference
        held.append((found.low <= 0.6 <= found.high, apart.low <= 0.2 <= apart.high))
        certain.append(found.certain <= 0.6)
    assert np.mean(held, axis=0).min() >= 0.95 - 3 * np.sqrt(0.0475 / 300)
    assert np.mean(certain) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("gamma", "least", "most"), [(1, 0, 0.05), (3, 0.94, 1)])
def test_bounds_cover_where_propensities_look_at_more_than_the_arm(gamma, least, most):
    rng = np.random.default_rng(7)
    held = []
    for _ in range(200):
        good = rng.random(3000) < 0.5  # decides rewards and propensities, and is not in the log
        chance = np.where(good, 0.3, 0.7)
        b = rng.random(3000) < chance
        paid = (rng.random(3000) < np.where(good, 0.6, 0.4)).astype(float)
        odds = np.where(paid > 0, 1.5, 0.5)  # of being seen: an odds ratio of 3
        seen = rng.random(3000) < np.where(b, odds / (1 + odds), 0.5)
        rows = {
            "arm": np.where(b, "b", "a"),
            "paid": np.where(seen, paid, np.nan),
            "chance": np.where(b, chance, 1 - chance),
        }
        columns = {"action": "arm", "reward": "paid", "propensity": "chance", "compare": {"a": 1}}
        found = value(rows, target={"b": 1}, **columns)
        low, high = found.bounds(gamma).interval(0.95)
        first, last = found.bounds(gamma, difference=True).interval(0.95)
        held.append((low <= 0.5 <= high, first <= 0.0 <= last))
    assert np.all((np.mean(held, axis=0) >= least) & (np.mean(held, axis=0) <= most))


def thompson_logs(rng, logs, floor, rounds=1000):
    """Return arms, rewards (NaN if missing) and propensities of Thompson samplers on equal arms."""
    count, total = np.zeros((logs, 2)), np.zeros((logs, 2))
    arms, paid, chances = (np.empty((rounds, logs)) for _ in range(3))
    for t in range(rounds):
        weight = 1.0 / (count + 0.25)  # prior N(0, 1), noise 1/2
        mean, variance = total * weight, 0.25 * weight
        chance = ndtr((mean[:, 1] - mean[:, 0]) / np.sqrt(variance.sum(axis=1)))
        chance = floor + (1.0 - 2.0 * floor) * chance
        arm = (rng.random(logs) < chance).astype(int)
        reward = 0.5 + 0.5 * rng.normal(size=logs)
        seen = rng.random(logs) < 0.7
        rows = np.arange(logs)
        count[rows, arm] += seen
        total[rows, arm] += seen * reward
        arms[t], chances[t] = arm, np.where(arm == 1, chance, 1.0 - chance)
        paid[t] = np.where(seen, reward, np.nan)
    return arms.astype(int), paid, chances


@pytest.mark.slow
def test_logs_of_thompson_samplers_with_a_floor_cover():
    rng = np.random.default_rng(8)
    arms, paid, chances = thompson_logs(rng, 200, 0.05)
    held = []
    for k in range(200):
        rows = {"arm": arms[:, k], "paid": paid[:, k], "chance": chances[:, k]}
        columns = {"action": "arm", "reward": "paid", "propensity": "chance"}
        found = value(rows, target={"1": 1}, compare={"0": 1}, **columns)
        apart = found.difference
        held.append((found.low <= 0.5 <= found.high, apart.low <= 0.0 <= apart.high))
    assert np.mean(held, axis=0).min() >= 0.95 - 3 * np.sqrt(0.0475 / 200)
