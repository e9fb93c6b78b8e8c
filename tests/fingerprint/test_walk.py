"""Fingerprints: other code or values, another hash; other words for the same, the same hash."""

import ast
import functools
import importlib
import linecache
import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass, make_dataclass
from typing import ClassVar

import numpy as np
import pytest

from halfseen import UCB, ArmedBandit, Policy, Problem, RewardDependent, Study, Uniform, register
from halfseen.display import ShownAsCall
from halfseen.equality import ByValue
from halfseen.fingerprint import NoFingerprint, fingerprint
from halfseen.fingerprint.canonical_source import source_of
from halfseen.fingerprint.known_code import version
from halfseen.policies import GLM_POLICIES, LINEAR_POLICIES, POLICIES
from halfseen.problems.links import LINKS
from halfseen.problems.reward_laws import Gaussian

PLAIN = """
import math
import numpy as np
WEIGHTS = np.array([1.0, 2.0])
SCALE = 3.0
NAMES = {"a": 1}
class Helper:
    gain = 2.0
    def boost(self, x):
        return self.gain * x
def inner(x):
    return math.sqrt(x) * SCALE
def outer(x, y=2.0):
    return inner(x) + y * WEIGHTS[0] + Helper().boost(x) + NAMES["a"]
"""
SAME = '''
"""A module with words in it."""
import math   # mathematics

import numpy as np


WEIGHTS = np.array([1.0,
                    2.0])
SCALE    = 3.0
NAMES: dict[str, int] = {'a': 1}


class Helper:
    """Helps."""

    gain: float = 2.0

    def boost(self, x: float) -> float:
        """Return more."""
        return (self.gain * x)

def unused():
    return 1

def inner(x: "float") -> float:
    """Return a root."""
    # a comment
    return math.sqrt(x) * SCALE
def outer(x, y=2.0):
    """Return a sum."""
    return (
        inner(x) + y * WEIGHTS[0]
        + Helper().boost(x) + NAMES["a"]
    )
'''
EDITS = [
    ("math.sqrt(x)", "math.sqrt(x + 1)"),
    ("math.sqrt(x)", "math.exp(x)"),
    ("SCALE = 3.0", "SCALE = 3.5"),
    ("SCALE = 3.0", "SCALE = 3"),
    ("[1.0, 2.0]", "[1.0, 2.5]"),
    ("[1.0, 2.0]", "[[1.0, 2.0]]"),
    ('{"a": 1}', '{"a": 2}'),
    ("gain = 2.0", "gain = 2.5"),
    ("self.gain * x", "self.gain + x"),
    ("y=2.0", "y=2.5"),
]


EVERYWHERE = """
import enum, functools, numba
from collections import namedtuple
from dataclasses import dataclass, make_dataclass
from typing import ClassVar
import numpy as np
from halfseen.policies import Policy
@numba.njit
def jitted(x):
    return x + 1.0
@functools.lru_cache
def cached(x):
    return x * 7.0
class Config:
    rate = 5.0
    class Deep:
        inner = 6.0
class Mode(enum.Enum):
    A = 1
    B = 2
TABLE = {"f": lambda x: x * 8.0}
Point = namedtuple("Point", "x y")
P = Point(1.0, 9.0)
def wrap(f):
    @functools.wraps(f)
    def inner(*a):
        return f(*a) + 10.0
    return inner
@wrap
def wrapped(x):
    return x - 11.0
def defaulted(x, k=12.0, *, z=13.0):
    return x + k + z
def nested(x):
    def go(y):
        return y + far(x)
    return [go(i) for i in range(14)]
def far(x):
    return x + 15.0
def gen():
    yield from (far(i) * 16.0 for i in range(3))
SET = frozenset({17, 18})
BIG = np.arange(19.0)
class Meta(type):
    def __call__(cls, *a):
        return 20.0
class Made(metaclass=Meta):
    pass
def annotated(x: "Later") -> "Later":
    y: float = 21.0
    return x + y
@dataclass(frozen=True)
class Mine(Policy):
    kind: ClassVar[str] = "mine"
    level: float = 22.0
    @staticmethod
    def index(state, arm, clock, stream, table):
        rest = wrapped(arm) + defaulted(arm)
        return jitted(arm) + cached(arm) + Config.rate + Config.Deep.inner + TABLE["f"](arm) + rest
    @staticmethod
    def fill(state, arm, table):
        return 23.0
    @property
    def prop(self):
        return 24.0
    @functools.cached_property
    def cprop(self):
        return 25.0
    @classmethod
    def cm(cls):
        return Mode.B.value + 26.0
    def table(self, setting):
        return nested(1.0) + list(gen()) + [P.y, Mode.A, SET, BIG, Made(), annotated(1.0)]
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return what writes text into a new module and imports it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names = iter(f"fingerprinted_{number}" for number in range(100))

    def made(text, name=None):
        name = name or next(names)
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return made


def test_comments_docstrings_annotations_and_formatting_change_nothing(module):
    assert fingerprint(module(PLAIN).outer) == fingerprint(module(SAME).outer)


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_an_edit_anywhere_it_reaches_changes_it(module, before, after):
    assert before in PLAIN
    assert fingerprint(module(PLAIN).outer) != fingerprint(
        module(PLAIN.replace(before, after)).outer
    )


def test_functions_of_an_imported_module_are_followed(module):
    uses = "import {name} as m\nfrom {name} import outer\ndef f(x):\n    return m.{what}(x)\n"
    inside = "def f(x):\n    from {name} import outer\n    return outer(x)\n"
    for text in (uses, inside):
        first, other = (
            module(text.format(name=module(source).__name__, what="outer"))
            for source in (PLAIN, PLAIN.replace("SCALE = 3.0", "SCALE = 4.0"))
        )
        first_code, other_code = source_of(first.f).text, source_of(other.f).text
        assert first_code.replace(first.f.__module__, "") != ""
        assert fingerprint(first.f) != fingerprint(other.f)
        assert len(first_code) == len(other_code)


def test_a_number_is_found_wherever_python_can_keep_it(module):
    numbers = sorted(set(re.findall(r"\d+\.0|range\(14\)|17|B = 2", EVERYWHERE)))
    assert len(numbers) == 23
    plain = fingerprint(module(EVERYWHERE).Mine())
    assert fingerprint(module(EVERYWHERE).Mine()) == plain
    for number in numbers:
        other = "range(4)" if "range" in number else number[:-1] + "5"
        text = re.sub(rf"(?<!\d){re.escape(number)}", other, EVERYWHERE)
        assert text != EVERYWHERE
        assert fingerprint(module(text).Mine()) != plain, number


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return what installs a package of one module, as pip would."""
    site = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(site))

    def install(text, number="1.0"):
        info = site / "helperlib.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (site / "helperlib.py").write_text(text)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: helperlib\nVersion: {number}\n"
        )
        (info / "RECORD").write_text(f"helperlib.py,sha256={hash(text)},1\nhelperlib.pyc,,\n")
        importlib.invalidate_caches()
        sys.modules.pop("helperlib", None)
        version.cache_clear()

    yield install
    sys.modules.pop("helperlib", None)
    version.cache_clear()


@pytest.mark.slow
def test_installed_packages_count_by_version_and_by_what_was_installed(module, installed):
    text = "class Base:\n    def f(self):\n        return 1\ndef g():\n    return 2\n"
    uses = "import helperlib\nclass Own(helperlib.Base):\n    pass\n"
    uses += "def h():\n    return helperlib.g()\n"
    found = []
    for content, number in ((text, "1.0"), (text, "1.1"), (text.replace("2", "3"), "1.0")):
        installed(content, number)
        own = module(uses)
        found.append((fingerprint(own.Own), fingerprint(own.h)))
    assert len(set(found)) == 3
    assert len({first for first, _ in found}) == len({second for _, second in found}) == 3
    installed(text)
    own = module(uses)
    assert (fingerprint(own.Own), fingerprint(own.h)) == found[0]


def test_an_installed_file_that_is_edited_where_it_lies_counts_as_it_is_now(
    tmp_path, module, installed
):
    installed("def g():\n    return 2\n")
    before = fingerprint(module("import helperlib\ndef h():\n    return helperlib.g()\n").h)
    (tmp_path / "site-packages" / "helperlib.py").write_text("def g():\n    return 3\n")
    version.cache_clear()
    again = module("import helperlib\ndef h():\n    return helperlib.g()\n").h
    assert fingerprint(again) != before


def test_a_module_copied_among_installed_packages_counts_by_its_code(tmp_path, module, installed):
    """It has no version: its edits were not noticed."""
    found = []
    for number in (2, 2, 3):
        installed(f"def g():\n    return {number}\n")
        for record in (tmp_path / "site-packages").glob("*.dist-info"):
            shutil.rmtree(record)
        version.cache_clear()
        found.append(
            fingerprint(module("import helperlib\ndef h():\n    return helperlib.g()\n").h)
        )
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_copied_module_may_hold_what_cannot_be_written_down(tmp_path, module, installed):
    installed("import threading\nL = threading.Lock()\ndef g():\n    with L:\n        return 2\n")
    for record in (tmp_path / "site-packages").glob("*.dist-info"):
        shutil.rmtree(record)
    version.cache_clear()
    assert fingerprint(module("import helperlib\ndef h():\n    return helperlib.g()\n").h)


class Squared:
    def __init__(self, root):
        self.root = root

    @functools.cached_property
    def square(self):
        return self.root**2


def test_what_a_cached_property_keeps_is_no_part_of_an_object():
    thing = Squared(3.0)
    before = fingerprint(thing)
    assert thing.square == 9.0
    assert fingerprint(thing) == before
    assert fingerprint(Squared(4.0)) != before


def test_what_others_registered_does_not_count(own_kinds):
    @dataclass(frozen=True)
    class Two(Problem):
        kind: ClassVar[str] = "two"

        def bandit(self):
            return ArmedBandit([0.6, 0.5])

    study = Study(
        {"own": Two(), "binary": ArmedBandit([0.6, 0.5], reward="bernoulli")},
        {"own": Uniform(0.5), "by reward": RewardDependent([0.2, 0.9])},
        UCB(),
        horizon=5,
    )
    before = study.fingerprints()

    @register
    @dataclass(frozen=True)
    class Unrelated(Gaussian):
        kind: ClassVar[str] = "unrelated"

    assert study.fingerprints() == before


def test_a_file_edited_after_it_was_imported_is_not_taken_for_what_runs(module, tmp_path):
    loaded = module(PLAIN, "edited_later")
    old = fingerprint(loaded.outer)
    again = module(PLAIN, "edited_later")
    (tmp_path / "edited_later.py").write_text(PLAIN.replace("sqrt(x)", "sqrt(x + 1)"))
    running = source_of(again.inner)  # never looked at before the edit
    assert running.text.startswith("Python 3.")
    assert "Python 3." not in source_of(loaded.inner).text
    assert fingerprint(loaded.outer) == old
    new = module(PLAIN.replace("sqrt(x)", "sqrt(x + 1)"), "edited_later")
    assert fingerprint(new.outer) not in (old, fingerprint(again.outer))


def test_functions_without_source_are_known_by_their_bytecode():
    def made(text):
        space = {"math": math}
        exec(textwrap.dedent(text), space)
        return space["f"]

    text = "K = 2\ndef g(x):\n    return x + K\ndef f(x):\n    return g(math.exp(x))\n"
    assert source_of(made(text)).text.startswith(f"Python 3.{sys.version_info.minor}")
    assert fingerprint(made(text)) == fingerprint(made(text))
    for edit in (text.replace("K = 2", "K = 3"), text.replace("x + K", "x - K")):
        assert fingerprint(made(edit)) != fingerprint(made(text))
    assert fingerprint(made(text)) != fingerprint(made(text.replace("exp", "log")))


def test_functions_of_a_notebook_are_known_by_their_source():
    """A notebook compiles statement by statement and shows the text of the cell."""
    text = "import math\nRATE = 2.0\ndef f(x):\n    return RATE * math.exp(x)\n"

    def run(text, name):
        space = {"__name__": "__main__"}
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        for statement in ast.parse(text).body:
            exec(compile(ast.Module([statement], []), name, "exec"), space)
        return space["f"]

    first, again = run(text, "<cell 1>"), run(f"# again\n{text}", "<cell 2>")
    assert source_of(first).text.startswith("FunctionDef")
    assert fingerprint(first) == fingerprint(again)
    assert fingerprint(run(text.replace("2.0", "3.0"), "<cell 3>")) != fingerprint(first)


def test_lambdas_on_one_line_are_told_apart():
    first, second = (lambda z: z + 1.0), (lambda z: z + 2.0)
    assert not source_of(first).text.startswith("Python")
    assert fingerprint(first) != fingerprint(second)
    again = lambda z: z + 1.0  # noqa: E731
    assert fingerprint(first) == fingerprint(again)


def test_closures_methods_partials_and_caches_are_followed():
    def closure(array):
        return lambda: array.sum()

    class Callable:
        def __init__(self, gain):
            self.gain = gain

        def __call__(self, x):
            return self.gain * x

        def method(self, x):
            return self(x)

    def power(x, n):
        return x**n

    def looked_up(n):
        return functools.cache(functools.partial(power, n=n).func if n else power)

    assert fingerprint(closure(np.ones(3))) == fingerprint(closure(np.ones(3)))
    assert fingerprint(closure(np.ones(3))) != fingerprint(closure(np.zeros(3)))
    assert fingerprint(Callable(1.0)) == fingerprint(Callable(1.0)) != fingerprint(Callable(2.0))
    assert fingerprint(Callable(1.0).method) != fingerprint(Callable(2.0).method)
    assert fingerprint(functools.partial(power, n=2)) != fingerprint(functools.partial(power, n=3))
    assert fingerprint(looked_up(2)) == fingerprint(power)
    one, two = np.random.default_rng(1), np.random.default_rng(2)
    assert fingerprint(lambda: one.normal()) != fingerprint(lambda: two.normal())


def test_functions_that_call_each_other_end():
    def even(n):
        return n == 0 or odd(n - 1)

    def odd(n):
        return n > 0 and even(n - 1)

    assert fingerprint(even) != fingerprint(odd)


def test_what_cannot_be_written_down_is_said():
    lock = threading.Lock()
    with pytest.raises(NoFingerprint, match="lock cannot be written down"):
        fingerprint(lambda: lock)
    nest = []
    nest.append(nest)
    with pytest.raises(NoFingerprint, match="nested"):
        fingerprint(nest)


@dataclass(frozen=True)
class Holder:
    """Holds something."""

    content: object


def test_fields_count_as_json_holds_them():
    for same in ((1.0, 2.0), np.array([1.0, 2.0]), np.array([1, 2], np.float32)):
        assert fingerprint(Holder([1.0, 2.0])) == fingerprint(Holder(same))
    others = [[1, 2], [1.0, 2.5], [2.0, 1.0], [[1.0, 2.0]], "x", None, True, 1, 1.0, [], ["1.0"]]
    assert len({fingerprint(Holder(other)) for other in others}) == len(others)
    assert fingerprint(Holder(np.float64(2))) == fingerprint(Holder(2.0))
    assert fingerprint(Holder([[0, 1], [2]])) == fingerprint(Holder(((0, 1), (2,))))


def test_every_policy_and_link_has_source_and_its_own_fingerprint():
    things = [kind() for kind in (POLICIES | LINEAR_POLICIES | GLM_POLICIES).values()]
    prints = [fingerprint(thing) for thing in (*things, *LINKS.values())]
    assert len(set(prints)) == len(prints)
    for thing in things:
        kernels = thing.kernels()
        kernel = kernels.index or kernels.choose
        assert not source_of(kernel).text.startswith("Python")


@pytest.mark.slow
def test_fingerprints_do_not_depend_on_the_process():
    code = (
        "from halfseen.fingerprint import fingerprint\n"
        "from halfseen import UCB, LinUCB, GLMUCB, Logistic\n"
        "print(*(fingerprint(x) for x in (UCB(), LinUCB(), GLMUCB(), Logistic([1, 0], -1.0))))"
    )
    printed = [
        subprocess.run(
            [sys.executable, *flags, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed, flags in (("1", ()), ("2", ("-O",)), ("3", ("-X", "no_debug_ranges")))
    ]
    assert len(set(printed)) == 1


# Taken with Python 3.11, 3.12 and 3.13; the trees they parse differ.
GOLDEN = ("130c5e2b11dc6d041bf26722eed3be35", "4864d7bde318d7e32e83dc4a246b4351")


def test_the_fingerprint_of_a_given_module_is_the_same_on_every_python(module):
    everything = EVERYWHERE
    text = PLAIN + textwrap.dedent(
        """
        from dataclasses import dataclass, field
        from typing import NamedTuple
        class Pair(NamedTuple):
            a: int
            b: float = 1.0
        @dataclass(frozen=True)
        class Shape:
            side: float = 1.0
            names: tuple = field(default=("x",), kw_only=True)
            def area(self):
                parts = [self.side * k for k in range(2)]
                return sum(parts) + Pair(1).b
        def all_of_it(x):
            text = f"{x!r:>{10}} and {x:.3f}"
            return outer(x) + Shape(x).area() + len(text) + (lambda z: z if z > 0 else -z)(x)
        """
    )
    assert fingerprint(module(text).all_of_it) == GOLDEN[0]
    for away in ("@numba.njit\n", ", numba", "(Policy)", "from halfseen.policies import Policy\n"):
        assert away in everything
        everything = everything.replace(away, "")
    assert fingerprint(module(everything).Mine) == GOLDEN[1]


def test_how_an_object_is_shown_and_compared_does_not_decide_its_numbers():
    def kind(*bases):
        return type("Noun", bases, {"double": lambda self: 2.0})

    plain = fingerprint(kind(object))
    assert fingerprint(kind(ShownAsCall, ByValue)) == plain
    assert fingerprint(kind(type("Base", (), {"triple": lambda self: 3.0}))) != plain


def made_at_run_time(how, factor):
    def index(state, arm, clock, stream, table):
        return factor * arm

    content = {"index": staticmethod(index), "kind": "made"}
    if how == "type":
        return type("Made", (Policy,), content | {"table": lambda self, setting: np.zeros(1)})
    content |= {"table": lambda self, setting: np.zeros(1)}
    return make_dataclass("Made", [], bases=(Policy,), namespace=content, frozen=True)


@pytest.mark.parametrize("how", ["type", "make_dataclass"])
def test_a_class_made_by_a_call_counts_by_what_it_holds(how):
    """Python says it is from its own module abc, and results of before an edit were shown."""
    assert fingerprint(made_at_run_time(how, 1.0)) == fingerprint(made_at_run_time(how, 1.0))
    assert fingerprint(made_at_run_time(how, 1.0)) != fingerprint(made_at_run_time(how, 2.0))


def test_what_a_base_does_to_new_classes_counts_where_it_shows():
    """Stored results stay when only the checks of new classes change."""

    def derived(told, checks):
        class Base:
            def __init_subclass__(cls):
                assert checks
                if told:
                    cls.told = told

        class Own(Base):
            pass

        return fingerprint(Own)

    assert derived(None, 1) == derived(None, 2)
    assert derived(1.0, 1) != derived(2.0, 1)
