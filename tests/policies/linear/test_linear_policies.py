"""Linear policies' formulas by hand, their randomness by statistics."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from halfseen import (
    DesignExploration,
    FiniteActions,
    ImputeZeroLinUCB,
    InformationGreedy,
    InvalidInput,
    LinearBandit,
    LinearPolicy,
    LinEpsilonGreedy,
    LinRandom,
    LinThompson,
    LinUCB,
    MostCensored,
    OptimalOrder,
    RandomActions,
    SequenceOfActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted
from halfseen.policies.linear.base import LinearSetting

SETTING = LinearSetting(dimension=3, noise=0.5, bound=2.0, horizon=1000)
STREAM = (1, 2, 3, 2)


def index(policy, mean, square, spread=0.0, shift=0.0, action=0, clock=1):
    table = policy.table(SETTING)
    return policy.kernels().index(mean, square, spread, shift, action, clock, STREAM, table)


@pytest.mark.parametrize("policy", [LinUCB, ImputeZeroLinUCB])
def test_optimism_by_hand(policy):
    """beta = sigma sqrt(spread + 2 log(1/delta)) + sqrt(lambda) S."""
    plain = 0.5 * math.sqrt(3.0 + 2 * math.log(1000)) + 2.0
    assert policy().radius(3.0, policy().table(SETTING)) == pytest.approx(plain, rel=1e-15)
    assert index(policy(), 0.3, 0.25, 3.0) == pytest.approx(0.3 + 0.5 * plain, rel=1e-15)
    told = policy(regularization=4.0, delta=0.1, bound=7.0, noise=1.5)
    beta = 1.5 * math.sqrt(3.0 + 2 * math.log(10)) + 2 * 7.0
    assert told.radius(3.0, told.table(SETTING)) == pytest.approx(beta, rel=1e-15)
    assert index(told, -0.3, 0.04, 3.0) == pytest.approx(-0.3 + 0.2 * beta, rel=1e-15)
    assert index(told, -0.3, 0.0, 3.0) == -0.3


def test_delta_of_a_single_round():
    assert LinUCB().failure(LinearSetting(3, 1.0, 1.0, 1)) == 0.5


def test_who_has_a_radius_and_who_waits():
    facts = {
        kind: (policy.kernels().radius is not None, policy.waits, policy.imputes, policy.samples)
        for kind, policy in {
            "lin-ucb": LinUCB(),
            "impute": ImputeZeroLinUCB(),
            "thompson": LinThompson(),
            "greedy": LinEpsilonGreedy(),
            "random": LinRandom(),
            "design": DesignExploration(),
            "information": InformationGreedy(),
            "censored": MostCensored(),
            "order": OptimalOrder(),
        }.items()
    }
    assert facts == {
        "lin-ucb": (True, True, False, False),
        "impute": (True, True, True, False),
        "thompson": (False, False, False, True),
        "greedy": (False, False, False, False),
        "random": (False, False, False, False),
        "design": (False, True, False, False),
        "information": (False, True, False, False),
        "censored": (False, True, False, False),
        "order": (False, False, False, False),
    }


def test_other_indexes_by_hand():
    assert index(LinThompson(inflation=3.0), 0.2, 0.9, 1.0, shift=0.4) == pytest.approx(0.8)
    assert index(DesignExploration(), 0.2, 0.9, 1.0) == 0.9
    assert index(LinEpsilonGreedy(0.0), 0.2, 0.9) == 0.2
    explored = [index(LinEpsilonGreedy(1.0), 5.0, 0.9, action=a) for a in range(3)]
    assert explored == [index(LinRandom(), -5.0, 0.1, action=a) for a in range(3)]
    assert len(set(explored)) == 3
    assert 0 <= min(explored) <= max(explored) < 1


NOTES: list[Any] = []


def noted(mean, square, spread, shift, action, clock, stream, table):
    NOTES.append((clock, action, shift))
    return 1.0 if action == clock % 4 else 0.0


@dataclass(frozen=True)
class Noting(LinearPolicy):
    """Plays actions in turn and notes the shifts it is given; only in plain Python."""

    kind: ClassVar[str] = "noting"
    regularization: float = 0.5
    samples = True
    index = staticmethod(noted)

    def table(self, setting):
        return np.zeros(1)


ROWS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, -0.5]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "actions", [FiniteActions(ROWS), SequenceOfActions(np.tile(ROWS, (6, 1, 1)))]
)
def test_the_shift_has_the_inverse_design_as_its_covariance(actions):
    cell = LinearCell(
        LinearBandit([0.1, 0.2, 0.3], 1.0, actions),
        Uniform(1.0),
        Noting(),
        6,
        3,
        np.array([6]),
        np.array([1.0]),
    )
    runs = 800
    track = cell.blank(runs, cell.groups, 3)
    NOTES.clear()
    player(cell, fitted)(0, runs, track)
    shifts = np.array([shift for _, _, shift in NOTES]).reshape(runs, 6, 4)
    design = 0.5 * np.eye(3)
    for clock in range(1, 7):
        eta = shifts[:, clock - 1, :3]
        np.testing.assert_allclose(shifts[:, clock - 1], eta @ ROWS.T, atol=1e-12)
        distances = np.einsum("ri,ij,rj->r", eta, design, eta)
        assert stats.kstest(distances, stats.chi2(3).cdf).pvalue > 1e-3
        white = eta @ np.linalg.cholesky(design)
        np.testing.assert_allclose(white.T @ white / runs, np.eye(3), atol=5 * math.sqrt(2 / runs))
        design += np.outer(ROWS[clock % 4], ROWS[clock % 4])
    one, two = shifts[:, 0, 0], shifts[:, 1, 0]
    assert abs(np.corrcoef(one, two)[0, 1]) < 5 / math.sqrt(runs)


def pulls_of(policy, problem, horizon=20_000, observe=1.0, **others):
    study = Study(
        problem,
        Uniform(observe),
        policy,
        horizon=horizon,
        replications=1,
        alphas=(),
        baseline=False,
    )
    return simulate(study, **others).tracks["pulls"][0, 0, 0, 0, -1]


@pytest.mark.slow
def test_epsilon_is_the_share_of_exploration():
    problem = LinearBandit([0.0, 0.0, 1.0], 0.0, FiniteActions(ROWS))
    pulls = pulls_of(LinEpsilonGreedy(0.2), problem)
    share = 1 - pulls[2] / 20_000
    assert share == pytest.approx(0.15, abs=5 * math.sqrt(0.15 * 0.85 / 20_000))
    others = np.delete(pulls, 2)
    assert stats.chisquare(others).pvalue > 1e-3


@pytest.mark.slow
def test_chance_is_even():
    pulls = pulls_of(LinRandom(), LinearBandit([0.0, 0.0, 1.0], 0.1, FiniteActions(ROWS)))
    assert stats.chisquare(pulls).pvalue > 1e-3


def test_without_inflation_thompson_follows_its_estimate():
    problem = LinearBandit([0.0, 0.0, 1.0], 0.3, FiniteActions(ROWS[::-1]))
    sampled = pulls_of(LinThompson(inflation=0.0), problem, 500, 0.5, engine="reference")
    greedy = pulls_of(LinEpsilonGreedy(0.0), problem, 500, 0.5, engine="reference")
    assert sampled.tolist() == greedy.tolist()


def test_design_exploration_plays_the_widest():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(7, 3))
    rows *= rng.random((7, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    problem = LinearBandit([1.0, 0.0, 0.0], 0.3, FiniteActions(rows))
    design, right = 2.0 * np.eye(3), np.zeros(7)
    for _ in range(300):
        k = np.argmax(np.einsum("ki,ij,kj->k", rows, np.linalg.inv(design), rows))
        design += np.outer(rows[k], rows[k])
        right[k] += 1
    pulls = pulls_of(DesignExploration(2.0), problem, 300, engine="reference")
    assert pulls.tolist() == right.tolist()


@pytest.mark.slow
def test_imputing_zeros_hurts_where_the_best_action_is_rarely_seen():
    from halfseen import PerAction

    problem = LinearBandit([0.9, 0.6], 0.1, FiniteActions(np.eye(2)))
    study = Study(
        problem,
        PerAction([0.2, 1.0]),
        {"honest": LinUCB(), "imputing": ImputeZeroLinUCB()},
        horizon=2000,
        replications=20,
        alphas=(1.0,),
        baseline=False,
    )
    honest, imputing = simulate(study).tracks["regret"][0, 0, ..., -1].mean(axis=1)
    assert imputing > 3 * honest


@pytest.mark.parametrize(
    ("policy", "values", "field"),
    [
        (LinUCB, {"regularization": 0.0}, "LinUCB.regularization"),
        (LinUCB, {"regularization": math.nan}, "LinUCB.regularization"),
        (LinUCB, {"regularization": "1"}, "LinUCB.regularization"),
        (LinUCB, {"delta": 0.0}, "LinUCB.delta"),
        (LinUCB, {"delta": 1.0}, "LinUCB.delta"),
        (LinUCB, {"bound": -1.0}, "LinUCB.bound"),
        (LinUCB, {"noise": math.inf}, "LinUCB.noise"),
        (ImputeZeroLinUCB, {"delta": 2.0}, "ImputeZeroLinUCB.delta"),
        (LinThompson, {"inflation": -0.1}, "LinThompson.inflation"),
        (LinThompson, {"regularization": -1}, "LinThompson.regularization"),
        (LinEpsilonGreedy, {"epsilon": 1.1}, "LinEpsilonGreedy.epsilon"),
        (LinEpsilonGreedy, {"regularization": None}, "LinEpsilonGreedy.regularization"),
        (DesignExploration, {"regularization": 0}, "DesignExploration.regularization"),
        (InformationGreedy, {"regularization": 0}, "InformationGreedy.regularization"),
        (MostCensored, {"regularization": -1}, "MostCensored.regularization"),
        (OptimalOrder, {"regularization": math.nan}, "OptimalOrder.regularization"),
    ],
)
def test_bad_parameters_are_named(policy, values, field):
    with pytest.raises(InvalidInput) as caught:
        policy(**values)
    assert caught.value.field == field


def test_an_armed_policy_is_refused_on_vectors_and_the_other_way_round():
    from halfseen import UCB, ArmedBandit

    with pytest.raises(InvalidInput, match="linear"):
        Study(LinearBandit([1.0], 0.1, RandomActions(2, 1)), Uniform(1.0), UCB(), horizon=6)
    with pytest.raises(InvalidInput, match="armed"):
        Study(ArmedBandit([0.5]), Uniform(1.0), LinUCB(), horizon=6)
