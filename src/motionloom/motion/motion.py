"""Skeletons, motions and footplants: a tree of joints, a clip that moves it, and what stands when.

Forward kinematics and the solver of two-bone limbs say where joints are in the world.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import Protocol

import numpy as np

from motionloom._arrays import (
    MAX_FRAMES,
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    frozen_lengths,
    items,
    of_kind,
    positive,
    whole,
)
from motionloom._core import CoreError, integer, kernel
from motionloom._records import name_for, one_line, record
from motionloom.errors import ArrayError
from motionloom.motion.provenance import Source
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


# --- Motion: a clip

_check_rows = kernel("ml_quaternion_check")

UNIT_TOLERANCE = 1e-3
"""How far from unit length a quaternion may be before it is taken for a mistake."""
NOT_UNIT = 1e-12
"""Quaternions farther from unit length are made unit: all, for which are off is not asked."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Motion:
    """A clip: one skeleton sampled at a constant rate. Y up, metres, seconds, radians.

    Arrays are copied, checked and made read-only on construction, so every Motion is valid, and
    every operation returns a new one.

    Attributes
    ----------
    skeleton : Skeleton
        Names, parents and lengths of the joints.
    root_positions : array
        Root joint in the world frame, metres. Shape (F, 3).
    local_quats : array
        ``q_parent_joint`` of every joint, unit norm, wxyz. Shape (F, J, 4).
    fps : float
        Frames per second; frame ``f`` is at time ``f / fps``.
    joint_translations : array or None
        Where joints slide in their parents: each joint in its parent's frame, metres, in place of
        ``skeleton.offsets``. The root's row is zero. Shape (F, J, 3), or None for rigid bones.
    name : str
        Name of the clip.
    source : Source
        The file that it came from.
    n_frames : int
        Number of frames F; follows from the arrays.

    Examples
    --------
    >>> bone = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    >>> still = Motion(bone, np.zeros((4, 3)), np.tile(quat.IDENTITY, (4, 2, 1)), fps=30)
    >>> still
    Motion(4 frames, 30 fps, 0.1 s, 2 joints)
    >>> still[1:3].n_frames
    2
    """

    skeleton: Skeleton
    root_positions: FloatArray
    local_quats: FloatArray
    fps: float
    joint_translations: FloatArray | None = None
    name: str = ""
    source: Source = field(default_factory=Source)
    n_frames: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check(_FIELDS)

    def _check(self, changed: Container[str]) -> None:
        """Check what was changed; the rest was checked when it came in and cannot change."""
        if not isinstance(self.skeleton, Skeleton):
            raise ArrayError(f"`skeleton` must be a Skeleton, got {type(self.skeleton).__name__}.")
        set_field = object.__setattr__
        if "root_positions" in changed:
            root = frozen_lengths(self.root_positions, "root_positions", (None, 3))
            if len(root) == 0:
                raise ArrayError("A motion must have at least one frame, got none.")
            set_field(self, "root_positions", root)
        set_field(self, "n_frames", len(self.root_positions))
        rows = (self.n_frames, self.skeleton.n_joints)
        if "local_quats" in changed or self.local_quats.shape[:2] != rows:
            quats = frozen(self.local_quats, "local_quats", (*rows, 4))
            set_field(self, "local_quats", _unit_and_continuous(quats, self.skeleton))
        if "fps" in changed:
            set_field(self, "fps", positive(self.fps, "fps"))
        if "name" in changed and type(self.name) is not str:
            of_kind(self.name, str, "name")
        if "source" in changed and type(self.source) is not Source:
            of_kind(self.source, Source, "source")
        moving = self.joint_translations
        if moving is None:
            return
        if "joint_translations" in changed or moving.shape[:2] != rows:
            moving = frozen_lengths(moving, "joint_translations", (*rows, 3))
            if np.any(moving[:, 0]):
                moving = np.array(moving)
                moving[:, 0] = 0.0
                moving.flags.writeable = False
            set_field(self, "joint_translations", moving)

    @property
    def duration_s(self) -> float:
        """Time from the first frame to the last, seconds."""
        return (self.n_frames - 1) / self.fps

    def world_positions(self) -> FloatArray:
        """Every joint in the world, metres. Shape (F, J, 3).

        Returns
        -------
        (F, J, 3) array
            Metres.
        """
        return self.world_pose()[0]

    def world_quats(self) -> FloatArray:
        """``q_world_joint`` of every joint. Shape (F, J, 4).

        Returns
        -------
        (F, J, 4) array
            Quaternions, w first.
        """
        return self.world_pose()[1]

    def world_pose(self) -> tuple[FloatArray, FloatArray]:
        """World positions (F, J, 3) and rotations (F, J, 4), computed together.

        Returns
        -------
        positions, quats : (F, J, 3), (F, J, 4) arrays
            As :meth:`world_positions` and :meth:`world_quats` give them.
        """
        out = np.zeros((*self.local_quats.shape[:2], 3)), np.zeros(self.local_quats.shape)
        return forward_into(
            self.skeleton, self.root_positions, self.local_quats, self.joint_translations, out
        )

    def end_positions(self) -> FloatArray:
        """Every end site in the world, metres. Shape (F, E, 3).

        Returns
        -------
        (F, E, 3) array
            Metres, in the order of the skeleton's end sites.
        """
        return end_positions(self.skeleton, *self.world_pose())

    def replace(self, **changes: object) -> Motion:
        """The same motion with some fields changed; those are checked again.

        Returns
        -------
        Motion
            A new motion; this one does not change.

        Examples
        --------
        >>> import motionloom as ml
        >>> walk = ml.synthetic.clip("walk").motion
        >>> walk.replace(name="slow walk", fps=walk.fps / 2).duration_s
        8.0
        """
        unknown = changes.keys() - set(_FIELDS)
        if unknown:
            raise ArrayError(
                f"A motion has the fields {', '.join(_FIELDS)}; got {', '.join(sorted(unknown))}."
            )
        return self._copy(changes, changes.keys())

    def _copy(self, changes: Mapping[str, object], to_check: Container[str]) -> Motion:
        copy = object.__new__(Motion)
        for name in _FIELDS:
            object.__setattr__(copy, name, changes.get(name, getattr(self, name)))
        copy._check(to_check)
        return copy

    __iter__ = None  # a motion is no list: else each loop over one would end in an error of a slice

    def __getitem__(self, frames: slice) -> Motion:
        if not isinstance(frames, slice):
            raise ArrayError(
                f"A motion is cut with a slice such as motion[10:120], got {frames!r}."
            )
        if frames.step not in (None, 1):
            raise ArrayError("A motion is cut at its own rate; use ml.resample to change it.")
        try:
            n_left = len(range(*frames.indices(self.n_frames)))
        except TypeError:
            raise ArrayError(
                f"A motion must be cut at whole frames, such as motion[10:120], got {frames!r}."
            ) from None
        if n_left == 0:
            first, last = ("" if end is None else end for end in (frames.start, frames.stop))
            raise ArrayError(
                f"`motion[{first}:{last}]` must keep at least one of its {self.n_frames} frames."
            )
        moving = self.joint_translations
        part = {
            "root_positions": self.root_positions[frames],
            "local_quats": self.local_quats[frames],
            "joint_translations": None if moving is None else moving[frames],
        }
        return self._copy(part, frozenset())  # a part of what is right is right

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        title = f"{name_for(self.name)}: " if self.name else ""
        return one_line(
            f"Motion({title}{self.n_frames} frames, {self.fps:g} fps, {self.duration_s:.3g} s, "
            f"{self.skeleton.n_joints} joints)"
        )


_FIELDS = tuple(entry.name for entry in dataclasses.fields(Motion) if entry.init)


def replace_valid(
    motion: Motion,
    root_positions: FloatArray,
    local_quats: FloatArray,
    joint_translations: FloatArray | None,
) -> Motion:
    """As ``motion.replace`` of these three, with rotations that :func:`valid_quats` has gone over.

    They are finite, and are not looked at again: that takes longer than most of what changes a few
    of them. Arrays are taken as they are and made read-only.
    """
    changes = {
        "root_positions": root_positions,
        "local_quats": local_quats,
        "joint_translations": joint_translations,
    }
    root_positions.flags.writeable = local_quats.flags.writeable = False
    changed = {"root_positions"}
    if joint_translations is not motion.joint_translations:
        changed.add("joint_translations")
    return motion._copy(changes, changed)


def valid_quats(quats: FloatArray, skeleton: Skeleton, error: float, flips: bool) -> FloatArray:
    """Rotations (F, J, 4) at unit length and without sign flips; the same array if they are.

    ``error`` and ``flips`` are those of :func:`check_rows`, of all that may have changed since
    the rest was a motion's.
    """
    if error > UNIT_TOLERANCE:
        norms = np.linalg.norm(quats, axis=-1)
        f, j = np.unravel_index(int(np.argmax(np.abs(norms - 1.0))), norms.shape)
        raise ArrayError(
            f"`local_quats` must have unit length, got {norms[f, j]:.6g} at frame {f}, joint {j} "
            f"({skeleton.names[j]!r}). Normalise them, or check the order (w, x, y, z)."
        )
    if error > NOT_UNIT:
        quats = quat.normalize(quats)
    if flips:
        quats = quat.make_continuous(quats)
    return quats


def check_rows(q: FloatArray) -> tuple[float, bool]:
    """Largest error of length, and whether any sign flips in time. Shape (F, J, 4)."""
    flips = np.zeros(1, dtype=np.uint8)
    q = np.ascontiguousarray(q, dtype=np.float64)
    return 0.5 * _check_rows(*q.shape[:2], q, flips), bool(flips[0])


def _unit_and_continuous(quats: FloatArray, skeleton: Skeleton) -> FloatArray:
    """``quats`` at unit length and without sign flips; the same array if it is so already."""
    quats = valid_quats(quats, skeleton, *check_rows(quats))
    quats.flags.writeable = False
    return quats


# --- The motion of a result


class HasMotion(Protocol):
    """What operations return: their motion is ``.motion``."""

    @property
    def motion(self) -> Motion:
        """The result."""


def motion_in(value: object) -> Motion | None:
    """The motion itself, or that of a result; None for everything else."""
    motion = value if isinstance(value, Motion) else getattr(value, "motion", None)
    return motion if isinstance(motion, Motion) else None


def joined_name(first: Motion, word: str, second: Motion) -> str:
    """Name of two joined motions: ``walk to run``; the one name where only one has a name."""
    if first.name and second.name:
        return f"{first.name} {word} {second.name}"
    return first.name or second.name


# --- Forward kinematics and velocities


def forward_kinematics(
    skeleton: Skeleton | Motion,
    root_positions: FloatArray | None = None,
    local_quats: FloatArray | None = None,
    *,
    joint_translations: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """World positions (F, J, 3) and world rotations (F, J, 4) of every joint.

    Parameters
    ----------
    skeleton
        J joints; or a motion alone, which has all of the following.
    root_positions : (F, 3)
        Root joint in the world, metres.
    local_quats : (F, J, 4)
        Every joint in its parent, unit, wxyz.
    joint_translations : (F, J, 3), optional
        Where joints also slide in their parents: takes the place of ``skeleton.offsets``.

    Returns
    -------
    positions, quats : (F, J, 3), (F, J, 4)
        In the world, metres and unit quaternions.

    Examples
    --------
    >>> leg = Skeleton(["hip", "knee"], [-1, 0], [[0, 0, 0], [0, -0.4, 0]])
    >>> positions, _ = forward_kinematics(leg, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 2, 1)))
    >>> positions[0, 1].tolist()
    [0.0, -0.4, 0.0]
    """
    if isinstance(skeleton, Motion):
        if any(each is not None for each in (root_positions, local_quats, joint_translations)):
            raise ArrayError(
                "A motion must be given alone: it has its own positions and rotations."
            )
        return skeleton.world_pose()
    if type(skeleton) is not Skeleton:
        of_kind(skeleton, Skeleton, "skeleton")
    n_joints = skeleton.n_joints
    if root_positions is None or local_quats is None:
        raise ArrayError("`root_positions` and `local_quats` must be given with a skeleton.")
    try:
        local_quats = np.ascontiguousarray(local_quats, dtype=np.float64)
        root_positions = np.ascontiguousarray(root_positions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayError(
            f"`root_positions` and `local_quats` must be arrays of numbers ({error})."
        ) from error
    if local_quats.ndim != 3 or local_quats.shape[1:] != (n_joints, 4):
        raise ArrayError(
            f"`local_quats` must have shape (F, {n_joints}, 4), got {local_quats.shape}."
        )
    n_frames = len(local_quats)
    if root_positions.shape != (n_frames, 3):
        raise ArrayError(
            f"`root_positions` must have shape ({n_frames}, 3), got {root_positions.shape}."
        )
    if joint_translations is not None:
        joint_translations = frozen(
            joint_translations, "joint_translations", (n_frames, n_joints, 3)
        )
    out = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    return forward_into(skeleton, root_positions, local_quats, joint_translations, out)


def local_from_world(skeleton: Skeleton, world_quats: FloatArray) -> FloatArray:
    """Local rotations (F, J, 4) whose forward kinematics has these world rotations."""
    local = np.array(world_quats, dtype=np.float64)
    parents = skeleton.parents[1:]
    local[:, 1:] = quat.multiply(quat.conjugate(world_quats[:, parents]), world_quats[:, 1:])
    return local


def velocities(values: FloatArray, fps: float) -> FloatArray:
    """Rate of change per second along the first axis, the same shape.

    Central differences inside, one-sided at the two ends; zeros for a single frame.
    """
    values = np.asarray(values)
    out = np.zeros(values.shape, dtype=np.result_type(values.dtype, np.float32))
    if len(values) > 1:
        out[0], out[-1] = values[1] - values[0], values[-1] - values[-2]
        np.subtract(values[2:], values[:-2], out=out[1:-1])
        out[1:-1] /= 2.0
        out *= fps
    return out


def angular_velocities(quats: FloatArray, fps: float) -> FloatArray:
    """Angular velocities (F, ..., 3) of rotations (F, ..., 4) in the world, radians per second.

    As :func:`velocities`: the turn from the frame before to the frame after, by the shorter way,
    over the time between them; one-sided at the two ends; zeros for a single frame.
    """
    quats = np.asarray(quats, dtype=np.float64)
    out = np.zeros((*quats.shape[:-1], 3))
    if len(quats) > 1:
        out[1:-1] = _turn(quats[:-2], quats[2:]) / 2.0
        out[0], out[-1] = _turn(quats[0], quats[1]), _turn(quats[-2], quats[-1])
        out *= fps
    return out


def _turn(before: FloatArray, after: FloatArray) -> FloatArray:
    """The rotation vector that carries ``before`` to ``after``, in the world."""
    return quat.log(quat.multiply(after, quat.conjugate(before)))


# --- Limbs: two bones that bring their end to a target

_solve_limb = kernel("ml_limb_solve")
_solve_leg = kernel("ml_leg_solve")

STRAIGHT = 1e-4
"""Metres kept between a limb and full stretch: a fully straight one has no plane to bend in."""
SOFT = 0.005
"""Part of its length over which a leg eases into full stretch."""


@dataclass(frozen=True, slots=True, eq=False)
class LimbSolution:
    """World turns to apply, and what the bones could not reach."""

    q_upper: FloatArray
    """Turn of the upper bone in the world: ``q_upper * q_world_hip``. (F, 4)"""
    q_lower: FloatArray
    """Turn of the lower bone in the world: ``q_lower * q_world_knee``. (F, 4)"""
    middle: FloatArray
    """Where the knee comes to lie, metres. (F, 3)"""
    end: FloatArray
    """Where the ankle comes to lie, metres. (F, 3)"""
    miss: FloatArray
    """Distance from the ankle to the target, metres; 0 where it was reached. (F,)"""


def solve_limb(
    top: FloatArray,
    middle: FloatArray,
    end: FloatArray,
    target: FloatArray,
    hinge: FloatArray | None = None,
    *,
    pole: FloatArray | None = None,
    straight: float = STRAIGHT,
    soft: float = SOFT,
) -> LimbSolution:
    """World turns of the two bones of a limb that bring its end to the target.

    Parameters
    ----------
    top, middle, end : (F, 3)
        Hip, knee and ankle (or shoulder, elbow, wrist) in the world now, metres.
    target : (F, 3)
        Where the end should be.
    hinge : (F, 3)
        World axis to bend about where the limb is straight; need not be unit. For limbs without
        a pole.
    pole : (F, 3)
        World direction in which the knee points, square to the thigh: ``Knee.pole`` turned by the
        hip. The knee stays on this side and depends continuously on all inputs; flexion stays
        within 0 and 160 degrees.
    straight
        Metres kept between a limb without a pole and full stretch.
    soft
        Part of a leg's length over which a leg with a pole eases into full stretch; 0 stops hard.

    Examples
    --------
    >>> hip, knee, ankle = np.zeros((1, 3)), np.array([[0, -0.4, 0.1]]), np.array([[0, -0.8, 0.0]])
    >>> s = solve_limb(hip, knee, ankle, np.array([[0.1, -0.6, 0.2]]), np.array([[1.0, 0, 0]]))
    >>> s.end.round(6).tolist(), float(s.miss[0]) < 1e-9
    ([[0.1, -0.6, 0.2]], True)
    """
    guide = hinge if pole is None else pole
    if guide is None:
        raise ArrayError("`hinge` or `pole` must be given. Pass `pole` for legs, `hinge` for arms.")
    top = np.ascontiguousarray(top, dtype=np.float64)
    middle, end, target, guide = (
        np.ascontiguousarray(
            v if np.shape(v) == top.shape else np.broadcast_to(v, top.shape), dtype=np.float64
        )
        for v in (middle, end, target, guide)
    )
    n = len(top)
    out = (np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n))
    if pole is None:
        _solve_limb(n, top, middle, end, target, guide, float(straight), *out)
    else:
        _solve_leg(n, top, middle, end, target, guide, float(soft), *out)
    return LimbSolution(*out)


# --- Footplants: when heel and ball of each foot stand

KINDS = ("left_heel", "left_toe", "right_heel", "right_toe")
"""The four columns of :attr:`Footplants.planted`. Toe means the ball of the foot."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Footplants:
    """Which foot points are planted in each frame.

    Attributes
    ----------
    planted : array of bool
        Left heel, left toe, right heel, right toe. Shape (F, 4).

    Examples
    --------
    >>> planted = np.zeros((5, 4), bool)
    >>> planted[1:4, 1] = True
    >>> Footplants(planted).intervals()["left_toe"]
    ((1, 3),)
    """

    planted: BoolArray

    def __post_init__(self) -> None:
        planted = frozen(self.planted, "planted", (None, 4), np.bool_)
        object.__setattr__(self, "planted", planted)

    @classmethod
    def from_intervals(
        cls, intervals: dict[str, tuple[tuple[int, int], ...]], n_frames: int
    ) -> Footplants:
        """Plants from first and last planted frames per kind; those that overlap are joined.

        Parameters
        ----------
        intervals
            First and last planted frame of every plant, per kind of :data:`KINDS`.
        n_frames
            Number of frames of the motion.

        Returns
        -------
        Footplants
            Contacts of every frame.

        Raises
        ------
        ArrayError
            A plant ends before it begins, or has frames outside 0 to ``n_frames - 1``.
        """
        n_frames = whole(n_frames, "n_frames", least=0, most=MAX_FRAMES)
        if not isinstance(intervals, Mapping):
            raise ArrayError(
                f"`intervals` must map kinds to frames, such as {{'left_toe': [(3, 9)]}}, got "
                f"{type(intervals).__name__}."
            )
        planted = np.zeros((n_frames, 4), dtype=bool)
        for kind, spans in intervals.items():
            if kind not in KINDS:
                raise ArrayError(f"`intervals` must be keyed by {', '.join(KINDS)}, got {kind!r}.")
            for first, last in _pairs(spans, kind):
                if not 0 <= first <= last < n_frames:
                    raise ArrayError(_why_no_plant(kind, first, last, n_frames))
                planted[first : last + 1, KINDS.index(kind)] = True
        return cls(planted)

    @property
    def n_frames(self) -> int:
        """Number of frames F."""
        return len(self.planted)

    def intervals(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """First and last planted frame of every plant, per kind, in time order.

        Returns
        -------
        dict
            By kind, pairs of frames, both planted.
        """
        return dict(zip(KINDS, column_runs(self.planted), strict=True))

    __iter__ = None  # as for motions

    def __getitem__(self, frames: slice) -> Footplants:
        if not isinstance(frames, slice):
            raise ArrayError(
                f"Footplants are cut with a slice such as footplants[10:120], got {frames!r}."
            )
        try:
            return Footplants(self.planted[frames])
        except TypeError:
            raise ArrayError(
                f"Footplants must be cut at whole frames, such as footplants[10:120], got "
                f"{frames!r}."
            ) from None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(spans)} {kind}" for kind, spans in self.intervals().items())
        return f"Footplants({self.n_frames} frames: {counts})"


def contacts_for(footplants: object, n_frames: int, name: str = "footplants") -> Footplants:
    """Contacts that a caller gave, if they have one row per frame of their motion."""
    plants = of_kind(footplants, Footplants, name)
    if plants.n_frames != n_frames:
        raise ArrayError(
            f"`{name}` must have one row per frame of the motion ({n_frames}), got "
            f"{plants.n_frames}. Detect them with ml.detect_footplants(motion)."
        )
    return plants


def _pairs(spans: object, kind: str) -> list[tuple[int, int]]:
    """First and last frames of plants as a caller gave them."""
    try:
        return [(index(first), index(last)) for first, last in spans]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ArrayError(
            f"`intervals[{kind!r}]` must list first and last frames such as [(3, 9), (20, 31)], "
            f"got {spans!r}."
        ) from None


def _why_no_plant(kind: str, first: int, last: int, n_frames: int) -> str:
    """Why a plant cannot be of a motion of ``n_frames``."""
    if first > last:
        return (
            f"A plant of {kind} must end at or after its first frame, got first {first} and last "
            f"{last}. Swap the two frames."
        )
    has = f"frames 0 to {n_frames - 1}" if n_frames else "no frames"
    return (
        f"A plant of {kind} must lie in the motion, which has {has}, got frames {first} to {last}. "
        "Cut it at the motion's ends or leave it out."
    )


def column_runs(flags: BoolArray) -> tuple[tuple[tuple[int, int], ...], ...]:
    """First and last index of every run of True in each column. Shape (F, P)."""
    return tuple(runs_of(flags[:, k]) for k in range(flags.shape[1]))


def runs_of(flags: BoolArray) -> tuple[tuple[int, int], ...]:
    """First and last index of every run of True in a one-dimensional array."""
    flags = np.asarray(flags, dtype=bool)
    if not len(flags):
        return ()
    edges = (np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist()
    if flags[0]:
        edges.insert(0, 0)
    if flags[-1]:
        edges.append(len(flags))
    return tuple((first, stop - 1) for first, stop in zip(edges[::2], edges[1::2], strict=True))
