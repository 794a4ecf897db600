"""A page's socket that answers the steps of live characters at once, before any queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.protocol import State

from motionloom.studio.server.quick_answers import EXTENSION, Quick

if TYPE_CHECKING:
    from websockets.frames import Frame

__all__ = ["PageSocket"]


class PageSocket(WebSocketsSansIOProtocol):
    """Tries each message with ``quick`` first.

    A hundred live characters ask three thousand times a second. On the usual way each question
    passes a queue, a task and two layers more, and the socket is taken out of the loop and put in
    again, which takes longer than the pose itself.
    """

    quick: Quick | None = None

    def handle_connect(self, event: Any) -> None:
        """Let the conversation find this socket."""
        super().handle_connect(event)
        scope: Any = getattr(self, "scope", None)
        if scope is not None:
            scope["extensions"][EXTENSION] = {"socket": self}

    def handle_text(self, event: Frame) -> None:
        """Answer, or hand on where it is no quick question or others wait before it."""
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
        """Hand on a whole message; close where it is no text."""
        try:
            b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self.frames = []
            self._refuse(CloseCode.INVALID_DATA, "text must be UTF-8")
        else:
            super().send_receive_event_to_app()

    def _refuse(self, code: CloseCode, reason: str) -> None:
        """End the connection over a message that must not come, with the code for it."""
        if self.conn.state is State.OPEN:
            self.conn.send_close(code, reason)
            self.handle_parser_exception()

    def _is_free(self) -> bool:
        """Whether the page takes messages: one that reads too slowly waits on the usual way."""
        return (
            self.writable.is_set()
            and self.conn.state is State.OPEN  # a close may have come with the question
            and not self.transport.is_closing()
        )
