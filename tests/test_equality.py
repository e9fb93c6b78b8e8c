"""Objects that hold arrays can be compared with ==."""

import copy
import importlib
import pkgutil
import re
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest

import halfseen
from halfseen import UCB, ArmedBandit, FiniteActions, LinearBandit, PerArm, Study, Uniform, theory
from halfseen.equality import ByValue, same

ARRAY = re.compile(r"Vector|NDArray|ndarray|Floats|Arrays")


def dataclasses_with_arrays():
    for module in pkgutil.walk_packages(halfseen.__path__, "halfseen."):
        if module.name.startswith("halfseen.engine.cuda") or module.name.endswith("__main__"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if not (isinstance(kind, type) and is_dataclass(kind)):
                continue
            if kind.__module__ == module.name and any(
                ARRAY.search(re.sub(r"Callable\[\[.*", "", str(entry.type)))
                for entry in fields(kind)
            ):
                yield kind


def test_no_dataclass_with_an_array_field_has_the_equality_of_plain_dataclasses():
    kinds = list(dataclasses_with_arrays())
    assert len(kinds) > 40
    generated = [k.__qualname__ for k in kinds if k.__dataclass_params__.eq]
    assert generated == []


@dataclass(frozen=True, eq=False)
class Found(ByValue):
    values: object
    name: str = ""


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.0]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 3.0]), False),
        (np.array([1.0, 2.0]), np.array([1.0]), False),
        (np.array([np.nan]), np.array([np.nan]), True),
        (np.array([1.0]), [1.0], False),
        (np.array(["a", None], object), np.array(["a", None], object), True),
        (np.array(["a"]), np.array(["b"]), False),
        ({"x": (np.zeros(2), 1)}, {"x": (np.zeros(2), 1)}, True),
        ({"x": np.zeros(2)}, {"y": np.zeros(2)}, False),
        ([float("nan")], [float("nan")], True),
        ((1, 2), (1, 2, 3), False),
    ],
)
def test_values_are_equal_entry_by_entry(one, other, equal):
    assert same(one, other) is equal
    assert (Found(one) == Found(other)) is equal
    assert (Found(one) != Found(other)) is not equal


def test_objects_of_other_classes_are_not_equal_and_nothing_with_arrays_is_hashable():
    assert Found(1) != 1
    assert Found(1, "a") != Found(1, "b")
    with pytest.raises(TypeError, match="unhashable type: 'Found'"):
        hash(Found(1))


def test_results_equal_their_copies_and_not_each_other():
    arms, seen = ArmedBandit([0.6, 0.5], noise=0.5), PerArm([0.5, 0.9])
    made = [
        theory.water_filling([0.5, 0.9], 10.0, 1.0, 1.0),
        theory.dimension_by_arm([0.5, 0.9]),
        theory.dimension_by_arm([0.5, 0.8]),
        theory.asymptotic_lower_bound(arms, seen),
        theory.finite_lower_bound(arms, seen, 1000.0, 50.0),
        theory.lower_bounds(arms, seen, 1000.0, 50.0),
        halfseen.invest([0.5, 0.9], 1.0, 0.1),
        halfseen.audit({"a": ["x", "y", "x"], "r": [1.0, None, 0.0]}, action="a", reward="r"),
    ]
    for i, one in enumerate(made):
        for j, other in enumerate(made):
            assert (one == copy.deepcopy(other)) is (i == j)


def test_results_of_the_same_study_are_equal_whatever_time_they_took():
    def run(seed):
        study = Study(
            ArmedBandit([0.6, 0.5]), Uniform(0.5), UCB(), horizon=20, replications=2, seed=seed
        )
        return halfseen.simulate(study, engine="reference")

    first, again, other = run(1), run(1), run(2)
    first.facts[next(iter(first.facts))]["seconds"] = 17.0
    assert first == again
    assert first != other


def test_equal_sets_of_actions_have_the_same_hash_even_where_signs_of_zero_differ():
    one, other = FiniteActions([[0.0, 1.0]]), FiniteActions([[-0.0, 1.0]])
    assert one == other
    assert hash(one) == hash(other)
    bandits = [LinearBandit([0.6, 0.8], actions=actions) for actions in (one, other)]
    assert bandits[0] == bandits[1]
    assert hash(bandits[0]) == hash(bandits[1])
