"""Synthesis: the frames of a recipe with its feet held, made by one call of the core; leg kernels.

Each leg is solved in closed form. Where a held foot would be out of reach, the body is lowered a
little, then the heel comes up about the ball; knees ease into full stretch instead of meeting it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import Record, integer, kernel, record
from motionloom.body.anatomy import SIDES, FootOffsets, knees_of_pose, norm
from motionloom.motion.motion import Footplants, Motion, forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.collection.frames import FloatArray32, Frames, clip_speeds
from motionloom.tables.score.recipe import Recipe, rows_at

SAMPLES = 400
"""Frames that show which way knees bend."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The flat arrays of :class:`Frames`, as the core takes them."""

    heading: FloatArray
    """(R,)"""
    ground: FloatArray
    """(R, 2)"""
    quats: FloatArray32
    """(R, J, 4)"""
    body: FloatArray32
    """(R, J, 3)"""
    points: FloatArray32
    """(R, 4, 3)"""
    planted: BoolArray
    """(R, 4)"""

    @cached_property
    def record(self) -> Record:
        """For kernels; made once."""
        n_rows, n_joints = self.body.shape[:2]
        return record(
            "ml_rows",
            n_rows=n_rows,
            n_joints=n_joints,
            heading=self.heading,
            ground=self.ground,
            quats=self.quats,
            body=self.body,
            points=self.points,
            planted=self.planted,
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Addresses are of one process.
        return Rows, tuple(getattr(self, name) for name in ROWS)


ROWS = tuple(Rows.__dataclass_fields__)
"""Names of the arrays."""


@dataclass(frozen=True, eq=False)
class Rig:
    """Joints, legs and feet of a collection's skeleton."""

    parents: IntArray
    """(J,)"""
    offsets: FloatArray
    """Each joint in its parent, metres. (J, 3)"""
    chain: IntArray
    """Joints from the root down to both ankles, parents first. (C,)"""
    legs: IntArray
    """Hip, knee and ankle of the left and the right leg. (2, 3)"""
    soles: FloatArray
    """Heel and ball of each foot in its ankle's frame, metres. (2, 2, 3)"""
    poles: FloatArray
    """Where each knee points, in its hip joint's frame, unit. (2, 3)"""
    axes: FloatArray
    """About which each shank turns when its knee flexes, in its hip joint's frame, unit. (2, 3)"""

    @cached_property
    def record(self) -> Record:
        """For kernels; made once."""
        return record(
            "ml_leg_rig",
            n_joints=len(self.parents),
            n_chain=len(self.chain),
            parents=self.parents,
            offsets=self.offsets,
            chain=self.chain,
            legs=self.legs,
            soles=self.soles,
            poles=self.poles,
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Addresses are of one process.
        return Rig, tuple(getattr(self, name) for name in self.__dataclass_fields__)


def rows_of(frames: Frames) -> Rows:
    """The arrays of frames, without their mapping to files."""
    return Rows(*(np.asarray(getattr(frames, name)) for name in ROWS))


def rig_of(frames: Frames) -> Rig:
    """The rig of a collection, heels and the bend of knees read from its frames."""
    body, skeleton = frames.body_map, frames.skeleton
    roles = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    body.require(*roles, task="transitions")
    legs = np.array([getattr(body, role) for role in roles], dtype=np.int64).reshape(2, 3)
    chain = sorted({joint for leg in legs for joint in skeleton.chain(int(leg[2]))})
    at = np.unique(np.linspace(0, frames.n_rows - 1, SAMPLES).astype(np.int64))
    root = np.zeros((len(at), 3))
    root[:, 1] = frames.body[at, 0, 1]
    quats = quat.normalize(frames.quats[at].astype(np.float64))
    positions, world = forward_kinematics(skeleton, root, quats)
    soles = np.zeros((2, 2, 3))
    for side, ankle in enumerate(legs[:, 2]):
        for point in range(2):
            way = frames.points[at, 2 * side + point] - positions[:, ankle]
            seen = quat.rotate(quat.conjugate(world[:, ankle]), way)
            soles[side, point] = np.median(seen, axis=0)
    left, right = (_foot(int(leg[2]), sole) for leg, sole in zip(legs, soles, strict=True))
    knees = knees_of_pose(skeleton, body, (left, right), (positions, world))
    return Rig(
        np.array(skeleton.parents, dtype=np.int64),
        np.array(skeleton.offsets, dtype=np.float64),
        np.array(chain, dtype=np.int64),
        legs,
        soles,
        np.stack([knee.pole for knee in knees]),
        np.stack([knee.axis for knee in knees]),
    )


def _foot(ankle: int, sole: FloatArray) -> FootOffsets:
    """One foot by its heel and ball in the ankle's frame, as knees are found with."""
    ahead = sole[1] - sole[0]
    ahead = ahead / max(norm(ahead), 1e-9)
    nothing = np.zeros(3)
    return FootOffsets(ankle, None, sole[0], sole[1], nothing, nothing, ahead)


_make = kernel("ml_synthesis_make")
_bent = kernel("ml_passage_make")
SCRATCH = integer("ML_TABLE_SYNTHESIS")
"""Numbers a frame that the synthesis works with, and seven a joint."""


class Synthesis(NamedTuple):
    """Frames made of a recipe, where its source window stands."""

    heading: FloatArray
    """Radians. (L,)"""
    root_positions: FloatArray
    """Metres. (L, 3)"""
    local_quats: FloatArray
    """(L, J, 4)"""
    planted: BoolArray
    """Left heel, left ball, right heel, right ball. (L, 4)"""
    foot_error: float
    """Mean distance of the blend's feet from where they are held, before they were, metres."""
    missed: float
    """Farthest that a held ankle could not reach, metres."""

    def motion(self, frames: Frames, *, name: str = "") -> Motion:
        """As a motion."""
        return Motion(frames.skeleton, self.root_positions, self.local_quats, frames.fps, name=name)

    def footplants(self) -> Footplants:
        """As footplants."""
        return Footplants(self.planted)


def synthesize(
    frames: Frames,
    recipe: Recipe,
    *,
    rig: Rig | None = None,
    feet: bool = True,
    still: bool = False,
    ends: tuple[int, int] | None = None,
) -> Synthesis:
    """The frames of a recipe: blended, then with its feet held where they stand.

    The first frame is the source window's first, the last one the target window's last, both to
    round-off; the target's clip goes on from there. So it is in a pinned recipe, which goes along
    the windows between.

    Parameters
    ----------
    frames, recipe
        What to blend.
    rig
        Of the same frames; worked out where not given, which takes longer than the synthesis.
    feet
        Hold planted feet; without it the blend comes out as it is.
    still
        Held feet of pinned windows stand still; by default they move as they do there.
    ends
        Rows that it leaves and arrives at: a blend of other windows is bent to have their postures
        and velocities.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("run").motion])
    >>> made = synthesize(frames, Recipe((0, frames.row_of("run", 5)), 20))
    >>> made.local_quats.shape[0]
    20
    """
    rig = rig_of(frames) if rig is None else rig
    speed = max(float(clip_speeds(frames, frames.clip_at(row))[0]) for row in recipe.rows)
    at, weights = rows_at(frames, recipe), recipe.weights()
    if recipe.pinned:
        ends = (recipe.rows[0], recipe.rows[-1] + recipe.length - 1) if ends is None else ends
        at, weights = np.ascontiguousarray(at[:, 1:-1]), np.ascontiguousarray(weights[1:-1])
    n_frames, n_joints = len(at), len(rig.parents)
    blend = blend_record(rows_of(frames), at, weights, frames.fps, speed)
    made = record(
        "ml_synthesis",
        n_frames=n_frames,
        n_joints=n_joints,
        scratch=np.zeros((7 * n_joints + SCRATCH, n_frames)),
        held=np.zeros((2, n_frames), dtype=np.int64),
        psi=np.zeros(n_frames),
        root=np.zeros((n_frames, 3)),
        quats=np.zeros((n_frames, n_joints, 4)),
        planted=np.zeros((n_frames, 4), dtype=np.bool_),
        errors=np.zeros(2),
    )
    if ends is None:
        _make(blend, rig.record, int(feet), made)
    else:
        starts = np.ascontiguousarray(frames.starts, dtype=np.int64)
        holds = 2 if feet and still else int(feet)
        _bent(blend, rig.record, len(starts) - 1, starts, ends[0], ends[1], holds, made)
    agreement, missed = made.errors.tolist()
    return Synthesis(made.psi, made.root, made.quats, made.planted, agreement, missed)


def blend_record(rows: Rows, at: IntArray, weights: FloatArray, fps: float, speed: float) -> Record:
    """A blend as the core takes it: rows (L, N) of its windows, and their weights (N, L)."""
    n_frames, n_ways = at.shape
    return record(
        "ml_blend",
        rows=rows.record,
        n_frames=n_frames,
        n_ways=n_ways,
        at=at,
        weights=weights,
        fps=fps,
        speed=speed,
    )


NOT_HELD = integer("ML_NOT_HELD")
"""In place of the number of a hold, where a foot is free."""
_pose = kernel("ml_chain_pose")
_soles = kernel("ml_chain_soles")
_speeds = kernel("ml_chain_pace")
_offsets = kernel("ml_swing_offsets")
_clear = kernel("ml_swing_clear")
_lower = kernel("ml_reach_lower")
_follow = kernel("ml_reach_follow")
_keep = kernel("ml_label_keep")


class Foot(NamedTuple):
    """One foot of a blend."""

    side: int
    """0 left, 1 right."""
    held: IntArray
    """Number of the hold, or ``NOT_HELD``. (L,)"""
    heel: FloatArray
    """Where the blend has it, metres. (L, 3)"""
    ball: FloatArray
    """(L, 3)"""


def chain_pose(rig: Rig, root: FloatArray, quats: FloatArray) -> tuple[FloatArray, FloatArray]:
    """World positions (L, J, 3) and rotations (L, J, 4) of the legs' chains; 0 for other joints."""
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    n_frames, n_joints = quats.shape[:2]
    positions, world = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    chain = len(rig.chain), rig.chain
    _pose(n_frames, n_joints, rig.parents, rig.offsets, *chain, root, quats, positions, world)
    return positions, world


def sole_points(rig: Rig, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Left heel, left ball, right heel and right ball in the world, (L, 4, 3)."""
    points = np.zeros((len(positions), 4, 3))
    _soles(len(positions), positions.shape[1], rig.legs, rig.soles, positions, world, points)
    return points


def fastest_speeds(rig: Rig, root: FloatArray, quats: FloatArray, fps: float) -> FloatArray:
    """Largest joint speed, joint turn and ground speed, as ``verify`` measures them. (3,)."""
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    n_frames, n_joints = quats.shape[:2]
    fastest = np.zeros(3)
    scratch = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    _speeds(n_frames, n_joints, rig.parents, rig.offsets, root, quats, fps, *scratch, fastest)
    return fastest


def run_offsets(
    held: IntArray, places: FloatArray, foot: FloatArray, *, captured: bool = True
) -> FloatArray:
    """Shift of one foot's points in every frame, metres (L, 3).

    In frames held it takes the foot to its place. Between, it goes over from hold to hold with the
    slope that it has there, so that feet do not start at once; it is zero at both seams. A step
    from hold to hold is lifted off the ground where the blend would drag it.

    Parameters
    ----------
    held : (L,)
        Number of the plant, or ``NOT_HELD``.
    places : (L, 3)
        Where the foot is to be in frames held.
    foot : (L, 3)
        Where the blend has it.
    captured
        Whether it is made of captured windows, whose steps are lifted less than those of blends.
    """
    offsets = np.zeros((len(held), 3))
    _offsets(len(held), held, places, foot, captured, offsets)
    return offsets


def clear_ground(
    rows: Rows,
    at: IntArray,
    weights: FloatArray,
    foot: Foot,
    fps: float,
    offsets: FloatArray,
    *,
    captured: bool = True,
) -> FloatArray:
    """Lift a free foot that would be dragged along the ground; keep heel and ball above it.

    Blends of a standing foot and a swinging one go along at the height of neither, and blends of
    feet that point up and down stand with the heel in the ground.

    Parameters
    ----------
    rows, at, weights
        The windows (L, N), and how much of each is in every frame (N, L).
    foot
        Of the blend.
    fps
        Frames per second.
    offsets : (L, 3)
        From :func:`run_offsets`; changed in place: free feet are lifted.
    captured
        As in :func:`run_offsets`.

    Returns
    -------
    tilts : (L,)
        By how much the heel comes up about the ball, radians.
    """
    n_frames, n_ways = at.shape
    tilts = np.zeros(n_frames)
    _clear(
        rows.record, foot.side, n_frames, n_ways, at, weights, foot.held, foot.heel, foot.ball,
        fps, captured, np.zeros((4, n_frames)), offsets, tilts,
    )  # fmt: skip
    return tilts


def lower_root(rig: Rig, positions: FloatArray, held: IntArray, shifts: FloatArray) -> FloatArray:
    """How far the body comes down in every frame so that held feet are in reach, metres (L,).

    Parameters
    ----------
    rig
        Whose legs.
    positions : (L, J, 3)
        The blend's joints.
    held : (2, L)
        Below 0 where a foot is free.
    shifts : (2, L, 3)
        Of the ankles.
    """
    n_frames, n_joints = positions.shape[:2]
    drops = np.zeros(n_frames)
    _lower(n_frames, n_joints, rig.legs, positions, held, shifts, np.zeros(n_frames), drops)
    return drops


def follow_feet(
    rig: Rig,
    foot: Foot,
    shifts: FloatArray,
    tilts: FloatArray,
    drops: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    quats: FloatArray,
) -> float:
    """Local rotations of one leg whose foot is shifted; the farthest that a held ankle missed.

    Parameters
    ----------
    rig, foot
        Which leg, and when its foot is held.
    shifts, tilts : (L, 3), (L,)
        How far the foot is moved, and how far its heel comes up about the ball.
    drops : (L,)
        How far the body comes down.
    pose
        The blend's joints in the world: positions and rotations, before.
    quats : (L, J, 4)
        Local rotations, changed in place.
    """
    side, missed = foot.side, np.zeros(1)
    positions, world = pose
    leg = record(
        "ml_moved_leg",
        n_frames=len(quats),
        n_joints=quats.shape[1],
        parents=rig.parents,
        joints=rig.legs[side],
        sole=rig.soles[side],
        pole=rig.poles[side],
        held=foot.held,
        shifts=shifts,
        tilts=tilts,
        drops=drops,
        positions=positions,
        world=world,
    )
    _follow(leg, np.zeros(len(quats)), quats, missed)
    return float(missed[0])


def keep_true_labels(points: FloatArray, fps: float, planted: BoolArray) -> None:
    """Remove labels (L, P) of foot points (L, P, 3) in frames in which they move.

    Legs do not always reach where a foot should be held, a foot held by its ball turns about it,
    and clips move points that they label as planted.
    """
    _keep(len(planted), planted.shape[1], points, fps, planted)
