"""A log in a real MySQL or MariaDB server, started for the test: `make test-mysql`."""

import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from halfseen import StorageError, audit

SERVER = shutil.which("mariadbd")
pytestmark = pytest.mark.mysql
TABLE = """
CREATE DATABASE shop;
USE shop;
CREATE TABLE decisions (offer VARCHAR(20), sold DOUBLE, moment DATETIME);
INSERT INTO decisions SELECT CONCAT('arm ', seq % 4), IF(seq % 3 = 0, seq / 1000, NULL),
 '2025-01-01' + INTERVAL seq MINUTE FROM seq_0_to_19999;
CREATE USER 'ann'@'127.0.0.1' IDENTIFIED BY 'secret';
GRANT SELECT ON shop.* TO 'ann'@'127.0.0.1';
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    assert SERVER, "Install mariadb-server, or leave these tests out with -m 'not mysql'."
    folder, root = tmp_path_factory.mktemp("maria"), Path(SERVER).parent.parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = ["--no-defaults", f"--basedir={root}", f"--datadir={folder / 'data'}", "--user=root"]
    make = [shutil.which("mariadb-install-db"), *common]
    make += ["--auth-root-authentication-method=normal"]
    subprocess.run(make, check=True, capture_output=True, timeout=120)
    line = folder / "line"
    server = subprocess.Popen(
        [SERVER, *common, f"--port={port}", "--bind-address=127.0.0.1", f"--socket={line}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        client = [shutil.which("mariadb"), "--no-defaults", "-u", "root", f"--socket={line}"]
        for _ in range(100):
            if subprocess.run([*client, "-e", "SELECT 1"], capture_output=True).returncode == 0:
                break
            time.sleep(0.2)
        subprocess.run([*client, "-e", TABLE], check=True, capture_output=True)
        yield f"mysql://ann:secret@127.0.0.1:{port}/shop"
    finally:
        server.terminate()
        server.wait(60)


def test_a_table_on_a_server(address):
    found = audit(address, action="offer", reward="sold", time="moment", context="offer")
    assert found.arms == ("arm 0", "arm 1", "arm 2", "arm 3")
    assert found.counts.rows.tolist() == [5000] * 4
    assert found.counts.seen.sum() == 6667
    assert found.log == "mysql"
    assert len(found.courses) == 5


def test_a_wrong_password_is_not_repeated(address):
    with pytest.raises(StorageError, match="Cannot read mysql") as raised:
        audit(address.replace("secret", "hunter2"), action="a", reward="r")
    assert "hunter2" not in str(raised.value)
