"""Validation of the arms and features of a request against its loop."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from halfseen.agents.ledger import CENSORED, OBSERVED, identity
from halfseen.agents.saved_state import of_unit_length
from halfseen.errors import InvalidInput, counted_entries, shorten
from halfseen.problems.action_arrays import action_rows
from halfseen.service import loop_events as kinds
from halfseen.service.exchange import Decide, Decided, Served
from halfseen.service.fold import LoopState
from halfseen.service.known_decisions import Known
from halfseen.service.loop_events import Event
from halfseen.service.refusals import NotStored

MOST_ACTIONS = 1000


def decision_id(value: Any) -> str:
    """Return the id of a decision, which must be valid in a URL."""
    name = identity(value)
    if "\ufffd" in name:
        raise InvalidInput("id", "must be UTF-8", name, "Encode it as UTF-8 and percent-encode it.")
    if name in (".", ".."):
        raise InvalidInput("id", "must not be . or ..: no URL can hold it", name, "Use another id.")
    if name.startswith(kinds.ERASED):
        raise InvalidInput(
            "id",
            f'must not begin with "{kinds.ERASED}", as the names of erased decisions do',
            name,
            "Use another id.",
        )
    return name


def offered_arms(state: LoopState, item: Decide) -> Any:
    """Return a 1 for every arm on offer, None if all are."""
    if item.features is not None:
        raise InvalidInput(
            "features",
            "must be left out: the loop chooses among arms",
            counted_entries(len(item.features)),
            "Make a loop with `dimension` for features.",
        )
    if item.available is None:
        if state.everything:
            return None
        names = state.config.offered()
    else:
        names = list(item.available)
    retired = [arm for arm in names if arm in state.config.retired]
    if retired:
        raise InvalidInput("available", "must not name a retired arm", retired[0], "Leave it out.")
    agent: Any = state.agent
    return agent.arms.playable(names)


def in_request(error: InvalidInput) -> InvalidInput:
    """Return an error of the library with the request's name for the field."""
    if not error.field.startswith("actions"):
        return error
    field = error.field.replace("actions", "features", 1)
    return InvalidInput(field, error.requirement, error.value, error.fix)


def names_offered(item: Decide) -> bytes | None:
    """Return the arms on offer as stored with the decision."""
    return None if item.available is None else json.dumps(list(item.available)).encode()


def offered_actions(state: LoopState, item: Decide) -> tuple[list[str], Any]:
    """Return the names and the features of the actions on offer."""
    dimension = state.config.dimension
    try:
        rows = action_rows(item.features)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.ndim != 2 or len(rows) == 0 or rows.shape[1] != dimension:
        raise InvalidInput(
            "features",
            f"must be one row of {dimension} numbers per action",
            item.features,
            "Offer at least one action.",
        )
    if len(rows) > MOST_ACTIONS:
        raise InvalidInput(
            "features", f"must be at most {MOST_ACTIONS} actions", len(rows), "Offer fewer."
        )
    names = [str(k) for k in range(len(rows))]
    if item.available is not None:
        names = [_name(f"available[{place}]", name) for place, name in enumerate(item.available)]
        if len(names) != len(rows):
            raise InvalidInput(
                "available",
                f"must name the {len(rows)} actions of `features`",
                counted_entries(len(names)),
                "Give a name per row.",
            )
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInput(
                "available", "must name each action once", twice, "Give different names."
            )
    return names, rows


def _name(field: str, value: Any) -> str:
    """Return the name of an action, or refuse it."""
    try:
        return identity(value)
    except InvalidInput as error:
        raise InvalidInput(field, error.requirement, value, "Use another name.") from None


def usable_chance(state: LoopState, arm: str, chance: float | None) -> float | None:
    """Return the probability of a choice, at most 1; refuse an invalid one before it is stored."""
    if chance is None or 0.0 <= chance <= 1.0:
        return chance
    if 1.0 < chance <= 1.0 + 1e-9:  # rounded
        return 1.0
    raise NotStored(
        f"The policy {state.config.policy['kind']} of loop {state.config.name} chose {shorten(arm)}"
        f" with the invalid probability {chance:g}. Nothing was stored.",
        fix="Revise the policy of the loop.",
    )


def served_features(state: LoopState, item: Served) -> Any:
    """Return the features of the action served, None for arms; refuse invalid ones."""
    agent: Any = state.agent
    chance = item.probability
    if chance is not None and not (type(chance) in (int, float) and 0.0 < chance <= 1.0):
        raise InvalidInput("probability", "must be above 0 and at most 1", chance, "Leave it out.")
    if state.config.arms is not None:
        if item.features is not None:
            raise InvalidInput(
                "features", "must be left out: the loop chooses among arms", "…", "Omit it."
            )
        agent.arms.place("arm", item.arm)
        if agent._played is not None:
            raise InvalidInput(
                "served",
                "must not be used with a policy that counts what it plays",
                state.config.policy["kind"],
                'Use a policy that learns from rewards only, such as "ucb".',
            )
        return None
    _name("arm", item.arm)
    if item.features is None:
        raise InvalidInput(
            "features",
            f"must be given: {state.config.dimension} numbers of what was shown",
            None,
            "Send the features of that action.",
        )
    try:
        shown = action_rows([item.features])[0]
    except (TypeError, ValueError):
        shown = np.zeros(0)
    if shown.shape != (state.config.dimension,) or not of_unit_length(shown):
        raise InvalidInput(
            "features",
            f"must be {state.config.dimension} numbers of length at most 1",
            item.features,
            "Divide them by their length.",
        )
    return shown


def digest(item: Decide) -> int:
    """Return a 63-bit digest by which a repeated request for a decision is recognised."""
    if item.available is None and item.features is None:
        return int(item.hold)
    available = None if item.available is None else list(item.available)
    features = None if item.features is None else np.asarray(item.features).tolist()
    text = json.dumps([available, features, bool(item.hold)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


def repeated(entry: Known) -> Decided:
    """Return the answer to a repeated request for a decision."""
    name, state = str(entry.id), entry.state
    return Decided(name, entry.arm, entry.chance, state, entry.version, entry.expires, False)


def from_log(events: list[Event], state: LoopState) -> Known | None:
    """Return a settled decision from its events in the database, None if none made it."""
    made = next((e for e in events if e.kind in (kinds.DECIDED, kinds.HELD)), None)
    if made is None:
        return None
    found = {event.kind: event for event in events}
    shown = found.get(kinds.ACTIVATED, made)
    served = found.get(kinds.SERVED, made)
    entry = Known(
        made.decision,
        0,
        0,
        served.features if state.config.arms is None else state.places.get(served.arm or ""),
        probability=made.probability,
        state=CENSORED,
        seq=made.seq,
        version=made.version or 0,
        request=made.request,
        expires=shown.at + state.configs[made.revision].window_us,
        arm=made.arm or "",
        chance=made.probability,
        shown=served.arm or "",
        revision=made.revision,
    )
    if kinds.OBSERVED in found:
        entry.state, entry.reward = OBSERVED, found[kinds.OBSERVED].reward
    several = [e for e in events if e.kind in (kinds.REPORTED, kinds.LATE)]
    entry.rewards = [[e.reward, e.client_at, e.request] for e in several] or None
    return entry
