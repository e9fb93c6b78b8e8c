"""HTTP connections with limited headers."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_BYTES = 64 * 1024
REFUSAL = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\ncontent-length: 44\r\n\r\n"
    b"The headers are larger than 64 KiB together."
)


class LimitedHeaders(HttpToolsProtocol):
    """Closes a connection that sends more than 64 KiB of headers."""

    _within = True  # the headers of a request
    _bytes = 0

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request."""
        if self._within:
            self._bytes += len(data)
        super().data_received(data)
        if self._within and self._bytes > HEADER_BYTES and not self.transport.is_closing():
            self.transport.write(REFUSAL)
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to count."""
        self._within, self._bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop counting: the body is limited by its reader."""
        self._within = False
        super().on_headers_complete()
