"""What a browser sends for a page of another site: refused where no key tells who asks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from halfseen.service.problem_documents import KeyNotSufficient

OWN = (b"same-origin", b"none")  # of Sec-Fetch-Site: this page itself, or the reader's own hand


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address.

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
    """Refuse a request that a page of another site may have caused.

    A name of the web that was made to lead here is not a name of this machine. A browser says in
    `Sec-Fetch-Site`, or at least in `Origin`, from where a request comes; other clients send
    neither. A link from elsewhere may be followed.
    """
    site = mode = origin = host = b""
    for name, value in headers:
        if name == b"host":
            host = value
            if not names_this_machine(value):
                raise KeyNotSufficient(
                    "Without keys only names of this machine are answered.",
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
            "Without keys no request is answered that a page of another site sends.",
            field="Sec-Fetch-Site" if site else "Origin",
            value=(site or origin).decode("latin-1"),
            fix="Ask from this address itself, or serve with keys.",
        )
