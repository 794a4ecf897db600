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

from motionloom.studio.page_socket import PageSocket
from motionloom.studio.quick_answers import answer_at_once

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
        answer_at_once(ws, self.quick)
        try:
            while True:
                text = await ws.receive_text()
                self.usual += 1
                await ws.send_bytes(f"in turn: {text}".encode())
        except WebSocketDisconnect:
            answer_at_once(ws, None)


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


def said(ws: Any, *texts: str) -> list[bytes]:
    for text in texts:
        ws.send(text)
    return [ws.recv(WAIT_S) for _ in texts]


def test_quick_questions_are_answered_at_once_and_others_in_turn(served: Any) -> None:
    app, address = served
    with connect(address) as ws:
        assert said(ws, "slow") == [b"in turn: slow"]  # by now the page has its conversation
        assert said(ws, "quick 1", "quick 2") == [b"at once: quick 1", b"at once: quick 2"]
        assert said(ws, "slow") == [b"in turn: slow"]
        app.is_quick = False
        assert said(ws, "quick 3") == [b"in turn: quick 3"]
    assert (app.quick_answers, app.usual) == (2, 3)


def test_a_quick_question_does_not_overtake_those_that_wait(served: Any) -> None:
    _, address = served
    with connect(address) as ws:
        said(ws, "slow")
        heard = said(ws, *["slow", "quick"] * 50)
    places = [text == b"at once: quick" or text == b"in turn: quick" for text in heard]
    assert places == [False, True] * 50


def test_text_that_is_none_closes_the_socket_only(served: Any) -> None:
    _, address = served
    with connect(address) as ws:
        said(ws, "slow")
        ws.protocol.send_text(b"\xff\xfe quick")
        ws.socket.sendall(b"".join(ws.protocol.data_to_send()))
        with pytest.raises(ConnectionClosed):
            ws.recv(WAIT_S)
    with connect(address) as ws:
        assert said(ws, "slow") == [b"in turn: slow"]


def test_an_error_is_an_answer_too_and_the_question_is_asked_once(served: Any) -> None:
    app, address = served
    with connect(address) as ws:
        said(ws, "slow")
        assert said(ws, "quick error") == ["refused"]
    assert (app.quick_answers, app.usual) == (1, 1)


def test_a_question_that_comes_with_a_close_ends_the_socket_in_order(
    served: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app, address = served
    with connect(address) as ws:
        said(ws, "slow")
        ws.protocol.send_text(b"quick 1")
        ws.protocol.send_close(1000)
        ws.socket.sendall(b"".join(ws.protocol.data_to_send()))  # in one piece
        with pytest.raises(ConnectionClosed):
            ws.recv(WAIT_S)
    assert app.quick_answers == 0
    assert "Traceback" not in caplog.text and "Fatal error" not in caplog.text
    with connect(address) as ws:
        assert said(ws, "slow") == [b"in turn: slow"]
