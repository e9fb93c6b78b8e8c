"""The command that serves the explorer's pages."""

from __future__ import annotations

from typing import Annotated

import typer

from halfseen.cli import app
from halfseen.errors import InvalidInput


@app.command()
def explore(
    port: Annotated[int, typer.Option(help="Port on this machine; 0 for any free one.")] = 8800,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or do not.")
    ] = True,
) -> None:
    """Explore the theory in a browser."""
    from halfseen import checks

    checks.whole("--port", port, at_least=0, at_most=65_535)
    try:
        from halfseen.explorer.serve_pages import serve_pages
    except ImportError as error:
        raise InvalidInput(
            "explore",
            "needs packages that are not installed",
            str(error),
            "Run: pip install 'halfseen[serve]'.",
        )
    serve_pages(port, browser)
