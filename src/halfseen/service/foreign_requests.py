"""Cross-site browser requests, refused if the service runs without keys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from halfseen.service.problem_documents import KeyNotSufficient

OWN = (b"same-origin", b"none")  # of Sec-Fetch-Site: from this page, or typed by the user


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=256)
def names_this_machine(host: bytes) -> bool:
    """Return whether a `Host` header, with or without a port, is a name of this machine.

    >>> names_this_machine(b"[::1]:8765"), names_this_machine(b"rebound.example")
    (True, False)
    """
    try:
        return is_loopback((urlsplit(b"//" + host).hostname or b"").decode())
    except ValueError:
        return False


def refuse_foreign(method: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a request that may come from a page of another site.

    A rebound DNS name is not a name of this machine. A browser states the origin of a request in
    `Sec-Fetch-Site`, or at least in `Origin`; other clients send neither. Links from elsewhere may
    be followed.
    """
    site = mode = origin = host = b""
    for name, value in headers:
        if name == b"host":
            host = value
            if not names_this_machine(value):
                raise KeyNotSufficient(
                    "Without keys only requests to a host name of this machine are answered.",
                    field="Host",
                    value=value.decode("latin-1"),
                    fix="Use http://127.0.0.1, or serve with keys.",
                )
        elif name == b"sec-fetch-site":
            site = value
        elif name == b"sec-fetch-mode":
            mode = value
        elif name == b"origin":
            origin = value
    if site:
        own = site in OWN or (method == "GET" and mode == b"navigate")
    else:
        own = not origin or origin in (b"http://" + host, b"https://" + host)
    if not own:
        raise KeyNotSufficient(
            "Without keys requests from pages of other sites are refused.",
            field="Sec-Fetch-Site" if site else "Origin",
            value=(site or origin).decode("latin-1"),
            fix="Ask from this address itself, or serve with keys.",
        )
