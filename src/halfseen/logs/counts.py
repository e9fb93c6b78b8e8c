"""What a log says about each arm, from one pass over it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.display import Shown
from halfseen.equality import ByValue
from halfseen.errors import InvalidInput
from halfseen.logs import reward_cells
from halfseen.logs.columns import REAL, WHOLE, Columns, WrongType, decisions_sql
from halfseen.logs.option_names import option
from halfseen.logs.queries import filled, identifier, too_large
from halfseen.logs.reward_cells import RewardCells
from halfseen.logs.row_filter import EVERY_ROW, LeftOut, RowFilter, filter_rows
from halfseen.logs.seen_moments import seen_moments
from halfseen.logs.source import Log
from halfseen.logs.time_bins import Bins, find_bins
from halfseen.tables import brief

Whole = NDArray[np.int64]
PEEK, ARMS = 100_000, 1000  # rows looked at, and arms among them, to count by time as well
LEAST_DAYS = 5.0  # days needed to relate shares of zeros to shares seen
WEIGHTS = {
    "mean": "seen",
    "hidden_mean": "hidden",
    "propensity": "propensities",
    "cost": "costs",
}


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Shown, ByValue):
    """Decisions, and what was seen of them, arm by arm.

    Attributes
    ----------
    names
        The arms: numbers in numerical order, other names in alphabetical order.
    rows, seen
        Decisions and rewards seen.
    mean, variance
        Of the rewards seen; NaN where there are too few.
    least, most
        The smallest and largest reward seen of any arm; NaN if there is none.
    hidden, hidden_mean
        Rewards recorded in rows that are marked as not observed.
    contradicting
        Rows marked as observed that have no reward.
    propensity, impossible
        The mean probability of being chosen, and rows in which it was 0 or no probability; NaN and
        0 without one.
    cost
        The mean cost of seeing a reward; NaN without one.
    unnamed
        Rows of the log that name no arm.
    """

    names: tuple[str, ...]
    rows: Whole
    seen: Whole
    mean: Vector
    variance: Vector
    least: float
    most: float
    hidden: Whole
    hidden_mean: Vector
    contradicting: Whole
    propensity: Vector
    impossible: Whole
    cost: Vector
    unnamed: int

    def __len__(self) -> int:
        return len(self.names)

    @property
    def binary(self) -> bool:
        """True if all observed rewards are 0 or 1 (then E[x^2] = E[x])."""
        some = self.seen > 0
        if not some.any() or np.isnan(self.mean[some]).any():
            return False
        if self.least < 0.0 or self.most > 1.0:
            return False
        k, mean = self.seen[some], self.mean[some]
        squares = np.where(k > 1, self.variance[some] * (k - 1), 0.0)
        fair = mean * (1.0 - mean) * k
        return bool((np.abs(squares - fair) <= 1e-12 + 1e-6 * fair).all())

    @cached_property
    def _names(self) -> NDArray[np.object_]:
        return np.array(self.names, dtype=object)

    def named(self, chosen: Any) -> tuple[str, ...]:
        """Return the names of some of the arms."""
        return tuple(self._names[chosen].tolist())

    def part(self, chosen: Any) -> Counts:
        """Return some of the arms."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {k: v[chosen] for k, v in values.items() if isinstance(v, np.ndarray)}
        return replace(self, names=self.named(chosen), **arrays)


@dataclass(frozen=True)
class Binned:
    """Decisions, rewards seen and zeros among them, by arm and place in time: one entry a pair.

    Zeros are counted where there are enough days for `zeros-follow` to look at them.
    """

    arm: Whole
    place: Whole
    rows: Whole
    seen: Whole
    zeros: Whole


@dataclass(frozen=True)
class Decisions:
    """A log with its columns named: SQL for its rows in one form, and its counts.

    Attributes
    ----------
    bins
        Its time, if it has one.
    binned
        Counts by arm and bin, unless there are very many arms.
    cells
        The rewards of a long log in cells, if they were met on the way.
    left_out
        Rows that a filter left out, if there is one.
    """

    log: Log
    columns: Columns
    sql: str
    counts: Counts
    bins: Bins | None
    binned: Binned | None
    cells: RewardCells | None = None
    left_out: LeftOut | None = None


def read_decisions(log: Log, columns: Columns, rows: RowFilter = EVERY_ROW) -> Decisions:
    """Count decisions and rewards seen, arm by arm, in one pass.

    Parameters
    ----------
    log
        An open log.
    columns
        Which column means what.
    rows
        Which rows to count.

    Returns
    -------
    Decisions
        The counts, and SQL for further queries of the log.

    Examples
    --------
    >>> from halfseen.logs.source import open_log
    >>> log = open_log({"offer": [1, 1, 2], "sold": [1.0, None, 0.0]})
    >>> read_decisions(log, Columns("offer", "sold")).counts.seen.tolist()
    [1, 1]
    """
    import duckdb

    columns.check(log)
    try:
        return _filtered(log, columns, rows)
    except WrongType:
        if log.plain is None:
            raise
        return _filtered(log.as_text(), columns, rows)
    except (duckdb.ConversionException, duckdb.TypeMismatchException) as error:
        if log.plain is None:
            raise InvalidInput(
                "log",
                "must keep to one type in each column",
                str(error).splitlines()[0],
                "Correct those cells or read the log as text.",
            )
        return _filtered(log.as_text(), columns, rows)


def _filtered(log: Log, columns: Columns, rows: RowFilter) -> Decisions:
    narrow, left_out = filter_rows(log, columns, rows)
    return replace(_counted(narrow, columns), left_out=left_out)


def _counted(log: Log, columns: Columns) -> Decisions:
    bins = find_bins(log, columns)
    sql, bad = decisions_sql(log, columns, None if bins is None else bins.sql)
    ends = _known_ends(log, columns)
    few_arms, in_cells = _peek(log, sql, ends) if bins is not None or ends else (False, False)
    by_time = bins is not None and few_arms
    ask = {"rows": "count(*)"}
    if by_time or not in_cells:
        ask["seen"] = "count(reward)" if columns.reward else "count(*) FILTER (seen)"
    if columns.reward and not in_cells:
        ask |= {"mean": "avg(reward)", "variance": "var_samp(reward)"}
    if columns.reward and ends is None:
        ask |= {"least": "min(reward)", "most": "max(reward)"}
    if columns.reward and by_time and bins is not None and _zeros_matter(bins, ends):
        ask["zeros"] = "count(*) FILTER (reward = 0)"
    if columns.reward and columns.observed:
        ask |= {
            "hidden": "count(hidden)",
            "hidden_mean": "avg(hidden)",
            "contradicting": "count(*) FILTER (contradicts)",
        }
    if columns.propensity:
        ask |= {
            "propensity": "avg(propensity)",
            "propensities": "count(propensity)",
            "impossible": "count(*) FILTER (propensity <= 0 OR propensity > 1)",
        }
    if columns.cost:
        ask |= {"cost": "avg(cost)", "costs": "count(cost)"}
    ask |= {f"bad_{i}": f"count(*) FILTER (bad_{i})" for i in range(len(bad))}
    asked = ", ".join(f"{what} AS {name}" for name, what in ask.items())
    place = "bin" if by_time else "0"
    found = log.query(
        f"SELECT CAST(action AS VARCHAR) AS name, dense_rank() OVER (ORDER BY action) - 1 AS arm,"
        f" * EXCLUDE (action) FROM (SELECT action, {place} AS bin, {asked} FROM {sql}"
        " GROUP BY ALL) ORDER BY arm, bin"
    )
    for i, (field, column, wanted) in enumerate(bad):
        if found[f"bad_{i}"].sum():
            raise InvalidInput(
                field,
                f"must hold {wanted} or nothing",
                f"{int(found[f'bad_{i}'].sum()):,} other cells in column {column}",
                _hint(log, column, times=wanted == "times"),
            )
    counts = _counts(log.name, _merged(found))
    if ends is not None:
        counts = _with_ends(counts, log, sql, ends)
    if np.isinf([counts.least, counts.most]).any():
        raise too_large(log.name)
    cells = None
    if in_cells:
        mean, variance, seen, cells = seen_moments(
            log, sql, len(counts), counts.seen if by_time else None
        )
        counts = replace(counts, mean=mean, variance=variance, seen=seen)
    if np.isinf(counts.variance).any():
        raise too_large(log.name)
    return Decisions(log, columns, sql, counts, bins, _binned(found) if by_time else None, cells)


def _known_ends(log: Log, columns: Columns) -> tuple[float, float] | None:
    """Return the smallest and largest reward where they need no reading: NaN is above all."""
    if not log.indexed or columns.reward is None or columns.observed is not None:
        return None
    if log.columns[columns.reward] not in (*REAL, *WHOLE):
        return None
    raw = identifier(columns.reward)
    found = log.query(f"SELECT min({raw}) AS low, max({raw}) AS high FROM {log.relation}")
    low, high = float(filled(found["low"])[0]), float(filled(found["high"])[0])
    return None if np.isnan(low + high) else (low, high)


def _with_ends(counts: Counts, log: Log, sql: str, ends: tuple[float, float]) -> Counts:
    if counts.unnamed:  # their rewards do not count
        found = log.query(
            f"SELECT min(reward) AS low, max(reward) AS high FROM {sql} WHERE action IS NOT NULL"
        )
        ends = float(filled(found["low"])[0]), float(filled(found["high"])[0])
    return replace(counts, least=ends[0], most=ends[1])


def _zeros_matter(bins: Bins, ends: tuple[float, float] | None) -> bool:
    """Return whether there can be zeros, on enough days for a test."""
    enough = not bins.days or bins.days >= LEAST_DAYS
    return enough and (ends is None or ends[0] <= 0.0 <= ends[1])


def _hint(log: Log, column: str, *, times: bool) -> str:
    """Return the fix for cells that cannot be read."""
    cell = f"trim(CAST({identifier(column)} AS VARCHAR))"
    if times:
        unread = f"{cell} <> '' AND TRY_CAST({cell} AS TIMESTAMP) IS NULL"
        head = log.query(f"SELECT {cell} AS cell FROM {log.relation} WHERE {unread} LIMIT 1")
        first = f" instead of {brief(str(head['cell'][0]), 40)!r}" if len(head["cell"]) else ""
        return f"Write times as 2026-01-31 13:00:00{first}, and leave unknown ones empty."
    comma = f"regexp_full_match({cell}, '[+-]?[0-9.]*,[0-9]+')"
    found = log.query(f"SELECT count(*) AS n FROM {log.relation} WHERE {comma}")["n"][0]
    if found and log.decimal == ".":
        return f"If 0,5 means a half in them, say {option('decimal', ',')}."
    return "Correct them, or empty them where they stand for missing."


def _peek(log: Log, sql: str, ends: tuple[float, float] | None) -> tuple[bool, bool]:
    """Decide from the first rows how to count: by arm and time at once, and rewards in cells.

    The former is no more work than by arm if arms are few. The latter gives means and variances as
    well, and is needed for the bounds of long logs whose rewards are not just 0 and 1.
    """
    head = f"(SELECT action, reward FROM {sql} LIMIT {PEEK})"
    found = log.query(
        "SELECT count(DISTINCT action) AS arms, coalesce(bool_or(reward NOT IN (0, 1)), false)"
        f" AS real FROM {head}"
    )
    few = int(found["arms"][0]) <= ARMS
    if not few or ends is None or not found["real"][0]:
        return few, False
    largest = max(-ends[0], ends[1])
    rows = int(log.query(f"SELECT count(*) AS n FROM {log.relation}")["n"][0])
    return few, bool(rows > reward_cells.EXACT and largest <= reward_cells.LARGEST)


def _binned(found: dict[str, Any]) -> Binned:
    usable = ~(np.ma.getmaskarray(found["bin"]) | np.ma.getmaskarray(found["name"]))
    names = ("arm", "bin", "rows", "seen", "zeros")
    columns = (np.asarray(found.get(name, np.zeros(len(usable))))[usable] for name in names)
    return Binned(*(column.astype(np.int64) for column in columns))


def _merged(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a query found by arm and bin, by arm.

    Squares about the mean of several bins are those about each bin's own, and of its mean.
    """
    starts = np.flatnonzero(np.diff(found["arm"], prepend=-1))
    sizes = np.diff(starts, append=len(found["arm"]))
    if not len(starts):
        return found

    def total(values: Any) -> Vector:
        return np.add.reduceat(values, starts)

    merged: dict[str, Any] = {"name": found["name"][starts]}
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for name in found.keys() - {"name", "arm", "bin", "variance"}:
            values = filled(found[name])
            if name in WEIGHTS:
                weight = filled(found[WEIGHTS[name]])
                parts = np.where(weight > 0.0, weight * values, 0.0)
                merged[name] = total(parts) / total(weight)
            elif name in ("least", "most"):
                ends = np.fmin if name == "least" else np.fmax
                merged[name] = ends.reduceat(values, starts)
            else:
                merged[name] = total(np.ma.filled(found[name], 0))
        if "variance" in found:
            n, away = filled(found["seen"]), filled(found["mean"]) - merged["mean"].repeat(sizes)
            within = np.where(n > 1.0, (n - 1.0) * filled(found["variance"]), 0.0)
            spread = total(within + np.where(n > 0.0, n * away**2, 0.0))
            free = total(n) - 1.0
            merged["variance"] = np.where(free > 0.0, spread / free, np.nan)
    return merged


def _counts(log: str, found: dict[str, Any]) -> Counts:
    missing = np.ma.getmaskarray(found["name"])
    unnamed = int(np.asarray(found["rows"])[missing].sum())
    names = tuple(np.asarray(found["name"])[~missing].tolist())
    if not names:
        raise InvalidInput(
            "log",
            "must hold at least one row with an action",
            f"{log}, {unnamed} rows without" if unnamed else log,
            "Give a log of decisions, and the column that names what was chosen.",
        )

    def whole(name: str) -> Whole:
        values = found.get(name, np.zeros(len(missing)))
        return np.asarray(np.ma.filled(values, 0))[~missing].astype(np.int64)

    def real(name: str) -> Vector:
        return filled(found.get(name, np.full(len(missing), np.nan)))[~missing]

    return Counts(
        names=names,
        unnamed=unnamed,
        rows=whole("rows"),
        seen=whole("seen"),
        mean=real("mean"),
        variance=real("variance"),
        least=float(np.fmin.reduce(real("least"))),
        most=float(np.fmax.reduce(real("most"))),
        hidden=whole("hidden"),
        hidden_mean=real("hidden_mean"),
        contradicting=whole("contradicting"),
        propensity=real("propensity"),
        impossible=whole("impossible"),
        cost=real("cost"),
    )
