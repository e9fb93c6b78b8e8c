"""Numba's compilation with a memory: what was resolved once for some types is not resolved again.

For every operation of every function numba tries up to forty implementations one after the other,
formats an error for each that does not match, and does it again when the operation is lowered. The
result depends on the operation and the types of its arguments alone. Remembering it, and the sizes
of types, takes a quarter off the time to compile a loop.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any, ClassVar

from numba.core import errors, ir
from numba.core import types as numba_types
from numba.core.base import _wrap_impl
from numba.core.compiler import Flags
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.typed_passes import PreLowerStripPhis
from numba.extending import models, register_model

from halfseen.engine.lean_arrays import lean_lowering

types: Any = numba_types  # numba fills this module at run time
OPERATIONS = {
    id(value): value
    for module in (operator, math, builtins)
    for value in vars(module).values()
    if callable(value)
}
SPECIAL = ("__array__", "static_getitem", "static_setitem")  # mostly there is none
POWERS = (operator.pow, operator.ipow)  # with implementations for known exponents


class Remembered(types.Function):  # type: ignore[misc]
    """The type of an operation, whose calls `RememberingTyping` resolves."""

    def __init__(self, known: Any) -> None:
        self.known = known
        super().__init__(known.templates)

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature for the types of arguments."""
        return context.resolve_function_type(self.known, args, kws)

    def get_impl_key(self, sig: Any) -> Any:
        """Return what numba finds the implementation by."""
        return self.known.get_impl_key(sig)


register_model(Remembered)(models.OpaqueModel)


class RememberingTyping:
    """Numba's typing context, which remembers the signatures of operations."""

    def __init__(self, typing: Any) -> None:
        self._typing = typing
        self._signatures: dict[Any, Any] = {}
        self._operations: dict[int, Remembered] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._typing, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, or raise numba's error."""
        if id(func) in OPERATIONS:
            func = self._typing._lookup_global(func) or func
        elif isinstance(func, Remembered):
            func = func.known
        if kws or type(func) is not types.Function or id(func.typing_key) not in OPERATIONS:
            return self._typing.resolve_function_type(func, args, kws)
        key = (func, tuple(args))
        found = self._signatures.get(key)
        if found is None:
            try:
                found = self._typing.resolve_function_type(func, args, kws)
            except errors.TypingError as error:
                if type(error) is not errors.TypingError:
                    raise
                found = error.with_traceback(None)
            self._signatures[key] = found
        if isinstance(found, errors.TypingError):
            raise errors.TypingError(str(found))
        return found

    def resolve_value_type(self, val: Any) -> Any:
        """Return the type of a constant; operations are remembered."""
        if id(val) not in OPERATIONS:
            return self._typing.resolve_value_type(val)
        known = self._typing._lookup_global(val)
        if type(known) is not types.Function:
            return self._typing.resolve_value_type(val)
        found = self._operations.get(id(val))
        if found is None or found.known is not known:
            found = self._operations[id(val)] = Remembered(known)
        return found

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        """Return the signature of an assignment to an element."""
        return self.resolve_function_type(operator.setitem, (target, index, value), {})


class RememberingTarget(CPUContext):  # type: ignore[misc]
    """Numba's target context, which remembers the sizes of types, and what is not implemented."""

    _sizes: ClassVar[dict[str, int]] = {}
    _alignments: ClassVar[dict[str, int]] = {}
    _absent: ClassVar[set[Any]] = set()

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """Return the implementation of a function; numba's NotImplementedError if none."""
        if isinstance(fn, Remembered) and not (self.enable_nrt or self.enable_boundscheck):
            lean = lean_lowering(fn.typing_key, sig.args)
            if lean is not None:
                return _wrap_impl(lean, self, sig)
        if fn not in SPECIAL:
            return super().get_function(fn, sig, _firstcall)
        key = (fn, sig.args)
        if key in self._absent:
            raise NotImplementedError
        try:
            return super().get_function(fn, sig, _firstcall)
        except NotImplementedError:
            self._absent.add(key)
            raise

    def get_abi_sizeof(self, ty: Any) -> int:
        """Return the size of a type in bytes."""
        key = str(ty)
        if key not in self._sizes:
            self._sizes[key] = super().get_abi_sizeof(ty)
        return self._sizes[key]

    def get_abi_alignment(self, ty: Any) -> int:
        """Return the alignment of a type in bytes."""
        key = str(ty)
        if key not in self._alignments:
            self._alignments[key] = super().get_abi_alignment(ty)
        return self._alignments[key]


class PlainLower(Lower):  # type: ignore[misc]
    """Lowers operations without trying implementations for known numbers, which there are not."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Lower an operation on two values."""
        kinds = (self.typeof(expr.lhs.name), self.typeof(expr.rhs.name))
        if op not in POWERS and all(isinstance(kind, types.Number) for kind in kinds):
            expr.static_lhs = expr.static_rhs = ir.UNDEFINED
        return super().lower_binop(resty, expr, op)


class OneManager:
    """Optimizes functions with one set of passes per module, where numba makes one for each."""

    _codegen: Any

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


@register_pass(mutates_CFG=False, analysis_only=False)
class StripPhis(PreLowerStripPhis):  # type: ignore[misc]
    """Numba's pass, without finding the lifetimes of variables, which the next pass finds again."""

    _name = "halfseen_strip_phis"

    def run_pass(self, state: Any) -> bool:
        """Replace the phi nodes of a function that is no generator."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


class FewFlags(Flags):  # type: ignore[misc]
    """Numba's flags, with equal copies represented by one object.

    Numba looks up every operator by the types and the flags, and would compare thirty options each
    time, which takes 5% of the compile time.
    """

    __slots__ = ()
    _copies: ClassVar[list[FewFlags]] = []

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is FewFlags and self._values == other._values)

    def __hash__(self) -> int:
        return _HASH

    def copy(self) -> FewFlags:
        """Return the existing copy of equal flags, or a new one."""
        for made in self._copies:
            if made._values == self._values:
                return made
        self._copies.append(FewFlags(self))
        return self._copies[-1]


_HASH = hash(Flags())  # numba hashes the names of the options only
_typings: dict[tuple[int, bool], RememberingTyping] = {}


def remember(state: Any) -> None:
    """Let a compilation remember, apart from those that count references otherwise."""
    key = (id(state.typingctx), bool(state.flags.nrt))
    if key not in _typings:
        _typings[key] = RememberingTyping(state.typingctx)
    state.typingctx = _typings[key]
    state.targetctx.typing_context = _typings[key]
    state.targetctx.__class__ = RememberingTarget
