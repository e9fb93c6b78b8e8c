"""How sentences about a log name an option: as Python's parameter, or as the command's option."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Form = Callable[[str, Any], str]


def in_python(name: str, value: Any) -> str:
    """Write a parameter of `halfseen.audit`.

    >>> in_python("unit", None), in_python("since", "2026-03-01"), in_python("empty_means", 0)
    ('unit=', 'since="2026-03-01"', 'empty_means=0')
    """
    if value is None:
        return f"{name}="
    try:
        float(value)
    except ValueError:
        return f'{name}="{value}"'
    return f"{name}={value}"


def in_command(name: str, value: Any) -> str:
    """Write an option of `halfseen audit`.

    >>> in_command("drop_arms", None), in_command("since", "2026-03-01 12:00")
    ('--drop-arms', '--since "2026-03-01 12:00"')
    """
    flag = f"--{name.replace('_', '-')}"
    if value is None:
        return flag
    return f'{flag} "{value}"' if " " in str(value) else f"{flag} {value}"


_form: ContextVar[Form] = ContextVar("form", default=in_python)


def option(name: str, value: Any = None) -> str:
    """Write an option, with a value if one is given, in the form of the caller's interface.

    Parameters
    ----------
    name
        The parameter's name in Python.
    value
        What to set it to.

    Examples
    --------
    >>> with options_written(in_command):
    ...     f"Name the column with {option('feedback_time')}."
    'Name the column with --feedback-time.'
    """
    return _form.get()(name, value)


@contextmanager
def options_written(form: Form) -> Iterator[None]:
    """Write options in another form than Python's.

    Parameters
    ----------
    form
        What writes an option's name and its value, None if it has none.
    """
    before = _form.set(form)
    try:
        yield
    finally:
        _form.reset(before)
