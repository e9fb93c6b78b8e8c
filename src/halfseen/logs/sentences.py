"""The answer of an audit in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen.logs.sensitivity import Sensitivity
from halfseen.tables import brief, percent, show

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit

ASSUMPTION = (
    "All of it assumes that, given the arm, whether a reward is seen does not depend on its value."
    " Where it does, these numbers are false."
)
NAMED = 40  # characters of an arm's name in a sentence


def answers(found: Audit) -> list[str]:
    """Return what is seen, what that costs, and where feedback is worth most."""
    share = found.seen / found.rows
    kinds = f"{len(found.arms):,} arm{'s' * (len(found.arms) > 1)}"
    first = f"You see {percent(share)} of outcomes ({found.seen:,} of {found.rows:,}, {kinds})."
    if found.seen == 0:
        return [first, "Nothing can be learned from this log."]
    if found.seen == found.rows:
        return [first, "Missing feedback costs you nothing."]
    return [first, _cost(found), *worth_most(found), *along_features(found)]


def _cost(found: Audit) -> str:
    whole = found.effective_dimension
    low, high = whole.factor_interval
    sure = f"{found.level:.0%} interval"
    if math.isinf(whole.value):
        never = int((found.counts.seen == 0).sum())
        return (
            f"{never:,} of the arms {'was' if never == 1 else 'were'} never seen, so there is no"
            f" limit to what missing feedback can cost: at least {low:.3g} times as many"
            " decisions as if you saw everything."
        )
    top = f"to {high:.3g}" if math.isfinite(high) else "and no upper end"
    words = (
        f"To learn as surely as with all of them you need {whole.factor:.3g} times as many"
        f" decisions ({sure} {low:.3g} {top})"
    )
    if len(found.arms) == 1:
        return f"{words}."
    return (
        f"{words}: {len(found.arms):,} arms are as hard to learn as {whole.value:,.1f} that are"
        " always seen."
    )


def along_features(found: Audit) -> list[str]:
    """Return how feedback changes along the features, in a sentence; none if it does not."""
    fit = found.direction
    if fit is None or len(fit.rates) < 2:
        return []
    worst = fit.dimensions["worst case"]
    return [
        f"Feedback falls from {percent(fit.rates[0])} to {percent(fit.rates[-1])} along the"
        f" features. In the worst case {len(fit.direction)} features are as hard to learn as"
        f" {worst:,.1f} that are always seen."
    ]


def worth_most(found: Audit) -> list[str]:
    """Return where more feedback is worth most, in a sentence; none with a single arm."""
    parts = 1.0 / found.observe
    loss = parts - 1.0
    worst = int(np.argmax(parts))
    if len(parts) == 1 or loss.sum() == 0.0:
        return []
    sentence = (
        f"More feedback is worth most on {shortened(found.arms[worst])}: seen"
        f" {percent(found.observe[worst])} of the time, it makes"
        f" {percent(loss[worst] / loss.sum())} of the loss."
    )
    if found.counts.seen[worst] == 0:
        return [
            f"More feedback is worth most on {shortened(found.arms[worst])}, never seen so far."
        ]
    typical = float(np.median(parts**2))
    ratio = float(parts[worst] ** 2) / typical
    if ratio >= 1.5:
        sentence += (
            f" One point more there is worth {float(f'{ratio:.2g}'):,g} times one on a typical arm."
        )
    return [sentence]


def tipping_in_words(found: Sensitivity) -> str:
    """Say what it takes to change which arm is best."""
    scale = f" ({abs(found.tipping) / found.scale:.2g} standard deviations)" if found.scale else ""
    if found.tipping == 0.0:
        return (
            f"Among rewards seen, {shortened(found.best)} and {shortened(str(found.rival))} are"
            " equally good; the smallest difference between missing and seen ones decides."
        )
    if math.isfinite(found.tipping):
        return (
            f"Among rewards seen, {shortened(found.best)} is best. If missing rewards differ from"
            f" seen ones by {found.tipping:+.3g}{scale}, {shortened(str(found.rival))} is."
        )
    if math.isfinite(found.tipping_each):
        return (
            f"Among rewards seen, {shortened(found.best)} is best, and stays so for any difference"
            " between missing and seen rewards that is the same for all arms. Differences of"
            f" {show(found.tipping_each)}, up for one arm and down for another, can change it."
        )
    return ""


def shortened(name: str) -> str:
    """Write an arm's name in quotes, not longer than a sentence bears."""
    return f"“{brief(name, NAMED)}”"
