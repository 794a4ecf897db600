"""The studio's server: page, socket, uploads and downloads, all below one secret address."""

from __future__ import annotations

import asyncio
import shlex
import socket
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionloom._paths import path_of
from motionloom.errors import FormatError
from motionloom.studio.messages.notices import encode_news
from motionloom.studio.server.access_control import Doors
from motionloom.studio.server.address import KeptAddress
from motionloom.studio.server.conversation import Conversation, Workers
from motionloom.studio.server.project import Project, usual_place
from motionloom.studio.server.services import Interior
from motionloom.studio.server.upload_route import UploadRoute

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from motionloom.studio.clips.library import Library
    from motionloom.studio.panels.open_tables import Tables
    from motionloom.studio.results.exports import Exports

__all__ = ["Studio", "static_folder"]

MOST_MESSAGE = 4 * 1024**2
MOST_PAGES = 128
"""Open at once."""
WATCH_S = 2.0
"""How often the folder is looked at for changes;"""
WATCH_SHARE = 30.0
"""seldom enough that it takes no more than this part of the time."""


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
        0 takes the one that the project had before if it is free, else any.
    project
        File that keeps the page's state; one in the user's state folder where None.
    """

    def __init__(
        self, folder: Path | None = None, *, port: int = 0, project: Path | None = None
    ) -> None:
        if folder is not None and not path_of(folder, "folder").is_dir():
            raise FormatError(
                "The studio must be given a folder.", path=folder, fix="Name a folder."
            )
        if project is not None:
            path_of(project, "project")
        self.project = Project(project or usual_place(folder))
        self._static = static_folder()
        kept = KeptAddress(self.project.path)
        self.token = kept.token
        self._socket = _bound_like_before(kept.port) if port == 0 else _bound(port)
        self._interior = Interior(folder, self.project)
        self.port = int(self._socket.getsockname()[1])
        kept.keep(self.port)
        words = [str(folder)] if folder is not None else []
        words += ["--port", str(self.port)]
        words += ["--project", str(project)] if project is not None else []
        self._command = shlex.join(["motionloom", "studio", *words])
        # Requests of a page are answered in turn; two pages do not wait for one another.
        self._workers = Workers(
            ThreadPoolExecutor(max_workers=4, thread_name_prefix="studio"),
            ThreadPoolExecutor(max_workers=1, thread_name_prefix="previews"),
        )
        self._uploads = UploadRoute(lambda: self.library)
        self._conversations: set[Conversation] = set()
        self._watching: asyncio.Task[None] | None = None
        self._pages = 0
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

        from motionloom.studio.server.page_socket import PageSocket
        from motionloom.studio.server.slow_clients import PatientProtocol

        config = uvicorn.Config(
            self.app(), log_level="warning", access_log=False,
            http=PatientProtocol, ws=PageSocket,
            ws_max_size=MOST_MESSAGE, server_header=False, lifespan="off",
            # No pings: on one machine a page that is gone closes its socket; a busy one is slow.
            ws_ping_interval=None,
            ws_per_message_deflate=False,  # packing takes longer than sending on one machine
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
        for pool in (self._workers.requests, self._workers.previews):
            pool.shutdown(wait=False, cancel_futures=True)
        self._uploads.close()
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
                Route("/upload", self._uploads.answer, methods=["POST"]),
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
        session = await loop.run_in_executor(
            self._workers.requests, self._interior.session, self._command
        )
        conversation = Conversation(ws, session, self._workers)
        self._conversations.add(conversation)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        try:
            await conversation.run()
        finally:
            self._conversations.discard(conversation)
            session.close()

    async def _watch(self) -> None:
        """Tell open pages about files of the folder that come, change or go."""
        loop = asyncio.get_running_loop()
        pause = WATCH_S
        while self._conversations:
            await asyncio.sleep(pause)
            begun = loop.time()
            changes = await loop.run_in_executor(self._workers.previews, self._look)
            pause = max(WATCH_S, WATCH_SHARE * (loop.time() - begun))
            if changes is not None:
                for page in self._conversations:
                    page.push(changes)

    def _look(self) -> str | None:
        """The message about what changed in the folder; None where nothing did."""
        changes = self.library.refresh()
        if changes is None:
            return None
        body = {**self.library.listing(), "added": changes.added, "changed": changes.changed,
                "removed": changes.removed}  # fmt: skip
        return encode_news("library.changed", body)

    async def _download(self, request: Request) -> Response:
        from starlette.responses import FileResponse, PlainTextResponse

        found = self.exports.find(request.path_params["key"])
        if found is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        path, name = found
        return FileResponse(path, filename=name, media_type="application/octet-stream")


def _bound_like_before(port: int) -> socket.socket:
    """A listening place on the port that was used before, or on any where that is taken."""
    try:
        return _bound(port)
    except FormatError:
        return _bound(0)


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
