"""Erasing a decision, and moving old events out of the database."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.errors import StorageError
from halfseen.service import loop_events as kinds
from halfseen.service.decision_rows import (
    DATED,
    MADE,
    dated_before,
    decision_row,
    decisions_made,
    row_types,
)
from halfseen.service.event_log import EventLog
from halfseen.service.exchange import Outcome
from halfseen.service.fold import LoopState
from halfseen.service.loop_events import Event, kinds_in
from halfseen.service.loop_table import newest
from halfseen.service.state_snapshots import insert_snapshot, read_back
from halfseen.service.writer import LiveLoop

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

DAY = 86_400_000_000  # microseconds
PENDING = -1  # returned for a decision that must be closed before it can be erased
TIMES = ("decided_at", "shown_at", "ended_at", "client_at", "late_at")


async def forget(service: Service, live: LiveLoop, decision: str) -> int:
    """Erase a decision of a loop: its id, features, key and client times; return 1 or 0.

    A pending one is first closed without a reward. The snapshots are replaced by a new one, since
    they hold ids too.
    """
    while True:
        found: int = await service.writer.do(
            lambda log: _erase(log, live.id, decision, service.clock())
        )
        if found != PENDING:
            break
        await service.writer.submit(live, [Outcome(decision, None)], None)
    await service.follow(live)
    await service.refresh_loops()
    return found


def _erase(log: EventLog, loop: int, decision: str, now: int) -> int:
    """Erase a decision in the log; return 1, 0 if it is not there, PENDING if it must end first.

    The snapshot that holds what was learned from it is written in the same transaction, since a
    replay may need what is erased.
    """
    tip = log.begin([loop])[loop]
    events = log.events_of(loop, [decision]).get(decision, [])
    if not events:
        return _drop_archived(log, loop, tip, decision, now)
    if not closed(events) and any(e.kind in (kinds.DECIDED, kinds.ACTIVATED) for e in events):
        log.rollback()
        return PENDING
    base, state, _ = newest(log, loop)
    name = f"{kinds.ERASED}{os.urandom(12).hex()}"
    for event in events:
        log.execute(
            "UPDATE events SET decision = ?, features = NULL, client_at = NULL, key = NULL,"
            " request = NULL WHERE loop = ? AND seq = ?",
            (name, loop, event.seq),
        )
    made = next((e.seq for e in events if e.kind in (kinds.DECIDED, kinds.HELD)), 0)
    orphan = max((e.seq for e in events if e.kind == kinds.ORPHAN), default=0)
    more: Any = {"version": made, "request": orphan}
    _add(log, state, Event(loop, tip + 1, state.revision, name, kinds.FORGOTTEN, now, **more))
    _renew(log, state, keep_base=base == 0 and state.config.arms is not None)
    return 1


def _drop_archived(log: EventLog, loop: int, tip: int, decision: str, now: int) -> int:
    """Drop from memory and snapshots a decision whose events were archived; 0 if there is none."""
    _, state, _ = newest(log, loop)
    entry = state.find(decision)
    if entry is None:
        log.rollback()
        return 0
    made: Any = {"features": np.array([entry.seq], dtype="<i8").tobytes()}
    _add(log, state, Event(loop, tip + 1, state.revision, "", kinds.DROPPED, now, **made))
    _renew(log, state)
    return 1


def _add(log: EventLog, state: LoopState, event: Event) -> None:
    log.append([event])
    state.fold(event)


def _renew(log: EventLog, state: LoopState, *, keep_base: bool = False) -> None:
    """Store the state as the only snapshot, and commit.

    Unless `keep_base`, a replay begins with this snapshot from now on. StorageError, and nothing
    is deleted, if it cannot be read back.
    """
    log.execute("DELETE FROM snapshots WHERE loop = ?", (state.loop,))
    stored = read_back(state)
    insert_snapshot(log, state.loop, state.seq, stored)
    if not keep_base:
        log.execute("UPDATE loops SET base = ? WHERE id = ?", (state.seq, state.loop))
    log.commit([state.loop])
    log.scrub()


async def _delete(
    service: Service, live: LiveLoop, gone: Sequence[int], dropped: Collection[int] = ()
) -> None:
    """Delete events, and drop their decisions from memory, in one transaction.

    Parameters
    ----------
    service, live
        Of which loop.
    gone
        The events to delete.
    dropped
        Events; decisions made by one of them, and outcomes without a decision of which one of
        them is the last, leave the memory of every process.
    """

    def delete(log: EventLog) -> None:
        tip = log.begin([live.id])[live.id]
        _, state, _ = newest(log, live.id)
        leaving = state.remembered(dropped)
        if leaving:
            more: Any = {"features": np.array(leaving, dtype="<i8").tobytes()}
            event = Event(live.id, tip + 1, state.revision, "", kinds.DROPPED, service.clock())
            _add(log, state, event._replace(**more))
        for start in range(0, len(gone), 500):
            some = gone[start : start + 500]
            marks = ", ".join("?" * len(some))
            log.execute(f"DELETE FROM events WHERE loop = ? AND seq IN ({marks})", (live.id, *some))
        _renew(log, state)

    await service.writer.do(delete)
    await service.follow(live)
    await service.refresh_loops()


def closed(events: Sequence[Event]) -> bool:
    """Return whether a decision has ended."""
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
            old = live.state.dated(own[-1].seq, own[-1].at) < edge
            if closed(own) and old and (heard or not learns):
                found.append((event, own))
        if found:
            yield found
        if not after:
            return


async def delete_older(service: Service, live: LiveLoop, days: float) -> int:
    """Erase the decisions that ended more than so many days ago; return how many events.

    They leave the log, the snapshots and the memory of every process.
    """
    edge = service.clock() - round(days * DAY)
    settled: Any = live.state.agent._ledger.settled
    remembered = {name: e.seq for name, e in settled.items() if (e.expires or 0) < edge}

    def old(log: EventLog) -> tuple[list[int], list[int]]:
        with log.steady():
            ended = ended_before(log, live, edge, late_counts=False)
            seqs = [event.seq for some in ended for _, own in some for event in own]
            seqs += _alone(log, live, edge)
            gone, stored = set(seqs), log.events_of(live.id, list(remembered))
        kept = {name for name, own in stored.items() if any(e.seq not in gone for e in own)}
        return seqs, [seq for name, seq in remembered.items() if name not in kept]

    seqs, dropped = await service.read(old)
    if seqs or dropped:
        await _delete(service, live, seqs, {*seqs, *dropped})
    return len(seqs)


def _alone(log: EventLog, live: LiveLoop, edge: int) -> list[int]:
    """Return the old outcomes without a decision, and the old events about none."""
    single = (kinds.ORPHAN, kinds.LATE, kinds.FORGOTTEN, kinds.DROPPED)
    query = (
        f"SELECT seq, decision, at FROM events WHERE loop = ? AND {DATED} AND {kinds_in(single)}"
    )
    found = log.execute(query, (live.id, *dated_before(live, edge)))
    rows = [(seq, name) for seq, name, at in found if live.state.dated(seq, at) < edge]
    made = log.events_of(live.id, sorted({name for _, name in rows}))
    known = {name for name, own in made.items() if any(e.kind in MADE for e in own)}
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
        raise StorageError(
            f"Cannot write {folder}: {error.strerror}. Choose another folder."
        ) from None
    path, again = folder / f"{live.name}-{live.state.seq}.parquet", 1
    while path.exists():
        again += 1
        path = folder / f"{live.name}-{live.state.seq}-{again}.parquet"
    seqs = await service.read(lambda log: _write_parquet(log, live, edge, path))
    if not seqs:
        return None
    await _delete(service, live, seqs)
    return path


def _write_parquet(log: EventLog, live: LiveLoop, edge: int, path: Path) -> list[int]:
    """Write the rows of the decisions that ended before a time; return their events."""
    import duckdb

    types = row_types(live)
    seqs: list[int] = []
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        lines, draft = Path(folder) / "rows.json", Path(folder) / "rows.parquet"
        with log.steady(), lines.open("w", encoding="utf-8") as file:
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
