"""Entry points of compiled functions, through which Python and other modules call them.

Numba passes an array as its owner, its object, the number and size of its elements, the address,
the shape and the strides: nine words for a matrix, which the caller pushes and the function reads.
Here it is the address, the shape and the strides, five words. (The shape alone would do for a
contiguous array, but LinUCB on a fixed set is 6% slower if the strides have to be computed.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba.core import types as numba_types
from numba.core.funcdesc import PythonFunctionDescriptor

from halfseen.engine.compile_memory import PlainLower

types: Any = numba_types  # numba fills this module at run time
POINTER, WORD, STATUS = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)


def passed(context: Any, kind: Any) -> Iterator[ir.Type]:
    """Yield the types in which an argument is passed."""
    if isinstance(kind, types.Array):
        yield POINTER
        yield from [WORD] * (2 * kind.ndim)
    elif isinstance(kind, types.BaseTuple):
        for part in kind:
            yield from passed(context, part)
    else:
        yield context.get_value_type(kind)


def taken_apart(context: Any, builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """Yield what is passed of an argument."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        yield builder.bitcast(array.data, POINTER)
        for axis in range(kind.ndim):
            yield builder.extract_value(array.shape, axis)
        for axis in range(kind.ndim):
            yield builder.extract_value(array.strides, axis)
    elif isinstance(kind, types.BaseTuple):
        for place, part in enumerate(kind):
            yield from taken_apart(context, builder, part, builder.extract_value(value, place))
    else:
        yield value


def put_together(context: Any, builder: Any, kind: Any, given: Iterator[Any]) -> Any:
    """Return the argument of which something was passed."""
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, given)
    if isinstance(kind, types.BaseTuple):
        parts = [put_together(context, builder, part, given) for part in kind]
        return context.make_tuple(builder, kind, parts)
    return next(given)


def _array(context: Any, builder: Any, kind: Any, given: Iterator[Any]) -> Any:
    from numba.np.arrayobj import populate_array

    element = context.get_data_type(kind.dtype)
    array = context.make_array(kind)(context, builder)
    data = builder.bitcast(next(given), element.as_pointer())
    shape = [next(given) for _ in range(kind.ndim)]
    strides = [next(given) for _ in range(kind.ndim)]
    size = context.get_constant(types.intp, context.get_abi_sizeof(element))
    populate_array(array, data, shape, strides, size, None)
    return array._getvalue()


def entry_type(context: Any, returns: ir.Type, kinds: tuple[Any, ...]) -> ir.FunctionType:
    """Return the type of the entry point of a function of some arguments."""
    return ir.FunctionType(returns, [each for kind in kinds for each in passed(context, kind)])


class ValueLower(PlainLower):
    """Lowers a function, and an entry point to it in place of numba's wrapper for C.

    The entry point returns what the function does, which must not raise.
    """

    returns_status = False

    def create_cfunc_wrapper(self) -> None:
        """Write the entry point."""
        context, described = self.context, self.fndesc
        module = context.create_module("entry point")
        returned = STATUS if self.returns_status else context.get_value_type(described.restype)
        made = entry_type(context, returned, described.argtypes)
        entry = ir.Function(module, made, entry_name(described))
        builder = ir.IRBuilder(entry.append_basic_block("entry"))
        given = iter(entry.args)
        arguments = [put_together(context, builder, kind, given) for kind in described.argtypes]
        called = context.call_conv.get_function_type(described.restype, described.argtypes)
        status, value = context.call_conv.call_function(
            builder,
            ir.Function(module, called, described.llvm_func_name),
            described.restype,
            described.argtypes,
            arguments,
            attrs=("alwaysinline",),
        )
        builder.ret(status.code if self.returns_status else value)
        self.library.add_ir_module(module)
        self.library.entered = described.llvm_func_name


class StatusLower(ValueLower):
    """The entry point returns 0, or another number if the function raised."""

    returns_status = True


def call_entry(
    context: Any, builder: Any, callee: Any, kinds: tuple[Any, ...], arguments: Any
) -> Any:
    """Call the entry point of a function."""
    pairs = zip(kinds, arguments, strict=True)
    given = [each for kind, value in pairs for each in taken_apart(context, builder, kind, value)]
    return builder.call(callee, given)


def entry_name(described: PythonFunctionDescriptor) -> str:
    """Return the symbol of a function's entry point."""
    return str(described.llvm_cfunc_wrapper_name)
