"""Nothing that was answered is lost or learned twice when the service is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("crashes.py")


def crashes(database, kills, seed):
    ended = subprocess.run(
        [sys.executable, PROGRAM, database, str(kills), seed],
        capture_output=True,
        text=True,
        timeout=3000,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


@pytest.mark.slow
def test_nothing_answered_is_lost_or_learned_twice_by_kill_9(tmp_path):
    assert crashes(str(tmp_path / "log.sqlite"), 4, "few").splitlines()[-1].startswith("4 kills")


@pytest.mark.slow
def test_nothing_answered_is_lost_or_learned_twice_by_300_kills(tmp_path):
    assert (
        crashes(str(tmp_path / "log.sqlite"), 300, "many").splitlines()[-1].startswith("300 kills")
    )


@pytest.mark.postgres
@pytest.mark.filterwarnings("ignore")
def test_nothing_answered_is_lost_by_kill_9_on_postgresql(address):
    assert crashes(address, 20, "server").splitlines()[-1].startswith("20 kills")
