"""The estimate of generalized linear rewards against other libraries and by its own equations."""

import math

import numpy as np
import pytest

from halfseen import InvalidInput
from halfseen.engine.glm_fit import fit
from halfseen.engine.loops.live_glm import maximiser
from halfseen.engine.specialise import compiled
from halfseen.kernels.glm_newton import Likelihood, NewtonWork, maximise, unreachable
from halfseen.kernels.ridge import refactor
from halfseen.problems.links import LINKS


def rounds(name, seed, size=150, length=1.0):
    """Return observed actions and rewards of a random bandit."""
    rng = np.random.default_rng(seed)
    d = 1 + seed % 5
    actions = rng.normal(size=(size, d))
    actions /= np.linalg.norm(actions, axis=1, keepdims=True)
    theta = rng.normal(size=d)
    means = LINKS[name].means(actions @ (length * theta / np.linalg.norm(theta)))
    if name == "poisson":
        return actions, rng.poisson(means).astype(float)
    if name == "identity":
        return actions, rng.normal(means)
    return actions, (rng.random(size) < means).astype(float)


def scratch(size, d):
    vectors = (np.zeros(size), np.zeros(d), np.zeros(d))
    return NewtonWork(*vectors, np.zeros((d, d)), np.zeros((d, d)))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LINKS))
def test_estimates_are_those_of_statsmodels(name):
    import statsmodels.api as sm

    families = {
        "logistic": sm.families.Binomial(),
        "probit": sm.families.Binomial(sm.families.links.Probit()),
        "poisson": sm.families.Poisson(),
        "identity": sm.families.Gaussian(),
    }
    for seed in range(10):
        actions, rewards = rounds(name, seed, length=1.5)
        right = sm.GLM(rewards, actions, family=families[name]).fit(tol=1e-14, maxiter=100).params
        np.testing.assert_allclose(fit(actions, rewards, name), right, atol=1e-6)


def test_identity_with_a_penalty_is_ridge_regression():
    actions, rewards = rounds("identity", 3)
    d = actions.shape[1]
    theta, scraps = np.zeros(d), (np.zeros((d, d)), np.zeros((d, d)))
    refactor(2.0 * np.eye(d) + actions.T @ actions, actions.T @ rewards, *scraps, theta)
    np.testing.assert_allclose(
        fit(actions, rewards, "identity", regularization=2.0), theta, rtol=1e-12
    )


@pytest.mark.parametrize("name", sorted(LINKS))
def test_counts_and_sums_say_what_all_rounds_say(name):
    rng = np.random.default_rng(1)
    few = rng.normal(size=(7, 3))
    few /= np.linalg.norm(few, axis=1, keepdims=True)
    chosen = rng.integers(7, size=400)
    means = LINKS[name].means(few[chosen] @ [0.8, -0.3, 0.5])
    rewards = rng.poisson(means) if name == "poisson" else (rng.random(400) < means).astype(float)
    counts = np.bincount(chosen, minlength=7).astype(float)
    sums = np.bincount(chosen, weights=rewards, minlength=7)
    theta = np.zeros(3)
    given = Likelihood(few, 7, counts, sums, math.inf, np.zeros((3, 3)))
    steps = maximiser(LINKS[name].kernels)(given, theta, scratch(7, 3))
    assert 0 <= steps < 12
    np.testing.assert_allclose(theta, fit(few[chosen], rewards, name), atol=1e-7)
    again = maximiser(LINKS[name].kernels)(given, theta, scratch(7, 3))
    assert again == 0


@pytest.mark.parametrize("name", sorted(LINKS))
@pytest.mark.parametrize("limit", [0.7, 3.0])
def test_every_start_leads_to_the_same_estimate(name, limit):
    actions, rewards = rounds(name, 7, size=60)
    d = actions.shape[1]
    expected = fit(actions, rewards, name, limit=limit)
    for start in np.random.default_rng(2).normal(size=(20, d)) * 30:
        theta = start.copy()
        given = Likelihood(actions, 60, np.ones(60), rewards, limit, np.zeros((d, d)))
        steps = maximiser(LINKS[name].kernels)(given, theta, scratch(60, d))
        assert steps >= 0
        np.testing.assert_allclose(theta, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["logistic", "probit"])
def test_rewards_that_a_plane_separates_have_a_finite_estimate(name):
    actions = np.array([[1.0, 0.2], [0.6, 0.8], [-1.0, 0.1], [-0.5, -0.5]])
    rewards = [1.0, 1.0, 0.0, 0.0]
    inside = fit(actions, rewards, name, limit=2.0)
    assert np.isfinite(inside).all()
    assert np.abs(inside).max() < 30
    # The score beyond the limit is the tangent there, and the estimate its root.
    score, curvature = LINKS[name].kernels.score, LINKS[name].kernels.curvature
    total = np.zeros(2)
    for x, y in zip(actions, rewards, strict=True):
        z = x @ inside
        edge = min(max(z, -2.0), 2.0)
        total += (score(1.0, y, edge) - curvature(1.0, y, edge) * (z - edge)) * x
    np.testing.assert_allclose(total, 0.0, atol=1e-7)
    assert np.isfinite(fit(actions, rewards, name)).all()  # ends where the gradient vanishes
    assert np.isfinite(fit(actions, rewards, name, regularization=1.0)).all()


def test_counts_that_are_all_zero_and_huge_ones_do_not_overflow():
    assert -60 < fit([[1.0], [1.0]], [0, 0], "poisson")[0] < -15
    assert fit([[1.0], [1.0]], [0, 0], "poisson", limit=1.0)[0] == pytest.approx(-2.0)
    assert fit([[1.0], [1.0]], [1e8, 1e8], "poisson")[0] == pytest.approx(math.log(1e8))
    beyond = fit([[1.0]], [1e8], "poisson", limit=1.0)[0]
    assert beyond == pytest.approx(1.0 + (1e8 - math.e) / math.e)


def test_directions_no_action_has_stay_at_zero():
    actions, rewards = rounds("logistic", 2)
    lifted = np.hstack([actions, actions[:, :1], np.zeros((len(actions), 1))])
    found = fit(lifted, rewards)
    assert found[-1] == 0.0
    np.testing.assert_allclose(
        lifted @ found, actions @ fit(actions, rewards), rtol=1e-6, atol=1e-8
    )
    missing = unreachable(lifted.T @ lifted)
    assert np.trace(missing) == pytest.approx(2.0)


def test_no_evidence_leaves_the_prior():
    theta = np.ones(2)
    run = maximiser(LINKS["logistic"].kernels)
    none = Likelihood(np.zeros((0, 2)), 0, np.zeros(0), np.zeros(0), 1.0, np.eye(2))
    assert run(none, theta, scratch(0, 2)) == 1
    assert theta.tolist() == [0.0, 0.0]


@pytest.mark.slow
def test_compiled_and_plain_code_take_the_same_steps():
    kernels = LINKS["logistic"].kernels
    actions, rewards = rounds("logistic", 4, size=30)
    found = []
    for run in (maximiser(kernels), compiled(maximise, kernels)):
        theta = np.zeros(5)
        given = Likelihood(actions, 30, np.ones(30), rewards, 1.2, np.zeros((5, 5)))
        steps = run(given, theta, scratch(30, 5))
        found.append((steps, theta.tolist()))
    assert found[0] == found[1]


def test_bad_rounds_are_refused():
    with pytest.raises(InvalidInput, match="one row per reward"):
        fit([[1.0]], [1, 0])
    with pytest.raises(InvalidInput, match="must be one of"):
        fit([[1.0]], [1], "logit")


@pytest.mark.parametrize("huge", [1e200, -1e308, math.inf, math.nan])
def test_the_solver_ends_on_numbers_that_overflow(huge):
    """It returns how many steps it took, or -1; it does not go on for ever."""
    rows = np.array([[huge, 1.0], [0.5, 0.5]])
    given = Likelihood(rows, 2, np.ones(2), np.array([1.0, 0.0]), 5.0, np.eye(2))
    with np.errstate(all="ignore"):
        taken = maximiser(LINKS["logistic"].kernels)(given, np.zeros(2), scratch(2, 2))
    assert -1 <= taken <= 100
