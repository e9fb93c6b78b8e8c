"""Compile a function and all that it calls as one LLVM module, optimized once.

By itself numba optimizes every function it meets, emits its machine code, links it into its
callers and begins again there: code at the end of a chain of five calls is optimized five times
over. Here functions that are only called by others stay as they were lowered until the whole
is linked. Then they become internal to the module and are optimized together, once.

A function marked `shared` is not linked in. It is a module of its own, kept on disk under its own
fingerprint, and the callers' code refers to it by a symbol that is made of the fingerprint and
the argument types. `needs` lists the symbols a library refers to, so that they can be provided
before its code is loaded from disk.

Numba counts references to arrays, with atomic instructions, whenever a row of a matrix is named.
The caller of a loop owns its arrays, so functions that allocate none need no counts: 717 ns a
round became 448 for LinUCB on ten drawn actions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit
from numba.core import types as numba_types
from numba.core.cgutils import get_or_insert_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, register_jitable

from halfseen.engine.code_cache import CodeCache

SYMBOL = "halfseen_shared_"
types: Any = numba_types  # numba fills this module at run time


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """A function as it was lowered: neither optimized nor made machine code."""

    always_inlined = ""
    _complete: Any = None

    def finalize(self) -> None:
        """Leave everything to the whole."""
        self._raise_if_finalized()
        self._finalized = True

    def alone(self) -> Any:
        """Return the function without those it calls."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the function with those it calls, for code that numba compiles in its own way."""
        if self._complete is None:
            self._complete = self.alone().clone()
            for library in _gather(self):
                self._complete.link_in(_alone(library), preserve=True)
        return self._complete


class _Whole(JITCodeLibrary):  # type: ignore[misc]
    """A function with every part it can reach."""

    def finalize(self) -> None:
        """Link the parts, make them internal, optimize, and emit machine code."""
        self._raise_if_finalized()
        libraries = _gather(self)
        for library in libraries:
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(_alone(library), preserve=True)
        inlined = {getattr(library, "always_inlined", "") for library in libraries}
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = "internal"
                if function.name in inlined:
                    function.add_function_attribute("alwaysinline")
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()

    @property
    def needs(self) -> list[str]:
        """Symbols of the shared functions that the code calls."""
        functions = self._final_module.functions
        return [f.name for f in functions if f.is_declaration and f.name.startswith(SYMBOL)]


def _gather(
    library: JITCodeLibrary, found: dict[JITCodeLibrary, None] | None = None
) -> dict[JITCodeLibrary, None]:
    """Return the libraries that a library needs, and those that its parts need."""
    found = {} if found is None else found
    for other in library._linking_libraries:
        if other not in found:
            found[other] = None
            if isinstance(other, _Part):
                _gather(other, found)
    return found


def _alone(library: JITCodeLibrary) -> Any:
    return library.alone() if isinstance(library, _Part) else library._get_module_for_linking()


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):  # type: ignore[misc]
    _name = "halfseen_part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        super().run_pass(state)
        lowered = state.cr
        if state.func_id.func in _inlined:
            state.library.always_inlined = lowered.fndesc.llvm_func_name
        # Numba finds a callee by its entry point, which has to be a unique builtin function.
        entry = [].append  # type: ignore[var-annotated]
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state.cr = _LowerResult(lowered.fndesc, lowered.call_helper, entry, lowered.env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _WholeLowering(NativeLowering):  # type: ignore[misc]
    _name = "halfseen_whole_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class _PartCompiler(CompilerBase):  # type: ignore[misc]
    lowering: type[NativeLowering] = _PartLowering
    flags: tuple[str, ...] = ("no_compile", "no_cpython_wrapper", "no_cfunc_wrapper")

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *others: Any) -> None:
        super().__init__(typingctx, targetctx, library, *others)
        for name in self.flags:
            setattr(self.state.flags, name, True)

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (self.lowering if step is NativeLowering else step, what)
            for step, what in manager.passes
        ]
        manager._finalized = False
        manager.finalize()
        return [manager]


class _WholeCompiler(_PartCompiler):
    lowering = _WholeLowering
    flags = ("no_cfunc_wrapper",)


class _SharedCompiler(_PartCompiler):
    lowering = _WholeLowering
    flags = ("no_cpython_wrapper",)


def whole(
    function: FunctionType, fingerprint: str, cached: bool, *, counts: bool
) -> Callable[..., Any]:
    """Return a function compiled with all that it calls; every callee must be registered.

    `counts` tells whether the function may allocate arrays and so has to count references to them.
    """
    return _dispatcher(function, fingerprint, cached, _options(_WholeCompiler, counts))


def _options(how: Any, counts: bool) -> dict[str, Any]:
    return {"nogil": True, "error_model": "numpy", "pipeline_class": how, "_nrt": counts}


def _dispatcher(
    function: FunctionType, fingerprint: str, cached: bool, options: dict[str, Any]
) -> Any:
    result = njit(**options)(function)
    result._cache = CodeCache(fingerprint, provide, keep=cached)
    return result


_inlined: set[Any] = set()


def register_part(function: FunctionType, *, inlined: bool, counts: bool) -> None:
    """Let a function be compiled into its callers, and inlined there if asked to."""
    if inlined:
        _inlined.add(function)
    register_jitable(**_options(_PartCompiler, counts))(function)


class _Shared(NamedTuple):
    """A function compiled apart, by its fingerprint."""

    dispatcher: Any
    fingerprint: str


class _Provided(NamedTuple):
    """A symbol that code may refer to, and what to compile or load to define it."""

    fingerprint: str
    types: tuple[Any, ...]
    returns: Any
    library: Any  # lives as long as the process


_shared: dict[str, _Shared] = {}
_provided: dict[str, _Provided] = {}


def register_shared(
    function: FunctionType, fingerprint: str, cached: bool, *, counts: bool
) -> None:
    """Let a function be called by others, compiled apart."""
    options = _options(_SharedCompiler, counts)
    found = _Shared(_dispatcher(function, fingerprint, cached, options), fingerprint)
    _shared[fingerprint] = found

    class Template(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            if kws:
                return None
            plain = tuple(types.unliteral(kind) for kind in args)
            return signature(_define(found, plain).returns, *plain)

    infer_global(function, types.Function(Template))

    @lower_builtin(function, types.VarArg(types.Any))  # type: ignore[untyped-decorator]
    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        taken = [context.get_value_type(kind) for kind in sig.args]
        made = ir.FunctionType(context.get_value_type(sig.return_type), taken)
        callee = get_or_insert_function(builder.module, made, _symbol(found, sig.args))
        return builder.call(callee, args)


def _symbol(shared: _Shared, kinds: tuple[Any, ...]) -> str:
    text = "/".join([shared.fingerprint, *map(repr, kinds)])
    return SYMBOL + hashlib.sha256(text.encode()).hexdigest()[:32]


def _define(shared: _Shared, kinds: tuple[Any, ...]) -> _Provided:
    """Compile a shared function for some types, or load it, and define its symbol."""
    symbol = _symbol(shared, kinds)
    if symbol not in _provided:
        shared.dispatcher.compile(kinds)
        result = shared.dispatcher.overloads[kinds]
        address = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
        returns = result.signature.return_type
        assert address, f"{shared.dispatcher.py_func.__name__} cannot be shared: {returns}"
        llvm.add_symbol(symbol, address)
        _provided[symbol] = _Provided(shared.fingerprint, kinds, returns, result.library)
    return _provided[symbol]


def needs(library: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the fingerprint and the types of every shared function that a library calls."""
    found = (_provided[symbol] for symbol in getattr(library, "needs", ()))
    return [(entry.fingerprint, entry.types) for entry in found]


def provide(needed: list[tuple[str, tuple[Any, ...]]]) -> None:
    """Define the symbols of shared functions before code that calls them is loaded."""
    for fingerprint, kinds in needed:
        _define(_shared[fingerprint], kinds)
