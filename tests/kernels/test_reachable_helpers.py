"""Compiled code is made anew when anything it was made from changes, on disk and in a process."""

import math
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
import pytest

from halfseen import ArmedBandit, Policy, Study, Uniform, simulate
from halfseen.kernels.reachable import fingerprint, renewed

KERNEL = """
import math, numba, enum
import numpy as np
from collections import namedtuple
import settings_of_kernel
{head}
def index(state, arm, clock, stream, table):
    x = float(arm)
    {body}
"""
PLACES = {
    "njit": ("@numba.njit\ndef g(x):\n    return @@ * x", "return g(x)"),
    "njit's global": ("K = @@\n@numba.njit\ndef g(x):\n    return K * x", "return g(x)"),
    "vectorize": ("@numba.vectorize\ndef g(x):\n    return @@ * x", "return g(x)"),
    "default": ("def g(x, k=@@):\n    return k * x", "return g(x)"),
    "float32": ("K = np.float32(@@)", "return K * x"),
    "int64": ("K = np.int64(@@)", "return K * x"),
    "complex": ("K = complex(@@, 0.0)", "return K.real * x"),
    "enum": ("class M(enum.Enum):\n    A = @@", "return M.A.value * x"),
    "inner function": ("", "f = lambda z: @@ * z\n    return f(x)"),
    "module": ("", "return settings_of_kernel.K * x"),
    "shape": ("K = np.ones((2, 1) if @@ > 0 else (1, 2))", "return (K.shape[0] - 1.5) * x"),
    "dtype": ("K = np.zeros(1, np.int64 if @@ > 0 else np.uint64)", "return K[0] + x"),
}


@pytest.mark.parametrize("place", PLACES)
def test_compiled_code_has_another_key_when_a_number_changes(place, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    head, body = PLACES[place]
    keys = []
    for number in ("1.0", "-1.0"):
        monkeypatch.setitem(sys.modules, "settings_of_kernel", module := type(sys)("of_kernel"))
        module.K = float(number)
        text = KERNEL.format(head=head, body=body).replace("@@", number)
        path = tmp_path / f"kernel{number}.py"
        path.write_text(text)
        space = {"__name__": "kernel_in_a_test"}
        exec(compile(text, str(path), "exec"), space)
        keys.append(fingerprint(space["index"]))
    assert None not in keys
    assert len(set(keys)) == 2


LOCK = threading.Lock()


def test_code_that_reaches_what_cannot_be_written_down_is_not_kept():
    def index(x):
        return x if LOCK is None else -x

    assert fingerprint(index) is None
    first, second = renewed(index), renewed(index)
    assert first is not second
    assert first(1.0) == second(1.0) == -1.0


GAIN = 1.0


@numba.njit
def compiled_gain(x):
    return GAIN * x


def plain(x, k=1.0):
    return k * x


def index(state, arm, clock, stream, table):
    if state[arm, 0] == 0.0:
        return math.inf
    return compiled_gain(plain(state[arm, 1] / state[arm, 0]))


@dataclass(frozen=True)
class Gaining(Policy):
    """Play the arm whose mean, times a gain, is largest."""

    kind: ClassVar[str] = "gaining"
    waits = True
    index = staticmethod(index)

    def table(self, setting):
        return np.zeros((setting.arms, 1))


def regrets():
    problem = ArmedBandit([0.2, 0.8], reward="bernoulli")
    study = Study(problem, Uniform(0.7), Gaining(), horizon=50, replications=2, baseline=False)
    return [
        float(simulate(study, engine=engine).data["regret"].values.max())
        for engine in ("reference", "cpu")
    ]


@pytest.mark.slow
def test_helpers_that_numba_compiled_are_compiled_again_in_a_running_process(monkeypatch):
    first = regrets()
    monkeypatch.setitem(globals(), "GAIN", -1.0)  # behind a function numba has compiled
    second = regrets()
    monkeypatch.undo()
    again = regrets()
    monkeypatch.setitem(globals(), "plain", lambda x, k=-1.0: k * x)
    third = regrets()
    assert first[0] == first[1] == again[0] == again[1] < 15.0
    assert second == third
    assert second[0] == second[1] > 15.0


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from gaining import Gaining
from halfseen import ArmedBandit, Study, Uniform, simulate
problem = ArmedBandit([0.2, 0.8], reward="bernoulli")
study = Study(problem, Uniform(0.7), Gaining(), horizon=50, replications=2, baseline=False)
for engine in ("reference", "cpu"):
    print(float(simulate(study, engine=engine).data["regret"].values.max()))
"""
GAINING = """
import math
from dataclasses import dataclass
from typing import ClassVar
import numba, numpy as np
from halfseen import Policy
@numba.njit
def gain(x):
    return @@ * x
def index(state, arm, clock, stream, table):
    return gain(state[arm, 1] / state[arm, 0]) if state[arm, 0] > 0.0 else math.inf
@dataclass(frozen=True)
class Gaining(Policy):
    kind: ClassVar[str] = "gaining-elsewhere"
    waits = True
    index = staticmethod(index)
    def table(self, setting):
        return np.zeros((setting.arms, 1))
"""


@pytest.mark.slow
def test_an_edited_helper_is_not_answered_from_disk(tmp_path):
    found = []
    for number in ("1.0", "-1.0"):
        (tmp_path / "gaining.py").write_text(GAINING.replace("@@", number))
        command = [sys.executable, "-B", "-c", SCRIPT.format(here=str(tmp_path))]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
        found.append([float(line) for line in done.stdout.split()])
    assert found[0][0] == found[0][1] < 15.0 < found[1][0] == found[1][1]


@numba.njit
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def factorial_of(x):
    return factorial(int(x))


def test_a_helper_that_numba_compiled_may_call_itself():
    copy = renewed(factorial_of)
    assert copy is not factorial_of
    assert numba.njit(copy)(5.0) == 120


def third(x):
    return x / 3.0


SINGLE = "float32(float32)"
DECLARED = {
    "njit": lambda: numba.njit(SINGLE)(third),
    "vectorize": lambda: numba.vectorize(["int64(float64)"])(third),
    "locals": lambda: numba.njit(locals={"x": numba.float32})(third),
}


@pytest.mark.parametrize("how", DECLARED)
def test_a_helper_declared_for_some_types_keeps_them_and_is_known_by_them(how, monkeypatch):
    """A copy of it computed in double precision, and the code of before an edit was played."""

    def kernel(x):
        return helper(x)  # noqa: F821

    monkeypatch.setitem(globals(), "helper", numba.njit(third))
    before = fingerprint(kernel)
    assert renewed(kernel)(5.0) == 5.0 / 3.0
    monkeypatch.setitem(globals(), "helper", DECLARED[how]())
    assert fingerprint(kernel) != before
    expected = kernel(5.0)
    assert renewed(kernel)(5.0) == expected
    assert numba.njit(renewed(kernel))(5.0) == expected


def test_a_kernel_declared_for_some_types_keeps_them():
    kernel = numba.njit(SINGLE)(third)
    assert renewed(kernel) is not kernel
    assert renewed(kernel)(1.0) == kernel(1.0) == np.float32(1.0) / np.float32(3.0)
