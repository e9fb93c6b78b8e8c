"""The base of all live agents: decisions, their outcomes, time, and the saved file."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from pathlib import Path
from threading import RLock
from typing import Any, Self

from pydantic import ValidationError

from halfseen import checks
from halfseen.agents.elsewhere import Shared, Turn
from halfseen.agents.ledger import (
    CENSORED,
    HELD,
    OBSERVED,
    PENDING,
    WITHDRAWN,
    Entry,
    Ledger,
    identity,
    moment,
    time_as,
)
from halfseen.display import Shown
from halfseen.errors import DecisionError, InvalidInput, InWords, StorageError, shorten
from halfseen.phrases import counted
from halfseen.problems.arms import LARGEST
from halfseen.studies.storage import read_json, sealed, write_text

EARLIER, FORMAT = 2, 3
DRAWS = 400  # Monte Carlo draws per estimated probability


class LiveAgent(Shared, Shown, ABC):
    """A policy with its state, used one decision at a time.

    A decision is *pending* until `observe` or `miss` settles it, or *held* until `activate` says
    that it is shown. The same outcome again changes nothing; another one raises `DecisionError`.
    A reward that comes after `miss` or `expire` is late: it is counted, and learned unless the
    policy learned something from the miss that cannot be replaced.
    """

    policy: Any
    setting: Any
    _imputes: bool  # the policy imputes missing feedback

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = RLock()

    def _open_ledger(self, remember: int) -> None:
        field = f"{type(self).__name__}.remember"
        self._ledger = Ledger(checks.whole(field, remember, at_least=0, at_most=10**8))
        self._lock = RLock()

    def _floored(self, count: int, turn: Turn) -> tuple[int | None, float, float]:
        """Return which choice the floor takes, if any, the floor, and what it leaves."""
        if not self.floor > 0.0:
            return None, 0.0, 1.0
        floor = min(self.floor, 1.0 / count)
        coin = turn.coin
        taken = min(int(coin / floor), count - 1) if coin < floor * count else None
        return taken, floor, max(0.0, 1.0 - floor * count)

    @abstractmethod
    def _learn_from(self, entry: Entry, reward: float, late: bool) -> None:
        """Learn the reward of a decision, unless it is late and cannot replace an imputed one."""

    @abstractmethod
    def _learn_missing(self, entry: Entry) -> None:
        """Handle a missing reward of a decision."""

    @abstractmethod
    def _name(self, choice: int) -> Any:
        """Return the public name of a choice."""

    def _check_reward(self, reward: float) -> None:
        """Refuse an invalid reward."""

    @abstractmethod
    def _content(self) -> dict[str, Any]:
        """Return the state without the decisions."""

    @classmethod
    @abstractmethod
    def _made(cls, content: dict[str, Any], source: str) -> Self:
        """Return a new agent with the policy and the setting of a saved one."""

    @abstractmethod
    def _restore(self, content: dict[str, Any]) -> None:
        """Restore a saved state, given the decisions; ValueError if it is invalid."""

    @abstractmethod
    def _payload(self, stored: Any) -> Any:
        """Return the payload of a stored decision; ValueError if it is invalid."""

    @classmethod
    @abstractmethod
    def _renewed(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Return the content of the earlier format in today's."""

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._ledger.made

    @property
    def observations(self) -> int:
        """How many rewards were observed."""
        return self._ledger.observed

    @property
    def counts(self) -> dict[str, int]:
        """How many decisions are held, pending, observed and censored, and how many came late."""
        with self._lock:
            return self._ledger.counts()

    def _size(self) -> str:
        """Return the number of choices."""
        return f"dimension {self.setting.dimension}"

    def _headline(self) -> str:
        counts = self.counts
        return (
            f"{self.policy!r}, {self._size()}; {counted('decision', self.decisions)},"
            f" {self.observations:,} observed, {counts[PENDING]:,} pending"
        )

    def observe(self, decision: Any, reward: float | None, *, at: Any = None) -> None:
        """Learn the reward of a decision; None or NaN is the same as `miss`.

        After `miss` or `expire` it is counted as late. It then replaces the 0 that `ImputeZero`
        learned, as a rule; other policies that learned from the miss keep what they learned.

        Parameters
        ----------
        decision
            What `choose` returned, or its id.
        reward
            The reward. The same one again changes nothing, another one is refused.
        at
            When it came, in seconds or as a datetime; not before the decision.
        """
        value = reward_value(reward)
        if value is None:
            return self.miss(decision, at=at)
        self._check_reward(value)
        with self._lock:
            entry = self._found(decision, at)
            if entry.state == OBSERVED:
                if entry.reward == value:
                    return None
                raise DecisionError(
                    f"Decision {shorten(entry.id)} was observed already, with the reward"
                    f" {entry.reward:g}, not {value:g}. Nothing was changed."
                )
            late = self._ledger.observe(entry, value)
            self._learn_from(entry, value, late)
            return None

    def miss(self, decision: Any, *, at: Any = None) -> None:
        """Settle a decision whose reward will not come."""
        with self._lock:
            entry = self._found(decision, at)
            if entry.state == OBSERVED:
                raise DecisionError(
                    f"Decision {shorten(entry.id)} was observed already, with the reward"
                    f" {entry.reward:g}; it cannot be missed. Nothing was changed."
                )
            if entry.state != CENSORED:
                self._ledger.miss(entry)
                self._learn_missing(entry)

    def activate(self, decision: Any, *, at: Any = None) -> None:
        """Report that a held decision is now shown; its time begins.

        `at` is needed if the decision has a time, and cannot be before it.
        """
        shown = moment("at", at)
        with self._lock:
            entry = self._open(decision)
            if entry.state != HELD:
                return
            if entry.at is not None and (shown is None or shown < entry.at):
                raise InvalidInput(
                    "at",
                    f"must be a time not before the decision, which was made at {entry.at:g}",
                    at,
                    "Give the time at which it is shown.",
                )
            entry.at, entry.state, entry.since = shown, PENDING, self._ledger.made
            self._show(entry)

    def withdraw(self, decision: Any) -> None:
        """Report that a held decision will not be shown: it is neither played nor missed."""
        with self._lock:
            entry = self._known(decision)
            if entry.state == WITHDRAWN:
                return
            if entry.state != HELD:
                raise DecisionError(
                    f"Decision {shorten(entry.id)} was shown; only a decision that is held can be"
                    " withdrawn. Nothing was changed."
                )
            self._ledger.withdraw(entry)

    def _open(self, decision: Any) -> Entry:
        """Return the entry of a decision without an outcome, or refuse."""
        entry = self._known(decision)
        if entry.state not in (HELD, PENDING):
            raise DecisionError(
                f"Decision {shorten(entry.id)} is already settled. Nothing was changed."
            )
        return entry

    def _serve(self, entry: Entry, payload: Any, probability: float | None) -> None:
        """Record what was shown, and with which probability if known."""
        if probability is not None:
            limits: Any = {"above": 0.0, "at_most": 1.0}
            probability = checks.number("probability", probability, **limits)
        entry.payload, entry.probability, entry.error = payload, probability, 0.0
        entry.served = True

    def expire(self, age: int | None = None, *, before: Any = None) -> int:
        """Miss pending decisions that are too old, and withdraw held ones; return how many.

        Parameters
        ----------
        age
            Those made, or activated, at least this many decisions ago.
        before
            Those made, or activated, before this time, in seconds or as a datetime. Decisions
            without a time do not expire by it.
        """
        if (age is None) == (before is None):
            raise InvalidInput(
                "expire", "must be given either `age` or `before`", age, "Use expire(age=1000)."
            )
        with self._lock:
            if age is not None:
                limit = self._ledger.made - checks.whole("age", age, at_least=0)
                old = [e for e in self._ledger.open.values() if e.since <= limit]
            else:
                edge = moment("before", before)
                assert edge is not None
                entries = self._ledger.open.values()
                old = [e for e in entries if e.at is not None and e.at < edge]
            for entry in old:
                if entry.state == HELD:
                    self._ledger.withdraw(entry)
                else:
                    self._ledger.miss(entry)
                    self._learn_missing(entry)
            return len(old)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole state as numbers, texts, lists and dictionaries, checksum included."""
        with self._lock:
            return sealed(self._without_decisions() | {"ledger": self._ledger.content()})

    def _without_decisions(self) -> dict[str, Any]:
        return {"format": FORMAT, **self._content(), "ledger": self._ledger.totals()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Return the agent that `to_dict` described."""
        return cls._from(content, "This dictionary")

    def save(self, path: Path | str) -> None:
        """Write the whole state as JSON; `load` continues from it bit for bit."""
        write_text(Path(path), json.dumps(self.to_dict()) + "\n")

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read an agent that `save` wrote; a damaged or altered file is refused."""
        return cls._from(read_json(Path(path)), str(path))

    @classmethod
    def _from(cls, content: Any, source: str) -> Self:
        """Return the agent of a saved content; `source` names it in messages."""
        refusal = StorageError(
            f"{source} is not the state of {phrase(cls.__name__)}, or was cut short or altered."
            " Use an earlier copy."
        )
        if not isinstance(content, dict) or sealed(content) != content:
            raise refusal
        if content.get("format") not in (EARLIER, FORMAT):
            raise StorageError(f"{source} was written by another version. Use that version.")
        try:
            if content["format"] == EARLIER:
                content = cls._renewed(content)
            agent = cls._made(content, source)
            payload = agent._payload
            agent._ledger = Ledger.restored(content["ledger"], payload)
            agent._restore(content)
        except InvalidInput as error:
            raise StorageError(f"{source} cannot be used: {error}")
        except (ValidationError, KeyError, TypeError, ValueError, IndexError, RecursionError):
            raise refusal from None
        return agent

    def _known(self, decision: Any) -> Entry:
        """Return the entry of a decision or an id, or refuse and change nothing."""
        if not isinstance(decision, tuple) or len(decision) < 2:
            return self._ledger.find(decision)
        entry = self._ledger.open.get(decision[0]) or self._ledger.find(decision[0])
        if decision[1] != self._name(entry.choice):
            raise DecisionError(
                f"Decision {shorten(entry.id)} was for choice {self._name(entry.choice)}, not"
                f" {shorten(decision[1])}; it comes from another agent. Nothing was changed."
            )
        return entry

    def _found(self, decision: Any, at: Any) -> Entry:
        """Return the entry of a decision whose outcome came at a time."""
        entry = self._known(decision)
        if entry.state == HELD:
            raise DecisionError(
                f"Decision {shorten(entry.id)} is held: activate it first. Nothing was changed."
            )
        if entry.state == WITHDRAWN:
            raise DecisionError(
                f"Decision {shorten(entry.id)} was withdrawn: it was never shown. Nothing was"
                " changed."
            )
        if at is not None:
            came = moment("at", at)
            if came is not None and entry.at is not None and came < entry.at:
                raise InvalidInput(
                    "at",
                    f"must not be before the decision at {time_as(at, entry.at)}",
                    InWords(time_as(at, came)),
                    "Check the clocks.",
                )
        return entry

    def _times(self, count: Any, id: Any) -> int:
        """Return how often to choose, or refuse it."""
        if id is not None:
            raise InvalidInput("id", "must be left out with `count`", id, "Call choose(id=).")
        return checks.whole("count", count, at_least=0, at_most=10**7)

    def _again(self, name: str) -> Entry | None:
        """Return a decision that was made under this id already, None if there is none."""
        return self._ledger.known(identity(name))


def phrase(name: str) -> str:
    """Return a class's name with its article.

    >>> phrase("Agent"), phrase("LinearAgent")
    ('an Agent', 'a LinearAgent')
    """
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def reward_value(reward: Any) -> float | None:
    """Return a reward as a float, None if it is missing, or refuse it."""
    if reward is None:
        return None
    value = reward if type(reward) is float else _number(reward)
    if value != value:
        return None
    if not -LARGEST <= value <= LARGEST:
        raise InvalidInput(
            "reward",
            f"must be a number between -{LARGEST:g} and {LARGEST:g}",
            reward,
            "Use miss() for missing feedback.",
        )
    return value


def _number(reward: Any) -> float:
    """Return a reward as a float, infinite if it is none."""
    try:
        return math.inf if isinstance(reward, str | bytes) else float(reward)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def estimated(count: int, draws: int) -> tuple[float, float]:
    """Return a probability estimated by draws, with its standard error: a uniform prior's.

    >>> estimated(4, 8)
    (0.5, 0.15075567228888181)
    """
    mean = (count + 1.0) / (draws + 2.0)
    return mean, math.sqrt(mean * (1.0 - mean) / (draws + 3.0))
