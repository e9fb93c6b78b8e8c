"""The tables of the service in SQLite or PostgreSQL, and the lock for writing them."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from halfseen.errors import InvalidInput, StorageError, no_password
from halfseen.service.loop_events import OFTEN, ONCE, kinds_in

SCHEMA = 2
BUSY_SECONDS = 5.0
CONNECT_SECONDS = 5
SETTINGS = (  # of a SQLite connection
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "wal_autocheckpoint = 4000",  # pages
)

tables = sa.MetaData()
loops = sa.Table(
    "loops",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("archived", sa.BigInteger),
    sa.Column("base", sa.BigInteger, nullable=False),  # a replay begins after this event
)
revisions = sa.Table(
    "revisions",
    tables,
    sa.Column("loop", sa.Integer, primary_key=True),
    sa.Column("revision", sa.Integer, primary_key=True),
    sa.Column("config", sa.Text, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
)
events = sa.Table(
    "events",
    tables,
    sa.Column("loop", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("decision", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("client_at", sa.BigInteger),
    sa.Column("arm", sa.Text),
    sa.Column("probability", sa.Double),
    sa.Column("version", sa.BigInteger),
    sa.Column("reward", sa.Double),
    sa.Column("features", sa.LargeBinary),
    sa.Column("request", sa.BigInteger),
    sa.Column("key", sa.Text),
    sqlite_with_rowid=False,
)
_once, _more = sa.text(kinds_in(ONCE)), sa.text(kinds_in(OFTEN))
sa.Index(
    "events_once",
    events.c.decision,
    events.c.loop,
    events.c.kind,
    unique=True,
    sqlite_where=_once,
    postgresql_where=_once,
)
sa.Index(
    "events_more",
    events.c.decision,
    events.c.loop,
    sqlite_where=_more,
    postgresql_where=_more,
)
snapshots = sa.Table(
    "snapshots",
    tables,
    sa.Column("loop", sa.Integer, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("format", sa.Integer, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
)
keys = sa.Table(
    "keys",
    tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("revoked", sa.BigInteger),
)
changes = sa.Table(  # of loops and keys, by whom
    "changes",
    tables,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("key", sa.Text),
    sa.Column("who", sa.Text, nullable=False),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("loop", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)
meta = sa.Table(
    "meta",
    tables,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
UPGRADES = {  # statements that migrate a schema to the next one
    1: [
        'CREATE TABLE IF NOT EXISTS changes (id TEXT NOT NULL PRIMARY KEY, "at" BIGINT NOT NULL,'
        ' "key" TEXT, who TEXT NOT NULL, what TEXT NOT NULL, "loop" TEXT NOT NULL,'
        " detail TEXT NOT NULL)"
    ]
}


class Database:
    """A database of the service: its address, its schema, and the lock for writing it.

    Parameters
    ----------
    address
        The path of a SQLite file, or ``postgresql://user:password@host/base``.
    read_only
        True to write nothing; then a SQLite file may be in use by another process.
    """

    def __init__(self, address: str | Path, *, read_only: bool = False) -> None:
        self.address, self.read_only = str(address), read_only
        self.url, self.path = _url(self.address)
        self.server = self.path is None
        self._lock: int | None = None
        connect = {"connect_timeout": CONNECT_SECONDS} if self.server else {"timeout": BUSY_SECONDS}
        self.engine = sa.create_engine(self.url, poolclass=sa.NullPool, connect_args=connect)
        if not self.server:
            sa.event.listen(self.engine, "connect", _prepare)
        if self.path is not None and not read_only:
            self._lock = _locked(self.path)
        try:
            self._prepare_schema()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the lock for writing."""
        self.engine.dispose()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def connect(self) -> Any:
        """Return a new connection of the driver, in autocommit mode."""
        if self.server:
            import psycopg

            address = self.url.set(drivername="postgresql")
            text = address.render_as_string(hide_password=False)
            return psycopg.connect(text, autocommit=True, connect_timeout=CONNECT_SECONDS)
        import sqlite3

        connection = sqlite3.connect(
            str(self.path), timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        _prepare(connection, None)
        return connection

    def _prepare_schema(self) -> None:
        """Create the tables, or bring an older schema up to date; refuse a newer one."""
        if self.read_only and self.path is not None and not self.path.exists():
            raise StorageError(f"There is no database {self.path} to read.")
        try:
            found = self._schema()
            if found is None and self.read_only:
                raise StorageError(f"{no_password(self.address)} holds no decision service.")
            if found is None:
                self._create()
            elif found > SCHEMA:
                raise StorageError(
                    f"{no_password(self.address)} was written by a newer version of halfseen"
                    f" (schema {found}, this one knows {SCHEMA}). Upgrade halfseen."
                )
            elif found < SCHEMA and not self.read_only:
                self._upgrade(found)
        except sa.exc.SQLAlchemyError as error:
            raise StorageError(
                f"Cannot use {no_password(self.address)}: {_first_line(error)}."
            ) from None

    def _schema(self) -> int | None:
        with self.engine.connect() as connection:
            if not sa.inspect(connection).has_table("meta"):
                return None
            query = sa.select(meta.c.value).where(meta.c.name == "schema")
            value = connection.execute(query).scalar()
            return None if value is None else int(value)

    def _create(self) -> None:
        with self.engine.begin() as connection:
            if self.server:  # two processes may start at once
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(8127431)"))
            tables.create_all(connection)
            known = connection.execute(sa.select(meta.c.value)).first()
            if known is None:
                connection.execute(meta.insert().values(name="schema", value=str(SCHEMA)))

    def _upgrade(self, found: int) -> None:
        with self.engine.begin() as connection:
            for version in range(found, SCHEMA):
                for statement in UPGRADES[version]:
                    connection.execute(sa.text(statement))
            connection.execute(
                meta.update().where(meta.c.name == "schema").values(value=str(SCHEMA))
            )


def _url(address: str) -> tuple[sa.URL, Path | None]:
    """Return the address of a database for the driver, and the path if it is a file."""
    scheme, colon, rest = address.partition("://")
    if colon and scheme in ("postgresql", "postgres"):
        try:
            return sa.make_url(f"postgresql+psycopg://{rest}"), None
        except (sa.exc.ArgumentError, ValueError):
            raise InvalidInput(
                "database",
                "must be an address such as postgresql://user:password@host/base",
                address,
                "Correct it.",
            ) from None
    if colon and scheme != "sqlite":
        raise InvalidInput(
            "database",
            "must be a file or an address that begins with postgresql://",
            address,
            "Use for example halfseen.sqlite.",
        )
    path = Path(rest.removeprefix("/") if colon else address)
    if path.is_dir():
        fix = f"Name a file in it, as {path / 'halfseen.sqlite'}."
        raise InvalidInput("database", "must be a file, not a folder", address, fix)
    if not path.absolute().parent.is_dir():
        raise InvalidInput(
            "database", "must be a file in a folder that exists", address, "Make the folder first."
        )
    return sa.URL.create("sqlite", database=str(path)), path


def check_exists(address: str) -> None:
    """Refuse the path of a file that does not exist, before it is created."""
    _, path = _url(address)
    if path is not None and not path.exists():
        raise StorageError(f"There is no database {path}. Name yours with --database.")


def _prepare(connection: Any, _: Any) -> None:
    """Make every commit durable before it returns, and overwrite deleted data."""
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}").close()


def _locked(path: Path) -> int:
    """Lock a SQLite file until the process ends; refuse if another process holds the lock."""
    import fcntl

    place = path.with_name(path.name + ".lock")
    try:
        lock = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StorageError(
            f"Cannot write {place}: {error.strerror}. Name a file in a folder you may write to."
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(lock, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise StorageError(
            f"{path} is served by another process (pid {holder}). Stop it, open the file with"
            " --read-only, or use PostgreSQL for several processes."
        ) from None
    with suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0].rstrip(".")
