"""Erasing a decision, and moving old events out of the database."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halfseen.errors import StorageError
from halfseen.service import loop_events as kinds
from halfseen.service.decision_rows import MADE, decision_row, decisions_made, row_types
from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Outcome
from halfseen.service.loop_events import Event, kinds_in
from halfseen.service.state_snapshots import insert_snapshot, packed
from halfseen.service.writer import LiveLoop

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

DAY = 86_400_000_000  # microseconds
PENDING = -1  # a decision that must end before it can be erased
TIMES = ("decided_at", "shown_at", "ended_at", "client_at", "late_at")


async def forget(service: Service, live: LiveLoop, decision: str) -> int:
    """Erase a decision of a loop: its id, features, key and client times; return 1 or 0.

    A pending one is first closed without a reward. The snapshots are replaced by a new one, since
    they hold ids too.
    """
    while True:
        found: int = await service.writer.do(
            lambda log: _erase(log, live.id, decision, service.clock(), live.state.revision)
        )
        if found != PENDING:
            break
        await service.writer.submit(live, [Outcome(decision, None)], None)
    await service.follow(live)
    await renew_base(service, live, keep_base=live.state.config.arms is not None)
    return found


def _erase(log: EventLog, loop: int, decision: str, now: int, revision: int) -> int:
    """Erase a decision in the log; return 1, 0 if it is not there, PENDING if it must end first."""
    tip = log.begin([loop])[loop]
    events = log.events_of(loop, [decision]).get(decision, [])
    if not events:
        log.rollback()
        return 0
    if not closed(events) and any(e.kind in (kinds.DECIDED, kinds.ACTIVATED) for e in events):
        log.rollback()
        return PENDING
    name = f"forgotten-{os.urandom(12).hex()}"
    for event in events:
        log.execute(
            "UPDATE events SET decision = ?, features = NULL, client_at = NULL, key = NULL,"
            " request = NULL WHERE loop = ? AND seq = ?",
            (name, loop, event.seq),
        )
    made = next((e.seq for e in events if e.kind in (kinds.DECIDED, kinds.HELD)), 0)
    orphan = max((e.seq for e in events if e.kind == kinds.ORPHAN), default=0)
    more: Any = {"version": made, "request": orphan}
    log.append([Event(loop, tip + 1, revision, name, kinds.FORGOTTEN, now, **more)])
    log.commit([loop])
    return 1


async def renew_base(
    service: Service, live: LiveLoop, *, keep_base: bool, gone: Sequence[int] = ()
) -> None:
    """Store the state as the only snapshot, and delete events.

    Unless `keep_base`, a replay begins with this snapshot from now on.
    """
    content, seq = live.state.to_dict(), live.state.seq
    base = live.base if keep_base and live.base == 0 else seq

    def store(log: EventLog) -> None:
        log.begin([live.id])
        log.execute("DELETE FROM snapshots WHERE loop = ?", (live.id,))
        insert_snapshot(log, live.id, seq, packed(content))
        log.execute("UPDATE loops SET base = ? WHERE id = ?", (base, live.id))
        for start in range(0, len(gone), 500):
            some = gone[start : start + 500]
            marks = ", ".join("?" * len(some))
            log.execute(f"DELETE FROM events WHERE loop = ? AND seq IN ({marks})", (live.id, *some))
        log.commit([live.id])
        log.scrub()

    await service.writer.do(store)
    live.base, live.snapshot = base, seq


def closed(events: Sequence[Event]) -> bool:
    """Tell whether a decision has ended."""
    return any(event.kind in (kinds.OBSERVED, kinds.CENSORED) for event in events)


def ended_before(
    log: EventLog, live: LiveLoop, edge: int, *, late_counts: bool
) -> Iterator[list[tuple[Event, list[Event]]]]:
    """Go through the decisions that ended before a time, each with its events.

    Decisions that are held or pending are left out, and if `late_counts` also those whose late
    reward the loop would learn.
    """
    learns = late_counts and live.state.rules.late == "learn"
    after = 0
    while True:
        made, after = decisions_made(log, live, after, 5000, edge)
        events = log.events_of(live.id, [event.decision for event in made])
        found = []
        for event in made:
            own = events[event.decision]
            heard = any(e.kind in (kinds.OBSERVED, kinds.LATE) for e in own)
            if closed(own) and own[-1].at < edge and (heard or not learns):
                found.append((event, own))
        if found:
            yield found
        if not after:
            return


async def delete_older(service: Service, live: LiveLoop, days: float) -> int:
    """Delete the decisions that ended more than so many days ago; return how many events."""
    edge = service.clock() - round(days * DAY)

    def old(log: EventLog) -> list[int]:
        ended = ended_before(log, live, edge, late_counts=False)
        seqs = [event.seq for some in ended for _, own in some for event in own]
        return seqs + _alone(log, live, edge)

    seqs = await service.read(old)
    if not seqs:
        return 0
    await service.follow(live)
    await renew_base(service, live, keep_base=False, gone=seqs)
    return len(seqs)


def _alone(log: EventLog, live: LiveLoop, edge: int) -> list[int]:
    """Return the old outcomes without a decision, and the old events about none."""
    single = (kinds.ORPHAN, kinds.FORGOTTEN)
    query = f"SELECT seq, decision FROM events WHERE loop = ? AND at < ? AND {kinds_in(single)}"
    rows = log.execute(query, (live.id, edge))
    made = log.events_of(live.id, sorted({name for _, name in rows}))
    known = {name for name, own in made.items() if any(e.kind in MADE for e in own)} | set(
        live.state.orphans
    )
    return [seq for seq, name in rows if name not in known]


async def archive_older(service: Service, live: LiveLoop, folder: Path, days: float) -> Path | None:
    """Write the decisions that ended so many days ago to a Parquet file, then delete their events.

    What is held or pending stays, and so do, if the loop learns late rewards, decisions whose
    reward did not come.

    Returns
    -------
    Path or None
        The file; None if nothing is that old.
    """
    edge = service.clock() - round(days * DAY)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"Cannot write {folder}: {error.strerror}.") from None
    path, again = folder / f"{live.name}-{live.state.seq}.parquet", 1
    while path.exists():
        again += 1
        path = folder / f"{live.name}-{live.state.seq}-{again}.parquet"
    seqs = await service.read(lambda log: _write_parquet(log, live, edge, path))
    if not seqs:
        return None
    await service.follow(live)
    await renew_base(service, live, keep_base=False, gone=seqs)
    return path


def _write_parquet(log: EventLog, live: LiveLoop, edge: int, path: Path) -> list[int]:
    """Write the rows of the decisions that ended before a time; return their events."""
    import duckdb

    types = row_types(live)
    seqs: list[int] = []
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        lines, draft = Path(folder) / "rows.json", Path(folder) / "rows.parquet"
        with lines.open("w", encoding="utf-8") as file:
            for some in ended_before(log, live, edge, late_counts=True):
                for made, own in some:
                    file.write(json.dumps(decision_row(made, own, live)) + "\n")
                    seqs += [event.seq for event in own]
        if not seqs:
            return []
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
    return seqs
