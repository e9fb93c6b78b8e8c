"""Potentials of linear bandits: golden values, high precision, and paths that try to break them."""

import math

import mpmath
import numpy as np
import pytest

from halfseen.errors import InvalidInput
from halfseen.theory.linear.potential import (
    censoring_factor,
    continuous_potential_bracket,
    elliptical_potential,
    expected_potential_bound,
    expected_slope,
    papers_censoring_factor,
    potential_control_factor,
)

ALPHAS = [0.25, 0.5, 0.999999, 1.0, 1.000001, 1.5, 2.0, 4.0]


def inverse_power(matrix, alpha):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * values**-alpha) @ vectors.T


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(("d", "horizon", "lam"), [(1, 10, 1.0), (3, 1e4, 0.1), (7, 123, 5.0)])
def test_elliptical_potential_in_high_precision(alpha, d, horizon, lam):
    with mpmath.workdps(50):
        t, lam_, a = mpmath.mpf(horizon), mpmath.mpf(lam), mpmath.mpf(alpha)
        if alpha == 1.0:
            area = d * mpmath.log(1 + t / (d * lam_))
        else:
            area = (mpmath.mpf(d) ** a * (d * lam_ + t) ** (1 - a) - d * lam_ ** (1 - a)) / (1 - a)
        exact = float((1 + 1 / lam_) ** a * area)
    assert elliptical_potential(d, horizon, alpha, lam) == pytest.approx(exact, rel=1e-13)


def test_elliptical_potential_above_one_is_below_the_printed_limit():
    for alpha in (1.5, 2.0, 4.0):
        limit = (1 + 1 / 0.5) ** alpha * 3 * 0.5 ** (1 - alpha) / (alpha - 1)
        for horizon in (1, 100, 1e6):
            assert elliptical_potential(3, horizon, alpha, 0.5) <= limit * (1 + 1e-14)
        assert elliptical_potential(3, 1e12, alpha, 0.5) == pytest.approx(limit, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.2, 1.5, 1.8, 2.0, 3.0])
@pytest.mark.parametrize("lam", [0.1, 1.0])
def test_no_path_exceeds_the_elliptical_potential(alpha, lam):
    """The greedy path, which plays the longest direction, and random paths."""
    rng = np.random.default_rng(1)
    for d in (1, 3):
        for greedy in (True, False):
            design, spent = lam * np.eye(d), 0.0
            for t in range(1, 201):
                power = inverse_power(design, alpha)
                if greedy:
                    action = np.linalg.eigh(power)[1][:, -1]
                else:
                    action = rng.normal(size=d)
                    action /= max(1.0, np.linalg.norm(action))
                spent += action @ power @ action
                design += np.outer(action, action)
                if t in (1, 2, 5, 20, 200):
                    assert spent <= elliptical_potential(d, t, alpha, lam) * (1 + 1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.1, 1.5, 1.9, 2.0, 2.5, 5.0])
def test_one_step_loses_at_most_the_factor(alpha):
    r"""a'W^-alpha a <= (1 + 1/lambda)^alpha a'(W + aa')^-alpha a, on random matrices.

    With 1 + a'W^-1 a in place of 1 + 1/lambda it is true as well, except for alpha in ]1, 2[.
    """
    rng = np.random.default_rng(5)
    broken = False
    for _ in range(2000):
        lam = 10 ** rng.uniform(-2, 1)
        values = lam * (1.0 + 10 ** rng.uniform(-3, 3, size=3))
        values[0] = lam
        action = rng.normal(size=3) * 10 ** rng.uniform(-3, 0, size=3)
        action /= max(1.0, np.linalg.norm(action))
        before = (action**2 * values**-alpha).sum()
        after = action @ inverse_power(np.diag(values) + np.outer(action, action), alpha) @ action
        assert before <= (1 + 1 / lam) ** alpha * after * (1 + 1e-9)
        width = (action**2 / values).sum()
        broken |= bool(before > (1 + width) ** alpha * after * (1 + 1e-6))
    assert broken == (1.0 < alpha < 2.0)


def test_control_factor():
    assert potential_control_factor(1.0) == pytest.approx(1 / math.log(2), rel=1e-15)
    for lam in (1e-300, 1e-12, 0.3, 1.0, 7.0, 1e6, 1e15):
        with mpmath.workdps(340):
            exact = float(1 / (mpmath.mpf(lam) * mpmath.log(1 + 1 / mpmath.mpf(lam))))
        assert potential_control_factor(lam) == pytest.approx(exact, rel=1e-14)
        assert 1.0 <= potential_control_factor(lam) <= 1.0 + 1.0 / lam


def test_bracket_holds_the_known_largest_values():
    """Values of J* for multi-threshold models, computed with 40 digits."""
    for d, lam, observe, horizon, largest in [
        (3, 1.0, (1.0, 0.5), 1e3, 27.8959076007),
        (3, 1.0, (1.0, 0.5), 1e6, 69.2296399861),
        (3, 1.0, (0.55, 0.45), 1e3, 32.1906016358),
        (3, 2.0, (1.0, 0.45), 1e3, 27.4477859719),
        (3, 0.5, (1.0, 0.5), 1e3, 34.8728309958),
    ]:
        lower, upper = continuous_potential_bracket(
            d, observe[1], horizon, lam, observe_max=observe[0]
        )
        assert lower <= largest <= upper * (1 + 1e-11)
    lower, upper = continuous_potential_bracket(4, 0.6, 1e3, 1.0, observe_max=0.6)
    assert lower == upper == pytest.approx(33.4485322454, abs=1e-9)


def test_bound_is_factor_times_bracket_and_falls_as_feedback_rises():
    values = [expected_potential_bound(3, p, 1000, 0.5) for p in (0.1, 0.3, 0.9, 1.0)]
    assert values == sorted(values, reverse=True)
    upper = continuous_potential_bracket(3, 0.1, 1000, 0.5).upper
    assert values[0] == potential_control_factor(0.5) * upper
    assert values[-1] <= elliptical_potential(3, 1000, 1.0, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("lam", [0.2, 1.0])
@pytest.mark.parametrize("rule", ["widest", "least seen", "random"])
def test_measured_potential_stays_below(lam, rule):
    """d = 3, actions along u seen with 0.2, others with 0.9; 40 runs of 400 rounds."""
    rng = np.random.default_rng(4)
    horizon, runs = 400, 40
    actions = np.concatenate([np.eye(3), rng.normal(size=(12, 3))])
    actions /= np.linalg.norm(actions, axis=1, keepdims=True)
    observe = np.where(actions[:, 2] > 0.5, 0.2, 0.9)
    spent = np.zeros(runs)
    for run in range(runs):
        inverse = np.eye(3) / lam
        for _ in range(horizon):
            widths = np.einsum("ki,ij,kj->k", actions, inverse, actions)
            score = {"widest": widths, "least seen": widths / observe}.get(rule)
            k = rng.integers(len(actions)) if score is None else int(np.argmax(score))
            spent[run] += widths[k]
            if rng.random() < observe[k]:
                v = inverse @ actions[k]
                inverse -= np.outer(v, v) / (1.0 + widths[k])
    error = spent.std(ddof=1) / math.sqrt(runs)
    assert spent.mean() + 4 * error < expected_potential_bound(3, 0.2, horizon, lam)


@pytest.mark.parametrize("d", [1, 2, 50])
@pytest.mark.parametrize("delta", [1.0, 0.999999, 0.1, 1e-12])
@pytest.mark.parametrize("lam", [0.01, 1.0, 1e4, 1e9])
def test_censoring_factor_in_high_precision(d, delta, lam):
    found = censoring_factor(d, lam, delta)
    with mpmath.workdps(60):
        wanted = mpmath.log(mpmath.mpf(d) / mpmath.mpf(delta)) / mpmath.mpf(lam)
        if wanted == 0:
            exact = 1.0
        else:
            theta = mpmath.re(1 + wanted + mpmath.lambertw(-mpmath.exp(-1 - wanted)))
            exact = float(theta / (1 - mpmath.exp(-theta)))
    assert found == pytest.approx(exact, rel=1e-11)
    assert 1.0 <= found < papers_censoring_factor(d, lam, delta)


def test_papers_censoring_factor():
    assert papers_censoring_factor(3, 1.0, 0.3) == pytest.approx(8 * math.log(10))
    assert papers_censoring_factor(3, 100.0, 0.3) == 8.0


def test_the_event_is_as_rare_as_promised():
    """How often W^C >= W/c fails within 300 rounds, for delta = 1/2."""
    rng = np.random.default_rng(9)
    d, lam, delta, runs = 2, 1.0, 0.5, 400
    factor = censoring_factor(d, lam, delta)
    failed = 0
    for _ in range(runs):
        actions = rng.normal(size=(300, d))
        actions /= np.linalg.norm(actions, axis=1, keepdims=True)
        outer = np.einsum("ti,tj->tij", actions, actions)
        seen = np.cumsum(outer * (rng.random(300) < 0.3)[:, None, None], axis=0)
        gap = factor * (lam * np.eye(d) + seen) - (lam * np.eye(d) + 0.3 * np.cumsum(outer, axis=0))
        failed += bool((np.linalg.eigvalsh(gap)[:, 0] < 0).any())
    assert failed / runs <= delta


def test_slopes():
    assert expected_slope("sphere", 0.5, dimension=4) == 5.0
    assert expected_slope("fixed", 0.2) == 5.0
    assert expected_slope("fixed", 0.2, ties=4) == 20.0
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(500, 3))
    observe = rng.uniform(0.1, 1.0, size=500)
    played, seen = rows.T @ rows / 500, (rows.T * observe) @ rows / 500
    by_hand = np.trace(np.linalg.inv(seen) @ played)
    assert expected_slope(rows, observe) == pytest.approx(by_hand, rel=1e-12)
    assert expected_slope(played, seen) == pytest.approx(by_hand, rel=1e-12)
    assert expected_slope(rows, np.full(500, 0.25)) == pytest.approx(12.0)


def test_contexts_follow_their_law():
    """i.i.d. actions of the sphere, seen more in one half: V_1 grows by the slope per log T."""
    rng = np.random.default_rng(3)
    d, horizon, runs = 3, 20_000, 8
    stops, values = (1000, horizon), np.zeros((runs, 2))
    sample = rng.normal(size=(200_000, d))
    sample /= np.linalg.norm(sample, axis=1, keepdims=True)
    law = expected_slope(sample, np.where(sample[:, 0] > 0, 0.2, 0.8))
    for run in range(runs):
        actions = rng.normal(size=(horizon, d))
        actions /= np.linalg.norm(actions, axis=1, keepdims=True)
        chance = np.where(actions[:, 0] > 0, 0.2, 0.8)
        seen = rng.random(horizon) < chance
        outer = np.einsum("ti,tj->tij", actions, actions) * seen[:, None, None]
        before = np.eye(d) + np.cumsum(outer, axis=0) - outer
        widths = np.einsum("ti,ti->t", actions, np.linalg.solve(before, actions[..., None])[..., 0])
        values[run] = np.cumsum(widths)[[stop - 1 for stop in stops]]
    slope = np.diff(values, axis=1).mean() / math.log(stops[1] / stops[0])
    assert slope == pytest.approx(law, rel=0.02)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda: elliptical_potential(0, 10, 1.0, 1.0), "dimension"),
        (lambda: elliptical_potential(2, -1, 1.0, 1.0), "horizon"),
        (lambda: elliptical_potential(2, 10, 0.0, 1.0), "alpha"),
        (lambda: elliptical_potential(2, 10, 1.0, 0.0), "regularization"),
        (lambda: potential_control_factor(-1.0), "regularization"),
        (lambda: continuous_potential_bracket(2, 0.0, 10, 1.0), "observe_min"),
        (lambda: continuous_potential_bracket(2, 0.5, 10, 1.0, observe_max=1.5), "observe_max"),
        (lambda: continuous_potential_bracket(2, 0.5, 10, 1.0, observe_max=0.4), "observe_max"),
        (lambda: expected_potential_bound(2, math.nan, 10, 1.0), "observe_min"),
        (lambda: censoring_factor(2, 1.0, 0.0), "delta"),
        (lambda: papers_censoring_factor(2, 1.0, 1.1), "delta"),
        (lambda: expected_slope("ball", 0.5), "actions"),
        (lambda: expected_slope("sphere", 0.5), "dimension"),
        (lambda: expected_slope("sphere", 0.0, dimension=2), "observe"),
        (lambda: expected_slope("fixed", 0.5, ties=0), "ties"),
        (lambda: expected_slope([[1.0, 0.0]], [0.5]), "actions"),
        (lambda: expected_slope([[1.0, math.nan]], [0.5]), "actions"),
        (lambda: expected_slope([1.0], [0.5]), "actions"),
        (lambda: expected_slope(np.eye(2), [0.5]), "observe"),
        (lambda: expected_slope(np.eye(2), np.eye(3)), "observe"),
    ],
)
def test_bad_values_are_named(call, field):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.field == field
