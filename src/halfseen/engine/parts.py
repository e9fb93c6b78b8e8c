"""Functions compiled into their callers, cached in lowered form in memory and on disk.

Numba spends most of its time in Python, on type inference and on lowering to LLVM IR. Functions
that a loop calls and that do not depend on the policy are lowered once per machine. The next
policy's loop loads them from disk, links them and optimizes them together with its own kernels, as
if they had just been lowered.

A part is identified by its fingerprint and the types of its arguments, which also form its symbol,
so that parts written by different processes can be linked.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import compile_result

from halfseen.engine.code_cache import CodeCache
from halfseen.engine.compile_memory import OneManager
from halfseen.engine.shared_code import shared_symbols

Identity = tuple[str, tuple[Any, ...]]  # the fingerprint and the types of the arguments


class Part(OneManager, JITCodeLibrary):  # type: ignore[misc]
    """A function in lowered form, neither optimized nor compiled to machine code."""

    always_inlined = ""  # the function's symbol if it is to be inlined wherever it is called
    identity: Identity | None = None
    _complete: Any = None

    def finalize(self) -> None:
        """Do nothing: parts are optimized and compiled with the whole."""
        self._raise_if_finalized()
        self._finalized = True

    def alone(self) -> Any:
        """Return the module of the function without its callees."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the module of the function with its callees, for code compiled by numba itself."""
        if self._complete is None:
            self._complete = self.alone().clone()
            for library in gather(self):
                self._complete.link_in(alone(library), preserve=True)
        return self._complete

    @property
    def needs(self) -> list[str]:
        """Symbols of the shared functions that the code calls."""
        return shared_symbols(self._final_module)


def gather(
    library: JITCodeLibrary, found: dict[JITCodeLibrary, None] | None = None
) -> dict[JITCodeLibrary, None]:
    """Return the libraries that a library needs, and those that its parts need."""
    found = {} if found is None else found
    for other in library._linking_libraries:
        if other not in found:
            found[other] = None
            if isinstance(other, Part):
                gather(other, found)
    return found


def alone(library: JITCodeLibrary) -> Any:
    """Return the module of a library; for a part, without its callees."""
    return library.alone() if isinstance(library, Part) else library._get_module_for_linking()


class Lowered(NamedTuple):
    """A part as it is written to disk."""

    name: str
    bitcode: bytes
    always_inlined: str
    calls: list[Identity]
    description: Any
    signature: Any
    reload_init: tuple[Any, ...]


class PartCache(CodeCache):
    """Parts on disk, by their fingerprint and the types of their arguments."""

    leads = False

    def lasting(self, library: Any) -> bool:
        """Return whether a part and its callees have no addresses valid only in this process."""
        names = [v.name for v in library.alone().global_variables]
        return not any(name.startswith("numba.dynamic.globals") for name in names) and all(
            other.identity if isinstance(other, Part) else not other.has_dynamic_globals
            for other in library._linking_libraries
        )

    def reduced(self, result: Any) -> Lowered:
        """Return a part in the form written to disk: its code, numba's code, and its callees."""
        library = result.library
        module = library.alone().clone()
        calls: list[Any] = []
        for other in dict.fromkeys(library._linking_libraries):
            if isinstance(other, Part):
                calls.append(other.identity)
                continue
            # The symbols of numba's own functions are numbered from the start in every process.
            theirs = other._get_module_for_linking()
            names = {function.name for function in theirs.functions if not function.is_declaration}
            module.link_in(theirs, preserve=True)
            for function in module.functions:
                if function.name in names and not function.is_declaration:
                    function.linkage = "private"
        result.fndesc.typemap = result.fndesc.calltypes = None
        return Lowered(
            library.name,
            module.as_bitcode(),
            library.always_inlined,
            calls,
            result.fndesc,
            result.signature,
            tuple({fn for lib in gather(library) for fn in lib._reload_init}),
        )

    def rebuilt(self, target_context: Any, reduced: Any) -> Any:
        """Return a part with its callees from the form written to disk."""
        kept = Lowered(*reduced)
        library = Part(target_context.codegen(), kept.name)
        for identity in kept.calls:
            called = known(identity, target_context)
            if called is None:
                raise ValueError("a function it calls is missing")
            library.add_linking_library(called.library)
        library._final_module = llvm.parse_bitcode(kept.bitcode)
        library._reload_init.update(kept.reload_init)
        library.always_inlined = kept.always_inlined
        library._finalized = True
        for function in kept.reload_init:
            function()
        return compile_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=callable_part(target_context, kept.description, library),
            library=library,
            signature=kept.signature,
            fndesc=kept.description,
            objectmode=False,
            lifted=(),
            reload_init=kept.reload_init,
        )


def callable_part(target_context: Any, description: Any, library: Part) -> Any:
    """Make a part callable by numba, and return its entry point."""
    entry = [].append  # type: ignore[var-annotated]  # any unique builtin function
    target_context.insert_user_function(entry, description, [library])
    return entry


_lowered: dict[Identity, Any] = {}


def known(identity: Identity, target_context: Any) -> Any:
    """Return a part that was lowered before, by any process; None if there is none."""
    if identity not in _lowered:
        fingerprint, kinds = identity
        found = PartCache(f"part {fingerprint}", keep=True).load_overload(kinds, target_context)
        if found is None:
            return None
        found.library.identity = identity
        _lowered[identity] = found
    return _lowered[identity]


def keep(identity: Identity, result: Any) -> None:
    """Cache a part that was just lowered."""
    fingerprint, kinds = identity
    result.library.identity = identity
    _lowered[identity] = result
    PartCache(f"part {fingerprint}", keep=True).save_overload(kinds, result)


def named_function(function: FunctionType, fingerprint: str) -> FunctionIdentity:
    """Return numba's identity of a function, with a symbol that consists of the fingerprint."""
    identity = FunctionIdentity.from_function(function)
    identity.unique_id = fingerprint[:32]
    identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
    return identity
