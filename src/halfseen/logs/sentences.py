"""The answer of an audit in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from halfseen.tables import brief, level_name, percent

if TYPE_CHECKING:
    from halfseen.logs.audit import Audit
    from halfseen.logs.plan import Plan

ASSUMPTION = (
    "All of it assumes that, given the arm, whether a reward is seen does not depend on its value."
    " Where it does, these numbers are invalid."
)
OTHER_QUESTION = (
    "That is more than the worst case says, which is about the reward lost and not about how soon"
    " most decisions are right."
)
LUCK = (
    "That missing feedback does not slow it down here is luck: a rarely seen arm is explored for"
    " longer, and it happens to be the best one."
)
FEW = 10  # fewest decisions for an estimate
NAMED = 40  # characters of an arm's name in a sentence


def answers(found: Audit) -> list[str]:
    """Return what is seen, what that costs, and where feedback is worth most."""
    so_far = found.seen / found.rows
    kinds = f"{len(found.arms):,} arm{'s' * (len(found.arms) > 1)}"
    counted = f"({found.seen:,} of {found.rows:,}, {kinds})"
    first = f"You see {percent(so_far)} of outcomes {counted}."
    waited = found.maturity
    if waited is not None and (waited.stated or waited.pending.sum() >= 0.5):
        whenever = ", whenever they came" if waited.stated else ""
        first = (
            f"{percent(found.share)} of outcomes come back within"
            f" {waited.duration(waited.window)}. So far you see {percent(so_far)} {counted}"
            f"{whenever}."
        )
    if found.seen == 0:
        return [first, "Nothing can be learned from this log."]
    if found.rows < FEW:
        return [
            first,
            f"{_decisions(found.rows)} too few to estimate what missing feedback costs.",
        ]
    if found.complete:
        asked = any(
            check.kind == "written-values"
            and (check.state == "found" or check.detail == "see the notes")
            for check in found.checks
        )
        if asked:
            return [
                first,
                "Missing feedback costs you nothing, unless a value was written in place of missing"
                " rewards: see the warnings and notes.",
            ]
        return [first, "Missing feedback costs you nothing."]
    where = [] if found.voided else _where(found)
    return [first, *_cost(found), *where, *along_features(found)]


def _decisions(rows: int) -> str:
    return "1 decision is" if rows == 1 else f"{rows:,} decisions are"


def _cost(found: Audit) -> list[str]:
    whole = found.dimension_of_seen
    if whole is None:
        return [f"{_nothing_within(found)} Choose a longer window."]
    low, high = whole.factor_interval
    top = f"to {high:.3g}" if math.isfinite(high) else "and no upper end"
    unseen = set(found.never_seen)
    late = tuple(name for name in found.without_rate if name not in unseen)
    never = " ".join(
        ([f"No reward was ever seen of {_few(found.never_seen)}."] if found.never_seen else [])
        + ([_nothing_within(found, f" of {_few(late)}")] if late else [])
    )
    never += " The numbers here leave that out." if never else ""
    if never and whole.factor == 1.0:
        return [f"Of the arms that were seen nothing is missing. {never}"]
    some = " of the arms that were seen" if never else ""
    at_most, interval = "", f"{level_name(found.level)} interval {low:.3g} {top}"
    if found.upper_end and found.maturity is not None:
        at_most, longest = "at most ", found.maturity.duration(found.maturity.window)
        top = (
            f"{level_name(found.level)}: at most {high:.3g}"
            if math.isfinite(high)
            else "no upper end"
        )
        interval = f"{top}; the more rewards come after {longest}, the fewer"
    words = (
        "In the worst case over all problems, learning as reliably as with complete feedback takes"
        f" {at_most}{whole.factor:.3g} times as many decisions{some} ({interval})"
    )
    if whole.arms > 1:
        words += (
            f": {whole.arms:,} arms are as hard to learn as {at_most}{whole.value:,.1f} that"
            " are always seen"
        )
    return [f"{words}. {never}".strip()]


def _few(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(shortened, names[:3])) + more


def _nothing_within(found: Audit, of: str = "") -> str:
    assert found.maturity is not None  # else an arm with a reward has a rate
    return f"Nothing{of} came back within {found.maturity.duration(found.maturity.window)}."


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


def _where(found: Audit) -> list[str]:
    most = found.worth_most
    return [] if most is None else [str(most)]


def forecast_in_words(found: Audit, forecast: Plan) -> str:
    """Return a forecast as text: in decisions if it was made in blocks of them, else in days."""
    if not forecast.in_blocks:
        return str(forecast)
    words = outlook_in_words(found, forecast)
    return f"Forecast for this log: {words[:1].lower()}{words[1:]}"


def beyond_worst_case(found: Audit, forecast: Plan) -> bool:
    """Return whether a forecast has a larger factor than the worst case, which is possible.

    The one counts decisions until most are right, the other bounds the reward lost.
    """
    whole = found.dimension_of_seen
    return whole is not None and whole.factor < forecast.factor < math.inf


def outlook_in_words(found: Audit, forecast: Plan) -> str:
    """State how long learning takes on this log, in decisions."""
    words = _outlook(forecast)
    return f"{words} {OTHER_QUESTION}" if beyond_worst_case(found, forecast) else words


def _outlook(forecast: Plan) -> str:
    most = f"{forecast.traffic * forecast.length:,.0f}"
    mine, whole = forecast.yours.quantile(0.5), forecast.everything.quantile(0.5)
    start = (
        "A learner that starts without data gets 9 of 10 decisions right, and keeps that up as long"
        " again,"
    )
    drawn = f"{len(forecast.yours.days)} futures drawn from the posterior given the log"
    if math.isinf(mine):
        reached, full = 1.0 - forecast.yours.never, 1.0 - forecast.everything.never
        return (
            f"{start} within {most} decisions in {reached:.0%} of {drawn}; if every reward were"
            f" seen, in {full:.0%} of them."
        )
    after = f"{start} after about {forecast.traffic * mine:,.0f} decisions"
    median = f"(medians of {drawn})"
    if math.isinf(whole):
        return f"{after}; if every reward were seen, not within {most} {median}. {LUCK}"
    complete = f"{forecast.traffic * whole:,.0f}"
    if abs(mine - whole) <= max(1.0, 0.1 * whole):
        return f"{after}, about as many as if every reward were seen {median}."
    if mine < whole:
        return f"{after}; if every reward were seen, after {complete} {median}. {LUCK}"
    return (
        f"{after}, {mine / whole:.2g} times the {complete} it would take if every reward were seen"
        f" {median}."
    )


def best_in_words(found: Audit) -> list[str]:
    """State the best arm as far as the log shows it, and how missing rewards could change that.

    Nothing is stated if a warning invalidates the numbers.
    """
    if found.voided or found.best is None or found.best.arms < 2:
        return []
    return [str(found.best), *missing_in_words(found)]


def missing_in_words(found: Audit) -> list[str]:
    """State at which Gamma another arm may be best, and which arm is safest."""
    rewards, tipping = found.rewards, found.tipping
    if rewards is None or tipping is None or len(rewards) < 2 or found.complete:
        return []
    best = shortened(tipping.best)
    first = ""
    if math.isinf(tipping.gamma) and tipping.rival is not None:
        first = (
            "Sampling error aside: if missing rewards can be values that were never seen of an arm,"
            f" {shortened(tipping.rival)} may be as good as {best}."
        )
    elif math.isinf(tipping.gamma):
        first = (
            f"Sampling error aside, {best} keeps the largest mean however much the odds of being"
            " seen depend on the reward."
        )
    elif tipping.gamma > 1.0:
        fold = f"{tipping.gamma:,.2g}" if tipping.gamma >= 1.1 else f"{tipping.gamma:.3f}"
        first = (
            f"Sampling error aside: if the odds of being seen differ {fold}-fold between good and"
            f" bad rewards, {shortened(str(tipping.rival))} may be as good as {best}."
        )
    said = [first] if first else []
    bounds = found.bounds(2.0)
    ends = bounds.widened(found.level)  # with sampling error
    if not bounds.safe_shown(found.level):
        risk = (
            f"; with {shortened(ends.least_regret)}, another arm is better by at most"
            f" {ends.regret:.3g} ({level_name(found.level)}, sampling error included)"
            if bounds.enough
            else ""
        )
        return [
            *said,
            "If the odds of being seen differ at most twofold, the safest arm is not determined"
            f" yet{risk}.",
        ]
    place = bounds.names.index(bounds.safe)
    second = (
        f"If the odds of being seen differ at most twofold, {shortened(bounds.safe)} is the safest"
        f" arm (a mean of at least {ends.low[place]:.3g}, {level_name(found.level)}, sampling error"
        " included)"
    )
    if ends.regret == 0.0:
        return [*said, f"{second}, and no other arm is better."]
    if ends.least_regret == bounds.safe:
        return [*said, f"{second}; another arm is better by at most {ends.regret:.3g}."]
    return [
        *said,
        f"{second}; {shortened(ends.least_regret)} risks least: no arm is better by more than"
        f" {ends.regret:.3g}.",
    ]


def shortened(name: str) -> str:
    """Write an arm's name in quotes, shortened."""
    return f"“{brief(name, NAMED)}”"
