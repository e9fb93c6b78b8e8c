"""Several rewards of one decision: which are repeated, and what they come to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

AGGREGATES: dict[str, Any] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "max": max,
}


def mark_of(key: str | None) -> int | None:
    """Return 63 bits of an `Idempotency-Key`, kept with the outcome that was sent under it."""
    if key is None:
        return None
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()) >> 1


def is_repeated(
    rule: str,
    known: Sequence[Sequence[Any]] | None,
    reward: float | None,
    client_at: int | None,
    mark: int | None,
) -> bool:
    """Tell whether an outcome was sent before.

    Under every rule it was if its key is known, or its reward with the same client's time.
    Otherwise a sum or a mean counts equal rewards each time, and the last reward is another one
    if a key or a time tells it apart.

    Parameters
    ----------
    rule
        The loop's rule for several rewards.
    known
        Of each reward that came: its value, the client's time and the mark of its key.
    reward, client_at, mark
        Of the outcome.

    Examples
    --------
    >>> is_repeated("sum", [[1.0, None, 7]], 1.0, None, 7)
    True
    >>> is_repeated("sum", [[1.0, None, 7]], 1.0, None, 8)
    False
    """
    if not known:
        return False
    if mark is not None and any(one[2] == mark for one in known):
        return True
    if client_at is not None and any([*one[:2]] == [reward, client_at] for one in known):
        return True
    if rule in ("sum", "mean"):
        return False
    if rule == "last":
        return client_at is None and mark is None and bool(known[-1][0] == reward)
    return any(one[0] == reward for one in known)
