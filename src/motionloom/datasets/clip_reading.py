"""Which clips a data set has, how each is read, and the digest of its file."""

from __future__ import annotations

import fnmatch
import hashlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from motionloom._arrays import items, of_kind, positive
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import path_of
from motionloom.findings import MotionLoomWarning
from motionloom.intake.axes import checked_up, unit_metres
from motionloom.intake.clip_names import clips_in_file, is_clip, paths_below, split_range
from motionloom.intake.load import load
from motionloom.motion.motion import Motion

EMBEDDED = "embedded:"
PART = 1 << 20
COMPANIONS = {".amc": (".asf",), ".gltf": (".bin",), ".txt": (".json",)}
"""Files that a clip of the first suffix is read with, by their suffixes, in the same folder."""


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


@dataclass(frozen=True, slots=True)
class ClipReading:
    """Options on the files; they win over anything detected in them."""

    source_fps: tuple[tuple[str, float], ...] = ()
    """Patterns of file names, and the true rate of files that fit; the last that fits counts."""
    unit: str | float | None = None
    up: str | None = None
    body: str | None = None
    """TOML file with the roles of joints."""

    @classmethod
    def checked(
        cls,
        source_fps: float | Mapping[str, float] | None,
        unit: str | float | None,
        up: str | None,
        body: str | Path | None,
    ) -> ClipReading:
        """From a caller's arguments; wrong ones raise."""
        if source_fps is None:
            source_fps = {}
        if not isinstance(source_fps, Mapping):
            source_fps = {"*": source_fps}
        rates = tuple(
            (of_kind(name, str, "source_fps"), positive(fps, "source_fps"))
            for name, fps in source_fps.items()
        )
        if unit is not None:
            unit_metres(unit)
        if up is not None:
            checked_up(up)
        place = None if body is None else path_of(body, "body")
        if place is not None and not place.is_file():
            raise ArrayError(f"`body` must be a TOML file with roles of joints, got {str(body)!r}.")
        return cls(rates, unit, up, None if place is None else str(place))

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> ClipReading:
        """From :meth:`json`."""
        rates = tuple((name, fps) for name, fps in values["source_fps"])
        return cls(rates, values["unit"], values["up"], values["body"])

    def fps_of(self, path: str) -> float | None:
        """The true rate of a file, where one was given."""
        fitting = [fps for pattern, fps in self.source_fps if fits(path, pattern)]
        return fitting[-1] if fitting else None

    def load(self, path: str) -> Motion:
        """The clip in a file; ``embedded:walk`` is an embedded clip."""
        if path.startswith(EMBEDDED):
            from motionloom import synthetic

            path, part = split_range(path)
            motion = synthetic.clip(path.removeprefix(EMBEDDED)).motion
            return motion if part is None else part.cut(motion)
        fps, body = self.fps_of(path), None
        with warnings.catch_warnings():
            # The findings hold the same warnings.
            warnings.simplefilter("ignore", MotionLoomWarning)
            motion = load(path, fps=fps, unit=self.unit, up=self.up)
            if self.body is not None and path != "-":
                body = BodyMap.load(self.body, motion.skeleton)
                motion = load(path, fps=fps, unit=self.unit, up=self.up, body=body)
        return motion

    def body_of(self, motion: Motion) -> BodyMap:
        """Roles of the joints: from the caller's file, else guessed."""
        if self.body is not None:
            return BodyMap.load(self.body, motion.skeleton)
        return BodyMap.guess(motion.skeleton, motion=motion)


def fits(path: str, pattern: str) -> bool:
    """Whether a file's name, with or without suffix or folder, fits a pattern."""
    path, _ = split_range(path)
    name = Path(path.rpartition("#")[0] or path)
    return any(fnmatch.fnmatchcase(part, pattern) for part in (name.name, name.stem, str(name)))


def content_digest(path: str) -> str:
    """Digest of a clip's file and of those that it is read with; empty where none can be read."""
    path, part = split_range(path)
    place, clip = Path(path), ""
    if not place.is_file() and "#" in path:
        name, _, clip = path.rpartition("#")
        place = Path(name)
    if part is not None:
        clip += part.text
    digest = hashlib.blake2b(clip.encode("utf-8", "backslashreplace"), digest_size=16)
    others = COMPANIONS.get(place.suffix.lower(), ())
    try:
        files = [place]
        if others:
            files += sorted(
                each for each in place.parent.iterdir() if each.suffix.lower() in others
            )
        for file in files:
            with file.open("rb") as stream:
                while data := stream.read(PART):
                    digest.update(data)
            digest.update(b"\0")
    except (OSError, ValueError, MemoryError):
        return ""
    return digest.hexdigest()
