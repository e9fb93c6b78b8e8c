"""Places in which Python code can keep a number: another number there, another fingerprint."""

import importlib
import sys

import numpy as np
import pytest

from halfseen import AnyFunction
from halfseen.fingerprint import NoFingerprint, fingerprint

HELPERS = "RATE = @@\ndef rate(a):\n    return RATE\n"
IN_ANOTHER_FILE = {
    "import inside": "def observe(a):\n    import helpers\n    return helpers.rate(a)\n",
    "import as inside": "def observe(a):\n    import helpers as h\n    return h.RATE\n",
    "from import inside": "def observe(a):\n    from helpers import rate as r\n    return r(a)\n",
    "alias": "import helpers\ndef observe(a):\n    h = helpers\n    return h.rate(a)\n",
    "default": "import helpers\ndef observe(a, h=helpers):\n    return h.rate(a)\n",
    "class": "import helpers\nclass C:\n    h = helpers\ndef observe(a):\n    return C.h.RATE\n",
    "passed": "import helpers\ndef g(h):\n    return h.RATE\n"
    "def observe(a):\n    return g(helpers)\n",
    "dict": "import helpers\nM = {'x': helpers}\ndef observe(a):\n    return M['x'].RATE\n",
    "exec": "import helpers\nexec('def observe(a):\\n    return helpers.RATE')\n",
    "import in exec": "exec('def observe(a):\\n    import helpers\\n    return helpers.RATE')\n",
}
IN_ONE_FILE = {
    "enum property": """
import enum
class M(enum.Enum):
    A = 1
    @property
    def rate(self):
        return @@
def observe(a):
    return M.A.rate
""",
    "enum member": """
import enum
class M(enum.Enum):
    A = 1
M.A.rate = @@
held = [M.A]
def observe(a):
    return held[0].rate
""",
    "slots": """
from dataclasses import dataclass
@dataclass(slots=True)
class C:
    rate: float = @@
def observe(a):
    return C().rate
""",
    "default factory": """
from dataclasses import dataclass, field
@dataclass
class C:
    rate: float = field(default_factory=lambda: @@)
def observe(a):
    return C().rate
""",
    "function attribute": "def observe(a):\n    return observe.rate\nobserve.rate = @@\n",
    "vectorize": """
import numba
@numba.vectorize
def g(x):
    return @@ + 0 * x
def observe(a):
    return float(g(a[0]))
""",
    "cfunc": """
import numba
@numba.cfunc("float64(float64)")
def g(x):
    return @@ + 0 * x
def observe(a):
    return float(g.ctypes(a[0]))
""",
    "raise": """
def g():
    return @@
def observe(a):
    try:
        raise ValueError(g())
    except ValueError as error:
        return error.args[0]
""",
    "attribute beside fields": """
from dataclasses import dataclass
@dataclass
class B:
    x: float = 1.0
    def __call__(self, a):
        return self.rate
observe = B()
observe.rate = @@
""",
    "dataclass in exec": """
space = {}
exec('''
from dataclasses import dataclass
@dataclass
class B:
    x: float = 2.0
    def __call__(self, a):
        return @@
''', space)
observe = space["B"]()
""",
    "dunder": "class P:\n    __rate__ = @@\ndef observe(a):\n    return P.__rate__\n",
    "repr": """
class P:
    def __repr__(self):
        return '@@'
def observe(a):
    return float(repr(P()))
""",
    "singledispatch": """
import functools
@functools.singledispatch
def g(x):
    return 0.5
@g.register
def _(x: float):
    return @@
def observe(a):
    return g(float(a[0]))
""",
    "hidden state": """
class C:
    def __getstate__(self):
        return {}
c = C()
c.r = @@
def observe(a):
    return c.r
""",
    "structured": """
import numpy as np
names = ("hi", "lo") if @@ == 1.0 else ("lo", "hi")
T = np.array([(1.0, 0.3)], dtype=[(name, float) for name in names])
def observe(a):
    return float(T["hi"][0])
""",
    "mask": """
import numpy as np
T = np.ma.array([1.0, 0.3], mask=[@@ == 1.0, @@ != 1.0])
def observe(a):
    return float(T.mean())
""",
    "subclass of arrays": """
import numpy as np
class A(np.ndarray):
    def r(self):
        return @@
x = np.zeros(2).view(A)
def observe(a):
    return x.r()
""",
    "tuple of a word and a number": """
from dataclasses import dataclass
@dataclass
class B:
    x: tuple
    def __call__(self, a):
        return 1.0 if isinstance(self.x[1], str) else 0.3
observe = B(("a", "1") if @@ == 1.0 else ("a", 1))
""",
    "added to the builtins": """
import builtins
builtins.added_rate = @@
def observe(a):
    return added_rate
""",
    "added to a library": "import math\nmath.rate = @@\ndef observe(a):\n    return math.rate\n",
}


@pytest.fixture
def prints(tmp_path, monkeypatch):
    """Return what gives the fingerprints and values of `observe` for two numbers in some files."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def both(files):
        found = []
        for number in ("1.0", "0.3"):
            for name, text in files.items():
                path = tmp_path / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text.replace("@@", number))
                module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                sys.modules.pop(module, None)
            sys.modules.pop("observing", None)
            importlib.invalidate_caches()
            observe = importlib.import_module("observing").observe
            found.append((fingerprint(AnyFunction(observe)), observe(np.array([1.0, 0.0]))))
        return found

    yield both
    for name in ("observing", "helpers", "profile", "parcel", "parcel.mod"):
        sys.modules.pop(name, None)
    for place, name in (("builtins", "added_rate"), ("math", "rate")):
        vars(sys.modules[place]).pop(name, None)


def differ(found):
    (first, one), (second, other) = found
    assert one != other, "the case shows nothing"
    return first != second


@pytest.mark.parametrize("text", IN_ANOTHER_FILE.values(), ids=IN_ANOTHER_FILE)
def test_a_number_in_a_module_is_found_however_the_module_is_reached(prints, text):
    assert differ(prints({"helpers.py": HELPERS, "observing.py": text}))


def test_a_file_named_like_a_standard_module_is_the_users(prints):
    text = "import profile\ndef observe(a):\n    return profile.rate(a)\n"
    assert differ(prints({"profile.py": HELPERS, "observing.py": text}))


def test_a_module_of_a_package_imported_inside_is_followed(prints):
    text = "def observe(a):\n    from parcel import mod\n    return mod.RATE\n"
    files = {"parcel/__init__.py": "", "parcel/mod.py": HELPERS, "observing.py": text}
    assert differ(prints(files))


@pytest.mark.parametrize("text", IN_ONE_FILE.values(), ids=IN_ONE_FILE)
def test_a_number_in_an_unusual_place_is_found(prints, text):
    assert differ(prints({"observing.py": text}))


def test_a_ufunc_that_hides_its_function_has_no_fingerprint():
    hidden = np.frompyfunc(lambda x: 1.0, 1, 1)
    with pytest.raises(NoFingerprint, match="does not show the function"):
        fingerprint(lambda a: hidden(a))
    assert fingerprint(lambda a: np.exp(a)) == fingerprint(lambda a: np.exp(a))
