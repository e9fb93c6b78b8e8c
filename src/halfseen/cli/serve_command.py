"""The commands of the decision service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from halfseen.cli import Imports, Json, app, completing
from halfseen.errors import HalfseenError, InvalidInput

serve_app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
keys_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
app.add_typer(serve_app, name="serve", short_help="Serve decisions over HTTP.")
serve_app.add_typer(keys_app, name="keys", help="Issue, list and revoke keys.")

DATABASE = "halfseen.sqlite"
OPTIONS = {"without_keys": "open"}  # parameters whose option has another name
Store = Annotated[
    str, typer.Option("--database", help="A SQLite file, or postgresql://user:password@host/base.")
]
PACKAGES = {"fastapi", "httptools", "httpx", "prometheus_client", "psycopg", "sqlalchemy"} | {
    "jinja2",
    "starlette",
    "uvicorn",
    "uvloop",
}


@contextmanager
def with_packages() -> Iterator[None]:
    """Say which extra to install if a package of the service is missing."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise HalfseenError(
            f"The service needs the package {error.name}, which is not installed:"
            " pip install 'halfseen[serve]'."
        ) from None


@serve_app.callback()
def serve(
    context: typer.Context,
    *,
    database: Store = DATABASE,
    loops: Annotated[
        str | None, typer.Option(help="TOML file that declares loops, or demo for one to try.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8765,
    without_keys: Annotated[
        bool, typer.Option("--open", help="Ask for no keys; on this machine only.")
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Write nothing.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare snapshots with the log, and stop.")
    ] = False,
    request_log: Annotated[
        bool,
        typer.Option("--request-log/--no-request-log", help="Write a line per request to stderr."),
    ] = True,
    imports: Imports = None,
) -> None:
    """Serve decisions over HTTP, treating missing feedback as missing."""
    from halfseen.kinds import import_kinds

    import_kinds(imports or ())
    if context.invoked_subcommand is not None:
        _hand_on(context)
        return
    with with_packages():
        from halfseen.dashboard.page_list import pages_of
        from halfseen.service.loop_files import read_loops
        from halfseen.service.server_process import Settings, check_address, run_service
    if not 0 <= port <= 65535:
        raise InvalidInput("--port", "must be from 0 to 65535", port, "Use for example 8765.")
    declared = [] if loops is None else read_loops(loops)
    settings = Settings(
        database=database,
        loops=declared,
        host=host,
        port=port,
        open=without_keys,
        read_only=read_only,
        request_log=request_log,
    )
    check_address(settings)
    if check:
        _check(database)
        return
    run_service(settings, lambda text: print(text, flush=True), pages_of)


def _hand_on(context: typer.Context) -> None:
    """Let subcommands use a database that was named before them; refuse other options there."""
    for name, value in context.params.items():
        source = context.get_parameter_source(name)
        if source is None or source.name == "DEFAULT" or name == "imports":
            continue
        if name != "database":
            raise InvalidInput(
                f"--{OPTIONS.get(name, name).replace('_', '-')}",
                f"is for the service itself, not for `{context.invoked_subcommand}`",
                value,
                "Leave it out.",
            )
        named = {"database": value}
        keys = dict.fromkeys(("issue", "list", "revoke"), named)
        context.default_map = {"forget": named, "archive": named, "keys": keys}


def _check(database: str) -> None:
    from halfseen.phrases import counted

    async def run(service: Any) -> Any:
        return await service.check(), len(service.loops())

    problems, count = _with_service(database, run, read_only=True)
    for problem in problems:
        print(problem)
    if problems:
        raise typer.Exit(1)
    print(f"The snapshots of {counted('loop', count)} agree with a replay of the log.")


def _with_service(database: str, run: Any, *, read_only: bool = False) -> Any:
    """Open the service, run something with it, and close it."""
    with with_packages():
        from halfseen.service.database import check_exists
        from halfseen.service.decision_service import Service
        from halfseen.service.refusals import StorageUnavailable

    check_exists(database)

    async def main() -> Any:
        service = await Service.open(database, read_only=read_only, sweep=False)
        try:
            return await run(service)
        except StorageUnavailable as error:
            raise error.in_full() from None
        finally:
            await service.close()

    import asyncio

    return asyncio.run(main())


@keys_app.command("issue")
def issue(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    *,
    role: Annotated[
        str,
        typer.Option(
            help="decide, report or admin: each includes those before.",
            autocompletion=completing.roles,
        ),
    ] = "decide",
    database: Store = DATABASE,
    as_json: Json = False,
) -> None:
    """Make a key and print it; it is not shown again."""
    with with_packages():
        from halfseen.service.api_keys import new_key, row_of
        from halfseen.service.key_table import add_key
        from halfseen.service.server_process import stored
        from halfseen.service.writer import microseconds
    key, text = new_key(name, role, microseconds())
    with stored(database) as log:
        add_key(log, row_of(key))
    if as_json:
        from halfseen.cli.streams import print_json

        print_json({"id": key.id, "name": key.name, "role": key.role, "key": text})
    else:
        print(f"{text}\nRole {role}, id {key.id}. It is shown only now.")


@keys_app.command("list")
def listed(database: Store = DATABASE, as_json: Json = False) -> None:
    """List the keys; their secrets are not stored."""
    with with_packages():
        from halfseen.service.database import check_exists
        from halfseen.service.key_table import all_keys
        from halfseen.service.server_process import stored
    from halfseen.cli.streams import print_json, print_text
    from halfseen.tables import Table

    check_exists(database)
    with stored(database) as log:
        rows = all_keys(log)
    for row in rows:
        del row["hash"]
        row["created"], row["revoked"] = _moment(row["created"]), _moment(row["revoked"])
    if as_json:
        print_json(rows)
    elif rows:
        names = ("id", "name", "role", "created", "revoked")
        print_text(Table(names, tuple(tuple(row[n] or "" for n in names) for row in rows)))
    else:
        print("There are no keys. Issue one: halfseen serve keys issue NAME")


def _moment(at: int | None) -> str | None:
    return None if at is None else f"{datetime.fromtimestamp(at / 1e6, UTC):%Y-%m-%d %H:%M} UTC"


@keys_app.command("revoke")
def revoke(
    key: Annotated[str, typer.Argument(help="The id of the key, as `keys list` shows it.")],
    database: Store = DATABASE,
) -> None:
    """Make a key invalid; a service that runs notices within seconds."""
    with with_packages():
        from halfseen.service.database import check_exists
        from halfseen.service.key_table import revoke_key
        from halfseen.service.server_process import stored
        from halfseen.service.writer import microseconds
    check_exists(database)
    with stored(database) as log:
        known = revoke_key(log, key, microseconds())
    if not known:
        fix = "See `halfseen serve keys list`."
        raise InvalidInput("KEY", "must be the id of a valid key", key, fix)
    print(f"Key {key} is revoked.")


@serve_app.command("forget")
def forget(
    decision: Annotated[str, typer.Argument(help="The id of a decision.")],
    *,
    loop: Annotated[str | None, typer.Option(help="Its loop; all if left out.")] = None,
    database: Store = DATABASE,
) -> None:
    """Erase a decision and its outcome from the log."""
    count = _with_service(database, lambda service: service.forget(decision, loop))
    if not count:
        raise InvalidInput("ID", "must be a decision of the log", decision, "Check the id.")
    print(f"Decision {decision} is forgotten. What was learned from it stays.")


@serve_app.command("archive", short_help="Move old decisions to Parquet files.")
def archive(
    folder: Annotated[Path, typer.Argument(help="Folder for the Parquet files.")],
    *,
    days: Annotated[float, typer.Option(help="Move decisions older than so many days.")] = 90.0,
    loop: Annotated[str | None, typer.Option(help="Of one loop; of all if left out.")] = None,
    database: Store = DATABASE,
) -> None:
    """Move old decisions from the database to Parquet files, which `audit` and `value` read."""
    from halfseen import checks

    checks.number("--days", days, at_least=0.0)
    paths = _with_service(database, lambda service: service.archive(folder, days=days, loop=loop))
    for path in paths:
        print(path)
    if not paths:
        print(f"No decision is older than {days:g} days.")
