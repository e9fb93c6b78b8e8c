"""Short labels of arms for charts and tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

LONGEST = 20  # characters of a label
HEAD = 7  # of which show the beginning of a name, where similar names differ further on


def arm_labels(names: Sequence[str]) -> list[str]:
    """Return labels of names, of at most 20 characters, which differ where the names do.

    A long name is cut in the middle; those that would then look alike are cut so that the part in
    which they differ is shown.

    >>> arm_labels(["red", "x" * 40 + "1", "x" * 40 + "2"])[1:]
    ['xxxxxxxxxxx…xxxxxxx1', 'xxxxxxxxxxx…xxxxxxx2']
    >>> arm_labels([f"banner number {k} with a long name" for k in (1, 2)])
    ['banner …1 with a lo…', 'banner …2 with a lo…']
    """
    labels = {name: name for name in names if len(name) <= LONGEST}
    half = LONGEST // 2 + 1
    cut = {n: f"{n[:half]}…{n[half - LONGEST + 1 :]}" for n in names if n not in labels}
    labels |= _told_apart(cut)
    found: list[str] = []
    taken = {name for name in names if labels[name] == name}
    for name in names:
        again, unique = 1, labels[name]
        while name != unique and unique in taken:
            again += 1
            end = f" ({again})"
            unique = labels[name][: LONGEST - len(end)] + end
        taken.add(unique)
        found.append(unique)
    return found


def _told_apart(cut: dict[str, str]) -> dict[str, str]:
    """Return labels by name, in which names with the same label show where they differ."""
    alike = defaultdict(list)
    for name, label in cut.items():
        alike[label].append(name)
    found = {}
    for label, names in alike.items():
        if len(names) == 1:
            found[names[0]] = label
            continue
        low, high = min(names), max(names)  # a prefix of both is a prefix of all
        pairs = enumerate(zip(low, high, strict=False))
        first = next((place for place, (a, b) in pairs if a != b), len(low))
        again = {name: _from(name, first) for name in names}
        found |= again if set(again.values()) == {label} else _told_apart(again)
    return found


def _from(name: str, place: int) -> str:
    """Return how a name begins and what it is at a place, to its end if that is near."""
    room = LONGEST - HEAD - 1
    start = min(place, len(name) - room)
    rest = name[start:] if len(name) - start <= room else f"{name[start : start + room - 1]}…"
    return f"{name[:HEAD]}…{rest}"
