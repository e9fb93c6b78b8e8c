"""Numbers and lists of them in sentences."""

from __future__ import annotations

from collections.abc import Sequence

LISTED = 8  # longer lists of numbers are given by their range
COORDINATES = 6  # longer vectors are cut off


def number(value: float) -> str:
    """Write a number for a sentence: three or four digits, thousands marked.

    >>> number(1551.3), number(296.43), number(5.233), number(0.0), number(0.00012)
    ('1,551', '296', '5.23', '0', '0.00012')
    """
    if value == 0.0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        return f"{value:.2g}"
    return f"{value:,.0f}" if size >= 100 else f"{value:.3g}"


def values_in_words(values: Sequence[float]) -> str:
    """List numbers, or their range where there are many.

    >>> values_in_words([0.5, 0.5, 0.5]), values_in_words([0.1, 0.9])
    ('0.5', '0.1, 0.9')
    >>> values_in_words([i / 100 for i in range(1, 100)])
    'from 0.01 to 0.99'
    """
    if min(values) == max(values):
        return f"{values[0]:.4g}"
    if len(values) <= LISTED:
        return ", ".join(f"{value:.4g}" for value in values)
    return f"from {number(min(values))} to {number(max(values))}"


def signed(value: float) -> str:
    """Write a number of three digits with a minus sign.

    >>> signed(-0.25)
    '−0.25'
    """
    return f"{value:.3g}".replace("-", "−")


def vector_in_words(values: Sequence[float]) -> str:
    """Write a vector.

    >>> vector_in_words([0.6, -0.2]), vector_in_words([0.1] * 9)
    ('(0.6, −0.2)', '(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, …)')
    """
    shown = [signed(value) for value in values[:COORDINATES]]
    return f"({', '.join(shown + (['…'] if len(values) > COORDINATES else []))})"


def joined(names: Sequence[str], word: str, most: int = 3) -> str:
    """Join names into a phrase; of more than `most` only the first is named.

    >>> joined(["a"], "or"), joined(["a", "b", "c"], "or"), joined("abcde", "and")
    ('a', 'a, b or c', 'a and 4 others')
    >>> joined(["a", "a, late", "b"], "or")  # a comma would not tell where a name ends
    'a or a, late or b'
    """
    if len(names) > most:
        return f"{names[0]} {word} {len(names) - 1:,} others"
    if len(names) == 1 or any("," in name for name in names):
        return f" {word} ".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def counted(noun: str, count: int) -> str:
    """Write a count with its noun, in the plural if needed.

    >>> counted("policy", 1), counted("policy", 3), counted("round", 20000)
    ('1 policy', '3 policies', '20,000 rounds')
    """
    plural = {"policy": "policies"}.get(noun, f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"
