"""Policies for conversions that the package does not offer, played as policies of one's own.

Patient UCB (Manegueu and others 2020) adds a bias term for what may be late, pending UCB counts
open decisions as conversions. Trajectories and regrets are those of independent code.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from engine.loops.test_late_arms import NO_STREAM, scripted_run
from halfseen import ArmedBandit, Delayed, LogNormalDelay, Policy, Study, simulate
from halfseen.engine.specialise import compiled, fitted
from halfseen.policies.arms.base import PULLED, TOTAL, count_pull

GIVEN_UP = 3  # column of the state


def patient(state, arm, clock, stream, table):
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    return state[arm, TOTAL] / pulled + math.sqrt(table[arm, 0] / pulled) + 2.0 * pulled**-0.5


def pending(state, arm, clock, stream, table):
    pulled = state[arm, PULLED]
    if pulled == 0.0:
        return math.inf
    still_open = pulled - state[arm, 0] - state[arm, GIVEN_UP]
    return (state[arm, TOTAL] + still_open) / pulled + math.sqrt(table[arm, 0] / pulled)


def count_given_up(state, arm, table):
    state[arm, GIVEN_UP] += 1.0
    return math.nan


@dataclass(frozen=True)
class PatientUCB(Policy):
    kind: ClassVar[str] = "patient-ucb"
    statistics = 3
    index = staticmethod(patient)
    pull = staticmethod(count_pull)

    def table(self, setting):
        return np.full((setting.arms, 1), math.log(setting.horizon))


@dataclass(frozen=True)
class PendingUCB(PatientUCB):
    kind: ClassVar[str] = "pending-ucb"
    statistics = 4
    index = staticmethod(pending)
    fill = staticmethod(count_given_up)


@pytest.mark.parametrize(
    ("policy", "arms", "expected"),
    [
        (PatientUCB(), "01010100100000", (1.87483918942, 1.81225878413)),
        (PendingUCB(), "01010010000000", (1.21371756147, 0.937915655343)),
    ],
    ids=["patient", "pending"],
)
@pytest.mark.parametrize(
    "fit",
    [
        pytest.param(fitted, id="plain"),
        pytest.param(compiled, id="compiled", marks=pytest.mark.slow),
    ],
)
def test_policies_of_ones_own_give_the_golden_trajectory_of_conversions(
    policy, arms, expected, fit
):
    found, state, table = scripted_run(policy, fit, "conversions")
    assert found == arms
    indices = [policy.kernels().index(state, arm, 14, NO_STREAM, table) for arm in (0, 1)]
    assert indices == pytest.approx(expected, rel=1e-11)


@pytest.mark.slow
def test_patience_and_hope_lose_on_conversions_what_independent_code_measured():
    slow, quick = LogNormalDelay(200, 1.5), LogNormalDelay(10, 1.5)
    late = {
        "one law": Delayed(LogNormalDelay(30, 1.5), window=300, sends="conversions"),
        "best slow": Delayed([slow, quick, quick], window=300, sends="conversions"),
    }
    study = Study(
        ArmedBandit([0.2, 0.15, 0.1], reward="bernoulli"),
        late,
        {"patient": PatientUCB(), "pending": PendingUCB()},
        horizon=10_000,
        replications=100,
        baseline=False,
    )
    final = simulate(study).tracks["regret"][0, ..., -1]
    expected = np.array([[219.0, 321.0], [458.0, 503.0]])
    errors = np.hypot(final.std(axis=-1, ddof=1) / 10.0, [[2.0, 5.0], [2.0, 12.0]])
    assert np.all(np.abs(final.mean(axis=-1) - expected) < 4.0 * errors)
