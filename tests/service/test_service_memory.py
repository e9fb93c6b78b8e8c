"""How much memory the service takes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "service.py"


@pytest.mark.slow
def test_a_million_pending_decisions_take_less_than_a_gigabyte():
    ended = subprocess.run(
        [sys.executable, BENCHMARK, "--pending", "1000000"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(ended.stdout)
    assert found["pending"] == 1_000_000
    assert found["MB"] < 1000
