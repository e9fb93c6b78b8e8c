"""Numbers as text: alone, with their errors, as percentages, in columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

DIGITS = 4  # significant digits of the middle number of a column


def with_error(value: float, error: float) -> str:
    """Write a value with its error, both to the error's second significant digit.

    >>> with_error(81.234, 4.912), with_error(1234.5, 120.0), with_error(0.51234, 0.00567)
    ('81.2 ± 4.9', '1,234 ± 120', '0.5123 ± 0.0057')
    >>> with_error(3.0, 0.0)
    '3 ± 0'
    """
    if not (math.isfinite(value) and math.isfinite(error) and error > 0.0):
        return f"{show(value)} ± {show(error)}"
    digits = max(0, 1 - math.floor(math.log10(float(f"{error:.1e}"))))
    if digits > 12:
        return f"{show(value)} ± {show(error)}"
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


def show(value: Any) -> str:
    """Format a value: about four significant digits, thousands separated, None as nothing.

    >>> show(12345.678), show(0.00123456), show(3), show(None)
    ('12,346', '0.001235', '3', '')
    """
    if value is None:
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value != value:
            return ""
        return f"{value:,.0f}" if 999.95 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value)


def factor(value: float) -> str:
    """Write a factor with three significant digits, thousands separated.

    >>> factor(1.3796), factor(8e5), factor(0.05)
    ('1.38', '800,000', '0.05')
    """
    return f"{value:.3g}" if abs(value) < 999.5 else show(float(value))


def decimals_of_errors(errors: Sequence[float | None]) -> int | None:
    """Return the decimals that show a column of errors, and what they are errors of.

    The smallest error has two significant digits, but one that is far below the middle one has
    fewer. None where there is nothing to go by.

    >>> decimals_of_errors([33.804, 16.167, 7.247]), decimals_of_errors([0.051, 0.012, 0.0004])
    (1, 4)
    >>> decimals_of_errors([None, 0.0]) is None
    True
    """
    sizes = sorted(e for e in errors if e is not None and math.isfinite(e) and e > 0.0)
    if not sizes:
        return None
    smallest, middle = (
        max(0, 1 - math.floor(math.log10(float(f"{size:.1e}"))))
        for size in (sizes[0], sizes[(len(sizes) - 1) // 2])
    )
    found = min(smallest, middle + 1)
    return found if found <= DIGITS + 2 else None


def aligned(
    values: Sequence[float | None],
    unit: str = "",
    *,
    missing: str = "–",
    decimals: int | None = None,
) -> list[str]:
    """Format a column of numbers with the same number of decimals, on pages as in a terminal.

    The middle number has four significant digits, unless no number of the column needs them.
    Those that would be rounded to 0 are written out.

    Parameters
    ----------
    values
        None, NaN and, unless `missing` is empty, infinite ones are missing.
    unit
        Follows every number.
    missing
        What is written where there is no number.
    decimals
        Their number, if it is known, as from `decimals_of_errors`.

    Examples
    --------
    >>> aligned([47.7, 9.381, 1551.2, None])
    ['47.70', '9.38', '1,551.20', '–']
    >>> aligned([0.5458, 5.233, 1.0], "×")
    ['0.546×', '5.233×', '1.000×']
    >>> aligned([0.9, 0.1, 1e-9])
    ['0.9', '0.1', '1e-09']
    """
    sizes = sorted(abs(v) for v in values if v is not None and math.isfinite(v) and v != 0.0)
    middle = sizes[(len(sizes) - 1) // 2] if sizes else 1.0
    places = min(max(DIGITS - 1 - math.floor(math.log10(middle)), 0), DIGITS + 2)
    if decimals is not None:
        places = decimals
    if sizes and (sizes[-1] >= 1e12 or sizes[-1] < 1e-4):
        places = -1
    least = 0.5 * 10.0**-places

    def fixed(value: float) -> bool:
        return math.isfinite(value) and places >= 0 and (value == 0.0 or abs(value) >= least)

    known = [value for value in values if value is not None and fixed(value)]
    while places > 0 and decimals is None:
        if not all(math.isclose(v, round(v, places - 1), rel_tol=1e-9) for v in known):
            break
        places -= 1
    return [
        missing
        if value is None or value != value or (missing and not math.isfinite(value))
        else (f"{value:,.{places}f}" if fixed(value) else show(float(value))) + unit
        for value in values
    ]


def percent(share: float) -> str:
    """Format a share as a percentage; 0% and 100% only if it is exactly that.

    >>> percent(0.6562), percent(0.0421), percent(1.0), percent(0.9996), percent(1 - 1e-7)
    ('66%', '4.2%', '100%', '99.96%', '99.99999%')
    """
    value = 100.0 * share
    if value in (0.0, 100.0) or 10.0 <= value < 99.5:
        return f"{value:.0f}%"
    if value < 99.5:
        return f"{value:.2g}%"
    places = max(2, -math.floor(math.log10(abs(100.0 - value)) + 1e-6))
    return f"{value:.{places}f}".rstrip("0") + "%"


def level_name(level: float) -> str:
    """Write a confidence level, so that one below 100% never reads as 100%.

    >>> level_name(0.95), level_name(0.999), level_name(0.99999), level_name(1 - 1e-12)
    ('95%', '99.9%', '99.999%', 'over 99.99999%')
    """
    return f"{100 * level:.7g}%" if level < 1.0 - 5e-10 else "over 99.99999%"


def probability_name(probability: float) -> str:
    """Write a probability in per cent, one near 1 as over 99%.

    >>> probability_name(0.97), probability_name(0.9996)
    ('97%', 'over 99%')
    """
    return f"{probability:.0%}" if probability < 0.995 else "over 99%"
