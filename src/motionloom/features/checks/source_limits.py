"""Measures: what the checks measure in every frame, what the sources reach, and what exceeds it.

Turns are measured as ``2 |q - p|`` of unit quaternions, the angle between them to a third of a
per cent for steps below 30 degrees: no inverse cosine. Sources and results are measured by the same
kernels. Every sole point is measured on its own: rigs draw heels and balls at different heights,
and a heel that lands is not a ball that drags. One call compares a motion with the limits of its
sources: it finds for every check and joint the worst frame. Public checks and transition tables use
the same kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import Block, BoolArray, FloatArray, IntArray
from motionloom._core import constant, integer, kernel
from motionloom._records import record
from motionloom.body.anatomy import FootOffsets, Knee, find_knees, foot_offsets
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import SkeletonMismatchError
from motionloom.features.glitches.glitch_frames import body_joints
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Copy

_measure = _core.kernel("ml_check_measure")
_record = _core.maker("ml_check_series")
_rig_record = _core.maker("ml_check_rig")
_limits_record = _core.maker("ml_check_limits")

Pose = tuple[FloatArray, FloatArray]
"""World positions and rotations of all joints."""


class _Measured(NamedTuple):
    turn: FloatArray
    """Rotation speed of judged joints in their parents (the pelvis: world), rad/s. (F, N)"""
    speed: FloatArray
    """Speed of judged joints relative to their parents, m/s. (F, N)"""
    bend: FloatArray
    """Size of the second difference of their world positions, m/s2. (F, N)"""
    kink: FloatArray
    """How far they are, seen from their parents, from the middle between where they are before and
    after, metres; 0 for the pelvis. (F, N)"""
    carried: FloatArray
    """Rotation speed of the joints above the pelvis in the world, rad/s. (F, A)"""
    head: FloatArray
    """Rotation speed of the head in the world, rad/s. (F,)"""
    heading: FloatArray
    """Heading of the body, radians, unwrapped. (F,)"""
    flexion: FloatArray
    """Signed flexion of both knees, radians. (F, 2)"""
    soles: FloatArray
    """Left heel, left ball, right heel, right ball in the world, metres. (F, 4, 3)"""
    lowest: FloatArray
    """Height of the lowest judged joint or sole point, metres. (F,)"""
    pelvis: FloatArray
    """Pelvis in the world, metres. (F, 3)"""
    mass: FloatArray
    """Mass point of trunk and legs, metres. (F, 3)"""


@record
class Series(_Measured):
    """Measured values. Row 0 of steps is 0; so are the first and last row of bends and kinks."""

    @cached_property
    def core(self) -> _core.Record:
        """The series as the core takes it."""
        (n_frames, n_checked), n_carriers = self.turn.shape, self.carried.shape[1]
        made: _core.Record = _record(
            n_frames=n_frames, n_checked=n_checked, n_carriers=n_carriers, **self._asdict()
        )
        return made

    def __reduce__(self) -> tuple[type[Series], tuple[FloatArray, ...]]:
        return Series, tuple(self)


def series_of(rig: CheckRig, motion: Motion, pose: Pose | None = None) -> Series:
    """What the checks measure of a motion; ``pose`` where it is known in the world."""
    positions, world = motion.world_pose() if pose is None else pose
    out = new_series(rig, motion.n_frames)
    measure_series(rig, motion.fps, positions, world, motion.local_quats, out)
    return out


def new_series(rig: CheckRig, n_frames: int, block: Block | None = None) -> Series:
    """Series of zeros; in a block that was not written to before, or in memory of its own."""
    per_joint = (n_frames, len(rig.checked))
    shapes = (
        *(per_joint,) * 4,
        (n_frames, len(rig.carriers)),
        (n_frames,),
        (n_frames,),
        (n_frames, 2),
        (n_frames, 4, 3),
        (n_frames,),
        (n_frames, 3),
        (n_frames, 3),
    )
    return Series(*(map(np.zeros, shapes) if block is None else block.zeros(*shapes)))


def measure_series(
    rig: CheckRig,
    fps: float,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
    out: Series,
) -> None:
    """Fill ``out`` from world positions (F, J, 3), world and local rotations (F, J, 4)."""
    positions, world, quats = (
        np.ascontiguousarray(each, dtype=np.float64) for each in (positions, world, quats)
    )
    work = np.zeros((len(rig.parents), 6))
    _measure(rig.core, fps, positions, world, quats, work, out.core)


# --- CheckRig: what the checks need to know of a skeleton, in plain arrays for the core

ABSENT = -1
QUICK_M_S, QUICK = 1.2, np.radians(320.0)
"""A joint may always be this fast relative to its parent, m/s, unless its bone then turns faster
than the second, rad/s: a forearm of 18 cm would turn at 380 degrees per second."""
SHORT_M = 0.05
"""Shorter bones count as this long, metres."""


class _Rig(NamedTuple):
    parents: IntArray
    """(J,)"""
    checked: IntArray
    """The pelvis, then every joint below it that has a role or lies between such joints. (N,)"""
    carriers: IntArray
    """Joints above the pelvis: root bones. (A,)"""
    head: int
    """``ABSENT`` where the body has none."""
    across: IntArray
    """Left and right joints whose line tells the heading: hips, shoulders. (P, 2)"""
    legs: IntArray
    """Hip, knee and ankle of both legs; no rows where the body has no legs. (0 or 2, 3)"""
    hinges: FloatArray
    """Axis of each knee in its hip joint's frame. (0 or 2, 3)"""
    soles: FloatArray
    """Heel and ball of each foot in its ankle's frame, metres. (0 or 2, 2, 3)"""
    quick: FloatArray
    """Speed relative to its parent that each checked joint may always have, m/s. (N,)"""


@record
class CheckRig(_Rig):
    """Joints that are checked, legs, feet and head of a body."""

    @cached_property
    def core(self) -> _core.Record:
        """The rig as the core takes it."""
        arrays = self._asdict()
        del arrays["quick"]
        made: _core.Record = _rig_record(
            n_joints=len(self.parents),
            n_checked=len(self.checked),
            n_carriers=len(self.carriers),
            n_across=len(self.across),
            n_legs=len(self.legs),
            **arrays,
        )
        return made

    def __reduce__(self) -> tuple[type[CheckRig], tuple[Any, ...]]:
        return CheckRig, tuple(self)


def check_rig(motion: Motion, *, body: BodyMap | None = None) -> CheckRig:
    """The rig of a motion's body; a body without legs is judged by its joints alone."""
    skeleton = motion.skeleton
    body = roles_for(skeleton, body, motion=motion)
    try:
        feet = foot_offsets(skeleton, body, motion=motion)
        knees = find_knees(skeleton, body, motion=motion)
    except SkeletonMismatchError:
        return rig_of_body(skeleton, body, None, None)
    return rig_of_body(skeleton, body, knees, feet)


def rig_of_body(
    skeleton: Skeleton,
    body: BodyMap,
    knees: tuple[Knee, Knee] | None,
    feet: tuple[FootOffsets, FootOffsets] | None,
) -> CheckRig:
    """As :func:`check_rig`, from parts that are known already."""
    pelvis = 0 if body.pelvis is None else body.pelvis
    chain = skeleton.chain(pelvis)
    pairs = [(body.left_hip, body.right_hip), (body.left_shoulder, body.right_shoulder)]
    across = [pair for pair in pairs if pair[0] is not None and pair[1] is not None]
    legs, hinges, soles = np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros((0, 2, 3))
    if knees is not None and feet is not None:
        legs = np.array([[k.hip, k.knee, k.ankle] for k in knees], dtype=np.int64)
        hinges = np.array([k.axis for k in knees])
        soles = np.array([[foot.heel, foot.ball] for foot in feet])
    checked = np.array([pelvis, *_checked_joints(skeleton, body, pelvis)], dtype=np.int64)
    bones = np.maximum(np.linalg.norm(skeleton.offsets[checked], axis=-1), SHORT_M)
    return CheckRig(
        np.array(skeleton.parents, dtype=np.int64),
        checked,
        np.array([joint for joint in chain if joint != pelvis], dtype=np.int64),
        ABSENT if body.head is None else int(body.head),
        np.array(across, dtype=np.int64).reshape(-1, 2),
        legs,
        hinges,
        soles,
        np.minimum(QUICK_M_S, QUICK * bones),
    )


def _checked_joints(skeleton: Skeleton, body: BodyMap, pelvis: int) -> list[int]:
    """Joints below the pelvis with a role and those between; every joint where none has a role.

    Fingers, twist bones at the ends and props are left out: captures invent them.
    """
    below = set(skeleton.carried_by([pelvis]).tolist()) - {pelvis}
    return [joint for joint in body_joints(skeleton, body) if joint in below]


# --- Limits: how fast, how low and how far the sources of a result go, joint by joint

N_SPANS = integer("ML_CHECK_SPANS")
"""Slides are compared over equally long contacts: of a fifteenth of a second, twice, four times
..., and any."""
N_HEIGHTS = integer("ML_CHECK_HEIGHTS")
"""Drags are compared 1, 2 and 3 cm over the floor."""

_measure_limits = _core.kernel("ml_limits_measure")

EDGE_S, LONG_S = 0.06, 1.0
"""The first and last 0.06 s of a clip longer than 1 s set no limits."""


class _Largest(NamedTuple):
    turn: FloatArray
    """Rotation speed of judged joints, rad/s. (N,)"""
    speed: FloatArray
    """Relative to their parents, m/s. (N,)"""
    bend: FloatArray
    """Second difference of world positions, m/s2. (N,)"""
    carried: FloatArray
    """Rotation speed of joints above the pelvis, rad/s. (A,)"""
    least_flexion: FloatArray
    """Of both knees, radians. (2,)"""
    most_flexion: FloatArray
    """(2,)"""
    sole: FloatArray
    """Lowest heel and ball of each foot, metres. (4,)"""
    floor: FloatArray
    """Height below which each is on the floor, in the source with the lowest floor, metres. (4,)"""
    highest: FloatArray
    """Height at which each stands, in the source with the highest floor, metres. (4,)"""
    slide: FloatArray
    """Farthest that heels, balls and pads of heels get within a contact, by the contact's length;
    see ``contact_slides``, metres. (4 * N_SPANS,)"""
    drag: FloatArray
    """Farthest that heels, balls and pads of heels are dragged along the floor, by the height over
    it; see ``drag_lengths``, metres. (4 * N_HEIGHTS,)"""
    body: FloatArray
    """See ``BODY``. (4,)"""
    quick: FloatArray
    """Speed relative to its parent that each judged joint may always have, m/s. (N,)"""


@record
class Limits(_Largest):
    """Largest values of the sources, captured glitches excluded."""

    @cached_property
    def core(self) -> _core.Record:
        """The limits as the core takes them."""
        made: _core.Record = _limits_record(
            n_checked=len(self.turn), n_carriers=len(self.carried), **self._asdict()
        )
        return made

    def __reduce__(self) -> tuple[type[Limits], tuple[FloatArray, ...]]:
        return Limits, tuple(self)


BODY = ("head", "travel", "brake", "hover")
"""95th percentile of the head's rotation speed, rad/s; ground speed of the pelvis, m/s;
deceleration, m/s2; farthest off free fall where nothing supports the body, metres."""
HEAD, TRAVEL, BRAKE, HOVER = range(len(BODY))
LOWS = frozenset({"least_flexion", "sole", "floor"})
"""Fields of which the lower value is the wider limit."""


def no_limits(rig: CheckRig) -> Limits:
    """Limits of no source: nothing moves, soles may be anywhere."""
    n = len(rig.checked)
    return Limits(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(len(rig.carriers)),
        np.full(2, np.inf), np.full(2, -np.inf), np.full(4, np.inf), np.full(4, np.inf),
        np.full(4, -np.inf), np.zeros(4 * N_SPANS), np.zeros(4 * N_HEIGHTS), np.zeros(len(BODY)),
        rig.quick,
    )  # fmt: skip


def merged(limits: Sequence[Limits]) -> Limits:
    """Limits of several sources together."""
    if len(limits) == 1:
        return limits[0]
    out = {}
    for name in Limits._fields:
        values = np.stack([getattr(each, name) for each in limits])
        out[name] = values.min(axis=0) if name in LOWS else values.max(axis=0)
    return Limits(**out)


def measure_limits(
    rig: CheckRig, series: Series, planted: BoolArray, fps: float, glitched: BoolArray
) -> Limits:
    """Limits of one clip.

    Parameters
    ----------
    rig, series
        The body, and what was measured of the clip.
    planted : (F, 4)
        Its contacts.
    fps
        Frames per second.
    glitched : (F,)
        Frames to leave out: capture glitches and their neighbours.
    """
    good = ~glitched
    edge = round(EDGE_S * fps)
    if len(good) > LONG_S * fps:  # takes often begin and end in the middle of a correction
        good[:edge] = good[len(good) - edge :] = False
    if not good.any():
        good = np.ones_like(good)

    n, has_legs = len(rig.checked), len(rig.legs) > 0
    turn, speed, bend, carried = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(len(rig.carriers))
    flexion, slide, drag = np.zeros((2, 2)), np.zeros(4 * N_SPANS), np.zeros(4 * N_HEIGHTS)
    sole, floor, highest, body = (np.zeros(4) for _ in range(4))
    _measure_limits(
        series.core, fps, np.ascontiguousarray(planted, dtype=np.bool_), good,
        np.zeros((len(good), 4)), turn, speed, bend, carried, flexion, sole, floor, highest,
        slide, drag, body,
    )  # fmt: skip
    return Limits(
        turn,
        speed,
        bend,
        carried,
        flexion[0] if has_legs else np.full(2, np.inf),
        flexion[1] if has_legs else np.full(2, -np.inf),
        sole if has_legs else np.full(4, np.inf),
        floor,
        highest,
        slide,
        drag,
        body,
        rig.quick,
    )


def limits_without_sources(rig: CheckRig) -> Limits:
    """Limits that no real body exceeds: nothing is known of how fast this one moves."""
    n = len(rig.checked)
    free = no_limits(rig)
    body = np.full_like(free.body, np.inf)
    return free._replace(
        turn=np.full(n, np.inf),
        speed=np.full(n, np.inf),
        bend=np.full(n, np.inf),
        carried=np.full(len(rig.carriers), np.inf),
        sole=np.full(4, -np.inf),
        floor=np.full(4, -np.inf),
        highest=np.full(4, np.inf),
        body=body,
    )


# --- Soles: floors, slides, drags and hovering of heels and balls

_slides = kernel("ml_sole_slides")
_drag_lengths = kernel("ml_sole_drags")
_hover = kernel("ml_sole_hover")
_floors = kernel("ml_sole_floors")

DRAG_SPEED = constant("ML_CHECK_DRAG_SPEED")
"""A sole point on the floor and faster than this is dragged, m/s."""
STANDS, LANDS = constant("ML_CHECK_STANDS"), constant("ML_CHECK_LANDS")
"""Parts of the planted heights of a point below which it stands, and below which it is on the
floor whatever it does: toes that push off go deeper than feet stand."""


def floor_heights(
    soles: FloatArray, lowest: FloatArray, planted: BoolArray, part: float = STANDS
) -> FloatArray:
    """Height at which each sole point stands, metres (4,); the lowest of all where it does not.

    Parameters
    ----------
    soles : (F, 4, 3)
        Sole points in the world.
    lowest : (F,)
        Height of the lowest point of the body.
    planted : (F, 4)
        Contacts.
    part
        Part of a point's planted heights that is lower.
    """
    out = np.zeros(4)
    soles, lowest = (np.ascontiguousarray(each, dtype=np.float64) for each in (soles, lowest))
    planted = np.ascontiguousarray(planted, dtype=np.bool_)
    _floors(len(soles), soles, lowest, planted, part, np.zeros(len(soles)), out)
    return out


def contact_slides(soles: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """Farthest that points (F, 4, 3) get over the ground within a contact, metres (4 * S,).

    Of heels, balls and the pads of heels, then zeros; entry ``s`` of each is measured over parts of
    contacts as long as span ``s``. The pad of a heel, a fifth of the way to the ball, is where it
    carries the body. Both feet have that of the farther: a short clip shows few steps, and people
    walk with both feet alike.
    """
    n, out = len(soles), np.zeros(4 * N_SPANS)
    soles = np.ascontiguousarray(soles, dtype=np.float64)
    planted = np.ascontiguousarray(planted, dtype=np.bool_)
    _slides(n, soles, planted, fps, np.zeros((n, 4)), out)
    return out


def drag_lengths(soles: FloatArray, floor: FloatArray, fps: float) -> FloatArray:
    """Longest way along the floor of heels, balls, pads of heels, and zeros, metres (4 * H,).

    Of each 1, 2 and 3 cm over the floor: a foot that swings by at 2 cm does not license one that
    wipes the floor.
    """
    out = np.zeros(4 * N_HEIGHTS)
    soles = np.ascontiguousarray(soles, dtype=np.float64)
    _drag_lengths(len(soles), soles, np.ascontiguousarray(floor, dtype=np.float64), fps, out)
    return out


def free_fall_gap(
    soles: FloatArray,
    lowest: FloatArray,
    mass: FloatArray,
    floor: FloatArray,
    fps: float,
    out: npt.NDArray[np.float32] | None = None,
) -> float:
    """How far a body that nothing supports leaves the path of free fall at most, metres.

    ``out`` (F,) is filled with the gap of the run of frames that each frame is in, else 0.
    """
    soles, lowest, mass, floor = (
        np.ascontiguousarray(each, dtype=np.float64) for each in (soles, lowest, mass, floor)
    )
    return float(_hover(len(soles), soles, lowest, mass, floor, fps, out))


# --- Comparison of measured series with the limits of the sources

_judge = _core.kernel("ml_check_judge")

TURN_MORE, TURN_FREE = constant("ML_CHECK_TURN_MORE"), constant("ML_CHECK_TURN_FREE")
SPEED_MORE = constant("ML_CHECK_SPEED_MORE")
BEND_MORE, BEND_FREE = constant("ML_CHECK_BEND_MORE"), constant("ML_CHECK_BEND_FREE")
"""A joint may exceed its own maximum in the sources by the first, and always reach the second
(rad/s, m/s2; for speeds see ``CheckRig.quick``)."""
WARP = constant("ML_CHECK_WARP")
"""Part of gravity by which a flight may be slower or faster (15 % in time)."""
SINK = constant("ML_CHECK_SINK")
"""Metres by which soles may be lower than in the sources."""


class CheckedMotion(NamedTuple):
    """A motion, and which of its frames are checked."""

    series: Series
    planted: BoolArray
    """Contacts of the motion. (F, 4)"""
    fps: float
    first: int
    last: int
    """Frames that are checked; the others show what goes before and after."""
    skipped: BoolArray
    """Frames with capture glitches of the sources, which results may repeat. (F,)"""
    plan: FloatArray = np.zeros(0)
    """Headings that the body should have, radians. (F,) or (0,)"""
    held: bool = True
    """Whether feet were held already: soles, contacts and drags are checked."""
    judged: BoolArray | None = None
    """Frames that are judged; all by default. (F,)"""


def judge(
    checked: CheckedMotion,
    limits: Limits,
    allowed: FloatArray,
    grounds: FloatArray,
    failures: FloatArray,
    floors: FloatArray | None = None,
    gaps: FloatArray | None = None,
) -> int:
    """Fill ``failures`` with failed checks; their number.

    Parameters
    ----------
    checked
        The motion.
    limits
        Of its sources.
    allowed : (F, N, 3) or (0, N, 3)
        Rotation speed, speed and second difference that a source has in the very frame that was
        copied from it: these are its own, whatever they are.
    grounds : (F, 6, 5) or (0, 6, 5)
        Where frames were copied: lowest height of each sole point, how far the contact that
        starts there may slide, and how far the point may be dragged at each height, metres.
    failures : (M, 5)
        Check, joint (as an index into the checked ones, or -1), frame, value, limit.
    floors : (F, 2, 4)
        Heights below which sole points are on the floor, and at which they stand, in each frame,
        where these are not those of the limits.
    gaps : (F,)
        How far what each frame is made of is off free fall where nothing supports it, metres, where
        this is not that of the limits.
    """
    n_found = np.zeros(1, dtype=np.int64)
    skipped = np.ascontiguousarray(checked.skipped, dtype=np.bool_)
    _judge(
        checked.series.core, limits.core,
        np.ascontiguousarray(checked.planted, dtype=np.bool_), checked.fps, checked.first,
        checked.last, skipped, checked.judged, _given(checked.plan), int(checked.held),
        _given(allowed), _given(grounds), None if floors is None else _given(floors), gaps, WARP,
        np.zeros(len(skipped) + 6 * len(limits.turn)), len(failures), failures, n_found,
    )  # fmt: skip
    return int(n_found[0])


def _given(values: FloatArray) -> FloatArray | None:
    """None for arrays without rows."""
    return np.ascontiguousarray(values, dtype=np.float64) if len(values) else None


def with_slack(limits: Limits, slack: float) -> Limits:
    """Limits of joints ``slack`` times as wide, the speeds that are always allowed included."""
    return limits._replace(
        turn=np.maximum(slack * limits.turn, slack * TURN_FREE / TURN_MORE),
        speed=slack * limits.speed,
        bend=np.maximum(slack * limits.bend, slack * BEND_FREE / BEND_MORE),
        quick=slack * limits.quick,
    )


# --- Frames that show a frame of a source: there the source sets its own limits

_joints = kernel("ml_copied_joints")
_grounds = kernel("ml_copied_grounds")
_copied_drags = kernel("ml_copied_drags")

COPIED_MORE = 1.15
"""A joint may be this many times as fast, and a contact slide this many times as far, as in the
frames that were copied."""
DRAGGED_MORE = 1.2
"""A sole point may be dragged this many times as far as near the very frames that were copied."""
FLOOR_FALL = constant("ML_FLOOR_FALL")
"""Metres that floors are below the higher one of two clips between them."""
NEAR_S = 0.1
"""A sole point may be as low as it is in the source at most this much earlier or later, seconds."""


def copied_joints(
    series: Sequence[Series],
    shown: Sequence[Copy],
    n_frames: int,
    n_joints: int,
    block: Block | None = None,
) -> FloatArray:
    """Rotation speed, speed and second difference that each joint may have. (F or 0, N, 3).

    Parameters
    ----------
    series
        Of each source.
    shown
        Frames of the result that show a frame of a source.
    n_frames, n_joints
        Of the result.
    block
        Where memory is taken from.
    """
    if not shown:
        return np.zeros((0, n_joints, 3))
    shape = (n_frames, n_joints, 3)
    allowed = np.zeros(shape) if block is None else block.zeros(shape)[0]
    for part in shown:
        own = series[part.source]
        n = min(part.last - part.first + 1, len(own.turn) - part.start)
        _joints(
            *own.turn.shape, own.turn, own.speed, own.bend, n_frames,
            part.first, part.start, n, COPIED_MORE, allowed,
        )  # fmt: skip
    return allowed


def no_grounds() -> FloatArray:
    """What feet may do where nothing was copied. (0, 6, 5)."""
    return np.zeros((0, 6, 2 + N_HEIGHTS))


def mixed_floors(limits: Sequence[Limits], weights: FloatArray) -> FloatArray:
    """Heights below which sole points are on the floor, and at which they stand. (F, 2, 4).

    ``weights`` (F, K) are the shares of the sources in each frame. Feet stand at most
    ``FLOOR_FALL`` below the highest floor that plays: a foot may stand on it to the end.
    """
    own = np.stack([(each.floor, each.highest) for each in limits])  # (K, 2, 4)
    floors = np.einsum("fk,ksp->fsp", weights, own)
    used = np.where((weights > 0.0)[..., None], own[None, :, 1], -np.inf)
    floors[:, 1] = np.maximum(floors[:, 1], used.max(axis=1) - FLOOR_FALL)
    return np.asarray(floors)


def copied_grounds(
    series: Sequence[Series],
    shown: Sequence[Copy],
    planted: BoolArray,
    limits: Sequence[Limits],
    fps: float,
) -> FloatArray:
    """How low each sole point may be while planted, and how far it may slide and be dragged.

    A contact that is wholly copied is compared with the same frames of the source, not with the
    worst of the whole clip, and so is a foot that is dragged in frames that are not judged. Other
    frames have no limits here: minus infinity and infinity. Of the four sole points, then of the
    pads of both heels. Shape (F, 6, 5), or (0, 6, 5) where nothing was copied.

    Parameters
    ----------
    series, shown
        As in :func:`copied_joints`.
    planted : (F, 4)
        Contacts of the result.
    limits
        Of each source: its points are on the floor below the height that they have there.
    fps
        Frames per second.
    """
    if not shown:
        return no_grounds()
    grounds = np.full((len(planted), 6, 2 + N_HEIGHTS), np.inf)
    grounds[..., 0] = -np.inf
    near = max(1, round(NEAR_S * fps))
    planted = np.ascontiguousarray(planted)
    for part in shown:
        soles, floor = series[part.source].soles, limits[part.source].floor
        n = min(part.last - part.first + 1, len(soles) - part.start)
        _grounds(
            len(soles), soles, len(planted), planted, part.first, part.start, n,
            near, SINK, COPIED_MORE, grounds,
        )  # fmt: skip
        _copied_drags(
            len(soles), soles, floor, fps, len(planted), part.first, part.start, n, near,
            DRAGGED_MORE, grounds,
        )  # fmt: skip
    return grounds


class CheckedSources(NamedTuple):
    """The sources of a checked motion, and where they play in it."""

    series: Sequence[Series]
    limits: Sequence[Limits]
    """Of each."""
    shown: Sequence[Copy]
    """Frames of the motion that show a frame of a source."""
    weights: FloatArray | None
    """Share of every source in every frame, where it is known. (F, K)"""


def judge_with(
    sources: CheckedSources,
    checked: CheckedMotion,
    limits: Limits,
    allowed: FloatArray,
    most: int,
    gaps: FloatArray | None,
) -> FloatArray:
    """At most ``most`` failures, as :func:`judge` finds them with what the sources do there."""
    series, each, shown, weights = sources
    grounds = copied_grounds(series, shown, checked.planted, each, checked.fps)
    floors = None if weights is None else mixed_floors(each, weights)
    rows = np.zeros((most, 5))
    return rows[: judge(checked, limits, allowed, grounds, rows, floors, gaps)]
