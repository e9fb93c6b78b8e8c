"""The registry of kinds, by which specs and commands find classes by name, yours included."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar, get_args, get_type_hints

from halfseen.errors import InvalidInput

GROUP = "halfseen"  # group of the entry points through which packages provide kinds

Kind = TypeVar("Kind", bound=type[Any])
_REGISTRIES: dict[type[Any], tuple[str, dict[str, Any]]] = {}


def declare(base: type[Any], noun: str, registry: dict[str, Any]) -> None:
    """Let `register` add subclasses of `base` to a registry; `noun` names them in messages."""
    _REGISTRIES[base] = (noun, registry)


def registries() -> list[tuple[str, dict[str, Any]]]:
    """Return the noun and the registered kinds of every registry."""
    return list(_REGISTRIES.values())


def annotation_of_field(kind: type[Any], name: str) -> Any:
    """Return the type that a class or its bases give a field; None where it cannot be known."""
    for owner in kind.__mro__:
        noted = inspect.get_annotations(owner).get(name)
        if noted is None:
            continue
        alone = SimpleNamespace(__annotations__={name: noted})
        try:
            return get_type_hints(alone, globalns=vars(sys.modules[owner.__module__]))[name]
        except Exception:  # a name that only the type checker, or a function, knows
            return None
    return None


def registry_of_field(kind: type[Any], name: str) -> dict[str, Any] | None:
    """Return the registry of what a field holds by its annotation; None if that is no kind.

    A field may hold several, as ``tuple[Censorship, ...]`` or ``dict[str, Censorship]``.
    """
    ahead = [annotation_of_field(kind, name)]
    while ahead:
        part = ahead.pop(0)
        for base in getattr(part, "__mro__", ()):
            if base in _REGISTRIES:
                return _REGISTRIES[base][1]
        ahead += get_args(part)
    return None


def is_registry(known: dict[Any, Any]) -> bool:
    """Return whether a dictionary is a registry of kinds, which grows as modules are imported."""
    return any(known is registry for _, registry in registries())


def register(kind: Kind) -> Kind:
    """Make a class known by its `kind` to specs and commands; usable as a class decorator.

    Parameters
    ----------
    kind
        A policy, a reward law or another kind this package lets you write: a frozen dataclass with
        a class attribute `kind`, the name that specs give it.

    Notes
    -----
    A name that is taken is refused. A class defined again, by the same name in the same module as
    a notebook does, replaces the earlier one.

    Examples
    --------
    >>> from halfseen import UCB
    >>> class Bold(UCB):
    ...     kind = "ucb"
    >>> register(Bold)
    Traceback (most recent call last):
    halfseen.errors.InvalidInput: `Bold.kind` must not be the name of another policy; got 'ucb'. ...
    """
    found = [_REGISTRIES[base] for base in getattr(kind, "__mro__", ()) if base in _REGISTRIES]
    if not found:
        raise InvalidInput(
            "register",
            f"must be given a class of a {', '.join(dict(registries()))}",
            kind,
            "Derive it from the base class, for example halfseen.Policy.",
        )
    noun, registry = found[0]
    _check_class(kind, noun)
    name = getattr(kind, "kind", None)
    field = f"{kind.__name__}.kind"
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise InvalidInput(field, "must be a printable name", name, f"Name the {noun}.")
    other = other_of_the_name(kind)
    if other is not None:
        raise InvalidInput(
            field,
            f"must not be the name of another {noun}",
            name,
            f"{other} has it; choose another name.",
        )
    registry[name] = kind
    return kind


def other_of_the_name(kind: type[Any]) -> str | None:
    """Return the full name of another class of the same sort that is registered by a kind's name.

    A class of the same name in the same module is the same one, defined again.
    """
    name = getattr(kind, "kind", None)
    nouns = {_REGISTRIES[base][0] for base in kind.__mro__ if base in _REGISTRIES}
    for noun, known in registries():
        other = known.get(name) if noun in nouns and isinstance(name, str) else None
        if other is not None and (other.__module__, other.__qualname__) != (
            kind.__module__,
            kind.__qualname__,
        ):
            return f"{other.__module__}.{other.__qualname__}"
    return None


def _check_class(kind: type[Any], noun: str) -> None:
    """Refuse a class that no spec could make an object of."""
    open_methods = sorted(getattr(kind, "__abstractmethods__", ()))
    if open_methods:
        raise InvalidInput(
            kind.__name__,
            f"must implement {', '.join(open_methods)} to be a {noun}",
            kind,
            "Register the classes derived from it instead, or write what is missing.",
        )
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        raise InvalidInput(
            kind.__name__,
            f"must be a frozen dataclass to be a {noun}",
            kind,
            "Write @dataclass(frozen=True) above the class, below @register.",
        )


def check_overridden(kind: type[Any], method: str, instead: str, base: type[Any]) -> None:
    """Refuse a class that overrides a method and inherits what loops use instead of it.

    That is, from a class of this package; checks of kinds compare the two of other classes.

    Parameters
    ----------
    kind
        The class.
    method, instead
        The method, and the attribute that loops use instead where a class has one.
    base
        The class of the contract, which has none.
    """
    used = _owner(kind, instead)
    ours = used is not base and used.__module__.startswith("halfseen.")
    if ours and _owner(kind, method) not in used.__mro__:
        raise InvalidInput(
            f"{kind.__name__}.{method}",
            f"must not replace that of {used.__name__} without `{instead}`, which loops use"
            " instead of it",
            kind,
            f"Define `{instead}` too, or derive the class from {base.__name__}.",
        )


def _owner(kind: type[Any], name: str) -> type[Any]:
    """Return the class that an attribute of a class is defined in."""
    return next(owner for owner in kind.__mro__ if name in vars(owner))


@cache
def load_installed() -> None:
    """Load the kinds of installed packages: their entry points of group ``halfseen``.

    An entry point names a module that registers kinds when it is imported, or a class to register.
    """
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
            if not isinstance(loaded, ModuleType):
                register(loaded)
        except (Exception, SystemExit) as error:
            package = entry.dist.name if entry.dist is not None else entry.value
            said = str(error) if isinstance(error, InvalidInput) else _named(error, where=True)
            raise InvalidInput(
                f"entry point {entry.name}",
                f"must be a module that can be imported, or a class to register ({said})",
                entry.value,
                f"Update or uninstall the package {package}, which brings it along.",
            ) from error


def import_kinds(modules: Iterable[str]) -> None:
    """Import modules that register kinds, found as Python finds them or in the current folder."""
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    for module in modules:
        try:
            importlib.import_module(module)
        except InvalidInput:
            raise
        except (Exception, SystemExit) as error:
            missing = isinstance(error, ModuleNotFoundError) and _leads_to(error.name, module)
            missing = missing or not module or module.startswith(".")  # a path, not a name
            raise InvalidInput(
                "--import",
                f"must be a module that can be imported ({_named(error, where=not missing)})",
                module,
                "Give its name without .py, and run the command from its folder or install it."
                if missing
                else "Correct the module, or what it imports.",
            ) from error


def _leads_to(name: str | None, module: str) -> bool:
    """Return whether a name is that of a module or of a package it is in."""
    return f"{module}.".startswith(f"{name}.")


def _named(error: BaseException, *, where: bool = False) -> str:
    """Return an error's name and what it says, with the file and line that raised it if wanted."""
    said = f"{type(error).__name__}: {error}"
    if not where or isinstance(error, SyntaxError):
        return said
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    file = frame.f_code.co_filename
    return f"{said} ({os.path.basename(file)}, line {line})" if os.path.isfile(file) else said
