"""Connections of the server: slow ones are closed, steps of live characters answered at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from motionloom.studio.server.conversation import EXTENSION, Quick

if TYPE_CHECKING:
    from websockets.frames import Frame

WAIT_LIMIT_S = 10.0
"""Longest that a connection may take for a whole request; a page needs milliseconds."""
MOST_CONNECTIONS = 64
"""Open at the same time, without WebSockets; a browser opens six."""


class SlowClientProtocol(H11Protocol):
    """HTTP with a time limit for requests and a limit on the number of connections.

    The limits of uvicorn begin with a whole head: a head that arrives byte by byte would stay open.
    """

    _watch: asyncio.TimerHandle | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, close the one that has waited longest."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        self._watch = self.loop.call_later(WAIT_LIMIT_S, self._check)
        connections = [
            each
            for each in self.connections
            if isinstance(each, SlowClientProtocol) and not each.transport.is_closing()
        ]
        if len(connections) > MOST_CONNECTIONS:
            # Connections with a running answer stay open.
            waiting = [each for each in connections if each._is_waiting()]
            min(waiting, key=lambda each: each._waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_timer()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Switch to a WebSocket, which may be silent."""
        self._stop_timer()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def _is_waiting(self) -> bool:
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _check(self) -> None:
        """Close the connection if its request is late, else check again later."""
        left = WAIT_LIMIT_S
        if self._is_waiting():
            left = self._waits_since + WAIT_LIMIT_S - self.loop.time()
        if left <= 0.0:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(left, self._check)

    def _stop_timer(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


class PageSocket(WebSocketsSansIOProtocol):
    """Tries each message with ``quick`` first.

    A hundred live characters send three thousand requests a second. Usually each request passes a
    queue, a task and two more layers, which takes longer than the pose.
    """

    quick: Quick | None = None

    def handle_connect(self, event: Any) -> None:
        """Register this socket for the conversation."""
        super().handle_connect(event)
        scope: Any = getattr(self, "scope", None)
        if scope is not None:
            scope["extensions"][EXTENSION] = {"socket": self}

    def handle_text(self, event: Frame) -> None:
        """Answer a quick request; pass others on, and all while others wait."""
        if self.quick is not None and event.fin and self.queue.empty() and self._is_free():
            try:
                answer = self.quick(bytes(event.data).decode())
            except UnicodeDecodeError:
                answer = None  # refused below
            if answer is not None:
                if isinstance(answer, str):
                    self.conn.send_text(answer.encode())
                else:
                    self.conn.send_binary(answer)
                self.transport.write(b"".join(self.conn.data_to_send()))
                return
        super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """Close: requests are text."""
        self._refuse(CloseCode.UNSUPPORTED_DATA, "requests must be text")

    def send_receive_event_to_app(self) -> None:
        """Pass on a whole message; close the connection if it is not text."""
        try:
            b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self.frames = []
            self._refuse(CloseCode.INVALID_DATA, "text must be UTF-8")
        else:
            super().send_receive_event_to_app()

    def _refuse(self, code: CloseCode, reason: str) -> None:
        """Close the connection with the code for a message that is not allowed."""
        if self.conn.state is State.OPEN:
            self.conn.send_close(code, reason)
            self.handle_parser_exception()

    def _is_free(self) -> bool:
        """Whether the page accepts messages; a slow page is served through the queue."""
        return (
            self.writable.is_set()
            and self.conn.state is State.OPEN  # the same data may have ended with a close
            and not self.transport.is_closing()
        )
