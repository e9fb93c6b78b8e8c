"""API keys of the service: shown once, stored as hashes, each with a role."""

from __future__ import annotations

import hmac
import math
import re
import secrets
from collections.abc import Awaitable, Callable
from hashlib import sha256
from time import monotonic
from typing import Any, NamedTuple

from halfseen import checks
from halfseen.errors import InvalidInput

ROLES = ("decide", "report", "admin")  # each includes those before it
RANK = {role: rank for rank, role in enumerate(ROLES)}
PATTERN = re.compile(r"hs_([a-z0-9]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
STALE = 1.0  # seconds after which the keys are read again
AGAIN = 0.1  # seconds after which they are read again for an unknown key
LONGEST_NAME = 128


class ApiKey(NamedTuple):
    """The stored part of a key: never its secret.

    Attributes
    ----------
    id
        The public part.
    name
        What it is for.
    role
        decide, report or admin.
    digest
        SHA-256 of the secret, in hexadecimal digits.
    created, revoked
        When, in microseconds since 1970; `revoked` is None while it is valid.
    """

    id: str
    name: str
    role: str
    digest: str
    created: int
    revoked: int | None = None


def new_key(name: str, role: str, at: int) -> tuple[ApiKey, str]:
    """Return a new key, and its text, which is shown once and stored nowhere.

    >>> key, text = new_key("shop", "decide", 0)
    >>> text.startswith(f"hs_{key.id}_"), key.digest in text, matches(key, text)
    (True, False, True)
    """
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        requirement = f"must be a printable text of 1 to {LONGEST_NAME} characters"
        raise InvalidInput("name", requirement, name, "Say what the key is for.")
    role = checks.one_of("role", role, ROLES)
    secret = secrets.token_urlsafe(32)
    key = ApiKey(secrets.token_hex(6), name, role, digest_of(secret), at)
    return key, f"hs_{key.id}_{secret}"


def digest_of(secret: str) -> str:
    """Return the hash of a secret; it has 256 random bits, so one round suffices."""
    return sha256(secret.encode()).hexdigest()


def matches(key: ApiKey, text: str) -> bool:
    """Return whether a text is this key, in constant time."""
    found = PATTERN.fullmatch(text)
    secret = found[2] if found else ""
    return hmac.compare_digest(key.digest, digest_of(secret)) and found is not None


class KeyRing:
    """The keys in memory, read again from the database when they are stale.

    Parameters
    ----------
    load
        Reads all keys as the table has them.
    """

    def __init__(self, load: Callable[[], Awaitable[list[dict[str, Any]]]]) -> None:
        self._load = load
        self._keys: dict[str, ApiKey] = {}
        self._read = -math.inf

    async def refresh(self) -> None:
        """Read the keys."""
        self._read = monotonic()
        self._keys = {key.id: key for key in map(stored_key, await self._load())}

    @property
    def stale(self) -> bool:
        """Whether the keys were read more than a second ago."""
        return monotonic() - self._read >= STALE

    async def find_again(self, text: str) -> ApiKey | None:
        """Return the key with this text, which may have been issued just now."""
        if monotonic() - self._read >= AGAIN:
            await self.refresh()
        return self.find(text)

    @property
    def empty(self) -> bool:
        """Whether there is no valid key."""
        return all(key.revoked is not None for key in self._keys.values())

    def find(self, text: str) -> ApiKey | None:
        """Return the key with this text; None if it is not valid."""
        found = PATTERN.fullmatch(text)
        key = self._keys.get(found[1]) if found else None
        if key is None or key.revoked is not None or not matches(key, text):
            return None
        return key


def stored_key(row: dict[str, Any]) -> ApiKey:
    """Return a key from a row of the table."""
    revoked = row["revoked"]
    return ApiKey(row["id"], row["name"], row["role"], row["hash"], row["created"], revoked)


def row_of(key: ApiKey) -> dict[str, Any]:
    """Return a key as the table has it."""
    row = key._asdict()
    row["hash"] = row.pop("digest")
    return row
