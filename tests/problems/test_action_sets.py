"""Sets of vectors: what they refuse, and that random ones have the law they claim."""

import math
from functools import cache
from types import FunctionType

import numpy as np
import pytest
from numba import njit
from scipy import stats

from halfseen.draws import AVAILABILITY
from halfseen.errors import InvalidInput, StorageError
from halfseen.problems import LINEAR_ACTIONS
from halfseen.problems import action_sets as contexts
from halfseen.problems.action_sets import (
    DRAWS,
    FiniteActions,
    RandomActions,
    SampledActions,
    SequenceOfActions,
    UnitBall,
)

STREAM = (7, 11, 3, AVAILABILITY)


@cache
def compiled(function):
    """Compile a function and all it calls, leaving the originals alone."""
    calls = {
        name: compiled(value)
        for name in function.__code__.co_names
        if isinstance(value := function.__globals__.get(name), FunctionType)
    }
    return njit(FunctionType(function.__code__, function.__globals__ | calls, function.__name__))


BAD = [
    (None, "must be an array of numbers"),
    ("ab", "must be an array of numbers"),
    ([1.0, 0.0], "must be an array of numbers"),
    ([[1.0], [0.0, 1.0]], "must be an array of numbers"),
    ([[True, False]], "must be an array of numbers"),
    ([["a", "b"]], "must be an array of numbers"),
    ([[[1.0]]], "must be an array of numbers"),
    ([], "must not be empty"),
    (np.empty((0, 3)), "must not be empty"),
    ([[]], "must not be empty"),
]


@pytest.mark.parametrize(("actions", "message"), BAD)
def test_finite_actions_are_an_array(actions, message):
    with pytest.raises(InvalidInput, match=rf"^`FiniteActions\.actions` {message}"):
        FiniteActions(actions)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_named(bad):
    rows = [[0.1, 0.2], [0.3, bad]]
    for normalize in (False, True):
        with pytest.raises(InvalidInput, match=r"^`FiniteActions\.actions\[1\]` must be finite"):
            FiniteActions(rows, normalize=normalize)
    with pytest.raises(InvalidInput, match=r"rounds\[1\]\[0\]` must be finite"):
        SequenceOfActions([[[0.1, 0.2]], [[0.3, bad]]])


def test_long_actions_are_refused_with_a_fix():
    with pytest.raises(InvalidInput) as caught:
        FiniteActions([[0.6, 0.8], [0.6, 0.81], [3.0, 4.0]])
    assert caught.value.field == "FiniteActions.actions[1]"
    assert "at most 1; got 1.008" in str(caught.value)
    assert "normalize=True" in caught.value.fix
    with pytest.raises(InvalidInput, match="got inf"):
        FiniteActions([[1e200, 1e200]])
    assert FiniteActions([[1.0 + 5e-10, 0.0]]).count == 1
    with pytest.raises(InvalidInput, match="normalize=True"):
        FiniteActions([[1.0 + 5e-9, 0.0]])


def test_normalizing():
    given = np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0], [1e200, 1e200]])
    actions = FiniteActions(given, normalize=True)
    half = math.sqrt(0.5)
    np.testing.assert_allclose(actions.actions, [[0.6, 0.8], [0, 0], [1, 0], [half, half]])
    assert given[0, 0] == 3.0
    assert actions == FiniteActions(actions.actions)
    assert not actions.normalize
    with pytest.raises(InvalidInput, match="must be true or false"):
        FiniteActions(given, normalize=1)


def test_finite_actions_are_frozen_copies():
    given = np.array([[1, 0], [0, 1], [0, 0]])
    actions = FiniteActions(given)
    given[0, 0] = 9
    assert actions.actions[0, 0] == 1.0
    assert (actions.count, actions.dimension) == (3, 2)
    with pytest.raises(ValueError, match="read-only"):
        actions.actions[0, 0] = 0.5
    assert actions == FiniteActions([[1, 0], [0, 1], [0, 0]])
    assert hash(actions) == hash(FiniteActions([[1, 0], [0, 1], [0, 0]]))
    assert actions != FiniteActions([[1, 0], [0, 1], [0, 0.5]])
    assert actions != "other"


@pytest.mark.slow
@pytest.mark.parametrize("law", DRAWS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_draws_are_the_same_raw_and_compiled(law, d):
    fast = compiled(DRAWS[law])
    plain, quick = np.empty(d), np.empty(d)
    for clock in (1, 2, 2**40):
        for k in range(40):
            DRAWS[law](STREAM, clock, k, plain)
            fast(STREAM, clock, k, quick)
            assert plain.tolist() == quick.tolist()


def sample(law, d, rounds, count):
    """Return many actions, drawn by compiled code."""
    kernel = compiled(DRAWS[law])

    @njit
    def fill(out):
        for clock in range(out.shape[0]):
            for k in range(out.shape[1]):
                kernel(STREAM, clock + 1, k, out[clock, k])

    rows = np.empty((rounds, count, d))
    fill(rows)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_sphere_is_uniform(d):
    rows = sample("sphere", d, 20_000, 5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=2), 1.0, rtol=1e-14)
    flat = rows.reshape(-1, d)
    coordinate = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1.0, scale=2.0)
    for i in range(d):
        assert stats.kstest(flat[:, i], coordinate.cdf).pvalue > 1e-3
    np.testing.assert_allclose(flat.T @ flat / len(flat), np.eye(d) / d, atol=0.01)
    for pair in ((rows[:, 0], rows[:, 1]), (rows[:-1, 0], rows[1:, 0])):  # independent
        np.testing.assert_allclose(pair[0].T @ pair[1] / len(pair[0]), 0.0, atol=0.01)


@pytest.mark.slow
def test_gaussian_actions_are_shortened_normals():
    rows = sample("gaussian", 3, 20_000, 5).reshape(-1, 3)
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths.max() <= 1.0 + 1e-15
    inside = stats.chi2(3).cdf(3.0)
    assert np.mean(lengths < 1.0 - 1e-12) == pytest.approx(inside, abs=0.006)
    short = lengths[lengths < 1.0 - 1e-12]
    law = stats.kstest(3.0 * short**2, lambda x: stats.chi2(3).cdf(x) / inside)
    assert law.pvalue > 1e-3
    turned = rows / lengths[:, None]
    np.testing.assert_allclose(turned.T @ turned / len(rows), np.eye(3) / 3, atol=0.01)


@pytest.mark.slow
def test_one_dimension_is_a_fair_coin():
    rows = sample("sphere", 1, 5_000, 2)
    np.testing.assert_allclose(np.abs(rows), 1.0, rtol=2e-16)
    assert abs(rows.mean()) < 0.04


def test_zero_normals_still_give_an_action(monkeypatch):
    monkeypatch.setattr(contexts, "normal_from", lambda *_: 0.0)
    out = np.empty(2)
    contexts.draw_action(STREAM, 1, 0, out)
    assert out.tolist() == [1.0, 0.0]
    contexts.draw_gaussian_action(STREAM, 1, 0, out)
    assert out.tolist() == [0.0, 0.0]


def test_random_actions_depend_on_nothing_but_their_place():
    few, many = RandomActions(2, 3), RandomActions(5, 3)
    assert few.sample(STREAM, 4).tolist() == many.sample(STREAM, 4)[:2].tolist()
    assert few.sample(STREAM, 4).tolist() != few.sample(STREAM, 5).tolist()
    other = (7, 11, 4, AVAILABILITY)
    assert few.sample(STREAM, 4).tolist() != few.sample(other, 4).tolist()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((0, 2), "count"),
        ((2, 0), "dimension"),
        ((1.5, 2), "count"),
        ((2, 2, "Sphere"), "law"),
        ((2, 2, None), "law"),
        ((10_000_001, 1), "count"),
        ((100_000, 400), "count"),
    ],
)
def test_random_actions_refuse(arguments, field):
    with pytest.raises(InvalidInput, match=rf"^`RandomActions\.{field}`"):
        RandomActions(*arguments)


def test_sampled_actions_are_checked_as_they_come():
    actions = SampledActions(lambda rng, clock: rng.normal(size=(2, 3)) / 100, 2, 3)
    rows = actions.sample(np.random.default_rng(1), 1)
    assert rows.shape == (2, 3)
    for sampler, message in (
        (lambda rng, clock: np.zeros((3, 2)), r"round 8` must return an array of shape \(2, 3\)"),
        (lambda rng, clock: np.full((2, 3), np.nan), r"round 8\[0\]` must be finite"),
        (lambda rng, clock: np.full((2, 3), 2.0), "normalize=True"),
        (lambda rng, clock: None, "must be an array of numbers"),
    ):
        with pytest.raises(InvalidInput, match=message):
            SampledActions(sampler, 2, 3).sample(np.random.default_rng(1), 8)
    long = SampledActions(lambda rng, clock: np.full((2, 3), 2.0), 2, 3, normalize=True)
    np.testing.assert_allclose(long.sample(None, 1), math.sqrt(1 / 3))
    with pytest.raises(InvalidInput, match="must be a function"):
        SampledActions(3, 2, 3)
    with pytest.raises(InvalidInput, match=r"SampledActions\.count"):
        SampledActions(print, 0, 3)


def test_sequences_come_from_arrays_or_files(tmp_path):
    rng = np.random.default_rng(1)
    array = rng.uniform(-0.5, 0.5, size=(7, 4, 3))
    path = tmp_path / "rounds.npy"
    np.save(path, array)
    given, mapped = SequenceOfActions(array), SequenceOfActions(path)
    assert (mapped.count, mapped.dimension, mapped.rounds) == (4, 3, str(path))
    for clock in (1, 7, 8, 100):
        assert np.array_equal(given.at(clock), array[(clock - 1) % 7])
        assert np.array_equal(mapped.at(clock), array[(clock - 1) % 7])
    assert type(mapped.array) is np.ndarray
    assert isinstance(mapped.array.base, np.memmap)
    assert not given.array.flags.writeable
    assert not mapped.array.flags.writeable
    assert mapped == SequenceOfActions(str(path))
    assert given == SequenceOfActions(array)
    assert hash(given) == hash(SequenceOfActions(array))
    assert given != mapped
    assert given != SequenceOfActions(array / 2)
    assert given != "other"


def test_sequences_are_checked_to_the_last_round(tmp_path):
    array = np.zeros((70_000, 1, 2))
    array[-1, 0, 0] = 1.1
    path = tmp_path / "rounds.npy"
    np.save(path, array)
    for source in (array, path):
        with pytest.raises(InvalidInput, match=r"rounds\[69999\]\[0\]` must have a length of at"):
            SequenceOfActions(source)
        assert SequenceOfActions(source, normalize=True).at(70_000).tolist() == [[1.0, 0.0]]
    assert np.load(path)[-1, 0, 0] == 1.1


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(StorageError, match=r"Cannot read .*nowhere\.npy: No such file"):
        SequenceOfActions(tmp_path / "nowhere.npy")
    objects, single, text, archive, flat, empty = (
        tmp_path / f"{name}.npy" for name in ("o", "s", "t", "a", "f", "e")
    )
    np.save(objects, np.array([[[{}]]], dtype=object), allow_pickle=True)
    np.save(single, np.zeros((1, 1, 1), np.float32))
    text.write_text("not an array")
    with archive.open("wb") as file:
        np.savez(file, np.zeros((1, 1, 1)))
    empty.touch()
    for path in (objects, single, text, archive, empty):
        with pytest.raises(InvalidInput, match=r"must be a \.npy file of float64"):
            SequenceOfActions(path)
    np.save(flat, np.zeros((2, 2)))
    with pytest.raises(InvalidInput, match=r"array of numbers \(T, K, d\)"):
        SequenceOfActions(flat)


def test_the_ball_and_the_kinds():
    assert UnitBall(3).dimension == 3
    with pytest.raises(InvalidInput, match=r"UnitBall\.dimension"):
        UnitBall(0)
    assert len(LINEAR_ACTIONS) == 5
    assert all(actions.kind == kind for kind, actions in LINEAR_ACTIONS.items())
