"""Every public name is there, explains itself, and is found where it is said to be."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import halfseen

NAMES = halfseen.__all__
CLASSES = [n for n in NAMES if inspect.isclass(getattr(halfseen, n))]
SECTIONS = ("Parameters\n", "Attributes\n", "Examples\n")


def test_names_are_unique_and_listed():
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) <= set(dir(halfseen))
    assert halfseen.__version__


@pytest.mark.parametrize("name", NAMES)
def test_every_name_resolves_and_explains_itself(name):
    value = getattr(halfseen, name)
    assert inspect.getdoc(value)
    assert value.__doc__.strip().splitlines()[0].rstrip().endswith((".", ":"))
    if not isinstance(value, ModuleType):
        assert value.__name__ == name


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'\.$"):
        _ = halfseen.nonsense


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("LinUBC", "LinUCB"), ("UBC", "UCB"), ("linucb", "LinUCB"), ("Studdy", "Study")],
)
def test_a_mistyped_name_suggests_the_right_one_once(typed, meant):
    code = f"import halfseen; halfseen.{typed}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    said = ended.stderr.splitlines()[-1]
    assert said.endswith(f"module 'halfseen' has no attribute '{typed}'. Did you mean '{meant}'?")


def test_a_mistyped_import_suggests_the_right_name():
    with pytest.raises(ImportError, match=r"'Simulate' from 'halfseen'. Did you mean 'simulate'\?"):
        from halfseen import Simulate  # noqa: F401
    with pytest.raises(ImportError, match=r"Did you mean 'effective_dimension'\?"):
        from halfseen.theory import efective_dimension  # noqa: F401
    assert not hasattr(halfseen, "Simulate")


def test_a_part_of_a_name_suggests_the_names_that_have_it():
    for typed in ("Thompson", "ThompsonSampling"):
        with pytest.raises(AttributeError, match="Did you mean 'BernoulliThompson' or 'GLMThom"):
            getattr(halfseen, typed)


def test_dir_lists_the_public_names_and_nothing_else():
    code = "import halfseen, halfseen.studies.simulate; print(*dir(halfseen))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == sorted([*NAMES, "__version__"])


def test_every_listed_name_is_where_editors_are_told_it_is():
    stub = Path(halfseen.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    assert [alias.name for node in listed for alias in node.names] == [
        alias.asname for node in listed for alias in node.names
    ]
    for node in listed:
        for alias in node.names:
            found = getattr(import_module(node.module), alias.name)
            assert found is getattr(halfseen, alias.name)
    assert sorted(alias.name for node in listed for alias in node.names) == sorted(NAMES)


def takes(value):
    """Return the names of the parameters a caller may give."""
    try:
        signature = inspect.signature(value)
    except ValueError:
        return []
    loose = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in signature.parameters.values() if p.kind not in loose]


def explained(value):
    """Tell whether a docstring lists the parameters, shows an example or names the only one."""
    names, text = takes(value), inspect.getdoc(value) or ""
    if not names or any(section in text for section in SECTIONS):
        return True
    return len(names) == 1 and names[0] in text


@pytest.mark.parametrize("name", NAMES)
def test_callables_explain_their_parameters(name):
    value = getattr(halfseen, name)
    if isinstance(value, ModuleType) or (
        inspect.isclass(value) and issubclass(value, halfseen.HalfseenError)
    ):
        return
    assert explained(value), takes(value)


@pytest.mark.parametrize("name", CLASSES)
def test_methods_explain_themselves(name):
    cls = getattr(halfseen, name)
    for method, value in inspect.getmembers(cls):
        if method.startswith("_") or not (callable(value) or isinstance(value, property)):
            continue
        assert inspect.getdoc(value), f"{name}.{method}"


def test_what_is_not_explained_is_noticed():
    def plain(first, second):
        """Do something."""

    assert not explained(plain)
    assert explained(halfseen.simulate)


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["halfseen.cli", "halfseen.studies.simulate", "halfseen.report", "halfseen.testing"]
)
def test_names_do_not_depend_on_what_was_imported_before(first):
    code = (
        f"import {first}, halfseen, types\n"
        "from halfseen import *\n"
        "for name in halfseen.__all__:\n"
        "    value = getattr(halfseen, name)\n"
        "    known = name in ('theory', 'datasets')\n"
        "    assert known or not isinstance(value, types.ModuleType), name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_is_the_same_has_one_name_and_one_place():
    armed, linear = takes(halfseen.ArmedBandit), takes(halfseen.LinearBandit)
    assert armed[1:] == linear[1:] == ["noise", "actions", "reward"]
    for name in halfseen.theory.__all__:  # a bound on theta is `bound`, a law of rewards `reward`
        value = getattr(halfseen.theory, name)
        assert not callable(value) or not {"norm", "rewards"} & set(takes(value)), value


PACKAGES = ["censorship", "claims", "integrations", "policies", "problems", "report", "testing"]


@pytest.mark.parametrize("name", [*PACKAGES, "theory"])
def test_dir_of_a_public_package_lists_its_names_and_a_mistyped_one_is_suggested(name):
    package = import_module(f"halfseen.{name}")
    assert dir(package) == sorted(package.__all__)
    meant = sorted(package.__all__, key=len)[-1]
    with pytest.raises(AttributeError, match=f"Did you mean '{meant}'") as told:
        getattr(package, meant[:-1] + meant[-1] * 2)
    assert str(told.value).startswith(f"module 'halfseen.{name}' has no attribute")


def test_parameters_of_one_name_come_in_one_order():
    order = ["observe", "horizon", "alpha", "regularization"]
    public = {name: getattr(halfseen, name) for name in NAMES}
    public |= {name: getattr(halfseen.theory, name) for name in halfseen.theory.__all__}
    for name, value in public.items():
        if callable(value) and not name.startswith("InformationPath"):  # what is returned
            given = [name for name in positional(value) if name in order]
            assert given == sorted(given, key=order.index), name
    assert positional(halfseen.theory.fluid_potential)[:2] == ["observe", "horizon"]


def positional(value):
    """Return the names of the parameters that may be given by place."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return []
    return [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
