"""Stored numbers are keyed by `TRAJECTORIES`: numbers that change without raising it fail here."""

import hashlib

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    UCB,
    ArmedBandit,
    FiniteActions,
    GaussianThompson,
    GeneralizedLinearBandit,
    LinearBandit,
    LinThompson,
    LinUCB,
    MultiThreshold,
    PerArm,
    RandomActions,
    RidgeGLMUCB,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.studies.study import TRAJECTORIES

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.8, 0.6], [0.5, -0.5]])
SLICES = MultiThreshold([0.2], observe=[0.9, 0.4], direction=[0, 1])


def played(problem, censorship, policies):
    """Return the final regrets, and a hash of every count, of a short study."""
    study = Study(
        problem,
        censorship,
        policies,
        horizon=60,
        replications=3,
        seed=11,
        checkpoints=4,
        baseline=False,
    )
    tracks = simulate(study, engine="reference").tracks
    counts = hashlib.sha256()
    for name in ("pulls", "observations"):
        counts.update(tracks[name].astype("<i8").tobytes())
    return [*tracks["regret"][0, 0, :, :, -1].ravel().tolist(), counts.hexdigest()[:12]]


STUDIES = {
    "arms": lambda: played(
        ArmedBandit([0.6, 0.5, 0.2], noise=0.4),
        PerArm([0.3, 0.9, 1.0]),
        {"ucb": UCB(), "thompson": GaussianThompson()},
    ),
    "arms, rewards of 0 or 1": lambda: played(
        ArmedBandit([0.6, 0.5], reward="bernoulli"), Uniform(0.4), UCB()
    ),
    "linear, fixed set": lambda: played(
        LinearBandit([0.5, -0.3], noise=0.3, actions=FiniteActions(ROWS)),
        SLICES,
        {"ucb": LinUCB(), "thompson": LinThompson()},
    ),
    "linear, drawn": lambda: played(
        LinearBandit([0.5, -0.3], noise=0.3, actions=RandomActions(3, 2)), SLICES, LinUCB()
    ),
    "linear, ball": lambda: played(
        LinearBandit([0.5, -0.3], noise=0.3, actions=UnitBall(2)), SLICES, LinUCB()
    ),
    "glm, fixed set": lambda: played(
        GeneralizedLinearBandit([0.5, -0.3], link="logistic", actions=FiniteActions(ROWS)),
        Uniform(0.5),
        {"ucb": GLMUCB(), "ridge": RidgeGLMUCB()},
    ),
    "glm, drawn": lambda: played(
        GeneralizedLinearBandit([0.5, -0.3], link="poisson", actions=RandomActions(3, 2)),
        SLICES,
        RidgeGLMUCB(),
    ),
}
# For each value of TRAJECTORIES the numbers it stands for. If they are meant to change, raise
# TRAJECTORIES in halfseen/study.py and write the new ones under the new value.
GOLDEN = {
    1: {
        "arms": [
            3.8,
            2.3,
            3.5000000000000004,
            4.3,
            1.6999999999999997,
            5.099999999999998,
            "b26ca9b3f5ad",
        ],
        "arms, rewards of 0 or 1": [2.7999999999999994, 2.4999999999999996, 2.8, "76f9014c5ff6"],
        "linear, fixed set": [
            11.1,
            3.300000000000001,
            5.439999999999998,
            3.24,
            4.32,
            4.36,
            "919359c96ce5",
        ],
        "linear, drawn": [
            2.1591565075567267,
            1.3779197406837582,
            3.398787127301313,
            "2a29751db5e8",
        ],
        "linear, ball": [6.340054909010316, 7.480937380458247, 9.00858751191817, "ad9ddb8d1323"],
        "glm, fixed set": [
            9.57067867993556,
            3.367055846542345,
            3.2815678748765786,
            9.63730356945872,
            3.241566205808525,
            3.2282786727597466,
            "34c3a046ed51",
        ],
        "glm, drawn": [3.794162628499774, 3.9658938711045373, 14.790650395641112, "01e1bb580b61"],
    }
}


@pytest.mark.parametrize("name", STUDIES)
def test_numbers_change_only_when_trajectories_is_raised(name):
    *regrets, counts = STUDIES[name]()
    *expected, expected_counts = GOLDEN[TRAJECTORIES][name]
    assert regrets == pytest.approx(expected, rel=1e-9)
    assert counts == expected_counts
