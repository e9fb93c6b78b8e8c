"""Whether short waits see different rewards than long ones, so that no wait can be recommended."""

from __future__ import annotations

import numpy as np

from halfseen.checks import Vector
from halfseen.logs.counts import Decisions
from halfseen.logs.maturity import Maturity
from halfseen.logs.queries import filled
from halfseen.logs.warnings.late_rewards import look_at_delays
from halfseen.tables import show

REVERSED = 3.0  # standard errors at which a mean, or the order of two arms, counts as changed


def objection(decisions: Decisions, maturity: Maturity, waits: Vector, scale: float) -> str:
    """Return why no wait can be recommended: short waits see different rewards than long ones."""
    for warning in maturity.warnings:
        if warning.voids:
            return f"{warning} Until then which wait is best cannot be said."
    means, errors = _means_by_wait(decisions, maturity, waits)
    names = decisions.counts.names
    if (swapped := _swapped(means, errors)) is not None:
        one, other = (names[arm] for arm in swapped)
        return (
            f"Which of {one} and {other} is better changes with the wait: short waits see other"
            " rewards than long ones, so which wait is best cannot be said."
        )
    if look_at_delays(decisions, maturity, None, 1.0).state != "found":
        return ""
    example = ""
    if (pair := _most_changed(means, errors)) is not None:
        arm, short, long = pair
        unit = "days" if maturity.dated else "units of time"
        example = (
            f" (arm {names[arm]}: {means[short, arm]:.3g} within"
            f" {show(waits[short] / scale)} {unit}, {means[long, arm]:.3g} within"
            f" {show(waits[long] / scale)})"
        )
    return (
        f"Short waits see other rewards than long ones{example}: which wait is best cannot be said."
    )


def _swapped(means: Vector, errors: Vector) -> tuple[int, int] | None:
    """Return two arms of which one is better within some wait and worse within another."""
    with np.errstate(invalid="ignore", divide="ignore"):
        for b in range(means.shape[1]):
            z = (means - means[:, [b]]) / np.hypot(errors, errors[:, [b]])
            swaps = np.flatnonzero(
                (np.nanmax(np.where(np.isnan(z), -np.inf, z), axis=0) > REVERSED)
                & (np.nanmin(np.where(np.isnan(z), np.inf, z), axis=0) < -REVERSED)
            )
            if len(swaps):
                return b, int(swaps[0])
    return None


def _most_changed(means: Vector, errors: Vector) -> tuple[int, int, int] | None:
    """Return the arm whose mean changes most with the wait, and the waits; None if none does.

    A mean within a short wait and one within a long wait share the rewards of the short one, so
    that their difference varies no more than the short one does.
    """
    found, most = None, 0.0
    for arm in range(means.shape[1]):
        known = np.flatnonzero(~np.isnan(means[:, arm]) & ~np.isnan(errors[:, arm]))
        for short in known[:-1].tolist():
            long = int(known[-1])
            z = abs(means[long, arm] - means[short, arm]) / errors[short, arm]
            if z > max(most, REVERSED):
                found, most = (arm, short, long), z
    return found


def _means_by_wait(
    decisions: Decisions, maturity: Maturity, waits: Vector
) -> tuple[Vector, Vector]:
    """Return the mean reward of old decisions seen within each wait, by arm, and its error."""
    asked = []
    for i, wait in enumerate(waits.tolist()):
        old = (
            f"FILTER (seen AND time <= '{maturity.end - wait!r}'::DOUBLE"
            f" AND feedback_time - time <= '{wait * (1 + 1e-9)!r}'::DOUBLE)"
        )
        asked += [f"avg(reward) {old} AS m{i}", f"var_samp(reward) {old} AS v{i}"]
        asked.append(f"count(*) {old} AS n{i}")
    found = decisions.log.query(
        f"SELECT {', '.join(asked)} FROM {decisions.sql} WHERE action IS NOT NULL"
        " GROUP BY action ORDER BY action"
    )
    many = range(len(waits))
    means = np.array([filled(found[f"m{i}"]) for i in many])
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt(np.array([filled(found[f"v{i}"]) / filled(found[f"n{i}"]) for i in many]))
    return means, np.where(errors > 0.0, errors, np.nan)
