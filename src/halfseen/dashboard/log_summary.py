"""What only the whole log tells: warnings of its audit, the course of rates, delays."""

from __future__ import annotations

import asyncio
import math
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.errors import HalfseenError
from halfseen.logs.delays import kaplan_meier
from halfseen.service.decision_service import Service
from halfseen.service.log_export import audit_file, export_file
from halfseen.service.problem_documents import problem_of
from halfseen.tables import Z95

FRESH = 20.0  # seconds for which a summary is good enough, or ten times what it took
PATIENCE = 4.0  # seconds that a page waits for the first summary
BINS = 30
LINES = 8  # arms whose course is drawn
POINTS = 200  # of the curve of delays


@dataclass(frozen=True)
class LogSummary:
    """What the log of a loop tells.

    Attributes
    ----------
    version
        The last event it knows.
    warnings
        Of the audit: a sentence each, and whether it voids the rest.
    answers
        Of the audit, in sentences.
    share, dimension, factor
        Of the audit: the share of rewards seen in the end, the effective dimension and its factor;
        None where there is none or it is infinite.
    rates
        Of the audit, by arm: rate, and the ends of its interval.
    course
        Share seen per arm and interval of time.
    delays
        Kaplan-Meier's estimate of the share of rewards back within so many seconds.
    trouble
        Why there is no audit, if there is none.
    """

    version: int
    warnings: list[tuple[str, bool]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    share: float | None = None
    dimension: float | None = None
    factor: float | None = None
    rates: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    course: list[dict[str, Any]] = field(default_factory=list)
    delays: list[dict[str, float]] = field(default_factory=list)
    trouble: str = ""

    def share_back(self, seconds: float) -> float:
        """Return the estimated share of rewards that are back within so long."""
        found = [row["share"] for row in self.delays if row["delay"] <= seconds]
        return found[-1] if found else 0.0

    def expected(self, ages: list[float], window: float) -> float | None:
        """Return how many of the pending rewards are expected before their windows close."""
        if not self.delays:
            return None
        whole, total = self.share_back(window), 0.0
        for age in ages:
            back = self.share_back(age)
            if back < 1.0:
                total += max(0.0, whole - back) / (1.0 - back)
        return total


class Summaries:
    """Summaries of the loops of a service, one computed at a time, beside what it serves."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._known: dict[str, tuple[float, LogSummary]] = {}  # until when it is good
        self._making: dict[str, asyncio.Task[LogSummary]] = {}
        self._one = asyncio.Semaphore(1)

    def newest(self, loop: str) -> LogSummary | None:
        """Return what is known, and let it be renewed if it is old."""
        until, found = self._known.get(loop, (0.0, None))
        clock = asyncio.get_running_loop().time()
        changed = found is None or found.version != self.service.loop(loop).state.seq
        if changed and clock >= until and loop not in self._making:
            task = asyncio.create_task(self._make(loop))
            self._making[loop] = task
            task.add_done_callback(lambda _: self._making.pop(loop, None))
        return found

    async def awaited(self, loop: str) -> LogSummary | None:
        """Return what is known, waiting a little for the first one."""
        found = self.newest(loop)
        task = self._making.get(loop)
        if found is None and task is not None:
            await asyncio.wait([task], timeout=PATIENCE)
            found = self.newest(loop)
        return found

    async def _make(self, loop: str) -> LogSummary:
        async with self._one:
            clock = asyncio.get_running_loop().time
            began, live = clock(), self.service.loop(loop)
            version = live.state.seq
            try:
                found = await with_log(
                    self.service, loop, _summed(version, live.state.config.window)
                )
            except Exception as error:
                found = LogSummary(version, trouble=str(problem_of(error)))
                if not isinstance(error, HalfseenError):
                    traceback.print_exception(error, file=sys.stderr)
            took = clock() - began
            self._known[loop] = (clock() + max(FRESH, 10.0 * took), found)
            return found


async def with_log(service: Service, loop: str, work: Any) -> Any:
    """Run something in a thread on the log of a loop as a Parquet file, which is then deleted."""
    file = await export_file(service, loop, "parquet")
    try:
        return await asyncio.to_thread(work, file)
    finally:
        file.unlink(missing_ok=True)


def _summed(version: int, window: float) -> Any:
    return lambda file: summary_of(file, version, window)


def summary_of(file: Path, version: int, window: float) -> LogSummary:
    """Return the summary of a log.

    Parameters
    ----------
    file
        A row per decision, as `export_file` writes it.
    version
        The last event in it.
    window
        Of the loop, in seconds.
    """
    course, delays = _course(file), _delays(file, window)
    try:
        found = audit_file(file, window)
    except HalfseenError as error:
        return LogSummary(version, course=course, delays=delays, trouble=str(error))
    warnings = [(str(warning), warning.voids) for warning in found.warnings]
    whole = found.effective_dimension
    known = whole is not None and math.isfinite(whole.value)
    return LogSummary(
        version,
        warnings,
        list(found.answers),
        share=found.share,
        dimension=whole.value if known else None,
        factor=whole.factor if known else None,
        rates={r["arm"]: (r["rate"], r["low"], r["high"]) for r in found.rates},
        course=course,
        delays=delays,
    )


def _course(file: Path) -> list[dict[str, Any]]:
    import duckdb

    query = f"""
        WITH shown AS (
            SELECT arm, epoch_us(shown_at) AS us, state = 'observed' AS seen
            FROM read_parquet(?) WHERE state <> 'held'
        ), span AS (SELECT min(us) AS first, max(us) AS last FROM shown),
        many AS (SELECT arm FROM shown GROUP BY arm ORDER BY count(*) DESC, arm LIMIT {LINES})
        SELECT arm,
            least({BINS - 1}, floor({BINS} * (us - first)::DOUBLE / greatest(1, last - first))),
            count(*), count(*) FILTER (seen), any_value(first), any_value(last)
        FROM shown, span WHERE arm IN (SELECT arm FROM many) GROUP BY 1, 2 ORDER BY 1, 2"""
    with duckdb.connect() as connection:
        rows = connection.execute(query, [str(file)]).fetchall()
    return [
        {
            "arm": arm,
            "at": (first + (place + 0.5) * (last - first) / BINS) / 1000.0,  # milliseconds
            "decisions": count,
            "seen": seen,
            "share": seen / count,
        }
        for arm, place, count, seen, first, last in rows
    ]


def _delays(file: Path, window: float) -> list[dict[str, float]]:
    """Estimate the delays; who was told that nothing will come has waited for the whole window."""
    import duckdb

    query = """
        SELECT CASE state WHEN 'observed' THEN epoch_us(ended_at) - epoch_us(shown_at)
                   WHEN 'pending' THEN epoch_us(now()::TIMESTAMP) - epoch_us(shown_at)
                   ELSE ? END / 1e6 AS delay,
            state = 'observed' AS back
        FROM read_parquet(?) WHERE state <> 'held'"""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        found = connection.execute(query, [window * 1e6, str(file)]).fetchnumpy()
    waited = np.clip(np.asarray(found["delay"], dtype=float), 0.0, window)
    back = np.asarray(found["back"], dtype=bool)
    if not back.any():
        return []
    times, place = np.unique(waited, return_inverse=True)
    came = np.bincount(place, weights=back, minlength=len(times))
    law = kaplan_meier(came, np.bincount(place, minlength=len(times)) - came)
    chosen = np.flatnonzero(came)
    if len(chosen) > POINTS:
        chosen = chosen[np.linspace(0, len(chosen) - 1, POINTS).round().astype(int)]
    spread = Z95 * np.sqrt(law.variance)
    return [
        {
            "delay": float(times[k]),
            "share": float(law.share[k]),
            "low": float(max(0.0, law.share[k] - spread[k])),
            "high": float(min(1.0, law.share[k] + spread[k])),
        }
        for k in chosen
    ]
