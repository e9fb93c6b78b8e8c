"""Folds of cross-fitted regressions."""

import numpy as np
import pytest

from halfseen import value
from halfseen.values.influence import Sample
from halfseen.values.log_groups import LogGroups
from halfseen.values.nuisances import _folds, _predicted


def log_of(arm, arms):
    one = np.ones(len(arm))
    sample = Sample(one, one > 0, one, 0 * one)
    names = tuple(map(str, range(arms)))
    return LogGroups(names, ("all",), sample, arm, 0 * arm, None, {}, one[:, None], ("x",))


@pytest.mark.parametrize("arms", [4, 5, 10, 25])
def test_every_arm_is_in_every_fold_where_arms_take_turns(arms):
    folds = _folds(log_of(np.arange(2000) % arms, arms), by_time=False)
    assert np.sum(folds, axis=0).tolist() == [1] * 2000
    for fold in folds:
        assert fold.mean() == pytest.approx(0.2, abs=0.03)
        shares = np.bincount(np.arange(2000)[fold] % arms, minlength=arms) / (2000 / arms)
        assert 0.05 < shares.min() <= shares.max() < 0.45


def test_blocks_of_time_are_folds_unless_an_arm_has_one_block_only():
    arm = np.arange(100) % 2
    folds = _folds(log_of(arm, 2), by_time=True)
    assert [np.flatnonzero(fold).tolist() for fold in folds[:2]] == [[*range(20)], [*range(20, 40)]]
    arm[85:] = 2
    folds = _folds(log_of(arm, 3), by_time=True)
    assert all(0 < fold[85:].sum() < 15 for fold in folds)


@pytest.mark.parametrize("estimator", ["DR", "SNIPW"])
def test_arms_that_take_turns_are_evaluated_by_features(estimator):
    rng = np.random.default_rng(1)
    x = rng.normal(size=5000)
    chance = 1 / (1 + np.exp(-1.5 * x))
    paid = (rng.random(5000) < chance).astype(float)
    rows = {
        "arm": np.arange(5000) % 5,
        "x": x,
        "paid": np.where(rng.random(5000) < chance, paid, np.nan),
        "p": np.full(5000, 0.2),
    }
    found = value(
        rows,
        target={"0": 1},
        compare=None,
        action="arm",
        reward="paid",
        propensity="p",
        features=["x"],
        estimator=estimator,
    )
    assert found.low < 0.5 < found.high


def test_regressions_on_few_rows_take_one_thread(monkeypatch):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    threads = []

    class Model:
        def fit(self, known, answers):
            threads.extend(pool["num_threads"] for pool in threadpoolctl.threadpool_info())

        def predict(self, asked):
            return asked[:, 0]

    monkeypatch.setattr("halfseen.values.nuisances._model", lambda kind: Model())
    found = _predicted("regress trees", np.ones((50, 1)), np.ones(50), np.ones((3, 1)))
    assert found.tolist() == [1.0] * 3
    assert set(threads) == {1}
