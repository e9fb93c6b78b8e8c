"""Summary of the whole log: warnings of its audit, rates over time, delays."""

from __future__ import annotations

import asyncio
import math
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.dashboard.regret_forecast import RegretForecast, regret_forecast
from halfseen.dashboard.seen_course import seen_course
from halfseen.errors import HalfseenError, InvalidInput
from halfseen.logs.audit import Audit
from halfseen.logs.delays import kaplan_meier
from halfseen.service.decision_service import Service
from halfseen.service.log_export import audit_file, export_file
from halfseen.service.problem_documents import problem_of
from halfseen.tables import Z95

FRESH = 20.0  # seconds a summary stays valid, or ten times its computing time
PATIENCE = 0.4  # seconds a page waits for first summaries; later ones are shown when they arrive
POINTS = 200  # points of the delay curve


@dataclass(frozen=True)
class LogSummary:
    """A summary of the log of a loop.

    Attributes
    ----------
    version
        The last event it includes.
    at
        When it was begun, in microseconds since 1970.
    warnings
        Of the audit: a sentence each, and whether it invalidates the rest.
    answers
        Of the audit, in sentences.
    share, dimension, factor
        Of the audit: the share of rewards seen in the end, the effective dimension and its factor;
        None where there is none or it is infinite.
    within
        Seconds within which they are seen, if the loop is younger than its window; else None.
    rates
        Of the audit, by arm: rate, and the ends of its interval.
    course
        Share seen per arm and interval of time.
    delays
        Kaplan-Meier's estimate of the share of rewards back within so many seconds.
    trouble
        Why there is no audit, if there is none.
    forecast
        What learning would cost; None until it is known, or if it cannot be.
    audit
        The audit, until the forecast is made.
    """

    version: int
    at: int = 0
    warnings: list[tuple[str, bool]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    share: float | None = None
    dimension: float | None = None
    factor: float | None = None
    within: float | None = None
    rates: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    course: list[dict[str, Any]] = field(default_factory=list)
    delays: list[dict[str, float]] = field(default_factory=list)
    trouble: str = ""
    forecast: RegretForecast | None = None
    audit: Audit | None = field(default=None, repr=False)

    def expected(self, ages: list[float], window: float) -> float | None:
        """Return the expected number of pending rewards that arrive before their windows close."""
        if not self.delays:
            return None
        times = [row["delay"] for row in self.delays]
        shares = np.array([0.0] + [row["share"] for row in self.delays])
        whole = shares[np.searchsorted(times, window, side="right")]
        back = shares[np.searchsorted(times, ages, side="right")]
        left = 1.0 - back[back < 1.0]
        return float((np.maximum(0.0, left - (1.0 - whole)) / left).sum())


class Summaries:
    """Summaries of the loops of a service, computed one at a time in the background."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._known: dict[str, tuple[float, LogSummary]] = {}  # until when it is valid
        self._making: dict[str, asyncio.Task[None]] = {}
        self._foreseeing: dict[str, asyncio.Task[None]] = {}
        self._one = asyncio.Semaphore(1)

    def newest(self, loop: str) -> LogSummary | None:
        """Return the latest summary, and schedule a new one if it is old."""
        until, found = self._known.get(loop, (0.0, None))
        clock = asyncio.get_running_loop().time()
        changed = found is None or found.version != self.service.loop(loop).state.seq
        if changed and clock >= until and loop not in self._making:
            task = asyncio.create_task(self._make(loop))
            self._making[loop] = task
            task.add_done_callback(lambda _: self._making.pop(loop, None))
        return found

    async def patience(self, loops: Iterable[str]) -> None:
        """Wait briefly for the first summaries of loops, for all of them together."""
        coming = [self._making[loop] for loop in loops if self.newest(loop) is None]
        if coming:
            await asyncio.wait(coming, timeout=PATIENCE)

    async def _make(self, loop: str) -> None:
        async with self._one:
            clock = asyncio.get_running_loop().time
            began, live = clock(), self.service.loop(loop)
            version, window, at = live.state.seq, live.state.config.window, self.service.clock()
            try:
                found = await with_log(
                    self.service, loop, lambda file: summary_of(file, version, window)
                )
            except Exception as error:
                found = LogSummary(version, trouble=str(problem_of(error)))
                if not isinstance(error, HalfseenError):
                    traceback.print_exception(error, file=sys.stderr)
            _, before = self._known.get(loop, (0.0, None))
            found = replace(found, at=at, forecast=None if before is None else before.forecast)
            until = clock() + max(FRESH, 10.0 * (clock() - began))
            self._known[loop] = until, found
        if found.audit is not None:
            self._foreseeing[loop] = asyncio.create_task(self._foresee(loop, found.audit))

    async def _foresee(self, loop: str, found: Audit) -> None:
        """Add the forecast to a summary, which is shown without it meanwhile."""
        async with self._one:
            clock = asyncio.get_running_loop().time
            began = clock()
            forecast = await asyncio.to_thread(regret_forecast, found)
            until, newest = self._known[loop]
            until = max(until, clock() + 10.0 * (clock() - began))
            self._known[loop] = until, replace(newest, forecast=forecast, audit=None)


async def with_log(service: Service, loop: str, work: Any) -> Any:
    """Run something in a thread on the log of a loop as a Parquet file, which is then deleted."""
    file = await export_file(service, loop, "parquet")
    try:
        return await asyncio.to_thread(work, file)
    finally:
        file.unlink(missing_ok=True)


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
    delays = _delays(file, window)
    course = seen_course(file, delays, window)
    try:
        found = audit_file(file, window)
    except InvalidInput as error:
        trouble = f"It {error.requirement}."
        return LogSummary(version, course=course, delays=delays, trouble=trouble)
    warnings = [(str(warning), warning.voids) for warning in found.warnings]
    whole = found.effective_dimension
    known, waited = math.isfinite(whole.value), found.maturity
    return LogSummary(
        version,
        warnings=warnings,
        answers=list(found.answers),
        share=found.share,
        dimension=whole.value if known else None,
        factor=whole.factor if known else None,
        within=waited.window if waited is not None and waited.cut_short else None,
        rates={r["arm"]: (r["rate"], r["low"], r["high"]) for r in found.rates},
        course=course,
        delays=delays,
        audit=found,
    )


def _delays(file: Path, window: float) -> list[dict[str, float]]:
    """Estimate the delays; decisions marked as missing count as waiting for the whole window."""
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
