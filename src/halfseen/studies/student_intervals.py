"""Means over replications with Student's intervals, the only kind that studies report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.display import Shown
from halfseen.phrases import number
from halfseen.tables import with_error


@dataclass(frozen=True, repr=False)
class MeanInterval(Shown):
    """A mean over replications and half the width of its interval; None for one replication.

    >>> MeanInterval(1551.3, 29.1).text, MeanInterval(12.5, None).text
    ('1,551 ± 29', '12.5')
    """

    mean: float
    half_width: float | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.half_width is not None and abs(self.mean) > self.half_width

    @property
    def text(self) -> str:
        """The mean with the digits that its interval justifies."""
        return with_error(self.mean, self.half_width) if self.half_width else number(self.mean)


def half_widths(errors: Any, count: int, level: float = 0.95, tests: int = 1) -> Any:
    """Return half the widths of Student's intervals of means of `count` independent values.

    Parameters
    ----------
    errors
        Standard errors of the means.
    count
        How many values were averaged, at least 2.
    level
        Confidence of all `tests` intervals together (Bonferroni).

    Examples
    --------
    >>> round(half_widths(1.0, 3), 2), round(half_widths(1.0, 100), 2)
    (4.3, 1.98)
    """
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 1.0 - (1.0 - level) / (2.0 * tests))) * errors


def mean_and_half(values: NDArray[Any]) -> tuple[Any, Any]:
    """Return mean and half of its 95% interval over the first axis; 0 with one replication."""
    mean = values.mean(axis=0, dtype=float)
    if len(values) == 1:
        return mean, np.zeros_like(mean)
    errors = values.std(axis=0, ddof=1, dtype=float) / math.sqrt(len(values))
    return mean, half_widths(errors, len(values))


def mean_interval(values: NDArray[Any], level: float = 0.95, tests: int = 1) -> MeanInterval:
    """Return the mean of one value per replication with its interval.

    Parameters
    ----------
    values
        One value per replication.
    level
        Confidence of all `tests` intervals together (Bonferroni).

    Examples
    --------
    >>> found = mean_interval(np.array([1.0, 2.0, 3.0]))
    >>> found.mean, round(found.half_width, 4)
    (2.0, 2.4841)
    """
    mean = float(values.mean(dtype=float))
    if values.size < 2:
        return MeanInterval(mean, None)
    error = float(values.std(ddof=1, dtype=float)) / math.sqrt(values.size)
    return MeanInterval(mean, half_widths(error, values.size, level, tests))
