"""The state of every decision of an agent: held, pending, observed or censored."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from halfseen import checks
from halfseen.checks import Vector
from halfseen.errors import DecisionError, InvalidInput, shorten

HELD, PENDING, OBSERVED, CENSORED = "held", "pending", "observed", "censored"
WITHDRAWN = "withdrawn"  # held, and never shown
STATES = (HELD, PENDING, OBSERVED, CENSORED, WITHDRAWN)
LONGEST = 128  # characters of a caller's id
MOST = 2**48  # decisions that an agent can make
REMEMBER = 10_000  # settled decisions, unless the agent is told otherwise
Identity = int | str


@dataclass(slots=True)
class Entry:
    """One decision: its choice, probability, time and outcome."""

    id: Identity
    number: int  # from 1, in the order in which decisions were made
    choice: int
    payload: Any = None  # the arm or action shown, for which the outcome is learned
    probability: float | None = None
    error: float = 0.0  # standard error of the probability; 0 if it is exact
    at: float | None = None
    state: str = PENDING
    reward: float | None = None
    since: int = 0  # the number of decisions made when it was shown
    served: bool = False  # something else was shown than what was chosen


class Ledger:
    """The decisions of an agent: all that are open, and the last ones that are settled.

    Settled decisions are remembered so that a repeated outcome is recognised and a late one can
    be matched; beyond `remember` of them the oldest are forgotten.
    """

    def __init__(self, remember: int) -> None:
        self.remember = remember
        self.made = 0
        self.observed = 0
        self.censored = 0
        self.late = 0
        self.withdrawn = 0
        self.open: dict[Identity, Entry] = {}
        self.settled: OrderedDict[Identity, Entry] = OrderedDict()

    def known(self, name: Any) -> Entry | None:
        """Return the decision with this id; None if there is none or it is forgotten."""
        if isinstance(name, np.integer):
            name = int(name)
        if type(name) is not int and type(name) is not str:
            return None
        return self.open.get(name) or self.settled.get(name)

    def find(self, name: Any) -> Entry:
        """Return the decision with this id, or refuse."""
        entry = self.known(name)
        if entry is not None:
            return entry
        numbered = isinstance(name, int | np.integer) and not isinstance(name, bool)
        if numbered and 1 <= name <= self.made:
            reason = "was settled too long ago to be remembered"
        elif self.made > len(self.open) + len(self.settled):
            reason = (
                "is not known: it was never made, or settled more than `remember`"
                f" ({self.remember:,}) decisions ago"
            )
        else:
            reason = "was never made"
        raise DecisionError(f"Decision {shorten(name)} {reason}. Nothing was changed.")

    def add(self, entry: Entry) -> None:
        """Add a new decision."""
        self.made += 1
        entry.since = self.made
        self.open[entry.id] = entry

    def observe(self, entry: Entry, reward: float) -> bool:
        """Add a reward; return whether it is late."""
        late = entry.state == CENSORED
        entry.reward = reward
        self.observed += 1
        if late:
            entry.state = OBSERVED
            self.censored -= 1
            self.late += 1
        else:
            self._settle(entry, OBSERVED)
        return late

    def miss(self, entry: Entry) -> None:
        """Settle a decision without a reward."""
        self._settle(entry, CENSORED)
        self.censored += 1

    def withdraw(self, entry: Entry) -> None:
        """Settle a decision that was held and will not be shown."""
        self._settle(entry, WITHDRAWN)
        self.withdrawn += 1

    def _settle(self, entry: Entry, state: str) -> None:
        entry.state = state
        del self.open[entry.id]
        self.settled[entry.id] = entry
        if len(self.settled) > self.remember:
            self.settled.popitem(last=False)

    def pending(self) -> Iterator[Entry]:
        """Yield the decisions that wait for their outcome."""
        return (entry for entry in self.open.values() if entry.state == PENDING)

    def content(self) -> dict[str, Any]:
        """Return everything as numbers, texts and lists."""
        return self.totals() | {
            "open": [entry_row(entry) for entry in self.open.values()],
            "settled": [entry_row(entry) for entry in self.settled.values()],
        }

    def totals(self) -> dict[str, Any]:
        """Return everything but the decisions."""
        return {
            "decisions": self.made,
            "observed": self.observed,
            "censored": self.censored,
            "late": self.late,
            "withdrawn": self.withdrawn,
            "remember": self.remember,
        }

    @classmethod
    def restored(cls, content: dict[str, Any], payload: Callable[[Any], Any]) -> Ledger:
        """Return what `content` described; ValueError if it cannot be.

        `payload` turns what is stored of a payload back into it, or raises ValueError.
        """
        ledger = cls(_count(content["remember"]))
        ledger.made, ledger.observed = _count(content["decisions"]), _count(content["observed"])
        ledger.censored, ledger.late = _count(content["censored"]), _count(content["late"])
        ledger.withdrawn = _count(content.get("withdrawn", 0))
        ledger.open = {e.id: e for e in (_entry(row, payload) for row in content["open"])}
        settled_entries = (_entry(row, payload) for row in content["settled"])
        ledger.settled = OrderedDict((entry.id, entry) for entry in settled_entries)
        entries = [*ledger.open.values(), *ledger.settled.values()]
        numbers = {entry.number for entry in entries}
        settled = ledger.observed + ledger.censored + ledger.withdrawn
        seen = sum(entry.state == OBSERVED for entry in ledger.settled.values())
        if not (
            ledger.made <= MOST
            and len(entries) == len(content["open"]) + len(content["settled"]) == len(numbers)
            and not ledger.open.keys() & ledger.settled.keys()
            and all(1 <= number <= ledger.made for number in numbers)
            and all(type(e.id) is str or e.id == e.number for e in entries)
            and all(entry.state in (HELD, PENDING) for entry in ledger.open.values())
            and all(entry.state in STATES[2:] for entry in ledger.settled.values())
            and ledger.made == len(ledger.open) + settled
            and len(ledger.settled) <= min(ledger.remember, settled)
            and seen <= ledger.observed
            and len(ledger.settled) - seen <= ledger.censored + ledger.withdrawn
            and ledger.late <= ledger.observed
        ):
            raise ValueError("decisions")
        return ledger

    def counts(self) -> dict[str, int]:
        """Return how many decisions are in each state, and how many of those observed came late."""
        held = sum(entry.state == HELD for entry in self.open.values())
        return {
            HELD: held,
            PENDING: len(self.open) - held,
            OBSERVED: self.observed,
            CENSORED: self.censored,
            WITHDRAWN: self.withdrawn,
            "late": self.late,
        }


entry_fields = attrgetter(*Entry.__slots__)


def entry_row(entry: Entry) -> list[Any]:
    """Return a decision as numbers and texts."""
    row = list(entry_fields(entry))
    if isinstance(entry.payload, np.ndarray):
        row[Entry.__slots__.index("payload")] = entry.payload.tolist()
    return row


def _entry(row: Any, payload: Callable[[Any], Any]) -> Entry:
    entry = Entry(*row)
    real = [value for value in (entry.probability, entry.at, entry.reward) if value is not None]
    if not (
        (type(entry.id) is int or entry.id == identity(entry.id))
        and type(entry.number) is type(entry.choice) is type(entry.since) is int
        and type(entry.served) is bool
        and entry.choice >= 0
        and all(type(value) in (int, float) for value in [entry.error, *real])
        and 0.0 <= entry.error <= 1.0
        and (entry.probability is None or 0.0 <= entry.probability <= 1.0)
        and (entry.reward is not None) == (entry.state == OBSERVED)
        and entry.state in STATES
    ):
        raise ValueError("decision")
    entry.since = max(entry.since, entry.number)
    entry.payload = payload(entry.payload)
    return entry


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("count")
    return value


def same_row(rows: Vector, entry: Entry) -> bool:
    """Return whether a decision made earlier can be repeated for these actions."""
    if entry.choice >= len(rows):
        return False
    return entry.served or np.array_equal(rows[entry.choice], entry.payload)


def identity(value: Any) -> str:
    """Return a caller's id for a decision, or refuse it."""
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST or not value.isprintable():
        raise InvalidInput(
            "id",
            f"must be a printable text of 1 to {LONGEST} characters",
            value,
            "Use the id of the request.",
        )
    return value


def moment(field: str, at: Any) -> float | None:
    """Return a time in seconds: a number as it is, a datetime since 1970 in UTC."""
    if at is None or (type(at) is float and -1e15 < at < 1e15):
        return at
    if isinstance(at, datetime.datetime):
        if at.tzinfo is None:
            raise InvalidInput(
                field, "must have a time zone", at.isoformat(), "Use datetime.now(timezone.utc)."
            )
        return at.timestamp()
    if isinstance(at, str | datetime.date):
        raise InvalidInput(
            field,
            "must be a number of seconds, or a datetime with a time zone",
            at,
            "Use for example datetime.now(timezone.utc).",
        )
    return checks.number(field, at, at_least=-1e15, at_most=1e15)


def time_as(at: Any, seconds: float) -> str:
    """Write a time as `at` is given: a number in full, or a date in the same time zone."""
    if isinstance(at, datetime.datetime):
        return datetime.datetime.fromtimestamp(seconds, at.tzinfo).isoformat(sep=" ")
    return f"{seconds:.15g}"
