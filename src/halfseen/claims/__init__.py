"""The paper's claims, each with an experiment that could refute it.

A claim says what the paper prints and, where that is wrong, what is right; it runs the experiment
or the exact computation that could refute them; and its verdict follows from what was measured.

This is a package of its own beside `theory`: the theory is pure functions and may not know the
engine, and most claims need a simulation. Nothing but the command and the report imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfseen.claims.claim import Claim, Comparison, Evidence, Finding, Measured
    from halfseen.claims.laboratory import Laboratory
    from halfseen.claims.registry import claims, verify

__all__ = [
    "Claim",
    "Comparison",
    "Evidence",
    "Finding",
    "Laboratory",
    "Measured",
    "claims",
    "verify",
]

_HOMES = {
    "claim": ("Claim", "Comparison", "Evidence", "Finding", "Measured"),
    "laboratory": ("Laboratory",),
    "registry": ("claims", "verify"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"halfseen.claims.{module}"), name)
    from halfseen.errors import no_such_name

    raise no_such_name(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
