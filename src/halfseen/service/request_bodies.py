"""Parsing of request bodies: JSON, validated by hand for speed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from halfseen.errors import did_you_mean, shorten
from halfseen.service.exchange import Activate, Decide, Item, Outcome, Served
from halfseen.service.problem_documents import Malformed, TooLarge, invalid

BODY_BYTES = 64 * 1024
BATCH_BYTES = 2 * 1024 * 1024
BATCH_ITEMS = 1000
DECIDE_FIELDS = frozenset(("id", "available", "features", "hold", "count", "at"))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_DIGITS = 4000  # of an integer; Python's own limit is higher
KINDS = ("decide", "activate", "served", "outcome")
_FIELDS = {
    "decide": DECIDE_FIELDS - {"count"},
    "activate": frozenset(("id", "at")),
    "served": frozenset(("id", "arm", "probability", "features", "at")),
    "outcome": frozenset(("id", "reward", "at")),
}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {shorten(twice)} occurs twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits; at most {MOST_DIGITS:,} are read")
    return int(digits)


_decoder = json.JSONDecoder(
    parse_constant=_no_constant, parse_int=_whole, object_pairs_hook=_without_repeats
)


def json_object(body: bytes) -> dict[str, Any]:
    """Parse a body as a JSON object; an empty body is an empty object.

    >>> json_object(b'{"reward": 1}'), json_object(b"")
    ({'reward': 1}, {})
    """
    if not body:
        return {}
    try:
        content = _decoder.decode(body.decode())
    except RecursionError:
        raise Malformed("The body is nested too deeply.", fix="Send a flat object.") from None
    except UnicodeDecodeError:
        raise Malformed("The body is not UTF-8.", fix="Encode it as UTF-8.") from None
    except ValueError as error:
        raise Malformed(f"The body is not JSON: {error}.", fix="Send a JSON object.") from None
    if type(content) is not dict:
        raise Malformed("The body is not a JSON object.", fix='Send one, such as {"reward": 1}.')
    return content


def decide_items(content: dict[str, Any], idempotency: str | None) -> tuple[list[Item], bool]:
    """Return the decisions requested by a body, and whether a list was requested.

    A decision without an id is identified by the request's `Idempotency-Key`, so that the request
    can be retried.
    """
    if not content.keys() <= DECIDE_FIELDS:
        _unknown(content, DECIDE_FIELDS)
    count = content.pop("count", None)
    if count is None:
        item = _decide(content)
        if item.id is None:
            item.id = idempotency
        return [item], False
    if type(count) is float and count.is_integer():
        count = int(count)
    if type(count) is not int or not 1 <= count <= BATCH_ITEMS:
        requirement = f"must be a whole number from 1 to {BATCH_ITEMS}"
        raise invalid("count", requirement, count, "Send several requests for more.")
    name = _text(content, "id", needed=False)
    name = idempotency if name is None else name
    items: list[Item] = []
    for k in range(count):
        item = _decide(content)
        item.id = None if name is None else f"{name}.{k + 1}"
        items.append(item)
    return items, True


def activate_item(decision: str, content: dict[str, Any]) -> Activate:
    """Parse a body of `activate`."""
    _known(content, "activate")
    return Activate(decision, _time(content))


def served_item(decision: str, content: dict[str, Any]) -> Served:
    """Parse a body of `served`."""
    _known(content, "served")
    arm = _text(content, "arm", needed=True)
    assert arm is not None
    features = content.get("features")
    if features is not None:
        features = _numbers("features", features)
    chance = content.get("probability")
    if chance is not None:
        chance = number("probability", chance)
    return Served(decision, arm, chance, features, _time(content))


def outcome_item(decision: str, content: dict[str, Any], idempotency: str | None = None) -> Outcome:
    """Parse a body of `outcome`."""
    _known(content, "outcome")
    if "reward" not in content:
        fix = "Send the reward, or null if it will never come."
        raise invalid("reward", "must be given", None, fix)
    reward = content["reward"]
    if type(reward) is not float and reward is not None:
        reward = number("reward", reward)
    return Outcome(decision, reward, _time(content), idempotency)


def batch_entries(content: dict[str, Any]) -> list[Any]:
    """Return the entries of a batch, not yet checked one by one."""
    if content.keys() - {"items"}:
        _unknown(content, frozenset({"items"}))
    entries = content.get("items")
    if type(entries) is not list or not entries:
        fix = 'Send {"items": [{"decide": {}}]}.'
        raise invalid("items", "must be a list of at least one request", entries, fix)
    if len(entries) > BATCH_ITEMS:
        raise TooLarge(
            f"The batch has {len(entries)} items; at most {BATCH_ITEMS} are taken.",
            field="items",
            value=len(entries),
            fix="Send several batches.",
        )
    return entries


def batch_item(entry: Any, idempotency: str | None, place: int) -> Item:
    """Return one entry of a batch: an object with the kind of the request and its body."""
    if type(entry) is not dict or len(entry) != 1 or next(iter(entry)) not in KINDS:
        requirement = f"must be an object with one of {', '.join(KINDS)}"
        given = list(entry) if type(entry) is dict else entry
        raise invalid("items", requirement, given, 'Write {"outcome": {"id": "x", "reward": 1}}.')
    ((kind, content),) = entry.items()
    if type(content) is not dict:
        raise invalid(kind, "must be an object", content, "Send the body of the single request.")
    if kind == "decide":
        _known(content, "decide")
        item = _decide(content)
        if item.id is None and idempotency is not None:
            item.id = f"{idempotency}.{place + 1}"
        return item
    decision = _text(content, "id", needed=True)
    assert decision is not None
    if kind == "outcome":
        own = None if idempotency is None else f"{idempotency}.{place + 1}"
        return outcome_item(decision, content, own)
    return (
        activate_item(decision, content) if kind == "activate" else served_item(decision, content)
    )


def _decide(content: dict[str, Any]) -> Decide:
    available, features = content.get("available"), content.get("features")
    if available is not None and (
        type(available) is not list or not all(type(name) is str for name in available)
    ):
        requirement = "must be a list of the names of arms"
        raise invalid("available", requirement, available, 'Write ["red", "blue"].')
    if features is not None:
        if type(features) is not list:
            fix = "Write [[1, 0], [0, 1]]: a row per action."
            raise invalid("features", "must be a list of lists of numbers", features, fix)
        features = [_numbers(f"features[{k}]", row) for k, row in enumerate(features)]
        if not features:
            raise invalid(
                "features", "must have a row per action", [], "Offer at least one action."
            )
        if len({len(row) for row in features}) != 1:
            fix = "Send the same number of features for every action."
            lengths = [len(row) for row in features]
            raise invalid("features", "must have rows of the same length", lengths, fix)
    hold = content.get("hold")
    if hold is not None and type(hold) is not bool:
        raise invalid("hold", "must be true or false", hold, "Leave it out to show it at once.")
    name = _text(content, "id", needed=False)
    return Decide(name, available, features, hold is True, _time(content))


def _known(content: dict[str, Any], kind: str) -> None:
    if not content.keys() <= _FIELDS[kind]:
        _unknown(content, _FIELDS[kind])


def _unknown(content: dict[str, Any], known: frozenset[str]) -> NoReturn:
    name = min(content.keys() - known)
    fix = did_you_mean(name, known, otherwise=f"Known are {', '.join(sorted(known))}.")
    raise invalid(name, "is not a field of this request", content[name], fix)


def _text(content: dict[str, Any], field: str, *, needed: bool) -> str | None:
    value = content.get(field)
    if type(value) is str or (value is None and not needed):
        return value
    raise invalid(field, "must be a text", value, "Write it in quotes.")


def number(field: str, value: Any) -> float:
    """Return a number of a body as a float, or refuse it."""
    if type(value) is not float and type(value) is not int:
        raise invalid(field, "must be a number", value, "Write digits, without quotes.")
    try:
        return float(value)
    except OverflowError:
        raise invalid(field, "must be a finite number", value, "Send a smaller one.") from None


def _numbers(field: str, row: Any) -> list[float]:
    if type(row) is not list:
        raise invalid(field, "must be a list of numbers", row, "Write [1, 0].")
    return [number(field, value) for value in row]


def _time(content: dict[str, Any]) -> int | None:
    """Return a client's time in microseconds since 1970."""
    text = content.get("at")
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return (moment.astimezone(UTC) - EPOCH) // timedelta(microseconds=1)
    except (TypeError, ValueError, OverflowError):
        requirement = "must be a time with its time zone, in the years 1 to 9999 UTC"
        raise invalid("at", requirement, text, "Write 2026-01-31T12:00:00Z.") from None
