"""The events that a request adds to the log, given the state of its loop."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import numpy as np

from halfseen.agents.base import reward_value
from halfseen.agents.ledger import CENSORED, HELD, OBSERVED, PENDING
from halfseen.errors import InvalidInput, shorten
from halfseen.service import loop_events as kinds
from halfseen.service.drafting import Draft
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
from halfseen.service.fold import LoopState
from halfseen.service.known_decisions import Known, Orphan
from halfseen.service.loop_events import Event
from halfseen.service.offers import (
    decision_id,
    digest,
    from_log,
    in_request,
    names_offered,
    offered_actions,
    offered_arms,
    repeated,
    served_features,
    usable_chance,
)
from halfseen.service.pending_windows import was_set_back
from halfseen.service.refusals import Conflict, InvalidField, Refusal, UnknownDecision
from halfseen.service.several_rewards import (
    aggregate,
    differing,
    is_repeated,
    key_was_used,
    mark_of,
    of_several,
    rewards_of,
)

SWEPT = 5000  # decisions closed in one transaction
Rewards = list[list[Any]]  # see `told`


class Plan:
    """The events that one transaction adds to a loop, and the resulting answers.

    The state is that of all committed events and stays as it is: what is planned here is folded
    only once it is committed. What earlier requests of the plan add about the same decision is
    looked up in a draft.

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
        self.state, self.stored, self.archived = state, stored, archived
        self.set_back = was_set_back(state.tally.last_at, now)
        self.now = now if self.set_back else max(now, state.tally.last_at)
        self.events: list[Event] = []
        self._added: dict[str, list[Event]] = {}  # by decision
        self._draft: Draft | None = None
        self._ahead = 0
        self._key: str | None = None
        if self.set_back:  # requests are planned on the state that this event leaves
            self._add("", kinds.CLOCK)

    def answer(self, item: Item, key: str | None) -> Answer | Refusal:
        """Plan one request; return its answer or why it is refused."""
        self._key = key
        try:
            if type(item) is Decide:
                return self._decide(item)
            name = decision_id(item.id)
            if type(item) is Outcome:
                return self._outcome(name, item)
            if type(item) is Served:
                return self._served(name, item)
            assert type(item) is Activate
            return self._activate(name, item)
        except InvalidInput as error:
            return InvalidField.of(in_request(error))
        except Refusal as refusal:
            return refusal

    def _add(self, decision: str, kind: str, client_at: int | None = None, **more: Any) -> None:
        state = self.state
        seq = state.seq + len(self.events) + 1
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
        self._added.setdefault(decision, []).append(event)

    def _decide(self, item: Decide) -> Decided:
        request, orphan = digest(item), None
        if item.id is None:
            name = f"{self.now:014x}{os.urandom(9).hex()}"  # in order of time, for the index
        else:
            name = decision_id(item.id)
            made, orphan = self._known(name)
            if made is not None:
                if made.request != request:
                    raise Conflict(
                        f"Decision {shorten(name)} was already made for another request.",
                        field="id",
                        value=name,
                        fix="Use an id for one request only.",
                    )
                return repeated(made)
        if self.archived:
            raise Conflict(f"Loop {self.state.config.name} is archived: no more decisions.")
        state = self.state
        config = state.config
        if config.arms is None:
            names, rows = offered_actions(state, item)
            entry = state.agent.propose(rows, id=name, ahead=self._ahead)
            arm = names[entry.choice]
            features = entry.payload.astype("<f8").tobytes()
        else:
            entry = state.agent.propose(offered_arms(state, item), id=name, ahead=self._ahead)
            arm = config.arms[entry.choice]
            features = names_offered(item) if config.store_features else None
        held, chance = bool(item.hold), usable_chance(state, arm, entry.probability)
        self._ahead += 1
        self._add(
            name,
            kinds.HELD if held else kinds.DECIDED,
            item.client_at,
            arm=arm,
            probability=chance,
            version=state.seq,
            features=features,
            request=request,
        )
        expires = None if held else self.now + state.window
        answer = Decided(name, arm, chance, HELD if held else PENDING, state.seq, expires)
        if orphan is not None and not held:
            answer.state = self._match(name, orphan.rewards, state.rewards_rule())
        return answer

    def _match(self, name: str, rewards: list[list[Any]], rule: str) -> str:
        """Add the outcomes that came before their decision; return its state."""
        if rule == "first":
            reward, client_at, mark = rewards[0]
            return self._end(name, reward, client_at, mark)
        state = PENDING
        values: list[float] = []
        for reward, client_at, mark in rewards:
            if reward is None:
                if state == PENDING:
                    state = self._end(name, aggregate(rule, values), client_at)
                continue
            kind = kinds.REPORTED if state == PENDING else kinds.LATE
            self._add(name, kind, client_at, reward=reward, request=mark)
            values.append(reward)
        return state

    def _known(self, name: str) -> tuple[Known | None, Orphan | None]:
        """Return a decision, and the outcomes that came before it and still count."""
        entry, orphan = self.state.find(name), self.state.orphans.get(name)
        if entry is None and name in self.stored:
            entry = from_log(self.stored[name], self.state)
        if name in self._added:
            self._draft = self._draft or Draft(self.state)
            entry, orphan = self._draft.after(name, self._added[name], entry, orphan)
        if orphan is not None and orphan.expires < self.now:
            orphan = None
        return entry, orphan

    def _needed(self, name: str) -> tuple[Known, Orphan | None]:
        entry, orphan = self._known(name)
        if entry is None:
            raise UnknownDecision(
                f"Loop {self.state.config.name} made no decision {shorten(name)}.",
                field="id",
                value=name,
                fix="Use the id that the decision was answered with.",
            )
        return entry, orphan

    def _activate(self, name: str, item: Activate) -> Noted:
        entry, orphan = self._needed(name)
        if entry.state != HELD:
            return Noted(name, entry.state, created=False)
        self._add(name, kinds.ACTIVATED, item.client_at)
        if orphan is None:
            return Noted(name, PENDING)
        return Noted(name, self._match(name, orphan.rewards, self.state.rewards_rule(entry)))

    def _served(self, name: str, item: Served) -> Noted:
        entry, _ = self._needed(name)
        if entry.state not in (HELD, PENDING):
            raise Conflict(
                f"Decision {shorten(name)} is {entry.state} already.",
                field="id",
                value=name,
                fix="Report what was served before its outcome.",
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
        reward = self._reward(item)
        entry, orphan = self._known(name)
        self._once_per_key(rewards_of(entry or orphan), item, reward)
        rule = self.state.rewards_rule(entry)
        if entry is None:
            return self._without_decision(name, item, reward, orphan, rule)
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
            return self._late(entry, item, reward)
        if entry.state == PENDING:
            return self._in_time(entry, item, reward, rule)
        return self._settled(entry, item, reward, rule)

    def _in_time(self, entry: Known, item: Outcome, reward: float | None, rule: str) -> Noted:
        name = str(entry.id)
        if reward is None:
            return Noted(name, self._close(entry, item.client_at))
        if rule == "first":
            self._add(
                name, kinds.OBSERVED, item.client_at, reward=reward, request=mark_of(item.key)
            )
            return Noted(name, OBSERVED)
        if self._again(rule, entry.rewards, item, reward):
            return Noted(name, PENDING, created=False)
        self._check_aggregate(rule, entry, reward)
        self._add(name, kinds.REPORTED, item.client_at, reward=reward, request=mark_of(item.key))
        return Noted(name, PENDING)

    def _settled(self, entry: Known, item: Outcome, reward: float | None, rule: str) -> Noted:
        """Answer an outcome of a decision that is already observed or censored."""
        name = str(entry.id)
        known = [value for value, *_ in entry.rewards or []]
        if reward is None:
            if entry.state == OBSERVED and rule == "first" and not known:
                raise differing(name, entry.reward, None)
            return Noted(name, entry.state, created=False)
        if rule == "first":
            before = known or ([entry.reward] if entry.state == OBSERVED else [])
            if before:
                if before[-1] != reward:
                    raise differing(name, before[-1], reward)
                state = kinds.LATE if known else OBSERVED
                return Noted(name, state, created=False)
        elif self._again(rule, entry.rewards, item, reward):
            return Noted(name, entry.state, created=False)
        return self._late(entry, item, reward)

    def _late(self, entry: Known, item: Outcome, reward: float) -> Noted:
        """Add a reward that came after the window.

        If the decision was dropped from memory, the event records its arm and features.
        """
        more: dict[str, Any] = {"reward": reward, "request": mark_of(item.key)}
        name = str(entry.id)
        if self.state.find(name) is None and entry.state == CENSORED and not entry.rewards:
            more["arm"] = entry.shown
            if self.state.config.arms is None:
                stored = isinstance(entry.payload, bytes)  # from the log
                vector = entry.payload if stored else entry.payload.astype("<f8").tobytes()
                more["features"] = vector
        self._add(name, kinds.LATE, item.client_at, **more)
        return Noted(name, kinds.LATE)

    def _reward(self, item: Outcome) -> float | None:
        """Return the reward of an outcome, or refuse it in the words of a request."""
        try:
            return self._checked(item.reward)
        except InvalidInput as error:
            fix = "Correct it, or send null if it is missing."
            raise InvalidInput(error.field, error.requirement, error.value, fix) from None

    def _check_aggregate(self, rule: str, before: Known | Orphan | None, reward: float) -> None:
        """Refuse a reward whose aggregate with the others cannot be learned."""
        values = [value for value, *_ in rewards_of(before) if value is not None]
        try:
            self._checked(aggregate(rule, [*values, reward]))
        except InvalidInput as error:
            raise of_several(rule, error) from None

    def _checked(self, reward: Any) -> float | None:
        """Return a reward, None if it is missing; InvalidInput if the loop cannot learn it."""
        value = reward_value(reward)
        if value is not None:
            self.state.agent._check_reward(value)
        return value

    def _once_per_key(self, known: list[list[Any]], item: Outcome, reward: float | None) -> None:
        """Refuse a key that another reward of the same decision came with."""
        mark = mark_of(item.key)
        if mark is not None and any(one[2] == mark and one[0] != reward for one in known):
            raise key_was_used(item.id, item.key)

    def _again(self, rule: str, rewards: Rewards | None, item: Outcome, reward: Any) -> bool:
        return is_repeated(rule, rewards, reward, item.client_at, mark_of(item.key))

    def _without_decision(
        self, name: str, item: Outcome, reward: float | None, orphan: Orphan | None, rule: str
    ) -> Noted:
        several = rule != "first"
        if orphan is not None:
            if several and reward is not None:
                again = self._again(rule, orphan.rewards, item, reward)
            else:
                again = orphan.rewards[-1][0] == reward
            if again:
                return Noted(name, kinds.ORPHAN, created=False)
            if not several:
                raise differing(name, orphan.rewards[-1][0], reward)
        if several and reward is not None:
            self._check_aggregate(rule, orphan, reward)
        self._add(name, kinds.ORPHAN, item.client_at, reward=reward, request=mark_of(item.key))
        return Noted(name, kinds.ORPHAN)

    def _close(self, entry: Known, client_at: int | None = None) -> str:
        """Add the event that closes the window of a decision; return its state."""
        values = [value for value, *_ in rewards_of(entry)]
        reward = aggregate(self.state.rewards_rule(entry), values)
        return self._end(str(entry.id), reward, client_at)

    def _end(
        self, name: str, reward: float | None, client_at: int | None, mark: int | None = None
    ) -> str:
        """Add the event that ends a decision, with its reward if it has one; return its state.

        A reward that a revision of the loop has made invalid is not learned.
        """
        if reward is not None:
            with suppress(InvalidInput):
                self._checked(reward)
                self._add(name, kinds.OBSERVED, client_at, reward=reward, request=mark)
                return OBSERVED
        self._add(name, kinds.CENSORED, client_at, request=mark)
        return CENSORED

    def sweep(self) -> int:
        """Close the windows that have passed; return how many."""
        self._key = None
        count = 0
        for entry in self.state.pending.expired(self.now):
            if entry.id not in self._added:
                self._close(entry)
                count += 1
            if count >= SWEPT:
                break
        return count
