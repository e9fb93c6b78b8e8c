"""The loops of a database and their revisions."""

from __future__ import annotations

import json
from typing import Any

from halfseen.errors import InvalidInput
from halfseen.service import loop_events
from halfseen.service.event_log import EventLog
from halfseen.service.fold import LoopState
from halfseen.service.loop_config import LoopConfig, loop_config
from halfseen.service.loop_events import Event
from halfseen.service.refusals import Conflict, InvalidField
from halfseen.service.state_snapshots import load_state, read_configs
from halfseen.service.writer import LiveLoop

_REVISION = "INSERT INTO revisions (loop, revision, config, created) VALUES (?, ?, ?, ?)"


def listed(log: EventLog) -> list[tuple[Any, ...]]:
    """Return number, name, time of archiving and base of every loop."""
    return log.execute("SELECT id, name, archived, base FROM loops ORDER BY id")


def base_of(log: EventLog, loop: int) -> int:
    """Return the event after which a replay of a loop begins."""
    return int(log.execute("SELECT base FROM loops WHERE id = ?", (loop,))[0][0])


def newest(log: EventLog, loop: int) -> tuple[int, LoopState, int]:
    """Return the base of a loop, its state at the end of the log, and the snapshot it began with.

    Nothing may be erased meanwhile: the log is locked, or read as a consistent snapshot.
    """
    base = base_of(log, loop)
    return base, *load_state(log, loop, base, read_configs(log, loop))


def create(log: EventLog, config: LoopConfig, now: int) -> bool:
    """Insert a loop; return False if another process was first."""
    log.begin([])
    if log.server:
        log.execute("LOCK TABLE loops IN SHARE ROW EXCLUSIVE MODE")
    if log.execute("SELECT id FROM loops WHERE name = ?", (config.name,)):
        log.rollback()
        return False
    number = int(log.execute("SELECT coalesce(max(id), 0) + 1 FROM loops")[0][0])
    log.execute(
        "INSERT INTO loops (id, name, revision, created, base) VALUES (?, ?, 1, ?, 0)",
        (number, config.name, now),
    )
    log.execute(_REVISION, (number, 1, json.dumps(config.to_dict()), now))
    log.commit([number])
    return True


def archive(log: EventLog, loop: int, now: int) -> None:
    """Mark a loop as archived."""
    log.begin([loop])
    log.execute("UPDATE loops SET archived = ? WHERE id = ? AND archived IS NULL", (now, loop))
    log.commit([loop])


def check_revision(live: LiveLoop, config: LoopConfig) -> None:
    """Refuse a configuration that the log of a loop cannot be folded under."""
    old = live.state.config
    if live.archived:
        raise Conflict(
            f"Loop {old.name} is archived: its settings stay as they are.",
            field="loop",
            value=old.name,
            fix="Create another loop.",
        )
    if config.dimension != old.dimension:
        raise InvalidField(
            f"The dimension of loop {old.name} cannot change from {old.dimension}.",
            field="dimension",
            value=config.dimension,
            fix="Create another loop.",
        )
    known = old.arms or []
    if (config.arms or [])[: len(known)] != known:
        raise InvalidField(
            f"The arms of loop {old.name} cannot be removed, renamed or reordered.",
            field="arms",
            value=config.arms,
            fix=f"Begin with {known}, add new ones at the end, and name old ones in `retired`.",
        )
    if live.base and not config.same_but_arms(live.state.rules):
        raise _not_whole(old.name)


def _not_whole(name: str) -> Conflict:
    return Conflict(
        f"Events of loop {name} were archived or erased, so the log cannot be folded again under"
        " another policy or other rules.",
        fix="Create another loop.",
    )


def declared(log: EventLog) -> dict[str, LoopConfig]:
    """Return the loops as last declared in the loop file, by name."""
    rows = log.execute("SELECT value FROM meta WHERE name LIKE ?", ("declared %",))
    found = [LoopConfig.model_validate(json.loads(text)) for (text,) in rows]
    return {config.name: config for config in found}


def note_declared(log: EventLog, config: LoopConfig) -> None:
    """Store the declarations of the loop file."""
    name = f"declared {config.name}"
    log.begin([])
    log.execute("DELETE FROM meta WHERE name = ?", (name,))
    text = json.dumps(config.to_dict())
    log.execute("INSERT INTO meta (name, value) VALUES (?, ?)", (name, text))
    log.commit()


def merged(before: LoopConfig, declared: LoopConfig | None, config: LoopConfig) -> LoopConfig:
    """Return the settings of a loop, updated with the changes in the loop file.

    Other revisions since the file was last read are kept.
    """
    if declared is None:
        return config
    old, new, now = declared.to_dict(), config.to_dict(), before.to_dict()
    changed = {name: value for name, value in new.items() if value != old[name]}
    if "arms" in changed and (config.arms or [])[: len(declared.arms or [])] == declared.arms:
        known = before.arms or []
        changed["arms"] = known + [arm for arm in config.arms or [] if arm not in known]
    return loop_config(now | changed)


def revise(log: EventLog, live: LiveLoop, config: LoopConfig, now: int, after: int) -> int:
    """Store a new configuration and its event; return the revision.

    `after` is the revision that was changed: if another came since, neither overrides the other.
    """
    tip = log.begin([live.id])[live.id]
    configs = read_configs(log, live.id)
    revision = max(configs)
    if configs[revision] == config:
        log.rollback()
        return revision
    if revision != after:
        log.rollback()
        raise Conflict(
            f"Loop {config.name} was revised meanwhile. Nothing was changed.",
            field="loop",
            value=config.name,
            fix="Read its settings again, and send the remaining changes.",
        )
    revision += 1
    if not config.same_but_arms(configs[revision - 1]):
        if base_of(log, live.id):
            log.rollback()
            raise _not_whole(config.name)
        try:  # check that the whole log folds under it
            state = LoopState(live.id, configs | {revision: config})
            state.fold_all(log.all_events(live.id, 0))
        except InvalidInput as error:
            log.rollback()
            raise InvalidField(
                f"The log of loop {config.name} does not fit these settings: {error}",
                field=error.field,
                fix="Create another loop.",
            ) from None
        log.execute("DELETE FROM snapshots WHERE loop = ?", (live.id,))
    log.execute(_REVISION, (live.id, revision, json.dumps(config.to_dict()), now))
    log.execute("UPDATE loops SET revision = ? WHERE id = ?", (revision, live.id))
    log.append([Event(live.id, tip + 1, revision, "", loop_events.REVISED, now)])
    log.commit([live.id])
    return revision
