"""MP4: pictures through the ffmpeg program into a film that appears whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
from collections.abc import Iterable
from pathlib import Path

from motionloom._extras import command, require_extra
from motionloom.errors import FormatError
from motionloom.files.writing import file_errors, whole_path

QUALITY = 15
"""Constant rate factor of the codec: 0 loses nothing, 51 is worst."""


def write_mp4(path: Path, pictures: Iterable[bytes], *, size: tuple[int, int], fps: float) -> None:
    """Write pictures (RGB bytes, row by row, both sides even) as a film.

    Raises
    ------
    FormatError
        The extra ``video`` is not installed, or the film cannot be written. What was there is
        unchanged.
    """
    program = _ffmpeg(path)
    with file_errors(path), whole_path(path) as temporary:
        command = [
            program, "-y", "-v", "error", "-f", "rawvideo", "-vcodec", "rawvideo",
            "-s", f"{size[0]}x{size[1]}", "-pix_fmt", "rgb24", "-r", f"{fps:g}", "-i", "-", "-an",
            "-pix_fmt", "yuv420p", "-crf", str(QUALITY), "-f", "mp4", f"file:{temporary}",
        ]  # fmt: skip
        _encode(command, pictures)


def _ffmpeg(path: Path) -> str:
    require_extra("video", "An MP4 film", error=FormatError)
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        problem = f"The package imageio-ffmpeg must find the program ffmpeg ({error})."
        raise FormatError(problem, path=path, fix=f"Run {command('video')}.") from error


def _encode(command: list[str], pictures: Iterable[bytes]) -> None:
    """Feed the pictures to ffmpeg; an OSError with its own words where it fails."""
    complaints: list[bytes] = []
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=os.name == "posix",  # Ctrl-C is for this process to handle
    ) as process:
        assert process.stdin is not None
        errors = process.stderr
        assert errors is not None
        listening = threading.Thread(target=lambda: complaints.append(errors.read()), daemon=True)
        listening.start()
        try:
            try:
                for picture in pictures:
                    process.stdin.write(picture)
                process.stdin.close()
            except BrokenPipeError:
                pass  # it has ended, and says why
            process.wait()
            listening.join()
        except BaseException:
            process.kill()
            raise
    if (
        hasattr(signal, "SIGXFSZ") and process.returncode == -signal.SIGXFSZ
    ):  # files may only be so large
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    if process.returncode != 0:
        raise _fault(b"".join(complaints).decode(errors="replace"))


def _fault(complaint: str) -> OSError:
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if os.strerror(number) in complaint:
            return OSError(number, os.strerror(number))
    last = " ".join(complaint.split())[-200:]
    return OSError(errno.EIO, f"ffmpeg failed ({last or 'without a word'})")
