"""A loop and all it reaches is one module; shared functions are compiled once, apart."""

import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from shared_loop import EXPECTED, Kernels, double, loop, small, triple, weigh

from halfseen import (
    GLMUCB,
    GeneralizedLinearBandit,
    LinearBandit,
    LinUCB,
    RandomActions,
    Study,
    Uniform,
)
from halfseen.engine import shared_code
from halfseen.engine.loops.drawn import draw_rounds
from halfseen.engine.specialise import compiled, fitted, may_allocate
from halfseen.kernels.compile_hints import shared
from halfseen.problems.action_sets import draw_action


@pytest.mark.slow
def test_shared_functions_give_what_plain_python_gives(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path))
    for kernel, expected in EXPECTED.items():
        values = np.zeros(4)
        assert fitted(loop, Kernels(kernel))(values) == expected
        assert compiled(loop, Kernels(kernel))(np.zeros(4)) == expected


def test_a_second_loop_compiles_no_shared_function_again(monkeypatch):
    compiled(loop, Kernels(double))(np.zeros(4))
    before = dict(shared_code._provided)
    compiled(loop, Kernels(triple))(np.zeros(4))
    assert shared_code._provided == before


SCRIPT = """
import numpy as np
from shared_loop import EXPECTED, Kernels, double, loop
from halfseen.engine import shared_code
from halfseen.engine.specialise import compiled
function = compiled(loop, Kernels(double))
assert function(np.zeros(4)) == EXPECTED[double]
shared = [entry.dispatcher.stats for entry in shared_code._shared.values()]
print(sum(function.stats.cache_hits.values()), *(sum(s.cache_misses.values()) for s in shared))
"""


@pytest.mark.slow
def test_a_new_process_finds_the_loop_and_what_it_shares_on_disk(tmp_path):
    path = ":".join(filter(None, sys.path))
    environment = {"HALFSEEN_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
    command = [sys.executable, "-c", SCRIPT]
    printed = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert printed == ["0 1 1 1\n", "1 0 0 0\n"]
    for path in (tmp_path / "cache").iterdir():
        if path.stat().st_size == min(p.stat().st_size for p in (tmp_path / "cache").iterdir()):
            path.unlink()
            break
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.startswith("1 ")
    assert sorted(again.stdout.split()[1:]) == ["0", "0", "1"]


def test_plain_numba_code_can_call_a_function_that_a_loop_was_compiled_with():
    compiled(loop, Kernels(double))(np.zeros(4))

    @njit
    def outside(x):
        return small(x) + 1.0

    assert outside(2.0) == 4.0


def test_a_function_marked_inline_leaves_no_call():
    function = compiled(uses_small, Kernels(double))
    assert function(2.0) == 6.0
    (result,) = function.overloads.values()
    defined = [f.name for f in result.library.get_defined_functions()]
    assert not any("small" in name and "uses_small" not in name for name in defined)


@shared
def product(values):
    found = 1.0
    for k in range(values.size):
        found *= values[k]
    return found


def uses_product(values):
    return weigh(product(values))


def test_a_shared_function_may_be_compiled_on_its_own_too(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path))
    values = np.array([2.0, 3.0])
    assert compiled(product, Kernels(double))(values) == 6.0
    assert compiled(uses_product, Kernels(double))(values) == 12.0


def uses_small(x):
    return weigh(small(x))


def counts_references(function):
    """Return whether a compiled function takes its arrays as objects whose references count."""
    (result,) = function.overloads.values()
    return "@NRT_adapt_ndarray_from_python(" in result.library.get_llvm_str()


def shifted_rows(rows):
    shifted = rows + 1.0
    return weigh(shifted[0].sum())


@pytest.mark.slow
def test_our_functions_count_no_references_to_arrays_and_those_of_users_may_allocate(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path))
    draw = compiled(draw_rounds, Kernels(double), draw=draw_action)
    offered = np.zeros((2, 3, 4))
    draw((1, 2, 0, 1), offered)
    assert not counts_references(draw)
    expected = np.zeros((2, 3, 4))
    fitted(draw_rounds, Kernels(double), draw=draw_action)((1, 2, 0, 1), expected)
    assert offered.tobytes() == expected.tobytes()
    theirs = compiled(shifted_rows, Kernels(double))
    assert theirs(np.ones((2, 3))) == 12.0
    assert counts_references(theirs)


def test_only_the_loop_that_keeps_observed_rounds_may_allocate():
    linear = LinearBandit([0.6, 0.3], 1.0, RandomActions(3, 2))
    logistic = GeneralizedLinearBandit([0.6, 0.3], link="logistic", actions=RandomActions(3, 2))
    for problem, policy, allocates in ((linear, LinUCB(), False), (logistic, GLMUCB(), True)):
        study = Study(problem, Uniform(0.5), policy, horizon=10, replications=1, baseline=False)
        _, cell = next(study.cells())
        loop = fitted(cell.loop, cell.policy.kernels(), **cell.open_names)
        assert may_allocate(loop) is allocates
        assert not may_allocate(loop.__globals__["play_once"].__globals__["learn"])
