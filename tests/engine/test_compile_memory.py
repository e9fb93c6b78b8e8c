"""Compilation remembers what it resolved, and resolves the same as numba does."""

import operator
import secrets

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.registry import cpu_target

from halfseen.engine.compile_memory import FewFlags, Remembered, RememberingTyping
from halfseen.engine.one_module import whole

NUMBERS = (types.int64, types.uint64, types.int8, types.float64, types.float32, types.boolean)
PAIRS = (
    operator.add,
    operator.truediv,
    operator.floordiv,
    operator.pow,
    operator.lt,
    operator.and_,
)


@pytest.fixture(scope="module")
def typings():
    numba.njit(lambda x: x + 1)(1.0)  # loads what numba knows
    return cpu_target.typing_context, RememberingTyping(cpu_target.typing_context)


def resolved(typing, operation, kinds):
    """Return the signature of an operation, None if there is none."""
    try:
        return typing.resolve_function_type(operation, kinds, {})
    except numba.core.errors.TypingError:
        return None


@pytest.mark.parametrize("operation", PAIRS)
def test_signatures_are_numbas_at_the_first_call_and_at_the_second(typings, operation):
    numbas, ours = typings
    for a in NUMBERS:
        for b in (*NUMBERS, types.literal(2), types.unicode_type):
            expected = resolved(numbas, operation, (a, b))
            assert resolved(ours, operation, (a, b)) == expected, (a, b)
            assert resolved(ours, operation, (a, b)) == expected, (a, b)


def test_the_second_call_asks_nobody(typings, monkeypatch):
    numbas, _ = typings
    ours = RememberingTyping(numbas)
    first = ours.resolve_function_type(operator.mul, (types.float64, types.int64), {})
    asked = []
    monkeypatch.setattr(type(numbas), "resolve_function_type", lambda *a: asked.append(a))
    kinds = (types.float64, types.int64)
    assert ours.resolve_function_type(operator.mul, kinds, {}) is first
    assert ours.resolve_value_type(operator.mul).get_call_type(ours, kinds, {}) is first
    assert asked == []


def test_an_operation_that_learned_new_types_is_resolved_anew(typings):
    numbas, _ = typings
    ours = RememberingTyping(numbas)

    class Strange(types.Opaque):
        pass

    strange = Strange("strange")
    before = ours.resolve_value_type(operator.matmul)
    assert isinstance(before, Remembered)
    assert resolved(ours, operator.matmul, (strange, strange)) is None

    @numba.extending.type_callable(operator.matmul)
    def typed(context):
        return lambda a, b: types.float64 if a is strange else None

    numbas.refresh()
    assert ours.resolve_value_type(operator.matmul) is not before
    found = resolved(ours, operator.matmul, (strange, strange))
    assert found.return_type == types.float64


def test_what_is_no_operation_has_numbas_type(typings):
    numbas, ours = typings
    for value in (1.5, 3, np.float64, (1, 2), operator):
        assert ours.resolve_value_type(value) == numbas.resolve_value_type(value)


def half(x):
    return x**0.5 + x**2 + 3 // 2 + x % 2 - 7.5 / x


def wrong(x):
    return x + "one"


def test_powers_and_constants_are_those_of_python():
    compiled = whole(half, secrets.token_hex(), cached=False, counts=False)
    for x in (2.0, 9.75, 1e-3):
        assert compiled(x) == half(x)
    assert compiled(5) == half(5)


def test_numbas_error_is_raised_each_time():
    for _ in range(2):
        compiled = whole(wrong, secrets.token_hex(), cached=False, counts=False)
        with pytest.raises(numba.core.errors.TypingError, match="No implementation of function"):
            compiled(1.0)


def test_flags_are_equal_if_their_options_are():
    one, same, other = FewFlags(), FewFlags(), FewFlags()
    one.nrt = same.nrt = True
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one.copy() is same.copy()
