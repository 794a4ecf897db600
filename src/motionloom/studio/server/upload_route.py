"""Upload route: stores a dropped file, reads it, and adds its clips to the library."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from motionloom.errors import MotionLoomError
from motionloom.studio.server.uploads import MOST_BYTES, clean_name, parse_upload, upload_path

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from motionloom.studio.clips.library import Library
    from motionloom.studio.server.upload_worker import UploadedClip

MOST_UPLOADS = 2
"""Read at the same time; others wait."""
UPLOAD_S = 60.0
"""Time limit of an upload; on one machine it takes less than a second."""
CHECK_S = 0.3
"""Seconds between checks whether a page cancelled its upload."""


class UploadTooLargeError(Exception):
    """An upload has more bytes than allowed."""


class UploadRoute:
    """Answers ``POST upload``."""

    def __init__(self, library: Callable[[], Library]) -> None:
        self._library = library
        self._readers = ThreadPoolExecutor(MOST_UPLOADS, thread_name_prefix="uploads")
        self._turns = asyncio.Semaphore(MOST_UPLOADS)

    async def answer(self, request: Request) -> Response:
        """The answer to an upload: all clips of the file, or an error."""
        from starlette.requests import ClientDisconnect
        from starlette.responses import JSONResponse

        def refused(text: str, status: int) -> Response:
            # The rest of the body is not read.
            return JSONResponse({"text": text}, status, headers={"connection": "close"})

        name = clean_name(request.query_params.get("name", ""))
        try:
            async with self._turns:
                clips = await self._read(request, name)
            library = self._library()
            items = [library.add(each.name, each.motion, each.skin) for each in clips]
        except UploadTooLargeError:
            return refused(f"A dropped file must have at most {MOST_BYTES // 1024**2} MB.", 413)
        except TimeoutError:
            return refused(f"A dropped file must be sent within {UPLOAD_S:g} s.", 408)
        except ClientDisconnect:
            return refused("The upload was cancelled.", 400)
        except MotionLoomError as error:
            return refused(str(error), 422)
        except OSError as error:
            return refused(f"The file could not be stored ({error.strerror}).", 507)
        listed = [{"id": item.id, "name": item.name, "group": item.group} for item in items]
        return JSONResponse({**listed[0], "items": listed})

    def close(self) -> None:
        """Release the threads."""
        self._readers.shutdown(wait=False, cancel_futures=True)

    async def _read(self, request: Request, name: str) -> list[UploadedClip]:
        """The clips of an uploaded file; reading ends when the page closes or cancels."""
        stop = threading.Event()
        with tempfile.TemporaryDirectory(prefix="motionloom-upload-") as folder:
            source = upload_path(Path(folder), name)
            await asyncio.wait_for(_receive(request, source), UPLOAD_S)
            reading = asyncio.get_running_loop().run_in_executor(
                self._readers, partial(parse_upload, name, source, stop)
            )
            try:
                while not reading.done():
                    await asyncio.wait({reading}, timeout=CHECK_S)
                    if await request.is_disconnected():
                        stop.set()
            finally:
                stop.set()
                await asyncio.wait({reading})
            return reading.result()


async def _receive(request: Request, target: Path) -> None:
    """Write the body of a request to a file, to save memory."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise UploadTooLargeError
    size = 0
    with target.open("wb") as stream:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MOST_BYTES:
                raise UploadTooLargeError
            stream.write(chunk)
