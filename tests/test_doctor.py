"""The doctor tells what this machine can run."""

import json

import numba
import numpy as np
from typer.testing import CliRunner

from halfseen import doctor
from halfseen.cli import app


def test_doctor(monkeypatch):
    monkeypatch.setattr(doctor, "SECONDS", 0.02)
    monkeypatch.setattr(doctor, "HORIZON", 1_000)
    ended = CliRunner().invoke(app, ["doctor", "--json"])
    assert ended.exit_code == 0
    found = json.loads(ended.output)
    assert found["engines"]["cpu"] == found["engines"]["reference"] == "ready"
    assert set(found["engines"]) == {"cpu", "reference", "cuda", "dask"}
    assert found["versions"]["numpy"] == np.__version__
    assert found["versions"]["numba"] == numba.__version__
    assert found["cores"] >= 1
    assert found["cache_bytes"] > 1000
    assert found["rounds_per_second"]["cpu"] > 1e4
    text = str(doctor.examine())
    for word in ("engine cuda", "cores", "GPU", "compiled code", "rounds/s"):
        assert word in text


def test_an_absent_package_has_no_version():
    assert doctor._version("no-such-package") is None
