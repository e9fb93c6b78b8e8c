"""The stored API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.service.event_log import EventLog

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

COLUMNS = ("id", "name", "role", "hash", "created", "revoked")


def all_keys(log: EventLog) -> list[dict[str, Any]]:
    """Return every key, revoked ones included."""
    rows = log.execute(f"SELECT {', '.join(COLUMNS)} FROM keys ORDER BY created, id")
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def add_key(log: EventLog, key: dict[str, Any]) -> None:
    """Store a key: id, name, role, hash and time of creation in microseconds."""
    log.begin([])
    names, marks = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
    values = [key.get(name) for name in COLUMNS]
    log.execute(f"INSERT INTO keys ({names}) VALUES ({marks})", values)
    log.commit()


def revoke_key(log: EventLog, key: str, at: int) -> bool:
    """Mark a key as revoked; return whether a valid one existed."""
    log.begin([])
    valid = log.execute("SELECT id FROM keys WHERE id = ? AND revoked IS NULL", (key,))
    log.execute("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (at, key))
    log.commit()
    return bool(valid)


class KeyTable:
    """The table of API keys: what is stored of each, never the secret."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def all(self) -> list[dict[str, Any]]:
        """Return every key, revoked ones included."""
        return await self._service.read(all_keys)

    async def add(self, key: dict[str, Any]) -> None:
        """Store a key: id, name, role, hash and time of creation in microseconds."""
        await self._service.writer.do(lambda log: add_key(log, key))

    async def revoke(self, key: str, at: int) -> bool:
        """Mark a key as revoked; return whether a valid one existed."""
        found: bool = await self._service.writer.do(lambda log: revoke_key(log, key, at))
        return found
