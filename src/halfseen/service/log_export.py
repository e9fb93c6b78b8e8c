"""A loop's log as a file, a row per decision, and the audit of it."""

from __future__ import annotations

import asyncio
import csv
import os
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

MEDIA = {"csv": b"text/csv; charset=utf-8", "parquet": b"application/vnd.apache.parquet"}
COLUMNS = {  # with their DuckDB types
    "id": "VARCHAR",
    "arm": "VARCHAR",
    "chosen": "VARCHAR",
    "probability": "DOUBLE",
    "reward": "DOUBLE",
    "state": "VARCHAR",
    "decided_at": "TIMESTAMP",
    "shown_at": "TIMESTAMP",
    "outcome_at": "TIMESTAMP",
    "version": "BIGINT",
    "revision": "INTEGER",
}
TIMES = {name for name, kind in COLUMNS.items() if kind == "TIMESTAMP"}


async def export_file(service: Service, loop: str, kind: str) -> Path:
    """Write a loop's log to a temporary file, and return it; the caller deletes it."""
    rows = _temporary(".csv")
    try:
        with rows.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            async for some in service.rows(loop):
                await asyncio.to_thread(writer.writerows, map(_written, some))
        if kind == "csv":
            return rows
        packed = _temporary(".parquet")
        try:
            await asyncio.to_thread(_pack, rows, packed)
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
    file = await export_file(service, loop, "parquet")
    try:
        return await asyncio.to_thread(_audited, file, service.config(loop).window)
    finally:
        file.unlink(missing_ok=True)


def _audited(file: Path, window: float) -> dict[str, Any]:
    from halfseen.logs.audit import audit

    found = audit(
        file,
        action="arm",
        reward="reward",
        time="shown_at",
        feedback_time="outcome_at",
        propensity="probability",
        id="id",
        where="state <> 'held'",
        window=window / 86_400.0,
        now=datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"),
    )
    content = found.to_dict()
    content["log"] = "this loop"
    return content


def _pack(rows: Path, packed: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        table = connection.read_csv(str(rows), header=True, dtype=COLUMNS, quotechar='"')
        table.write_parquet(str(packed), compression="zstd")


def _temporary(ending: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="halfseen-", suffix=ending)
    os.close(handle)
    return Path(name)


def _written(row: dict[str, Any]) -> Iterable[Any]:
    """Return a row as the file has it: times in UTC, nothing where nothing is known."""
    for name in COLUMNS:
        value = row[name]
        if value is None:
            yield ""
        elif name in TIMES:
            moment = datetime.fromtimestamp(value / 1e6, UTC)
            yield moment.strftime("%Y-%m-%d %H:%M:%S.%f")
        else:
            yield repr(value) if isinstance(value, float) else value
