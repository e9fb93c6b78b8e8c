"""Tab completion of the values of arguments and options."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from halfseen.cli.study_files import BUILT_IN
from halfseen.errors import HalfseenError, InvalidInput

ENGINES = {
    "cpu": "all cores of this machine",
    "cuda": "an NVIDIA GPU",
    "dask": "processes, or a cluster",
    "reference": "plain Python, slow",
    "auto": "cpu or cuda, whichever is faster",
}
UNQUOTED = re.compile(r"[\w.-]+")  # characters that every shell reads as one word
SHELLS = ("bash", "zsh", "fish")
Offer = Callable[[str], list[tuple[str, str]]]


def offering(values: Iterable[str] | dict[str, str]) -> Offer:
    """Return a function that offers the values that begin with what has been typed.

    >>> offering(["double", "single"])("d")
    [('double', '')]
    """
    told = values if isinstance(values, dict) else dict.fromkeys(values, "")

    def offer(incomplete: str) -> list[tuple[str, str]]:
        return [(value, help) for value, help in told.items() if value.startswith(incomplete)]

    return offer


engines = offering(ENGINES)
precisions = offering({"double": "exact", "single": "on a GPU, faster; the draws differ"})
shells = offering(SHELLS)
studies = offering(dict.fromkeys(BUILT_IN, "a built-in study"))  # else the shell offers files
roles = offering(["decide", "report", "admin"])
intervals = offering(["normal", "bootstrap"])
learns = offering(["on-arrival", "when-settled"])
observe_models = offering(["cells", "arms", "logistic", "trees"])
outcome_models = offering(["cells", "arms", "linear", "trees"])


def estimators(incomplete: str) -> list[tuple[str, str]]:
    """Offer the estimators of a policy's value."""
    from halfseen.values.influence import ESTIMATORS

    return offering(list(ESTIMATORS))(incomplete)


def claims(incomplete: str) -> list[tuple[str, str]]:
    """Offer the names of the paper's claims with where they are in it."""
    from halfseen.claims.registry import claims as known

    return offering({claim.name: claim.place for claim in known().values()})(incomplete)


def columns(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Offer the columns of the log that is named in the line, with their types.

    In a comma-separated list the last one is completed. Logs on servers are not queried.
    """
    from halfseen.cli.demo import is_demo
    from halfseen.logs.datasets import load_demo
    from halfseen.logs.source import open_log

    # An option without its value, which is being completed, leaves the arguments unread.
    log = ctx.params.get("log") or next((word for word in ctx.args if word[:1] != "-"), None)
    if not isinstance(log, str) or log == "-" or "://" in log:
        return []
    given = {name: ctx.params[name] for name in ("table", "encoding") if ctx.params.get(name)}
    try:
        found = open_log(load_demo().log if is_demo(log) else log, **given).columns
    except HalfseenError:
        return []
    before, comma, last = incomplete.rpartition(",")
    named = {name: kind.lower() for name, kind in found.items() if UNQUOTED.fullmatch(name)}
    return [(f"{before}{comma}{name}", kind) for name, kind in offering(named)(last)]


def install() -> None:
    """Install completion of this command for the shell that runs it."""
    from typer.completion import install as write  # type: ignore[attr-defined]

    from halfseen.cli.ending import COMPLETE

    shell = running_shell()
    _, path = write(shell, prog_name="halfseen", complete_var=COMPLETE)
    print(f"The Tab key completes halfseen in new {shell} terminals; see {path}.")


def running_shell() -> str:
    """Return the name of the shell that runs this command."""
    import shellingham  # type: ignore[import-untyped]

    try:
        found = shellingham.detect_shell()[0]
    except shellingham.ShellDetectionFailure:
        found = Path(os.environ.get("SHELL", "")).name
    if found not in SHELLS:
        raise InvalidInput(
            "--install-completion",
            "must run in bash, zsh or fish",
            found or "another shell",
            "Run it there, or use `halfseen completion bash`.",
        )
    return str(found)
