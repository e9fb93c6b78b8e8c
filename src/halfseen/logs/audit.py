"""What the missing feedback in a log costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen import checks
from halfseen.censorship import PerArm
from halfseen.checks import Vector
from halfseen.display import Tabular
from halfseen.equality import ByValue
from halfseen.logs.advice import Advice
from halfseen.logs.audit_export import MOST_ARMS, left_to_show, rates_table, shown_rates
from halfseen.logs.columns import Columns
from halfseen.logs.context_means import ContextMeans
from halfseen.logs.counts import Counts
from halfseen.logs.dimension import Dimension
from halfseen.logs.direction_fit import DirectionFit
from halfseen.logs.drift import Course
from halfseen.logs.examine import examine
from halfseen.logs.group_sums import smallest
from halfseen.logs.log_options import prepared
from halfseen.logs.maturity import Maturity
from halfseen.logs.rates import RatePrior, shrunken_interval
from halfseen.logs.row_filter import LeftOut, as_filter
from halfseen.logs.seen_rewards import SeenRewards
from halfseen.logs.sentences import ASSUMPTION, answers, best_in_words
from halfseen.logs.source import open_log
from halfseen.logs.warnings.log_warning import Check, LogWarning, checks_in_words
from halfseen.phrases import counted
from halfseen.tables import Table, percent, show

if TYPE_CHECKING:
    import altair as alt

    from halfseen.logs.comparison import Comparison
    from halfseen.logs.plan import Plan
    from halfseen.studies.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Advice, Tabular, ByValue):
    """The audit of a log with missing feedback.

    Attributes
    ----------
    log
        The log's name.
    columns
        Which column means what.
    counts
        Decisions and rewards seen, arm by arm.
    prior
        The distribution of rates across arms, fitted as a beta prior.
    effective_dimension
        How many arms, all seen, would be as hard to learn; with its interval.
    courses
        Rates over time, if the log has times: all arms first, then the largest ones.
    dated
        Whether those times count seconds since 1970.
    period
        The first and the last time of a decision; None without times.
    maturity
        Pending rewards and delays; None without times of feedback.
    warnings
        Findings that would change the conclusions, the most serious first.
    checks
        Every check with its result: found, not found, or why it is not testable.
    notes
        Findings that change little, or cannot be decided.
    rewards
        The rewards seen, by arm and value; None if the log has none.
    direction
        How feedback becomes rarer along the features, if they were named.
    level
        Confidence level of every interval.
    designed
        True if arms were drawn independently of rewards and the log is inspected once.
    context_means
        Means of arms if the context explains missing rewards; None without contexts.
    left_out
        Rows that ``where``, ``since``, ``until`` and ``drop_arms`` left out.
    asked
        The options the audit was asked with.
    """

    _frame = "rates"

    log: str
    columns: Columns
    counts: Counts
    prior: RatePrior
    effective_dimension: Dimension
    courses: tuple[Course, ...]
    dated: bool
    maturity: Maturity | None
    warnings: tuple[LogWarning, ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    rewards: SeenRewards | None
    direction: DirectionFit | None
    level: float
    designed: bool = False
    left_out: LeftOut | None = None
    period: tuple[float, float] | None = None
    context_means: ContextMeans | None = None
    asked: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return self.counts.names

    @property
    def rows(self) -> int:
        """How many decisions the log holds."""
        return int(self.counts.rows.sum())

    @property
    def seen(self) -> int:
        """How many rewards were seen."""
        return int(self.counts.seen.sum())

    @property
    def effective_rows(self) -> Vector:
        """The effective number of decisions behind each arm's rate: its rows if none is pending."""
        return self.counts.rows.astype(float) if self.maturity is None else self.maturity.rows

    @property
    def effective_seen(self) -> Vector:
        """The effective number of rewards seen; over `effective_rows`, the rate in the window."""
        return self.counts.seen.astype(float) if self.maturity is None else self.maturity.seen

    @cached_property
    def share(self) -> float:
        """The share of rewards seen: with times of feedback, those seen in the end."""
        if self.maturity is None:
            return self.seen / self.rows
        return float(self.counts.rows @ (self.effective_seen / self.effective_rows)) / self.rows

    @cached_property
    def observe(self) -> Vector:
        """The share of rewards seen, per arm; of an arm never seen, borrowed from the others."""
        seen, rows = self.effective_seen, self.effective_rows
        rate, never = seen / rows, seen <= 0.0
        if never.any():
            borrowed = shrunken_interval(seen[never], rows[never], self.prior)[0]
            rate[never] = np.maximum(borrowed, 1e-12)
        return rate

    @property
    def censorship(self) -> PerArm:
        """The rates as a censorship, to use in a `Study`."""
        return PerArm(self.observe.tolist())

    @cached_property
    def rates(self) -> Table:
        """One row per arm: counts, rate with exact and shrunken intervals, contribution.

        ``contributes`` is 1/p, the arm's contribution to the effective dimension, and ``worth of 1%
        more`` is its decrease when 1 in 100 more of its rewards are seen, or all.
        """
        return rates_table(self)

    @cached_property
    def answers(self) -> tuple[str, ...]:
        """The answer in sentences: what is seen, what that costs, where feedback is worth most."""
        return tuple(answers(self))

    @property
    def voided(self) -> bool:
        """Whether a warning invalidates every number until its cause is fixed."""
        return any(warning.voids for warning in self.warnings)

    def summary(self) -> str:
        """Return the answer, the rates and the warnings as text."""
        parts = [f"Warning: {warning}" for warning in self.warnings if warning.voids]
        parts += [VOID] if self.voided else []
        parts.append("\n".join(f"void: {x}" if self.voided else x for x in self.answers))
        parts += [] if self.left_out is None else [str(self.left_out)]
        parts.append("void:\n" * self.voided + str(shown_rates(self, SHOWN)))
        parts += left_to_show(self, SHOWN)
        if self.maturity is not None:
            told = [f"{'void: ' * self.voided}{fact}" for fact in self.maturity.findings]
            parts.append("\n".join([*told, self.maturity.assumption]))
        parts += [f"Warning: {warning}" for warning in self.warnings if not warning.voids]
        parts.append(checks_in_words(self.checks))
        parts += ["\n".join(f"Note: {note}" for note in self.notes)] if self.notes else []
        parts += [" ".join(told)] if (told := best_in_words(self)) else []
        if self.context_means is not None and not self.voided:
            parts += [" ".join(self.context_means.findings)] if self.context_means.findings else []
        along = f"Along the features{' (void)' * self.voided}:\n{self.direction}"
        parts += [] if self.direction is None else [along]
        return "\n\n".join([*parts, ASSUMPTION])

    def _headline(self) -> str:
        size = self.effective_dimension
        words = (
            f"{counted('arm', len(self.arms))}, {counted('decision', self.rows)},"
            f" {percent(self.seen / self.rows)} seen, effective dimension {show(size.value)}"
            f" ({show(size.low)} to {show(size.high)})"
        )
        return f"void until a warning is resolved; {words}" if self.voided else words

    def _details(self) -> list[str | Table]:
        grave = [f"Warning: {warning}" for warning in self.warnings if warning.voids]
        lesser = [f"Warning: {warning}" for warning in self.warnings if not warning.voids]
        if self.voided:
            return [*grave, VOID, *lesser]
        more = left_to_show(self, SHOWN)
        return ["\n".join(self.answers), shown_rates(self, SHOWN), *more, *lesser]

    def __str__(self) -> str:
        return self.summary()

    def costliest(self, most: int) -> list[int]:
        """Return the positions of the arms that cost most, the costliest first."""
        with np.errstate(divide="ignore"):
            parts = self.effective_rows / self.effective_seen
        return smallest(-parts, most).tolist()

    def report(
        self,
        folder: Path | str,
        forecast: Plan | None = None,
        imputations: Result | None = None,
        changes: Comparison | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write a page to open in a browser, its charts, and the numbers as files.

        Parameters
        ----------
        folder
            Where to write ``report.html``, ``rates.csv``, ``audit.json`` and ``charts``: new,
            empty, or another audit's, which is replaced.
        forecast
            What `plan` returned, to show it too.
        imputations
            What `compare_imputations` returned, to show it too.
        changes
            What `halfseen.logs.comparison.compare` returned, to show it too.
        options
            Further options of the command, for the one that the page shows.
        """
        from halfseen.report.audit.page import Extras, write_audit

        return write_audit(self, Path(folder), Extras(forecast, imputations, changes, options))

    def plot(self, what: str = "rates") -> alt.Chart:
        """Return a chart of the report.

        Parameters
        ----------
        what
            ``"rates"``, how much is seen of each arm; ``"parts"``, what that costs; ``"worth"``,
            where more feedback is worth most; ``"time"``, rates over time; ``"delays"``, how long
            rewards take; ``"differ"``, means if missing rewards differ; or ``"direction"``.
        """
        from halfseen.report.audit.charts import audit_chart

        return audit_chart(self, what)

    def to_dict(self, most: int | None = MOST_ARMS) -> dict[str, Any]:
        """Return everything as plain values; infinite and unknown values become None.

        Parameters
        ----------
        most
            How many arms to give at most, those that cost most; None for all.
        """
        from halfseen.logs.audit_export import audit_as_dict

        return audit_as_dict(self, most)


SHOWN = 40
VOID = "Until this is resolved, every number below is invalid and marked void."


def audit(
    log: Any,
    *,
    action: str | None = None,
    reward: str | None = None,
    observed: str | None = None,
    time: str | None = None,
    feedback_time: str | None = None,
    propensity: str | None = None,
    cost: str | None = None,
    context: str | None = None,
    unit: str | None = None,
    id: str | None = None,
    features: Sequence[str] = (),
    where: str | None = None,
    since: Any = None,
    until: Any = None,
    drop_arms: Sequence[str] = (),
    window: float | None = None,
    now: Any = None,
    empty_means: float | None = None,
    designed: bool = False,
    table: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    level: float = 0.95,
) -> Audit:
    """Estimate what the missing feedback in a log costs.

    Parameters
    ----------
    log
        A CSV, JSON Lines, Parquet, Feather or Excel file, a pattern or folder of them, a DuckDB or
        SQLite database, an address (``postgresql://...``, ``https://...``), a pandas, polars or
        Arrow table, a dictionary of columns or a list of dictionaries. It is aggregated where it
        is; nothing is loaded whole.
    action
        The column that names the arm; without it, all rows are one arm.
    reward
        The column of rewards, empty where missing.
    observed
        A column that says whether the reward was seen; left out, it was seen where there is one.
    time, feedback_time
        When the decision was made, and when its reward came back.
    propensity
        The probability with which the arm was chosen.
    cost
        What it costs, or would cost, to see the reward of a decision: `Audit.invest` uses it.
    context
        A group the decision belongs to.
    unit
        The unit of the decision, such as a user; units with several rows were measured repeatedly.
    id
        A unique identifier of the decision; rows that share one are duplicates.
    features
        Numeric columns that describe the action: the decrease of feedback along them is fitted.
        With them, the action need not be named.
    where
        An SQL condition on the log's columns; other rows are left out, and the audit says so.
    since, until
        The first time included and the first excluded, as the log writes times.
    drop_arms
        Arms to leave out.
    window
        Count a reward as seen if it came back within this time, in days if times are dates, else in
        their own unit. With ``feedback_time``, rates are then shares back within it; without,
        decisions younger than it are left out.
    now
        The time until which rewards could arrive, as the column of times writes it; left out, the
        last time in the log.
    empty_means
        The value of an empty reward, such as 0 in a log that records only successes.
    designed
        True if arms were drawn independently of rewards and the log is inspected once: the best arm
        is then declared sooner.
    table
        The table of a database that has several.
    encoding, decimal
        The encoding of a text file that is not UTF-8; and ``","`` if 0,5 means a half in it.
    level
        Confidence level of the intervals.

    Returns
    -------
    Audit
        Rates, effective dimension, warnings, and a report.

    Notes
    -----
    All results are invalid if whether a reward is seen depends on its value.

    Examples
    --------
    >>> found = audit(
    ...     {"offer": ["a", "a", "b", "b"], "sold": [1, None, 0, 1]}, action="offer", reward="sold"
    ... )
    >>> found.effective_dimension.value
    3.0
    """
    asked = {name: value for name, value in locals().items() if name != "log"}
    level = checks.number("level", level, above=0.0, below=1.0, fix="Use 0.95.")
    decided = (action, reward, observed, time, feedback_time)
    columns = Columns(*decided, propensity, cost, context, unit, id, tuple(features))
    source = open_log(log, table=table, encoding=encoding, decimal=decimal)
    source, notes = prepared(source, columns, window, now, empty_means)
    rows = as_filter(where, since, until, drop_arms)
    options: dict[str, Any] = {"level": level, "window": window, "now": now, "notes": notes}
    parts = examine(source, columns, rows, **options)
    return Audit(**parts, designed=checks.yes_or_no("designed", designed), asked=asked)
