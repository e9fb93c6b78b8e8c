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
        from halfseen.errors import no_such_name

        raise no_such_name(__name__, name, __all__)
    module = _MODULE_OF[name]
    if module == __name__:
        value = import_module(f"{module}.{name}")
    else:  # as `from module import name` does, for a module in a package too
        value = getattr(__import__(module, fromlist=[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
