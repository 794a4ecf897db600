"""Files dropped on the page: capped, and parsed in a process of their own with limits."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from motionloom.errors import FormatError

if TYPE_CHECKING:
    from motionloom.motion.motion import Motion

__all__ = ["MOST_BYTES", "clean_name", "parse_upload"]

MOST_BYTES = 64 * 1024**2
MOST_SECONDS = 60
MOST_CPU_S = 60
MOST_MEMORY = 4 * 1024**3
MOST_WRITTEN = 2 * 1024**3
MOST_CLIP = 256 * 1024**2
"""Bytes of the motion itself, which the server works on: packed files hold more than they weigh."""

_LIMITS = """
import sys
source, target, name, memory, seconds, written, clip = sys.argv[1:]
try:
    import resource
except ImportError:
    pass  # no such limits on this system; the time limit holds everywhere
else:
    for what, most in (("AS", memory), ("CPU", seconds), ("FSIZE", written), ("CORE", 0)):
        resource.setrlimit(getattr(resource, "RLIMIT_" + what), (int(most), int(most)))
"""
_WORKER = (
    _LIMITS
    + """
import warnings
warnings.simplefilter("ignore")
import motionloom as ml
try:
    motion = ml.load(source)
except ml.MotionLoomError as error:
    sys.stderr.write("told:" + str(error).replace(source, name))
    sys.exit(3)
if motion.local_quats.nbytes + motion.root_positions.nbytes > int(clip):
    sys.stderr.write(f"told:{name} must hold at most {int(clip) / 1024**2:g} MB of motion. Cut it.")
    sys.exit(3)
ml.save(motion, target, format="archive")
"""
)


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
    from motionloom.intake.load import load

    if len(data) > MOST_BYTES:
        raise FormatError(f"A dropped file must have at most {MOST_BYTES // 1024**2} MB.")
    suffix = Path(name).suffix.lower()
    if not suffix.removeprefix(".").isalnum() or len(suffix) > 8:
        suffix = ".bin"
    with tempfile.TemporaryDirectory(prefix="motionloom-upload-") as folder:
        source, target = Path(folder) / f"in{suffix}", Path(folder) / "out.mlm"
        source.write_bytes(data)
        limits = [str(most) for most in (MOST_MEMORY, MOST_CPU_S, MOST_WRITTEN, MOST_CLIP)]
        try:
            done = subprocess.run(
                [sys.executable, "-c", _WORKER, str(source), str(target), name, *limits],
                capture_output=True, text=True, timeout=MOST_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise FormatError(f"{name} took longer than {MOST_SECONDS} s to read.") from None
        if done.returncode == 3:
            raise FormatError(done.stderr.partition("told:")[2])
        if done.returncode != 0 or not target.is_file():
            raise FormatError(f"{name} could not be read within the limits for dropped files.")
        return load(target).replace(name=Path(name).stem)
