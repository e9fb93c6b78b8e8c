"""The state of a loop, a pure function of its events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from halfseen.agents.arms import Agent
from halfseen.agents.base import LiveAgent
from halfseen.agents.ledger import CENSORED, HELD, PENDING, Entry, entry_fields
from halfseen.agents.more_arms import with_arms
from halfseen.errors import HalfseenError, StorageError
from halfseen.service import loop_events as kinds
from halfseen.service.known_decisions import Known, Orphan, Tally, told
from halfseen.service.loop_config import LoopConfig
from halfseen.service.loop_events import Event
from halfseen.service.pending_windows import PATIENCE, PendingWindows
from halfseen.studies.storage import sealed

FORMAT = 2
Configs = dict[int, LoopConfig]  # by revision


class Refold(HalfseenError):
    """What is learned changed with a revision: the log must be folded again from its beginning."""


class LoopState:
    """The state of one loop: its agent, the outcomes without a decision, and counts.

    Parameters
    ----------
    loop
        The loop's number.
    configs
        Its configurations by revision. What is learned follows the newest one from the beginning
        of the log on; only the arms are those of the revision in force.
    """

    def __init__(self, loop: int, configs: Configs) -> None:
        self.loop = loop
        self._take(configs)
        self.revision, self.seq = 1, 0
        self.config = self._in_force(1)
        self.agent: LiveAgent = self.config.agent()
        self.orphans: dict[str, Orphan] = {}  # the first that came is the first
        self.pending = PendingWindows()
        self.steps_back: list[tuple[int, int]] = []  # events at which the clock was set back, when
        self.tally = Tally()
        self.watcher: Callable[[Event], None] | None = None  # called before a fold
        self._name_arms()

    def empty(self) -> LoopState:
        """Return a state with the same settings and no decisions."""
        state = LoopState(self.loop, self.configs)
        state._enter(self.revision)
        state.agent = state.config.agent()
        return state

    def _enter(self, revision: int) -> None:
        self.revision = revision
        self.config = self._in_force(revision)
        self._name_arms()

    def _in_force(self, revision: int) -> LoopConfig:
        own = self.configs[revision]
        names = ("arms", "retired", "floor", "window")
        return self.rules.model_copy(update={name: getattr(own, name) for name in names})

    def _name_arms(self) -> None:
        config = self.config
        self.places = {arm: place for place, arm in enumerate(config.arms or [])}
        self.window = config.window_us
        self.everything = not config.retired
        self._folds = _FOLDS

    def learn_of(self, configs: Configs) -> bool:
        """Add newer configurations; False if the log must be folded again for them."""
        newest = configs[max(configs)]
        same = newest.same_but_arms(self.rules)
        if same:
            self._take(configs)
        return same

    def _take(self, configs: Configs) -> None:
        self.configs, self.rules = dict(configs), configs[max(configs)]
        self._windows = {revision: config.window_us for revision, config in configs.items()}

    def rewards_rule(self, decision: Known | None = None) -> str:
        """Return the rule for several rewards: of a decision that in force when it was made."""
        revision = self.revision if decision is None else decision.revision
        return self.configs[revision].rewards

    def window_of(self, decision: Known) -> int:
        """Return the window in force when a decision was made, in microseconds."""
        return self._windows[decision.revision]

    def dated(self, seq: int, at: int) -> int:
        """Return when an event was written: not after the clock was next set back."""
        return min(at, next((then for step, then in self.steps_back if step > seq), at))

    def find(self, decision: str) -> Known | None:
        """Return a decision that is remembered."""
        ledger = self.agent._ledger
        return ledger.open.get(decision) or ledger.settled.get(decision)  # type: ignore[return-value]

    @property
    def complete(self) -> bool:
        """Whether no decision was dropped from memory."""
        ledger = self.agent._ledger
        return ledger.made == len(ledger.open) + len(ledger.settled)

    def fold(self, event: Event) -> None:
        """Fold the next event; those already folded are skipped."""
        if event.seq != self.seq + 1:
            if event.seq <= self.seq:
                return
            raise StorageError(
                f"Event {self.seq + 1} of loop {self.config.name} is missing from the log."
            )
        if self.watcher is not None:
            self.watcher(event)
        self._folds[event.kind](self, event)
        self.seq = event.seq
        self.tally.last_at = max(self.tally.last_at, event.at)

    def fold_all(self, events: Iterable[Event]) -> LoopState:
        """Fold events in order; return the state."""
        for event in events:
            try:
                self.fold(event)
            except Exception as error:
                error.add_note(f"event {event.seq}")
                raise
        return self

    def _decided(self, event: Event) -> None:
        held = event.kind == kinds.HELD
        arm = event.arm or ""
        if self.config.arms is None:
            choice, payload = 0, self.vector(event)
        else:
            choice = payload = self.places[arm]
            arm = self.config.arms[choice]  # one string object for all decisions
        chance = event.probability
        version = event.version or 0
        entry = Known(
            event.decision,
            0,
            choice,
            payload,
            chance,
            state=HELD if held else PENDING,
            seq=event.seq,
            version=version,
            request=event.request,
            arm=arm,
            chance=chance,
            shown=arm,
            revision=event.revision,
        )
        self.agent.record(entry)
        tally = self.tally
        tally.decided += 1
        if held:
            tally.held += 1
        else:
            tally.pending += 1
            self.pending.open(entry, event.at, self.window)
        tally.per_arm[arm] = tally.per_arm.get(arm, 0) + 1
        tally.shown[arm] = tally.shown.get(arm, 0) + 1
        if not held:
            self._match(event)

    def _match(self, event: Event) -> None:
        """Drop the outcomes that waited for this decision to be shown; they follow in the log."""
        orphan = self.orphans.pop(event.decision, None) if self.orphans else None
        if orphan is not None and orphan.expires >= event.at:
            self.tally.matched += len(orphan.rewards)

    def vector(self, event: Event) -> Any:
        """Return the features of an event."""
        if event.features is None:
            raise StorageError(
                f"The features of event {event.seq} of loop {self.config.name} were erased."
            )
        return np.frombuffer(event.features, dtype="<f8").copy()

    def _activated(self, event: Event) -> None:
        self.agent.activate(event.decision)
        entries = self.agent._ledger.open
        entry: Any = entries.pop(event.decision)
        entries[event.decision] = entry  # the first shown is the first
        self.pending.open(entry, event.at, self.window_of(entry))
        self.tally.held -= 1
        self.tally.pending += 1
        self._match(event)

    def _served(self, event: Event) -> None:
        shown: Any = event.arm if self.config.arms is not None else self.vector(event)
        agent: Any = self.agent
        agent.served(event.decision, shown, probability=event.probability)
        self.tally.served += 1
        entry, arm = self.find(event.decision), event.arm or ""
        assert entry is not None
        per_arm = self.tally.shown
        per_arm[entry.shown] -= 1
        per_arm[arm] = per_arm.get(arm, 0) + 1
        entry.shown = arm

    def _reported(self, event: Event) -> None:
        entry = self.find(event.decision)
        assert entry is not None
        entry.rewards = [*(entry.rewards or []), told(event)]

    def _observed(self, event: Event) -> None:
        self._end(event)
        self.agent.observe(event.decision, event.reward)
        self.tally.observed += 1

    def _censored(self, event: Event) -> None:
        self._end(event)
        self.agent.miss(event.decision)
        self.tally.censored += 1

    def _end(self, event: Event) -> None:
        entry = self.find(event.decision)
        if entry is not None:
            self.pending.close(event.decision, self.window_of(entry))
        self.tally.pending -= 1

    def _late(self, event: Event) -> None:
        self.tally.late += 1
        entry = self.find(event.decision)
        if entry is None:
            if self.rules.late == "learn" and event.arm is not None:
                self._learn_dropped(event)
            return
        entry.rewards = [*(entry.rewards or []), told(event)]
        if self.rules.late == "learn" and entry.state == CENSORED:
            self.agent.observe(event.decision, event.reward)
            self.tally.late_learned += 1

    def _learn_dropped(self, event: Event) -> None:
        """Learn the late reward of a decision that memory has dropped."""
        payload: Any = self.places[event.arm or ""] if self.places else self.vector(event)
        reward: Any = event.reward
        ledger = self.agent._ledger
        ledger.observed, ledger.censored = ledger.observed + 1, ledger.censored - 1
        ledger.late += 1
        self.agent._learn_from(Entry(event.decision, 0, 0, payload), reward, late=True)
        self.tally.late_learned += 1

    def _orphan(self, event: Event) -> None:
        self.tally.orphans += 1
        orphans = self.orphans
        while orphans and next(iter(orphans.values())).expires < event.at:
            del orphans[next(iter(orphans))]
        orphan = orphans.get(event.decision)
        if orphan is None or orphan.expires < event.at:
            orphans.pop(event.decision, None)
            orphan = orphans[event.decision] = Orphan([], event.at + self.window)
        orphan.rewards.append(told(event))
        orphan.seq = event.seq

    def _revised(self, event: Event) -> None:
        if event.revision not in self.configs:
            raise Refold(f"Revision {event.revision} is not known.")
        self._enter(event.revision)
        if isinstance(self.agent, Agent):
            arms, config = self.config.arms or [], self.config
            self.agent = with_arms(self.agent, arms, noise=config.noise, floor=config.floor)
        else:
            self.agent.floor = self.config.floor

    def _clock(self, event: Event) -> None:
        """Restart the windows that the clock dated later than now."""
        self.pending.step_back(event.at)
        for orphan in self.orphans.values():
            orphan.expires = min(orphan.expires, event.at + self.window)
        earlier = [step for step in self.steps_back if step[1] < event.at - PATIENCE]
        self.steps_back = [*earlier, (event.seq, event.at)]
        self.tally.last_at = event.at

    def _forgotten(self, event: Event) -> None:
        settled: Any = self.agent._ledger.settled
        held = [e for e in self.agent._ledger.open.values() if e.state == HELD]
        for entry in held:
            if isinstance(entry, Known) and entry.seq == event.version:
                self.agent.withdraw(entry.id)
                self.tally.held -= 1
        for name in [name for name, entry in settled.items() if entry.seq == event.version]:
            self.agent.forget(name)
        for name in [name for name, orphan in self.orphans.items() if orphan.seq == event.request]:
            del self.orphans[name]
        self.tally.forgotten += 1

    def remembered(self, events: Collection[int]) -> list[int]:
        """Return those events whose decisions, or outcomes without one, are in memory."""
        settled: Any = self.agent._ledger.settled
        entries = (*settled.values(), *self.orphans.values())
        return sorted(entry.seq for entry in entries if entry.seq in events)

    def _dropped(self, event: Event) -> None:
        made = set(np.frombuffer(event.features or b"", dtype="<i8").tolist())
        settled: Any = self.agent._ledger.settled
        for name in [name for name, entry in settled.items() if entry.seq in made]:
            self.agent.forget(name)
        self.orphans = {name: o for name, o in self.orphans.items() if o.seq not in made}

    def to_dict(self) -> dict[str, Any]:
        """Return the state as numbers, texts, lists and dictionaries, checksum included."""
        ledger: Any = self.agent._ledger
        return sealed(
            self.without_decisions()
            | {
                "agent": self.agent.to_dict(),
                "open": [entry.extra() for entry in ledger.open.values()],
                "settled": [entry.extra() for entry in ledger.settled.values()],
            }
        )

    def without_decisions(self) -> dict[str, Any]:
        """Return what `to_dict` does, but for the decisions and the checksums."""
        return {
            "format": FORMAT,
            "loop": self.loop,
            "seq": self.seq,
            "revision": self.revision,
            "rules": self.rules.to_dict(),
            "agent": self.agent._without_decisions(),
            "orphans": [
                [name, list(o.rewards), o.expires, o.seq] for name, o in self.orphans.items()
            ],
            "steps_back": [list(step) for step in self.steps_back],
            "tally": asdict(self.tally),
        }

    @classmethod
    def from_dict(cls, content: Any, configs: Configs) -> LoopState:
        """Return the state of which `to_dict` was taken; StorageError if it is none."""
        refusal = StorageError("A snapshot is damaged, or of another version or configuration.")
        if not isinstance(content, dict) or sealed(content) != content:
            raise refusal
        try:
            state = cls(content["loop"], configs)
            rules = LoopConfig.model_validate(content["rules"])
            if content["format"] != FORMAT or not rules.same_but_arms(state.rules):
                raise refusal
            state.seq = content["seq"]
            state._enter(content["revision"])
            state.agent = type(state.agent).from_dict(content["agent"])
            ledger: Any = state.agent._ledger
            for group in ("open", "settled"):
                entries, extras = getattr(ledger, group), content[group]
                for (name, entry), extra in zip(entries.items(), extras, strict=True):
                    entries[name] = _remembered(entry, extra)
            for entry in ledger.open.values():
                if entry.expires is not None:
                    state.pending.restore(entry, state.window_of(entry))
            state.steps_back = [(seq, at) for seq, at in content.get("steps_back", [])]
            state.orphans = {name: Orphan(*rest) for name, *rest in content["orphans"]}
            state.tally = Tally(**content["tally"])
        except (KeyError, TypeError, ValueError):
            raise refusal from None
        return state


def _remembered(entry: Entry, extra: list[Any]) -> Known:
    return Known(*entry_fields(entry), *extra)


Fold = Callable[[LoopState, Event], None]
_FOLDS: dict[str, Fold] = {
    kinds.DECIDED: LoopState._decided,
    kinds.HELD: LoopState._decided,
    kinds.ACTIVATED: LoopState._activated,
    kinds.SERVED: LoopState._served,
    kinds.REPORTED: LoopState._reported,
    kinds.OBSERVED: LoopState._observed,
    kinds.CENSORED: LoopState._censored,
    kinds.LATE: LoopState._late,
    kinds.ORPHAN: LoopState._orphan,
    kinds.REVISED: LoopState._revised,
    kinds.CLOCK: LoopState._clock,
    kinds.FORGOTTEN: LoopState._forgotten,
    kinds.DROPPED: LoopState._dropped,
}
