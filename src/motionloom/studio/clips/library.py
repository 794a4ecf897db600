"""The clips that pages list and open: those of a folder, embedded ones, uploads."""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.errors import FormatError, MotionLoomError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.quality import measure_quality
from motionloom.files.reading import printable
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.intake.clip_names import is_clip, may_be_clip, names_inside
from motionloom.intake.load import load
from motionloom.motion.motion import Footplants, Motion
from motionloom.studio.clips.skin import Skin
from motionloom.studio.messages.answers import Facts, Item, Verdict

STORED_CLIPS = 64
"""Opened clips that stay in memory; the least recently used is dropped first."""
MOST_ADDED = 1024**3
"""Bytes of clips added by hand; all of them stay in memory."""
Stamp = tuple[int, int, int]
"""Size, time of the last change, and inode of a file: it identifies the content."""


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """An opened clip with its contacts and roles."""

    id: str
    motion: Motion
    footplants: Footplants | None
    """None for a body without feet."""
    body: BodyMap
    findings: tuple[Finding, ...]

    @property
    def facts(self) -> Facts:
        """For the library's list."""
        names = "\n".join(self.motion.skeleton.names)
        verdict, badge = self._verdict()
        return Facts(
            clip=self.id,
            frames=self.motion.n_frames,
            fps=self.motion.fps,
            joints=self.motion.skeleton.n_joints,
            skeleton=hashlib.sha256(names.encode()).hexdigest()[:8],
            label=self.motion.name,
            verdict=verdict,
            badge=badge,
        )

    def _verdict(self) -> tuple[Verdict, str]:
        faults = sum(finding.level != "note" for finding in self.findings)
        if faults:
            return "fair", f"{faults} finding{'s' if faults > 1 else ''}"
        if self.footplants is None or not self.footplants.planted.any():
            return "plain", "no plants"
        quality = measure_quality(self.motion, self.footplants, body=self.body)
        slide_cm = 100.0 * (quality.slide_mean_m or 0.0)
        verdict: Verdict = "good" if slide_cm < 2.0 else "fair" if slide_cm < 5.0 else "bad"
        return verdict, f"feet {slide_cm:.1f} cm"


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of clips that were added, changed or removed since the last scan."""

    added: list[str]
    changed: list[str]
    removed: list[str]


class Library:
    """Clips of a folder, or the embedded ones where none is given, and those added by hand.

    Parameters
    ----------
    folder
        With all below it; :meth:`refresh` looks for changes.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = None if folder is None else folder.resolve(strict=True)
        self._scan = None if self.folder is None else Folder(self.folder)
        self._versions: dict[str, int] = {}
        self._refreshing = threading.Lock()
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Clip] = OrderedDict()
        self._added = 0
        entries = _embedded() if self._scan is None else self._scan.look()
        self._entries = {entry.item.id: entry for entry in entries}

    @property
    def name(self) -> str:
        """Title of the list."""
        return "embedded clips" if self.folder is None else self.folder.name

    def items(self) -> list[Item]:
        """Every clip, in order."""
        return [
            entry.item for entry in list(self._entries.values())
        ]  # another thread may add clips

    def add(self, name: str, motion: Motion, skin: Skin | None = None) -> Item:
        """A further clip, from memory; its id begins with ``added/``.

        Parameters
        ----------
        name
            Of the clip; a number is appended to a name that exists.
        motion
            The clip.
        skin
            Its skin.

        Raises
        ------
        FormatError
            The added clips take too much memory.
        """
        size = motion.local_quats.nbytes + motion.root_positions.nbytes
        if skin is not None:
            size += skin.n_bytes
        with self._lock:
            return self._add(name, motion, skin, size)

    def _add(self, name: str, motion: Motion, skin: Skin | None, size: int) -> Item:
        if self._added + size > MOST_ADDED:
            raise FormatError(
                f"Dropped clips must hold at most {MOST_ADDED // 1024**2} MB together.",
                fix="Put them into a folder and open the studio on it.",
            )
        self._added += size
        stem, n = f"added/{name}", 1
        while stem in self._entries:
            n += 1
            stem = f"added/{name} {n}"
        item = Item(stem, stem.removeprefix("added/"), "added")
        self._entries[stem] = Entry(item, lambda: (motion, None), name, skin=skin)
        return item

    def refresh(self) -> Changes | None:
        """Look for new, changed and deleted files of the folder; None where nothing changed."""
        if self._scan is None:
            return None
        with self._refreshing:
            now = {entry.item.id: entry for entry in self._scan.look()}
            with self._lock:
                before = {clip: e for clip, e in self._entries.items() if e.file is not None}
                changes = Changes(
                    [clip for clip in now if clip not in before],
                    [
                        clip
                        for clip in now
                        if clip in before and now[clip].stamp != before[clip].stamp
                    ],
                    [clip for clip in before if clip not in now],
                )
                if not (changes.added or changes.changed or changes.removed):
                    return None
                others = {clip: e for clip, e in self._entries.items() if e.file is None}
                self._entries = {**now, **others}
                for clip in (*changes.changed, *changes.removed, *changes.added):
                    self._versions[clip] = self._versions.get(clip, 0) + 1
                    self._open.pop(clip, None)
                return changes

    def version(self, clip: str) -> tuple[str, int]:
        """The clip's id, and a number that changes with its file."""
        return clip, self._versions.get(clip, 0)

    def source(self, clip: str) -> str:
        """A clip's name on a command line."""
        return self._entry(clip).source

    def file(self, clip: str) -> Path | None:
        """The file of a clip of the folder; None for embedded and added ones."""
        return self._entry(clip).file

    def skin(self, clip: str) -> Skin | None:
        """The skin of an added clip; None for all others."""
        return self._entry(clip).skin

    def open(self, clip: str) -> Clip:
        """The clip with its plants and roles; read at most once while it is in use.

        Raises
        ------
        FormatError
            There is no such id, or the file cannot be read.
        """
        entry = self._entry(clip)
        with self._lock:
            cached = self._open.get(clip)
            if cached is not None:
                self._open.move_to_end(clip)
                return cached
        opened = _opened(entry)
        with self._lock:
            if self._entries.get(clip) is entry:  # else its file has changed since
                self._open[clip] = opened
            while len(self._open) > STORED_CLIPS:
                self._open.popitem(last=False)
        return opened

    def _entry(self, clip: str) -> Entry:
        entry = self._entries.get(clip)
        if entry is None:
            raise FormatError("A clip must be in the library.", fix="Choose one of the list.")
        return entry


def _opened(entry: Entry) -> Clip:
    report_step(f"reading {entry.item.name}")
    with warnings.catch_warnings():
        # The page shows the same warnings as findings.
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion, plants = entry.open()
    body = BodyMap.guess(motion.skeleton, motion=motion)
    if plants is None:
        try:
            plants = detect_footplants(motion, body=body)
        except MotionLoomError:
            plants = None
    return Clip(entry.item.id, motion, plants, body, tuple(motion.source.findings))


def _embedded() -> list[Entry]:
    from motionloom import synthetic

    def opener(kind: str) -> Callable[[], tuple[Motion, Footplants | None]]:
        # Contacts are detected as for any clip, so that the command line gives the same result.
        return lambda: (synthetic.clip(kind).motion, None)

    return [
        Entry(Item(kind, kind.replace("_", " "), "embedded"), opener(kind), f"embedded:{kind}")
        for kind in synthetic.kinds()
    ]


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
