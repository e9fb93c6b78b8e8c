"""Samplers and censorships that are Python functions, inside a study."""

import re

import numpy as np
import pytest

from halfseen import (
    AnyFunction,
    FiniteActions,
    InvalidInput,
    LinearBandit,
    LinThompson,
    LinUCB,
    Logistic,
    MultiThreshold,
    PerAction,
    RandomActions,
    Result,
    SampledActions,
    SequenceOfActions,
    StorageError,
    Study,
    Uniform,
    UnitBall,
    simulate,
)
from halfseen.censorship.smallest import smallest_observe
from halfseen.draws import AVAILABILITY
from halfseen.engine.backends import reference
from halfseen.engine.cells import own_actions
from halfseen.engine.cells.linear import LinearCell
from halfseen.engine.player import player
from halfseen.engine.specialise import fitted
from halfseen.report import write_report
from halfseen.studies.toml_text import to_toml
from halfseen.testing.linear import check_linear_cell
from halfseen.theory import regret_bounds

THETA = [0.5, -0.3, 0.2]
HORIZON = 60
SMOOTH = Logistic([1.0, 0.5, -0.2], slope=-2.0, offset=0.3)
STEPS = MultiThreshold([-0.3, 0.4], [0.9, 0.5, 0.1], [1.0, 0.0, 0.0])
SEQUENCE = SequenceOfActions(np.random.default_rng(2).normal(size=(40, 4, 3)), normalize=True)
FINITE = FiniteActions(np.random.default_rng(2).normal(size=(6, 3)), normalize=True)


def sampler(rng, clock):
    return rng.normal(size=(4, 3)) / (1.0 + clock % 3)


def rate(action):
    return float(SMOOTH.probabilities(action[None])[0])


SAMPLED = SampledActions(sampler, 4, 3, normalize=True)
FUNCTION = AnyFunction(rate)


def cell_of(actions, censorship, policy=None):
    problem = LinearBandit(THETA, 0.4, actions)
    checkpoints = np.array([1, 20, HORIZON])
    policy = policy or LinUCB()
    return LinearCell(problem, censorship, policy, HORIZON, 5, checkpoints, np.array([1.0]))


def study_of(actions, censorship, *, replications=3, policies=None, **more):
    problem = LinearBandit(THETA, 0.4, actions)
    return Study(
        problem,
        censorship,
        policies or LinUCB(),
        horizon=HORIZON,
        replications=replications,
        seed=5,
        **more,
    )


@pytest.mark.slow
@pytest.mark.parametrize("actions", [SAMPLED, RandomActions(4, 3), SEQUENCE, FINITE])
def test_engines_agree_whatever_the_chunks(actions):
    check_linear_cell(cell_of(actions, FUNCTION))


@pytest.mark.slow
@pytest.mark.parametrize("censorship", [Uniform(0.4), STEPS, SMOOTH])
def test_engines_agree_on_sampled_actions(censorship):
    check_linear_cell(cell_of(SAMPLED, censorship, LinThompson()))


@pytest.mark.parametrize("actions", [SAMPLED, RandomActions(4, 3), SEQUENCE, FINITE])
def test_function_plays_like_the_model_it_computes(actions):
    """The compiled model and its Python twin see the same actions, coins and rewards."""
    both = {"model": SMOOTH, "function": FUNCTION}
    tracks = simulate(study_of(actions, both, baseline=False), engine="reference").tracks
    for array in tracks.values():
        np.testing.assert_allclose(array[:, 0], array[:, 1], rtol=1e-12)
    assert 0 < tracks["observations"][0, 1, 0, :, -1].sum() < 3 * HORIZON


def test_vectorized_function_gives_the_same():
    fast = AnyFunction(SMOOTH.probabilities, vectorized=True)
    study = study_of(SAMPLED, {"one": FUNCTION, "many": fast}, baseline=False)
    for array in simulate(study, engine="reference").tracks.values():
        np.testing.assert_array_equal(array[:, 0], array[:, 1])


@pytest.mark.parametrize("censorship", [STEPS, FUNCTION])
def test_replication_is_played_on_the_rounds_its_generator_samples(censorship):
    cell = cell_of(SAMPLED, censorship)
    track = cell.blank(3, cell.groups, 3)
    reference.run(cell, track, report=lambda done: None, workers=1)
    key0, key1 = cell.key
    for replication in range(3):
        key = key0 + 2**32 * key1 + 2**64 * replication + 2**96 * AVAILABILITY
        rng = np.random.Generator(np.random.Philox(key=key))
        rounds = [SAMPLED.sample(rng, clock) for clock in range(1, HORIZON + 1)]
        given = cell_of(SequenceOfActions(rounds), censorship)
        row = given.blank(1, cell.groups, 3)
        world = given.world()._replace(key=cell.key)
        play = player(given, fitted, world=world)
        play(replication, replication + 1, row, replication)
        for name, array in row.arrays().items():
            np.testing.assert_array_equal(array[0], track.arrays()[name][replication])


def test_more_replications_change_nothing_and_every_policy_sees_the_same_actions():
    offered = []

    def spy(rng, clock):
        offered.append(sampler(rng, clock))
        return offered[-1]

    actions = SampledActions(spy, 4, 3, normalize=True)
    policies = {"ucb": LinUCB(), "thompson": LinThompson()}
    few = study_of(actions, Uniform(0.5), policies=policies, replications=2)
    offered.clear()
    short = simulate(few, engine="reference").tracks["regret"]
    sampled = np.array(offered).reshape(4, 2, HORIZON, 4, 3)  # cells, replications
    assert (sampled == sampled[0]).all()
    assert not (sampled[0, 0] == sampled[0, 1]).any()
    many = study_of(SAMPLED, Uniform(0.5), policies=policies, replications=4)
    np.testing.assert_array_equal(
        simulate(many, engine="reference").tracks["regret"][:, :, :, :2], short
    )


def test_what_a_sampler_returns_is_checked():
    def bad(value, when):
        return lambda rng, clock: value if clock == when else np.full((4, 3), 0.1)

    with pytest.raises(InvalidInput, match=r"in round 1` must return an array of shape \(4, 3\)"):
        study_of(SampledActions(bad([[1.0, 0.0]], 1), 4, 3), Uniform(0.5))
    for value, words in (
        (np.full((4, 3), 1.0), "length of at most 1"),
        (np.full((4, 3), np.nan), "must be finite"),
        (np.zeros((3, 4)), r"shape \(4, 3\)"),
        ("text", "must be an array of numbers"),
    ):
        study = study_of(SampledActions(bad(value, 7), 4, 3), Uniform(0.5))
        with pytest.raises(InvalidInput, match=rf"sampler in round 7.*{words}"):
            simulate(study, engine="reference")
    lists = SampledActions(lambda rng, clock: [[1, 0, 0]] * 4, 4, 3)
    assert lists.sample_rounds(np.random.default_rng(1), 2).tolist() == [[[1.0, 0.0, 0.0]] * 4] * 2


def test_what_a_function_returns_is_checked():
    study = study_of(SEQUENCE, AnyFunction(lambda a: 0.5 if a[0] > -0.9 else 2.0))
    with pytest.raises(InvalidInput, match=r"AnyFunction\.function.*at most 1; got 2\.0"):
        simulate(study)
    with pytest.raises(InvalidInput, match=r"must return 4 probabilities.*got \(\)"):
        study_of(SEQUENCE, AnyFunction(lambda a: 0.5, vectorized=True))
    with pytest.raises(InvalidInput, match=r"AnyFunction\.vectorized"):
        AnyFunction(rate, vectorized="yes")


def test_what_cannot_be_played_is_refused():
    with pytest.raises(InvalidInput, match=r"a `profile` on the unit ball.*RandomActions"):
        study_of(UnitBall(3), FUNCTION)
    with pytest.raises(InvalidInput, match="or AnyFunction when actions change"):
        study_of(SAMPLED, PerAction([0.5] * 4))
    with pytest.raises(InvalidInput, match=r"`.*horizon` times count times dimension"):
        Study(LinearBandit(THETA, actions=SAMPLED), Uniform(0.5), LinUCB(), horizon=10**9)
    assert own_actions.MOST_NUMBERS * 8 == 2**31
    Study(LinearBandit(THETA, actions=RandomActions(4, 3)), Uniform(0.5), LinUCB(), horizon=10**9)


@pytest.mark.parametrize(
    ("actions", "censorship", "place"),
    [
        (SAMPLED, Uniform(0.5), "problems.linear.actions.sampler"),
        (FINITE, FUNCTION, "censorships.function.function"),
    ],
)
def test_functions_are_stored_by_their_code_and_must_be_given_again(
    tmp_path, actions, censorship, place
):
    study = study_of(actions, censorship)
    result = simulate(study, engine="reference", out=tmp_path / "new")
    assert result.data.sizes["replication"] == 3
    assert not np.isnan(result.data["seconds"]).any()
    assert Result.load(tmp_path / "new", study).data.identical(result.data)
    asked = rf"Python functions \({re.escape(place)}\).*`Result.load\(folder, study\)`"
    with pytest.raises(StorageError, match=asked):
        Result.load(tmp_path / "new")
    with pytest.raises(InvalidInput, match="`study` must be the one in the folder"):
        Result.load(tmp_path / "new", study_of(actions, censorship, replications=4))
    with pytest.raises(InvalidInput, match=rf"^`{re.escape(place)}` must be described by numbers"):
        to_toml(study)


@pytest.mark.parametrize("how", ["simulate", "save"])
def test_a_function_that_holds_an_open_file_is_not_stored(tmp_path, how):
    with (tmp_path / "open").open("w") as file:
        study = study_of(FINITE, AnyFunction(lambda action: 0.5 if file else 0.6))
        result = simulate(study, engine="reference")
        assert not np.isnan(result.data["seconds"]).any()
        store = {"save": result.save, "simulate": lambda out: simulate(study, out=out)}[how]
        with pytest.raises(InvalidInput, match=r"^`censorships.function` must be made of code and"):
            store(tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_report_says_what_a_function_leaves_unknown(tmp_path):
    result = simulate(study_of(RandomActions(4, 3), FUNCTION), engine="reference")
    page = write_report(result, tmp_path).read_text()
    assert "d/p_min is not known for a Python function" in page
    assert "is a Python function of the action" in page
    assert "censorships.function.function" in page
    assert not (tmp_path / "spec.toml").exists()


def test_digests_tell_functions_apart():
    def twin(share):
        return AnyFunction(lambda action: share)

    one, two = twin(0.5), twin(0.6)
    assert study_of(FINITE, one).digest() == study_of(FINITE, twin(0.5)).digest()
    assert study_of(FINITE, one).digest() != study_of(FINITE, two).digest()
    study = study_of(FINITE, {"a": one, "b": two}, baseline=False)
    assert len(set(study.fingerprints().cells.values())) == 2


def test_smallest_probability_is_that_of_the_actions():
    problem = LinearBandit(THETA, actions=SEQUENCE)
    rows = SEQUENCE.array.reshape(-1, 3)
    least = SMOOTH.probabilities(rows).min()
    assert smallest_observe(problem, SMOOTH) == least > SMOOTH.observe_range[0]
    assert smallest_observe(problem, FUNCTION) == pytest.approx(least)
    away = MultiThreshold([1.5], [0.9, 0.01], [1.0, 0.0, 0.0])
    assert smallest_observe(problem, away) == 0.9
    assert regret_bounds(problem, FUNCTION, LinUCB(), 100)["potential"].applies


@pytest.mark.parametrize("actions", [SAMPLED, RandomActions(4, 3)])
def test_bounds_say_what_they_miss(actions):
    problem = LinearBandit(THETA, actions=actions)
    assert np.isnan(smallest_observe(problem, FUNCTION))
    table = regret_bounds(problem, FUNCTION, LinUCB(), 100, potential=2.0)
    assert {bound.name for bound in table if bound.applies} == {"measured potential", "trivial"}
    assert "unknown for a Python function" in table["potential"].reason
    other = regret_bounds(problem, FUNCTION, LinThompson(), 100)
    assert "proved for LinUCB" in other["potential"].reason


def test_memory_message_speaks_of_actions():
    study = study_of(FINITE, Uniform(0.5), replications=2**31, checkpoints=60)
    with pytest.raises(InvalidInput, match=r"6 actions x 3 dimensions'\. Lower.* or actions"):
        Result.empty(study)
