"""Your log: the audit of a file dropped on the page, which is not stored."""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halfseen import checks
from halfseen.errors import InvalidInput
from halfseen.explorer import chart_parts as parts
from halfseen.explorer.arm_labels import arm_labels
from halfseen.explorer.view import Picture, Rows
from halfseen.logs.audit import Audit, audit
from halfseen.logs.option_names import in_command, options_written
from halfseen.logs.source import open_log

COLUMNS = ("action", "reward", "observed", "time", "feedback_time", "unit", "context")
OPTIONS = ("empty_means", "encoding")  # of the audit that the page can set
ENCODINGS = ("utf-8", "cp1252", "latin-1", "utf-16")
SHOWN = 60  # arms
NAME = "your-log"  # of the file while it is read
PARQUET = b"PAR1"  # magic bytes of a Parquet file
GUESSES = {
    "action": ("action", "arm", "offer", "variant", "treatment", "item"),
    "reward": ("reward", "outcome", "sold", "click", "conversion", "value"),
    "observed": ("observed", "seen"),
    "time": ("time", "timestamp", "sent", "day", "date"),
    "feedback_time": ("feedback_time", "known", "returned"),
    "unit": ("unit", "user", "user_id", "customer"),
}


def columns_of(body: bytes, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of a file, and a guess of the column for each role."""
    with _written(body) as path, options_written(_on_form):
        names = list(open_log(path, encoding=_encoding(query)).columns)
    lower = {name.lower(): name for name in names}
    guess = {
        role: next((lower[word] for word in words if word in lower), None)
        for role, words in GUESSES.items()
    }
    return {"columns": names, "guess": guess, "roles": list(COLUMNS)}


def audit_of(body: bytes, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the audit of a file as the page shows it."""
    roles: dict[str, Any] = {role: query[role] for role in COLUMNS if query.get(role)}
    if "action" not in roles:
        raise InvalidInput("action", "must be a column", None, "Choose the column of the arms.")
    if (encoding := _encoding(query)) is not None:
        roles["encoding"] = encoding
    if query.get("empty_means"):
        roles["empty_means"] = _number("empty_means", query["empty_means"])
    with _written(body) as path, options_written(_on_form):
        found = audit(path, **roles)
        return {
            "answers": list(found.answers),
            "warnings": [{"text": on_the_page(str(w)), "voids": w.voids} for w in found.warnings],
            "notes": list(found.notes),
            "voided": found.voided,
            "pictures": [_rates(found).to_dict()],
            "python": _python(roles),
            "command": _command(roles),
        }


def on_the_page(sentence: str) -> str:
    """Return a sentence of the audit as the page shows it, without temporary file names.

    >>> on_the_page("`log` must be text; got 'some/your-log.csv'. Check it.")
    '`log` must be text. Check it.'
    """
    said = re.sub(rf"; got '[^']*{NAME}\.\w+'", "", sentence)
    return re.sub(rf"[^\s']*{NAME}\.\w+", "your log", said)


def _on_form(name: str, value: Any) -> str:
    """Write an option under its name on the page, or on the command line if the page has none."""
    if name not in (*COLUMNS, *OPTIONS):
        return in_command(name, value)
    return f"“{name.replace('_', ' ')}”{'' if value is None else f' {value}'}"


def _encoding(query: Mapping[str, str]) -> str | None:
    found = checks.one_of("encoding", query.get("encoding", ENCODINGS[0]), ENCODINGS)
    return None if found == ENCODINGS[0] else found


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(name, "must be a number", text[:60], "Write 0, or leave it empty.")


def _rates(found: Audit) -> Picture:
    shown = found.costliest(SHOWN)
    records = found.rates.records()
    rows: Rows = [
        {"place": i, "rate": r["rate"], "low": r["low"], "high": r["high"]}
        for i, r in enumerate(records[j] for j in shown)
    ]
    names = arm_labels([str(records[j]["arm"]) for j in shown])
    spec = parts.intervals(
        names,
        "rate",
        lambda field: parts.share(field, "share of feedback seen"),
        rate="seen",
        low="at least",
        high="at most",
    )
    title = "How often each arm is seen"
    note = "With 95% intervals, costliest first."
    if len(records) > SHOWN:
        note += f" The first {SHOWN} of {len(records):,} arms."
    return Picture("rates", title, note, spec, rows)


def _python(roles: dict[str, Any]) -> str:
    given = ", ".join(f"{role}={name!r}" for role, name in roles.items())
    return f'from halfseen import audit\n\nprint(audit("log.csv", {given}))\n'


def _command(roles: dict[str, Any]) -> str:
    given = " ".join(
        f"--{role.replace('_', '-')} {shlex.quote(str(name))}" for role, name in roles.items()
    )
    return f"halfseen audit log.csv {given} --out my-audit"


@contextmanager
def _written(body: bytes) -> Iterator[str]:
    """Write a temporary file while it is read."""
    kind = "parquet" if body.startswith(PARQUET) else "csv"
    with tempfile.TemporaryDirectory(prefix="halfseen-") as folder:
        path = Path(folder) / f"{NAME}.{kind}"
        path.write_bytes(body)
        yield str(path)
