"""Which files are clips, and which hold several."""

from __future__ import annotations

from pathlib import Path

from motionloom._paths import path_of
from motionloom.errors import FormatError
from motionloom.formats.file_clip import Limits, ReadOptions
from motionloom.formats.registry import SNIFF_BYTES, Format, can_hold_several, known_formats
from motionloom.reading.opening import ReadingErrors, open_file, read_file

AMBIGUOUS = (".txt", ".json", ".npz", ".csv")
"""Suffixes that anything can have: only the contents tell a clip from a readme."""


def may_be_clip(path: Path) -> bool:
    """Whether a file's name is that of a clip in a format that can be read."""
    return bool(_known(path))


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


def paths_below(folder: Path) -> list[Path]:
    """Paths in and below a folder, sorted, without hidden ones.

    Those begin with a dot, as the ``._walk.bvh`` that macOS adds, or are in such a folder.
    """
    return [
        path
        for path in sorted(folder.rglob("*"), key=str)
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


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


def _known(path: Path) -> list[Format]:
    suffix = path.suffix.lower()
    return [each for each in known_formats() if each.can_read and suffix in each.suffixes]
