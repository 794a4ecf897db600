"""Files to download: clips in formats of other programs, pictures, films and pages."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motionloom._extras import command, has_extra
from motionloom._progress import report_step
from motionloom.drawing.camera import View
from motionloom.drawing.page import MAX_FRAMES, Colour, pack_clip, page_of, player_slot
from motionloom.errors import ArrayError, FormatError
from motionloom.files.writing import write_bytes
from motionloom.intake.save import FormatInfo, save, supported_formats
from motionloom.motion.motion import Motion
from motionloom.studio.messages.answers import (
    Export,
    Format,
    Formats,
    Picture,
    PictureSupport,
    PresetListed,
)
from motionloom.studio.messages.result_messages import TransitionDetail
from motionloom.studio.results.result import Result

STORED_FILES = 32
"""Files of one page; a result may have a file."""
STORED_CLOSED = 32
"""Files of all closed pages together: a download may still be under way."""
STRIP_PIXELS = (1600, 520)
FILM_PIXELS = (720, 600)
METRIC = {"unit": "m", "up": "y"}


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    name: str


class Exports:
    """Files of all pages, deleted when the server ends. Each page has its own list of them."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="motionloom-studio-")
        self._files: dict[str, _File] = {}
        self._closed: list[str] = []
        self._lock = threading.Lock()

    def page(self) -> PageExports:
        """The list of a page that was opened."""
        return PageExports(self)

    def place(self, suffix: str) -> tuple[str, Path]:
        """A fresh key, and where its file goes."""
        key = secrets.token_urlsafe(12)
        return key, Path(self._folder.name) / f"{key}{suffix}"

    def add(self, key: str, path: Path, name: str) -> None:
        """Register a file under its key."""
        with self._lock:
            self._files[key] = _File(path, name)

    def drop(self, keys: Sequence[str]) -> None:
        """Delete files."""
        with self._lock:
            gone = [self._files.pop(key) for key in keys if key in self._files]
        for each in gone:
            each.path.unlink(missing_ok=True)

    def leave(self, keys: Sequence[str]) -> None:
        """Take over the files of a page that was closed; the oldest beyond the limit go."""
        with self._lock:
            self._closed += keys
            over = max(0, len(self._closed) - STORED_CLOSED)
            old, self._closed = self._closed[:over], self._closed[over:]
        self.drop(old)

    def find(self, key: str) -> tuple[Path, str] | None:
        """Path and name of a file; None for an unknown key."""
        file = self._files.get(key)
        return None if file is None else (file.path, file.name)

    def close(self) -> None:
        """Delete them all."""
        self._folder.cleanup()


class PageExports:
    """Files that one page can download, the oldest deleted first."""

    def __init__(self, exports: Exports) -> None:
        self._all = exports
        self._keys: list[str] = []
        self._is_closed = False
        self._lock = threading.Lock()

    def formats(self) -> Formats:
        """What can be written."""
        formats = [Format(each.name, each.title, each.suffixes[0]) for each in _writable().values()]
        presets = [
            PresetListed(name, preset.title, preset.format, preset.verified, preset.about)
            for name, preset in PRESETS.items()
        ]
        return Formats(formats, presets, picture_kinds())

    def make(self, motion: Motion, wanted: str, preset: str | None) -> Export:
        """A file, and its address."""
        options: dict[str, Any] = {}
        if preset is not None:
            if preset not in PRESETS:
                raise FormatError(f"A preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
            wanted, options = PRESETS[preset].format, PRESETS[preset].options
        formats = _writable()
        if wanted not in formats:
            raise FormatError(f"A format must be one of {', '.join(formats)}, got {wanted!r}.")
        suffix = formats[wanted].suffixes[0]
        key, path = self._all.place(suffix)
        report_step("writing the file")
        save(motion, path, format=wanted, **options)
        return self._listed(key, path, f"{_stem(motion)}{suffix}")

    def render(self, result: Result, kind: str, view: View) -> Export:
        """A picture of several figures along the path, or a film."""
        from motionloom.drawing.film import save_film
        from motionloom.drawing.strip import save_strip

        motion, plants, body = result.motion, result.footplants, result.body
        key, path = self._all.place(f".{kind}")
        if kind in ("gif", "mp4"):
            save_film(motion, path, footplants=plants, body=body, view=view, size=FILM_PIXELS)
        else:
            save_strip(
                motion, path, footplants=plants, body=body, view=view, size=STRIP_PIXELS, kind=kind
            )
        return self._listed(key, path, f"{_stem(motion)}.{kind}")

    def store(self, text: str, name: str) -> Export:
        """A text as a file, and its address."""
        key, path = self._all.place(Path(name).suffix)
        write_bytes(path, text.encode("utf-8"))
        return self._listed(key, path, name)

    def close(self) -> None:
        """Leave the files to the server: a download may still be under way."""
        with self._lock:
            keys, self._keys, self._is_closed = self._keys, [], True
        self._all.leave(keys)

    def _listed(self, key: str, path: Path, name: str) -> Export:
        """The answer for a new file; the oldest beyond the limit are deleted."""
        size = path.stat().st_size
        self._all.add(key, path, name)
        with self._lock:
            self._keys.append(key)
            over = max(0, len(self._keys) - STORED_FILES)
            old, self._keys = self._keys[:over], self._keys[over:]
        self._all.drop(old)
        if self._is_closed:  # the page closed while its file was written
            self.close()
        return Export(f"download/{key}", name, size)


def picture_kinds() -> list[PictureSupport]:
    """Kinds of pictures and films, and whether this installation can write them."""
    kinds: dict[str, tuple[Picture, ...]] = {"pictures": ("png", "svg", "gif"), "video": ("mp4",)}
    return [
        PictureSupport(kind, True, "", "")
        if has_extra(extra)
        else PictureSupport(kind, False, f"Needs the extra {extra}.", command(extra))
        for extra, several in kinds.items()
        for kind in several
    ]


def _writable() -> dict[str, FormatInfo]:
    return {each.name: each for each in supported_formats() if each.can_write}


def _stem(motion: Motion) -> str:
    """A name that every system takes."""
    plain = "".join(c if c.isalnum() or c in "-_ " else "_" for c in motion.name or "motion")
    return plain[:80].strip() or "motion"


@dataclass(frozen=True, slots=True)
class Preset:
    """A format with its options, and how to import it."""

    title: str
    format: str
    options: dict[str, Any]
    verified: bool
    """Whether a test opens such a file in the program and compares every joint."""
    about: str


PRESETS: dict[str, Preset] = {
    "blender": Preset(
        "Blender", "glb", METRIC, True,
        "glTF in metres. File, Import, glTF 2.0; the armature plays at its true speed.",
    ),
    "blender-bvh": Preset(
        "Blender, as BVH", "bvh", METRIC, True,
        "BVH in metres, Y up. File, Import, Motion Capture; scale 1, forward -Z, up Y.",
    ),
    "unreal": Preset(
        "Unreal", "fbx", {"engine": "unreal"}, False,
        "FBX with a root bone, the mannequin's names and Unreal's axes. Not opened in Unreal.",
    ),
    "unity": Preset(
        "Unity", "fbx", {"engine": "unity"}, False,
        "FBX with a root bone and the names of Unity's humanoid. Not opened in Unity.",
    ),
    "godot": Preset(
        "Godot", "glb", {"engine": "godot"}, True,
        "glTF with a root bone, on Godot's humanoid profile; put it into the project's folder.",
    ),
}  # fmt: skip


def shared_page(result: Result) -> str:
    """The text of an offline HTML page with the studio's player."""
    if result.motion.n_frames > MAX_FRAMES:
        raise ArrayError(
            f"A page can hold a result of at most {MAX_FRAMES} frames, got "
            f"{result.motion.n_frames}. Export it as a file instead."
        )
    sources = []
    for k, motion in enumerate(result.source_motions):
        report_step("packing clips", k, len(result.source_motions) + 1)
        colour: Colour = "amber" if k == 0 else "blue"
        sources.append(
            pack_clip(
                motion, footplants=result.source_plants[k], body=result.body,
                name=result.sources[k], colour=colour, placement=result.placements[k],
                follows=result.source_frames[:, k],
            )
        )  # fmt: skip
    own = pack_clip(result.motion, footplants=result.footplants, body=result.body, name="result")
    more: dict[str, Any] = {"lead": 1}
    if isinstance(result.detail, TransitionDetail):
        first, last = result.detail.span
        more["bracket"] = {"first": first, "last": last}
        more["strips"] = [
            {"text": f"A  {result.sources[0]}", "colour": "amber", "first": 0, "last": last},
            {
                "text": f"B  {result.sources[1]}", "colour": "blue", "first": first,
                "last": result.motion.n_frames - 1,
            },
        ]  # fmt: skip
    slot = player_slot(
        [sources[0], own, *sources[1:]],
        number=1, together=True, autoplay=True, alone=True, more=more,
    )  # fmt: skip
    return page_of(f"{result.tab}: {', '.join(result.sources)}", slot)
