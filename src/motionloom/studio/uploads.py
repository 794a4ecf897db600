"""Files dropped on the page: capped, and parsed in a process of their own with limits."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from motionloom.errors import FormatError
from motionloom.intake.load import load
from motionloom.motion.motion import Motion

__all__ = ["MOST_BYTES", "clean_name", "parse_upload"]

MOST_BYTES = 64 * 1024**2
MOST_SECONDS = 60
MOST_MEMORY = 4 * 1024**3

_WORKER = """
import sys, warnings
warnings.simplefilter("ignore")
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]), int(sys.argv[3])))
    resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[4]), int(sys.argv[4])))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**31, 2**31))
except ImportError:
    pass  # no such limits on this system; the time limit holds everywhere
import motionloom as ml
try:
    ml.save(ml.load(sys.argv[1]), sys.argv[2], format="archive")
except ml.MotionLoomError as error:
    sys.stderr.write("told:" + str(error).replace(sys.argv[1], sys.argv[5]))
    sys.exit(3)
"""


def clean_name(name: str) -> str:
    """A file name that is only a name: no folder, no control characters, not too long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(c for c in last if c.isprintable()).strip(". ")
    return kept[-120:] or "clip"


def parse_upload(name: str, data: bytes) -> Motion:
    """The clip in a file's bytes, read by a worker that cannot take this process down with it.

    Raises
    ------
    FormatError
        It is too large, cannot be read, or takes too long or too much memory to read.
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"A dropped file must have at most {MOST_BYTES // 1024**2} MB.")
    suffix = Path(name).suffix.lower()
    if not suffix.removeprefix(".").isalnum() or len(suffix) > 8:
        suffix = ".bin"
    with tempfile.TemporaryDirectory(prefix="motionloom-upload-") as folder:
        source, target = Path(folder) / f"in{suffix}", Path(folder) / "out.mlm"
        source.write_bytes(data)
        limits = [str(MOST_MEMORY), str(MOST_SECONDS)]
        try:
            done = subprocess.run(
                [sys.executable, "-c", _WORKER, str(source), str(target), *limits, name],
                capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise FormatError(f"{name} took longer than {MOST_SECONDS} s to read.") from None
        if done.returncode == 3:
            raise FormatError(done.stderr.partition("told:")[2])
        if done.returncode != 0 or not target.is_file():
            raise FormatError(f"{name} could not be read within the limits for dropped files.")
        return load(target).replace(name=Path(name).stem)
