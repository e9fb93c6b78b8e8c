"""Elements and rows of contiguous arrays, lowered to the fewest instructions.

Numba copies an array's description to the stack and reads parts of it again and again, 45
instructions for an element of a matrix. The optimizer removes them, but they take a third of the
time of a compilation. What is left after it is the same as here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types as numba_types
from numba.np.arrayobj import load_item, store_item

types: Any = numba_types  # numba fills this module at run time
WORD = ir.IntType(64)
Lowering = Callable[..., Any]


def lean_lowering(operation: Any, kinds: tuple[Any, ...]) -> Lowering | None:
    """Return how an operation on an array is lowered; None if numba's way has to be taken."""
    if operation is operator.getitem and is_plain(kinds[0]):
        count = index_count(kinds[1])
        if count == kinds[0].ndim:
            return get_element
        return get_row if count == 1 else None
    if operation is operator.setitem and is_plain(kinds[0]) and kinds[0].mutable:
        same = kinds[2] == kinds[0].dtype
        return set_element if same and index_count(kinds[1]) == kinds[0].ndim else None
    return None


def is_plain(kind: Any) -> bool:
    """Return whether a type is a contiguous array of numbers."""
    return (
        type(kind) is types.Array
        and kind.layout == "C"
        and kind.aligned
        and isinstance(kind.dtype, types.Number | types.Boolean)
    )


def index_count(kind: Any) -> int:
    """Return the number of indices in a type of word-sized integers, 0 if it is another type."""
    each = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
    return len(each) if all(one in (types.intp, types.uintp) for one in each) else 0


def get_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower ``array[i, j]``."""
    pointer = _pointer(context, builder, sig, args)
    return load_item(context, builder, sig.args[0], pointer)


def set_element(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower ``array[i, j] = value``."""
    pointer = _pointer(context, builder, sig, args)
    store_item(context, builder, sig.args[0], args[2], pointer)
    return context.get_dummy_value()


def get_row(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower ``array[i]``, whose result is an array of one dimension less."""
    kind, array = sig.args[0], args[0]
    position = _position(context, kind)
    shape, strides = position("shape"), position("strides")
    made = ir.Constant(context.get_value_type(sig.return_type), ir.Undefined)
    items = ir.Constant(WORD, 1)
    for axis in range(1, kind.ndim):
        length = builder.extract_value(array, [shape, axis])
        stride = builder.extract_value(array, [strides, axis])
        made = builder.insert_value(made, length, [shape, axis - 1])
        made = builder.insert_value(made, stride, [strides, axis - 1])
        items = length if axis == 1 else builder.mul(items, length)
    for name in ("meminfo", "parent", "itemsize"):
        place = position(name)
        made = builder.insert_value(made, builder.extract_value(array, place), place)
    made = builder.insert_value(made, items, position("nitems"))
    pointer = _pointer(context, builder, sig, args)
    return builder.insert_value(made, pointer, position("data"))


def _position(context: Any, kind: Any) -> Callable[[str], int]:
    """Return where the fields of an array's description stand."""
    found: Callable[[str], int] = context.data_model_manager[kind].get_field_position
    return found


def _pointer(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return the address of what some indices, of the first dimensions, stand for."""
    kind, array = sig.args[0], args[0]
    position = _position(context, kind)
    sizes = [builder.extract_value(array, [position("shape"), axis]) for axis in range(kind.ndim)]
    offset = None
    for axis, index in enumerate(_indices(builder, sig.args[1], args[1], sizes)):
        step = None
        for size in sizes[axis + 1 :]:
            step = size if step is None else builder.mul(step, size)
        term = index if step is None else builder.mul(index, step)
        offset = term if offset is None else builder.add(offset, term)
    return builder.gep(builder.extract_value(array, position("data")), [offset])


def _indices(builder: Any, kind: Any, given: Any, sizes: list[Any]) -> list[Any]:
    """Return indices counted from the beginning: negative ones are counted from the end."""
    each = [(kind, given)]
    if isinstance(kind, types.BaseTuple):
        each = [(one, builder.extract_value(given, place)) for place, one in enumerate(kind)]
    found = []
    for (one, index), size in zip(each, sizes, strict=False):
        if one.signed and not (isinstance(index, ir.Constant) and index.constant >= 0):
            from_end = builder.icmp_signed("<", index, ir.Constant(WORD, 0))
            index = builder.select(from_end, builder.add(index, size), index)
        found.append(index)
    return found
