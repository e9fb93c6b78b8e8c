"""Logs of strangers read no files of ours, and no message repeats a password."""

import traceback

import duckdb
import pandas as pd
import pytest

from halfseen import audit
from halfseen.errors import HalfseenError, StorageError
from halfseen.integrations.log_rows import open_decisions, parts
from halfseen.logs.source import open_log

PASSWORDS = [
    "hunter2",
    "hunter2%",
    "hun%ter2",
    "hun@ter2",
    "%zz@@",
    "hunter2/x",
    "hunter2:%3",
    "#?",
]
variable_of_ours = pd.DataFrame({"a": ["private"], "r": [1.0]})


@pytest.fixture
def evil(tmp_path):
    """Return a database whose views read what lies on the disk of whoever opens it."""
    (tmp_path / "secret.csv").write_text("a,r\nprivate,1\n")
    secret = f"{tmp_path}/secret.csv"
    views = {
        "text": f"SELECT content AS a, 1.0 AS r FROM read_text('{secret}')",
        "blob": f"SELECT filename AS a, 1.0 AS r FROM read_blob('{secret}')",
        "csv": f"SELECT * FROM read_csv('{secret}')",
        "replaced": f"SELECT * FROM '{secret}'",
        "nested": f"SELECT 'x' AS a, (SELECT count(*) FROM read_blob('{secret}')) AS r",
        "listing": f"SELECT file AS a, 1.0 AS r FROM glob('{tmp_path}/*')",
    }
    path = tmp_path / "evil.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE fair AS SELECT 'x' AS a, 1.0 AS r")
        base.execute("CREATE VIEW fair_view AS SELECT * FROM fair")
        base.execute(f"CREATE MACRO spy() AS TABLE SELECT * FROM read_csv('{secret}')")
        base.execute("CREATE VIEW through_macro AS SELECT * FROM spy()")
        for name, sql in views.items():
            base.execute(f"CREATE VIEW {name} AS {sql}")
    return path


@pytest.mark.parametrize(
    "table", ["text", "blob", "csv", "replaced", "nested", "listing", "through_macro"]
)
def test_a_view_of_a_database_reads_no_files(evil, table):
    with pytest.raises(StorageError) as raised:
        audit(evil, table=table, action="a", reward="r")
    assert "private" not in str(raised.value)


def test_tables_and_honest_views_of_a_database_are_read(evil):
    for table in ("fair", "fair_view"):
        assert audit(evil, table=table, action="a", reward="r").arms == ("x",)


def test_a_view_sees_no_python_variables(tmp_path):
    path = tmp_path / "evil.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE variable_of_ours AS SELECT 'x' AS a, 1.0 AS r")
        base.execute("CREATE VIEW v AS SELECT * FROM variable_of_ours")
        base.execute("DROP TABLE variable_of_ours")
    with pytest.raises(HalfseenError):
        audit(path, action="a", reward="r", table="v")


def test_an_open_database_can_neither_be_written_nor_opened_up_again(evil):
    connection = open_log(evil, table="fair").connection
    for sql in ("SET enable_external_access = true", "INSTALL httpfs", "ATTACH 'x.duckdb'"):
        with pytest.raises(duckdb.Error):
            connection.execute(sql)


@pytest.mark.parametrize(
    "password",
    [PASSWORDS[0], *(pytest.param(p, marks=pytest.mark.slow) for p in PASSWORDS[1:])],
)
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bob:{}@127.0.0.1:1/base",
        "postgres://bob:{}@nowhere.invalid/base",
        "postgresql://127.0.0.1:1/base?password={}",
        "mysql://bob:{}@127.0.0.1:1/base",
        "postgresql:/bob:{}@127.0.0.1:1/base",
        "host=127.0.0.1 port=1 password={}",
        "postgresql+driver://bob:{}@127.0.0.1/base",
    ],
)
def test_no_message_and_no_traceback_repeats_a_password(address, password):
    with pytest.raises(HalfseenError) as raised:
        open_log(address.format(password))
    told = "".join(traceback.format_exception(raised.value))
    for part in {password, *password.split("@"), password.strip("%")}:
        if len(part) > 2:
            assert part not in told


def test_what_fails_while_a_server_is_read_repeats_no_password():
    decisions = open_decisions({"a": ["x"], "r": [1.0]}, "a", "r", None, ())
    log = decisions.log
    object.__setattr__(log, "on_server", True)
    object.__setattr__(log, "name", "postgresql")

    class Broken:
        def execute(self, sql):
            raise duckdb.IOException(
                "Unable to connect at postgresql://bob:hunter2@host: timed out"
            )

    object.__setattr__(log, "connection", Broken())
    for read in (lambda: log.query("SELECT 1"), lambda: list(parts(decisions))):
        with pytest.raises(StorageError, match="did not answer in time") as raised:
            read()
        assert "hunter2" not in "".join(traceback.format_exception(raised.value))


def test_schemes_are_read_in_any_case_and_advice_is_about_the_server_asked_for():
    for address, advised in (
        ("POSTGRESQL://bob:hunter2@nowhere.invalid/base", "postgresql://user:password@host"),
        ("mysql://bob:hunter2@nowhere.invalid/base", "mysql://user:password@host"),
    ):
        with pytest.raises(StorageError, match="there is no such host") as raised:
            open_log(address)
        assert advised in str(raised.value)
        assert "hunter2" not in str(raised.value)
