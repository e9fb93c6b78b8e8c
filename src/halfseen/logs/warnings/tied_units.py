"""Whether units that are seen less often have other rewards."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.checks import Vector
from halfseen.logs.counts import Decisions
from halfseen.logs.group_sums import sum_by
from halfseen.logs.mature_rows import mature_sql
from halfseen.logs.maturity import Maturity
from halfseen.logs.option_names import option
from halfseen.logs.queries import filled
from halfseen.logs.warnings.arm_by_arm import FOLLOWED, smallest, two_sided
from halfseen.logs.warnings.earlier_rows import Tie, tie_to_earlier_rows
from halfseen.logs.warnings.log_warning import SURE, Check, LogWarning, judged, unknown
from halfseen.tables import brief, show

ROWS = 2_000_000  # rows that enter the test at most; of each unit all or none
LEAST_UNITS = 8.0  # effective number of units that the test needs
LEAST_UNITS_OF_ARM = 30.0  # and that of one arm
CELL, PERIODS = 50.0, 8  # rows that a cell of arm, context and period should have; periods at most
ALIKE = 0.05  # with a smaller correlation, a unit's rewards say nothing of each other
MATTERS = 0.02  # change of a mean, in standard deviations, from which it matters
PRIOR = 6.0  # added to a unit's number of rows, so that large units do not dominate
LOOKED_FOR = "a tie between a unit’s rewards and how often it is seen"


class Entries(NamedTuple):
    """Counts by unit and cell: rows, rewards seen, and the sum of what was seen.

    Attributes
    ----------
    unit, cell
        Numbers from 0.
    rows, seen, total
        Decisions, rewards seen, and their sum.
    """

    unit: NDArray[Any]
    cell: NDArray[Any]
    rows: Vector
    seen: Vector
    total: Vector


def tie(entries: Entries, by_size: bool = True) -> Tie:
    r"""Test whether a unit's rewards go with how often its other rows are seen.

    .. math:: q_u = \sum_g \frac{(s_{ug} - k_{ug}\mu_{gz})(e_u - 1 + p_g)}{m_u + 6}, \qquad
              z = \frac{\sum_u q_u}{\sqrt{\sum_u q_u^2}}

    with :math:`e_u = \sum_g (k_{ug} - n_{ug} p_g)` and :math:`\mu_{gz}` the mean of what was seen
    in cell g among units of similar size.

    Parameters
    ----------
    entries
        Counts of units with several rows.
    by_size
        Whether to compare rewards among units of similar size only.

    Notes
    -----
    For a row that was seen, :math:`e_u - 1 + p_g` is what the other rows of its unit show. The row
    itself is left out, so that the statistic has mean 0 whatever rewards have to do with unit,
    size, arm or time, unless they go with being seen.
    """
    unit, cell, n, k, s = entries
    size = sum_by(unit, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = sum_by(cell, k) / sum_by(cell, n)
    mean, key = centres(entries, by_size)
    excess = sum_by(unit, k - n * rate[cell])
    parts = (s - k * mean[key]) * (excess[unit] - 1.0 + rate[cell])
    return Tie.of(sum_by(unit, parts) / (size + PRIOR))


def centres(entries: Entries, by_size: bool) -> tuple[Vector, NDArray[Any]]:
    """Return the mean seen in each cell, by size of unit, and which one belongs to each entry."""
    unit, cell, n, k, s = entries
    level = np.floor(np.log2(sum_by(unit, n)))[unit] if by_size else np.zeros(len(unit))
    _, key = np.unique(cell * 64.0 + level, return_inverse=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sum_by(key, s) / sum_by(key, k)
    return np.nan_to_num(mean), key


def look_at_units(
    decisions: Decisions,
    maturity: Maturity | None,
    cut: tuple[float, float] | None,
    inflation: float,
) -> Check:
    """Look for a tie between a unit's rewards and how often it is seen."""
    columns = decisions.columns
    if columns.unit is None or columns.reward is None:
        what = option("unit" if columns.unit is None else "reward")
        return unknown("units-tied", LOOKED_FOR, f"name the column with {what}")
    found = _count_units(decisions, maturity, cut)
    if found is None:
        return unknown("units-tied", LOOKED_FOR, "no unit has two rows, one of them seen")
    entries, arm, squares = found
    name = brief(columns.unit, 40)
    several = sum_by(entries.unit, entries.rows)[entries.unit] > 1.0
    repeated = _of_units(entries, several)
    timed = decisions.bins is not None and decisions.bins.last > decisions.bins.first
    followed = _largest(arm, entries.seen)
    if timed:
        ties = _tie_in_time(decisions, maturity, cut, followed)
    else:
        ties = [tie(repeated), *(_tie_in_arm(entries, arm == each) for each in followed)]
    alike = alikeness(repeated, squares[several])
    if ties[0].units < LEAST_UNITS:
        return unknown("units-tied", LOOKED_FOR, "too few units have several rows")
    kept = [i for i, each in enumerate(ties) if i and each.units >= LEAST_UNITS_OF_ARM]
    ps = [two_sided(each.z / math.sqrt(inflation)) for each in ties]
    p, which = smallest(ps[0], [ps[i] for i in kept])
    if p >= SURE and alike < ALIKE:
        said = f"the rewards of one {name} are unrelated to each other"
        return unknown("units-tied", LOOKED_FOR, said)
    z = ties[0 if which is None else kept[which]].z
    only = None if which is None else followed[kept[which] - 1]
    place, change, moved = _size(entries, arm, squares, only)
    arm_name, mean = _arm(decisions, place)
    direction = "lower" if z > 0.0 else "higher"
    where = "Where" if only is None else f"In {arm_name}, where"
    stops = f" A {name} whose rows stop after an answer looks the same, and then the mean is right."
    timing = f"Name {option('time')} if there is one. "
    warning = LogWarning(
        "units-tied",
        f"{where} a {name} is seen less often, its rewards are {direction}. Counting every"
        f" decision at the average of its {name}, the mean of {arm_name} is"
        f" {show(mean + change)} instead of {show(mean)}.",
        f"That is the whole correction if the unseen rewards of a {name} are like its seen ones;"
        f" if not, the truth can be further away.{'' if timed else stops}",
        f"{'' if timed else timing}Weight by {name}, and ask a random sample of those who did not"
        " answer.",
        {"z": z, "p": p, "change_in_sd": moved, "alikeness": alike},
    )
    not_found = (
        f"rewards of one {name} are alike by {alike:.2f}; near 0 this check would see nothing"
    )
    return judged(
        "units-tied", LOOKED_FOR, p, warning, matters=abs(moved) >= MATTERS, not_found=not_found
    )


def _cells(decisions: Decisions, maturity: Maturity | None) -> tuple[str, str]:
    """Return SQL for the context and the period within which rows of an arm are compared."""
    counts, columns, bins = decisions.counts, decisions.columns, decisions.bins
    per_cell, context = float(counts.rows.sum()) / len(counts), "0"
    if columns.context is not None:
        asked = f"SELECT approx_count_distinct(context) AS kinds FROM {decisions.sql}"
        kinds = int(decisions.log.query(asked)["kinds"][0])
        if per_cell / max(kinds, 1) >= CELL:
            per_cell, context = per_cell / kinds, "hash(context)"
    period = "0"
    if bins is not None and bins.last > bins.first:
        periods = int(np.clip(per_cell / CELL, 1, PERIODS))
        last = bins.last if maturity is None else min(bins.last, maturity.end - maturity.settled)
        width = max((last - bins.first) / periods, 1e-300)
        place = f"floor((time - '{bins.first!r}'::DOUBLE) / '{width!r}'::DOUBLE)"
        period = f"coalesce(least(greatest({place}, 0), {periods - 1}), -1)"
    return context, period


def _some_units(
    decisions: Decisions, maturity: Maturity | None, cut: tuple[float, float] | None
) -> str:
    """Return SQL for the mature rows of all units, of a long log for a part of the units."""
    part = max(1, int(decisions.counts.rows.sum()) // ROWS)
    return (
        f"{mature_sql(decisions, maturity, cut)} WHERE unit IS NOT NULL AND action IS NOT NULL"
        f" AND hash(unit) % {part} = 0"
    )


def _centre(decisions: Decisions) -> str:
    """Return SQL for a value near the mean; taken off the rewards, their squares keep digits."""
    counts = decisions.counts
    mean = float(np.average(np.nan_to_num(counts.mean), weights=counts.seen + 1e-9))
    return f"'{mean!r}'::DOUBLE"


def _of_units(entries: Entries, chosen: NDArray[np.bool_]) -> Entries:
    """Return some of the entries, their units numbered anew."""
    some = Entries(*(part[chosen] for part in entries))
    return some._replace(unit=np.unique(some.unit, return_inverse=True)[1])


def _largest(arm: NDArray[Any], seen: Vector) -> list[Any]:
    """Return the arms with the most rewards seen, as they are hashed."""
    kinds, place = np.unique(arm, return_inverse=True)
    order = np.argsort(-sum_by(place, seen, len(kinds)), kind="stable")
    return list(kinds[order[:FOLLOWED]])


def _tie_in_arm(entries: Entries, chosen: NDArray[np.bool_]) -> Tie:
    """Test the rows of one arm against the other rows that their units have of it."""
    own = _of_units(entries, chosen)
    several = sum_by(own.unit, own.rows)[own.unit] > 1.0
    return tie(_of_units(own, several)) if several.any() else Tie(0.0, 0.0)


def _tie_in_time(
    decisions: Decisions,
    maturity: Maturity | None,
    cut: tuple[float, float] | None,
    followed: list[Any],
) -> list[Tie]:
    """Test every row against the earlier rows of its unit: all of them, then those of some arms."""
    context, period = _cells(decisions, maturity)
    found = decisions.log.query(
        f"SELECT hash(unit) AS unit, time, hash(hash(action), {context}, {period}) AS cell,"
        " hash(action) AS arm,"
        f" reward - {_centre(decisions)} AS reward FROM"
        f" {_some_units(decisions, maturity, cut)} AND time IS NOT NULL ORDER BY unit, time"
    )
    _, cell = np.unique(np.asarray(found["cell"]), return_inverse=True)
    time = np.asarray(found["time"], dtype=float)
    arm = np.asarray(found["arm"])
    return tie_to_earlier_rows(
        np.asarray(found["unit"]),
        time,
        cell,
        filled(found["reward"]),
        [arm == each for each in followed],
    )


def _count_units(
    decisions: Decisions, maturity: Maturity | None, cut: tuple[float, float] | None
) -> tuple[Entries, NDArray[Any], Vector] | None:
    """Return counts of units, the arm of each entry, and sums of squares."""
    context, period = _cells(decisions, maturity)
    centre = _centre(decisions)
    found = decisions.log.query(
        f"SELECT hash(unit) AS unit, hash(action) AS arm, {context} AS context, {period} AS period,"
        f" count(*) AS n, count(reward) AS k, coalesce(sum(reward - {centre}), 0) AS s,"
        f" coalesce(sum((reward - {centre}) * (reward - {centre})), 0) AS ss FROM"
        f" {_some_units(decisions, maturity, cut)} GROUP BY ALL"
    )
    unit, arm, context_of, period_of = (
        np.unique(np.asarray(found[c]), return_inverse=True)[1]
        for c in ("unit", "arm", "context", "period")
    )
    n, k, s, ss = (np.asarray(found[c], dtype=float) for c in ("n", "k", "s", "ss"))
    if not len(n):
        return None
    several = sum_by(unit, n)[unit] > 1.0
    if not several.any() or not k[several].sum() > 0.0:
        return None
    cell = (arm * (context_of.max() + 1) + context_of) * (period_of.max() + 1) + period_of
    _, cell = np.unique(cell, return_inverse=True)
    return Entries(unit, cell, n, k, s), np.asarray(found["arm"]), ss


def alikeness(entries: Entries, squares: Vector) -> float:
    """Return the correlation of two rewards of one unit, given cell and size."""
    unit, _, _, k, s = entries
    mean, key = centres(entries, True)
    total = sum_by(unit, s - k * mean[key])
    own = squares - 2.0 * mean[key] * s + k * mean[key] ** 2
    seen = sum_by(unit, k)
    pairs = float((seen * (seen - 1.0)).sum())
    variance = float(own.sum() / k.sum())
    if not pairs > 0.0 or not variance > 0.0:
        return 0.0
    return float((total**2 - sum_by(unit, own)).sum()) / pairs / variance


def _size(
    entries: Entries, arm: NDArray[Any], squares: Vector, only: Any = None
) -> tuple[Any, float, float]:
    """Return the arm whose mean moves most, by how much, and that in standard deviations.

    Of all arms, or of `only` one.
    The mean with every decision at its unit's average is compared with the mean of what was seen.
    """
    kinds, place = np.unique(arm, return_inverse=True)
    pair = entries.unit.astype(np.int64) * len(kinds) + place
    _, key = np.unique(pair, return_inverse=True)
    n, k, s = (sum_by(key, v) for v in (entries.rows, entries.seen, entries.total))
    of = np.zeros(len(n), dtype=np.int64)
    of[key] = place
    some = k > 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        own = sum_by(of[some], n[some] * s[some] / k[some], len(kinds)) / sum_by(
            of[some], n[some], len(kinds)
        )
        seen = sum_by(of, s, len(kinds)) / sum_by(of, k, len(kinds))
    within = squares.sum() - float(np.nansum(seen**2 * sum_by(of, k, len(kinds))))
    spread = math.sqrt(max(within / float(entries.seen.sum()), 1e-300))
    moved = np.nan_to_num((own - seen) / spread)
    best = int(np.argmax(np.abs(moved) if only is None else kinds == only))
    return kinds[best], float(own[best] - seen[best]), float(moved[best])


def _arm(decisions: Decisions, number: Any) -> tuple[str, float]:
    """Return the arm whose hash is known, in words, and the mean of its rewards seen."""
    found = decisions.log.query(
        f"SELECT any_value(CAST(action AS VARCHAR)) AS name FROM {decisions.sql}"
        f" WHERE hash(action) = {int(number)}"
    )
    name, counts = str(found["name"][0]), decisions.counts
    return f"arm “{brief(name, 40)}”", float(counts.mean[list(counts.names).index(name)])
