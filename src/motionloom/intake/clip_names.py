"""Clips as users name them: ``walk.bvh``, ``file.glb#Run``, ``walk.bvh:2s-5.5s``, or a folder."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from motionloom._arrays import of_kind
from motionloom._records import record
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import Limits
from motionloom.files.reading import ReadingErrors, open_file, path_of, read_file, read_stream
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.registry import SNIFF_BYTES, Format, can_hold_several, known_formats
from motionloom.motion.motion import Motion

PRINTED_S = 0.01
"""Lengths of clips are printed to this many seconds: a range may end so much after its clip."""
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_RANGE = re.compile(rf":(?:({_NUMBER})(s?))?-(?:({_NUMBER})(s?))?$")
_ALMOST = re.compile(r":[-+]?[\d.][^/\\]*$")
"""A colon and a number: meant as a range where a file is named before it."""
_HOW = "Write FILE:2s-5.5s (seconds) or FILE:120-330 (first and last frame)."
AMBIGUOUS = (".txt", ".json", ".npz", ".csv")
"""Suffixes that anything can have: only the contents tell a clip from a readme."""


@dataclass(frozen=True, slots=True)
class Target:
    """The file or stream to read, and the clip in it."""

    label: str
    """The name that the user gave, without the clip: goes into texts and ``Source.path``."""
    path: Path | None
    """The file; None for a stream."""
    clip: str | None
    stream: BinaryIO | None = None


def find_target(file: str | Path | BinaryIO, clip: str | None) -> Target:
    """Which file, and which clip in it.

    ``"Soldier.glb#Run"`` is the clip Run of Soldier.glb, unless a file of that whole name exists.
    ``"-"`` is standard input.
    """
    if not isinstance(file, str | Path):
        if hasattr(file, "read"):
            return Target(str(getattr(file, "name", "stream")), None, clip, file)
        raise FormatError(
            f"A file is named by a path or given as a binary stream, got {type(file).__name__}."
        )
    text = str(file)
    if text == "-":
        return Target("-", None, clip, sys.stdin.buffer)
    if clip is None:
        file, clip = split_clip(text)
        return Target(file, Path(file), clip)
    return Target(text, Path(text), clip)


def split_clip(text: str) -> tuple[str, str | None]:
    """File and clip in ``"Soldier.glb#Run"``; no clip where a file of that whole name exists.

    The names of clips may hold ``#`` and ``/`` too, so the first part that is a file counts.
    """
    marks = [at for at, character in enumerate(text) if character == "#" and at > 0]
    if not marks or _exists(Path(text)):
        return text, None
    for at in marks:
        if is_file(Path(text[:at])):
            return text[:at], text[at + 1 :]
    name = Path(text).name
    at = len(text) - len(name.rpartition("#")[2]) - 1
    return (text[:at], text[at + 1 :]) if name.rfind("#") > 0 else (text, None)


@dataclass(frozen=True, slots=True)
@record
class ClipRange:
    """A part of a clip, as ``walk.bvh:2s-5.5s`` names it.

    Attributes
    ----------
    first, last : float or None
        First and last frame, or second; None where the part begins or ends with the clip.
    seconds : bool
        Whether they are seconds.
    text : str
        The range and its file, as the user wrote them.
    """

    first: float | None
    last: float | None
    seconds: bool
    text: str

    def cut(self, motion: Motion) -> Motion:
        """The part of a clip, both ends included.

        Parameters
        ----------
        motion
            The whole clip.

        Returns
        -------
        Motion
            The part.

        Raises
        ------
        FormatError
            The range reaches beyond the clip.
        """
        end = motion.n_frames - 1
        scale = motion.fps if self.seconds else 1.0
        over = round(PRINTED_S * scale) if self.seconds else 0
        first = 0 if self.first is None else round(self.first * scale)
        last = end if self.last is None else round(self.last * scale)
        if first > end or last > end + over:
            reach = f"{motion.duration_s:.2f} s" if self.seconds else f"frame {end}"
            raise FormatError(
                f"The range must lie in the clip, which ends at {reach}.",
                path=self.text,
                fix="Without its second end a range goes on to the last frame.",
            )
        return motion[first : last + 1]


def split_range(text: str) -> tuple[str, ClipRange | None]:
    """File, with its clip, and the range in ``"file.glb#Run:1s-3s"``.

    A file of that whole name is no range; neither is the colon after a drive's letter or within a
    name.

    Parameters
    ----------
    text
        As it is typed on the command line.

    Returns
    -------
    (str, ClipRange or None)
        The file, and the range where there is one.

    Raises
    ------
    FormatError
        The range is written wrongly.

    Examples
    --------
    >>> split_range("file.glb#Run:1s-3s")[0]
    'file.glb#Run'
    >>> split_range("C:/clips/walk.bvh")
    ('C:/clips/walk.bvh', None)
    """
    if ":" not in of_kind(text, str, "text") or is_file(Path(text)):
        return text, None
    found = _RANGE.search(text)
    if found is None or re.fullmatch("[A-Za-z]?", text[: found.start()]):
        _refuse_almost(text)
        return text, None
    first, first_s, last, last_s = found.groups()
    units = {first_s, last_s} - {None}
    if not units:
        raise _wrong(text, "A range must have a first or a last frame or second, got neither")
    if len(units) == 2:
        raise _wrong(text, "The ends of a range must both be seconds or both be frames")
    ends = [None if each is None else float(each) for each in (first, last)]
    seconds = "s" in units
    if not seconds and any(each is not None and each != int(each) for each in ends):
        raise _wrong(text, "Frames of a range must be whole numbers; seconds end in s")
    if ends[0] is not None and ends[1] is not None and ends[0] > ends[1]:
        raise _wrong(text, "A range must not begin after its end")
    return text[: found.start()], ClipRange(ends[0], ends[1], seconds, text)


def _refuse_almost(text: str) -> None:
    """Raise where a file is followed by a text that only looks like a range."""
    almost = _ALMOST.search(text)
    if almost and is_file(Path(split_clip(text[: almost.start()])[0])):
        raise _wrong(text, f"A range must be FIRST-LAST, got {text[almost.start() + 1 :]!r}")


def _wrong(text: str, problem: str) -> FormatError:
    return FormatError(f"{problem}.", path=text, fix=_HOW)


@contextmanager
def opened(target: Target, limits: Limits) -> Iterator[tuple[bytes, BinaryIO]]:
    """The first bytes of the target, for sniffing, and a stream at its beginning that can seek."""
    if target.stream is not None:
        content = _whole(target, target.stream, limits)
        yield content.getbuffer()[:SNIFF_BYTES].tobytes(), content
        return
    assert target.path is not None
    try:
        stream = open_file(target.path, limits.max_bytes, pipes=True)
    except FormatError as error:
        raise error.at(target.label) from None
    with stream:
        with ReadingErrors(Path(target.label)):
            size = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            head = stream.read(SNIFF_BYTES)
            stream.seek(0)
        _check_size(target, size, limits)
        yield head, stream


def _whole(target: Target, stream: BinaryIO, limits: Limits) -> io.BytesIO:
    try:
        content = read_stream(stream, limits.max_bytes)
    except TypeError:
        raise FormatError(
            "A stream must give bytes, got text.",
            path=target.label,
            fix='Open it in binary mode: open(path, "rb").',
        ) from None
    except (OSError, ValueError) as error:  # a closed stream's is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"The stream cannot be read ({reason}).", path=target.label) from error
    _check_size(target, content.getbuffer().nbytes, limits)
    return content


def _check_size(target: Target, size: int, limits: Limits) -> None:
    if size == 0:
        raise FormatError("The file is empty.", path=target.label, fix="Export it again.")
    if size > limits.max_bytes:
        raise FormatError(
            f"A file may hold at most {limits.max_bytes / 1e9:.1f} GB, this one holds "
            f"{size / 1e9:.1f} GB or more.",
            path=target.label,
            fix="Split it into shorter clips.",
        )


@contextmanager
def read_errors(label: str) -> Iterator[None]:
    """Whatever a reader raises over a damaged file is a FormatError that names the file."""
    try:
        yield
    except FormatError as error:
        raise error if error.path else error.at(label) from None
    except ArrayError as error:
        raise FormatError(str(error), path=label) from error
    except (MemoryError, RecursionError) as error:
        raise FormatError(
            "The file asks for more memory than there is.",
            path=label,
            fix="Check that it is whole.",
        ) from error


def find_clips(folder: str | Path) -> list[Path]:
    """The clips in and below a folder, sorted.

    Parameters
    ----------
    folder
        Where to look.

    Returns
    -------
    list of Path
        Every file in a format that can be read that is not hidden. Of suffixes that other files
        have too, such as ``.txt``, the contents decide.

    Raises
    ------
    FormatError
        ``folder`` is not a folder, or the head of a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(synthetic.clip("walk").motion, Path(folder) / "walk.bvh")
    ...     _ = (Path(folder) / "notes.txt").write_text("a walk")
    ...     [path.name for path in find_clips(folder)]
    ['walk.bvh']
    """
    place = path_of(folder, "folder")
    if not place.is_dir():
        raise FormatError("Clips are looked for in a folder, and this is none.", path=place)
    return [path for path in paths_below(place) if is_clip(path)]


def paths_below(folder: Path) -> list[Path]:
    """Paths in and below a folder, sorted, without hidden ones.

    Those begin with a dot, as the ``._walk.bvh`` that macOS adds, or are in such a folder.
    """
    return [
        path
        for path in sorted(folder.rglob("*"), key=str)
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def is_clip(path: Path) -> bool:
    """Whether a file is a clip in a format that can be read, by its name and, in doubt, its head.

    A link that leads to no file counts by its name: reading it gives the reason.

    Raises
    ------
    FormatError
        Its head cannot be read.
    """
    kind = _known(path)
    if kind and path.is_symlink() and not path.exists():
        return True
    if not kind or not path.is_file():
        return False
    if path.suffix.lower() not in AMBIGUOUS:
        return True
    with open_file(path, SNIFF_BYTES) as stream, ReadingErrors(path):
        head = stream.read(SNIFF_BYTES)
    return any(each.sniff(head) for each in kind)


def may_be_clip(path: Path) -> bool:
    """Whether a file's name is that of a clip in a format that can be read."""
    return bool(_known(path))


def _known(path: Path) -> list[Format]:
    suffix = path.suffix.lower()
    return [each for each in known_formats() if each.can_read and suffix in each.suffixes]


def clips_in_file(path: str | Path) -> tuple[str, ...]:
    """The clips of a file, each as :func:`load` takes it.

    Parameters
    ----------
    path
        A file.

    Returns
    -------
    tuple of str
        ``("Soldier.glb#Idle", "Soldier.glb#Run")`` for a file with several clips; the path itself
        for a file with one clip, and for a file that cannot be read. Only what describes the
        animations is looked at.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     walk = Path(folder) / "walk.glb"
    ...     save(synthetic.clip("walk").motion, walk)
    ...     [Path(clip).name for clip in clips_in_file(walk)]
    ['walk.glb']
    """
    return tuple(f"{path}#{name}" for name in names_inside(path_of(path, "path"))) or (str(path),)


def names_inside(path: Path) -> tuple[str, ...]:
    """Names of the clips of a file of several; none where it is one clip, or cannot be read.

    ``"file.glb#name"`` names one of them. Only what describes the animations is looked at.
    """
    kind = can_hold_several(path)
    if kind is None or kind.clip_names is None:
        return ()
    limits = Limits()
    try:
        data = read_file(path, limits.max_bytes)
        names = kind.clip_names(data, ReadOptions(path=path, limits=limits))
    except FormatError:
        return ()
    return names if len(names) > 1 else ()


def is_file(path: Path) -> bool:
    """Whether a path is a file; no path that cannot be one raises."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
