"""Which clips a data set has: files, folders, and the clips of files that hold several."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from motionloom._arrays import items
from motionloom.datasets.clip_reading import EMBEDDED
from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import path_of
from motionloom.intake.clip_names import clips_in_file, is_clip, paths_below


def list_clips(paths: str | Path | Iterable[str | Path]) -> list[str]:
    """Every clip meant, once: a file by its name, a folder by the clips in and below it.

    A file whose head cannot be read is listed: reading it will give the reason.

    Raises
    ------
    FormatError
        A folder has no clip.
    """
    if isinstance(paths, str | Path):
        paths = [paths]
    listed: dict[str, None] = {}
    for path in items(paths, "paths", "paths"):
        if not isinstance(path, str | Path):
            raise ArrayError(f"`paths` must be paths of files and folders, got {path!r}.")
        text = str(path)
        if text == "-" or text.startswith(EMBEDDED):
            listed[text] = None
            continue
        if not path_of(path, "paths").is_dir():
            listed[text] = None
            continue
        inside = clips_below(Path(path))
        if not inside:
            raise FormatError(
                "The folder must hold a clip that can be read, and has none.",
                path=text,
                fix="Name the files, or another folder.",
            )
        listed.update(dict.fromkeys(inside))
    return list(listed)


def clips_below(folder: Path) -> list[str]:
    """Clips in and below a folder, sorted; of a file with several each by its name."""
    listed: list[str] = []
    for path in paths_below(folder):
        if not _may_be_clip(path):
            continue
        listed += clips_in_file(path)
    return listed


def _may_be_clip(path: Path) -> bool:
    try:
        return is_clip(path)
    except FormatError:
        return True
    except OSError:
        return False
