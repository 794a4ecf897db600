"""The studio's server: page, socket, uploads and downloads, all below one secret address."""

from __future__ import annotations

import asyncio
import shlex
import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionloom._extras import require_extra
from motionloom.errors import FormatError
from motionloom.files.reading import path_of
from motionloom.studio.server.access_control import AccessControl, StoredAddress
from motionloom.studio.server.uploads import UploadRoute

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from motionloom.studio.clips.library import Library
    from motionloom.studio.panels.library_tables import Tables
    from motionloom.studio.results.exports import Exports
    from motionloom.studio.results.result import StoredResults
    from motionloom.studio.server.conversation import Conversation
    from motionloom.studio.server.project import Project
    from motionloom.studio.server.session import Session

# What needs the extra `studio` is imported in functions: the class exists without it.

MOST_MESSAGE = 4 * 1024**2
MOST_PAGES = 128
"""Open at the same time."""
WATCH_S = 2.0
"""Seconds between scans of the folder;"""
WATCH_SHARE = 30.0
"""more where a scan takes more than one part in this many."""


def static_folder() -> Path:
    """The folder of the built page.

    Raises
    ------
    FormatError
        It was not built: the package was installed without its build step.
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
        0 for the project's last port if it is free, else any free port.
    project
        File for the page's state; one in the user's state folder where None.

    Raises
    ------
    MotionLoomError
        The extra ``studio`` is not installed.
    """

    def __init__(
        self, folder: str | Path | None = None, *, port: int = 0, project: str | Path | None = None
    ) -> None:
        require_extra("studio", "The studio")
        from motionloom.studio.server.conversation import Workers
        from motionloom.studio.server.project import Project, default_path

        folder = None if folder is None else path_of(folder, "folder")
        if folder is not None and not folder.is_dir():
            raise FormatError(
                "The studio must be given a folder.", path=folder, fix="Name a folder."
            )
        project = None if project is None else path_of(project, "project")
        if project is not None and project.is_dir():
            raise FormatError("`project` must be a file.", path=project, fix="Add a file name.")
        self.project = Project(project or default_path(folder))
        self._static = static_folder()
        stored = StoredAddress(self.project.path)
        self.token = stored.token
        self._socket = _bound_again(stored.port) if port == 0 else _bound(port)
        self._services = Services(folder, self.project)
        self.port = int(self._socket.getsockname()[1])
        stored.store(self.port)
        words = [str(folder)] if folder is not None else []
        words += ["--port", str(self.port)]
        words += ["--project", str(project)] if project is not None else []
        self._command = shlex.join(["motionloom", "studio", *words])
        # Requests of one page are answered in turn; several pages are served in parallel.
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
        return self._services.library

    @property
    def exports(self) -> Exports:
        """Files that can be downloaded."""
        return self._services.exports

    @property
    def tables(self) -> Tables:
        """Transition tables of the clips."""
        return self._services.tables

    @property
    def address(self) -> str:
        """Address to open in a browser; it contains the access token."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until stopped from another thread, or by an interrupt."""
        import uvicorn

        from motionloom.studio.server.connections import PageSocket, SlowClientProtocol

        config = uvicorn.Config(
            self.app(), log_level="warning", access_log=False,
            http=SlowClientProtocol, ws=PageSocket,
            ws_max_size=MOST_MESSAGE, server_header=False, lifespan="off",
            # No pings: on one machine a closed page closes its socket, and a busy page is slow.
            ws_ping_interval=None,
            ws_per_message_deflate=False,  # compression takes longer than sending
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
        """Release port, threads and files; called at the end of :meth:`run`."""
        for pool in (self._workers.requests, self._workers.previews):
            pool.shutdown(wait=False, cancel_futures=True)
        self._uploads.close()
        self._services.close()
        self._socket.close()

    def app(self) -> AccessControl:
        """The application, behind access control."""
        from starlette.applications import Starlette
        from starlette.routing import Mount, Route, WebSocketRoute
        from starlette.staticfiles import StaticFiles

        inner = Starlette(
            routes=[
                WebSocketRoute("/socket", self._serve_page),
                Route("/upload", self._uploads.answer, methods=["POST"]),
                Route("/download/{key}", self._download),
                Mount("/", StaticFiles(directory=self._static, html=True)),
            ],
        )
        hosts = {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost")}
        return AccessControl(inner, self.token, hosts)

    async def _serve_page(self, ws: WebSocket) -> None:
        from starlette.websockets import WebSocketDisconnect

        if self._pages >= MOST_PAGES:
            await ws.close(code=1013)  # the page tries again later
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
        """Answer a page until it closes."""
        from motionloom.studio.server.conversation import Conversation

        loop = asyncio.get_running_loop()
        session = await loop.run_in_executor(
            self._workers.requests, self._services.session, self._command
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
        """Report files that are added, changed or removed to all open pages."""
        loop = asyncio.get_running_loop()
        pause = WATCH_S
        while self._conversations:
            await asyncio.sleep(pause)
            begun = loop.time()
            changes = await loop.run_in_executor(self._workers.previews, self._changes)
            pause = max(WATCH_S, WATCH_SHARE * (loop.time() - begun))
            if changes is not None:
                for page in self._conversations:
                    page.push(changes)

    def _changes(self) -> str | None:
        """The message about changes in the folder; None without changes."""
        from motionloom.studio.messages.answers import LibraryChanged
        from motionloom.studio.messages.notices import encode_head

        changes = self.library.refresh()
        if changes is None:
            return None
        name, items = self.library.name, self.library.items()
        head = LibraryChanged(name, items, changes.added, changes.changed, changes.removed)
        return encode_head(0, head).decode()

    async def _download(self, request: Request) -> Response:
        from starlette.responses import FileResponse, PlainTextResponse

        file = self.exports.find(request.path_params["key"])
        if file is None:
            return PlainTextResponse("There is no such file.", status_code=404)
        path, name = file
        return FileResponse(path, filename=name, media_type="application/octet-stream")


def _bound_again(port: int) -> socket.socket:
    """A listening socket on the last port, or on any free port if that is taken."""
    try:
        return _bound(port)
    except FormatError:
        return _bound(0)


def _bound(port: int) -> socket.socket:
    """A listening socket for this machine only."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        # From now on connections wait for the server instead of being refused.
        listener.listen(128)
    except OSError:
        listener.close()
        raise FormatError(
            f"Port {port} must be free.", fix="Choose another with --port, or leave it out."
        ) from None
    return listener


@dataclass(frozen=True, slots=True)
class _Loaded:
    library: Library
    exports: Exports
    tables: Tables
    results: StoredResults


class Services:
    """What all pages share, created in a background thread while the page is served.

    Each property waits until its service is ready.
    """

    def __init__(self, folder: Path | None, project: Project) -> None:
        self.folder, self.project = folder, project
        self._loaded: Future[_Loaded] = Future()
        threading.Thread(target=self._load, name="services", daemon=True).start()

    @property
    def library(self) -> Library:
        """The clips."""
        return self._loaded.result().library

    @property
    def exports(self) -> Exports:
        """Files to download."""
        return self._loaded.result().exports

    @property
    def tables(self) -> Tables:
        """Transition tables."""
        return self._loaded.result().tables

    def session(self, command: str = "") -> Session:
        """For a page that was opened; ``command`` starts the server again."""
        from motionloom.studio.server.session import Session

        ready = self._loaded.result()
        return Session(
            ready.library, ready.exports, self.project, ready.tables, command, ready.results
        )

    def close(self) -> None:
        """End running builds and delete the exported files."""
        if self._loaded.exception() is not None:
            return  # each property raises it
        self.tables.close()
        self.exports.close()

    def _load(self) -> None:
        try:
            from motionloom.studio.clips.library import Library
            from motionloom.studio.panels.library_tables import Tables
            from motionloom.studio.results.exports import Exports
            from motionloom.studio.results.result import StoredResults

            library, path = Library(self.folder), self.project.path
            tables = Tables(library, path.with_name(f"{path.stem}.tables"))
            self._loaded.set_result(_Loaded(library, Exports(), tables, StoredResults()))
        except BaseException as error:
            self._loaded.set_exception(error)
        else:
            import motionloom.studio.server.session  # noqa: F401  a page needs it next
