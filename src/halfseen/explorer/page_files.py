"""What the explorer and the dashboard send to a browser besides their pages."""

from __future__ import annotations

import gzip
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
TYPES = {"js": "text/javascript", "css": "text/css"}
EXPLORER = "halfseen.explorer"


async def page_file(name: str, *packages: str) -> Response | None:
    """Return a script or a style sheet of the explorer or other packages, or the code that draws.

    None if there is none of the name.
    """
    if name == "vega.js":
        body = await run_in_threadpool(drawing_code)
    else:
        found = (_packed(package, name) for package in (*packages, EXPLORER))
        body = next((one for one in found if one is not None), b"")
        if not body:
            return None
    headers = SAFE | {"Cache-Control": "max-age=3600", "Content-Encoding": "gzip"}
    kind = TYPES[name.rpartition(".")[2]]
    return Response(body, media_type=f"{kind}; charset=utf-8", headers=headers)


def island(name: str, content: Any) -> Any:
    """Return data as an element of a page that its script reads."""
    from markupsafe import Markup

    from halfseen.report.core.markup import data_island

    return Markup(data_island(name, content))


@cache
def drawing_code() -> bytes:
    """Return Vega and its companions, packed."""
    from halfseen.report.core.drawing import drawing_code

    return gzip.compress(drawing_code().encode(), 6)


@cache
def _packed(package: str, name: str) -> bytes | None:
    for file in files(package).joinpath("static").iterdir():
        if file.name == name:
            return gzip.compress(file.read_bytes(), 6)
    return None
