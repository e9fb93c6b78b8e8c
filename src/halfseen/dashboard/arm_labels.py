"""Names of arms as charts and tables have room for them."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 20  # characters of a label


def arm_labels(names: Sequence[str]) -> list[str]:
    """Return names, the long ones shortened in the middle, so that no two are the same.

    >>> arm_labels(["red", "x" * 40 + "1", "x" * 40 + "2"])[1:]
    ['xxxxxxxxxxx…xxxxxxx1', 'xxxxxxxxxxx…xxxxxxx2']
    >>> arm_labels(["a" * 60 + "z" * 20, "a" * 50 + "z" * 30])[1]
    'aaaaaaaaaaa…zzzzzzzz (2)'
    """
    half = LONGEST // 2 + 1
    short = [n if len(n) <= LONGEST else f"{n[:half]}…{n[half - LONGEST + 1 :]}" for n in names]
    found: list[str] = []
    taken = {n for n in names if len(n) <= LONGEST}
    for name, label in zip(names, short, strict=True):
        again, unique = 1, label
        while name != unique and unique in taken:
            again += 1
            unique = f"{label} ({again})"
        taken.add(unique)
        found.append(unique)
    return found
