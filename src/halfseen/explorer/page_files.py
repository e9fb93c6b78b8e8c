"""Static files of the explorer and the dashboard."""

from __future__ import annotations

import gzip
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
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
DRAWING = "vega.js"
YEAR = 365 * 86_400  # seconds


@cache
def file_address(name: str, *packages: str) -> str:
    """Return the URL of a file relative to the site; it changes with the file."""
    if name == DRAWING:
        code = files("halfseen.report.core").joinpath("drawing.py").read_bytes()
        code += version("vl-convert-python").encode()
    else:
        code = _found(name, packages) or b""
    return f"static/{name}?v={sha256(code).hexdigest()[:12]}"


async def page_file(request: Request, *packages: str) -> Response | None:
    """Return a script or a style sheet of the explorer or other packages, or the code that draws.

    None if there is no such file. Browsers cache what is requested by `file_address`.
    """
    name: str = request.path_params["name"]
    body = await run_in_threadpool(drawing_code) if name == DRAWING else _found(name, packages)
    if body is None:
        return None
    known = file_address(name, *packages).endswith(f"?{request.url.query}")
    lasting = f"max-age={YEAR}, immutable" if known else "no-cache"
    headers = SAFE | {"Cache-Control": lasting, "Content-Encoding": "gzip"}
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


def _found(name: str, packages: tuple[str, ...]) -> bytes | None:
    found = (_packed(package, name) for package in (*packages, EXPLORER))
    return next((one for one in found if one is not None), None)


@cache
def _packed(package: str, name: str) -> bytes | None:
    for file in files(package).joinpath("static").iterdir():
        if file.name == name:
            return gzip.compress(file.read_bytes(), 6, mtime=0)
    return None
