"""Quick questions are answered before any queue; all others, and their order, are as before."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from motionloom.studio.server.connections import PageSocket
from motionloom.studio.server.conversation import set_quick

WAIT_S = 60.0


class App:
    """Answers what is quick with its number of quick answers, the rest with its own text."""

    def __init__(self) -> None:
        self.quick_answers, self.usual = 0, 0
        self.is_quick = True

    def quick(self, text: str) -> str | bytes | None:
        if not self.is_quick or not text.startswith("quick"):
            return None
        self.quick_answers += 1
        if "error" in text:
            return "refused"
        return f"at once: {text}".encode()

    async def talk(self, ws: WebSocket) -> None:
        await ws.accept()
        set_quick(ws, self.quick)
        try:
            while True:
                text = await ws.receive_text()
                self.usual += 1
                await ws.send_bytes(f"in turn: {text}".encode())
        except WebSocketDisconnect:
            set_quick(ws, None)


@pytest.fixture
def served() -> Iterator[tuple[App, str]]:
    app = App()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        routes = [WebSocketRoute("/", app.talk)]
        config = uvicorn.Config(
            Starlette(routes=routes), ws=PageSocket, log_level="error", lifespan="off"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield app, f"ws://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join(WAIT_S)
        assert not thread.is_alive()


def answers_to(ws: Any, *texts: str) -> list[bytes]:
    for text in texts:
        ws.send(text)
    return [ws.recv(WAIT_S) for _ in texts]


def test_quick_questions_are_answered_at_once_and_others_in_turn(served: Any) -> None:
    app, address = served
    with connect(address) as ws:
        assert answers_to(ws, "slow") == [b"in turn: slow"]  # by now the page has its conversation
        assert answers_to(ws, "quick 1", "quick 2") == [b"at once: quick 1", b"at once: quick 2"]
        assert answers_to(ws, "slow") == [b"in turn: slow"]
        app.is_quick = False
        assert answers_to(ws, "quick 3") == [b"in turn: quick 3"]
    assert (app.quick_answers, app.usual) == (2, 3)


def test_a_quick_question_does_not_overtake_those_that_wait(served: Any) -> None:
    _, address = served
    with connect(address) as ws:
        answers_to(ws, "slow")
        answers = answers_to(ws, *["slow", "quick"] * 50)
    places = [text == b"at once: quick" or text == b"in turn: quick" for text in answers]
    assert places == [False, True] * 50


def raw(first: int, data: bytes) -> bytes:
    """A frame with this first byte as a client sends it, with a mask of zeros."""
    return bytes([first, 0x80 | len(data)]) + bytes(4) + data


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (raw(0x81, b"\xff\xfe quick"), 1007),
        (raw(0x01, b"ab") + raw(0x80, b"\xff"), 1007),  # in two pieces
        (raw(0x81, b"\xff") + raw(0x81, b"quick") + raw(0x81, b"\xff"), 1007),
        (raw(0x82, b"quick"), 1003),  # bytes, not text
        (raw(0x02, b"qu") + raw(0x80, b"ick"), 1003),
        (raw(0x80, b"quick"), 1002),  # goes on with nothing
        (raw(0x83, b"quick"), 1002),  # of no known kind
        (raw(0xF1, b"quick"), 1002),  # of an extension
        (b"\x81\x05quick", 1002),  # without a mask
        (raw(0x88, (1005).to_bytes(2, "big")), 1002),  # a code that nobody may send
        (raw(0x88, (1000).to_bytes(2, "big") + b"\xff"), 1007),
        (raw(0x88, b"\x03"), 1002),
        (b"\x89\xfe\x00\xc8" + bytes(204), 1002),  # a long ping
        (b"\x81\xff" + (2**24 + 1).to_bytes(8, "big") + bytes(4), 1009),
    ],
)
def test_a_frame_that_must_not_come_closes_its_socket_only_and_logs_no_traceback(
    served: Any, caplog: pytest.LogCaptureFixture, sent: bytes, code: int
) -> None:
    app, address = served
    with connect(address) as ws:
        answers_to(ws, "slow")
        ws.socket.sendall(sent)
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv(WAIT_S)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == code
    with connect(address) as ws:
        assert answers_to(ws, "slow") == [b"in turn: slow"]
    assert (app.quick_answers, app.usual) == (0, 2)
    assert caplog.records == []


def test_an_error_is_an_answer_too_and_the_question_is_asked_once(served: Any) -> None:
    app, address = served
    with connect(address) as ws:
        answers_to(ws, "slow")
        assert answers_to(ws, "quick error") == ["refused"]
    assert (app.quick_answers, app.usual) == (1, 1)


def test_a_question_that_comes_with_a_close_ends_the_socket_in_order(
    served: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app, address = served
    with connect(address) as ws:
        answers_to(ws, "slow")
        ws.protocol.send_text(b"quick 1")
        ws.protocol.send_close(1000)
        ws.socket.sendall(b"".join(ws.protocol.data_to_send()))  # in one piece
        with pytest.raises(ConnectionClosed):
            ws.recv(WAIT_S)
    assert app.quick_answers == 0
    assert "Traceback" not in caplog.text and "Fatal error" not in caplog.text
    with connect(address) as ws:
        assert answers_to(ws, "slow") == [b"in turn: slow"]
