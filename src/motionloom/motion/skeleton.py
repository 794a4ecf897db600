"""Skeleton: the tree of joints that a motion moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray, IntArray, frozen, frozen_lengths, items, of_kind, whole
from motionloom._core import CoreError, integer, kernel
from motionloom._records import name_for, one_line, record
from motionloom.errors import ArrayError
from motionloom.rotation import quat

_forward = kernel("ml_kinematics_forward")

MAX_JOINTS = integer("ML_MOST_JOINTS")
"""More joints than any real rig has; beyond it a file is taken to be broken."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Skeleton:
    """Joints in an order where parents come before children; joint 0 is the only root.

    ``offsets`` and ``rest_quats`` together are the rest pose: what the character looks like when
    every joint's local rotation is its rest rotation. Motions hold whole local rotations, so the
    rest pose matters only where two skeletons meet (retargeting, mirroring) and in files that
    state one.

    Attributes
    ----------
    names : tuple of str
        Unique joint names.
    parents : array of int
        Index of each joint's parent, -1 for the root. Shape (J,).
    offsets : array
        Each joint in its parent's frame at rest, metres. Shape (J, 3).
    rest_quats : array
        ``q_parent_joint`` at rest, identity where none are given. Shape (J, 4).
    end_parents : array of int
        Joint that carries each end site (tip of toe, head, finger). Shape (E,).
    end_offsets : array
        Each end site in its joint's frame, metres. Shape (E, 3).
    n_joints : int
        Number of joints J, end sites not counted; follows from the names.

    Examples
    --------
    >>> Skeleton(["hips", "knee", "ankle"], [-1, 0, 1], [[0, 0, 0], [0, -0.4, 0], [0, -0.4, 0]])
    Skeleton(3 joints, root 'hips')
    """

    names: tuple[str, ...]
    parents: IntArray
    offsets: FloatArray
    rest_quats: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    end_parents: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    end_offsets: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    n_joints: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        names = _checked_names(self.names)
        n_joints = len(names)
        parents = frozen(self.parents, "parents", (n_joints,), np.int64)
        if parents[0] != -1:
            raise ArrayError(f"`parents[0]` must be -1 (the root comes first), got {parents[0]}.")
        late = np.flatnonzero((parents[1:] < 0) | (parents[1:] >= np.arange(1, n_joints))) + 1
        if late.size:
            j = int(late[0])
            raise ArrayError(
                f"`parents` must point to an earlier joint, got {parents[j]} for joint {j} "
                f"({names[j]!r}). Sort the joints so that parents come before children."
            )
        rest = self.rest_quats
        if np.size(rest) == 0:
            rest = np.tile(quat.IDENTITY, (n_joints, 1))
        rest = frozen(rest, "rest_quats", (n_joints, 4))
        norms = np.linalg.norm(rest, axis=-1)
        if norms.min() < 1e-6:
            j = int(np.argmin(norms))
            raise ArrayError(
                f"`rest_quats` must have unit length, got {norms[j]:g} for joint {j} "
                f"({names[j]!r})."
            )
        if np.abs(norms - 1.0).max() > 1e-12:
            # Only where needed: normalising a unit quaternion again may change its last bit.
            rest = quat.normalize(rest)
        end_parents = frozen(self.end_parents, "end_parents", (None,), np.int64)
        if end_parents.size and not (0 <= end_parents.min() <= end_parents.max() < n_joints):
            raise ArrayError(f"`end_parents` must be joint indices below {n_joints}.")
        for name, value in (
            ("names", names),
            ("n_joints", n_joints),
            ("parents", parents),
            ("offsets", frozen_lengths(self.offsets, "offsets", (n_joints, 3))),
            ("rest_quats", frozen(rest, "rest_quats", (n_joints, 4))),
            ("end_parents", end_parents),
            ("end_offsets", frozen_lengths(self.end_offsets, "end_offsets", (len(end_parents), 3))),
        ):
            object.__setattr__(self, name, value)

    def index(self, name: str) -> int:
        """Index of the joint called ``name``.

        Returns
        -------
        int
            Its place in :attr:`names`.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise ArrayError(
                f"No joint is called {name!r}. The joints are: {', '.join(self.names)}."
            ) from None

    def children(self, joint: int) -> tuple[int, ...]:
        """Indices of the joints whose parent is ``joint``.

        Returns
        -------
        tuple of int
            Ascending; empty for a joint at the end of a limb.
        """
        self._checked(joint)
        return tuple(j for j, parent in enumerate(self.parents.tolist()) if parent == joint)

    def chain(self, joint: int) -> tuple[int, ...]:
        """Joints from the root down to ``joint``, both included.

        Returns
        -------
        tuple of int
            The root first.
        """
        path, parents = [self._checked(joint)], self.parents.tolist()
        while (parent := parents[path[-1]]) >= 0:
            path.append(parent)
        return tuple(reversed(path))

    def carried_by(self, joints: Iterable[int]) -> IntArray:
        """These joints and all that hang on them, ascending.

        Returns
        -------
        (N,) array of int
            Indices of joints.
        """
        if type(joints) is not list:
            joints = items(joints, "joints", "joint indices")
        carried = {self._checked(joint) for joint in joints}
        for joint, parent in enumerate(self.parents.tolist()):
            if parent in carried:
                carried.add(joint)
        return np.array(sorted(carried), dtype=np.int64)

    def _checked(self, joint: object) -> int:
        if type(joint) is int and 0 <= joint < self.n_joints:  # nearly always
            return joint
        return whole(joint, "joint", least=0, most=self.n_joints - 1)

    def same_joints(self, other: Skeleton) -> bool:
        """Whether both have the same names and parents; lengths may differ.

        Returns
        -------
        bool
            True if a motion of one fits the other.
        """
        if type(other) is not Skeleton:
            of_kind(other, Skeleton, "other")
        return self.names == other.names and bool(np.array_equal(self.parents, other.parents))

    def __repr__(self) -> str:
        return one_line(f"Skeleton({self.n_joints} joints, root {name_for(self.names[0])!r})")


def _checked_names(names: Iterable[str]) -> tuple[str, ...]:
    names = items(names, "names", "strings")
    if not all(isinstance(name, str) for name in names):
        raise ArrayError(f"`names` must be a list of strings, got {names!r}.")
    if not 1 <= len(names) <= MAX_JOINTS:
        raise ArrayError(f"A skeleton must have 1 to {MAX_JOINTS} joints, got {len(names)}.")
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ArrayError(f"`names` must be unique, got {twice!r} twice. Rename one of them.")
    return names


# --- World poses of checked arrays


def forward_into(
    skeleton: Skeleton,
    root_positions: FloatArray,
    local_quats: FloatArray,
    joint_translations: FloatArray | None,
    out: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """World positions (F, J, 3) and rotations (F, J, 4) of checked arrays, written into ``out``.

    For long clips new arrays take about as long as the work. See
    :func:`motionloom.forward_kinematics`.
    """
    positions, quats = out
    offsets = skeleton.offsets[None]
    if joint_translations is not None:
        offsets = np.ascontiguousarray(joint_translations)
    n_frames, n_joints = local_quats.shape[:2]
    try:
        _forward(
            n_frames, n_joints, skeleton.parents, len(offsets), offsets,
            root_positions, local_quats, positions, quats,
        )  # fmt: skip
    except CoreError as error:
        if error.status != integer("ML_NOT_FINITE"):
            raise
        if not (np.isfinite(root_positions).all() and np.isfinite(local_quats).all()):
            raise ArrayError(
                "`root_positions` and `local_quats` must be finite, got nan or infinity. Repair "
                "or cut these frames first."
            ) from error
    return positions, quats


def end_positions(skeleton: Skeleton, positions: FloatArray, world_quats: FloatArray) -> FloatArray:
    """World positions (F, E, 3) of the end sites, given those of the joints."""
    at = skeleton.end_parents
    return positions[:, at] + quat.rotate(world_quats[:, at], skeleton.end_offsets)
