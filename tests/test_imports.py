"""Imports flow one way, and asking for help costs nothing."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import halfseen

PACKAGE = Path(halfseen.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
INNER = {
    "theory",
    "censorship",
    "policies",
    "problems",
    "draws",
    "checks",
    "errors",
    "fingerprint",
    "canonical_source",
    "memory",
}
OUTER = {
    "engine",
    "study",
    "simulation",
    "result",
    "report",
    "cli",
    "agent",
    "storage",
    "spec",
    "claims",
    "logs",
    "datasets",
    "summary",
    "doctor",
    "study_folder",
}
REPORTING = PACKAGE / "logs" / "audit.py"  # whose result writes its own report


def part(path):
    """Return the part of the package a file belongs to: its folder or its name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """Return the full name of everything a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = ["halfseen", *path.relative_to(PACKAGE).parts[:-1]]
                package = package[: len(package) - node.level + 1]
                base = ".".join([*package, *([node.module] if node.module else [])])
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def parts(path):
    """Return the parts of the package that a file imports."""
    return {n.split(".")[1] for n in imports(path) if n.startswith("halfseen.")} & (INNER | OUTER)


def outside(path):
    return {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_flow_one_way(path):
    where = part(path)
    if where in INNER:
        assert parts(path) <= INNER
    if where == "engine":
        assert parts(path) <= INNER | {"engine"}
    if where not in ("cli", "__main__"):
        assert "cli" not in parts(path)
        assert not {"typer", "click"} & outside(path)
    commands = ("cli", "console", "console_path")
    if where not in commands:
        assert "console" not in parts(path)
        assert "rich" not in outside(path)
    if where not in (*commands, "report") and path != REPORTING:
        assert "report" not in parts(path)
    if where != "report":
        assert not {"altair", "vl_convert"} & outside(path)
    if where not in ("cli", "console", "report", "claims"):
        assert "claims" not in parts(path)
    if where in ("checks", "errors", "draws"):
        assert parts(path) <= {"errors", "checks"}
    if where in ("fingerprint", "canonical_source", "memory"):
        assert parts(path) <= {"canonical_source"}
    if where in ("problems", "censorship"):
        assert parts(path) <= {"errors", "checks", "draws", "fingerprint", where}
    if where in ("study", "spec", "storage", "study_folder", "result"):
        assert not parts(path) & {"simulation", "agent", "cli", "report"}


def test_the_walk_sees_what_is_there():
    names = {part(path) for path in MODULES}
    assert names >= INNER | OUTER
    assert "halfseen.policies.arms.base" in imports(PACKAGE / "policies" / "ucb.py")
    assert parts(PACKAGE / "policies" / "ucb.py") == {"checks", "draws", "policies", "problems"}
    assert "typer" in outside(PACKAGE / "cli" / "__init__.py")
    assert "engine" in parts(PACKAGE / "simulation.py")


def loaded(code):
    """Return the modules loaded after running some code in a new process."""
    code += "\nimport sys; print('\\n'.join(['modules:', *sys.modules]))"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(ended.stdout.partition("modules:\n")[2].split())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["study", "--help"], ["verify", "--help"], ["--version"]]
)
def test_help_loads_nothing_heavy(arguments):
    modules = loaded(
        f"import sys; sys.argv = ['halfseen', *{arguments!r}]\n"
        "from halfseen.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
    )
    assert "halfseen.cli" in modules
    assert not modules & {"numpy", "numba", "scipy", "xarray", "altair", "pandas"}


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded("import halfseen") & {"numpy", "numba", "scipy", "xarray", "pydantic"}


def test_simulating_loads_no_charts():
    modules = loaded("from halfseen import Agent, simulate, Result, theory")
    assert "halfseen.engine" in modules
    assert not modules & {"altair", "vl_convert", "typer", "rich", "xarray"}
