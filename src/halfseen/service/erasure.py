"""Erasing a decision, and moving old events out of the database."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.errors import StorageError
from halfseen.service import loop_events as kinds
from halfseen.service.decision_rows import decision_rows, row_types
from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Outcome
from halfseen.service.loop_events import Event
from halfseen.service.state_snapshots import insert_snapshot, packed
from halfseen.service.writer import LiveLoop

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

DAY = 86_400_000_000  # microseconds
TIMES = ("decided_at", "shown_at", "ended_at", "client_at", "late_at")


async def forget(service: Service, live: LiveLoop, decision: str) -> int:
    """Erase a decision of a loop: its id, features, key and client times; return 1 or 0.

    A pending one is first closed without a reward. The snapshots are replaced by a new one, since
    they hold ids too.
    """
    entry = live.state.find(decision)
    if entry is not None and entry.state == "pending":
        await service.writer.submit(live, [Outcome(decision, None)], None)
    found: int = await service.writer.do(
        lambda log: _erase(log, live.id, decision, service.clock(), live.state.revision)
    )
    live.state.orphans.pop(decision, None)
    await service.follow(live)
    await renew_base(service, live, keep_base=live.state.config.arms is not None)
    return found


def _erase(log: EventLog, loop: int, decision: str, now: int, revision: int) -> int:
    tip = log.begin([loop])[loop]
    events = log.events_of(loop, [decision]).get(decision, [])
    if not events:
        log.rollback()
        return 0
    name = f"forgotten-{os.urandom(12).hex()}"
    for event in events:
        log.execute(
            "UPDATE events SET decision = ?, features = NULL, client_at = NULL, key = NULL"
            " WHERE loop = ? AND seq = ?",
            (name, loop, event.seq),
        )
    made = next((e.seq for e in events if e.kind in (kinds.DECIDED, kinds.HELD)), 0)
    log.append([Event(loop, tip + 1, revision, name, kinds.FORGOTTEN, now, version=made)])
    log.commit([loop])
    return 1


async def renew_base(
    service: Service, live: LiveLoop, *, keep_base: bool, upto: int | None = None
) -> int:
    """Store the state as the only snapshot, and delete the events up to one; return how many.

    Unless `keep_base`, a replay begins with this snapshot from now on.
    """
    content, seq = live.state.to_dict(), live.state.seq
    base = live.base if keep_base and live.base == 0 else seq

    def store(log: EventLog) -> int:
        log.begin([live.id])
        log.execute("DELETE FROM snapshots WHERE loop = ?", (live.id,))
        insert_snapshot(log, live.id, seq, packed(content))
        log.execute("UPDATE loops SET base = ? WHERE id = ?", (base, live.id))
        count = 0
        if upto is not None:
            within = "FROM events WHERE loop = ? AND seq <= ?"
            count = int(log.execute(f"SELECT count(*) {within}", (live.id, upto))[0][0])
            log.execute(f"DELETE {within}", (live.id, upto))
        log.commit([live.id])
        log.scrub()
        return count

    deleted: int = await service.writer.do(store)
    live.base, live.snapshot = base, seq
    return deleted


async def _last_before(service: Service, live: LiveLoop, days: float) -> tuple[int, int]:
    """Return the last event before which all are older than so many days, and the time."""
    edge = service.clock() - round(days * DAY)
    query = "SELECT min(seq) FROM events WHERE loop = ? AND at >= ?"
    newer = await service.read(lambda log: log.execute(query, (live.id, edge)))
    first = newer[0][0]
    return (live.state.seq if first is None else int(first) - 1), edge


async def delete_older(service: Service, live: LiveLoop, days: float) -> int:
    """Delete the events older than so many days; return how many."""
    upto, _ = await _last_before(service, live, days)
    oldest = "SELECT min(seq) FROM events WHERE loop = ?"
    first = await service.read(lambda log: log.execute(oldest, (live.id,)))
    if first[0][0] is None or first[0][0] > upto:
        return 0
    await service.follow(live)
    return await renew_base(service, live, keep_base=False, upto=upto)


async def archive_older(service: Service, live: LiveLoop, folder: Path, days: float) -> Path | None:
    """Write the decisions older than so many days to a Parquet file, then delete their events.

    Returns
    -------
    Path or None
        The file; None if nothing is that old.
    """
    upto, edge = await _last_before(service, live, days)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"Cannot write {folder}: {error.strerror}.") from None
    path = folder / f"{live.name}-{upto}.parquet"
    written = await service.read(lambda log: _write_parquet(log, live, edge, path))
    if not written:
        return None
    await service.follow(live)
    await renew_base(service, live, keep_base=False, upto=upto)
    return path


def _write_parquet(log: EventLog, live: LiveLoop, edge: int, path: Path) -> int:
    """Write the rows of the decisions made before a time; return how many."""
    import duckdb

    types = row_types(live)
    count, after = 0, 0
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        lines, draft = Path(folder) / "rows.json", Path(folder) / "rows.parquet"
        with lines.open("w", encoding="utf-8") as file:
            while True:
                rows, after = decision_rows(log, live, after, 5000, edge)
                for row in rows:
                    file.write(json.dumps(row) + "\n")
                count += len(rows)
                if not after:
                    break
        if not count:
            return 0
        columns = ", ".join(
            f"make_timestamp({name}) AS {name}" if name in TIMES else name for name in types
        )
        given: Any = [str(lines), types]
        with duckdb.connect() as connection:
            connection.execute(
                f"COPY (SELECT {columns} FROM read_json(?, columns = {types!r},"
                f" format = 'newline_delimited')) TO '{draft}' (FORMAT parquet)",
                given[:1],
            )
        os.replace(draft, path)
    return count
