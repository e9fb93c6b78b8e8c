"""Features by name, hashed to vectors of a given width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from halfseen.errors import InvalidInput

DEEPEST = 8  # objects inside one another
LARGEST = 1e6  # numbers beyond are cut
MOST = 2000  # features of one action


def hashed(context: Iterable[Any], action: Iterable[Any], name: str, width: int) -> list[float]:
    """Return the vector of an action in a context, of Euclidean length at most 1.

    Every feature of the action and of the context adds +1, -1 or its number times that to the
    entry its name hashes to; those of the context are crossed with the action's name, since they
    could not tell actions apart otherwise.

    Parameters
    ----------
    context, action
        Objects of features: names with numbers, texts, truth values, lists or objects.
    name
        The action's name.
    width
        The number of entries.

    Examples
    --------
    >>> vector = hashed([{"hour": 3}], [{"sport": True}], "football", 8)
    >>> len(vector), round(sum(x * x for x in vector), 12)
    (8, 1.0)
    """
    vector = [0.0] * width
    own = [*_named("a", action), *((f"c\x1f{name}\x1f{key}", x) for key, x in _named("", context))]
    if len(own) > MOST:
        raise InvalidInput("features", f"must be at most {MOST}", len(own), "Send fewer.")
    for key, number in [*own, (f"n\x1f{name}", 1.0)]:
        digest = int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest())
        vector[(digest >> 1) % width] += number if digest & 1 else -number
    length = math.sqrt(sum(entry * entry for entry in vector))
    return [entry / length for entry in vector] if length > 0.0 else vector


def _named(prefix: str, objects: Iterable[Any]) -> Iterator[tuple[str, float]]:
    for entry in objects:
        if not isinstance(entry, dict):
            raise InvalidInput(
                "features", "must be a list of objects", entry, 'Write [{"hour": 12}].'
            )
        yield from _features(prefix, entry, 0)


def _features(prefix: str, value: Any, depth: int) -> Iterator[tuple[str, float]]:
    """Yield each feature inside a value as its name and number."""
    if depth > DEEPEST:
        raise InvalidInput("features", f"must be at most {DEEPEST} objects deep", depth, "Flatten.")
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _features(f"{prefix}\x1f{key}", inner, depth + 1)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            numbered = isinstance(inner, int | float) and not isinstance(inner, bool)
            yield from _features(f"{prefix}\x1f{place}" if numbered else prefix, inner, depth + 1)
    elif isinstance(value, bool) or value is None:
        yield f"{prefix}={value}", 1.0
    elif isinstance(value, int | float):
        number = float(min(max(value, -LARGEST), LARGEST))
        if number != 0.0:
            yield prefix, number
    else:
        yield f"{prefix}={value}", 1.0
