"""Options that the commands for logs share, and which of them go together."""

from __future__ import annotations

import csv
from typing import Annotated, Any

import typer

from halfseen.cli import completing, numbers
from halfseen.errors import InvalidInput

Learns = Annotated[
    str,
    typer.Option(
        help="When is a reward used: on-arrival or when-settled?", autocompletion=completing.learns
    ),
]


def column(help: str) -> Any:
    """Return an option that names columns of the log, which the Tab key offers."""
    return typer.Option(help=help, autocompletion=completing.columns)


def row_options(
    where: str | None, since: str | None, until: str | None, drop_arms: str | None
) -> dict[str, Any]:
    """Return the options that choose rows, as `halfseen.audit` takes them.

    An arm whose name holds a comma stands in quotes, as in a CSV file.

    >>> row_options(None, None, None, 'a,"x,y"')["drop_arms"]
    ('a', 'x,y')
    """
    arms = () if drop_arms is None else tuple(next(csv.reader([drop_arms]), ()))
    return {"where": where, "since": since, "until": until, "drop_arms": arms}


def alone(option: str, **others: Any) -> None:
    """Refuse options that cannot be combined with another."""
    for name, value in others.items():
        if value:
            fix = "Give one or the other."
            raise InvalidInput(
                f"--{name.replace('_', '-')}", f"cannot come with --{option}", value, fix
            )


def given(field: str, text: str | None, fix: str = "Or name a --log to take it from.") -> str:
    """Return an option's value, or say that it is missing."""
    if text is None:
        raise InvalidInput(f"--{field}", "must be given", None, fix)
    return text


def one_or_more(field: str, text: str | None) -> float | list[float] | None:
    """Return one number, or several as a list."""
    values = numbers(field, text)
    return values[0] if values is not None and len(values) == 1 else values


def by_name(field: str, text: str) -> dict[str, float]:
    """Return a number for each arm named; a name with a comma stands in quotes.

    >>> by_name("cost", 'red=100, "x,y=50"')
    {'red': 100.0, 'x,y': 50.0}
    """
    found: dict[str, float] = {}
    for part in next(csv.reader([text], skipinitialspace=True), []):
        arm, _, number = part.rpartition("=")
        value = 0.0
        try:
            value = float(number)
        except ValueError:
            arm = ""
        if not arm or arm in found:
            raise InvalidInput(
                f"--{field}",
                "must name each arm once with its number",
                text,
                "Write red=100,blue=50.",
            )
        found[arm] = value
    return found


def not_with_log(**values: Any) -> None:
    """Refuse options whose values come from the log."""
    for field, value in values.items():
        if value is not None:
            raise InvalidInput(
                f"--{field}",
                "must be left out with --log, which provides it",
                value,
                "Leave out one of the two.",
            )


def only_with_log(*values: Any) -> None:
    """Refuse names of columns without a log."""
    named = [value for value in values if value is not None]
    if named:
        raise InvalidInput("--log", "must be given to read its columns", named, "Name the log.")
