"""Results as files, in a folder of our own, fetched by a name that cannot be guessed."""

from __future__ import annotations

import secrets
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motionloom.drawing.camera import View
from motionloom.errors import FormatError
from motionloom.intake.save import save, supported_formats
from motionloom.motion.motion import Motion
from motionloom.studio.answers import Answer
from motionloom.studio.presets import PRESETS
from motionloom.studio.result import Result

__all__ = ["Exports"]

KEPT_FILES = 64
"""Of all pages together; a result may bring one with it."""

STRIP_PIXELS = (1600, 520)
FILM_PIXELS = (720, 600)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    name: str


class Exports:
    """Files made for downloading, the oldest deleted first; all of them when the server ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="motionloom-studio-")
        self._files: dict[str, _File] = {}
        self._lock = threading.Lock()

    def formats(self) -> Answer:
        """What can be written."""
        formats = [
            {"name": each.name, "title": each.title, "suffix": each.suffixes[0]}
            for each in supported_formats()
            if each.can_write
        ]
        presets = [
            {"name": name, "title": preset.title, "format": preset.format,
             "verified": preset.verified, "about": preset.about}
            for name, preset in PRESETS.items()
        ]  # fmt: skip
        return Answer("formats", {"formats": formats, "presets": presets})

    def make(self, motion: Motion, wanted: str, preset: str | None) -> Answer:
        """A file, and the address to fetch it from."""
        options: dict[str, Any] = {}
        if preset is not None:
            if preset not in PRESETS:
                raise FormatError(f"A preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
            wanted, options = PRESETS[preset].format, PRESETS[preset].options
        known = {each.name: each for each in supported_formats() if each.can_write}
        if wanted not in known:
            raise FormatError(f"A format must be one of {', '.join(known)}, got {wanted!r}.")
        suffix = known[wanted].suffixes[0]
        key, path = self._place(suffix)
        save(motion, path, format=wanted, **options)
        return self._listed(key, path, f"{_stem(motion)}{suffix}")

    def render(self, result: Result, kind: str, view: View) -> Answer:
        """A picture of several figures along the way, or a film."""
        from motionloom.drawing.film import save_film
        from motionloom.drawing.strip import save_strip

        motion, plants, body = result.motion, result.footplants, result.body
        key, path = self._place(f".{kind}")
        if kind in ("gif", "mp4"):
            save_film(motion, path, footplants=plants, body=body, view=view, size=FILM_PIXELS)
        else:
            save_strip(
                motion, path, footplants=plants, body=body, view=view, size=STRIP_PIXELS, kind=kind
            )
        return self._listed(key, path, f"{_stem(motion)}.{kind}")

    def keep(self, text: str, name: str) -> Answer:
        """A text as a file, and the address to fetch it from."""
        key, path = self._place(Path(name).suffix)
        path.write_text(text, encoding="utf-8")
        return self._listed(key, path, name)

    def _place(self, suffix: str) -> tuple[str, Path]:
        """A fresh key, and where its file goes."""
        key = secrets.token_urlsafe(12)
        return key, Path(self._folder.name) / f"{key}{suffix}"

    def _listed(self, key: str, path: Path, name: str) -> Answer:
        """The file made known by its key; the oldest beyond the limit are deleted."""
        size = path.stat().st_size
        with self._lock:
            self._files[key] = _File(path, name)
            over = list(self._files)[: max(0, len(self._files) - KEPT_FILES)]
            gone = [self._files.pop(old) for old in over]
        for each in gone:
            each.path.unlink(missing_ok=True)
        return Answer("export", {"url": f"download/{key}", "name": name, "bytes": size})

    def find(self, key: str) -> tuple[Path, str] | None:
        """Where a file is and what it is called; None for a key never given out."""
        made = self._files.get(key)
        return None if made is None else (made.path, made.name)

    def close(self) -> None:
        """Delete them all."""
        self._folder.cleanup()


def _stem(motion: Motion) -> str:
    """A name that every system takes."""
    plain = "".join(c if c.isalnum() or c in "-_ " else "_" for c in motion.name or "motion")
    return plain[:80].strip() or "motion"
