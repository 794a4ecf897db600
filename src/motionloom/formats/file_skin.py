"""FileSkin: the meshes of a character just as its file states them."""

from __future__ import annotations

from dataclasses import dataclass, field

from motionloom.findings import Finding
from motionloom.formats.character import Material, SkinnedMesh

MOST_MESHES = 4096
"""More parts than any character has."""


@dataclass(frozen=True, slots=True, eq=False)
class FileSkin:
    """Meshes in the unit and axes of the file; points in whatever space the file keeps them."""

    meshes: tuple[SkinnedMesh, ...]
    materials: tuple[Material, ...]
    findings: tuple[Finding, ...]


@dataclass(slots=True, eq=False)
class LeftOut:
    """What of a character is left out or changed: counted, and named by the first."""

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
