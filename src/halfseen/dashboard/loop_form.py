"""The settings of a loop as a form."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from halfseen.errors import InvalidInput
from halfseen.service.loop_config import LoopConfig, loop_config

LISTS = ("arms", "retired")
NUMBERS = ("floor", "window", "noise", "bound", "retention")
WHOLE = ("dimension", "horizon", "seed")


class Field(NamedTuple):
    """A field of the form: its name, label, a hint, and what may be chosen, if that is a list."""

    name: str
    label: str
    hint: str = ""
    choices: tuple[str, ...] = ()


FIELDS = (
    Field("name", "Name", "Letters, digits, dots, hyphens and underscores."),
    Field("arms", "Arms", "One per line. Arms can be added at the end later, and retired."),
    Field("retired", "Retired arms", "One per line; they are never on offer."),
    Field("dimension", "Features per action", "Instead of arms."),
    Field("policy", "Policy", 'Its kind, or JSON with parameters such as {"kind": "ucb"}.'),
    Field("reward", "Rewards are", "bernoulli (0 or 1), gaussian, ..."),
    Field("noise", "Noise", "Sub-Gaussian scale of the rewards; empty for the usual one."),
    Field("floor", "Floor", "The smallest probability of every arm."),
    Field("window", "Window, seconds", "A reward that has not come by then is missing."),
    Field(
        "rewards",
        "Several rewards",
        "How those of one decision are combined.",
        ("first", "last", "sum", "mean", "max"),
    ),
    Field("late", "Late rewards", "", ("keep", "learn")),
    Field("missing", "Missing rewards", "", ("stay missing", "count as 0")),
    Field("retention", "Retention, days", "Empty to keep the log."),
)


def form_of(config: LoopConfig | None) -> dict[str, str]:
    """Return the fields of the form for a loop, or for a new one."""
    if config is None:
        usual = {"policy": "kl-ucb", "reward": "bernoulli", "floor": "0.05", "window": "86400"}
        usual |= {"rewards": "first", "late": "keep", "missing": "stay missing"}
        return {field.name: usual.get(field.name, "") for field in FIELDS}
    known = config.to_dict()
    found = {}
    for field in FIELDS:
        value = known[field.name]
        if field.name in LISTS:
            found[field.name] = "\n".join(value or [])
        elif field.name == "policy":
            found[field.name] = value["kind"] if set(value) == {"kind"} else json.dumps(value)
        elif field.name == "missing":
            found[field.name] = "stay missing" if value is None else "count as 0"
        else:
            found[field.name] = "" if value is None else str(value)
    return found


def config_of(form: dict[str, str], before: LoopConfig | None = None) -> LoopConfig:
    r"""Return the loop that a form describes; InvalidInput if it is not valid.

    Settings that are not in the form keep their values.

    >>> config_of(form_of(None) | {"name": "banner", "arms": "a\r\nb"}).arms
    ['a', 'b']
    """
    content: dict[str, Any] = {} if before is None else before.to_dict()
    for name, written in form.items():
        value = written.strip()
        if name in LISTS:
            lines = [line.strip() for line in written.splitlines()]
            content[name] = [line for line in lines if line] or ([] if name == "retired" else None)
        elif name == "policy":
            content[name] = _policy(value)
        elif name == "missing":
            content[name] = 0 if value == "count as 0" else None
        elif name in NUMBERS or name in WHOLE:
            content[name] = _number(name, value) if value else None
        else:
            content[name] = value
    return loop_config({k: v for k, v in content.items() if v is not None or k == "missing"})


def _policy(value: str) -> Any:
    if not value.startswith("{"):
        return {"kind": value}
    try:
        return json.loads(value)
    except ValueError:
        raise InvalidInput(
            "policy", "must be a kind or JSON", value, 'Use for example {"kind": "ucb"}.'
        ) from None


def _number(name: str, value: str) -> float | int:
    try:
        return int(value) if name in WHOLE else float(value)
    except ValueError:
        raise InvalidInput(name, "must be a number", value, "Correct it.") from None


def changes(before: LoopConfig | None, after: LoopConfig) -> list[str]:
    """Return what differs between two configurations, or every setting of a new one."""
    old = {} if before is None else before.to_dict()
    lines = []
    for name, value in after.to_dict().items():
        if before is None:
            if value is not None and value != []:
                lines.append(f"{name}: {_written(value)}")
        elif old[name] != value:
            lines.append(f"{name}: {_written(old[name])} becomes {_written(value)}")
    if before is not None and not lines:
        raise InvalidInput("settings", "must differ from what they are", "the same", "Change one.")
    return lines


def _written(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:297]}..."
