"""Problems in a log that would invalidate conclusions: their effects and remedies."""

from __future__ import annotations

from dataclasses import dataclass

from halfseen.logs.counts import Decisions
from halfseen.logs.drift import Course, follow_rates
from halfseen.logs.mature_rows import count_over_time, wait_until_complete
from halfseen.logs.maturity import Maturity
from halfseen.logs.warnings.arms_and_rows import few_rows, never_chosen, never_seen, untidy
from halfseen.logs.warnings.changing_rates import (
    look_at_changes,
    look_at_weeks,
    look_at_zeros,
    unit_design,
)
from halfseen.logs.warnings.constant_arms import look_at_constant_arms
from halfseen.logs.warnings.context_rates import look_at_contexts
from halfseen.logs.warnings.hidden_rewards import look_at_hidden
from halfseen.logs.warnings.late_rewards import look_at_delays
from halfseen.logs.warnings.log_warning import Check, LogWarning
from halfseen.logs.warnings.repeated_rows import look_for_repeats
from halfseen.logs.warnings.sampled_rewards import sample_rewards
from halfseen.logs.warnings.tied_units import look_at_units
from halfseen.logs.warnings.written_values import look_at_values


@dataclass(frozen=True)
class Findings:
    """The checks of a log and what they found.

    Attributes
    ----------
    warnings
        What would change the conclusions, the most serious first.
    checks
        Every check with its result: found, not found, or why it is not testable.
    notes
        What is true but changes little, or cannot be decided.
    courses
        Rates over time.
    """

    warnings: tuple[LogWarning, ...]
    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    courses: tuple[Course, ...]


def look(decisions: Decisions, maturity: Maturity | None, dated: bool) -> Findings:
    """Return the warnings, checks and notes of a log.

    Duplicate rows are looked for first: they raise the variance that every test allows for.
    """
    counts = decisions.counts
    repeats, rewards = look_for_repeats(decisions)
    twice = repeats.warning
    inflation = 1.0 + 2.0 * (0.0 if twice is None else float(twice.facts["share"]))
    rewards = rewards or sample_rewards(decisions)
    cube = count_over_time(decisions, maturity)
    waited = wait_until_complete(decisions, maturity)
    older = cube if waited is maturity else count_over_time(decisions, waited)
    design = max(unit_design(decisions, maturity), inflation)
    courses = follow_rates(decisions, cube, design)
    values, notes = look_at_values(decisions, rewards)
    constant, asked = look_at_constant_arms(decisions, rewards)
    checks = (
        values,
        constant,
        look_at_zeros(cube, decisions, inflation),
        look_at_hidden(decisions, rewards.cut, inflation),
        look_at_delays(decisions, maturity, rewards.cut, inflation),
        look_at_units(decisions, maturity, rewards.cut, inflation),
        look_at_changes(courses, decisions, maturity, dated),
        look_at_weeks(older, decisions, waited, dated, inflation),
        look_at_contexts(decisions, waited, inflation),
        repeats,
    )
    found = [check.warning for check in checks if check.warning is not None]
    values_first = [w for w in found if w is values.warning]
    warnings = [
        *values_first,
        *never_seen(counts),
        *(w for w in found if w is not values.warning),
        *never_chosen(counts),
        *few_rows(counts),
        *untidy(counts),
    ]
    small = [f"Too small to matter: {c.detail}" for c in checks if c.state == "small"]
    return Findings(tuple(warnings), checks, (*notes, *asked, *small), courses)
