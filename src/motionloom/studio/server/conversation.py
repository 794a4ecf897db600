"""Conversation: one page's socket. Requests are answered in turn, cancels and previews at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from motionloom.studio.messages.messages import Cancel, Head, decode_request, read_head
from motionloom.studio.messages.notices import encode_error
from motionloom.studio.server.work import Work

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from motionloom.studio.server.session import Session

EXTENSION = "motionloom.quick_answers"
"""Where a socket that answers quick requests registers in the scope of its connection."""
Quick = Callable[[str], str | bytes | None]
"""Answers a request that takes well under a millisecond; None for all others."""

MOST_PREVIEWS = 64
"""Previews that a page may wait for; it requests a few of the visible ones."""
MOST_WAITING = 256
"""Requests that may wait for their turn. Further ones are refused, so that a cancel after them is
read at once."""
MOST_WAITING_BYTES = 8 * 1024**2
"""Size of all of these together."""
PROGRESS_AFTER_S = 0.5
PROGRESS_EVERY_S = 0.3
SEND_S = 30.0
"""A page that accepts no message for so long is closed."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Threads that answer."""

    requests: ThreadPoolExecutor
    previews: ThreadPoolExecutor


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """A request that waits or is being answered."""

    text: str
    work: Work

    @property
    def size(self) -> int:
        return len(self.text)


class Conversation:
    """Reads a page's requests and answers them until the page closes."""

    def __init__(self, ws: WebSocket, session: Session, workers: Workers) -> None:
        self._ws, self._session, self._workers = ws, session, workers
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._open: list[_Waiting] = []
        self._bytes = 0
        self._changed = asyncio.Event()
        self._previews: list[Work] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Answer until the page closes; then stop the work it waits for."""
        answering = asyncio.create_task(self._answer_in_turn())
        set_quick(self._ws, self._quick_answer)
        try:
            while not answering.done():
                message = await self._ws.receive()
                if message["type"] == "websocket.disconnect":
                    return
                await self._take(message.get("text") or "")
        finally:
            set_quick(self._ws, None)
            for work in self._works():
                work.cancel()
            for task in (answering, *self._tasks):
                task.cancel()
            await asyncio.gather(answering, *self._tasks, return_exceptions=True)

    def push(self, text: str) -> None:
        """Send a message that answers no request; the caller does not wait for a slow page."""
        self._begin(self._send(text))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Forget a task. An error because its page has closed is ignored."""
        from starlette.websockets import WebSocketDisconnect

        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None or isinstance(error, WebSocketDisconnect | RuntimeError | OSError):
            return
        self._loop.call_exception_handler({"message": "a page's task failed", "exception": error})

    def _quick_answer(self, text: str) -> str | bytes | None:
        """The answer to a quick request, if nothing else waits or is being sent."""
        if self._open or self._sending.locked():
            return None
        return self._session.quick_answer(read_head(text), text)

    async def _take(self, text: str) -> None:
        head = read_head(text)
        if head.type == "cancel":
            await self._cancel(text)
        elif head.type == "library.preview":
            # The previews of a long library must not delay other requests.
            if len(self._previews) >= MOST_PREVIEWS:
                await self._send(_too_many(head.id, "previews", MOST_PREVIEWS))
                return
            work = Work(head.id)
            self._previews.append(work)
            self._begin(self._preview(text, work))
        else:
            await self._queue(head, text)

    async def _queue(self, head: Head, text: str) -> None:
        """Queue a request, or answer it at once if it is quick."""
        if not self._open:
            answer = self._session.quick_answer(head, text)
            if answer is not None:
                await self._send(answer)
                return
        waiting = _Waiting(text, Work(head.id))
        if len(self._open) >= MOST_WAITING or self._bytes + waiting.size > MOST_WAITING_BYTES:
            await self._send(_too_many(head.id, "requests", len(self._open)))
            return
        self._open.append(waiting)
        self._bytes += waiting.size
        self._changed.set()

    def _leave(self, waiting: _Waiting) -> None:
        """Take a request out of the queue."""
        self._open.remove(waiting)
        self._bytes -= waiting.size

    def _works(self) -> list[Work]:
        """Everything that waits or is being answered."""
        return [*(each.work for each in self._open), *self._previews]

    async def _cancel(self, text: str) -> None:
        """Stop a request. An invalid cancel is answered like any other invalid message."""
        try:
            request = decode_request(text)
        except Exception:
            await self._send(self._session.answer(text))
            return
        assert isinstance(request, Cancel)
        works = [work for work in self._works() if work.number == request.request]
        for work in works:
            work.cancel()
        await self._send(self._session.cancelled(request, bool(works)))
        # Cancelled requests leave the queue now; the first one is being answered.
        stopped = [each for each in self._open[1:] if each.work.cancelled]
        for waiting in stopped:
            self._leave(waiting)
        for waiting in stopped:
            await self._send(self._session.answer(waiting.text, waiting.work))

    async def _answer_in_turn(self) -> None:
        while True:
            while not self._open:
                self._changed.clear()
                await self._changed.wait()
            waiting = self._open[0]
            reports = self._loop.call_later(PROGRESS_AFTER_S, self._begin_reports, waiting)
            try:
                answer = await self._loop.run_in_executor(
                    self._workers.requests, self._session.answer, waiting.text, waiting.work
                )
            finally:
                reports.cancel()
                self._leave(waiting)
            await self._send(answer)

    def _begin_reports(self, waiting: _Waiting) -> None:
        self._begin(self._report(waiting))

    async def _report(self, waiting: _Waiting) -> None:
        """Report the progress of a request until it is answered."""
        while self._open and self._open[0] is waiting:
            async with self._sending:
                if self._open and self._open[0] is waiting:
                    await self._ws.send_text(waiting.work.message())
            await asyncio.sleep(PROGRESS_EVERY_S)

    async def _preview(self, text: str, work: Work) -> None:
        try:
            answer = await self._loop.run_in_executor(
                self._workers.previews, self._session.answer, text, work
            )
        finally:
            self._previews.remove(work)
        await self._send(answer)

    async def _send(self, answer: str | bytes) -> None:
        async with self._sending:
            limit = self._loop.call_later(SEND_S, _abort, self._ws)
            try:
                if isinstance(answer, str):
                    await self._ws.send_text(answer)
                else:
                    await self._ws.send_bytes(answer)
            finally:
                limit.cancel()


def set_quick(ws: WebSocket, quick: Quick | None) -> None:
    """Have a page's socket answer quick requests with ``quick``, if it can."""
    if (socket := _socket_of(ws)) is not None:
        socket.quick = quick


def _abort(ws: WebSocket) -> None:
    """Close the connection of a page that accepts no messages."""
    if (socket := _socket_of(ws)) is not None:
        socket.transport.abort()


def _socket_of(ws: WebSocket) -> Any:
    return ws.scope.get("extensions", {}).get(EXTENSION, {}).get("socket")


def _too_many(number: int, what: str, count: int) -> str:
    """The answer to a request when too many wait before it."""
    return encode_error(
        number,
        f"Too many {what} wait ({count}). Wait for their answers or cancel some, then ask again.",
    )
