"""The answer of an audit in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from halfseen.tables import brief

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
    first = f"You see {_percent(share)} of outcomes ({found.seen:,} of {found.rows:,}, {kinds})."
    if found.seen == 0:
        return [first, "Nothing can be learned from this log."]
    if found.seen == found.rows:
        return [first, "Missing feedback costs you nothing."]
    return [first, _cost(found), *_where(found), *_along(found)]


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


def _along(found: Audit) -> list[str]:
    fit = found.direction
    if fit is None or len(fit.rates) < 2:
        return []
    worst = fit.dimensions["worst case"]
    return [
        f"Feedback falls from {_percent(fit.rates[0])} to {_percent(fit.rates[-1])} along the"
        f" features. In the worst case {len(fit.direction)} features are as hard to learn as"
        f" {worst:,.1f} that are always seen."
    ]


def _where(found: Audit) -> list[str]:
    parts = 1.0 / found.observe
    loss = parts - 1.0
    worst = int(np.argmax(parts))
    if len(parts) == 1 or loss.sum() == 0.0:
        return []
    sentence = (
        f"More feedback is worth most on {shortened(found.arms[worst])}: seen"
        f" {_percent(found.observe[worst])} of the time, it makes"
        f" {_percent(loss[worst] / loss.sum())} of the loss."
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


def missing_in_words(found: Audit) -> list[str]:
    """Say what it takes until another arm may be best, and which arm is safest meanwhile."""
    rewards, tipping = found.rewards, found.tipping
    if rewards is None or tipping is None or len(rewards) < 2 or found.seen == found.rows:
        return []
    best = shortened(tipping.best)
    if tipping.gamma == 1.0:
        first = f"Among rewards seen, {best} and {shortened(str(tipping.rival))} are equally good."
    elif math.isfinite(tipping.gamma):
        first = (
            f"Among rewards seen, {best} has the largest mean. If the odds of being seen differ"
            f" {tipping.gamma:,.2g}-fold between good and bad rewards,"
            f" {shortened(str(tipping.rival))} may be as good."
        )
    else:
        first = (
            f"Among rewards seen, {best} has the largest mean, and keeps it however much the odds"
            " of being seen depend on the reward."
        )
    bounds = found.bounds(2.0)
    place = bounds.names.index(bounds.safe)
    second = (
        f"If they differ at most twofold, {shortened(bounds.safe)} is the safest arm (a mean of at"
        f" least {bounds.low[place]:.3g})"
    )
    if bounds.regret == 0.0:
        return [first, f"{second}, and no other arm is better."]
    if bounds.least_regret == bounds.safe:
        return [first, f"{second}; another arm is better by at most {bounds.regret:.3g}."]
    return [
        first,
        f"{second}; least is risked with {shortened(bounds.least_regret)}, than which no arm is"
        f" better by more than {bounds.regret:.3g}.",
    ]


def shortened(name: str) -> str:
    """Write an arm's name in quotes, not longer than a sentence bears."""
    return f"“{brief(name, NAMED)}”"


def _percent(share: float) -> str:
    """Write a share: neither 0% nor 100% unless it is.

    >>> _percent(0.3333), _percent(0.9999), _percent(0.0001), _percent(1.0)
    ('33%', '99.99%', '0.01%', '100%')
    """
    if share in (0.0, 1.0) or 0.01 <= share <= 0.99:
        return f"{share:.0%}"
    return f"{100 * share:.2f}%" if 1e-4 <= share <= 1 - 1e-4 else f"{100 * share:.2g}%"
