"""The stored API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.service.event_log import EventLog

if TYPE_CHECKING:
    from halfseen.service.decision_service import Service

COLUMNS = ("id", "name", "role", "hash", "created", "revoked")


class KeyTable:
    """The table of API keys: what is stored of each, never the secret."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def all(self) -> list[dict[str, Any]]:
        """Return every key, revoked ones included."""
        query = f"SELECT {', '.join(COLUMNS)} FROM keys ORDER BY created, id"
        rows = await self._service.read(lambda log: log.execute(query))
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    async def add(self, key: dict[str, Any]) -> None:
        """Store a key: id, name, role, hash and time of creation in microseconds."""
        values = [key.get(name) for name in COLUMNS]

        def insert(log: EventLog) -> None:
            log.begin([])
            names, marks = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
            log.execute(f"INSERT INTO keys ({names}) VALUES ({marks})", values)
            log.commit()

        await self._service.writer.do(insert)

    async def revoke(self, key: str, at: int) -> bool:
        """Note that a key is no longer valid; return whether there is one that was."""

        def update(log: EventLog) -> bool:
            log.begin([])
            valid = log.execute("SELECT id FROM keys WHERE id = ? AND revoked IS NULL", (key,))
            log.execute("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (at, key))
            log.commit()
            return bool(valid)

        found: bool = await self._service.writer.do(update)
        return found
