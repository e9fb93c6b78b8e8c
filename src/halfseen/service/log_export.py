"""A loop's log as a file, a row per decision, and the audit of it."""

from __future__ import annotations

import asyncio
import csv
import os
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.errors import InvalidInput
from halfseen.service.decision_rows import row_types
from halfseen.service.refusals import InvalidField

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.service.decision_service import Service

MEDIA = {"csv": b"text/csv; charset=utf-8", "parquet": b"application/vnd.apache.parquet"}


async def export_file(service: Service, loop: str, kind: str) -> Path:
    """Write a loop's log to a temporary file, and return it; the caller deletes it."""
    columns = columns_of(service, loop)
    rows = _temporary(".csv")
    try:
        with rows.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            async for some in service.rows(loop):
                await asyncio.to_thread(writer.writerows, [_written(row, columns) for row in some])
        if kind == "csv":
            return rows
        packed = _temporary(".parquet")
        try:
            await asyncio.to_thread(_pack, rows, packed, columns)
        except BaseException:
            packed.unlink(missing_ok=True)
            raise
    except BaseException:
        rows.unlink(missing_ok=True)
        raise
    rows.unlink()
    return packed


async def audit_of(service: Service, loop: str) -> dict[str, Any]:
    """Return the audit of a loop's log, as `halfseen audit --json` prints it."""
    config = service.config(loop)
    counts = service.loop(loop).state.tally
    if counts.decided == counts.held:
        raise InvalidField(
            f"Loop {loop} has shown no decision yet: there is nothing to audit.",
            field="loop",
            value=loop,
            fix="Ask for decisions first.",
        )
    file = await export_file(service, loop, "parquet")
    try:
        window = config.window if config.late == "keep" else None
        return await asyncio.to_thread(_audited, file, window)
    except InvalidInput as error:
        raise InvalidField(
            f"The log of loop {loop} cannot be audited: it {error.requirement}.",
            field="loop",
            value=loop,
            fix="Ask again when more decisions have ended.",
        ) from None
    finally:
        file.unlink(missing_ok=True)


def _audited(file: Path, window: float | None) -> dict[str, Any]:
    content = audit_file(file, window).to_dict()
    content["log"] = "this loop"
    return content


def audit_file(file: Path, window: float | None) -> Audit:
    """Return the audit of an exported log of a loop with a window of so many seconds."""
    from halfseen.logs.audit import audit

    return audit(
        file,
        action="arm",
        reward="reward",
        time="shown_at",
        feedback_time="ended_at",
        propensity="propensity",
        id="decision",
        where="state <> 'held'",
        window=None if window is None else window / 86_400.0,
        now=datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"),
    )


def columns_of(service: Service, loop: str) -> dict[str, str]:
    """Return the columns of an export with their DuckDB types; times are times."""
    types = row_types(service.loop(loop))
    return {name: "TIMESTAMP" if name.endswith("_at") else kind for name, kind in types.items()}


def _pack(rows: Path, packed: Path, columns: dict[str, str]) -> None:
    import duckdb

    with duckdb.connect() as connection:
        table = connection.read_csv(str(rows), header=True, dtype=columns, quotechar='"')
        table.write_parquet(str(packed), compression="zstd")


def _temporary(ending: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="halfseen-", suffix=ending)
    os.close(handle)
    return Path(name)


def _written(row: dict[str, Any], columns: dict[str, str]) -> list[Any]:
    """Return a row as written to the file: times in UTC, unknown values empty."""
    return [_cell(row[name], kind) for name, kind in columns.items()]


def _cell(value: Any, kind: str) -> Any:
    if value is None:
        return ""
    if kind == "TIMESTAMP":
        seconds, rest = divmod(value, 1_000_000)
        moment = datetime(1970, 1, 1) + timedelta(seconds=seconds, microseconds=rest)
        return moment.isoformat(sep=" ", timespec="microseconds")
    return repr(value) if isinstance(value, float) else value
