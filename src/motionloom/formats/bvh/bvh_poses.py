"""Poses out of rows of channel values: arrays that grow while a BVH file is read."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.errors import FormatError
from motionloom.formats.bvh.bvh_header import N_POSITIONS, N_TURNS
from motionloom.formats.bvh.bvh_nodes import CHANNEL_NAMES, Node
from motionloom.formats.text import LARGEST, quoted
from motionloom.reading.size_limits import Budget, Limits

STILL = 1e-6
"""A joint that moves in its parent by less, in the file's unit, is taken to be fixed."""

_POSES_AT_ONCE = 1 << 16

_pose_rows = kernel("ml_channel_poses")


class GrowingPoses:
    """Root positions, rotations and, where joints slide, translations of the frames so far.

    Parameters
    ----------
    nodes
        Every joint of the file, in the order of its channels.
    kept
        Those wanted, in order; ``kept[0]`` is the root.
    limits
        Bounds on frames.
    budget
        Memory that the arrays may take.
    """

    def __init__(
        self, nodes: list[Node], chosen: list[int], limits: Limits, budget: Budget
    ) -> None:
        self.budget = budget
        self.owners = [(node, kind) for node in nodes for kind in node.channels]
        self.max_frames = limits.max_frames
        first_column = np.cumsum([0] + [len(node.channels) for node in nodes])
        kinds: list[int] = []
        columns: list[int] = []
        starts = [0]
        for j in chosen:
            for i, kind in enumerate(nodes[j].channels):
                if kind < N_TURNS:
                    kinds.append(kind)
                    columns.append(int(first_column[j]) + i)
            starts.append(len(kinds))
        self.kinds = np.array(kinds, dtype=np.int64)
        self.columns = np.array(columns, dtype=np.int64)
        self.starts = np.array(starts, dtype=np.int64)
        offsets = [nodes[j].offset or (0.0, 0.0, 0.0) for j in chosen]
        self.offsets: FloatArray = np.array(offsets, dtype=np.float64)
        # Only joints with position channels can leave their offsets; mostly the root alone.
        can_move = any(kind < N_POSITIONS for j in chosen[1:] for kind in nodes[j].channels)
        self.n_joints = len(chosen)
        self.n_placed = self.n_joints if can_move else 1

        self.n_frames = self.capacity = 0
        self.root_positions: FloatArray = np.zeros((0, 3))
        self.local_quats: FloatArray = np.zeros((0, self.n_joints, 4))
        self.placements = self.offsets.copy()
        """Where every joint stands in its parent in the first frame. Shape (J, 3)."""
        self.translations: FloatArray | None = None
        """The same for every frame, where some joint really moves. Shape (F, J, 3)."""

    def add(self, rows: FloatArray, n_bytes: int, n_bytes_to_come: int) -> None:
        """Append ``rows`` (R, C) as frames.

        The bytes read so far and still to come tell how long the arrays will have to be.
        """
        if len(rows) == 0:
            return
        self._check(rows)
        self._make_room(len(rows), n_bytes, n_bytes_to_come)
        step = max(1, _POSES_AT_ONCE // self.n_joints)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            places = np.zeros((len(part), self.n_placed, 3))
            _pose_rows(
                *part.shape, part, len(self.kinds), self.kinds, self.columns,
                self.n_joints, self.starts, self.offsets,
                self.n_frames, self.capacity, self.local_quats, self.n_placed, places,
            )  # fmt: skip
            self._place(places)
            self.n_frames += len(part)

    def finish(self) -> None:
        """Cut the arrays to the frames that were read, and make them read-only."""
        self._resize(self.n_frames)
        for array in (self.root_positions, self.local_quats, self.translations):
            if array is not None:
                array.flags.writeable = False

    def owner(self, column: int) -> str:
        """Channel and joint of a column, in words."""
        node, kind = self.owners[column]
        return f"{CHANNEL_NAMES[kind]} of {quoted(node.name)}"

    def _place(self, places: FloatArray) -> None:
        """Append where the joints stand; keeps every frame only from the first that differs."""
        start, stop = self.n_frames, self.n_frames + len(places)
        self.root_positions[start:stop] = places[:, 0]
        if self.n_placed == 1:
            return
        if start == 0:
            self.placements = places[0].copy()
        if self.translations is None:
            if np.abs(places[:, 1:] - self.placements[1:]).max() <= STILL:
                return
            self.budget.check_poses(stop, self.n_joints, sliding=True)
            self.translations = np.zeros((self.capacity, self.n_joints, 3))
            self.translations[:start, 1:] = self.placements[1:]
        self.translations[start:stop, 1:] = places[:, 1:]  # the root's row stays zero

    def _make_room(self, n_new: int, n_bytes: int, n_bytes_to_come: int) -> None:
        needed = self.n_frames + n_new
        if needed > self.max_frames:
            raise FormatError(
                f"A clip may have at most {self.max_frames} frames; this one has more.",
                fix="Cut it into shorter clips.",
            )
        self.budget.check_poses(needed, self.n_joints, sliding=self.translations is not None)
        if needed <= self.capacity:
            return
        guess = int(1.02 * needed / n_bytes * n_bytes_to_come)
        if guess == 0:  # a stream that does not know its length
            guess = self.capacity // 4
        self._resize(min(needed + guess + 1, max(needed, self.max_frames)))

    def _resize(self, capacity: int) -> None:
        if self.capacity == 0:
            self.root_positions = np.zeros((capacity, 3))
            self.local_quats = np.zeros((capacity, self.n_joints, 4))
        elif capacity != self.capacity:
            # In place: the allocator moves long arrays without a second copy in memory.
            self.root_positions.resize((capacity, 3), refcheck=False)
            self.local_quats.resize((capacity, self.n_joints, 4), refcheck=False)
            if self.translations is not None:
                self.translations.resize((capacity, self.n_joints, 3), refcheck=False)
        self.capacity = capacity

    def _check(self, rows: FloatArray) -> None:
        """Raise where a number is beyond all bounds, such as ``1e999``."""
        if max(rows.max(), -rows.min()) <= LARGEST:
            return
        row, column = (int(i) for i in np.argwhere(~(np.abs(rows) <= LARGEST))[0])
        raise FormatError(
            f"A value must be a number up to {LARGEST:g}, got {rows[row, column]:g} for "
            f"{self.owner(column)}.",
            where=f"frame {self.n_frames + row}",
            fix="Repair or cut this frame.",
        )
