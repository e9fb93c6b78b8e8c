"""The doctor tells what this machine can run."""

import json

import numba
import numpy as np
from typer.testing import CliRunner

from halfseen.cli import app
from halfseen.studies import machine as doctor


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


def test_the_doctor_says_that_nothing_can_be_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(doctor, "_speed", lambda run, study, replications: 1e6)
    found = doctor.examine()
    assert not found.cache_writable
    assert f"not kept on disk: {tmp_path / 'file'} is no folder that can be written." in str(found)
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path / ("long" * 100)))  # stat refuses it
    assert not doctor.examine().cache_writable
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path))
    assert doctor.examine().cache_writable
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", "near")
    assert doctor.examine().cache == str(tmp_path / "near")


def test_an_absent_package_has_no_version():
    assert doctor._version("no-such-package") is None


def test_the_cache_is_cleared_on_demand(monkeypatch, tmp_path):
    monkeypatch.setenv("HALFSEEN_CACHE_DIR", str(tmp_path))
    (tmp_path / "one.code").write_bytes(bytes(2**20))
    (tmp_path / "other").write_text("stays")
    runner = CliRunner()
    ended = runner.invoke(app, ["doctor", "--clear-cache"])
    assert ended.output == f"Deleted 1 compiled function (1.0 MiB) from {tmp_path}.\n"
    ended = runner.invoke(app, ["doctor", "--clear-cache", "--json"])
    assert json.loads(ended.output) == {"cache": str(tmp_path), "entries": 0, "cache_bytes": 0}
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
