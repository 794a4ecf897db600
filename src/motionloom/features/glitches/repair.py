"""Repair a capture: remove the defects that must not travel into new motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.knees import repair_knees
from motionloom.features.glitches.bridge import bridge_line, bridge_rotations, reject_if_rougher
from motionloom.features.glitches.bursts import spread_bursts
from motionloom.features.glitches.flips import unflip
from motionloom.features.glitches.glitch_frames import body_joints, find_twitches, glitched_frames
from motionloom.motion.contacts import column_runs
from motionloom.motion.edit import check_rates, resample
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

LONGEST_S = 0.035
"""Glitches of the whole pose that last longer cannot be interpolated without inventing motion."""
CALM = np.radians(900.0)
"""Slower steps at the ends of a take are no jumps, rad/s."""
TWITCH, TWITCH_FPS = np.radians(4.0), 120.0
"""Smaller twitches of a joint are left as captured, radians; at lower rates larger ones are, where
the turning point of a quick wave looks like a twitch."""
SLOWEST_FPS = 50.0
"""At lower rates twitches look like motion."""
LEADING_S, SUDDEN = 0.035, 1.5
"""A jump within the first or last 0.035 s, 1.5 times as fast as the joint's fastest
hundredth, is a correction at the end of a take."""


class Repaired(NamedTuple):
    """A clip ready to make motion from."""

    motion: Motion
    glitches: IntArray
    """Frames that are still glitched, ascending. (N,)"""
    notes: tuple[str, ...]
    """What was repaired, in words; empty where nothing was."""


def repair_capture(
    motion: Motion, *, body: BodyMap | None = None, knees: bool = True, legs: bool = True
) -> Repaired:
    """The clip with glitched frames bridged, sudden steps spread, and knees that bend forwards.

    A glitch in which a joint jumps and stays cannot be interpolated; its frames are returned so
    that blends can avoid them. A clip without defects comes back as it is.

    Parameters
    ----------
    motion
        Any clip.
    body
        Roles of its joints; guessed by default.
    knees
        Whether knees bent backwards are repaired.
    legs
        Whether defects of single legs, feet and knees are repaired: motion that is made of the
        upper body alone does not need it.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> repair_capture(walk).motion is walk
    True
    """
    body = roles_for(motion.skeleton, body)
    notes: list[str] = []
    motion, ends = _settled_ends(motion, body)
    notes += [f"a jump in {where}: replaced by a smooth continuation" for where in ends]
    motion, unflipped = unflip(motion, body)
    if unflipped:
        notes.append(f"flips interpolated: {', '.join(unflipped)}")
    motion, twitches = _without_twitches(motion, body, legs=legs)
    if twitches:
        notes.append(f"twitches of feet or hands interpolated in {_frames(twitches)}")
    positions, world = motion.world_pose()
    trunk = _trunk_twitches(motion, body, world)
    if len(trunk):
        motion = _interpolated(motion, trunk, body)
        notes.append(f"twitches of the trunk interpolated in {_frames(len(trunk))}")
        frames = _glitches(motion, body)
    else:
        frames = glitched_frames(motion, body, positions)
    if len(frames):
        mended = _interpolated(motion, frames, body)
        left = _glitches(mended, body)
        if len(left) < len(frames):
            gone = sorted(set(frames.tolist()) - set(left.tolist()))
            which = (
                f"glitched frame {gone[0]}"
                if len(gone) == 1
                else (f"{len(gone)} glitched frames (the first is {gone[0]})")
            )
            notes.append(f"{which} interpolated")
            motion, frames = mended, left
    spread = spread_bursts(motion, body, legs=legs)
    if spread.parts:
        motion = spread.motion
        notes.append(
            f"sudden steps smoothed over the neighbouring frames: {', '.join(spread.parts)}"
        )
        frames = _glitches(motion, body)
    if knees and legs:
        repaired = repair_knees(motion, body=body)
        if repaired.motion is not motion:  # a knee that changes its side may turn its thigh fast
            again = spread_bursts(repaired.motion, body)
            motion = again.motion
            notes += [f"after knees were repaired, spread: {part}" for part in again.parts]
        notes += [f"{note}: repaired" for note in repaired.notes]
    return Repaired(motion, frames, tuple(notes))


def resample_repaired(motion: Motion, fps: float) -> tuple[Motion, tuple[str, ...]]:
    """The clip at another rate, repaired at its own, and what was repaired, in words.

    At its own rate defects differ from motion. Knees stay as they are.
    """
    check_rates(motion, fps)
    repaired = repair_capture(motion, knees=False)
    return resample(repaired.motion, fps=fps), repaired.notes


def _settled_ends(motion: Motion, body: BodyMap) -> tuple[Motion, list[str]]:
    """The motion without jumps in its first and last frames, and where they were.

    Takes often begin with a correction of a frame or two. The frames up to the last such step are
    replaced: the motion after it is continued backwards in time at its own velocity. At the end of
    a clip the motion before the first such step is continued forwards.
    """
    fps, quats = motion.fps, motion.local_quats
    n, leading = motion.n_frames - 1, round(LEADING_S * motion.fps)
    if n < max(1, 10 * leading):
        return motion, []
    examined = sorted(set(body_joints(motion.skeleton, body)) - {body.left_toe, body.right_toe})
    speeds = fps * quat.angle_between(quats[:-1, examined], quats[1:, examined])
    limit = np.maximum(CALM, SUDDEN * np.quantile(speeds[leading : n - leading], 0.99, axis=0))
    sudden = np.flatnonzero((speeds > limit).any(axis=1))
    first, last = sudden[sudden < leading], sudden[sudden >= n - leading]
    notes = []
    if len(first):
        at = int(first[-1]) + 1
        motion = _led_to(motion, slice(at - 1, None, -1), slice(at, at + 4))
        notes.append("the first frame" if at == 1 else f"the first {at} frames")
    if len(last):
        at = int(last[0])
        motion = _led_to(motion, slice(at + 1, None), slice(at, at - 4, -1))
        notes.append("the last frame" if n - at == 1 else f"the last {n - at} frames")
    return motion, notes


def _led_to(motion: Motion, bad: slice, good: slice) -> Motion:
    """Replace ``bad`` frames, nearest first, by a continuation of the ``good`` frames."""
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    root[bad] = _continued_line(root[good], len(root[bad]))
    quats[bad] = _continued(quats[good], len(root[bad]))
    moving = motion.joint_translations
    if moving is not None:
        moving = np.array(moving)
        moving[bad] = _continued_line(moving[good], len(root[bad]))
    return motion.replace(
        root_positions=root, local_quats=quat.make_continuous(quats), joint_translations=moving
    )


def _continued_line(values: FloatArray, count: int) -> FloatArray:
    """``count`` values before ``values[0]``, nearest first, at the velocity of the next ones."""
    step = (values[0] - values[-1]) / (len(values) - 1)
    return np.asarray(values[0] + np.multiply.outer(np.arange(1.0, count + 1.0), step))


def _continued(quats: FloatArray, count: int) -> FloatArray:
    """``count`` rotations before ``quats[0]``, nearest first, that turn as the next three do."""
    step = quat.log(quat.multiply(quats[0], quat.conjugate(quats[-1]))) / (len(quats) - 1)
    turns = np.multiply.outer(np.arange(1.0, count + 1.0), step)
    return np.asarray(quat.multiply(quat.exp(turns), quats[0]))


def _without_twitches(motion: Motion, body: BodyMap, *, legs: bool = True) -> tuple[Motion, int]:
    """Interpolate twitches of feet and hands; the motion, and the number of frames changed."""
    mended: FloatArray | None = None
    frames: set[int] = set()
    # Joints of the trunk twitch against one another and carry what is above them steadily.
    feet = (body.left_ankle, body.right_ankle, body.left_toe, body.right_toe)
    ends = (*(feet if legs else ()), body.left_wrist, body.right_wrist)
    joints = [joint for joint in ends if joint is not None]
    if motion.fps < SLOWEST_FPS or not joints:
        return motion, 0
    hands = TWITCH * max(1.0, TWITCH_FPS / motion.fps)
    least = np.array([TWITCH if joint in feet else hands for joint in joints])
    twitching = find_twitches(motion.local_quats[:, joints], motion.fps, least=least)
    twitching[[0, -1]] = False
    for joint, runs in zip(joints, column_runs(twitching), strict=True):
        for first, last in runs:
            mended = np.array(motion.local_quats) if mended is None else mended
            way = motion.local_quats[:, joint]
            mended[first : last + 1, joint] = bridge_rotations(way, first - 1, last + 1)
            frames.update(range(first, last + 1))
    if mended is None:
        return motion, 0
    return motion.replace(local_quats=quat.make_continuous(mended)), len(frames)


def _glitches(motion: Motion, body: BodyMap) -> IntArray:
    """Glitched frames, those in which the trunk twitches included. (N,)."""
    positions, world = motion.world_pose()
    jumps = glitched_frames(motion, body, positions)
    return np.union1d(jumps, _trunk_twitches(motion, body, world))


def _trunk_twitches(motion: Motion, body: BodyMap, world: FloatArray) -> IntArray:
    """Frames in which pelvis or chest twitches in the world. (N,)."""
    if motion.fps < SLOWEST_FPS:
        return np.zeros(0, dtype=np.int64)
    joints = sorted({0 if body.pelvis is None else body.pelvis, *body.spine[-1:]})
    return np.flatnonzero(find_twitches(world[:, joints], motion.fps).any(axis=1))


def _interpolated(motion: Motion, frames: IntArray, body: BodyMap) -> Motion:
    """Replace runs of glitched frames that are short enough by bridges between their ends."""
    longest = max(1, round(LONGEST_S * motion.fps))
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    moving = None if motion.joint_translations is None else np.array(motion.joint_translations)
    bridged = np.zeros(len(root), dtype=np.bool_)
    breaks = np.flatnonzero(np.diff(frames) > 1)
    for run in np.split(frames, breaks + 1):
        before, after = int(run[0]) - 1, int(run[-1]) + 1
        if len(run) > longest or before < 0 or after >= motion.n_frames:
            continue
        bad = slice(before + 1, after)
        root[bad] = bridge_line(motion.root_positions, before, after)
        quats[bad] = bridge_rotations(motion.local_quats, before, after)
        if moving is not None and motion.joint_translations is not None:
            moving[bad] = bridge_line(motion.joint_translations, before, after)
        bridged[bad] = True
    mended = motion.replace(
        root_positions=root, local_quats=quat.make_continuous(quats), joint_translations=moving
    )
    joints = np.array(body_joints(motion.skeleton, body), dtype=np.int64)
    return reject_if_rougher(motion, mended, joints, bridged)


def _frames(count: int) -> str:
    return "1 frame" if count == 1 else f"{count} frames"
