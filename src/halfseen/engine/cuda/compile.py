"""Compilation of a kernel and its callees for a GPU.

The functions are the same Python functions as in the other engines. A few are replaced by versions
that compute the same numbers in a way that suits a GPU or, in single precision, by shorter ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
from numba import config, cuda
from numba.cuda import libdevice

from halfseen import draws
from halfseen.checks import Vector
from halfseen.draws import Stream
from halfseen.kernels import ridge

WORD = 0xFFFFFFFF
SIMULATED = bool(config.ENABLE_CUDASIM)
PHILOX_ROUNDS = 10
SHORT_ROUNDS = 7  # in single precision: the fewest that pass every test (Salmon and others 2011)
SHORT_ERROR = 1e-4  # relative error of a sum of many rewards in single precision
Exchange = dict[CodeType, Callable[..., Any]]  # by the code of the function that is replaced


def on_device(function: Callable[..., Any], exchange: Exchange, single: bool) -> Any:
    """Return a function, and all it can reach, compiled for the device."""
    made: dict[Callable[..., Any], Any] = {}
    exchanged = ALWAYS | (SHORT if single else {}) | exchange
    given = {"PHILOX_ROUNDS": SHORT_ROUNDS, "ROUNDING_ERROR": SHORT_ERROR} if single else {}

    def compiled(function: Callable[..., Any]) -> Any:
        if function not in made:
            assert isinstance(function, FunctionType)
            names = function.__globals__ | given
            for name in function.__code__.co_names:
                value = names.get(name)
                if isinstance(value, FunctionType):
                    names[name] = compiled(exchanged.get(value.__code__, value))
                elif isinstance(value, np.ndarray):
                    names[name] = cuda.to_device(value.astype(np.float32) if single else value)
                elif single and isinstance(value, float):
                    names[name] = np.float32(value)
            code = function.__code__
            if single:
                numbers = (np.float32(c) if type(c) is float else c for c in code.co_consts)
                code = code.replace(co_consts=tuple(numbers))
            closure = tuple(
                CellType(compiled(cell.cell_contents))
                if isinstance(cell.cell_contents, FunctionType)
                else cell
                for cell in function.__closure__ or ()
            )
            copy = FunctionType(code, names, function.__name__, None, closure)
            made[function] = cuda.jit(device=True, fastmath=single)(copy)
        return made[function]

    return compiled(function)


def wide_philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> tuple[int, int, int, int]:
    """Return the same as `draws.philox`, with types that distinguish 32 from 64 bits."""
    x0, x1, x2, x3 = np.uint32(c0), np.uint32(c1), np.uint32(c2), np.uint32(c3)
    for _ in range(PHILOX_ROUNDS):
        a = np.uint64(x0) * np.uint64(0xD2511F53)
        b = np.uint64(x2) * np.uint64(0xCD9E8D57)
        x0 = np.uint32(b >> np.uint64(32)) ^ x1 ^ np.uint32(k0)
        x1 = np.uint32(b & np.uint64(WORD))
        x2 = np.uint32(a >> np.uint64(32)) ^ x3 ^ np.uint32(k1)
        x3 = np.uint32(a & np.uint64(WORD))
        k0 = (k0 + 0x9E3779B9) & WORD
        k1 = (k1 + 0xBB67AE85) & WORD
    return int(x0), int(x1), int(x2), int(x3)


def product(a: float, b: float) -> Any:
    """Return a * b, rounded before anything is added to it.

    A GPU would round a * b + c only once, and ties between unit vectors must not depend on that.
    """
    if SIMULATED:
        return a * b
    return libdevice.dmul_rn(a, b)


def refresh_actions(
    columns: Vector, inverse: Vector, theta: Vector, means: Vector, widths: Vector
) -> None:
    """Do the same as `ridge.refresh_actions`, to the last bit before the first observation."""
    d, actions = columns.shape
    for k in range(actions):
        mean = 0.0
        width = 0.0
        for i in range(d):
            mean += columns[i, k] * theta[i]
            for j in range(d):
                width += product(inverse[i, j], columns[i, k] * columns[j, k])
        means[k] = mean
        widths[k] = width if width > 0.0 else 0.0


def short_unit(high: int, low: int) -> Any:
    """Return a multiple of 2**-24 in [0, 1[ from one word."""
    return np.float32(np.int32(high >> 8)) * np.float32(2.0**-24)


def short_open_unit(word: int) -> Any:
    """Return a number in ]0, 1] from one word."""
    return (np.float32(np.uint32(word)) + np.float32(0.5)) * np.float32(2.0**-32)


def short_normal(high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return a standard normal number from two words (Box and Muller), without a branch."""
    turn = np.float32(2.0 * math.pi) * short_unit(low, high)
    return math.sqrt(np.float32(-2.0) * math.log(short_open_unit(high))) * math.cos(turn)


def short_exponential(high: int, low: int, stream: Stream, count: int, arm: int) -> float:
    """Return a standard exponential number from one word."""
    return -math.log(short_open_unit(high))


ALWAYS: Exchange = {
    draws.philox.__code__: wide_philox,
    ridge.refresh_actions.__code__: refresh_actions,
}
SHORT: Exchange = {
    draws.unit.__code__: short_unit,
    draws.normal_from.__code__: short_normal,
    draws.exponential_from.__code__: short_exponential,
}
