"""The loop over arms with late feedback."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from halfseen import (
    ArmedBandit,
    ConversionUCB,
    Delayed,
    EmpiricalDelay,
    Fixed,
    GeometricDelay,
    HoeffdingUCB,
    HopefulUCB,
    ImputeZero,
    OptimisticElimination,
    ParetoDelay,
    PerArm,
    QueuedPolicy,
    SequenceOfArms,
    Study,
    SuccessiveElimination,
    Uniform,
    simulate,
)
from halfseen.draws import ENVIRONMENT, unit, words
from halfseen.engine.cells.late_cell import LateCell
from halfseen.engine.player import blank_track
from halfseen.engine.specialise import compiled, fitted
from halfseen.policies import POLICIES
from halfseen.policies.arms.conversion_ucb import kl_index
from halfseen.policies.arms.elimination import possible_bounds, seen_bounds

NO_STREAM = (0, 0, 0, 0)


def scripted(world, arm_state, arm, clock, stream):
    """Arm 0: 0 in every third round, else 1, 2 late; arm 1: 1 in even rounds, too late, else 0."""
    if arm == 0:
        return (0.0 if clock % 3 == 0 else 1.0), 2.0
    return (1.0, 4.0) if clock % 2 == 0 else (0.0, 0.0)


@dataclass(frozen=True)
class ScriptedCell(LateCell):
    @property
    def open_names(self):
        return super().open_names | {"outcome": scripted}


def scripted_run(policy, fit, sends="all"):
    """Return the arms of rounds 1 to 14, and state and table when round 14 is chosen."""
    censorship = Delayed([TWO_LATE, HALF_AT_ONCE], window=3, sends=sends)
    problem = ArmedBandit([0.5, 0.5], reward="bernoulli")
    rounds, states = np.arange(1, 15), []
    for last in (14, 13):
        cell = ScriptedCell(problem, censorship, policy, 14, 0, rounds[:last], np.zeros(0))
        work, track = cell.workspace(), blank_track(cell, 1)
        fit(cell.loop, policy.kernels(), **cell.open_names)(0, 1, cell.world(), work, track)
        states.append(work.state)
        if last == 14:
            arms = "".join(map(str, np.diff(track.pulls[0, :, 1], prepend=0)))
    queues = policy.kernels().queues  # hands over what it has when it is asked
    return arms, states[0 if queues else 1], cell.policy_table()


TWO_LATE, HALF_AT_ONCE = EmpiricalDelay([2]), Fixed(0, arrive=0.5)
BOTH = pytest.mark.parametrize(
    "fit",
    [
        pytest.param(fitted, id="plain"),
        pytest.param(compiled, id="compiled", marks=pytest.mark.slow),
    ],
)


@pytest.mark.parametrize(
    ("policy", "sends", "arms", "expected"),
    [
        (HoeffdingUCB(), "all", "00011110000000", (1.32829564087, 1.14870738868)),
        (QueuedPolicy(HoeffdingUCB()), "all", "00011110000000", (1.32829564087, 1.14870738868)),
        (HopefulUCB(), "all", "01010110010110", (1.32987318674, 1.32829564087)),
        (
            ConversionUCB(bound="hoeffding"),
            "conversions",
            "00011111000001",
            (1.43247159245, 1.45301268532),
        ),
        (ConversionUCB(), "conversions", "00011100010100", (2.3051820006, 2.11124586369)),
    ],
    ids=["hoeffding", "queued", "hopeful", "corrected", "corrected-kl"],
)
@BOTH
def test_a_scripted_world_gives_the_golden_trajectory(policy, sends, arms, expected, fit):
    found, state, table = scripted_run(policy, fit, sends)
    assert found == arms
    index = policy.kernels().index
    indices = [index(state, arm, 14, NO_STREAM, table) for arm in (0, 1)]
    assert indices == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("policy", "bounds", "expected"),
    [
        (SuccessiveElimination(), seen_bounds, (1.32987318674, math.inf)),
        (OptimisticElimination(), possible_bounds, (1.32829564087, 1.66320652007)),
    ],
    ids=["seen", "possible"],
)
@BOTH
def test_eliminations_give_the_golden_trajectory(policy, bounds, expected, fit):
    found, state, table = scripted_run(policy, fit)
    assert found == "01010101010101"
    assert [bounds(state, arm, table)[1] for arm in (0, 1)] == pytest.approx(expected, rel=1e-11)


def test_the_poisson_bound_of_conversions_matches_the_golden_value():
    state, table = np.array([[1.0, 1.0, 10.0, 10.0, 0.0]]), np.array([[0.2]])
    assert kl_index(state, 0, 1, NO_STREAM, table) == pytest.approx(0.177224982961, rel=1e-11)
    state[0, 1] = 0.0
    assert kl_index(state, 0, 1, NO_STREAM, table) == pytest.approx(0.02)


def studied(censorships, policies, problem=None, **options):
    given = {"horizon": 200, "replications": 3, "seed": 4, "baseline": False} | options
    if problem is None:
        problem = ArmedBandit([0.6, 0.5, 0.3], reward="bernoulli")
    return Study(problem, censorships, policies, **given)


EVERY_POLICY = {kind: policy() for kind, policy in POLICIES.items()}
PROMPT = {"seen": Uniform(1.0), "late": Delayed(Fixed(0))}


def same_tracks(one, other):
    for name in one:
        assert np.array_equal(one[name], other[name]), name


def test_the_loop_without_delays_is_used_where_no_reward_is_late():
    study = studied(PROMPT | {"some": Delayed(Fixed(0, arrive=0.5))}, {"ucb": HoeffdingUCB()})
    jumps = {list(study.censorships)[j]: cell.jumps for (_, j, _), cell in study.cells()}
    assert jumps == {"seen": True, "late": True, "some": False}
    data = simulate(study, engine="reference").data
    assert (data.sel(censorship="late").pending == 0).all()
    assert (data.sel(censorship="late").lost == 0).all()


@pytest.mark.slow
@pytest.mark.usefixtures("every_round_is_played")
def test_no_delay_and_no_window_equal_the_undelayed_trajectories_of_every_policy():
    result = simulate(studied(PROMPT, EVERY_POLICY), engine="reference")
    tracks = {name: array for name, array in result.tracks.items() if name != "pending"}
    same_tracks(
        {name: array[:, 0] for name, array in tracks.items()},
        {name: array[:, 1] for name, array in tracks.items()},
    )
    assert result.data.pending.sum() == 0
    assert result.data.lost.sum() == 0


@pytest.mark.usefixtures("every_round_is_played")
def test_no_delay_equals_undelayed_trajectories_with_other_rewards_and_sets_of_arms():
    policies = {"ucb": EVERY_POLICY["ucb"], "imed": EVERY_POLICY["imed"], "zero": ImputeZero()}
    for problem in (
        ArmedBandit([0.6, 0.5, 0.3], noise=0.2),
        ArmedBandit([0.6, 0.5, 0.3], reward="poisson"),
        ArmedBandit([0.6, 0.5, 0.3], noise=0.2, actions=SequenceOfArms([[0, 1], [1, 2], [2]])),
    ):
        result = simulate(studied(PROMPT, policies, problem), engine="reference")
        for name in ("regret", "pulls", "observations", "optimism_failed"):
            assert np.array_equal(result.tracks[name][:, 0], result.tracks[name][:, 1])


def test_a_queue_without_delays_is_the_base_policy():
    policies = {"base": HoeffdingUCB(), "queued": QueuedPolicy(HoeffdingUCB())}
    result = simulate(studied(Uniform(1.0), policies), engine="reference")
    for name in ("regret", "pulls", "observations", "optimism_failed"):
        assert np.array_equal(result.tracks[name][:, :, 0], result.tracks[name][:, :, 1])


def test_plays_are_counted_under_every_censorship_with_the_draws_of_others():
    policies = {"ucb": HoeffdingUCB(), "queued": QueuedPolicy(HoeffdingUCB())}
    result = simulate(studied(PerArm([0.9, 0.5, 0.2]), policies, horizon=60), engine="reference")
    assert np.array_equal(result.tracks["pulls"][0, 0, 0], result.tracks["pulls"][0, 0, 1])


LATE = {
    "geometric": Delayed(GeometricDelay(20), window=50),
    "per arm": Delayed([GeometricDelay(5), ParetoDelay(0.7, 20, arrive=0.6), Fixed(3)], window=30),
    "by reward": Delayed([[Fixed(0), GeometricDelay(30)], Fixed(1), Fixed(2)], window=10),
    "no window": Delayed(EmpiricalDelay([0, 4, 4, 90], arrive=0.8)),
    "conversions": Delayed(GeometricDelay(20), window=50, sends="conversions"),
}


@pytest.mark.slow
def test_plain_python_and_compiled_code_agree_on_late_feedback():
    policies = {"conversions": ConversionUCB(Fixed(0)), "zero": ImputeZero()}
    study = studied(LATE, policies)
    same_tracks(simulate(study, engine="reference").tracks, simulate(study, workers=2).tracks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(POLICIES))
def test_every_policy_plays_late_feedback_alike_plain_and_compiled(kind):
    late = {name: LATE[name] for name in ("geometric", "per arm", "conversions")}
    study = studied(late, {kind: POLICIES[kind]()})
    same_tracks(simulate(study, engine="reference").tracks, simulate(study).tracks)


def test_every_decision_is_in_hand_open_or_given_up():
    data = simulate(studied(LATE, HoeffdingUCB()), engine="reference").data
    assert (data.observations + data.pending + data.lost == data.pulls).all()
    assert (data.lost >= 0).all()
    window = data.sel(censorship="geometric")
    assert (window.pending.sum("arm") <= 50).all()
    assert (data.sel(censorship="no window").lost == 0).all()


def slow_but_plain(problem, law, window, policy, horizon, rewards, delays):
    """Play with a list of messages instead of rings: in hand when s + D <= t - 1."""
    sent, played = [], []
    for clock in range(1, horizon + 1):
        state = np.zeros((problem.arms, 2))
        for s, arm, reward, delay in sent:
            if delay <= window and s + delay <= clock - 1:
                state[arm] += (1.0, reward)
        table = policy.table(problem.setting(horizon))
        values = [policy.index(state, a, clock, NO_STREAM, table) for a in range(problem.arms)]
        arm = int(np.argmax(values))
        count = played.count(arm)
        sent.append((clock, arm, rewards[arm][count], delays[arm][count]))
        played.append(arm)
    return played


def test_the_loop_agrees_with_a_list_of_messages():
    problem, horizon = ArmedBandit([0.6, 0.5], reward="bernoulli"), 150
    law, policy = GeometricDelay(8, arrive=0.9), HoeffdingUCB()
    study = studied(Delayed(law, window=12), policy, problem, horizon=horizon, checkpoints=150)
    result = simulate(study, engine="reference")
    (_, cell) = next(study.cells())
    world = cell.world()
    for replication in range(3):
        stream = (*world.key, replication, ENVIRONMENT)
        rewards, delays = [[], []], [[], []]
        for arm in (0, 1):
            for count in range(horizon):
                a, b, c, d = words(stream, count, arm)
                rewards[arm].append(1.0 if unit(a, b) < problem.means[arm] else 0.0)
                delays[arm].append(law.delay(unit(c, d)))
        played = slow_but_plain(problem, law, 12, policy, horizon, rewards, delays)
        rounds = study.rounds_recorded - 1
        expected = np.cumsum(np.array(played))[rounds]
        assert np.array_equal(result.tracks["pulls"][0, 0, 0, replication, :, 1], expected)


def test_memory_follows_the_window_not_the_horizon():
    cell = LateCell(
        ArmedBandit([0.5, 0.4]),
        Delayed(GeometricDelay(50), window=500),
        HoeffdingUCB(),
        10**6,
        0,
        np.array([10**6]),
        np.zeros(0),
    )
    assert sum(array.nbytes for array in cell.workspace()) < 501 * 48 + 2_000


def test_conversion_ucb_corrects_nothing_where_every_reward_is_seen_at_once():
    laws = [GeometricDelay(200), GeometricDelay(10), GeometricDelay(10)]
    late = Delayed(laws, window=60, sends="conversions")
    policies = {"told": ConversionUCB(laws), "the study's": ConversionUCB()}
    data = simulate(
        studied({"late": late, "seen": Uniform(1.0)}, policies), engine="reference"
    ).data
    told, known = (data.regret.sel(policy=name) for name in policies)
    assert np.array_equal(told, known)


@pytest.mark.parametrize("law", ["uniform", "rademacher"])
def test_conversions_of_rewards_that_are_all_above_zero_are_all_rewards(law):
    problem = ArmedBandit([0.5, 0.4], 0.1, reward=law)
    late = {s: Delayed(GeometricDelay(5), window=20, sends=s) for s in ("all", "conversions")}
    result = simulate(Study(problem, late, HoeffdingUCB(), horizon=60), engine="reference")
    for name in ("regret", "pulls", "observations"):
        assert np.array_equal(result.tracks[name][:, 0], result.tracks[name][:, 1])
