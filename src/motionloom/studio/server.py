"""The studio's server: page, socket, uploads and downloads, all below one secret address."""

from __future__ import annotations

import asyncio
import secrets
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionloom.errors import FormatError, MotionLoomError
from motionloom.studio.doors import Doors
from motionloom.studio.exports import Exports
from motionloom.studio.library import Library
from motionloom.studio.project import Project, usual_place
from motionloom.studio.session import Session, is_preview
from motionloom.studio.tables import Tables
from motionloom.studio.uploads import MOST_BYTES, clean_name, parse_upload

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

__all__ = ["Studio", "static_folder"]

MOST_MESSAGE = 4 * 1024**2
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
        self.library = Library(folder)
        self.exports = Exports()
        self.project = Project(project or usual_place(folder))
        kept = self.project.path
        self.tables = Tables(self.library, kept.with_name(f"{kept.stem}.tables"))
        self.token = secrets.token_urlsafe(18)
        self._static = static_folder()
        self._socket = _bound(port)
        self.port = int(self._socket.getsockname()[1])
        # Requests of a page are answered in turn; two pages do not wait for one another.
        self._workers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="studio")
        self._previews = ThreadPoolExecutor(max_workers=1, thread_name_prefix="previews")
        self._cold = True
        self._server: Any = None

    @property
    def address(self) -> str:
        """What to open in a browser; the token in it is the only key."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until stopped from another thread, or by an interrupt."""
        import uvicorn

        config = uvicorn.Config(
            self.app(), log_level="warning", access_log=False, ws="websockets-sansio",
            ws_max_size=MOST_MESSAGE, server_header=False, lifespan="off",
            # No pings: on one machine a page that is gone closes its socket; a busy one is slow.
            ws_ping_interval=None,
            timeout_graceful_shutdown=2,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            for pool in (self._workers, self._previews):
                pool.shutdown(wait=False, cancel_futures=True)
            self.tables.close()
            self.exports.close()

    def stop(self) -> None:
        """Ask a running server to end."""
        if self._server is not None:
            self._server.should_exit = True

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

        await ws.accept()
        session = Session(self.library, self.exports, self.project, self.tables)
        loop, sending = asyncio.get_running_loop(), asyncio.Lock()
        if self._cold:
            self._cold = False
            loop.call_later(WARM_UP_AFTER_S, self._previews.submit, self._warm_up)

        async def reply(text: str, workers: ThreadPoolExecutor) -> None:
            said = await loop.run_in_executor(workers, session.answer, text)
            async with sending:
                await (ws.send_text(said) if isinstance(said, str) else ws.send_bytes(said))

        aside: set[asyncio.Task[None]] = set()
        try:
            while True:
                text = await ws.receive_text()
                if is_preview(text):
                    # A long library must not keep the hand waiting.
                    task = asyncio.create_task(reply(text, self._previews))
                    aside.add(task)
                    task.add_done_callback(aside.discard)
                else:
                    await reply(text, self._workers)
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            for task in aside:
                task.cancel()

    async def _upload(self, request: Request) -> Response:
        from starlette.responses import JSONResponse

        name = clean_name(request.query_params.get("name", ""))
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > MOST_BYTES:
                text = f"A dropped file must have at most {MOST_BYTES // 1024**2} MB."
                return JSONResponse({"text": text}, status_code=413)
        loop = asyncio.get_running_loop()
        try:
            motion = await loop.run_in_executor(
                self._workers, partial(parse_upload, name, bytes(data))
            )
        except MotionLoomError as error:
            return JSONResponse({"text": str(error)}, status_code=422)
        item = self.library.add(motion.name, motion)
        return JSONResponse({"id": item.id, "name": item.name, "group": item.group})

    async def _download(self, request: Request) -> Response:
        from starlette.responses import FileResponse, PlainTextResponse

        found = self.exports.find(request.path_params["key"])
        if found is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        path, name = found
        return FileResponse(path, filename=name, media_type="application/octet-stream")

    def _warm_up(self) -> None:
        """Compile what the first transition needs while the page is being looked at."""
        from motionloom.studio.matches import Matches
        from motionloom.studio.messages import TransitionMake
        from motionloom.studio.transition_room import make_transition

        make_transition(Matches(Library()), TransitionMake(id=0, a="walk", b="jog"))


def _bound(port: int) -> socket.socket:
    """A listening place on this machine only."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
    except OSError:
        made.close()
        raise FormatError(
            f"Port {port} must be free.", fix="Choose another with --port, or leave it out."
        ) from None
    return made
