"""Measures of one clip: a value for every column that the clip alone decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.anatomy import (
    SIDES,
    ball_height,
    find_knees,
    foot_points,
    local_flexion,
    stature,
)
from motionloom.body.body_map import BodyMap
from motionloom.body.masses import mass_segments
from motionloom.datasets.frame_rate import (
    RateVerdict,
    judge_held,
    judge_rate,
    judge_swings,
    measure_swings,
)
from motionloom.errors import SkeletonMismatchError
from motionloom.features.checks.quality_check import verify
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.glitch_frames import body_joints, glitch_mask
from motionloom.features.quality import Quality, measure_quality
from motionloom.intake.airborne import find_floating
from motionloom.intake.clip_faults import STILL_M, TRAVELS_M
from motionloom.intake.floor import fit_floor, track_legs
from motionloom.motion.motion import KINDS, Footplants, Motion, runs_of

SLIDE_SHARE = 0.075
"""Planted feet may always move at this part of the body's speed: in captured runs they do."""
FARTHEST_SLIDE_M = 0.15
"""No plant may slide farther than this in its middle half, however slowly."""
UNSUPPORTED = 0.5
"""A clip that lacks support for more than this part of its frames floats."""
EVENT_S = 0.1
"""Glitches nearer to each other than this are one."""
MOST_NAMED = 3
"""Glitches that a text names, so that it stays a line."""
SHORTEST_PLANT = 4
"""Frames: a shorter plant has no middle half."""
JUDGED_FPS = 60.0
"""Noise is looked for between single frames and between frames of this rate."""
DIFFERENCE = (1.0, -4.0, 6.0, -4.0, 1.0)
"""Fourth difference: zero for any cubic, so that it leaves little of a motion."""
GAIN = float(np.sqrt(sum(weight**2 for weight in DIFFERENCE)))
"""By which it enlarges white noise."""
CALM_PART = 0.25
"""Jitter is there while a body is calm too: frames up to this quantile tell it."""
QUARTILE = 1.10
"""That quantile of the length of a normal deviate in three dimensions, of size one each."""
SHORTEST_CLIP = 24
"""Frames in which noise can be told from motion."""
IN_PLACE_M = 0.5
"""A pelvis that strays less than this over the ground stays in place."""
SMOOTH_S = 0.05
"""Time over which the speed of the standing foot is taken."""


class Figure(NamedTuple):
    """The value of one column, and what it means in words."""

    value: float | None
    limit: float
    where: str = ""
    text: str = ""
    is_note: bool = False
    """Whether it is reported but no fault."""


@dataclass(slots=True)
class Measures:
    """Figures of a clip by column, and what else is known of it."""

    figures: dict[str, Figure] = field(default_factory=dict)
    quality: Quality | None = None
    planted: float | None = None
    """Part of the frames in which a foot stands."""
    rate: RateVerdict = field(default_factory=lambda: RateVerdict(1.0, None, "", False))


class _Seen(NamedTuple):
    """A clip in the world."""

    motion: Motion
    body: BodyMap
    pose: tuple[FloatArray, FloatArray]
    limits: dict[str, float]

    @property
    def pelvis(self) -> FloatArray:
        """Of the body, the root without one. (F, 3)."""
        return self.pose[0][:, self.body.pelvis or 0]


def measure_clip(motion: Motion, body: BodyMap, limits: dict[str, float]) -> Measures:
    """Measure every column that the clip alone decides.

    Parameters
    ----------
    motion
        As it was loaded.
    body
        Roles of its joints.
    limits
        By column.
    """
    seen = _Seen(motion, body, motion.world_pose(), limits)
    out = Measures()
    verification = verify(motion, body=body)
    frames = _glitched(verification)
    reliable = ~glitch_mask(motion, frames)
    out.figures["glitches"] = _glitches(seen, verification, frames)
    out.figures["jitter"] = jitter = _jitter(seen)
    if jitter.value is not None and jitter.value > jitter.limit:
        reliable[:] = False  # noise accelerates a body as well
    out.figures["backward_knees"] = _knees(seen)
    try:
        footplants = detect_footplants(motion, body=body)
        points = foot_points(motion, body=body, pose=seen.pose)
        out.quality = measure_quality(motion, footplants, body=body)
    except SkeletonMismatchError:
        out.figures["frame_rate"], out.rate = _rate_without_feet(seen)
        return out
    out.planted = float(footplants.planted.any(axis=1).mean())
    out.figures["slide"] = _slide(seen, points, footplants)
    out.figures["penetration"] = _penetration(seen, out.quality)
    out.figures["still_root"] = _still_root(seen, points)
    out.figures |= _ground(seen, out.quality)
    out.rate = _rate(seen, points, footplants, reliable)
    out.figures["frame_rate"] = rate_figure(out.rate, limits["frame_rate"])
    return out


def rate_figure(rate: RateVerdict, limit: float) -> Figure:
    """The column of the frame rate."""
    value = max(rate.factor, 1.0 / rate.factor)
    return Figure(value, limit, "frame rate", rate.text)


def _glitched(verification: Verification) -> list[int]:
    single = [each.frame for each in verification.failed if each.check != "knee bent backwards"]
    return sorted({*(each.frame for each in verification.glitches), *single})


def _glitches(seen: _Seen, verification: Verification, frames: list[int]) -> Figure:
    """Places in time with a glitch."""
    apart = EVENT_S * seen.motion.fps
    n_events = bool(frames) + sum(b - a > apart for a, b in pairwise(frames))
    failed = [each for each in verification.failed if each.check != "knee bent backwards"]
    named = [f"{each.check} ({each.joint}, frame {each.frame})" for each in failed]
    if not named:
        named = [
            f"capture glitch ({each.joint}, frame {each.frame})" for each in verification.glitches
        ]
    text = ", ".join(named[:MOST_NAMED])
    if n_events > 1:
        text += f"; {n_events} places in all"
    where = f"frame {frames[0]}" if frames else ""
    return Figure(float(n_events), seen.limits["glitches"], where, text)


def _jitter(seen: _Seen) -> Figure:
    """Noise of the noisiest joint, millimetres; slow frames let motion look like noise."""
    motion, body = seen.motion, seen.body
    joints = [
        joint
        for joint in body_joints(motion.skeleton, body)
        if joint not in (body.left_toe, body.right_toe)
    ]
    limit = seen.limits["jitter"] * max(1.0, JUDGED_FPS / motion.fps)
    jitter = measure_jitter(seen.pose[0][:, joints], motion.fps)
    if jitter is None:
        return Figure(None, limit)
    name = motion.skeleton.names[joints[jitter.joint]]
    text = f"{name} trembles by {1000 * jitter.size:.1f} mm, up to {limit:.1f} pass"
    return Figure(1000.0 * jitter.size, limit, name, text)


def _knees(seen: _Seen) -> Figure:
    """Farthest backward bend, degrees."""
    limit = seen.limits["backward_knees"]
    needed = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    if any(getattr(seen.body, role) is None for role in needed):
        return Figure(None, limit)
    try:
        knees = find_knees(seen.motion.skeleton, seen.body, motion=seen.motion)
    except SkeletonMismatchError:
        return Figure(None, limit)
    bends = [np.degrees(local_flexion(seen.motion, knee)) for knee in knees]
    worst = int(np.argmin([bend.min() for bend in bends]))
    frame, name = int(np.argmin(bends[worst])), seen.motion.skeleton.names[knees[worst].knee]
    value = max(0.0, -float(bends[worst].min()))
    text = f"{name} bends backwards by {value:.1f} degrees, up to {limit:g} pass"
    return Figure(value, limit, f"frame {frame}", text)


def _slide(seen: _Seen, points: FloatArray, footplants: Footplants) -> Figure:
    """Speed of planted feet, cm/s."""
    motion, planted = seen.motion, footplants.planted
    way = np.hypot(*np.diff(seen.pelvis[:, [0, 2]], axis=0).T).sum()
    travel = float(way) / max(motion.duration_s, 1.0 / motion.fps)
    limit = max(seen.limits["slide"], 100.0 * SLIDE_SHARE * travel)
    slides = measure_slides(points, planted, motion.fps)
    if slides is None:
        return Figure(None, limit)
    speed, far = 100.0 * slides.speed, slides.farthest
    point = slides.kind.replace("_", " ")
    if far > FARTHEST_SLIDE_M and speed <= limit < float("inf"):
        speed = limit * far / FARTHEST_SLIDE_M  # as bad as it is far
        text = f"the {point} slides {100 * far:.0f} cm in one plant"
    else:
        digits = 1 if f"{speed:.0f}" == f"{limit:.0f}" else 0
        text = (
            f"planted feet move at {speed:.{digits}f} cm/s, up to {limit:.{digits}f} pass; the "
            "farthest slide is "
            f"{100 * far:.0f} cm ({point})"
        )
    return Figure(speed, limit, f"frame {slides.frame}", text)


def _penetration(seen: _Seen, quality: Quality) -> Figure:
    limit = seen.limits["penetration"]
    if quality.penetration is None:
        return Figure(None, limit)
    depth = 100.0 * quality.penetration
    text = f"feet are {depth:.1f} cm below the floor at worst; up to {limit:g} pass"
    return Figure(depth, limit, "floor", text)


def _still_root(seen: _Seen, points: FloatArray) -> Figure:
    """Travel that the root lacks, metres."""
    limit = seen.limits["still_root"]
    missing = missing_travel(points, seen.pelvis, seen.motion.fps)
    bone = still_bone_travel(seen.motion, seen.body)
    if missing <= limit and bone > TRAVELS_M:
        name = seen.motion.skeleton.names[0]
        text = f"the root bone {name} lies still while the body travels {bone:.1f} m"
        return Figure(bone, TRAVELS_M, name, text, is_note=True)
    text = f"the body stays in place while its feet walk {missing:.1f} m"
    return Figure(missing, limit, "root", text)


def _ground(seen: _Seen, quality: Quality) -> dict[str, Figure]:
    """Height of the floor, and time without support."""
    motion = seen.motion
    floor_limit, float_limit = seen.limits["floor_offset"], seen.limits["contacts"]
    tracks = track_legs(motion, seen.body)
    fitted = None if tracks is None else fit_floor(tracks)
    none = {"floor_offset": Figure(None, floor_limit), "contacts": Figure(None, float_limit)}
    if tracks is None or fitted is None:
        return none
    floor = fitted[0]
    middle = tracks.balls.mean(axis=(0, 1))
    rise = floor.slope_x * middle[0] + floor.slope_z * middle[2]
    offset = 100.0 * (floor.height + rise - ball_height(motion.skeleton, seen.body))
    side = "above" if offset > 0.0 else "below"
    text = f"the floor is {abs(offset):.1f} cm {side} y = 0, up to {floor_limit:g} pass"
    floats = max(find_floating(tracks, floor), key=lambda each: each.seconds, default=None)
    seconds, where, why = 0.0, "", ""
    if quality.unsupported is not None and quality.unsupported > UNSUPPORTED:
        seconds = quality.unsupported * motion.duration_s
        where, why = "feet", f"nothing carries the body for {seconds:.1f} s"
    if floats is not None and floats.seconds > seconds:
        seconds, where = floats.seconds, f"frames {floats.first} to {floats.last}"
        why = f"the body floats {100 * floats.low_m:.0f} to {100 * floats.high_m:.0f} cm above "
        why += f"the floor for {seconds:.1f} s"
    return {
        "floor_offset": Figure(abs(offset), floor_limit, "floor", text),
        "contacts": Figure(seconds, float_limit, where, why),
    }


def _rate(
    seen: _Seen, points: FloatArray, footplants: Footplants, reliable: BoolArray
) -> RateVerdict:
    """By flights, by what pulls the body, by held frames and by the steps of a walk."""
    motion, body = seen.motion, seen.body
    held = judge_held(seen.pose[0], motion.fps)
    if held is not None:
        return held
    tracks = track_legs(motion, body)
    fitted = None if tracks is None else fit_floor(tracks)
    heights = mass_segments(motion.skeleton.n_joints, body).centre(seen.pose[0])[:, 1]
    floor = None if fitted is None else fitted[0]
    verdict = judge_rate(motion, body, tracks, floor, heights, reliable)
    if verdict.factor != 1.0 or verdict.agrees:
        return verdict
    tall = stature(motion.skeleton, body)
    planted = footplants.planted
    swings = measure_swings(points, planted, motion.fps, tall)
    return judge_swings(swings, float(planted.any(axis=1).mean()), motion.fps) or verdict


def _rate_without_feet(seen: _Seen) -> tuple[Figure, RateVerdict]:
    held = judge_held(seen.pose[0], seen.motion.fps)
    rate = held or RateVerdict(1.0, None, "", False)
    return rate_figure(rate, seen.limits["frame_rate"]), rate


class Slides(NamedTuple):
    """How planted points move over the ground in the middle half of their plants."""

    speed: float
    """Median over the plants, m/s."""
    farthest: float
    """Longest way in one plant, metres."""
    frame: int
    kind: str
    """Where the farthest begins, and which point it is."""


def measure_slides(points: FloatArray, planted: BoolArray, fps: float) -> Slides | None:
    """Slides of heel and ball of both feet; None where no plant is long enough.

    Feet roll on and off the floor, and a noisy point moves in every frame without getting
    anywhere. So the way is taken from the end of a plant's first quarter to the begin of its last.

    Parameters
    ----------
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball in the world.
    planted : (F, 4)
        Contacts.
    fps
        Frames per second.

    Examples
    --------
    >>> points = np.zeros((40, 4, 3))
    >>> points[:, 1, 2] = 0.01 * np.arange(40)
    >>> planted = np.zeros((40, 4), dtype=bool)
    >>> planted[10:30, 1] = True
    >>> round(measure_slides(points, planted, 60.0).speed, 3)
    0.6
    """
    speeds, ways = [], []
    for kind in range(planted.shape[1]):
        for first, last in runs_of(planted[:, kind]):
            length = last - first + 1
            begin, end = first + length // 4, last - length // 4
            if length < SHORTEST_PLANT or end <= begin:
                continue
            step = points[end, kind] - points[begin, kind]
            way = float(np.hypot(step[0], step[2]))
            speeds.append(way * fps / (end - begin))
            ways.append((way, begin, kind))
    if not ways:
        return None
    way, frame, kind = max(ways, key=lambda each: (each[0], -each[1]))
    return Slides(float(np.median(speeds)), way, frame, KINDS[kind])


class Jitter(NamedTuple):
    """White noise of one joint, metres in each direction."""

    size: float
    joint: int
    """Column of the joint among those looked at."""


def measure_jitter(positions: FloatArray, fps: float) -> Jitter | None:
    """The noisiest joint of positions (F, N, 3) in the world; None for clips too short to tell.

    Fourth differences remove motion; what they leave in the calmest quarter of the frames is noise.

    Examples
    --------
    >>> t = np.arange(240)[:, None, None] / 60.0
    >>> smooth = np.sin(2.0 * t) * np.ones((1, 2, 3))
    >>> noise = np.random.Generator(np.random.PCG64(1)).standard_normal(smooth.shape)
    >>> round(1000 * measure_jitter(smooth + 0.003 * noise, 60.0).size)
    3
    """
    strides = sorted({1, max(1, round(fps / JUDGED_FPS))})
    best: Jitter | None = None
    for stride in strides:
        n = len(positions) - 4 * stride
        if n < SHORTEST_CLIP:
            continue
        left = np.zeros((n, *positions.shape[1:]))
        for shift, weight in enumerate(DIFFERENCE):
            left += weight * positions[shift * stride : shift * stride + n]
        sizes = np.sqrt(np.einsum("fjc,fjc->fj", left, left))
        at = int(CALM_PART * (n - 1))
        calm = np.partition(sizes, at, axis=0)[at] / (GAIN * QUARTILE)
        joint = int(np.argmax(calm))
        if best is None or calm[joint] > best.size:
            best = Jitter(float(calm[joint]), joint)
    return best


def still_bone_travel(motion: Motion, body: BodyMap) -> float:
    """Way of the pelvis over the ground, metres, where a root bone under it lies still; else 0."""
    moving = motion.joint_translations
    if not body.pelvis or moving is None:
        return 0.0
    if np.ptp(motion.root_positions[:, [0, 2]], axis=0).max() >= STILL_M:
        return 0.0
    chain = list(motion.skeleton.chain(body.pelvis)[1:])
    return float(np.ptp(moving[:, chain].sum(axis=1), axis=0).max())


def missing_travel(points: FloatArray, pelvis: FloatArray, fps: float) -> float:
    """Way over the ground that feet walk off under a body which stays in place, metres.

    The lower foot carries the body. Where it moves backwards all the time, as on a treadmill, the
    body should have travelled by as much.

    Parameters
    ----------
    points : (F, 4, 3)
        Heel and ball of both feet.
    pelvis : (F, 3)
        In the world.
    fps
        Frames per second.
    """
    span = max(1, round(SMOOTH_S * fps))
    if len(points) < 4 * span or np.ptp(pelvis[:, [0, 2]], axis=0).max() > IN_PLACE_M:
        return 0.0
    low = np.argmin(points[..., 1], axis=1)
    frames = np.arange(len(points) - span)
    carrier = low[:-span]
    same = carrier == low[span:]
    way = points[frames + span, carrier] - points[frames, carrier]
    steps = np.where(same[:, None], way[:, [0, 2]], 0.0) / span
    return float(np.hypot(*steps.sum(axis=0)))
