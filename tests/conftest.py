"""Settings of every test, and what is said at the end of a run."""

import os

import pytest
from report.browsers import NONE_FOUND

os.environ["HALFSEEN_DEBUG"] = "1"  # errors that commands turn into sentences are raised in tests


@pytest.fixture
def own_kinds():
    """Forget the kinds that a test registers."""
    from halfseen.kinds import registries

    kept = [(registry, dict(registry)) for _, registry in registries()]
    yield
    for registry, content in kept:
        registry.clear()
        registry.update(content)


def pytest_terminal_summary(terminalreporter):
    """Say in one line that pages were not opened, however many tests that skips."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NONE_FOUND in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{count} tests skipped. {NONE_FOUND}")
