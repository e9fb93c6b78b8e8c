"""The numbers of a loop as its pages show them, from the state that decides."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from halfseen.agents.arm_chances import chances_of_arms
from halfseen.agents.arms import Agent
from halfseen.dashboard.log_summary import LogSummary
from halfseen.explorer.arm_labels import arm_labels
from halfseen.logs.invest import Investment, invest
from halfseen.service.decision_rows import MADE
from halfseen.service.decision_service import Service
from halfseen.service.event_log import EventLog
from halfseen.service.loop_events import kinds_in
from halfseen.service.loop_status import loop_status
from halfseen.service.writer import LiveLoop
from halfseen.tables import level_name, percent, show

MINUTE = 60_000_000  # microseconds
RECENT = 20_000  # decisions of the last minute that are counted one by one
SHOWN = 100  # arms of a table
SIMULATED = 20  # arms for which probabilities may be simulated
NOTHING = "–"


class Zeros(NamedTuple):
    """The effect of counting missing rewards as 0.

    Attributes
    ----------
    means
        Of each arm on offer.
    best, seeming
        The indices of the best arm by seen rewards, and if missing were 0.
    loss
        By how much the mean of the second is lower, by seen rewards.
    """

    means: list[float]
    best: int
    seeming: int
    loss: float


def text(value: Any) -> str:
    """Return a number as pages show it."""
    return NOTHING if value is None else show(value)


def share_text(value: float | None) -> str:
    """Return a share as pages show it."""
    return NOTHING if value is None else percent(value)


async def decisions_a_minute(service: Service, live: LiveLoop, now: int) -> float:
    """Return how many decisions were made in the last minute, or the rate of the newest of them."""

    def times(log: EventLog) -> list[int]:
        first, last = 0, live.state.seq + 1  # events are ordered: bisect to the start of the minute
        event = "SELECT at FROM events WHERE loop = ? AND seq"
        while first < last:
            middle = (first + last) // 2
            at = log.execute(f"{event} >= ? ORDER BY seq LIMIT 1", (live.id, middle))
            if at and at[0][0] <= now - MINUTE:
                first = middle + 1
            else:
                last = middle
        query = f"{event} >= ? AND {kinds_in(MADE)} ORDER BY seq DESC LIMIT {RECENT}"
        return [at for (at,) in log.execute(query, (live.id, first))]

    found = await service.read(times)
    if len(found) == RECENT:
        return RECENT * MINUTE / max(1, now - found[-1])
    return float(len(found))


def winner_in_words(status: dict[str, Any]) -> str:
    """Return the state of the winner."""
    if status["winner"] is not None:
        return f"{status['winner']}, at {level_name(status['level'])}"
    return "none yet" if status["arms"] else NOTHING


def played_next(live: LiveLoop) -> dict[str, float | None]:
    """Return the probability with which each arm on offer is played next, where known."""
    agent, config = live.state.agent, live.state.config
    if not isinstance(agent, Agent):
        return {}
    offered = [agent.arms.place("arm", arm) for arm in config.offered()]
    found = chances_of_arms(agent, offered, simulated=SIMULATED)
    return {str(agent.arms.name(place)): chance for place, chance in found.items()}


def zeros(status: dict[str, Any], summary: LogSummary | None) -> Zeros | None:
    """Return the effect of counting missing rewards as 0, None while an arm was never seen."""
    arms = _comparable(status, summary)
    if not arms or summary is None:
        return None
    seen = [arm["mean"] for arm in arms]
    means = [arm["mean"] * summary.rates[str(arm["arm"])][0] for arm in arms]
    best, seeming = int(np.argmax(seen)), int(np.argmax(means))
    return Zeros(means, best, seeming, seen[best] - seen[seeming])


def _comparable(status: dict[str, Any], summary: LogSummary | None) -> list[dict[str, Any]]:
    """Return the arms on offer if every one of them was seen, else none."""
    arms = [arm for arm in status["arms"] if not arm["retired"]]
    rates = {} if summary is None else summary.rates
    seen = all(arm["observed"] and rates.get(str(arm["arm"]), (0.0,))[0] > 0.0 for arm in arms)
    return arms if seen else []


def zeros_in_words(status: dict[str, Any], summary: LogSummary | None) -> str:
    """Return a sentence on the effect of counting missing rewards as 0."""
    found, arms = zeros(status, summary), _comparable(status, summary)
    if found is None:
        return ""
    best, seeming = arms[found.best], arms[found.seeming]
    labels = arm_labels([str(arm["arm"]) for arm in arms])
    named, other = labels[found.best], labels[found.seeming]
    if found.best == found.seeming:
        return (
            f"If missing rewards counted as 0, {named} would still seem best, but with a mean of"
            f" {text(found.means[found.best])} instead of {text(best['mean'])}."
        )
    return (
        f"If missing rewards counted as 0, {other} would seem best"
        f" ({text(found.means[found.seeming])} against {text(found.means[found.best])} for"
        f" {named}). By the seen rewards the mean of {other} is {text(seeming['mean'])} and that of"
        f" {named} {text(best['mean'])}: {text(found.loss)} lost in every decision."
    )


def investment(
    status: dict[str, Any], summary: LogSummary | None, budget: float = 0.1
) -> Investment | None:
    """Return where more feedback is worth most if it costs the same on every arm."""
    arms = _comparable(status, summary)
    if not arms or summary is None:
        return None
    names = [str(arm["arm"]) for arm in arms]
    return invest([summary.rates[name][0] for name in names], 1.0, budget, names=names)


def pending_ages(live: LiveLoop, now: int) -> list[float]:
    """Return how long the pending decisions have waited, in seconds."""
    state = live.state
    open_ones: Any = list(state.agent._ledger.open.values())
    waiting = [entry for entry in open_ones if entry.expires is not None]
    shown = [entry.expires - state.window_of(entry) for entry in waiting]
    return [max(0.0, (now - at) / 1e6) for at in shown]


def duration(seconds: float) -> str:
    """Return a duration in words.

    >>> duration(45), duration(5400), duration(86400)
    ('45 s', '1.5 h', '1 d')
    """
    for size, unit in ((86_400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


async def overview_row(
    service: Service, live: LiveLoop, summary: LogSummary | None, now: int
) -> dict[str, Any]:
    """Return the row of a loop in the list of loops, as texts."""
    status = loop_status(live)
    return {
        "name": live.name,
        "archived": live.archived,
        "rate": text(await decisions_a_minute(service, live, now)),
        "decided": text(status["decided"]),
        "pending": text(status["pending"]),
        "winner": winner_in_words(status),
        **audited(summary),
    }


def audited(summary: LogSummary | None) -> dict[str, str]:
    """Return the headline numbers of the audit, as texts.

    The share seen among settled decisions is biased upwards: a reward settles a decision at once, a
    missing one only when the window closes. The audit corrects for pending decisions.
    """
    if summary is None:
        return dict.fromkeys(("seen", "dimension", "factor", "forecast"), NOTHING)
    seen = share_text(summary.share)
    if summary.within is not None:
        seen += f" within {duration(summary.within)}"
    return {
        "seen": seen,
        "dimension": text(summary.dimension),
        "factor": text(summary.factor),
        "forecast": NOTHING if summary.forecast is None else text(summary.forecast.lost),
    }


def youth_in_words(summary: LogSummary | None, window: float) -> str:
    """Return a sentence on shares seen of a loop younger than its window, else an empty text."""
    if summary is None or summary.within is None:
        return ""
    age = duration(summary.within)
    return (
        f"The window of {duration(window)} has not passed for any decision yet. Shares seen, and"
        f" the effective dimension, its factor and the worth of more feedback that rest on them,"
        f" are those of rewards within {age}."
    )


def expected_in_words(summary: LogSummary | None, ages: list[float], window: float) -> str:
    """Return a sentence on pending rewards, empty if delays are not known up to the window."""
    if summary is None or summary.within is not None or not ages:
        return ""
    expected = summary.expected(ages, window)
    if expected is None:
        return ""
    return (
        f"Expected before their windows close: {text(round(expected, 1))} of the {text(len(ages))}"
        f" pending rewards."
    )


def loop_cells(
    status: dict[str, Any],
    rate: float,
    chances: dict[str, float | None],
    summary: LogSummary | None,
) -> dict[str, str]:
    """Return the live texts of a loop's page, by name."""
    found = {
        "rate": text(rate),
        "winner": winner_in_words(status),
        "zeros": zeros_in_words(status, summary),
        **audited(summary),
    }
    counted = ("decided", "held", "pending", "observed", "censored", "late", "late_learned")
    for name in (*counted, "unmatched", "served"):
        found[name] = text(status[name])
    rates = {} if summary is None else summary.rates
    for place, arm in enumerate(status["arms"][:SHOWN]):
        seen, low, high = rates.get(str(arm["arm"]), (None, None, None))
        row = {
            "decisions": text(arm["decisions"]),
            "share": share_text(seen),
            "between": _between(low, high, share_text),
            "mean": text(arm["mean"]),
            "interval": _between(arm["low"], arm["high"], text),
            "chance": share_text(chances.get(str(arm["arm"]))),
        }
        found |= {f"{name}-{place}": value for name, value in row.items()}
    return found


def _between(low: float | None, high: float | None, write: Any) -> str:
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NOTHING
    return f"{write(low)} to {write(high)}"
