"""The steps of an audit, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from halfseen.logs.columns import Columns, is_dated
from halfseen.logs.context_means import read_context_means
from halfseen.logs.counts import read_decisions
from halfseen.logs.dimension import estimate_dimension
from halfseen.logs.direction import fit_log
from halfseen.logs.feedback_batches import batches_in_words
from halfseen.logs.log_options import moment
from halfseen.logs.maturity import estimate_maturity
from halfseen.logs.rates import fit_prior
from halfseen.logs.row_filter import EVERY_ROW, RowFilter
from halfseen.logs.seen_rewards import read_rewards
from halfseen.logs.source import Log
from halfseen.logs.time_bins import DAY
from halfseen.logs.warnings.find import look

AT_ONCE = (
    "Every time of feedback is that of its decision. A column that says when a row was written"
    " looks like this, so it is not used: whether recent rewards are pending is not known."
)


def examine(
    log: Log,
    columns: Columns,
    chosen: RowFilter = EVERY_ROW,
    *,
    level: float,
    window: float | None,
    now: Any,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the parts of an `Audit`.

    Parameters
    ----------
    log
        The log with the options applied.
    columns
        Which column means what.
    chosen
        Which rows to count.
    level, window, now
        As in `halfseen.audit`.
    notes
        What was left out so far.
    """
    decisions = read_decisions(log, columns, chosen)
    counts = decisions.counts
    dated = columns.time is not None and is_dated(decisions.log, columns.time)
    maturity = estimate_maturity(
        decisions,
        dated=dated,
        window=None if window is None else window * (DAY if dated else 1.0),
        now=moment(now, dated),
    )
    if maturity is not None and maturity.at_once and maturity.unseen:
        maturity, notes = None, (*notes, AT_ONCE)
    if maturity is not None and (posted := batches_in_words(decisions)) is not None:
        maturity, notes = None, (*notes, posted)
    seen, rows = (counts.seen, counts.rows) if maturity is None else (maturity.seen, maturity.rows)
    findings = look(decisions, maturity, dated)
    rewards = read_rewards(decisions)
    late = any(warning.kind == "late-differ" for warning in findings.warnings)
    if rewards is not None and maturity is not None and not late:
        rewards = rewards.at_rates(counts.names, maturity.seen / maturity.rows)
    untimed = () if maturity is None else maturity.warnings
    warnings = sorted((*findings.warnings, *untimed), key=lambda warning: not warning.voids)
    return {
        "log": decisions.log.name,
        "columns": columns,
        "counts": counts,
        "prior": fit_prior(seen, rows),
        "effective_dimension": estimate_dimension(seen, rows, level=level),
        "courses": findings.courses,
        "dated": dated,
        "period": None if decisions.bins is None else (decisions.bins.first, decisions.bins.last),
        "maturity": maturity,
        "warnings": tuple(warnings),
        "checks": findings.checks,
        "notes": (*notes, *findings.notes),
        "rewards": rewards,
        "direction": fit_log(decisions),
        "context_means": None if maturity is not None else read_context_means(decisions),
        "level": level,
        "left_out": decisions.left_out,
    }
