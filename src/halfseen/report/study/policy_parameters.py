"""The parameters of policies, in plain words."""

from __future__ import annotations

from typing import Any

from halfseen.studies.plain_values import describe
from halfseen.studies.study import AnyPolicy


def parameters_in_words(policy: AnyPolicy) -> str:
    """List a policy's parameters."""
    return _listed(describe(policy))


def _listed(content: dict[str, Any]) -> str:
    parts = []
    for key, value in content.items():
        if isinstance(value, dict):
            inner = _listed(value)
            parts.append(f"{key} {value['kind']}" + (f" with {inner}" if inner else ""))
        elif key != "kind":
            parts.append(f"{key} {_short(value)}")
    return ", ".join(parts)


def _short(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
