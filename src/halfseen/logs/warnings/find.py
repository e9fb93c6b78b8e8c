"""What in a log would make its conclusions wrong: what it would do, and what to do about it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from halfseen.checks import Vector
from halfseen.logs.columns import is_dated
from halfseen.logs.counts import Counts, Decisions
from halfseen.logs.drift import Course
from halfseen.logs.source import filled
from halfseen.logs.warnings.log_warning import SURE, Caution
from halfseen.logs.warnings.repeated_rows import duplicates
from halfseen.studies.result import Z95
from halfseen.tables import listed, show

FEW = 10


def cautions(decisions: Decisions, courses: Sequence[Course]) -> tuple[Caution, ...]:
    """Return everything about a log that its reader must know, the gravest first."""
    found = [
        *reward_decides(decisions),
        *never_seen(decisions.counts),
        *imputed_zeros(decisions),
        *never_chosen(decisions.counts),
        *few_rows(decisions.counts),
        *changes(courses, _dated(decisions)),
        *depends_on_context(decisions),
        *duplicates(decisions),
        *untidy(decisions.counts),
    ]
    return tuple(found)


def never_seen(counts: Counts) -> list[Caution]:
    """Warn of arms whose reward was never seen."""
    arms = [counts.names[i] for i in np.flatnonzero(counts.seen == 0)]
    if not arms:
        return []
    return [
        Caution(
            "never-seen",
            f"{_arms(len(arms))} played but never seen: {listed(arms)}.",
            "Nothing can be learned about them, the effective dimension has no upper end, and the"
            " rates used for them are borrowed from the other arms.",
            "Collect some of their feedback, or leave them out.",
            {"arms": len(arms), "rows": int(counts.rows[counts.seen == 0].sum())},
        )
    ]


def few_rows(counts: Counts) -> list[Caution]:
    """Warn of arms seen so seldom that their 1/p is little more than a guess."""
    rare = (counts.seen > 0) & (counts.seen < FEW) & (counts.seen < counts.rows)
    arms = [counts.names[i] for i in np.flatnonzero(rare)]
    if not arms:
        return []
    return [
        Caution(
            "few-seen",
            f"{_arms(len(arms))} seen fewer than {FEW} times: {listed(arms)}.",
            "1/p of such an arm is uncertain by a factor, so the effective dimension is too.",
            "Read its interval, not its value, or wait for more rows.",
            {"arms": len(arms)},
        )
    ]


def never_chosen(counts: Counts) -> list[Caution]:
    """Warn of rows that say their arm could not have been chosen."""
    arms = [counts.names[i] for i in np.flatnonzero(counts.impossible)]
    if not arms:
        return []
    rows = int(counts.impossible.sum())
    return [
        Caution(
            "propensity-zero",
            f"{rows:,} rows have propensity 0, less or above 1, of {_arms(len(arms), '')}:"
            f" {listed(arms)}.",
            "An arm that is chosen with probability 0 cannot appear in a log: the propensities are"
            " wrong, and so is anything weighted by their inverse.",
            "Record the propensity at the moment of choosing, or leave the column out.",
            {"rows": rows, "arms": len(arms)},
        )
    ]


def imputed_zeros(decisions: Decisions) -> list[Caution]:
    """Warn of zeros that look like missing values that were filled in."""
    counts = decisions.counts
    zeros, seen = int(counts.zeros.sum()), int(counts.seen.sum())
    if zeros == 0:
        return []
    remedy = "Find out what writes the 0, and leave the reward empty where nobody answered."
    if counts.binary:
        if seen < counts.rows.sum():
            return []
        return [
            Caution(
                "zeros-may-be-missing",
                "Every row has a reward, and it is 0 or 1.",
                "If 0 also stands for no answer, every rate here is wrong (it says 100%), and a"
                " bandit fed with this log avoids the arms that are seldom seen.",
                remedy,
                {"zeros": zeros, "seen": seen},
            )
        ]
    if zeros < 0.01 * seen:
        return []
    found = decisions.log.query(
        f"SELECT approx_count_distinct(reward) AS kinds FROM {decisions.sql}"
    )
    modulus = max(1, int(found["kinds"][0]) // 100_000)
    common = decisions.log.query(
        f"SELECT count(*) AS times FROM {decisions.sql} WHERE reward <> 0"
        f" AND hash(reward) % {modulus} = 0 GROUP BY reward ORDER BY times DESC LIMIT 1"
    )["times"]
    second = int(common[0]) if len(common) else 0
    excess = (zeros - second) / math.sqrt(zeros + second)
    if excess < 4.0 or zeros < 3 * second or int(found["kinds"][0]) < 5:
        return []
    return [
        Caution(
            "zeros-look-imputed",
            f"{zeros:,} of {seen:,} rewards are exactly 0, {show(zeros / max(second, 1))} times as"
            " many as of any other value.",
            "If they were written in place of missing ones, the rates here are too high, the means"
            " too low, and arms that are seldom seen look bad for no reason.",
            remedy + " If 0 really is an outcome, as with sales, this is no problem.",
            {"zeros": zeros, "seen": seen, "next": second},
        )
    ]


def reward_decides(decisions: Decisions) -> list[Caution]:
    """Warn where it can be seen that what goes missing depends on the reward."""
    found = []
    for kind, how, difference, error in (
        ("hidden", "rewards in rows marked as not observed", *_hidden(decisions)),
        ("late", "rewards that come late", *_late(decisions)),
        ("repeated", "units that also have missing rows", *_repeated(decisions)),
    ):
        if not error > 0.0 or _two_sided(difference / error) >= SURE:
            continue
        unit = " standard deviations per decade of delay" if kind == "late" else " on average"
        found.append(
            Caution(
                f"depends-on-reward-{kind}",
                f"Where it can be checked, {how} differ from the others by {difference:+.3g} ±"
                f" {Z95 * error:.2g}{unit}.",
                "What goes missing then depends on the reward, and no mean, regret or bound"
                " computed from what was seen holds.",
                "Collect a random sample of the missing rewards, and read the sensitivity analysis"
                " meanwhile.",
                {"difference": difference, "standard_error": error},
            )
        )
    return found


def _hidden(decisions: Decisions) -> tuple[float, float]:
    """Return how rewards marked as missing differ from seen ones of the same arm."""
    counts = decisions.counts
    usable = (counts.hidden >= 2) & (counts.seen >= 2)
    if not usable.any():
        return 0.0, 0.0
    counts = counts.part(usable)
    variance = counts.variance * (1.0 / counts.hidden + 1.0 / counts.seen)
    return _combined(counts.hidden_mean - counts.mean, variance)


def _late(decisions: Decisions) -> tuple[float, float]:
    """Return the slope of standardised reward on log delay within arms."""
    columns = decisions.columns
    if columns.time is None or columns.feedback_time is None or columns.reward is None:
        return 0.0, 0.0
    found = decisions.log.query(
        "SELECT corr(reward, delay) AS r, stddev_samp(delay) AS s, count(*) AS n FROM"
        f" (SELECT action, reward, log10(feedback_time - time) AS delay FROM {decisions.sql}"
        " WHERE seen AND feedback_time > time) GROUP BY action HAVING count(*) >= 10"
    )
    r, spread, n = (filled(found[x]) for x in "rsn")
    usable = ~np.isnan(r) & (spread > 0.0) & (np.abs(r) < 1.0)
    if not usable.any():
        return 0.0, 0.0
    r, spread, n = r[usable], spread[usable], n[usable]
    return _combined(r / spread, (1.0 - r**2) / (n - 2.0) / spread**2)


def _repeated(decisions: Decisions) -> tuple[float, float]:
    """Return how the rewards of units with missing rows differ from those of complete units."""
    if decisions.columns.unit is None or decisions.columns.reward is None:
        return 0.0, 0.0
    found = decisions.log.query(
        "SELECT gone, avg(m) AS mean, var_samp(m) AS variance, count(*) AS n FROM"
        f" (SELECT count(*) FILTER (NOT seen) > 0 AS gone, avg(reward) AS m FROM {decisions.sql}"
        " WHERE unit IS NOT NULL GROUP BY unit HAVING count(*) > 1 AND count(*) FILTER (seen) > 0)"
        " GROUP BY gone ORDER BY gone"
    )
    n = np.asarray(found["n"])
    if len(n) < 2 or n.min() < 2:
        return 0.0, 0.0
    mean, variance = np.asarray(found["mean"]), np.asarray(found["variance"])
    return float(mean[1] - mean[0]), math.sqrt(float((variance / n).sum()))


def _combined(differences: Vector, variances: Vector) -> tuple[float, float]:
    """Return the average of independent differences, weighted by precision, and its error."""
    usable = variances > 0.0
    if not usable.any():
        return 0.0, 0.0
    weight = 1.0 / variances[usable]
    return float(weight @ differences[usable] / weight.sum()), 1.0 / math.sqrt(float(weight.sum()))


def _two_sided(z: float) -> float:
    from scipy.special import ndtr

    return 2.0 * float(ndtr(-abs(z)))


def depends_on_context(decisions: Decisions) -> list[Caution]:
    """Warn where, within an arm, groups are seen at different rates."""
    if decisions.columns.context is None:
        return []
    from scipy.special import chdtrc

    found = decisions.log.query(
        "SELECT sum(n) AS n, sum(k) AS k, sum(k * k / n) AS squares, count(*) AS groups FROM"
        " (SELECT action, context, CAST(count(*) AS DOUBLE) AS n,"
        f" CAST(count(*) FILTER (seen) AS DOUBLE) AS k FROM {decisions.sql}"
        " WHERE context IS NOT NULL AND action IS NOT NULL GROUP BY action, context"
        " HAVING count(*) >= 5) GROUP BY action HAVING count(*) > 1"
    )
    n, k, squares, groups = (np.asarray(found[x], dtype=float) for x in found)
    usable = (k > 0) & (k < n)
    if not usable.any():
        return []
    n, k, squares, groups = n[usable], k[usable], squares[usable], groups[usable]
    chi = (squares - k**2 / n) / (k / n * (1.0 - k / n))
    chance = float(chdtrc((groups - 1.0).sum(), chi.sum()))
    if chance >= SURE:
        return []
    spread = math.sqrt(max(float((chi - groups + 1.0).sum()), 0.0) / float(n.sum()))
    name = decisions.columns.context
    return [
        Caution(
            "depends-on-context",
            f"Within an arm, how often rewards are seen differs between values of {name}.",
            "A rate here is an average over groups; a policy that treats groups differently meets"
            " other rates, and the mean of an arm leans to the groups that answer.",
            f"Audit each value of {name} by itself.",
            {"chi_square": float(chi.sum()), "spread": spread},
        )
    ]


def _dated(decisions: Decisions) -> bool:
    time = decisions.columns.time
    return time is not None and is_dated(decisions.log, time)


def changes(courses: Sequence[Course], dated: bool) -> list[Caution]:
    """Warn of rates that changed over time."""
    moved = [course for course in courses if course.changes]
    if not moved:
        return []
    whole = next((course for course in moved if course.name is None), None)
    arms = [course.name for course in moved if course.name is not None]
    what = []
    if whole is not None:
        what.append(f"The share of rewards seen changed over time: {whole.in_words(dated)}.")
    if arms:
        what.append(f"The rate of {_arms(len(arms), '')} changed: {listed(arms)}.")
    return [
        Caution(
            "drift",
            " ".join(what),
            "The rates here are averages over time, and tomorrow's are more like the last ones.",
            "Audit the time since the last change.",
            {"changes": sum(len(course.changes) for course in moved)},
        )
    ]


def untidy(counts: Counts) -> list[Caution]:
    """Warn of rows that were left out or contradict themselves."""
    found = []
    if counts.unnamed:
        found.append(
            Caution(
                "no-action",
                f"{counts.unnamed:,} rows name no arm.",
                "They are left out.",
                "Find out what was played in them.",
                {"rows": counts.unnamed},
            )
        )
    contradicting = int(counts.contradicting.sum())
    if contradicting:
        found.append(
            Caution(
                "observed-without-reward",
                f"{contradicting:,} rows are marked as observed but have no reward.",
                "They count as not seen.",
                "Correct the mark or the reward.",
                {"rows": contradicting},
            )
        )
    return found


def _arms(count: int, verb: str = " was| were") -> str:
    one, _, many = verb.partition("|")
    return f"1 arm{one}" if count == 1 else f"{count:,} arms{many}"
