"""The linear loops against coin flips, and the growth of the potential they are known for."""

import math

import numpy as np
import pytest
from scipy import stats

from halfseen import (
    FiniteActions,
    LinearBandit,
    LinUCB,
    Logistic,
    MultiThreshold,
    RandomActions,
    Study,
    Uniform,
    simulate,
)


def played(problem, censorship, horizon, replications, seed=0, checkpoints=50):
    study = Study(
        problem,
        censorship,
        LinUCB(),
        horizon=horizon,
        replications=replications,
        seed=seed,
        checkpoints=checkpoints,
        alphas=(1.0,),
        baseline=False,
    )
    return study, {name: a[0, 0, 0] for name, a in simulate(study).tracks.items()}


def coin_flips(problem, censorship, horizon, runs, rng):
    """Play LinUCB in many worlds at once with numpy's own draws; return its last tracks."""
    theta, d = np.array(problem.theta), problem.dimension
    fixed = isinstance(problem.actions, FiniteActions)
    designs, targets = np.tile(np.eye(d), (runs, 1, 1)), np.zeros((runs, d))
    regret, potential, seen = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    every = np.arange(runs)
    for _ in range(horizon):
        if fixed:
            offer = np.broadcast_to(problem.actions.actions, (runs, problem.actions.count, d))
        else:
            offer = rng.normal(size=(runs, problem.actions.count, d))
            offer /= np.linalg.norm(offer, axis=2, keepdims=True)
        inverses = np.linalg.inv(designs)
        estimates = np.einsum("rij,rj->ri", inverses, targets)
        widths = np.einsum("rki,rij,rkj->rk", offer, inverses, offer)
        beta = problem.noise * np.sqrt(np.linalg.slogdet(designs)[1] + 2 * math.log(horizon))
        beta += np.linalg.norm(theta)
        values = np.einsum("rki,ri->rk", offer, estimates) + beta[:, None] * np.sqrt(widths)
        tops = values.max(axis=1, keepdims=True)
        chosen = (values >= tops - 1e-12 * abs(tops)).argmax(axis=1)  # the first among equals
        x = offer[every, chosen]
        means = offer @ theta
        regret += means.max(axis=1) - means[every, chosen]
        potential += widths[every, chosen]
        rates = np.array(censorship.observe)[censorship.region(x)]
        observed = rng.random(runs) < rates
        rewards = means[every, chosen] + problem.noise * rng.normal(size=runs)
        designs += observed[:, None, None] * x[:, :, None] * x[:, None, :]
        targets += (observed * rewards)[:, None] * x
        seen += observed
    return regret, potential, seen


SEVERAL = [[0.9, 0.1, 0.0], [0.5, 0.6, 0.3], [-0.2, 0.8, -0.4], [0.1, -0.5, 0.7], [0.6, 0.2, -0.6]]


@pytest.mark.slow
@pytest.mark.parametrize("actions", [FiniteActions(SEVERAL), RandomActions(4, 3)])
def test_the_law_is_that_of_coin_flips(actions):
    problem = LinearBandit([0.5, 0.4, -0.2], 0.3, actions)
    censorship = MultiThreshold([0.1, 0.5], observe=[0.8, 0.4, 0.15], direction=[1, 1, 0])
    right = coin_flips(problem, censorship, 200, 1500, np.random.default_rng(5))
    _, track = played(problem, censorship, 200, 1500, checkpoints=1)
    found = (
        track["regret"][:, -1],
        track["potential"][:, -1, 0],
        track["observations"][:, -1].sum(axis=1),
    )
    for mine, theirs in zip(found, right, strict=True):
        assert stats.ks_2samp(mine, theirs).pvalue > 0.001


def slope(study, track, start):
    """Return how much the mean potential grows with log T between round `start` and the end."""
    rounds, potential = study.rounds_recorded, track["potential"][..., 0].mean(axis=0)
    first = int(np.searchsorted(rounds, start))
    return (potential[-1] - potential[first]) / math.log(rounds[-1] / rounds[first])


@pytest.mark.parametrize(("d", "observe"), [(3, 0.1), (5, 0.3), (2, 1.0)])
def test_equally_good_actions_in_the_most_censored_region(d, observe):
    """The potential grows like (d / p) log T."""
    u = np.ones(d) / math.sqrt(d)
    rows = np.vstack([np.eye(d), -0.5 * u])
    problem = LinearBandit(0.8 * u, 0.1, FiniteActions(rows))
    censorship = MultiThreshold([0.1], observe=[1.0, observe], direction=u)
    study, track = played(problem, censorship, 300_000, 4)
    assert slope(study, track, 3000) == pytest.approx(d / observe, rel=0.03)


def law_of_contexts(problem, rate, rng, draws=400_000):
    """Return Tr(E[p aa']^-1 E[aa']), a being the best of the actions on offer."""
    offer = rng.normal(size=(draws, problem.actions.count, problem.dimension))
    offer /= np.linalg.norm(offer, axis=2, keepdims=True)
    x = offer[np.arange(draws), (offer @ np.array(problem.theta)).argmax(axis=1)]
    seen = (rate(x)[:, None] * x).T @ x
    return np.trace(np.linalg.solve(seen, x.T @ x))


CONTEXTS = {
    "thresholds": MultiThreshold([0.0, 0.8], observe=[0.9, 0.3, 0.1], direction=[1, 0, 0]),
    "uniform": Uniform(0.25),
    "logistic": Logistic([1, 1, 0], slope=-2.0),
}


def contexts_slope(name, horizon, start, replications):
    problem = LinearBandit([0.7, 0.5, 0.1], 0.1, RandomActions(5, 3))
    censorship = CONTEXTS[name]
    rate = (
        (lambda x: np.full(len(x), censorship.observe))
        if name == "uniform"
        else censorship.probabilities
    )
    study, track = played(problem, censorship, horizon, replications)
    return slope(study, track, start) / law_of_contexts(problem, rate, np.random.default_rng(1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["thresholds", "uniform"])
def test_independent_contexts_roughly(name):
    assert contexts_slope(name, 60_000, 3000, 4) == pytest.approx(1.0, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTEXTS)
def test_independent_contexts(name):
    """The potential grows like Tr(E[p aa']^-1 E[aa']) log T."""
    assert contexts_slope(name, 1_000_000, 30_000, 8) == pytest.approx(1.0, abs=0.03)
