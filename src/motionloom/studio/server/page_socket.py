"""A page's socket that answers the steps of live characters at once, before any queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from motionloom.studio.server.conversation import EXTENSION, Quick

if TYPE_CHECKING:
    from websockets.frames import Frame


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
