"""The explorer as a server on this machine."""

import socket
import threading

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from halfseen.explorer.site import application


@pytest.fixture(scope="module")
def address():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # who comes before the server has started waits
    pages = Starlette(routes=[Mount("/explore", application())])
    server = uvicorn.Server(uvicorn.Config(pages, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/explore"
    server.should_exit = server.force_exit = True
    thread.join(10)
