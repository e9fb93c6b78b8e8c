"""How a command ends: its exit code, and one sentence where something went wrong."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperGroup

from halfseen.cli.streams import output_to_nowhere
from halfseen.errors import HalfseenError, InvalidInput, sentence
from halfseen.interrupts import STOPPED
from halfseen.kinds import registries
from halfseen.logs.option_names import in_command, options_written

DEBUG = "HALFSEEN_DEBUG"  # set: errors are raised, with their traceback
COMPLETE = "_HALFSEEN_COMPLETE"  # set by the shell while it completes a command line
BUG, BAD_INPUT, NO_READER = 1, 2, 141


GROUPS = {
    "Logs with missing feedback": ("audit", "plan", "invest", "window", "value"),
    "Live": ("serve",),
    "Studies": ("new", "study", "report"),
    "Theory": ("explore", "dimension", "bounds", "path", "verify", "figures"),
    "This machine": ("doctor", "completion"),
}


class Commands(TyperGroup):
    """The commands, in groups; a closed pipe ends them silently."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group with a line per command."""
        for title, names in GROUPS.items():
            rows = [(name, self.commands[name].get_short_help_str(100)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows, col_max=12)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with options_written(in_command):
                return super().invoke(ctx)
        except InvalidInput as error:
            raise _as_typed(error, self.commands, sys.argv[1:]) from error
        except BrokenPipeError:
            output_to_nowhere()
            raise typer.Exit(NO_READER) from None


def _as_typed(error: InvalidInput, commands: Mapping[str, Any], words: list[str]) -> InvalidInput:
    """Return an error about an option under the name it has on the command line.

    A key of a spec may have the name of an option: only options that were typed, or that are
    missing, are renamed.
    """
    command = None
    for word in words:
        if word in commands:
            command = commands[word]
            commands = getattr(command, "commands", {})
    options = {p.name: p.opts[0] for p in command.params} if command is not None else {}
    option = options.get(error.field, "")
    typed = any(word.partition("=")[0] == option for word in words)
    if not option.startswith("--") or not (typed or error.value is None):
        return error
    requirement = re.sub(
        r"`(\w+)`", lambda name: f"`{options.get(name[1], name[1])}`", error.requirement
    )
    return InvalidInput(option, requirement, error.value, error.fix)


def ended(app: Callable[..., Any]) -> int:
    """Run the command and return its exit code; errors become a sentence on stderr."""
    unheard = sys.stdout is None
    _prepare_streams()
    warnings.showwarning = _show_warning
    code: Any = 0
    if COMPLETE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    try:
        code = app(standalone_mode=False, complete_var=COMPLETE)
    except SystemExit as end:  # completion, or a broken pipe before the command was parsed
        code = end.code if COMPLETE in os.environ else NO_READER
    except HalfseenError as error:
        code = _tell(str(error), BAD_INPUT)
    except Exception as error:
        code = _misused(error)
        if code is None:
            if os.environ.get(DEBUG):
                raise
            code = _unforeseen(error)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = NO_READER
        output_to_nowhere()
    except OSError as error:
        code = _unforeseen(error)
        output_to_nowhere()
    code = code if isinstance(code, int) else 0
    if unheard and code == 0:
        code = _tell("The output is closed: the printed answer is lost.", BAD_INPUT)
    return code


def _misused(error: Any) -> int | None:
    """Report a usage error and return its exit code; None for any other error."""
    if type(error).__name__ == "Abort":
        return STOPPED
    if not hasattr(error, "format_message"):
        return None
    said = error.format_message().strip()
    if "\n" in said:  # help, since no command was given
        error.show()
    else:
        context = getattr(error, "ctx", None)
        path = f" Try: {context.command_path} --help." if context else ""
        said = said.rstrip(".")
        _tell(f"{_not_a_number(said) or said}{'' if said.endswith('?') else '.'}{path}", BAD_INPUT)
    return int(error.exit_code)


def _not_a_number(said: str) -> str | None:
    """Return the sentence for an option that must be a number and is not, with its value."""
    found = re.match(r"Invalid value for '(--[\w-]+)'.* valid (integer|number)", said)
    if found is None:
        return None
    option, kind = found.groups()
    given = next(
        (
            word.partition("=")[2] if "=" in word else following
            for word, following in pairwise([*sys.argv, ""])
            if word.partition("=")[0] == option
        ),
        "",
    )
    what = "a whole number" if kind == "integer" else "a number"
    return f"`{option}` must be {what}; got {given!r}. Write digits, as {option} 100"


def _prepare_streams() -> None:
    """Make sure that both streams exist and that unencodable characters raise no error."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace" if name == "stdout" else "backslashreplace")


def _unforeseen(error: Exception) -> int:
    if isinstance(error, MemoryError):
        return _tell("There is not enough memory for this. Make it smaller.", BAD_INPUT)
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return _tell(f"Cannot read or write: {error.strerror}.", BAD_INPUT)
        return _tell(
            f"Cannot use {error.filename}: {error.strerror}."
            " Check that it exists and that you may use it.",
            BAD_INPUT,
        )
    if own := _place_in_own_kinds(error):
        return _tell(
            f"An error in {own}, {type(error).__name__}: {str(error).rstrip('.')}."
            f" Correct it there; {DEBUG}=1 before the command shows how it was reached.",
            BAD_INPUT,
        )
    return _tell(
        f"An error in halfseen itself, {type(error).__name__}: {str(error).rstrip('.')}."
        f" Please report it; {DEBUG}=1 before the command shows where it happened.",
        BUG,
    )


def _place_in_own_kinds(error: Exception) -> str | None:
    """Return the line that raised an error if a package of registered kinds of yours holds it."""
    kinds = [kind for _, known in registries() for kind in known.values()]
    own = {kind.__module__.partition(".")[0] for kind in kinds} - {"halfseen"}
    places = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in own
        and os.path.isfile(frame.f_code.co_filename)
    ]
    return places[-1] if places else None


def _tell(text: str, code: int) -> int:
    with contextlib.suppress(OSError):  # stderr is closed too
        print(f"halfseen: {sentence(text)}", file=sys.stderr, flush=True)
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _tell(str(message), 0)
