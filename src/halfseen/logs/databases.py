"""Logs in databases and at addresses, read through DuckDB."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from halfseen.errors import InvalidInput, StorageError, did_you_mean
from halfseen.logs.log_files import TextForm, check_no_table, present, read_pattern
from halfseen.logs.option_names import option
from halfseen.logs.queries import GIVE, explained, identifier, text
from halfseen.tables import brief

if TYPE_CHECKING:
    import duckdb

SERVERS = {"postgresql": "postgres", "postgres": "postgres", "mysql": "mysql"}
REMOTE = ("http", "https", "s3")
AWS = {
    "s3_region": "AWS_REGION",
    "s3_access_key_id": "AWS_ACCESS_KEY_ID",
    "s3_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "s3_session_token": "AWS_SESSION_TOKEN",
    "s3_endpoint": "AWS_ENDPOINT",
}
SQLITE = b"SQLite format 3\0"  # the first bytes of an SQLite file
DATABASES = (".duckdb", ".ddb", ".db", ".sqlite", ".sqlite3")


def is_database(name: str) -> bool:
    """Return whether a path is that of a database, by its ending or by how the file begins."""
    if name.lower().endswith(DATABASES):
        return True
    path = Path(name)
    if path.suffix or not path.is_file():
        return False
    begin = beginning(path, 16)
    return begin == SQLITE or begin[8:12] == b"DUCK"


def in_file(
    connection: duckdb.DuckDBPyConnection, name: str, table: str | None
) -> tuple[str, str | None]:
    """Return SQL for a table of a DuckDB or SQLite file, and for the same as text."""
    kind = "sqlite" if beginning(Path(name), len(SQLITE)) == SQLITE else None
    relation = _attached(connection, name, kind, table)
    return relation, relation if kind else None


def at_address(
    connection: duckdb.DuckDBPyConnection,
    address: str,
    table: str | None,
    encoding: str | None,
    decimal: str,
) -> tuple[str, str, str | None]:
    """Return the scheme of an address, SQL for its table, and for the same as text."""
    scheme, _, rest = address.partition("://")
    scheme = scheme.lower()
    address = f"{scheme}://{rest}"
    if scheme in SERVERS:
        return scheme, _attached(connection, address, SERVERS[scheme], table), None
    if scheme not in REMOTE:
        known = "must be a file, or an address of postgresql://, mysql://, https:// or s3://"
        away = scheme in ("ftp", "gs", "gcs", "az", "abfs", "hf")
        fix = "Download the file and give its path." if away else GIVE
        raise InvalidInput("log", known, f"{scheme}://", fix)
    check_no_table(table)
    _load_httpfs(connection, scheme)
    with explained(scheme, True):
        for setting, variable in AWS.items() if scheme == "s3" else ():
            if os.environ.get(variable):
                connection.execute(f"SET {setting} = {text(os.environ[variable])}")
    return scheme, *read_pattern(address, TextForm(encoding, decimal))


def _load_httpfs(connection: duckdb.DuckDBPyConnection, scheme: str) -> None:
    import duckdb

    try:
        connection.load_extension("httpfs")
    except duckdb.Error:
        raise StorageError(
            f"Cannot read {scheme}://: DuckDB's extension httpfs is not installed. Download the"
            " file and give its path, or run: python -c"
            " \"import duckdb; duckdb.connect().install_extension('httpfs')\"."
        ) from None


def _attached(
    connection: duckdb.DuckDBPyConnection, address: str, kind: str | None, table: str | None
) -> str:
    """Attach a database and return SQL for the one table asked for."""
    on_server = "://" in address
    name = address.partition("://")[0] if on_server else address
    with explained(name, on_server):
        if kind is not None:
            _load_extension(connection, kind)
        how = f"TYPE {kind}, READ_ONLY" if kind else "READ_ONLY"
        connection.execute(f"ATTACH {text(address)} AS halfseen_source ({how})")
        found = connection.execute(
            "SELECT schema_name, name FROM (SELECT *, table_name AS name FROM duckdb_tables()"
            " UNION ALL BY NAME SELECT *, view_name AS name FROM duckdb_views() WHERE NOT internal)"
            " WHERE database_name = 'halfseen_source'"
            " AND schema_name NOT IN ('information_schema', 'pg_catalog') ORDER BY ALL"
        ).fetchall()
        # A view of the database must not read the user's files.
        connection.execute("SET enable_external_access = false")
        if kind != "sqlite":  # as_text sets an option of its reader
            connection.execute("SET lock_configuration = true")
    known = {f"{schema}.{short}": (schema, short) for schema, short in found}
    shorts = [short for _, short in found]
    known |= {short: (schema, short) for schema, short in found if shorts.count(short) == 1}
    if table is None and len(found) == 1:
        schema, chosen = found[0]
    elif table in known:
        schema, chosen = known[table]
    else:
        hint = did_you_mean(table, known, f"Choose one of those with {option('table')}.")
        names = [short if short in known else f"{schema}.{short}" for schema, short in found]
        listed = ", ".join(brief(name, 60) for name in names[:20]) or "none"
        if table in shorts:
            hint = "Several schemas have it: write schema.table."
        raise InvalidInput("table", f"must be a table of the database ({listed})", table, hint)
    return f"halfseen_source.{identifier(schema)}.{identifier(chosen)}"


def _load_extension(connection: duckdb.DuckDBPyConnection, kind: str) -> None:
    """Load DuckDB's reader of another database from a package, else from where DuckDB keeps it."""
    import duckdb

    try:
        parts = metadata.files(f"duckdb-extension-{kind}-scanner") or []
        for part in parts:
            if part.name.endswith(".duckdb_extension"):
                connection.load_extension(str(part.locate()))
    except metadata.PackageNotFoundError:
        try:
            connection.load_extension(kind)
        except duckdb.Error:
            raise StorageError(
                f"Cannot read {kind}: DuckDB's reader for it is not installed."
                f" Run: pip install 'halfseen[{kind}]'."
            )


def beginning(path: Path, size: int) -> bytes:
    """Return the first bytes of a file."""
    present(path)
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise StorageError(
            f"Cannot read {brief(str(path), 200)}: {error.strerror}. Check the path."
        )
