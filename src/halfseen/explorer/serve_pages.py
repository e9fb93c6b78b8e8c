"""Serve the explorer on this machine."""

from __future__ import annotations

import socket
import threading
import webbrowser

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from halfseen.errors import InvalidInput
from halfseen.explorer.site import application, warm

HOST = "127.0.0.1"


def serve_pages(port: int, browser: bool) -> None:
    """Serve the pages until Ctrl-C.

    Parameters
    ----------
    port
        Where to listen on this machine; 0 for any free port.
    browser
        Whether to open one.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # connections made before the server has started wait
    except OSError as error:
        listener.close()
        raise InvalidInput(
            "--port", f"must be free ({error.strerror})", port, "Use --port 0 for any free one."
        )
    address = f"http://{HOST}:{listener.getsockname()[1]}/explore/"
    print(f"Explore at {address} (Ctrl-C to stop)", flush=True)
    threading.Thread(target=warm, daemon=True).start()
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    pages = Starlette(
        routes=[
            Route("/", lambda request: RedirectResponse("/explore/")),
            Mount("/explore", application()),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
    )
    server = uvicorn.Server(uvicorn.Config(pages, log_level="warning", access_log=False))
    server.run(sockets=[listener])
