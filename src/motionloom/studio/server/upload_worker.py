"""The process that reads an uploaded file and passes its clips on through a folder.

For clip ``k`` the folder has ``k.mlm``, ``k.name`` where the file has several, and ``k.npz`` where
the clip has a skin.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from motionloom.errors import FormatError, MotionLoomError
from motionloom.intake.clip_names import names_inside
from motionloom.intake.load import load
from motionloom.intake.save import save
from motionloom.motion.motion import Motion, Skeleton
from motionloom.studio.clips.skin import Skin, skin_of


@dataclass(frozen=True, slots=True, eq=False)
class UploadedClip:
    """A clip of an uploaded file."""

    name: str
    motion: Motion
    skin: Skin | None


@dataclass(frozen=True, slots=True, eq=False)
class _Skins:
    """Skins of a file: clips on one skeleton share theirs, which is read once."""

    read: list[tuple[Motion, Skin | None]]

    def of(self, motion: Motion) -> Skin | None:
        """The skin of a clip."""
        for other, skin in self.read:
            if _same_rest(motion.skeleton, other.skeleton):
                return skin
        self.read.append((motion[:1], skin_of(motion)))
        return self.read[-1][1]


def _same_rest(one: Skeleton, other: Skeleton) -> bool:
    return (
        one.same_joints(other)
        and np.array_equal(one.offsets, other.offsets)
        and np.array_equal(one.rest_quats, other.rest_quats)
    )


def read_all(source: str, target: str, name: str, most_bytes: int, most_clips: int) -> None:
    """Read all clips of a file into a folder.

    Raises
    ------
    MotionLoomError
        A clip cannot be read, or the clips are too many or too large.
    """
    names = names_inside(Path(source))
    if len(names) > most_clips:
        raise FormatError(f"{name} must hold at most {most_clips} clips, got {len(names)}.")
    size, skins = 0, _Skins([])
    for k, clip in enumerate(names or (None,)):
        motion = load(source, clip=clip)
        size += motion.local_quats.nbytes + motion.root_positions.nbytes
        if size > most_bytes:
            raise FormatError(f"{name} must hold at most {most_bytes / 1024**2:g} MB of motion.")
        _write(motion, Path(target) / f"{k}.mlm")
        if clip is not None:
            (Path(target) / f"{k}.name").write_text(clip, encoding="utf-8")
        skin = skins.of(motion)
        if skin is not None:
            arrays = {each.name: getattr(skin, each.name) for each in fields(Skin)}
            np.savez(Path(target) / f"{k}.npz", **arrays)


def read_back(target: Path, stem: str) -> list[UploadedClip]:
    """The clips that :func:`read_all` left in a folder."""
    clips = []
    for k in range(sum(1 for _ in target.glob("*.mlm"))):
        label = target / f"{k}.name"
        name = f"{stem} · {_plain(label.read_text(encoding='utf-8'))}" if label.is_file() else stem
        skin, packed = None, target / f"{k}.npz"
        if packed.is_file():
            with np.load(packed, allow_pickle=False) as arrays:
                skin = Skin(**{each.name: arrays[each.name] for each in fields(Skin)})
        clips.append(UploadedClip(name, load(target / f"{k}.mlm").replace(name=name), skin))
    return clips


def _write(motion: Motion, target: Path) -> None:
    """Write a clip for the server. The text of a failure has no path of the server."""
    try:
        save(motion, target, format="archive")
    except MotionLoomError as error:
        raise OSError("the clip could not be stored") from error


def _plain(text: str) -> str:
    """A clip's name without control characters, shortened."""
    return "".join(c for c in text if c.isprintable())[:80]
