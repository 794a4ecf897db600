"""Results as files, in a folder of our own, fetched by a name that cannot be guessed."""

from __future__ import annotations

import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motionloom.errors import FormatError
from motionloom.intake.save import save, supported_formats
from motionloom.motion.motion import Motion
from motionloom.studio.answers import Answer

__all__ = ["Exports"]

KEPT_FILES = 16

PRESETS: dict[str, dict[str, Any]] = {
    "blender": {"title": "Blender", "format": "bvh", "options": {}, "verified": True},
    "unreal": {"title": "Unreal", "format": "glb", "options": {}, "verified": False},
    "unity": {"title": "Unity", "format": "glb", "options": {}, "verified": False},
    "godot": {"title": "Godot", "format": "glb", "options": {}, "verified": False},
}
"""How a program wants its clips; those not opened in the program itself are not verified."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    name: str


class Exports:
    """Files made for downloading, the oldest deleted first; all of them when the server ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="motionloom-studio-")
        self._files: dict[str, _File] = {}

    def formats(self) -> Answer:
        """What can be written."""
        formats = [
            {"name": each.name, "title": each.title, "suffix": each.suffixes[0]}
            for each in supported_formats()
            if each.can_write
        ]
        presets = [
            {"name": name, "title": p["title"], "format": p["format"], "verified": p["verified"]}
            for name, p in PRESETS.items()
        ]
        return Answer("formats", {"formats": formats, "presets": presets})

    def make(self, motion: Motion, wanted: str, preset: str | None) -> Answer:
        """A file, and the address to fetch it from."""
        options: dict[str, Any] = {}
        if preset is not None:
            if preset not in PRESETS:
                raise FormatError(f"A preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
            wanted, options = PRESETS[preset]["format"], PRESETS[preset]["options"]
        known = {each.name: each for each in supported_formats() if each.can_write}
        if wanted not in known:
            raise FormatError(f"A format must be one of {', '.join(known)}, got {wanted!r}.")
        key = secrets.token_urlsafe(12)
        suffix = known[wanted].suffixes[0]
        path = Path(self._folder.name) / f"{len(self._files)}-{key}{suffix}"
        save(motion, path, format=wanted, **options)
        stem = "".join(c if c.isalnum() or c in "-_ " else "_" for c in motion.name or "motion")
        self._files[key] = _File(path, f"{stem[:80].strip() or 'motion'}{suffix}")
        while len(self._files) > KEPT_FILES:
            old = self._files.pop(next(iter(self._files)))
            old.path.unlink(missing_ok=True)
        made = self._files[key]
        return Answer(
            "export", {"url": f"download/{key}", "name": made.name, "bytes": path.stat().st_size}
        )

    def find(self, key: str) -> tuple[Path, str] | None:
        """Where a file is and what it is called; None for a key never given out."""
        made = self._files.get(key)
        return None if made is None else (made.path, made.name)

    def close(self) -> None:
        """Delete them all."""
        self._folder.cleanup()
