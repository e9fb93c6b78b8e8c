"""Numba code of users behaves the same after halfseen has compiled something that it also calls."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import secrets
import numpy as np
from numba import njit
from halfseen.engine.one_module import whole

@njit
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)

def recursive(values):
    return factorial(int(values[0]))

def sorting(values):
    first = np.sort(values)[0] + np.argsort(values)[0]
    return first + np.median(values) + np.percentile(values, 50)

function, values = {}, np.array([3.0, 1.0, 2.0])
kernel = whole(function, secrets.token_hex(), cached=False, counts=True)
print(kernel(values), njit(function)(values), njit(error_model="numpy")(function)(values))
"""


def printed(function):
    """Return what a kernel and two functions of numba's give in a new process, in this order."""
    script = SCRIPT.replace("{}", function)
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_a_recursive_function_of_a_kernel_can_be_called_by_other_code():
    assert printed("recursive") == ["6", "6", "6"]


@pytest.mark.slow
def test_functions_of_numpy_in_a_kernel_can_be_used_by_other_code():
    assert printed("sorting") == ["6.0", "6.0", "6.0"]
