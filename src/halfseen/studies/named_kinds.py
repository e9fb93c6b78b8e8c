"""Validation of the problems, censorships and policies of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from halfseen.censorship import Censorship
from halfseen.errors import InvalidInput
from halfseen.policies import LinearPolicy, Policy
from halfseen.problems import Problem
from halfseen.problems.base import is_kind

_EXAMPLES = {
    Problem: "For example ArmedBandit([0.6, 0.5]).",
    Censorship: "For example Uniform(0.5), or PerArm([0.9, 0.3]).",
    Policy: "For example UCB(), or LinUCB() on linear bandits.",
}


def named(field: str, value: Any, kind: Any) -> dict[str, Any]:
    """Return objects of a kind by name, from a dictionary or a single one."""
    if isinstance(value, kind) or not isinstance(value, Mapping):
        _check_kind(field, value, kind)
        value = {value.kind: value}
    if not value:
        raise InvalidInput(field, "must not be empty", value, "Give at least one.")
    for name, noun in value.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InvalidInput(field, "must have printable names", name, "Use printable letters.")
        _check_kind(f"{field}[{name!r}]", noun, kind)
    return dict(value)


def _check_kind(field: str, noun: Any, kind: Any) -> None:
    """Refuse an object of the wrong kind, with a hint at the likely mistake."""
    if is_kind(noun, kind):
        return
    bases = getattr(kind, "__args__", (kind,))
    what = " or ".join(base.__name__ for base in bases)
    either = f"must be a {what}" + ("" if "[" in field else ", or a dictionary of names and those")
    if isinstance(noun, bases):
        raise InvalidInput(
            field,
            "must be a dataclass with a name, `kind`",
            noun,
            f"Write @dataclass(frozen=True) above {type(noun).__name__} and set its `kind`.",
        )
    if isinstance(noun, type):
        own = f"{noun.__name__}()" if issubclass(noun, bases) else "Give one"
        fix = f"Write {own} with its parameters, if it has any."
        raise InvalidInput(field, "must be an object, not a class", noun, fix)
    if isinstance(noun, list | tuple) and noun:
        raise InvalidInput(field, either, noun, 'Name each of them: {"first": ..., "second": ...}.')
    fix = _EXAMPLES[bases[0]]
    if isinstance(noun, Problem | Censorship | Policy | LinearPolicy):
        fix = "The order is Study(problems, censorships, policies, horizon=...)."
    raise InvalidInput(field, either, noun, fix)


def own_modules(nouns: Iterable[Any]) -> list[str]:
    """Return the modules, not halfseen's, that define kinds: a spec needs them imported."""
    found = {module for noun in nouns for module in _modules(noun)}
    return sorted(m for m in found if m.partition(".")[0] not in ("halfseen", "__main__"))


def _modules(part: Any) -> Iterator[str]:
    if is_dataclass(part):
        yield type(part).__module__
        for entry in fields(part):
            yield from _modules(getattr(part, entry.name))
        link = getattr(part, "curve", None)
        if link is not None:
            yield getattr(link.mean, "__module__", "__main__")
    elif isinstance(part, list | tuple | Mapping):
        for entry in part.values() if isinstance(part, Mapping) else part:
            yield from _modules(entry)
