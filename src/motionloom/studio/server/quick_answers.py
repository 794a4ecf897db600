"""Quick answers: how a conversation has its socket answer what takes well under a millisecond."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

__all__ = ["EXTENSION", "Quick", "answer_at_once", "hang_up"]

EXTENSION = "motionloom.at_once"
"""Where a socket that can answer at once puts itself in the scope of its connection."""

Quick = Callable[[str], str | bytes | None]
"""Answers a request, or leaves it (None) to the conversation."""


def answer_at_once(ws: WebSocket, quick: Quick | None) -> None:
    """Have a page's quick questions answered by ``quick``, where its socket can do so."""
    found = ws.scope.get("extensions", {}).get(EXTENSION)
    if found is not None:
        found["socket"].quick = quick


def hang_up(ws: WebSocket) -> None:
    """End the connection of a page that takes no messages any more."""
    found = ws.scope.get("extensions", {}).get(EXTENSION)
    if found is not None:
        found["socket"].transport.abort()
