"""The paper's claims, each with an experiment that could refute it.

A claim states what the paper says and, if that is wrong, the corrected statement; it runs the
experiment or the exact computation that could refute them; its verdict follows from the
measurements.

The package is separate from `theory`, which consists of pure functions and must not import the
engine, while most claims need a simulation. Only the command and the report import it.
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
