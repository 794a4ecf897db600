"""Passage: captured windows averaged, bent to meet both ends of a gap, with knees within limits.

Windows that are bent to meet a gap's ends keep what they lack there for most of the gap. Where an
end is in the air, or has its legs drawn up, the body would hover over the floor that the windows
stand on: it is landed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import constant
from motionloom.body.anatomy import MOST_FLEXION
from motionloom.features.balance import GRAVITY
from motionloom.rotation import quat
from motionloom.rotation.quat import smoothstep
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.contexts import Line, Moments, moments_at, turned
from motionloom.tables.synthesis.gap_windows import OuterPose, rows_in_time
from motionloom.tables.synthesis.synthesis import Rig, chain_pose, sole_points

EASE_S = constant("ML_PASSAGE_EASE_S")
"""Of 20, 30, 40, 50 and 60 frames, 50 gave the smallest error on the tuning takes
(``./bench transitions``)."""
SHORTEST_S = constant("ML_PASSAGE_SHORTEST_S")
SWING = constant("ML_PASSAGE_SWING")
"""A foot that leaves a stance fast would otherwise swing up to the hip. Of 4 to 30 degrees, 6 to 8
gave the smallest errors on subjects 16, 69 and 143."""
SLOW_S = constant("ML_PASSAGE_SLOW_S")
QUICK_S = constant("ML_PASSAGE_QUICK_S")
FADE_S = 15 / 60
"""What the steps at the ends have more or less fades within this long. In less, joints speed up
more abruptly after the start; in 20 frames, heels of feet that stand at an end slide 5 cm."""
CLEAR = 0.03
"""Soles may be this much higher than the windows', metres: an average of feet in different phases
is."""
WIDE_S, EDGE_S = 0.1, 0.15
"""The body comes down within about the first; at the gap's start and end it is where it was
captured, from the second on it may be lower, seconds."""
STRAIGHT, FOLDED = np.radians(8.0), np.radians(145.0)
"""Flexion between these stays as it is. Below, it eases into full stretch, above into
:data:`MOST_FLEXION`."""
BACKWARDS = constant("ML_KNEE_FOLDED")
"""Below this a knee is folded past half a turn."""
SEAM = 6
"""Frames from each end of a passage in which a knee that is beyond its limits there comes back."""
TOO_FAR = np.radians(165.0)
"""Where a knee is folded further, the ankle passes the hip and its direction says nothing: that of
a knee at this angle stays."""


class Passage(NamedTuple):
    """A body's way through a gap, both ends counted."""

    heading: FloatArray
    """Radians. (L,)"""
    root_positions: FloatArray
    """Metres. (L, 3)"""
    local_quats: FloatArray
    """(L, J, 4)"""


class Ends(NamedTuple):
    """Where a passage starts and ends."""

    length: int
    """Frames from one to the other, both counted."""
    line: Line
    """The straight way between them: one."""
    start: Moments
    """Posture and velocities at the start: one."""
    end: Moments


def mean_window(
    frames: Frames,
    rows: IntArray,
    weights: FloatArray,
    ends: Ends,
    *,
    lengths: IntArray | None = None,
    keeps_fast: bool = True,
) -> Passage:
    """The passage from a gap's start to its end that moves as windows do on the average.

    What windows do relative to their straight paths is averaged, put upon the gap's straight path,
    and bent by a cubic that has the gap's postures and velocities at both ends. Only the slow
    part is averaged: the fast part is copied from the window with the largest weight, because an
    average of fast movements blurs them. One window alone that fits comes out as it was captured.

    Parameters
    ----------
    frames
        The collection.
    rows, weights
        First rows of the windows (K,), and how much each counts (K,), summing to one.
    ends
        Of the gap.
    lengths
        Frames of each window (K,), which are played in the gap's time; by default the gap's.
    keeps_fast
        Copy the fast part from the window with the largest weight; otherwise it is averaged, too,
        which is smoother and slower than any window.
    """
    length, line, start, end = ends
    t = np.arange(length, dtype=np.float64)
    lengths = np.full(len(rows), length) if lengths is None else lengths
    last = rows + lengths - 1
    rates: FloatArray = np.asarray((lengths - 1) / (length - 1), dtype=np.float64)
    timed = rows_in_time(rows, lengths, length)
    lines = Line.of_rows(frames, rows, last)
    in_time = lines._replace(turn=lines.turn * rates, step=lines.step * rates[:, None])
    turns, steps = in_time.seen(_values(frames.heading, timed), _values(frames.ground, timed), t)
    at_end: FloatArray = np.asarray(lengths - 1, dtype=np.float64)[:, None]
    sides = [
        (start, _faster(moments_at(frames, rows, lines, 0.0, "start"), rates)),
        (end, _faster(moments_at(frames, last, lines, at_end, "end"), rates)),
    ]
    ease = _Ease(length, frames.fps)

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("k,k...->...", weights, values))

    def averaged(values: FloatArray) -> FloatArray:
        return _with_fast_part(values, weights, frames.fps) if keeps_fast else mean(values)

    def bent(name: str, values: FloatArray) -> FloatArray:
        """Mean of series that are 0 at both ends, with the velocities asked for there."""
        lacks = [getattr(asked, name)[0] - mean(getattr(own, name)) for asked, own in sides]
        none = np.zeros_like(lacks[0])
        return np.asarray(averaged(values) + ease.bend(none, none, lacks[0], lacks[1]))

    turn, step = bent("turn", turns), bent("step", steps)
    line_heading, line_ground = line.at(t)
    height = averaged(_values(frames.body[:, 0, 1], timed))
    given = ((0, start), (-1, end))
    lifted = [np.asarray(asked.height[0] - height[k]) for k, asked in given]
    climbs = [asked.climb[0] - mean(own.climb) for asked, own in sides]
    root = np.zeros((length, 3))
    root[:, [0, 2]] = line_ground[0] + turned(step, line_heading[0])
    root[:, 1] = height + ease.bend(lifted[0], lifted[1], climbs[0], climbs[1])
    heading = line_heading[0] + turn
    rotations = _values(frames.quats, timed)
    quats = _mean_rotations(rotations, weights)
    if keeps_fast:
        quats = _with_fast_rotations(rotations, quats, weights, frames.fps)
    turns_off = [
        quat.log(quat.multiply(quat.conjugate(quats[k]), asked.quats[0])) for k, asked in given
    ]
    spins = [asked.spin[0] - mean(own.spin) for asked, own in sides]
    spun = ease.bend(turns_off[0], turns_off[1], spins[0], spins[1], SWING)
    quats = quat.multiply(quats, quat.exp(spun))
    upright = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), heading)
    quats[:, 0] = quat.multiply(upright, quats[:, 0])
    return Passage(heading, root, quat.make_continuous(quats))


def _slow(values: FloatArray, fps: float) -> FloatArray:
    """The slow part of series (L, ...); both ends keep their value and their step.

    Beyond its ends the series continues point-reflected.
    """
    half = min(int(SLOW_S * fps), len(values) - 1)
    before = 2.0 * values[0] - values[half:0:-1]
    after = 2.0 * values[-1] - values[-2 : -half - 2 : -1]
    wide = np.concatenate([before, values, after])
    parts = np.square(1.0 - np.square(np.arange(-half, half + 1) / (half + 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, 2 * half + 1, axis=0)
    slow = np.einsum("t...u,u->t...", windows, parts / parts.sum())
    at = np.arange(len(values), dtype=np.float64)
    quick = max(min(QUICK_S * fps, len(values) - 1.0), 2.0)
    slope = at * np.clip(1.0 - at / quick, 0.0, None) ** 2 / (1.0 - 1.0 / quick) ** 2
    fast = values - slow
    slow = slow + np.multiply.outer(slope, fast[1] - fast[0])
    return np.asarray(slow - np.multiply.outer(slope[::-1], fast[-1] - fast[-2]))


class _Ease:
    """Curves that take values and velocities over from the ends."""

    def __init__(self, length: int, fps: float) -> None:
        self.t = np.arange(length, dtype=np.float64)
        self.frames = length - 1
        self.longest = min(EASE_S * fps, length - 1.0)
        self.shortest = min(SHORTEST_S * fps, length - 1.0)

    def bend(
        self,
        a: FloatArray,
        b: FloatArray,
        at_a: FloatArray,
        at_b: FloatArray,
        most: float = np.inf,
    ) -> FloatArray:
        """From value ``a`` (...) with velocity ``at_a`` to ``b`` with ``at_b``, (L, ...).

        Velocities of vectors (..., 3) add at most about ``most``.
        """
        along = (b - a) / self.frames
        u = self.t / self.frames
        return np.asarray(
            np.multiply.outer(1.0 - u, a)
            + np.multiply.outer(u, b)
            + self._slope(at_a - along, most)
            - self._slope(at_b - along, most)[::-1]
        )

    def _slope(self, velocity: FloatArray, most: float) -> FloatArray:
        """Values that start at 0 with a velocity (...), per frame, and come back to 0. (L, ...)."""
        time: float | FloatArray = self.longest
        if np.isfinite(most):
            # The curve t (1 - t / T)^2 is highest at a third of T: 4 / 27 of it.
            size = np.maximum(np.linalg.norm(velocity, axis=-1, keepdims=True), 1e-9)
            time = np.clip(6.75 * most / size, self.shortest, self.longest)
        t = self.t.reshape(-1, *[1] * velocity.ndim)
        return np.asarray(velocity * t * np.clip(1.0 - t / time, 0.0, None) ** 2)


def _faster(moments: Moments, rates: FloatArray) -> Moments:
    """Moments (K,) of windows that are played at other rates."""
    return moments._replace(
        turn=moments.turn * rates,
        step=moments.step * rates[:, None],
        climb=moments.climb * rates,
        spin=moments.spin * rates[:, None, None],
    )


def _values(
    values: FloatArray | FloatArray32, timed: tuple[IntArray, IntArray, FloatArray]
) -> FloatArray:
    """Values of rows at every frame of a gap, (K, L, ...)."""
    before, after, share = timed
    low = np.asarray(values[before], dtype=np.float64)
    if not share.any():
        return low
    share = share.reshape(*share.shape, *[1] * (low.ndim - 2))
    return np.asarray(low + share * (values[after] - low))


def _with_fast_part(values: FloatArray, weights: FloatArray, fps: float) -> FloatArray:
    """Mean (L, ...) of series (K, L, ...) with the fast part of the weightiest window."""
    own = values[np.argmax(weights)]
    return np.asarray(own + _slow(np.einsum("k,k...->...", weights, values) - own, fps))


def _with_fast_rotations(
    quats: FloatArray, mean: FloatArray, weights: FloatArray, fps: float
) -> FloatArray:
    """Mean rotations (L, J, 4) of (K, L, J, 4) with the fast part of the weightiest window."""
    own = quat.normalize(quats[np.argmax(weights)])
    away = quat.log(quat.multiply(quat.conjugate(own), mean))
    return np.asarray(quat.multiply(own, quat.exp(_slow(away, fps))))


def _mean_rotations(quats: FloatArray, weights: FloatArray) -> FloatArray:
    """Rotations (L, J, 4) of (K, L, J, 4): weighted sums, signs as the weightiest window's.

    One sign per window and joint: windows are continuous in sign, and so is their sum.
    """
    like = np.sum(quats * quats[np.argmax(weights)], axis=(1, 3), keepdims=True)
    total = np.einsum("k,k...->...", weights, np.where(like < 0.0, -quats, quats))
    return quat.make_continuous(quat.normalize(total))


def meet_steps(
    passage: Passage, outer: tuple[OuterPose | None, OuterPose | None], fps: float
) -> Passage:
    """The passage whose first and last steps repeat those of the motion before and after it.

    Velocities over a few frames are met by :func:`mean_window`. Single steps differ from them where
    the motion speeds up or slows down, and a joint would start or stop with a jerk.

    Parameters
    ----------
    passage
        Both its ends are captured.
    outer
        The pose before its start and the one after its end, None where nothing is known.
    fps
        Frames per second.
    """
    root, quats = np.array(passage.root_positions), np.array(passage.local_quats)
    at = np.arange(len(root), dtype=np.float64)
    time = max(min(FADE_S * fps, len(root) - 1.0), 2.0)
    share = at * np.clip(1.0 - at / time, 0.0, None) ** 2 / (1.0 - 1.0 / time) ** 2
    for pose, end, inside, shares in ((outer[0], 0, 1, share), (outer[1], -1, -2, share[::-1])):
        if pose is None:
            continue
        lack = 2.0 * root[end] - pose.root - root[inside]
        root += np.multiply.outer(shares, lack)
        spin = _turn_between(pose.quats, quats[end]) - _turn_between(quats[end], quats[inside])
        quats = quat.multiply(quats, quat.exp(np.multiply.outer(shares, spin)))
    return passage._replace(root_positions=root, local_quats=quat.make_continuous(quats))


def _turn_between(before: FloatArray, after: FloatArray) -> FloatArray:
    """Rotation vectors (J, 3) from one pose to another."""
    return quat.log(quat.multiply(quat.conjugate(before), after))


def land(
    frames: Frames,
    rig: Rig,
    at: IntArray,
    weights: FloatArray,
    passage: Passage,
    stands: BoolArray,
) -> Passage:
    """The passage with its body lowered where both feet are higher than in the windows.

    A body that is in the air at an end falls from there, or rises to it, as high as free fall takes
    it.

    Parameters
    ----------
    frames, rig
        The collection and its skeleton.
    at, weights
        Rows of the windows (K, L) and their weights (K,).
    passage
        Their average.
    stands : (2,)
        Whether the body stands at the gap's start and at its end: the floor is there by as much
        higher than the windows' as its soles are.
    """
    root = np.array(passage.root_positions)
    soles = sole_points(rig, *chain_pose(rig, root, passage.local_quats))[..., 1].min(axis=1)
    floor = weights @ frames.points[at][..., 1].min(axis=-1)
    floor = floor + _raised(soles - floor, stands)
    rise = _flight(soles, root[:, 1], frames.fps)
    fall = _flight(soles[::-1], root[::-1, 1], frames.fps)
    highest = np.maximum(np.maximum(rise, fall[::-1]), floor)
    root[:, 1] -= _gentle(np.maximum(soles - highest - CLEAR, 0.0), frames.fps)
    return passage._replace(root_positions=root)


def _raised(excess: FloatArray, stands: BoolArray) -> FloatArray:
    """How much higher the gap's floor is than the windows', by the ends that stand. (L,)."""
    ends = [float(excess[k]) for k, on in zip((0, -1), stands, strict=True) if on]
    return np.linspace(ends[0], ends[-1], len(excess)) if ends else np.zeros(len(excess))


def _flight(soles: FloatArray, height: FloatArray, fps: float) -> FloatArray:
    """Heights (L,) of the soles of a body in free fall from the first frame on."""
    t = np.arange(len(soles)) / fps
    return np.asarray(soles[0] + fps * (height[1] - height[0]) * t - 0.5 * GRAVITY * t * t)


def _gentle(drops: FloatArray, fps: float) -> FloatArray:
    """Drops (L,) that come and go without a jerk, with none at both ends."""
    length, half = len(drops), max(int(WIDE_S * fps), 1)
    parts = np.square(1.0 - np.square(np.arange(-half, half + 1) / (half + 1)))
    smooth = np.convolve(np.pad(drops, half), parts / parts.sum(), mode="valid")
    at = np.arange(length)
    inside = np.minimum(at, length - 1 - at) / max(EDGE_S * fps, 1.0)
    return np.asarray(smooth * smoothstep(np.minimum(inside, 1.0)))


def bend_knees(rig: Rig, passage: Passage) -> Passage:
    """The passage with knees that bend neither backwards nor further than knees do.

    Windows that are bent to meet the ends of a gap can take a leg through full stretch, or fold it
    too far. There the flexion eases into its limit. The direction from hip to ankle and the foot's
    rotation stay. Both ends are given: where a knee is beyond its limits there, it comes back to
    them within a few frames.
    """
    length, quats = len(passage.heading), np.array(passage.local_quats)
    positions, world = chain_pose(rig, passage.root_positions, quats)
    at = np.arange(length)
    given = smoothstep(np.clip(1.0 - at / min(SEAM, length - 1), 0.0, 1.0))
    for (hip, knee, ankle), local_axis in zip(rig.legs, rig.axes, strict=True):
        axis = quat.rotate(world[:, hip], local_axis)
        thigh = _across(positions[:, knee] - positions[:, hip], axis)
        shank = _across(positions[:, ankle] - positions[:, knee], axis)
        flexion = np.arctan2(
            np.sum(np.cross(thigh, shank) * axis, axis=-1), np.sum(thigh * shank, axis=-1)
        )
        flexion = np.where(flexion < BACKWARDS, flexion + 2.0 * np.pi, flexion)
        wanted = _limited(flexion)
        beyond = flexion - wanted
        wanted = wanted + given * beyond[0] + given[::-1] * beyond[-1]
        wrong = np.flatnonzero(np.abs(wanted - flexion) > 1e-9)
        if not len(wrong):
            continue
        a, b = np.linalg.norm(thigh, axis=-1), np.linalg.norm(shank, axis=-1)
        before, after = (
            np.arctan2(b * np.sin(angle), a + b * np.cos(angle))
            for angle in (np.minimum(flexion, TOO_FAR), wanted)
        )
        turn = quat.from_axis_angle(axis[wrong], (before - after)[wrong])
        fold = quat.from_axis_angle(axis[wrong], (before - after + wanted - flexion)[wrong])
        world_hip = quat.multiply(turn, world[wrong, hip])
        world_knee = quat.multiply(fold, world[wrong, knee])
        for joint, above, own in (
            (hip, world[wrong, rig.parents[hip]], world_hip),
            (knee, quat.multiply(turn, world[wrong, rig.parents[knee]]), world_knee),
            (
                ankle,
                quat.multiply(fold, world[wrong, rig.parents[ankle]]),
                world[wrong, ankle],
            ),
        ):
            quats[wrong, joint] = quat.multiply(quat.conjugate(above), own)
    return Passage(passage.heading, passage.root_positions, quat.make_continuous(quats))


def _limited(flexion: FloatArray) -> FloatArray:
    """Flexion that eases into 0 and :data:`MOST_FLEXION`, radians."""
    most = MOST_FLEXION - FOLDED
    low = STRAIGHT * np.exp(np.minimum(flexion - STRAIGHT, 0.0) / STRAIGHT)
    high = MOST_FLEXION - most * np.exp(-np.maximum(flexion - FOLDED, 0.0) / most)
    return np.where(flexion < STRAIGHT, low, np.where(flexion > FOLDED, high, flexion))


def _across(vectors: FloatArray, axis: FloatArray) -> FloatArray:
    """Vectors less their part along unit axes."""
    return np.asarray(vectors - np.sum(vectors * axis, axis=-1, keepdims=True) * axis)
