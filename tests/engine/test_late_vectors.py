"""The loops over vectors with late feedback."""

import numpy as np
import pytest

from halfseen import (
    GLMUCB,
    Delayed,
    EmpiricalDelay,
    FiniteActions,
    Fixed,
    GeneralizedLinearBandit,
    GeometricDelay,
    GLMThompson,
    ImputeZeroLinUCB,
    LinearBandit,
    LinThompson,
    LinUCB,
    ParetoDelay,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    Study,
    Uniform,
    simulate,
)
from halfseen.draws import ENVIRONMENT, normal_from, unit, words
from halfseen.errors import InvalidInput
from halfseen.policies import GLM_POLICIES, LINEAR_POLICIES
from halfseen.theory import regret_bounds

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6], [-0.5, 0.5]])
THETA = (0.6, 0.4)


def some_actions(rng, clock):
    rows = rng.normal(size=(4, 2))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


LINEAR = {
    "fixed": LinearBandit(THETA, noise=0.2, actions=FiniteActions(ROWS)),
    "drawn": LinearBandit(THETA, noise=0.2, actions=RandomActions(5, 2)),
    "sequence": LinearBandit(THETA, noise=0.2, actions=SequenceOfActions([ROWS[:2], ROWS[2:]])),
    "sampled": LinearBandit(THETA, noise=0.2, actions=SampledActions(some_actions, 4, 2)),
    "ball": LinearBandit(THETA, noise=0.2),
}
GENERALIZED = {
    "fixed": GeneralizedLinearBandit(THETA, actions=FiniteActions(ROWS)),
    "drawn": GeneralizedLinearBandit(THETA, actions=RandomActions(5, 2)),
    "counts": GeneralizedLinearBandit(THETA, link="poisson", actions=FiniteActions(ROWS)),
}
PROMPT = {"seen": Uniform(1.0), "late": Delayed(Fixed(0), window=0)}
LATE = {
    "geometric": Delayed(GeometricDelay(8), window=20),
    "lost": Delayed(ParetoDelay(0.7, 5, arrive=0.6), window=15),
    "no window": Delayed(EmpiricalDelay([0, 4, 4, 30], arrive=0.8)),
}
SENT = {"conversions": Delayed(GeometricDelay(8), window=20, sends="conversions")}


def studied(problems, censorships, policies, **options):
    given = {"horizon": 120, "replications": 2, "seed": 3, "baseline": False} | options
    return Study(problems, censorships, policies, **given)


def same_tracks(one, other):
    for name in one:
        assert np.array_equal(one[name], other[name]), name


def no_difference(result):
    tracks = {name: array for name, array in result.tracks.items() if name != "pending"}
    same_tracks(
        {name: array[:, 0] for name, array in tracks.items()},
        {name: array[:, 1] for name, array in tracks.items()},
    )
    assert result.data.pending.sum() == result.data.lost.sum() == 0


def made(kinds):
    """Return a policy of every kind."""
    return {kind: policy() for kind, policy in kinds.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("every_round_is_played")
def test_no_delay_equals_the_undelayed_trajectories_of_every_linear_policy():
    policies = made(LINEAR_POLICIES)
    study = studied(LINEAR["fixed"], PROMPT, policies, horizon=40)
    no_difference(simulate(study, engine="reference"))
    learners = {
        kind: policy
        for kind, policy in policies.items()
        if not policy.knows_observe and not policy.counts_pulls
    }
    study = studied(LINEAR["drawn"], PROMPT, learners, horizon=40)
    no_difference(simulate(study, engine="reference"))


@pytest.mark.slow
@pytest.mark.usefixtures("every_round_is_played")
def test_no_delay_equals_the_undelayed_trajectories_on_every_kind_of_actions():
    policies = {"ucb": LinUCB(), "thompson": LinThompson(), "zero": ImputeZeroLinUCB()}
    study = studied(LINEAR, PROMPT, policies, alphas=(0.5, 1.0), horizon=60)
    no_difference(simulate(study, engine="reference"))


@pytest.mark.slow
@pytest.mark.usefixtures("every_round_is_played")
def test_no_delay_equals_the_undelayed_trajectories_of_every_generalized_linear_policy():
    study = studied(GENERALIZED, PROMPT, made(GLM_POLICIES), horizon=60)
    no_difference(simulate(study, engine="reference"))


@pytest.mark.slow
def test_every_decision_on_vectors_is_in_hand_open_or_given_up():
    linear = simulate(studied(LINEAR, LATE, LinUCB()), engine="reference").data
    generalized = studied(GENERALIZED, LATE | SENT, GLMUCB())
    for data in (linear, simulate(generalized, engine="reference").data):
        assert (data.observations + data.pending + data.lost == data.pulls).all()
        assert (data.lost >= 0).all()
        assert (data.sel(censorship="geometric").pending.sum("arm") <= 20).all()
        assert (data.sel(censorship="no window").lost == 0).all()
        assert (data.sel(censorship="lost").lost.sum("arm").isel(checkpoint=-1) > 20).all()


def list_of_messages(offered, theta, outcomes, window, policy, setting, horizon):
    """Play with a list of messages and ridge regression from scratch in every round.

    Returns the regret after every round; `offered` gives the actions of a round, `outcomes` the
    reward and the delay of an action's play, given the round, its number and its earlier plays.
    """
    table, sent, regret, total = policy.table(setting), [], [], 0.0
    played = np.zeros(100, int)
    for clock in range(1, horizon + 1):
        design, target = np.eye(2) * policy.regularization, np.zeros(2)
        for s, action, reward, delay in sent:
            if delay <= window and s + delay <= clock - 1:
                design += np.outer(action, action)
                target += reward * action
        rows, inverse = offered(clock), np.linalg.inv(design)
        spread = np.linalg.slogdet(design)[1] - 2 * np.log(policy.regularization)
        values = [
            policy.index(a @ inverse @ target, a @ inverse @ a, spread, 0.0, k, clock, None, table)
            for k, a in enumerate(rows)
        ]
        chosen = int(np.argmax(values))
        sent.append((clock, rows[chosen], *outcomes(clock, chosen, played[chosen], rows[chosen])))
        played[chosen] += 1
        total += (rows @ theta).max() - rows[chosen] @ theta
        regret.append(total)
    return np.array(regret)


@pytest.mark.parametrize("kind", ["fixed", "sequence"])
def test_the_loops_over_vectors_agree_with_a_list_of_messages(kind):
    problem, law, policy = LINEAR[kind], GeometricDelay(6, arrive=0.9), LinUCB()
    study = studied(problem, Delayed(law, window=12), policy, checkpoints=120)
    result = simulate(study, engine="reference")
    (_, cell) = next(study.cells())
    theta = np.array(THETA)
    for replication in range(2):
        stream = (*cell.key, replication, ENVIRONMENT)

        def offered(clock):
            return ROWS if kind == "fixed" else (ROWS[:2], ROWS[2:])[(clock - 1) % 2]

        def outcomes(clock, chosen, count, action, stream=stream):
            place = (count, chosen) if kind == "fixed" else (clock, 0)
            place = tuple(map(int, place))
            a, b, c, d = words(stream, *place)
            noise = 0.2 * normal_from(a, b, stream, *place)
            return action @ theta + noise, law.delay(unit(c, d))

        expected = list_of_messages(offered, theta, outcomes, 12, policy, cell.setting, 120)
        found = result.tracks["regret"][0, 0, 0, replication]
        assert found == pytest.approx(expected[study.rounds_recorded - 1], abs=1e-9)


def test_actions_of_a_fixed_set_may_have_laws_of_their_own():
    late = Delayed([Fixed(0), Fixed(3), Fixed(0, arrive=0.5), Fixed(50)], window=60)
    data = simulate(studied(LINEAR["fixed"], late, LinThompson()), engine="reference").data
    last = data.isel(checkpoint=-1).sum("replication").squeeze()
    assert last.pending.sel(arm=0) == 0
    early = data.sel(checkpoint=data.checkpoint <= 50)
    assert (early.observations.sel(arm=3) == 0).all()
    assert early.pulls.sel(arm=3).max() > 0
    with pytest.raises(InvalidInput, match="must have 4 entries, one per arm"):
        studied(LINEAR["fixed"], Delayed([Fixed(0)] * 3), LinUCB())


def test_late_rewards_cost_regret_on_vectors():
    late = {"at once": Delayed(Fixed(0)), "late": Delayed(Fixed(100))}
    data = simulate(studied(LINEAR["drawn"], late, LinUCB(), horizon=150), engine="reference").data
    at_once, much_later = data.regret.isel(checkpoint=-1).mean("replication").values.ravel()
    assert much_later > 2.0 * at_once


def test_nothing_is_proved_on_vectors_where_feedback_is_late():
    problem = LINEAR["fixed"]
    bounds = regret_bounds(problem, LATE["geometric"], LinUCB(), 1000)
    assert [bound.name for bound in bounds if bound.applies] == ["trivial"]
    assert all("delayed feedback" in bound.reason for bound in bounds if not bound.applies)
    at_once = regret_bounds(problem, Delayed(Fixed(0)), LinUCB(), 1000)
    assert at_once.smallest == regret_bounds(problem, Uniform(1.0), LinUCB(), 1000).smallest


@pytest.mark.slow
def test_plain_python_and_compiled_code_agree_on_late_vectors():
    study = studied(LINEAR["fixed"], LATE, LinUCB())
    same_tracks(simulate(study, engine="reference").tracks, simulate(study, workers=2).tracks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(LINEAR))
def test_linear_policies_play_late_feedback_alike_plain_and_compiled(kind):
    policies = {"ucb": LinUCB(), "thompson": LinThompson(), "zero": ImputeZeroLinUCB()}
    study = studied(LINEAR[kind], LATE, policies, alphas=(0.5, 1.0))
    same_tracks(simulate(study, engine="reference").tracks, simulate(study).tracks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(GENERALIZED))
def test_generalized_linear_policies_play_late_feedback_alike_plain_and_compiled(kind):
    policies = {"ucb": GLMUCB(), "thompson": GLMThompson()}
    study = studied(GENERALIZED[kind], LATE | SENT, policies)
    same_tracks(simulate(study, engine="reference").tracks, simulate(study).tracks)
