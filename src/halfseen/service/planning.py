"""What a request adds to the log, given the state of its loop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from halfseen.agents.base import reward_value
from halfseen.agents.ledger import CENSORED, HELD, OBSERVED, PENDING, identity
from halfseen.errors import InvalidInput, shorten
from halfseen.service import loop_events as kinds
from halfseen.service.exchange import (
    Activate,
    Answer,
    Decide,
    Decided,
    Item,
    Noted,
    Outcome,
    Served,
)
from halfseen.service.fold import Known, LoopState
from halfseen.service.loop_events import Event
from halfseen.service.offers import (
    digest,
    from_log,
    offered_actions,
    offered_arms,
    repeated,
    served_features,
)
from halfseen.service.refusals import Conflict, InvalidField, Refusal, UnknownDecision

SWEPT = 5000  # decisions closed in one transaction
AGGREGATES: dict[str, Any] = {
    "last": lambda values: values[-1],
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "max": max,
}


class Deferred(Exception):
    """The request is about a decision that another one in the same transaction is about."""


class Plan:
    """The events that one transaction adds to a loop, and the answers that then hold.

    The state is that of all committed events and stays as it is: what is planned here is folded
    only once it is committed. So no two requests of a plan may be about the same decision.

    Parameters
    ----------
    state
        The loop's state at the end of the log.
    now
        The server's time in microseconds.
    stored
        Events in the database of decisions that the state has dropped from memory.
    archived
        True if the loop makes no decisions any more.
    """

    def __init__(
        self, state: LoopState, now: int, stored: dict[str, list[Event]], *, archived: bool = False
    ) -> None:
        self.state, self.archived = state, archived
        self.now = max(now, state.tally.last_at)  # a clock that steps back reorders nothing
        self.stored = stored
        self.events: list[Event] = []
        self._touched: set[str] = set()
        self._ahead = 0
        self._key: str | None = None

    def answer(self, item: Item, key: str | None) -> Answer | Refusal:
        """Plan one request; return its answer or why it is refused, or raise Deferred."""
        self._key = key
        try:
            if type(item) is Decide:
                return self._decide(item)
            name = identity(item.id)
            if name in self._touched:
                raise Deferred
            if type(item) is Outcome:
                return self._outcome(name, item)
            if type(item) is Served:
                return self._served(name, item)
            assert type(item) is Activate
            return self._activate(name, item)
        except InvalidInput as error:
            return InvalidField.of(error)
        except Refusal as refusal:
            return refusal

    def _add(self, decision: str, kind: str, client_at: int | None = None, **more: Any) -> None:
        state = self.state
        seq = state.seq + len(self.events) + 1
        self._touched.add(decision)
        event = Event(
            state.loop,
            seq,
            state.revision,
            decision,
            kind,
            self.now,
            client_at,
            key=self._key,
            **more,
        )
        self.events.append(event)

    def _decide(self, item: Decide) -> Decided:
        request = digest(item)
        if item.id is None:
            name = f"{self.now:014x}{os.urandom(9).hex()}"  # in order of time, for the index
        else:
            name = identity(item.id)
            if name in self._touched:
                raise Deferred
            made = self._made(name)
            if made is not None:
                if made.request != request:
                    raise Conflict(
                        f"Decision {shorten(name)} was made already, for another request.",
                        field="id",
                        value=name,
                        fix="Use an id for one request only.",
                    )
                return repeated(made)
        if self.archived:
            raise Conflict(f"Loop {self.state.config.name} is archived: it decides nothing more.")
        state = self.state
        config = state.config
        if config.arms is None:
            names, rows = offered_actions(state, item)
            entry = state.agent.propose(rows, id=name, ahead=self._ahead)
            arm = names[entry.choice]
            features = entry.payload.astype("<f8").tobytes()
        else:
            entry = state.agent.propose(offered_arms(state, item), id=name, ahead=self._ahead)
            arm, features = config.arms[entry.choice], None
        held = bool(item.hold)
        self._ahead += 1
        self._add(
            name,
            kinds.HELD if held else kinds.DECIDED,
            item.client_at,
            arm=arm,
            probability=entry.probability,
            version=state.seq,
            features=features,
            request=request,
        )
        expires = None if held else self.now + state.window
        answer = Decided(
            name, arm, entry.probability, HELD if held else PENDING, state.seq, expires
        )
        orphan = state.orphans.get(name) if state.orphans else None
        if orphan is not None and not held and orphan.expires >= self.now:
            answer.state = self._match(name, orphan.rewards)
        return answer

    def _match(self, name: str, rewards: list[list[Any]]) -> str:
        """Add the outcomes that came before their decision; return its state."""
        if self.state.rules.rewards == "first":
            reward, client_at = rewards[0]
            kind = kinds.CENSORED if reward is None else kinds.OBSERVED
            self._add(name, kind, client_at, reward=reward)
            return kind
        for reward, client_at in rewards:
            if reward is not None:
                self._add(name, kinds.REPORTED, client_at, reward=reward)
        return PENDING

    def _made(self, name: str) -> Known | None:
        """Return a decision that was made, from memory or from the database."""
        entry = self.state.find(name)
        if entry is not None or name not in self.stored:
            return entry
        return from_log(self.stored[name], self.state.window)

    def _needed(self, name: str) -> Known:
        entry = self._made(name)
        if entry is None:
            raise UnknownDecision(
                f"Loop {self.state.config.name} made no decision {shorten(name)}.",
                field="id",
                value=name,
                fix="Use the id that the decision was answered with.",
            )
        return entry

    def _activate(self, name: str, item: Activate) -> Noted:
        entry = self._needed(name)
        if entry.state != HELD:
            return Noted(name, entry.state, created=False)
        self._add(name, kinds.ACTIVATED, item.client_at)
        orphan = self.state.orphans.get(name)
        if orphan is not None and orphan.expires >= self.now:
            return Noted(name, self._match(name, orphan.rewards))
        return Noted(name, PENDING)

    def _served(self, name: str, item: Served) -> Noted:
        entry = self._needed(name)
        if entry.state not in (HELD, PENDING):
            raise Conflict(
                f"Decision {shorten(name)} is {entry.state} already.",
                field="id",
                value=name,
                fix="Say what was served before its outcome.",
            )
        features = served_features(self.state, item)
        chance = item.probability
        chosen = entry.arm == item.arm and not entry.served and chance is None
        again = entry.served and self._shown(entry, item, features) and chance == entry.probability
        if chosen or again:
            return Noted(name, entry.state, created=False)
        stored = None if features is None else features.astype("<f8").tobytes()
        more: Any = {"arm": item.arm, "probability": chance, "features": stored}
        self._add(name, kinds.SERVED, item.client_at, **more)
        return Noted(name, entry.state)

    def _shown(self, entry: Known, item: Served, features: Any) -> bool:
        if features is not None:
            return bool(np.array_equal(entry.payload, features))
        return bool(entry.payload == self.state.places[item.arm])

    def _outcome(self, name: str, item: Outcome) -> Noted:
        reward = reward_value(item.reward)
        if reward is not None:
            self.state.agent._check_reward(reward)
        entry = self._made(name)
        several = self.state.rules.rewards != "first"
        if entry is None:
            return self._without_decision(name, item, reward, several)
        if entry.state == HELD:
            raise Conflict(
                f"Decision {shorten(name)} is held: it was not shown yet.",
                field="id",
                value=name,
                fix="Activate it first.",
            )
        if entry.state == PENDING and entry.expires is not None and self.now > entry.expires:
            closed = self._close(entry)
            if reward is None:
                return Noted(name, closed)
            self._add(name, kinds.LATE, item.client_at, reward=reward)
            return Noted(name, kinds.LATE)
        if entry.state == PENDING:
            return self._in_time(entry, item, reward, several)
        return self._settled(entry, item, reward, several)

    def _in_time(self, entry: Known, item: Outcome, reward: float | None, several: bool) -> Noted:
        name = str(entry.id)
        if reward is None:
            return Noted(name, self._close(entry, item.client_at))
        if not several:
            self._add(name, kinds.OBSERVED, item.client_at, reward=reward)
            return Noted(name, OBSERVED)
        if self._again(entry.rewards, reward, item.client_at):
            return Noted(name, PENDING, created=False)
        self._add(name, kinds.REPORTED, item.client_at, reward=reward)
        return Noted(name, PENDING)

    def _settled(self, entry: Known, item: Outcome, reward: float | None, several: bool) -> Noted:
        """Answer an outcome of a decision that is observed or censored already."""
        name = str(entry.id)
        known = [value for value, _ in entry.rewards or []]
        if reward is None:
            if entry.state == OBSERVED and not several and not known:
                raise _differs(name, entry.reward, None)
            return Noted(name, entry.state, created=False)
        if not several:
            before = known or ([entry.reward] if entry.state == OBSERVED else [])
            if before:
                if before[-1] != reward:
                    raise _differs(name, before[-1], reward)
                state = kinds.LATE if known else OBSERVED
                return Noted(name, state, created=False)
        elif self._again(entry.rewards, reward, item.client_at):
            return Noted(name, entry.state, created=False)
        self._add(name, kinds.LATE, item.client_at, reward=reward)
        return Noted(name, kinds.LATE)

    def _again(self, rewards: list[list[Any]] | None, reward: float, client_at: Any) -> bool:
        """Tell whether a reward is a repeated one: told apart by the client's time for sums."""
        if not rewards:
            return False
        if self.state.rules.rewards in ("sum", "mean"):
            return client_at is not None and [reward, client_at] in rewards
        if self.state.rules.rewards == "last":
            return bool(rewards[-1][0] == reward)
        return any(value == reward for value, _ in rewards)

    def _without_decision(
        self, name: str, item: Outcome, reward: float | None, several: bool
    ) -> Noted:
        orphan = self.state.orphans.get(name)
        if orphan is not None and orphan.expires >= self.now:
            if several and reward is not None:
                again = self._again(orphan.rewards, reward, item.client_at)
            else:
                again = orphan.rewards[-1][0] == reward
            if again:
                return Noted(name, kinds.ORPHAN, created=False)
            if not several:
                raise _differs(name, orphan.rewards[-1][0], reward)
        self._add(name, kinds.ORPHAN, item.client_at, reward=reward)
        return Noted(name, kinds.ORPHAN)

    def _close(self, entry: Known, client_at: int | None = None) -> str:
        """Add the event that closes the window of a decision; return its state."""
        values = [value for value, _ in entry.rewards or []]
        if not values:
            self._add(str(entry.id), kinds.CENSORED, client_at)
            return CENSORED
        reward = float(AGGREGATES[self.state.rules.rewards](values))
        self._add(str(entry.id), kinds.OBSERVED, client_at, reward=reward)
        return OBSERVED

    def sweep(self) -> int:
        """Close the windows that have passed; return how many."""
        self._key = None
        count = 0
        for entry in expired(self.state, self.now):
            if entry.id not in self._touched:
                self._close(entry)
                count += 1
            if count >= SWEPT:
                break
        return count


def expired(state: LoopState, now: int) -> Iterator[Known]:
    """Go through the pending decisions whose window has closed."""
    entries: Any = state.agent._ledger.open
    for entry in entries.values():
        if entry.expires is None:
            continue
        if entry.expires >= now:
            return
        yield entry


def _differs(name: str, before: float | None, reward: float | None) -> Conflict:
    known = "missing" if before is None else f"the reward {before:g}"
    return Conflict(
        f"Decision {shorten(name)} has an outcome already: {known}. Nothing was changed.",
        field="reward",
        value=reward,
        fix="Send one outcome per decision, or let the loop take several (`rewards`).",
    )
