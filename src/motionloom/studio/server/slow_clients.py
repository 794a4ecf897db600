"""Connections that may not be kept waiting for: whoever sends slowly is shown out."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PatientProtocol"]

PATIENCE_S = 10.0
"""How long a connection may stay open without a whole request; a page's own takes milliseconds."""
MOST_CONNECTIONS = 64
"""Open at once, sockets aside; a browser opens six."""


class PatientProtocol(H11Protocol):
    """HTTP whose connections must send their request soon, and of which there are only so many.

    The server's own limits begin with a whole head: one that comes byte by byte is held for ever.
    """

    _watch: asyncio.TimerHandle | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; of too many, the one that has waited longest makes room."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        self._watch = self.loop.call_later(PATIENCE_S, self._look)
        there = [
            each
            for each in self.connections
            if isinstance(each, PatientProtocol) and not each.transport.is_closing()
        ]
        if len(there) > MOST_CONNECTIONS:
            # Those that are being answered stay.
            waiting = [each for each in there if each._is_waiting()]
            min(waiting, key=lambda each: each._waits_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Hand over to a socket, which may be silent."""
        self._leave()
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def _is_waiting(self) -> bool:
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _look(self) -> None:
        """Close what has waited too long for the rest of a request, else look again later."""
        left = PATIENCE_S
        if self._is_waiting():
            left = self._waits_since + PATIENCE_S - self.loop.time()
        if left <= 0.0:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(left, self._look)

    def _leave(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
