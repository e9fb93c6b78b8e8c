"""Sentences name an option as whoever reads them sets it."""

import re
from pathlib import Path

import halfseen
from halfseen import audit
from halfseen.logs.option_names import in_command, options_written

LOGS = Path(halfseen.__file__).parent / "logs"
LOG = {"a": ["x", "y"] * 20, "r": [1, None] * 20}
OWN = {"fail_if.py", "option_names.py"}  # of the command alone; the one place


def test_python_names_parameters_and_the_command_options():
    said = str(audit(LOG, action="a", reward="r"))
    assert "name the column with unit=" in said
    assert "Say empty_means=0 if so" in said
    assert not re.search(r"--[a-z]", said)
    with options_written(in_command):
        said = str(audit(LOG, action="a", reward="r"))
    assert "name the column with --unit" in said
    assert "Say --empty-means 0 if so" in said
    assert not re.search(r"\b(unit|time|empty_means)=", said)


def test_no_other_module_about_logs_writes_an_option_itself():
    for path in LOGS.rglob("*.py"):
        found = re.findall(r"--(?:[a-z]+|\{)", path.read_text(encoding="utf-8"))
        allowed = ["--json"] if path.name == "comparison.py" else []
        assert path.name in OWN or found == allowed, (path, found)
