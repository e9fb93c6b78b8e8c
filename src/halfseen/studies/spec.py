"""Studies from TOML: reading and checking."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from halfseen.censorship import CENSORSHIPS
from halfseen.errors import InvalidInput, StorageError, did_you_mean, sharing_a_word, suggestion
from halfseen.kinds import annotation_of_field, is_registry, load_installed, registry_of_field
from halfseen.policies import GLM_POLICIES, LINEAR_POLICIES, POLICIES, LinearPolicy, Policy
from halfseen.problems import (
    ARM_ACTIONS,
    DELAY_LAWS,
    LINEAR_ACTIONS,
    LINKS,
    PROBLEMS,
    REWARD_LAWS,
    ArmedBandit,
    GeneralizedLinearBandit,
    LinearBandit,
)
from halfseen.studies.plain_values import as_annotated
from halfseen.studies.study import Study

Tables = dict[str, dict[str, Any]]
A_TABLE = ("must be a table", "Write it as [policies.UCB], with kind = ... below it.")
WANTED = {  # what is wrong with a value, and the fix, by pydantic's name of the error
    "int_type": ("must be a whole number", "Write digits alone, as 10_000."),
    "int_from_float": ("must be a whole number", "Write it without a fraction, as 10_000."),
    "float_type": ("must be a number", "Write digits without quotes, as 0.5."),
    "bool_type": ("must be true or false", "Write true or false, without quotes."),
    "string_type": ("must be text", "Put it in quotes."),
    "list_type": ("must be a list of numbers", "Write it in brackets, as [0.5, 1]."),
    "dict_type": A_TABLE,
    "model_type": A_TABLE,
}
PLAIN: dict[Any, tuple[tuple[type, ...], str]] = {  # what a spec may write for a field of a type
    int: ((int,), "int_type"),
    float: ((int, float), "float_type"),
    bool: ((bool,), "bool_type"),
    str: ((str,), "string_type"),
}


class _Sweep(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    number: str
    values: list[int | float]


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    horizon: int
    replications: int = 100
    seed: int = 0
    checkpoints: int = 50
    alphas: list[int | float] | None = None
    baseline: bool = True
    stop: str | None = None
    level: int | float | None = None
    problems: Tables
    censorships: Tables
    policies: Tables
    sweep: _Sweep | None = None


def read_spec(path: Path | str) -> Study:
    """Read a study from a TOML file.

    Parameters
    ----------
    path
        A UTF-8 file with the fields of `Study`; problems, censorships and policies are tables
        with a ``kind`` each. `halfseen.read_sweep` reads the table ``sweep``, if there is one.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... horizon = 1000
    ... problems.offers = { kind = "arms", means = [0.6, 0.5] }
    ... censorships.half = { kind = "uniform", observe = 0.5 }
    ... policies.UCB = { kind = "ucb" }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "study.toml")
    ...     _ = path.write_text(text)
    ...     read_spec(path).horizon
    1000
    """
    return parse_spec(spec_text(path))


def spec_text(path: Path | str, field: str = "SPEC") -> str:
    """Read the text of a spec, or of another file of TOML."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except ValueError:
        raise InvalidInput(field, "must be a UTF-8 text file", str(path), "Save it as UTF-8.")
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}. Check the path.")


def parse_spec(text: str) -> Study:
    """Read a study from TOML text."""
    return study_from(parsed_toml(text))


def sweep_in(text: str) -> tuple[str, list[float]] | None:
    """Return the number that a spec varies and its values; None if it varies none."""
    swept = _checked(parsed_toml(text)).sweep
    return None if swept is None else (swept.number, list(swept.values))


def parsed_toml(text: str, field: str = "SPEC") -> Any:
    """Return the content of TOML text; the error quotes the line that is wrong."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of too many digits
        place = re.search(r"\(at line (\d+), column \d+\)$", str(error))
        if place is None:
            raise InvalidInput(field, "must be TOML", str(error), "Correct that line.")
        line = text.split("\n")[int(place[1]) - 1].strip()
        short = "Invalid value" in str(error) and re.search(r"(^|[^\w.])\.\d", line)
        fix = f"{error}. Correct that line{': write 0.5, not .5' if short else ''}."
        raise InvalidInput(field, "must be TOML", line, fix)


def study_from(content: Any) -> Study:
    """Build a study from plain values, refusing unknown keys."""
    spec = _checked(content)
    try:
        return _study(spec)
    except RecursionError:
        raise InvalidInput("SPEC", "must not be nested that deeply", "more", "Flatten it.")


def _checked(content: Any) -> _Spec:
    try:
        return _Spec.model_validate(content)
    except ValidationError as error:
        raise _sentence(error) from None


def _study(spec: _Spec) -> Study:
    unknown_kinds(spec.model_dump())
    groups = _registries()
    built: dict[str, Any] = {
        group: {
            name: _build(f"{group}.{name}", table, registry)
            for name, table in getattr(spec, group).items()
        }
        for group, registry in groups.items()
    }
    plain = spec.model_dump(exclude={*groups, "sweep"})
    try:
        return Study(**built, **plain)
    except InvalidInput as error:
        field = error.field.removeprefix("Study.")
        raise InvalidInput(field, error.requirement, error.value, error.fix) from None


def unknown_kinds(content: Any) -> list[tuple[str, str]]:
    """Return place and name of every kind, law and link in a study that is not known.

    If there are any, the kinds of installed packages are loaded first.
    """
    found = list(_unknown_kinds(content))
    if found:
        load_installed()
        found = list(_unknown_kinds(content))
    return found


def _unknown_kinds(content: Any) -> Iterator[tuple[str, str]]:
    for group, registry in _registries().items():
        for name, table in content[group].items():
            yield from _unknown_in(f"{group}.{name}", table, registry)


def _unknown_in(place: str, table: Any, registry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kind = table.get("kind") if isinstance(table, dict) else None
    if not isinstance(kind, str):
        return
    if kind not in registry:
        yield place, kind
        return
    noun = registry[kind]
    for key, value in table.items():
        inner = _inner_registry(noun, key, value)
        if inner is not None:
            for where, entry in _tables_in(f"{place}.{key}", value):
                yield from _unknown_in(where, entry, inner)
    reward = table.get("reward")
    if noun is ArmedBandit and isinstance(reward, str) and reward not in REWARD_LAWS:
        yield f"{place}.reward", reward
    if noun is GeneralizedLinearBandit and table.get("link", "logistic") not in LINKS:
        yield f"{place}.link", table["link"]


def _tables_in(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tables of kinds in a field, alone, in lists or by name, each with its place."""
    if isinstance(value, list):
        for k, entry in enumerate(value):
            yield from _tables_in(f"{place}[{k}]", entry)
    elif isinstance(value, dict) and "kind" in value:
        yield place, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _tables_in(f"{place}.{name}", entry)


def _registries() -> dict[str, dict[str, Any]]:
    return {
        "problems": PROBLEMS,
        "censorships": CENSORSHIPS,
        "policies": POLICIES | LINEAR_POLICIES | GLM_POLICIES,
    }


def policy_from(content: Any) -> Policy:
    """Build a policy from what `describe` returned."""
    _load_if_unknown(content, POLICIES)
    policy: Policy = _build("policy", content, POLICIES)
    return policy


def linear_policy_from(content: Any) -> LinearPolicy:
    """Build a linear policy from what `describe` returned."""
    _load_if_unknown(content, LINEAR_POLICIES | GLM_POLICIES)
    policy: LinearPolicy = _build("policy", content, LINEAR_POLICIES | GLM_POLICIES)
    return policy


def _load_if_unknown(content: Any, registry: dict[str, Any]) -> None:
    """Load the kinds of installed packages if a policy has one that is not known."""
    if any(_unknown_in("policy", content, registry)):
        load_installed()


def _build(place: str, table: Any, registry: dict[str, Any]) -> Any:
    if not isinstance(table, dict):
        example = f'Give for example {{ kind = "{next(iter(registry))}" }}.'
        raise InvalidInput(place, "must be a table", table, example)
    if "kind" not in table:
        known = ", ".join(registry)
        raise InvalidInput(f"{place}.kind", "is missing", table, f"Add one of: {known}.")
    noun = registry[_known_kind(f"{place}.kind", table["kind"], registry)]
    known_fields = {entry.name: entry for entry in fields(noun)}
    arguments: dict[str, Any] = {}
    for key, value in table.items():
        if key == "kind":
            continue
        if key not in known_fields:
            raise _unknown(f"{place}.{key}", key, known_fields)
        inner = _inner_registry(noun, key, value)
        built = value if inner is None else _built(f"{place}.{key}", value, inner)
        arguments[key] = _own_field(f"{place}.{key}", built, noun, key)
    for key, entry in known_fields.items():
        required = entry.default is MISSING and entry.default_factory is MISSING
        if required and key not in arguments:
            raise InvalidInput(f"{place}.{key}", "is missing", table, f"Add {key} = ...")
    try:
        return noun(**arguments)
    except InvalidInput as error:
        own = f"{noun.__name__}."
        named = error.field.startswith(own)
        part = error.field.removeprefix(own) if named else error.field.rpartition(".")[2]
        raise InvalidInput(f"{place}.{part}", error.requirement, error.value, error.fix) from None


def _own_field(place: str, value: Any, noun: type[Any], key: str) -> Any:
    """Return the value of a field as its annotation says; halfseen's own kinds check theirs."""
    if noun.__module__.partition(".")[0] == "halfseen":
        return value
    annotation = annotation_of_field(noun, key)
    if annotation in PLAIN:
        types, wrong = PLAIN[annotation]
        if not isinstance(value, types) or (isinstance(value, bool) and annotation is not bool):
            wanted, fix = WANTED[wrong]
            raise InvalidInput(place, wanted, value, fix)
    return as_annotated(value, annotation)


def _known_kind(place: str, kind: Any, registry: dict[str, Any]) -> str:
    """Return the name of a kind; if it is unknown, explain how to register one."""
    if isinstance(kind, str) and kind in registry:
        return kind
    own = (
        "Your own kind is known once its module is imported: --import MODULE, or in Python import"
        " MODULE."
    )
    meant = did_you_mean(kind, registry, suggestion(sharing_a_word(kind, registry)))
    if meant:
        raise InvalidInput(place, "must be a known kind", kind, f"{meant} {own}")
    known = f"must be one of {', '.join(registry)}"
    raise InvalidInput(place, known, kind, f"Choose one of those. {own}")


def _built(place: str, value: Any, registry: dict[str, Any]) -> Any:
    """Build what a field holds: one table of a kind, or lists of tables where it takes laws.

    A kind of your own may have several kinds in a field, in a list or by name.
    """
    several = is_registry(registry)
    if isinstance(value, list) and several:
        return [_built(f"{place}[{k}]", entry, registry) for k, entry in enumerate(value)]
    if isinstance(value, dict) and "kind" not in value and several and any(_tables_in("", value)):
        return {name: _built(f"{place}.{name}", entry, registry) for name, entry in value.items()}
    return _build(place, value, registry)


def _inner_registry(noun: type[Any], key: str, value: Any) -> dict[str, Any] | None:
    """Return the kinds a field may hold, None where its value is not a table of a kind."""
    if key == "laws":
        return DELAY_LAWS
    if key == "base" and issubclass(noun, Policy):
        return dict(POLICIES)
    if key == "reward" and noun is ArmedBandit and isinstance(value, dict):
        return dict(REWARD_LAWS)
    if key == "actions" and issubclass(noun, ArmedBandit):
        return dict(ARM_ACTIONS)
    if key == "actions" and issubclass(noun, LinearBandit):
        return dict(LINEAR_ACTIONS)
    return registry_of_field(noun, key) if any(_tables_in(key, value)) else None


def _unknown(field: str, key: str, known: Any) -> InvalidInput:
    fix = did_you_mean(key, known, f"Known keys: {', '.join(known) or 'none'}.")
    return InvalidInput(field, "is not a known key", key, fix)


def _sentence(error: ValidationError) -> InvalidInput:
    found = error.errors()  # an unknown key first: it may be a missing one misspelt
    first = next((entry for entry in found if entry["type"] == "extra_forbidden"), found[0])
    place = ".".join(str(part) for part in first["loc"]) or "SPEC"
    if first["type"] == "extra_forbidden":
        table = _Sweep if place.startswith("sweep.") else _Spec
        return _unknown(place, str(first["loc"][-1]), table.model_fields)
    if first["type"] == "missing":
        return InvalidInput(place, "is missing", "nothing", f"Add {first['loc'][-1]} to the spec.")
    kind = "float_type" if {*first["loc"][-1:]} & {"int", "float"} else first["type"]
    if first["loc"] == ("sweep",):
        fix = 'Write [sweep] with number = "censorships.*.observe" and values = [0.1, 1.0].'
        return InvalidInput("sweep", "must be a table", first["input"], fix)
    wanted, fix = WANTED.get(kind, (f"is not right ({first['msg']})", "Correct it."))
    return InvalidInput(_without_index(first["loc"]), wanted, first["input"], fix)


def _without_index(place: tuple[int | str, ...]) -> str:
    """Return a place in a spec; pydantic adds the types it tried."""
    words = [str(part) for part in place if part not in ("int", "float")]
    return ".".join(words) or "SPEC"
