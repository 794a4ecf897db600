"""Uploads: a dropped file is stored, read in a process with limits, and its clips are listed."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from motionloom.errors import FormatError, MotionLoomError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from motionloom.studio.clips.library import Library
    from motionloom.studio.server.upload_worker import UploadedClip

MOST_UPLOADS = 2
"""Read at the same time; others wait."""
UPLOAD_S = 60.0
"""Time limit of an upload; on one machine it takes less than a second."""
CANCEL_CHECK_S = 0.3
"""Seconds between checks whether a page cancelled its upload."""
MOST_BYTES = 64 * 1024**2
MOST_SECONDS = 60
MOST_CPU_S = 60
MOST_MEMORY = 4 * 1024**3
MOST_WRITTEN = 2 * 1024**3
MOST_CLIP = 256 * 1024**2
"""Bytes of all motions of a file in memory: compressed files expand."""
MOST_CLIPS = 64
"""Clips of one file."""
CHECK_S = 0.1
"""Seconds between checks of the reading process."""
MOST_WORDS = 4000
_LIMITS = """
import sys
source, target, name, memory, seconds, written, clip, clips = sys.argv[1:]
try:
    import resource
except ImportError:
    pass  # no such limits on this system; the time limit always applies
else:
    for what, most in (("AS", memory), ("CPU", seconds), ("FSIZE", written), ("CORE", 0)):
        resource.setrlimit(getattr(resource, "RLIMIT_" + what), (int(most), int(most)))
"""
_WORKER = (
    _LIMITS
    + """
import warnings
warnings.simplefilter("ignore")
from motionloom.errors import MotionLoomError
from motionloom.studio.server.upload_worker import read_all
try:
    read_all(source, target, name, int(clip), int(clips))
except MotionLoomError as error:
    sys.stderr.write("error:" + str(error).replace(source, name))
    sys.exit(3)
"""
)


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
                    await asyncio.wait({reading}, timeout=CANCEL_CHECK_S)
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


def clean_name(name: str) -> str:
    """A file name without folders and control characters, shortened."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    printable = "".join(c for c in last if c.isprintable()).strip(". ")
    return printable[-120:] or "clip"


def upload_path(folder: Path, name: str) -> Path:
    """Path for the bytes of an upload; only the suffix of its name is used."""
    suffix = Path(name).suffix.lower()
    if not suffix.removeprefix(".").isalnum() or len(suffix) > 8:
        suffix = ".bin"
    return folder / f"in{suffix}"


def parse_upload(
    name: str, source: Path, stop: threading.Event | None = None
) -> list[UploadedClip]:
    """The clips in a file, read by a separate process with limits.

    Parameters
    ----------
    name
        The file's name on the page.
    source
        Path of its bytes, in a separate folder.
    stop
        Ends the work when it is set.

    Raises
    ------
    FormatError
        It is too large, cannot be read, or takes too long or too much memory to read.
    """
    if source.stat().st_size > MOST_BYTES:
        raise FormatError(f"A dropped file must have at most {MOST_BYTES // 1024**2} MB.")
    target = source.with_name("out")
    target.mkdir()
    limits = (MOST_MEMORY, MOST_CPU_S, MOST_WRITTEN, MOST_CLIP, MOST_CLIPS)
    words = [str(source), str(target), name, *(str(most) for most in limits)]
    problems = source.with_name("problems")
    with problems.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream,
        )  # fmt: skip
    code = _wait(process, name, stop)
    if code == 3:
        with problems.open("rb") as stream:
            text = stream.read(MOST_WORDS).decode("utf-8", "replace")
        raise FormatError(text.partition("error:")[2])
    if code != 0:
        raise FormatError(f"{name} could not be read within the limits for dropped files.")
    from motionloom.studio.server.upload_worker import read_back

    return read_back(target, Path(name).stem)


def _wait(process: subprocess.Popen[bytes], name: str, stop: threading.Event | None) -> int:
    """The exit status; the process is ended after the time limit or when ``stop`` is set."""
    end = time.monotonic() + MOST_SECONDS
    try:
        while True:
            try:
                return process.wait(CHECK_S)
            except subprocess.TimeoutExpired:
                if stop is not None and stop.is_set():
                    raise FormatError(f"{name} was cancelled.") from None
                if time.monotonic() > end:
                    text = f"{name} took longer than {MOST_SECONDS} s to read."
                    raise FormatError(text) from None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
