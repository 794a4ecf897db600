"""Slow-client limits: a connection that sends too slowly is closed."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
