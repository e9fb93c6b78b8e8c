"""One number of a study, named by its path, set to another value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from halfseen.errors import InvalidInput, did_you_mean
from halfseen.studies.folder import NUMBERS
from halfseen.studies.study import EVERYTHING_SEEN, GROUPS, Study

EXAMPLE = "Write for example censorships.*.observe, policies.UCB.regularization or horizon."
LISTED = 12  # paths named in a message


def varied(study: Study, path: str, value: float) -> Study:
    """Return the study with one of its numbers set to a value; objects without it are left out.

    Parameters
    ----------
    study
        Not changed.
    path
        Such as ``horizon``, ``censorships.*.observe``, ``problems.arms.means.0`` or
        ``censorships.late.laws.mean``, with dots into lists and nested objects.
    value
        The new number.
    """
    content: dict[str, Any] = {entry.name: getattr(study, entry.name) for entry in fields(study)}
    if path in NUMBERS:
        content[path] = value
    else:
        group, names, steps = _targets(study, path)
        content[group] = {
            name: _set(f"{group}.{name}", content[group][name], steps, value) for name in names
        }
    content["baseline"] = False  # what the study added is among its censorships already
    return Study(**content)


def path_of(study: Study, name: str) -> str:
    """Return the path of a number named by its field alone, if one group of the study has it."""
    if name in NUMBERS or "." in name:
        return name
    having = [
        group
        for group in GROUPS
        if any(_leads_on(noun, [name]) for noun in getattr(study, group).values())
    ]
    if len(having) == 1:
        return f"{having[0]}.*.{name}"
    if having:
        paths = " or ".join(f'"{group}.*.{name}"' for group in having)
        raise InvalidInput(
            "over", "must name a number of one kind", name, f"Use sweep(study, {paths}, values)."
        )
    nouns = study.nouns().values()
    known = sorted({n.split(".")[0] for noun in nouns for n in _numbers(noun)})
    fix = did_you_mean(
        name, ["p", *NUMBERS, *known], f"Use one of: {', '.join(['p', *NUMBERS, *known])}."
    )
    raise InvalidInput("over", "must name a number of the study", name, fix)


def field_of(study: Study, path: str) -> str:
    """Return the short name of a number: ``mean``, ``means[0]`` or ``laws[1].arrive``."""
    if path in NUMBERS:
        return path
    parts: list[str] = []
    for step in _targets(study, path)[2]:
        if step.isdecimal():
            parts[-1] += f"[{step}]"
        else:
            parts.append(step)
    listed = [i for i, part in enumerate(parts) if part.endswith("]")]
    return ".".join(parts[min([*listed, len(parts) - 1]) :])


def _targets(study: Study, path: str) -> tuple[str, list[str], list[str]]:
    """Return the group, the names in it that the path means, and the steps from there."""
    words = path.split(".") if isinstance(path, str) else []
    if len(words) < 3 or words[0] not in GROUPS:
        raise InvalidInput("path", "must name a number of the study", path, EXAMPLE)
    nouns = getattr(study, words[0])
    for cut in range(2, len(words)):  # names may have dots
        pattern, steps = ".".join(words[1:cut]), words[cut:]
        names = [
            name
            for name, noun in nouns.items()
            if (name == pattern or ("*" in pattern and fnmatchcase(name, pattern)))
            and (name == pattern or not name.startswith(EVERYTHING_SEEN))
            and _leads_on(noun, steps)
        ]
        if names:
            return words[0], names, steps
    known = [f"{words[0]}.{name}.{rest}" for name, noun in nouns.items() for rest in _numbers(noun)]
    listed = ", ".join(known[:LISTED]) + (", ..." if len(known) > LISTED else "")
    fix = f"Use one of: {listed}." if known else EXAMPLE
    raise InvalidInput("path", "must name a number of the study", path, fix)


def _leads_on(noun: Any, steps: list[str]) -> bool:
    """Return whether the words are fields of the objects they pass; entries of lists are not."""
    if not is_dataclass(noun):
        return False
    if steps[0] not in {entry.name for entry in fields(noun)}:
        return False
    inside = getattr(noun, steps[0])
    return len(steps) == 1 or not is_dataclass(inside) or _leads_on(inside, steps[1:])


def _set(place: str, current: Any, steps: list[str], value: float) -> Any:
    """Return a copy of what is at a place with the number that the steps lead to replaced."""
    if isinstance(current, list | tuple | np.ndarray):
        if not steps or not steps[0].isdecimal():
            example = ".".join([place, "0", *steps])
            fix = f"Add its place: {example}."
            raise InvalidInput("path", "must name one entry of a list", place, fix)
        index = int(steps[0])
        if index >= len(current):
            raise InvalidInput(
                "path", "must name an entry that exists", f"{place}.{index}", EXAMPLE
            )
        new = _set(f"{place}.{index}", current[index], steps[1:], value)
        return [new if i == index else entry for i, entry in enumerate(current)]
    if not steps and not is_dataclass(current):
        return value
    if steps and is_dataclass(current) and _leads_on(current, steps):
        inside = _set(f"{place}.{steps[0]}", getattr(current, steps[0]), steps[1:], value)
        return replace(current, **{steps[0]: inside})  # type: ignore[type-var]
    known = ", ".join(f"{place}.{rest}" for rest in _numbers(current))
    fix = f"Use one of: {known}." if known else EXAMPLE
    raise InvalidInput("path", "must name a number", ".".join([place, *steps]), fix)


def _numbers(value: Any) -> Iterator[str]:
    """Return the paths of the numbers in an object; of a list, those of its first entry."""
    if not is_dataclass(value):
        return
    for entry in fields(value):
        name, inside = entry.name, getattr(value, entry.name)
        if isinstance(inside, list | tuple | np.ndarray) and len(inside) > 0:
            name, inside = f"{name}.0", inside[0]
        if isinstance(inside, int | float | np.number) and not isinstance(inside, bool):
            yield name
        yield from (f"{name}.{rest}" for rest in _numbers(inside))
