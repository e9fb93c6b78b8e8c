"""Importing and running halfseen changes nothing in numpy, scipy or numba."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import halfseen

MODULES = sorted(Path(halfseen.__file__).parent.rglob("*.py"))
OTHERS = {"numpy", "scipy", "numba", "xarray", "pandas", "duckdb", "altair"}
RUN = """
import numpy, numpy.linalg, numpy.random, scipy.special, numba, numba.core.types

def contents():
    places = (numpy, numpy.linalg, numpy.random, numpy.ndarray, numpy.random.Generator,
              scipy.special, numba, numba.core.types)
    return [{name: id(value) for name, value in vars(place).items()} for place in places]

before = contents()
from halfseen import LinUCB, LinearBandit, FiniteActions, Study, UCB, ArmedBandit, Uniform, simulate
for problem, policy in (
    (ArmedBandit([0.6, 0.5]), UCB()),
    (LinearBandit([0.6, 0.3], 0.5, FiniteActions([[1.0, 0.0], [0.0, 1.0]])), LinUCB()),
):
    simulate(Study(problem, Uniform(0.5), policy, horizon=20, replications=2)).summary()
for old, new in zip(before, contents(), strict=True):
    changed = {name for name in old if new.get(name) != old[name]}
    assert not changed, changed
"""


def owner(node):
    """Return the name at the root of an attribute or an item: ``np`` of ``np.linalg.norm``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def patches(source):
    """Return the lines that set, delete or update an attribute of another package's module."""
    tree = ast.parse(source)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {
                (alias.asname or alias.name).split(".")[0]
                for alias in node.names
                if alias.name.split(".")[0] in OTHERS
            }
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OTHERS:
            names |= {alias.asname or alias.name for alias in node.names}
    found = []
    for node in ast.walk(tree):
        targets = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("setattr", "delattr"):
            targets = [ast.Attribute(node.args[0], "attribute")]
        found += [
            node.lineno for t in targets if isinstance(t, ast.Attribute) and owner(t) in names
        ]
    return found


@pytest.mark.slow
def test_no_module_sets_an_attribute_of_another_package():
    assert {str(p): patches(p.read_text(encoding="utf-8")) for p in MODULES} == {
        str(p): [] for p in MODULES
    }


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.linalg.norm = len",
        "import numba.core.types\nsetattr(numba.core.types, 'x', 1)",
        "from scipy import special\ndel special.erf",
    ],
)
def test_a_patch_is_noticed(source):
    assert patches(source) == [2]


def test_a_study_leaves_numpy_scipy_and_numba_as_they_were():
    subprocess.run([sys.executable, "-c", RUN], check=True, timeout=120)
