"""Explanations of a database server's errors, whose own text may contain the password."""

from __future__ import annotations

import re

FORM = "write it as {}://user:password@host:port/base, with % as %25 and an at sign as %40"
REASONS = {  # the first pattern that matches the message decides
    r"percent-encoded|\buri\b|invalid integer|invalid port": f"the address is not one; {FORM}",
    r"translate host|unknown.*host|name or service|resolve": f"there is no such host; {FORM}",
    r"authentication failed|access denied|no password|role .* does not exist": (
        "the server refused the user or the password"
    ),
    r"database .* does not exist|unknown database": "the server has no such database",
    r"permission denied|command denied": "the user may not read the table",
    r"timed? ?out": "the server did not answer in time",
    r"refused|can't connect|could not connect|no such file": "nothing answers at that address",
    r"\bssl\b|\btls\b": "no secure connection could be made",
    r"closed|lost connection|gone away|terminat": "the server ended the connection",
}


def server_reason(message: str, scheme: str = "postgresql") -> str:
    """Return why a server could not be read, without quoting its message.

    >>> server_reason('invalid percent-encoded token: "hunter2%"').partition(";")[0]
    'the address is not one'
    """
    said = message.lower()
    found = (reason for pattern, reason in REASONS.items() if re.search(pattern, said))
    return next(found, "the server or the query failed").format(scheme)


def without_password(name: str) -> str:
    """Return a name without a possible password, in case an address was mistyped.

    >>> without_password("postgresql:/bob:hunter2@host/base"), without_password("logs/a.csv")
    ('postgresql:…@host/base', 'logs/a.csv')
    """
    name = re.sub(r"(?i)\b(passw\w*|pwd)(\s*=\s*)('[^']*'?|\S+)", r"\1\2…", name)
    before, at, after = name.rpartition("@")
    return f"{before.partition(':')[0]}:…@{after}" if at and ":" in before else name
