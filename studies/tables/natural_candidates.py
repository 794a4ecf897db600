"""Groups of subjects whose captured seconds are cut out and made again, and their frames.

The candidates of a group were drawn once, before any score was tried on them, and stand in
``protocols/transitions_natural*.json``. A group is one or two subjects on one skeleton; scores are
fitted to four groups and evaluated on the fifth.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import motionloom as ml
from motionloom.tables.collection.frames import Frames, frames_of
from studies.captured_clips import Protocol, protocol

LENGTH = 60
"""Frames of a second at 60 Hz: subjects 143 and 69."""
GAPS = "transitions_inbetween"
"""Protocol of the seconds that are cut out."""


class Group(NamedTuple):
    """One or two subjects whose clips are blended with each other."""

    name: str
    patterns: tuple[str, ...]
    """Files, relative to the folder of real clips."""
    seeds: dict[str, int]
    """That candidates were drawn with, by part of the takes."""
    fps: float = 60.0
    """Rate of the windows, which last one second."""
    capture_fps: float | None = None
    """True rate where the headers are wrong."""

    @property
    def plan(self) -> str:
        """Name of the protocol with the candidates."""
        return f"transitions_natural{'' if self.name == '143' else '_' + self.name}"


GROUPS = {
    group.name: group
    for group in (
        Group("143", ("cmu_bvh/143_*.bvh",), {"tuning": 11, "report": 12},
              capture_fps=60.0),
        Group("69", ("cmu_bvh/69_*.bvh",), {"report": 69}),
        Group("16", ("cmu_bvh/16_*.bvh", "audit/16_*.bvh"), {"report": 16}),
        Group("35_127", ("audit/35_*.bvh", "audit/127_*.bvh"), {"report": 35}),
        Group("bandai", ("bandai_bvh/*.bvh", "audit/dataset-*_00[12].bvh"), {"report": 30},
              fps=30.0),
    )
}  # fmt: skip


@lru_cache(maxsize=5)
def frames_of_subject(folder: Path, subject: str) -> Frames:
    """All takes of a group on one skeleton, at the group's rate."""
    group = GROUPS[subject]
    files = sorted(file for pattern in group.patterns for file in folder.glob(pattern))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if subject in ("35_127", "bandai"):
            return matched_frames(files, group.fps)
        loaded = [ml.load(file, fps=group.capture_fps) for file in files]
        return frames_of(
            [
                ml.resample(motion, fps=group.fps).replace(name=file.stem)
                for motion, file in zip(loaded, files, strict=True)
            ]
        )


def matched_frames(files: list[Path], fps: float) -> Frames:
    """Clips of several skeletons, or with bones that slide, matched to one rigid skeleton."""
    with tempfile.TemporaryDirectory() as home:
        clips = Path(home) / "clips"
        clips.mkdir()
        for file in files:
            (clips / file.name).symlink_to(file)
        frames = ml.Collection.ingest(clips, out=Path(home) / "clips.mlc", fps=fps).frames
        arrays: dict[str, Any] = {
            name: np.array(getattr(frames, name))
            for name in ("heading", "ground", "quats", "body", "points", "planted", "glitch_rows")
        }
        return replace(frames, starts=np.array(frames.starts), **arrays)


def window_length(frames: Frames) -> int:
    """Frames of one second."""
    return round(frames.fps)


def subject_plan(subject: str) -> Protocol:
    """Sister takes of a group, and parts of its takes where it has them."""
    plan: Protocol = protocol(GAPS).get(subject, {"sisters": []})
    return plan


def sister_clips(frames: Frames, groups: list[list[str]], clip: int) -> list[int]:
    """A clip and its sister takes."""
    name = frames.ids[clip]
    names = next((group for group in groups if name in group), [name])
    return [frames.ids.index(other) for other in names]
