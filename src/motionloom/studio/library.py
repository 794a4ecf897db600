"""The clips that the page may open: by id, never by path."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from motionloom.errors import FormatError, MotionLoomError
from motionloom.features.footplants import detect_footplants
from motionloom.features.quality import measure_quality
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.intake.clip_files import is_clip, names_inside
from motionloom.intake.load import load
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.studio.answers import Facts, Item, Verdict

__all__ = ["Clip", "Library"]

KEPT_CLIPS = 64
"""Opened clips that stay in memory; the one not used for longest goes first."""
MOST_ADDED = 1024**3
"""Bytes of clips added by hand, which all stay."""


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """An opened clip with what is known about it."""

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
        verdict, badge = self._judge()
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

    def _judge(self) -> tuple[Verdict, str]:
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
class _Entry:
    item: Item
    open: Callable[[], tuple[Motion, Footplants | None]]
    source: str
    """What a command line calls it: a path, or ``embedded:walk``."""
    file: Path | None = None
    """The file it is read from, links resolved; None for embedded and added clips."""


class Library:
    """Clips of a folder, or the embedded ones where none is given, and those added by hand.

    Parameters
    ----------
    folder
        Looked through once, with all below it. What its links point to must lie in it, too.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = None if folder is None else folder.resolve(strict=True)
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Clip] = OrderedDict()
        self._added = 0
        found = _embedded() if self.folder is None else _inside(self.folder)
        self._entries = {entry.item.id: entry for entry in found}

    @property
    def name(self) -> str:
        """What the list is headed with."""
        return "embedded clips" if self.folder is None else self.folder.name

    def items(self) -> list[Item]:
        """Every clip, in order."""
        return [entry.item for entry in list(self._entries.values())]  # others may add meanwhile

    def add(self, name: str, motion: Motion) -> Item:
        """A further clip, from memory; its id says so.

        Raises
        ------
        FormatError
            Those added hold too much memory already.
        """
        size = motion.local_quats.nbytes + motion.root_positions.nbytes
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
        self._entries[stem] = _Entry(item, lambda: (motion, None), name)
        return item

    def source(self, clip: str) -> str:
        """What a command line calls a clip."""
        return self._entry(clip).source

    def file(self, clip: str) -> Path | None:
        """The file of a clip of the folder; None for embedded and added ones."""
        return self._entry(clip).file

    def open(self, clip: str) -> Clip:
        """The clip with its plants and roles; read at most once while it is in use.

        Raises
        ------
        FormatError
            There is no such id, or the file cannot be read.
        """
        entry = self._entry(clip)
        with self._lock:
            known = self._open.get(clip)
            if known is not None:
                self._open.move_to_end(clip)
                return known
        made = _opened(entry)
        with self._lock:
            self._open[clip] = made
            while len(self._open) > KEPT_CLIPS:
                self._open.popitem(last=False)
        return made

    def _entry(self, clip: str) -> _Entry:
        entry = self._entries.get(clip)
        if entry is None:
            raise FormatError("A clip must be one of the library's.", fix="Choose one of its list.")
        return entry


def _opened(entry: _Entry) -> Clip:
    with warnings.catch_warnings():
        # What would be warned about is in the findings, which the page shows in its own way.
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion, plants = entry.open()
    body = BodyMap.guess(motion.skeleton, motion=motion)
    if plants is None:
        try:
            plants = detect_footplants(motion, body=body)
        except MotionLoomError:
            plants = None
    return Clip(entry.item.id, motion, plants, body, tuple(motion.source.findings))


def _embedded() -> list[_Entry]:
    from motionloom import synthetic

    def opener(kind: str) -> Callable[[], tuple[Motion, Footplants | None]]:
        # Plants are detected like those of any clip: what the page shows is what the command does.
        return lambda: (synthetic.clip(kind).motion, None)

    return [
        _Entry(Item(kind, kind.replace("_", " "), "embedded"), opener(kind), f"embedded:{kind}")
        for kind in synthetic.kinds()
    ]


def _inside(folder: Path) -> list[_Entry]:
    entries = []
    for path in sorted(folder.rglob("*")):
        real = path.resolve()
        if not real.is_relative_to(folder) or not is_clip(real):
            continue
        place = path.relative_to(folder)
        group = "" if place.parent == Path() else place.parent.as_posix()
        names = names_inside(real)
        for name in names or ("",):
            inner = f"#{name}" if name else ""
            said = f"{place.stem} · {name}" if name else place.stem
            item = Item(place.as_posix() + inner, said, group)
            entries.append(_Entry(item, _reader(real, name or None), str(path) + inner, real))
    return entries


def _reader(path: Path, clip: str | None) -> Callable[[], tuple[Motion, Footplants | None]]:
    return lambda: (load(path, clip=clip), None)
