"""Imports flow one way, and asking for help costs nothing."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import halfseen

PACKAGE = Path(halfseen.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
# What each part of the package may import, itself aside. A part that is not here fails.
FOUNDATION = {"checks", "equality", "errors"}
NOUNS = FOUNDATION | {
    "display",
    "draws",
    "fingerprint",
    "kernels",
    "problems",
    "censorship",
    "policies",
}
STUDIED = NOUNS | {"engine", "kinds", "memory", "phrases", "studies", "tables"}
# Readers of results know neither the engine nor the numerics below it.
READ = STUDIED - {"draws", "engine", "fingerprint", "kernels", "memory"}
MAY_IMPORT = {
    "errors": set(),
    "equality": set(),
    "display": FOUNDATION | {"tables"},
    "phrases": set(),
    "interrupts": set(),
    "memory": set(),
    "checks": {"errors"},
    "kinds": {"errors"},
    "fingerprint": {"kinds"},
    "number_format": set(),
    "tables": FOUNDATION | {"number_format"},
    "kernels": FOUNDATION | {"fingerprint"},
    "draws": FOUNDATION | {"kernels"},
    "problems": FOUNDATION | {"display", "draws", "fingerprint", "kernels", "kinds", "phrases"},
    "censorship": FOUNDATION | {"display", "draws", "kernels", "kinds", "phrases", "problems"},
    "policies": NOUNS - {"censorship"} | {"kinds"},
    "theory": READ - {"studies"} | {"kernels"},
    "engine": NOUNS,
    "studies": STUDIED,
    "agents": STUDIED | {"theory"},
    "testing": STUDIED | {"agents"},
    "logs": READ | {"memory", "theory"},
    "values": READ - {"studies"} | {"logs"},
    "integrations": READ | {"logs"},
    "claims": READ | {"theory"},
    "report": READ | {"claims", "logs", "theory", "values"},
    "explorer": READ | {"logs", "report", "theory"},
    "client": {"errors"},
    "service": READ | {"agents", "logs"},
    "dashboard": READ | {"agents", "explorer", "logs", "report", "service", "values"},
    "cli": READ
    | {"claims", "dashboard", "explorer", "interrupts", "logs", "report", "service", "theory"}
    | {"values"},
    "__main__": {"cli", "interrupts"},
    "__init__": {"errors"},
}
EXCEPTIONS = {
    "kernels/glm_newton.py": {"problems"},  # the names of a link's functions, for the type checker
    "logs/audit.py": {"report"},  # an audit writes its own page and draws itself
    "logs/segments.py": {"report"},
    "logs/plan.py": {"report"},  # and so do these
    "logs/window.py": {"report"},
    "logs/invest.py": {"report"},
    "logs/missing_bounds.py": {"report"},
    "logs/direction_fit.py": {"report"},
    "theory/arms/dimension.py": {"report"},
    "theory/proved_bounds.py": {"report"},
    "theory/lower/gathered.py": {"report"},
    "theory/linear/path.py": {"report"},
    "logs/delayed_loop.py": {"draws"},  # plans and windows are played, with the draws of studies
    "logs/futures.py": {"engine"},
    "logs/waits.py": {"draws", "engine"},
    "values/policy_value.py": {"report"},
    "studies/result.py": {"report"},  # a result draws itself
    "studies/sweep.py": {"report"},
    "policies/linear/adversaries.py": {"theory"},  # OptimalOrder plays the theory's worst case
}
# Imports inside functions that close a circle of modules; at the top of a file none may.
CIRCLES = {
    "studies.study": {"studies.sweep"},  # Study.over plays the study
    "studies.result": {"report.study.page", "report.study.plots"},  # a result draws itself
}
ONLY_IN = {
    "typer": {"cli"},
    "click": {"cli"},
    "rich": {"cli"},
    "altair": {"report"},
    "vl_convert": {"report"},
    "fastapi": {"service"},
    "starlette": {"dashboard", "explorer", "service"},
    "uvicorn": {"explorer", "service"},
    "jinja2": {"dashboard", "explorer"},
}


def part(path):
    """Return the part of the package a file belongs to: its folder or its name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


class WithoutTypes(ast.NodeTransformer):
    """Leaves out what is imported for the type checker only."""

    def visit_If(self, node):
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else node


@functools.cache
def imports(path, types=True):
    """Return the full name of everything a file imports anywhere in it."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree if types else WithoutTypes().visit(tree)):
        found |= imported_by(node, path)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "halfseen":
            found.add(f"halfseen.{node.attr}")
    return found


def imported_by(node, path):
    """Return the full names that a statement of a file imports."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if not isinstance(node, ast.ImportFrom):
        return set()
    base = node.module or ""
    if node.level:
        package = ["halfseen", *path.relative_to(PACKAGE).parts[:-1]]
        package = package[: len(package) - node.level + 1]
        base = ".".join([*package, *([node.module] if node.module else [])])
    return {base, *(f"{base}.{alias.name}" for alias in node.names)}


def parts(path):
    """Return the other parts of the package that a file imports, public names traced home."""
    named = {n for n in imports(path) if n.startswith("halfseen.")}
    named |= set(loaded_by_name(path))
    homes = {halfseen._MODULE_OF.get(n.removeprefix("halfseen."), n) for n in named}
    return {n.split(".")[1] for n in homes | named if "." in n} & set(MAY_IMPORT) - {part(path)}


def loaded_by_name(path):
    """Yield the modules of the package that a file loads by a name in quotes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
        if getattr(called, "id", called) in {"import_module", "__import__"}:
            for given in node.args:
                first = given.values[0] if isinstance(given, ast.JoinedStr) else given
                value = first.value if isinstance(first, ast.Constant) else None
                if isinstance(value, str) and value.startswith((".", "halfseen.")):
                    yield value if value.startswith("halfseen") else f"halfseen{value}"


def outside(path):
    return {name.split(".")[0] for name in imports(path, types=False)}


@pytest.mark.parametrize(
    "line",
    [
        "from halfseen import simulate",
        "from halfseen.studies.simulate import simulate",
        "import halfseen.studies.simulate",
        "from halfseen import studies",
        "import_module('halfseen.studies.simulate')",
        "import_module('.studies.simulate', 'halfseen')",
        "import_module(f'halfseen.studies.{name}')",
        "import halfseen; halfseen.simulate",
    ],
)
def test_every_way_to_import_is_seen(line, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "new.py").write_text(line)
    assert parts(tmp_path / "kernels" / "new.py") == {"studies"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_flow_one_way(path):
    allowed = MAY_IMPORT[part(path)] | EXCEPTIONS.get(str(path.relative_to(PACKAGE)), set())
    assert parts(path) - allowed == set()
    for package, homes in ONLY_IN.items():
        assert package not in outside(path) or part(path) in homes


def test_every_part_is_there_and_no_part_may_import_in_a_circle():
    assert {part(path) for path in MODULES} == set(MAY_IMPORT)
    left = {name: needs - {name} for name, needs in MAY_IMPORT.items()}
    while left:
        free = [name for name, needs in left.items() if not needs & set(left)]
        assert free, f"a circle among {sorted(left)}"
        for name in free:
            del left[name]


def named(path):
    """Return the name of a module inside the package; a package has that of its folder."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_graph():
    """Return, for each module, those it imports at its top and those it imports in functions."""
    names = {named(path) for path in MODULES} - {""}
    graph = {}
    for path in MODULES:
        top, late = set(), set()
        ahead = [(WithoutTypes().visit(ast.parse(path.read_text(encoding="utf-8"))), top)]
        while ahead:
            node, found = ahead.pop()
            if isinstance(node, ast.ImportFrom | ast.Import):
                found |= {
                    name.removeprefix("halfseen.") for name in imported_by(node, path)
                } & names
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            ahead += [(part, late if inside else found) for part in ast.iter_child_nodes(node)]
        own = named(path)
        outer = {own} | {name for name in names if own.startswith(f"{name}.")}
        graph[own] = top - outer, late - top - outer
    del graph[""]  # the public names
    return graph


def in_circles(graph):
    """Return the modules that remain when those that import none of the rest are taken away."""
    left = dict(graph)
    while free := [name for name, needs in left.items() if not needs & set(left)]:
        for name in free:
            del left[name]
    return set(left)


def test_no_circle_of_modules_is_hidden_in_functions():
    graph = module_graph()
    assert in_circles({name: top for name, (top, _) in graph.items()}) == set()
    kept = {name: top | late - CIRCLES.get(name, set()) for name, (top, late) in graph.items()}
    assert in_circles(kept) == set()
    for name, stated in CIRCLES.items():
        for closing in stated:  # every one is needed
            assert in_circles(kept | {name: kept[name] | {closing}}), (name, closing)


def test_the_core_of_the_report_knows_none_of_the_pages():
    kinds = ("study", "audit", "theory", "value")
    pages = {f"halfseen.report.{kind}" for kind in kinds}
    for path in (PACKAGE / "report" / "core").glob("*.py"):
        named = {".".join(name.split(".")[:3]) for name in imports(path)}
        assert named & (pages | {"halfseen.report.claims"}) == set(), path


def test_reports_compute_no_theory():
    theory = {"sin", "cos", "tan", "asin", "acos", "atan", "log1p", "expm1", "arcsin", "arccos"}
    for path in (PACKAGE / "report").rglob("*.py"):
        used = {
            n.attr for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Attribute)
        }
        assert used & theory == set(), path


def layers():
    """Yield each part in the table of CONTRIBUTING with what it says that the part may import."""
    page = (PACKAGE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    above, foundation = set(), set()
    for row in [row for row in rows if len(row) == 3 and row[0].startswith("`")]:
        here, (stated, *_) = set(re.findall(r"`(\w+)`", row[0])), row[2].split("; not")
        may = set(re.findall(r"`(\w+)`", stated))
        may |= {"problems", "censorship", "policies"} if "the core classes" in stated else set()
        may |= above if "the rows above" in stated else set()
        foundation, above = foundation or here, above | here
        for name in here:
            yield name, may | foundation


def test_the_table_of_layers_in_contributing_is_true():
    stated = dict(layers())
    assert set(stated) == set(MAY_IMPORT) - {"__init__", "__main__"}
    for path in MODULES:
        if part(path) in stated:
            excepted = EXCEPTIONS.get(str(path.relative_to(PACKAGE)), set())
            assert parts(path) - stated[part(path)] - excepted == set(), path


def test_every_exception_is_needed():
    for name, needs in EXCEPTIONS.items():
        assert needs <= parts(PACKAGE / name) - MAY_IMPORT[part(PACKAGE / name)]


def test_the_walk_sees_what_is_there():
    ucb = PACKAGE / "policies" / "arms" / "ucb.py"
    assert "halfseen.policies.arms.base" in imports(ucb)
    assert parts(ucb) == {"checks", "draws", "problems"}
    assert "typer" in outside(PACKAGE / "cli" / "__init__.py")
    assert "engine" in parts(PACKAGE / "studies" / "simulate.py")


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
    assert not modules & {"numpy", "numba", "scipy", "xarray", "altair", "asyncio", "pandas"}


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded("import halfseen") & {"numpy", "numba", "scipy", "xarray", "pydantic"}


def test_simulating_loads_no_charts():
    modules = loaded("from halfseen import Agent, simulate, Result, theory")
    assert "halfseen.engine" in modules
    assert not modules & {"altair", "vl_convert", "typer", "rich", "xarray"}
