"""Results of readers: FileClip, a clip just as its file states it, and FileSkin, its meshes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.findings import Finding
from motionloom.formats.character import Character, Material, SkinnedMesh
from motionloom.motion.motion import Motion

MOST_MESHES = 4096
"""Meshes of a file; no character has that many parts."""


@dataclass(frozen=True, slots=True, eq=False)
class FileClip:
    """One clip in the file's own unit and axes; intake turns it into metres and Y up."""

    motion: Motion
    """Lengths in the file's unit, axes as in the file. ``motion.source`` is not filled yet."""
    unit_m: float | None = None
    """Metres per unit where the format or the file states it, else None."""
    up: str | None = None
    """Up axis (``"y"``, ``"z"``, ...) where the format or the file states it, else None."""
    fps_stated: bool = True
    """False where the file holds no rate and ``motion.fps`` is a custom of the format."""
    clip: str = ""
    """Name of this clip in a file of several."""
    clips: tuple[str, ...] = ()
    """Names of all clips in the file, where it can hold several."""
    detail: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Details with which the writer of the same format writes the same file."""
    findings: tuple[Finding, ...] = ()
    character: Character | None = None
    """The skin to write, on the skeleton of the motion, in the file's unit and axes."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of a reader, and facts about its file."""

    path: Path | None = None
    """The file itself, to find companions next to it (an .asf for an .amc)."""
    clip: str | None = None
    """Which of several clips; the first where None."""
    skeleton: Path | None = None
    """Companion file that holds the skeleton, where the format keeps it apart."""
    limits: Limits = field(default_factory=Limits)


def clip_number(clips: tuple[str, ...], wanted: str | None) -> int | None:
    """Which of a file's clips is wanted, by its name or its number; the first where None."""
    if wanted is None:
        return 0 if clips else None
    if wanted in clips:
        return clips.index(wanted)
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 9 and int(wanted) < len(clips):
        return int(wanted)
    names = ", ".join(clips) or "none"
    raise FormatError(f"The file has no clip called {wanted!r}.", fix=f"Its clips are: {names}.")


@dataclass(frozen=True, slots=True, eq=False)
class FileSkin:
    """Meshes in the unit and axes of the file; points in whatever space the file keeps them."""

    meshes: tuple[SkinnedMesh, ...]
    materials: tuple[Material, ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True, eq=False)
class LeftOut:
    """Parts of a character that are left out or changed: counted, and named by the first."""

    counts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, problem: str, name: str) -> None:
        """Count one more."""
        self.counts.setdefault(problem, []).append(name)

    def findings(self) -> tuple[Finding, ...]:
        """One note per kind."""
        return tuple(
            Finding("note", f"{names[0][:40]!r}", f"{problem} ({len(names)}).")
            for problem, names in self.counts.items()
        )
