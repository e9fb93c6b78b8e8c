"""Snapshots of states, so that a start need not replay the whole log."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from halfseen.agents.ledger import entry_row
from halfseen.errors import InvalidInput, StorageError
from halfseen.service.event_log import EventLog
from halfseen.service.fold import FORMAT, Configs, LoopState
from halfseen.service.known_decisions import Known
from halfseen.service.loop_config import LoopConfig
from halfseen.service.loop_events import CLOCK, FORGOTTEN, Event
from halfseen.service.refusals import StorageUnavailable
from halfseen.studies.storage import sealed

EVERY = 100_000  # events
KEPT = 2
ROWS = 250  # decisions per chunk; the loop answers requests in between


class Capture:
    """The state of a loop at one event, written in chunks while the loop continues.

    Decisions changed by later events are written as they were before.
    """

    def __init__(self, state: LoopState) -> None:
        ledger: Any = state.agent._ledger
        self.seq = state.seq
        self._state = state
        self._open: list[Known] = list(ledger.open.values())
        self._settled: list[Known] = list(ledger.settled.values())
        self._before: dict[int, Any] = {}  # decisions that were changed since, by their event
        head = state.without_decisions() | {"decisions": [len(self._open), len(self._settled)]}
        self._head = json.dumps(head)

    def lines(self) -> Iterator[str]:
        """Yield the parts of what is stored."""
        self._state.watcher = self._keep
        try:
            yield self._head
            for entries in (self._open, self._settled):
                for start in range(0, len(entries), ROWS):
                    some = entries[start : start + ROWS]
                    yield json.dumps([self._before.get(one.seq) or _written(one) for one in some])
        finally:
            self._state.watcher = None

    def _keep(self, event: Event) -> None:
        changed: Iterable[Known | None] = (self._state.find(event.decision),)
        if event.kind == CLOCK:
            changed = self._open
        elif event.kind == FORGOTTEN:
            changed = [entry for entry in self._open if entry.seq == event.version]
        for entry in changed:
            if entry is not None and entry.seq <= self.seq and entry.seq not in self._before:
                self._before[entry.seq] = _written(entry)


def _written(entry: Known) -> list[Any]:
    return [entry_row(entry), entry.extra()]


def packed(lines: Iterable[str]) -> bytes:
    """Return a state as it is stored."""
    text = "\n".join(lines).encode()
    return zlib.compress(text + b"\n" + sha256(text).hexdigest().encode(), 1)


def unpacked(stored: bytes) -> Any:
    """Return the unpacked state, as `LoopState.to_dict` gives it."""
    text, end, checksum = zlib.decompress(bytes(stored)).rpartition(b"\n")
    if not end:  # of an earlier version: in one piece
        return json.loads(checksum)
    if sha256(text).hexdigest().encode() != checksum:
        raise ValueError("checksum")
    head, *lines = text.split(b"\n")
    content = json.loads(head)
    rows = [row for line in lines for row in json.loads(line)]
    count = content.pop("decisions")[0]
    for group, some in (("open", rows[:count]), ("settled", rows[count:])):
        content["agent"]["ledger"][group] = [row for row, _ in some]
        content[group] = [extra for _, extra in some]
    content["agent"] = sealed(content["agent"])
    return sealed(content)


def read_back(state: LoopState) -> bytes:
    """Return a state packed for storage; StorageError if it cannot be read back.

    No event may be deleted relying on an unreadable snapshot.
    """
    stored = packed(Capture(state).lines())
    read = _state(stored, state.configs)
    if read is None or read.to_dict() != state.to_dict():
        raise StorageError(
            f"The snapshot of event {state.seq} of loop {state.config.name} was not stored: it does"
            " not give the same state when it is read back. The log is kept."
        )
    return stored


def write_snapshot(log: EventLog, loop: int, seq: int, stored: bytes, revision: int) -> None:
    """Store a snapshot in its own transaction, and delete all but the newest ones.

    One that is older than another is not stored: it may hold what was erased since. Nor is one of
    another revision than the newest, under which the log may have been folded again.
    """
    log.begin([loop])
    base, newest_revision = log.execute("SELECT base, revision FROM loops WHERE id = ?", (loop,))[0]
    query = "SELECT seq FROM snapshots WHERE loop = ? ORDER BY seq DESC"
    newest = log.execute(query, (loop,))
    if revision != newest_revision or (newest and newest[0][0] > seq):
        log.rollback()
        return
    insert_snapshot(log, loop, seq, stored)
    newest = log.execute(query, (loop,))
    for (old,) in newest[KEPT:]:
        if old != base:
            log.execute("DELETE FROM snapshots WHERE loop = ? AND seq = ?", (loop, old))
    log.commit()


def insert_snapshot(log: EventLog, loop: int, seq: int, stored: bytes) -> None:
    """Store a snapshot in the open transaction, in place of an older one of the same event."""
    log.execute("DELETE FROM snapshots WHERE loop = ? AND seq = ?", (loop, seq))
    log.execute(
        "INSERT INTO snapshots (loop, seq, format, state) VALUES (?, ?, ?, ?)",
        (loop, seq, FORMAT, stored),
    )


def read_configs(log: EventLog, loop: int) -> Configs:
    """Return the configurations of a loop by revision."""
    rows = log.execute("SELECT revision, config FROM revisions WHERE loop = ?", (loop,))
    return {number: LoopConfig.model_validate(json.loads(text)) for number, text in rows}


def load_state(log: EventLog, loop: int, base: int, configs: Configs) -> tuple[LoopState, int]:
    """Return the state at the end of the log, and the event of the snapshot it began with.

    A snapshot that cannot be read, that is ahead of the log, or after which the log cannot be
    folded is skipped for an earlier one, and finally for the whole log.
    """
    seqs = log.execute(
        "SELECT seq FROM snapshots WHERE loop = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC",
        (loop, base, log.tip(loop)),
    )
    for (seq,) in seqs:
        state = _snapshot(log, loop, seq, configs)
        if state is None:
            continue
        try:
            return state.fold_all(log.all_events(loop, seq)), seq
        except StorageUnavailable:
            raise
        except Exception:
            continue
    return replayed(log, loop, base, configs), base


def _snapshot(log: EventLog, loop: int, seq: int, configs: Configs) -> LoopState | None:
    query = "SELECT state FROM snapshots WHERE loop = ? AND seq = ?"
    rows = log.execute(query, (loop, seq))
    state = _state(rows[0][0], configs) if rows else None
    return state if state is not None and (state.loop, state.seq) == (loop, seq) else None


def _state(stored: bytes, configs: Configs) -> LoopState | None:
    try:
        return LoopState.from_dict(unpacked(stored), configs)
    except Exception:  # any kind of damage
        return None


def replayed(
    log: EventLog, loop: int, base: int, configs: Configs, upto: int | None = None
) -> LoopState:
    """Return the state from the earliest possible beginning of the log."""
    if base == 0:
        return LoopState(loop, configs).fold_all(log.all_events(loop, 0, upto))
    state = _snapshot(log, loop, base, configs)
    if state is None:
        raise StorageError(
            f"Loop {configs[max(configs)].name} cannot be opened: its events up to {base} were"
            " archived, and the snapshot taken then is damaged or of another version of halfseen or"
            " of the policy's code. Restore a backup, or open it with the version that wrote it."
        )
    return state.fold_all(log.all_events(loop, base, upto))


def check_snapshots(log: EventLog, loop: int, base: int, configs: Configs) -> list[str]:
    """Return the disagreements between all snapshots of a loop and a replay."""
    name = configs[max(configs)].name
    seqs = log.execute("SELECT seq FROM snapshots WHERE loop = ? ORDER BY seq", (loop,))
    found = []
    try:
        state = replayed(log, loop, base, configs, upto=base)
        for (seq,) in seqs:
            if seq < base:
                continue
            state.fold_all(log.all_events(loop, state.seq, seq))
            stored = _snapshot(log, loop, seq, configs)
            if stored is None:
                found.append(
                    f"Loop {name}: the snapshot of event {seq} is damaged, or of another version of"
                    " halfseen or of the policy's code. It is not used."
                )
            elif stored.to_dict() != state.to_dict():
                found.append(
                    f"Loop {name}: the snapshot of event {seq} does not agree with a replay."
                )
        state.fold_all(log.all_events(loop, state.seq))
    except StorageError as error:
        found.append(str(error))
    except InvalidInput as error:  # a reward that the law of today cannot have
        where = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
        found.append(f"Loop {name}: its log cannot be replayed ({where}{str(error).rstrip('.')}).")
    return found
