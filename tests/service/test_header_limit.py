"""Nobody fills the memory of the service with headers that do not end."""

import socket

import httpx
import pytest

from service.over_http import LOOP, listening


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("headers"), LOOP) as inside:
        yield inside


@pytest.mark.parametrize("begin", [b"GET /healthz HTTP/1.1\r\nX: ", b"GET /", b"x"])
def test_endless_headers_are_refused_and_the_connection_is_closed(place, begin):
    host, _, port = place.address.removeprefix("http://").partition(":")
    sent = 0
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(begin)
        try:
            while sent < 64 * 2**20:
                connection.sendall(b"a" * 16384)
                sent += 16384
        except OSError:
            pass
    assert sent < 16 * 2**20  # what waits in the sockets of both ends


def test_a_body_is_not_counted_as_headers_nor_are_earlier_requests(place):
    with httpx.Client(base_url=place.address) as client:
        for k in range(3):
            answer = client.post("/v1/loops/offers/decisions", content=b" " * 50_000 + b"{}")
            assert answer.status_code == 201
            assert client.get("/healthz", headers={"X": "a" * 60_000}).status_code == 200, k
