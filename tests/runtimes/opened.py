"""Files of the run time, opened by the core as a game opens them; and a small table for them."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom._core import Record, blank, kernel
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from tests.support.tables import MemoryTable, table_in_memory

LENGTH = 30
NAMES = ("walk", "run", "stand", "sneak", "kick")
LABELS = (
    Label("run", "running", 40, 200),
    Label("stand", "idle", 0, 240),
    Label("kick", "twitch", 80, 84),
)
EXAMPLE_S, EXAMPLE_EVERY_S = 10, 2
"""How long the examples play, and how often they go to another place."""
MEMORY_AT, FILE_AT = 16, 8
"""Bytes at multiples of which memory and files begin."""


def small_table() -> MemoryTable:
    """Five clips that are made by formula, with two labels and one too short to be held."""
    clips = [ml.synthetic.clip(name) for name in NAMES]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, NAMES, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    return table_in_memory(frames, length=LENGTH, clusters=5, keep=12, labels=list(LABELS))


def memory_at(size: int, multiple: int = MEMORY_AT, odd: int = 0) -> np.ndarray:
    """Bytes that begin at a multiple of so many, or `odd` after one."""
    block = np.zeros(size + 2 * multiple, dtype=np.uint8)
    first = -block.ctypes.data % multiple + odd
    return block[first : first + size]


class OpenedTable:
    """A file in memory, opened."""

    def __init__(self, data: bytes) -> None:
        self.file = memory_at(len(data), FILE_AT)
        self.file[:] = np.frombuffer(data, dtype=np.uint8)
        size = kernel("ml_table_memory")(len(data), self.file)
        self.memory = memory_at(max(size, 0))
        self.record = blank("ml_table", lies_in=(self.file, self.memory))
        kernel("ml_table_open")(len(data), self.file, len(self.memory), self.memory, self.record)
        self.n_joints = self.call("n_joints")

    def call(self, name: str, *arguments: Any) -> Any:
        """`ml_table_<name>` of this table."""
        return kernel(f"ml_table_{name}")(self.record, *arguments)

    def shared(self) -> OpenedTable:
        """The same for another thread."""
        other = copy(self)
        other.memory = memory_at(self.call("share_memory"))
        other.record = blank("ml_table", lies_in=(self, other.memory))
        self.call("share", len(other.memory), other.memory, other.record)
        return other

    def find(self, kind: str, name: str) -> int:
        """The number of a joint, clip or label."""
        text = np.frombuffer(name.encode(), dtype=np.uint8)
        return int(self.call(f"find_{kind}", len(text), text))

    def frames(self) -> Record:
        """Frames for a transition."""
        memory = memory_at(kernel("ml_frames_memory")(self.record))
        made = blank("ml_frames", lies_in=memory)
        kernel("ml_frames_open")(self.record, len(memory), memory, made)
        return made

    def pose(self, kind: str, *of: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Root, local rotations and planted points that a function writes."""
        root, planted = np.zeros(3), np.zeros(4, dtype=np.uint8)
        quats = np.zeros((self.n_joints, 4))
        kernel(kind)(*of, root, quats, planted)
        return root, quats, planted

    def motion(self, skeleton: ml.Skeleton, poses: list[Any]) -> ml.Motion:
        """Poses as a motion."""
        root, quats, _ = zip(*poses, strict=True)
        return ml.Motion(skeleton, np.array(root), np.array(quats), self.call("fps"))

    def transition(self, skeleton: ml.Skeleton, name: str, *arguments: int) -> ml.Motion:
        """The frames of `ml_table_<name>` as a motion."""
        made = self.frames()
        self.call(name, *arguments, made)
        count = made.n_frames
        return self.motion(
            skeleton, [self.pose("ml_frames_pose", made, frame) for frame in range(count)]
        )

    def live(self, row: int) -> LiveCharacter:
        """A character that starts at a row."""
        return LiveCharacter(self, row)


class LiveCharacter:
    """A live character of an opened table."""

    def __init__(self, table: OpenedTable, row: int) -> None:
        self.table = table
        self.memory = memory_at(kernel("ml_stream_memory")(table.record))
        self.record = blank("ml_stream", lies_in=(table, self.memory))
        kernel("ml_stream_open")(table.record, row, len(self.memory), self.memory, self.record)

    def call(self, name: str, *arguments: Any) -> Any:
        """`ml_stream_<name>` of this character."""
        return kernel(f"ml_stream_{name}")(self.record, *arguments)

    def step(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The next frame."""
        return self.table.pose("ml_stream_step", self.record)

    def steps_until_it_leaves(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Frames up to the first one of a transition."""
        poses = [self.step()]
        while not self.call("in_transition"):
            poses.append(self.step())
        return poses

    def steps(self, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The next frames."""
        return [self.step() for _ in range(count)]


def play_example(path: Path, labels: tuple[str, ...]) -> tuple[OpenedTable, list[Any]]:
    """What the examples in other languages play, by the library."""
    opened = OpenedTable(path.read_bytes())
    live, poses = opened.live(0), []
    live.call("place", 0.0, 0.0, 0.0)
    every = int(EXAMPLE_EVERY_S * opened.call("fps"))
    for frame in range(int(EXAMPLE_S * opened.call("fps"))):
        goal, due = divmod(frame, every)
        if due == every // 2 and labels:
            live.call("hold_label", opened.find("label", labels[goal % len(labels)]))
        elif due == every // 2:
            clip = (1 + goal) % opened.call("n_clips")
            middle = opened.call("clip_frames", clip) // 2
            live.call("go_to_row", opened.call("row", clip, middle))
        poses.append(live.step())
    return opened, poses
