"""Duplicate rows of a log, as opposed to decisions that only look alike."""

from __future__ import annotations

import numpy as np

from halfseen.logs.columns import is_dated, number_sql, time_sql
from halfseen.logs.counts import Decisions
from halfseen.logs.option_names import option
from halfseen.logs.queries import filled, identifier
from halfseen.logs.source import Log
from halfseen.logs.time_bins import BINS, DAY
from halfseen.logs.warnings.log_warning import SURE, Check, LogWarning, unknown
from halfseen.logs.warnings.sampled_rewards import Rewards, rewards_of

SAMPLE = 300_000  # rows of a long log that are examined; of rows alike, all or none
FAIR = 20_000  # distinct decisions among them from which their rewards are a fair sample
LEAST = 1e-4  # smaller shares of duplicates are ignored
MARGIN = 3.0  # ratio of odds up to which an excess is attributed to chance
OF_UNITS = 30  # pairs of the same unit from which they tell how much alike its outcomes are
USUAL = 0.05  # outcomes that agree this often by chance say nothing where units may be alike
CROWD = 5.0  # average number of rows alike but for the outcome from which the test says nothing
ROWS_PER_SPAN = 100
LOOKED_FOR = "rows that are in the log twice"
OUTCOME = ("reward", "observed", "feedback_time")


def look_for_repeats(decisions: Decisions) -> tuple[Check, Rewards | None]:
    """Look for duplicate rows; also return the rewards read, where they can be reused.

    With an id, every repeated one is a duplicate. Without an id, two decisions can be identical by
    chance. So the test takes the pairs of rows that agree in everything but the outcome, and
    compares how often their outcomes agree too with how often those of other pairs of the same arm
    and period do, or of the same arm and unit if that is more often; the outcomes of a row that was
    loaded twice always agree. Without times, all pairs of a unit agree in everything but the
    outcome, and only outcomes that hardly ever agree by chance are judged. Columns of unknown
    meaning are counted once as part of the decision and once as part of the outcome, and both tests
    must reject. Of a long log, the rewards of the rows examined are returned if they are a fair
    sample, which saves another pass over the log.
    """
    columns = decisions.columns
    if columns.id is not None:
        return _checked(_repeated_ids(decisions, columns.id)), None
    if not (columns.time or columns.unit or columns.context or columns.features):
        return unknown("duplicates", LOOKED_FOR, _tell_apart()), None
    share, looked, why_not, rewards = _repeated_rows(decisions)
    if why_not:
        return unknown("duplicates", LOOKED_FOR, f"{why_not}; {_tell_apart()}"), rewards
    if share < LEAST:
        return _checked(None), rewards
    warning = LogWarning(
        "duplicates",
        f"{share:.2%} of the rows repeat another row in every column, many more than chance"
        " would make.",
        EFFECT,
        f"Remove them, or name a column with {option('id')} that tells decisions apart.",
        {"share": share, "rows_looked_at": looked},
    )
    return _checked(warning), rewards


def _tell_apart() -> str:
    return (
        f"name a column that tells decisions apart with {option('id')}, or exact times with"
        f" {option('time')}"
    )


def _checked(warning: LogWarning | None) -> Check:
    if warning is None:
        return Check("duplicates", LOOKED_FOR, "not found", "")
    return Check("duplicates", LOOKED_FOR, "found", warning.finding, warning=warning)


EFFECT = "Counted twice, they make every interval too narrow and their arms too heavy."


def _repeated_ids(decisions: Decisions, name: str) -> LogWarning | None:
    log, key = decisions.log, f"hash({identifier(name)})"
    chosen = f"{identifier(name)} IS NOT NULL AND {key} & {_modulus(decisions) - 1} = 0"
    found = log.query(
        "SELECT coalesce(sum(n), 0) AS n, count(*) AS ids, coalesce(sum(kinds), 0) AS kinds FROM"
        f" (SELECT count(*) AS n, count(DISTINCT {_hash(log, list(log.columns))}) AS kinds FROM"
        f" {log.relation} WHERE {chosen} GROUP BY {identifier(name)})"
    )
    n, ids, kinds = (int(found[column][0]) for column in ("n", "ids", "kinds"))
    if n == ids:
        return None
    share, differ = (n - ids) / n, kinds - ids
    also = "" if not differ else f", {differ / (n - ids):.0%} of them with other values"
    return LogWarning(
        "duplicates",
        f"{n - ids:,} of {n:,} rows looked at repeat the {name} of another{also}.",
        EFFECT,
        f"Remove them, unless {name} may stand in several rows: then name it with"
        f" {option('unit')}.",
        {"share": share, "rows_looked_at": n, "differ": differ},
    )


def _repeated_rows(decisions: Decisions) -> tuple[float, int, str, Rewards | None]:
    """Return the share of rows that repeat another beyond chance, and how many were examined.

    Then why it cannot be told, empty if it can, and the rewards of those rows.
    """
    log, columns = decisions.log, decisions.columns
    roles = {name: role for role, name in vars(columns).items() if isinstance(name, str)}
    roles |= dict.fromkeys(columns.features, "features")
    decided = [name for name in log.columns if name in roles and roles[name] not in OUTCOME]
    outcome = [name for name in log.columns if roles.get(name) in OUTCOME]
    other = [name for name in log.columns if name not in roles]
    modulus, bin_, places, coarse = _modulus(decisions), "0", 1, "false"
    if columns.time is not None and decisions.bins is not None:
        time = time_sql(log, "time", columns.time)[0]
        bin_, places = decisions.bins.sql, decisions.bins.places
        if is_dated(log, columns.time) and not (columns.unit or columns.features or other):
            coarse = f"coalesce({time} % {DAY} = 0, true)"
    value = "CAST(NULL AS DOUBLE)"
    if columns.reward is not None and columns.observed is None and columns.action is not None:
        value = number_sql(log, "reward", columns.reward)[0]
    rows = int(decisions.counts.rows.sum()) // modulus
    spans = min(max(rows // ROWS_PER_SPAN, 1), BINS)
    picked = f" WHERE {_hash(log, decided)} & {modulus - 1} = 0" if modulus > 1 else ""
    log.query(
        f"CREATE OR REPLACE TEMP TABLE halfseen_rows AS SELECT {_hash(log, decided)} AS decided,"
        f" {_hash(log, outcome)} AS outcome, {_hash(log, other)} AS other, {coarse} AS coarse,"
        f" {_hash(log, [columns.action] if columns.action else [])} AS arm,"
        f" {_hash(log, [columns.unit] if columns.unit else [])} AS unit,"
        f" {bin_} * {spans} // {places} AS span, {value} AS value FROM"
        f" {log.relation}{picked}"
    )
    try:
        told = _judged(log, bool(other), bool(columns.unit), bool(columns.time))
        return *told, _rewards(log) if modulus > 1 else None
    finally:
        log.query("DROP TABLE halfseen_rows")


def _rewards(log: Log) -> Rewards | None:
    """Return the rewards of the sampled rows, unless whole days or groups were sampled."""
    kinds = log.query("SELECT count(DISTINCT decided) AS kinds FROM halfseen_rows")["kinds"]
    if int(kinds[0]) < FAIR:
        return None
    found = log.query("SELECT arm, value FROM halfseen_rows WHERE value IS NOT NULL")
    return (
        rewards_of(np.asarray(found["arm"]), filled(found["value"])) if len(found["arm"]) else None
    )


def _judged(log: Log, others: bool, units: bool, timed: bool) -> tuple[float, int, str]:
    """Test the rows that were sampled, which may have other columns, units and times.

    Return the share of duplicates, the rows looked at, and why it cannot be told, else nothing.
    """
    looked, kinds, alike = _pairs(log, "decided, outcome, other")
    if looked == kinds:
        return 0.0, looked, ""
    if looked > CROWD * _pairs(log, "decided, other")[1]:
        return 0.0, looked, "many rows are alike in everything but the outcome"
    days = log.query("SELECT coalesce(bool_and(coarse), true) AS only FROM halfseen_rows")["only"]
    if days[0]:
        return 0.0, looked, "times in whole days do not tell decisions apart"
    excess = _excess(log, "decided, other", "outcome", alike, units, timed)
    if others and excess is not None:
        second = _excess(log, "decided", "outcome, other", alike, units, timed)
        excess = None if second is None else min(excess, second)
    if excess is None:
        return 0.0, looked, "outcomes have few values, so that different decisions look alike"
    return (looked - kinds) / looked * excess, looked, ""


def _excess(
    log: Log, decided: str, outcome: str, alike: float, units: bool, timed: bool
) -> float | None:
    """Return the fraction of identical pairs of rows that chance does not explain.

    Of p pairs alike in what was decided a part c would be alike in the outcome if they were
    different decisions: as many as of pairs of the same arm and span that differ in the former, or
    of the same arm and unit. None if that cannot be told, or is nearly all of them.
    """
    from scipy.special import betainc

    looked, kinds, pairs = _pairs(log, decided)
    near = _pairs(log, "arm, span")[2] - pairs
    if near <= 0.0:
        return None
    chance = max(_pairs(log, f"arm, span, {outcome}")[2] - alike, 0.0) / near
    if units:
        own = _pairs(log, "arm, unit")[2] - pairs
        if own >= OF_UNITS:
            agree = _pairs(log, f"arm, unit, {outcome}")[2] - alike
            chance = max(chance, agree / own)
        elif not timed and chance > USUAL:
            return None
    bound = MARGIN * chance / (1.0 + (MARGIN - 1.0) * chance)
    if bound >= 1.0:
        return None
    size = min(1.0, 2.0 * (looked - kinds) / pairs)  # many pairs of few rows are not independent
    luck = betainc(alike * size, (pairs - alike) * size + 1.0, bound)
    if alike <= bound * pairs or luck >= SURE:
        return 0.0
    return 1.0 - chance / (1.0 - chance) * (pairs - alike) / alike


def _pairs(log: Log, keys: str) -> tuple[int, int, float]:
    """Return the rows looked at, the kinds of them, and the pairs of the same kind."""
    found = log.query(
        "SELECT coalesce(sum(n), 0) AS n, count(*) AS kinds, coalesce(sum(n * (n - 1.0) / 2), 0)"
        f" AS pairs FROM (SELECT count(*) AS n FROM halfseen_rows GROUP BY {keys})"
    )
    return int(found["n"][0]), int(found["kinds"][0]), float(found["pairs"][0])


def _hash(log: Log, names: list[str]) -> str:
    return f"hash({', '.join(map(identifier, names))})" if names else "0"


def _modulus(decisions: Decisions) -> int:
    """Return a power of two, which divides faster, that leaves the sample or up to twice it."""
    return 1 << max(int(decisions.counts.rows.sum()) // SAMPLE, 1).bit_length() - 1
