"""The studio's server: page, socket, uploads and downloads, all below one secret address."""

from __future__ import annotations

import asyncio
import secrets
import socket
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionloom.errors import FormatError, MotionLoomError
from motionloom.studio.conversation import Conversation, Workers
from motionloom.studio.doors import Doors
from motionloom.studio.interior import Interior
from motionloom.studio.project import Project, usual_place
from motionloom.studio.uploads import MOST_BYTES, clean_name, parse_upload, upload_place

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from motionloom.studio.exports import Exports
    from motionloom.studio.library import Library
    from motionloom.studio.tables import Tables
    from motionloom.studio.uploads import UploadedClip

__all__ = ["Studio", "static_folder"]

MOST_MESSAGE = 4 * 1024**2
MOST_PAGES = 128
"""Open at once."""
MOST_UPLOADS = 2
"""Read at once; others wait."""
UPLOAD_S = 60.0
"""In which a dropped file must have come; on one machine it takes no second."""
LOOK_S = 0.3
"""How often the server looks whether a page cancelled its upload."""
WARM_UP_AFTER_S = 1.0
"""After the first page came: it is painted first."""


def static_folder() -> Path:
    """Where the built page is.

    Raises
    ------
    FormatError
        It was not built: the package was put together without its build step.
    """
    folder = Path(str(files("motionloom.studio").joinpath("static")))
    if not (folder / "index.html").is_file():
        raise FormatError(
            "The studio's page is not built.",
            fix="Install motionloom with pip, which builds it, or run python hatch_build.py.",
        )
    return folder


class Studio:
    """A server for one folder, bound to its port; :meth:`run` serves until it is stopped.

    Parameters
    ----------
    folder
        Clips to show; the embedded ones where None.
    port
        0 takes any that is free.
    project
        File that keeps the page's state; one in the user's state folder where None.
    """

    def __init__(
        self, folder: Path | None = None, *, port: int = 0, project: Path | None = None
    ) -> None:
        self.project = Project(project or usual_place(folder))
        self.token = secrets.token_urlsafe(18)
        self._static = static_folder()
        self._socket = _bound(port)
        self._interior = Interior(folder, self.project)
        self.port = int(self._socket.getsockname()[1])
        # Requests of a page are answered in turn; two pages do not wait for one another.
        self._workers = Workers(
            ThreadPoolExecutor(max_workers=4, thread_name_prefix="studio"),
            ThreadPoolExecutor(max_workers=1, thread_name_prefix="previews"),
        )
        self._readers = ThreadPoolExecutor(MOST_UPLOADS, thread_name_prefix="uploads")
        self._uploads = asyncio.Semaphore(MOST_UPLOADS)
        self._conversations: set[Conversation] = set()
        self._pages = 0
        self._cold = True
        self._server: Any = None

    @property
    def library(self) -> Library:
        """The clips that it serves."""
        return self._interior.library

    @property
    def exports(self) -> Exports:
        """Files that can be downloaded."""
        return self._interior.exports

    @property
    def tables(self) -> Tables:
        """Transition tables of the clips."""
        return self._interior.tables

    @property
    def address(self) -> str:
        """What to open in a browser; the token in it is the only key."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until stopped from another thread, or by an interrupt."""
        import uvicorn

        from motionloom.studio.patience import PatientProtocol

        config = uvicorn.Config(
            self.app(), log_level="warning", access_log=False,
            http=PatientProtocol, ws="websockets-sansio",
            ws_max_size=MOST_MESSAGE, server_header=False, lifespan="off",
            # No pings: on one machine a page that is gone closes its socket; a busy one is slow.
            ws_ping_interval=None,
            timeout_graceful_shutdown=2,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def stop(self) -> None:
        """Ask a running server to end."""
        if self._server is not None:
            self._server.should_exit = True

    def close(self) -> None:
        """Let go of port, threads and files; what has run is closed already."""
        for pool in (self._workers.requests, self._workers.previews, self._readers):
            pool.shutdown(wait=False, cancel_futures=True)
        self._interior.close()
        self._socket.close()

    def app(self) -> Doors:
        """The application, behind its doors."""
        from starlette.applications import Starlette
        from starlette.routing import Mount, Route, WebSocketRoute
        from starlette.staticfiles import StaticFiles

        inner = Starlette(
            routes=[
                WebSocketRoute("/socket", self._talk),
                Route("/upload", self._upload, methods=["POST"]),
                Route("/download/{key}", self._download),
                Mount("/", StaticFiles(directory=self._static, html=True)),
            ],
        )
        hosts = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        return Doors(inner, self.token, hosts)

    async def _talk(self, ws: WebSocket) -> None:
        from starlette.websockets import WebSocketDisconnect

        if self._pages >= MOST_PAGES:
            await ws.close(code=1013)  # a page asks again, and comes in when another was closed
            return
        self._pages += 1
        try:
            await ws.accept()
            await self._answer(ws)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self._pages -= 1

    async def _answer(self, ws: WebSocket) -> None:
        """Answer a page until it goes."""
        loop = asyncio.get_running_loop()
        session = await loop.run_in_executor(self._workers.requests, self._interior.session)
        if self._cold:
            self._cold = False
            loop.call_later(WARM_UP_AFTER_S, self._workers.requests.submit, self._interior.warm_up)
        conversation = Conversation(ws, session, self._workers)
        self._conversations.add(conversation)
        try:
            await conversation.run()
        finally:
            self._conversations.discard(conversation)
            session.close()

    async def _upload(self, request: Request) -> Response:
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse

        def refused(text: str, status: int) -> Response:
            # The rest of the body is not read.
            return JSONResponse({"text": text}, status, headers={"connection": "close"})

        name = clean_name(request.query_params.get("name", ""))
        try:
            async with self._uploads:
                clips = await self._read_upload(request, name)
            items = [self.library.add(each.name, each.motion, each.skin) for each in clips]
        except UploadTooLarge:
            return refused(f"A dropped file must have at most {MOST_BYTES // 1024**2} MB.", 413)
        except TimeoutError:
            return refused(f"A dropped file must come within {UPLOAD_S:g} s.", 408)
        except ClientDisconnect:
            return refused("The upload was cancelled.", 400)
        except MotionLoomError as error:
            return refused(str(error), 422)
        listed = [{"id": item.id, "name": item.name, "group": item.group} for item in items]
        return JSONResponse({**listed[0], "items": listed})

    async def _read_upload(self, request: Request, name: str) -> list[UploadedClip]:
        """The clips of an uploaded file; reading ends when the page goes or cancels."""
        stop = threading.Event()
        with tempfile.TemporaryDirectory(prefix="motionloom-upload-") as folder:
            source = upload_place(Path(folder), name)
            await asyncio.wait_for(_receive(request, source), UPLOAD_S)
            reading = asyncio.get_running_loop().run_in_executor(
                self._readers, partial(parse_upload, name, source, stop)
            )
            try:
                while not reading.done():
                    await asyncio.wait({reading}, timeout=LOOK_S)
                    if await request.is_disconnected():
                        stop.set()
            finally:
                stop.set()
                await asyncio.wait({reading})
            return reading.result()

    async def _download(self, request: Request) -> Response:
        from starlette.responses import FileResponse, PlainTextResponse

        found = self.exports.find(request.path_params["key"])
        if found is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        path, name = found
        return FileResponse(path, filename=name, media_type="application/octet-stream")


class UploadTooLarge(Exception):
    """More came than an upload may have."""


async def _receive(request: Request, target: Path) -> None:
    """Write the body of a request to a file, so that it takes no memory."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise UploadTooLarge
    size = 0
    with target.open("wb") as stream:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MOST_BYTES:
                raise UploadTooLarge
            stream.write(chunk)


def _bound(port: int) -> socket.socket:
    """A listening place on this machine only."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
        # From now on whoever comes waits for the server instead of being turned away.
        made.listen(128)
    except OSError:
        made.close()
        raise FormatError(
            f"Port {port} must be free.", fix="Choose another with --port, or leave it out."
        ) from None
    return made
