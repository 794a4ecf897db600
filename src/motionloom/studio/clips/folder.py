"""Folder: the clips in the files of a folder; only changed files are read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from motionloom.errors import FormatError
from motionloom.files.reading import printable
from motionloom.intake.clip_names import is_clip, may_be_clip, names_inside
from motionloom.intake.load import load
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.studio.clips.skin import Skin
from motionloom.studio.messages.answers import Item

Stamp = tuple[int, int, int]
"""Size, time of the last change, and inode of a file: it identifies the content."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A clip that can be opened."""

    item: Item
    open: Callable[[], tuple[Motion, Footplants | None]]
    source: str
    """Its name on a command line: a path, or ``embedded:walk``."""
    file: Path | None = None
    """The file it is read from, links resolved; None for embedded and added clips."""
    skin: Skin | None = None
    """Skin of an added clip."""
    stamp: Stamp | None = None
    """Of its file."""


class Folder:
    """The clips of a folder and its subfolders. Targets of links must be inside it, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._scanned: dict[Path, tuple[Stamp, list[Entry]]] = {}

    def look(self) -> list[Entry]:
        """Every clip, in order; only files that changed since the last time are read."""
        scanned: dict[Path, tuple[Stamp, list[Entry]]] = {}
        for path in sorted(self._files()):
            try:
                status = path.stat()
                stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
                before = self._scanned.get(path)
                same = before is not None and before[0] == stamp
                scanned[path] = before if before and same else (stamp, self._clips(path, stamp))
            except (FormatError, OSError):
                continue  # it was deleted, or must not be read
        self._scanned = scanned
        return [entry for _, entries in scanned.values() for entry in entries]

    def _files(self) -> Iterator[Path]:
        for folder, inside, names in os.walk(self.path):
            inside[:] = [name for name in inside if not name.startswith(".")]
            for name in names:
                path = Path(folder, name)
                if may_be_clip(path) and not name.startswith("."):
                    yield path

    def _clips(self, path: Path, stamp: Stamp) -> list[Entry]:
        real = path.resolve()
        if not real.is_relative_to(self.path) or not is_clip(real):
            return []
        place = Path(_unique_name(path, self.path))
        group = "" if place.parent == Path() else place.parent.as_posix()
        entries = []
        for name in names_inside(real) or ("",):
            inner = f"#{name}" if name else ""
            title = f"{place.stem} · {name}" if name else place.stem
            item = Item(place.as_posix() + inner, title, group)
            opener = _reader(real, name or None)
            entries.append(Entry(item, opener, printable(str(path)) + inner, real, stamp=stamp))
        return entries


def _unique_name(path: Path, folder: Path) -> str:
    """Printable path in the folder that no other file has, even after escaping bytes."""
    name = printable(str(path.relative_to(folder)))
    if Path(folder, name) == path:
        return name
    while os.path.lexists(Path(folder, name)):
        name += "'"
    return name


def _reader(path: Path, clip: str | None) -> Callable[[], tuple[Motion, Footplants | None]]:
    return lambda: (load(path, clip=clip), None)
