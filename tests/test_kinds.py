"""Registering: one decorator for every kind, which never overwrites another's name."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

from halfseen import (
    UCB,
    Censorship,
    InvalidInput,
    LinUCB,
    Policy,
    RandomActions,
    RandomArms,
    RewardLaw,
    Uniform,
    register,
)
from halfseen.censorship import CENSORSHIPS
from halfseen.kinds import import_kinds, load_installed, registries
from halfseen.policies import POLICIES
from halfseen.problems import REWARD_LAWS
from halfseen.studies.spec import parse_spec, policy_from

MODULE = """
from dataclasses import dataclass
import numpy as np
from halfseen import Censorship, register

@dataclass(frozen=True)
class Halving(Censorship):
    kind = "halving"

    def probabilities(self, actions):
        return 0.5 ** np.arange(actions)
"""
SPEC = """
horizon = 30
replications = 2
problems.offers = { kind = "arms", means = [0.6, 0.5] }
censorships.ours = { kind = "halving" }
policies.UCB = { kind = "ucb" }
"""


def test_a_name_that_is_taken_is_refused_and_stays():
    @dataclass(frozen=True)
    class Mine(UCB):
        kind: ClassVar[str] = "ucb"

    with pytest.raises(InvalidInput, match=r"halfseen\.policies\.arms\.ucb\.UCB has it"):
        register(Mine)
    assert POLICIES["ucb"] is UCB


def test_policies_for_arms_and_linear_ones_share_their_names():
    @dataclass(frozen=True)
    class Mine(LinUCB):
        kind: ClassVar[str] = "ucb"

    with pytest.raises(InvalidInput, match="must not be the name of another policy"):
        register(Mine)


def test_a_policy_may_have_the_name_of_a_law():
    @dataclass(frozen=True)
    class Mine(UCB):
        kind: ClassVar[str] = "gaussian"

    register(Mine)
    assert POLICIES.pop("gaussian") is Mine


def test_a_class_defined_again_takes_the_place_of_the_earlier_one():
    for _ in range(2):

        @register
        @dataclass(frozen=True)
        class Again(RewardLaw):
            kind: ClassVar[str] = "again"

    assert REWARD_LAWS.pop("again") is Again


@pytest.mark.parametrize("kind", [None, "", "\n", 3])
def test_a_name_must_be_printable(kind):
    class Nameless(UCB):
        pass

    Nameless.kind = kind
    with pytest.raises(InvalidInput, match=r"^`Nameless\.kind` must be a printable name"):
        register(Nameless)


class Plain(RewardLaw):
    kind = "plain"


@dataclass
class Changing(RewardLaw):
    kind: ClassVar[str] = "changing"


@dataclass(frozen=True)
class Unfinished(Censorship):
    kind: ClassVar[str] = "unfinished"


@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (Plain, r"`Plain` must be a frozen dataclass to be a reward law"),
        (Changing, r"`Changing` must be a frozen dataclass.*Write @dataclass\(frozen=True\)"),
        (Unfinished, r"`Unfinished` must implement probabilities to be a censorship"),
        (Policy, r"`Policy` must implement table to be a policy"),
    ],
)
def test_a_class_of_which_no_spec_could_make_an_object_is_refused(thing, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        register(thing)
    assert all(thing not in known.values() for _, known in registries())


@pytest.mark.parametrize("thing", [UCB(), dict, 3])
def test_what_is_no_kind_is_refused(thing):
    with pytest.raises(InvalidInput, match="must be given a class of a"):
        register(thing)


@pytest.fixture
def place(tmp_path, monkeypatch, own_kinds):
    """Return a folder from which modules can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    load_installed.cache_clear()
    yield tmp_path
    load_installed.cache_clear()


def install(folder, target):
    """Write a package with an entry point, as pip would install it."""
    info = folder / "ours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[halfseen]\nhalving = {target}\n")


@pytest.mark.parametrize("target", ["installed_module", "installed_class:Halving"])
def test_kinds_of_installed_packages_are_known_to_specs(place, target):
    module = target.partition(":")[0]
    text = MODULE.replace("@dataclass", "@register\n@dataclass") if target == module else MODULE
    (place / f"{module}.py").write_text(text)
    install(place, target)
    study = parse_spec(SPEC)
    assert study.censorships["ours"].probabilities(2).tolist() == [1.0, 0.5]
    assert CENSORSHIPS["halving"] is type(study.censorships["ours"])


def test_agents_and_loops_know_policies_of_installed_packages(place):
    text = "from dataclasses import dataclass\nfrom halfseen import UCB\n\n"
    text += '@dataclass(frozen=True)\nclass Eager(UCB):\n    kind = "eager"\n'
    (place / "installed_policy.py").write_text(text)
    install(place, "installed_policy:Eager")
    assert type(policy_from({"kind": "eager"})).__name__ == "Eager"


def test_an_installed_package_that_cannot_be_imported_is_named(place):
    install(place, "nowhere_to_be_found")
    with pytest.raises(InvalidInput, match="Update or uninstall the package ours"):
        parse_spec(SPEC)


@pytest.mark.parametrize(
    ("text", "target", "sentence"),
    [
        (
            "raise SystemExit('bye')",
            "strange_kinds",
            r"\(SystemExit: bye \(strange_kinds\.py, line 1\)\)",
        ),
        ("thing = 3", "strange_kinds:thing", r"must be given a class of a .*; got 3\."),
        ("class Thing:\n    pass", "strange_kinds:Thing", "must be given a class of a"),
        (MODULE.replace('"halving"', '"uniform"'), "strange_kinds:Halving", "Uniform has it"),
    ],
)
def test_an_installed_package_that_brings_no_kind_is_named(place, text, target, sentence):
    (place / "strange_kinds.py").write_text(text)
    install(place, target)
    with pytest.raises(InvalidInput, match=sentence) as told:
        parse_spec(SPEC)
    assert told.value.field == "entry point halving"
    assert told.value.fix == "Update or uninstall the package ours, which brings it along."
    sys.modules.pop("strange_kinds", None)


def test_specs_without_unknown_kinds_load_no_package(place):
    install(place, "nowhere_to_be_found")
    parse_spec(SPEC.replace('"halving"', '"uniform", observe = 0.5'))


@pytest.mark.parametrize(
    "text", ["raise RuntimeError('no')", "import nowhere_to_be_found", "exit()"]
)
def test_a_module_that_cannot_be_imported_is_named(place, text):
    (place / "broken_kinds.py").write_text(text)
    with pytest.raises(
        InvalidInput, match=r"^`--import` must be a module that can be imported \("
    ) as told:
        import_kinds(["broken_kinds"])
    assert "(broken_kinds.py, line 1)" in str(told.value) or text == "exit()"
    assert told.value.fix == "Correct the module, or what it imports."


@pytest.mark.parametrize(
    "module", ["no_such_kinds", "no_such.kinds", "halfseen.no_such_kinds", "./kinds", ""]
)
def test_a_module_that_is_not_there_is_looked_for_where_python_looks(module):
    with pytest.raises(InvalidInput, match=r"Give its name without \.py, and run the command from"):
        import_kinds([module])


@pytest.mark.parametrize(
    ("base", "method", "instead"),
    [
        (Uniform, "probabilities", "profile"),
        (RandomActions, "offer", "kernels"),
        (RandomArms, "subsets", "chances"),
    ],
)
def test_what_loops_use_instead_of_a_method_is_overridden_with_it(base, method, instead):
    """Such a class was accepted, and studies played the class it is derived from."""
    with pytest.raises(InvalidInput, match=f"Own.{method}.* without `{instead}`, which loops use"):
        type("Own", (base,), {method: lambda *given: None})
    type("Own", (base,), {method: lambda *given: None, instead: lambda *given: None})
    type("Own", (base,), {"in_words": lambda self: "as before"})


def test_a_base_may_give_a_profile_and_leave_the_probabilities_to_its_classes():
    class Along(Censorship):
        def profile(self, dimension):
            return None

    class Own(Along):
        def probabilities(self, actions):
            return None

    class First(Own):
        def profile(self, dimension):
            return None

    class Mixed:
        def profile(self, dimension):
            return None

    type("Second", (First,), {"probabilities": Own.probabilities})  # a check compares the two
    type("Third", (Mixed, Uniform), {"probabilities": Own.probabilities})
    type("Fourth", (Mixed, Censorship), {"probabilities": Own.probabilities})
