"""Memory limits: the machine's, or a container's where that is less."""

import math

import pytest
from example_studies import small_study

from halfseen import InvalidInput, Result
from halfseen.memory import container_limit, memory_bytes

NO_LIMIT = "9223372036854771712"  # what version 1 writes where there is none


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"memory.max": "1000\n"}, 1000.0),
        ("0::/\n", {"memory.max": "max\n"}, math.inf),
        ("0::/\n", {}, math.inf),
        ("0::/a/b\n", {"a/memory.max": "700\n", "a/b/memory.max": "max\n"}, 700.0),
        ("0::/a/b\n", {"a/memory.max": "700\n", "a/b/memory.max": "300\n"}, 300.0),
        ("5:cpu:/x\n4:memory:/a\n", {"memory/a/memory.limit_in_bytes": "500\n"}, 500.0),
        ("4:memory:/of/the/host\n", {"memory/memory.limit_in_bytes": "400\n"}, 400.0),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": NO_LIMIT}, float(NO_LIMIT)),
        ("4:cpu,memory:/\n0::/\n", {"memory/memory.limit_in_bytes": "9", "memory.max": "8"}, 8.0),
        ("nonsense\n", {}, math.inf),
    ],
)
def test_limits_of_control_groups_of_both_versions(tmp_path, groups, files, expected):
    (tmp_path / "groups").write_text(groups)
    for name, text in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert container_limit(tmp_path / "groups", tmp_path / "mount") == expected


def test_no_control_groups_no_limit(tmp_path):
    assert container_limit(tmp_path / "none", tmp_path) == math.inf
    assert 1e6 < memory_bytes() < 1e18


def test_a_study_that_fits_the_machine_but_not_the_container_is_refused(monkeypatch):
    study = small_study(replications=10_000)
    Result.empty(study)
    monkeypatch.setattr("halfseen.memory.container_limit", lambda: 1_000_000.0)
    with pytest.raises(InvalidInput, match="must fit in memory"):
        Result.empty(study)
