"""Bandits when feedback goes missing."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"


def _public_names() -> dict[str, str]:
    """Return the module of every public name, as listed in `__init__.pyi`."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    listed = re.findall(r"^from (\S+) import (\w+) as \2$", stub, re.M)
    return {name: module for module, name in listed}


_MODULE_OF = _public_names()
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        message = f"module 'halfseen' has no attribute {name!r}{_hint(name)}"
        raise AttributeError(message, name=name)  # without obj Python adds no hint of its own
    module = _MODULE_OF[name]
    if module == __name__:
        value = import_module(f"{module}.{name}")
    else:  # as `from module import name` does, for a module in a package too
        value = getattr(__import__(module, fromlist=[name]), name)
    globals()[name] = value
    return value


def _hint(name: str) -> str:
    from halfseen.errors import nearest, sharing_a_word

    near = [nearest(name, __all__, least) for least in (0.85, 0.7)]
    meant = [near[0]] if near[0] else sharing_a_word(name, __all__) or [near[1]] * bool(near[1])
    return f"; did you mean {' or '.join(map(repr, meant))}?" if meant else ""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
