"""Motion: a clip."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from motionloom._arrays import FloatArray, frozen, frozen_lengths, of_kind, positive
from motionloom._core import kernel
from motionloom._records import name_for, one_line, record
from motionloom.errors import ArrayError
from motionloom.motion.skeleton import Skeleton, end_positions, forward_into
from motionloom.motion.source import Source
from motionloom.rotation import quat

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
        if "name" in changed:
            of_kind(self.name, str, "name")
        if "source" in changed:
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
