"""Several rewards of one decision: duplicates and aggregation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from halfseen.errors import InvalidInput, shorten
from halfseen.service.known_decisions import Known, Orphan
from halfseen.service.refusals import Conflict

AGGREGATES: dict[str, Any] = {
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "max": max,
}


def aggregate(rule: str, values: Sequence[float]) -> float | None:
    """Return the aggregate of several rewards, None if there are none.

    >>> aggregate("mean", [1.0, 0.0]), aggregate("sum", [])
    (0.5, None)
    """
    return float(AGGREGATES[rule](values)) if values else None


def mark_of(key: str | None) -> int | None:
    """Return a 63-bit digest of an `Idempotency-Key`, stored with its outcome."""
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
    """Return whether an outcome was sent before.

    Under every rule it was if its key is known, or its reward with the same client's time.
    Otherwise a sum or a mean counts equal rewards each time, and the last reward is another one
    if a key or a time tells it apart.

    Parameters
    ----------
    rule
        The decision's rule for several rewards.
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


def rewards_of(known: Known | Orphan | None) -> list[list[Any]]:
    """Return the rewards that came for a decision: see `told`."""
    return [] if known is None else known.rewards or []


def of_several(rule: str, error: InvalidInput) -> InvalidInput:
    """Return the error for a reward whose aggregate with the others cannot be learned."""
    needed = error.requirement.removeprefix("must be ")
    return InvalidInput(
        "reward",
        f"must leave the {rule} of the decision's rewards {needed}",
        error.value,
        "Send smaller ones. Nothing was changed.",
    )


def key_was_used(name: str, key: str | None) -> Conflict:
    """Return the error for a key already used by another reward of the same decision."""
    return Conflict(
        f"The Idempotency-Key was used for another outcome of decision {shorten(name)}. Nothing was"
        " changed.",
        field="Idempotency-Key",
        value=key,
        fix="Use a key for one request only.",
    )


def differing(name: str, before: float | None, reward: float | None) -> Conflict:
    """Return the error for an outcome that contradicts an earlier one."""
    known = "missing" if before is None else f"the reward {before:g}"
    return Conflict(
        f"Decision {shorten(name)} already has an outcome: {known}. Nothing was changed.",
        field="reward",
        value=reward,
        fix="Send one outcome per decision, or let the loop accept several (`rewards`).",
    )
