"""Flips: joints that turn over and back within a few tenths of a second, as gimbals do."""

from __future__ import annotations

import math

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.bridge import bridge_rotations, cubic_way, turn_per_frame
from motionloom.features.glitches.glitch_frames import FASTEST, body_joints
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

FLIPPED_S = 0.4
"""A joint that flips and flips back within this time is interpolated over it, seconds."""
AGAIN_S = 0.25
"""Flips so close to one another are there and back, seconds."""
CALM = np.radians(900.0)
"""A flip reaches as far as its joint turns faster than this, rad/s."""
FASTEST_TOE = np.radians(1500.0)
"""Toes that turn faster than this flip, rad/s."""
MENDED = np.radians(800.0)
"""A joint that would still turn faster than this is left as it is, rad/s."""
OVER = np.radians(60.0)
"""A joint that is farther away after its flip than this has not come back."""
COAST = 6.0
"""Frames over which a joint comes to rest whose flip the take begins or ends in."""
SAME_WAY = np.radians(20.0)
"""A bone that turns by less than this points where it did."""
SHORTEST_M = 1e-9
"""A foot without length is taken to have this one, metres."""
CLEARANCE_M = 0.03
"""A repaired foot passes at least so high over where its ball stands."""
HIGHEST_LIFT = np.radians(45.0)
"""No foot is pitched up by more than this to pass."""
SMOOTH_S = 0.03
REVERSED = -0.3
"""A knee turns back at a flip if the cosine between its turns before and after is below this."""
TURN_S, SKIP_S = 0.025, 0.033
"""Its turns are measured over the first time; that of a flip itself, the second, is left out."""
FARTHEST, FASTER = np.radians(75.0), 1.6
"""A knee is led no farther than this, and no faster than 1.6 times its turns at both ends."""
SLOWEST_FPS = 50.0
"""At lower rates a quick throw looks like a flip: only feet are interpolated."""
QUICK = np.radians(120.0)
"""Slower knees may turn back by themselves, rad/s."""


def unflip(motion: Motion, body: BodyMap) -> tuple[Motion, list[str]]:
    """The motion with joints that flip over and back interpolated, and which they are.

    The joint is led from where it was before to where it is after; all other joints stay as they
    are. A joint that flips once within the first or last 0.4 s of a take stays as it is in the rest
    of it. Feet repaired in this way pass over the floor, not through it.
    """
    fps, quats = motion.fps, motion.local_quats
    speeds = fps * quat.angle_between(quats[:-1], quats[1:])  # (F - 1, J)
    toes = {body.left_toe, body.right_toe}
    examined = set(body_joints(motion.skeleton, body))
    if fps < SLOWEST_FPS:
        examined &= toes | {body.left_ankle, body.right_ankle}
    names: list[str] = []
    mended: FloatArray | None = None
    passing: dict[int, list[tuple[int, int]]] = {}
    for joint in np.flatnonzero((speeds > FASTEST_TOE).any(axis=0)).tolist():
        fast = np.flatnonzero(speeds[:, joint] > (FASTEST_TOE if joint in toes else FASTEST))
        if joint not in examined or not len(fast):
            continue
        for run in np.split(fast, np.flatnonzero(np.diff(fast) > AGAIN_S * fps) + 1):
            way = quats[:, joint]
            span = _span(way, speeds[:, joint], int(run[0]), int(run[-1]) + 1, fps)
            if span is None:
                continue
            stays = span[0] < 0 or span[1] >= len(quats) or _apart(way, *span) > OVER
            if stays and _is_twist(motion, joint, int(run[np.argmax(speeds[run, joint])])):
                continue
            mended = np.array(quats) if mended is None else mended
            _fill(mended[:, joint], way, *span)
            names.append(f"{motion.skeleton.names[joint]} at frame {span[0] + 1}")
            passing.setdefault(joint, []).append(span)
    if mended is None:
        return motion, []
    feet = (
        (body.left_knee, body.left_ankle, body.left_toe),
        (body.right_knee, body.right_ankle, body.right_toe),
    )
    for knee, ankle, _ in feet:
        if ankle in passing and knee is not None:
            for first, last in passing[ankle]:
                _turn_on(mended[:, knee], first, last, fps)
    motion = motion.replace(local_quats=quat.make_continuous(mended))
    for _, ankle, toe in feet:
        if ankle in passing and ankle is not None and toe is not None:
            motion = _over_floor(motion, ankle, toe, passing[ankle])
    return motion, names


def _span(
    quats: FloatArray, speeds: FloatArray, first: int, last: int, fps: float
) -> tuple[int, int] | None:
    """Good frames before and after a flip; -1 or F where the take begins or ends in it."""
    n = len(speeds)
    longest = FLIPPED_S * fps
    while first > 0 and speeds[first - 1] > CALM:
        first -= 1
    while last < n and speeds[last] > CALM:
        last += 1
    # Both ends move outwards by up to `most` frames, until the joint turns slowly between them.
    most = max(0, min(first, n - last, math.ceil(0.5 * (longest - (last - first)))))
    by = np.arange(most + 1)
    apart = quat.angle_between(quats[first - by], quats[last + by])
    if apart[0] > OVER and last - first <= 0.5 * longest:
        if last <= longest:
            return -1, last
        if n - first <= longest:
            return first, n + 1
    slow = np.flatnonzero(apart * fps / (last - first + 2 * by) <= MENDED)
    outwards = int(slow[0]) if len(slow) else most
    first, last = first - outwards, last + outwards
    if last - first > longest:
        return None
    if len(slow):
        return first, last
    if n - first <= longest:
        return first, n + 1
    return (-1, last) if last <= longest else None


def _is_twist(motion: Motion, joint: int, step: int) -> bool:
    """Whether a joint twists about its bone in a step, or takes back what its parent twists.

    Solvers turn straight legs by half a turn; joints stay where they are, and nothing tells which
    side is right if the leg does not turn back.
    """
    world = motion.world_quats()[[step, step + 1], joint]
    if _apart(world, 0, 1) < SAME_WAY:
        return True
    children = motion.skeleton.children(joint)
    if not children:
        return False
    before, after = quat.rotate(world, motion.skeleton.offsets[children[0]])
    across = np.linalg.norm(np.cross(before, after))
    return bool(np.arctan2(across, before @ after) < SAME_WAY)


def _apart(quats: FloatArray, first: int, last: int) -> float:
    return float(quat.angle_between(quats[first], quats[last]))


def _fill(out: FloatArray, quats: FloatArray, first: int, last: int) -> None:
    """Rotations between two good frames; with one alone, going on from it and coming to rest."""
    if first < 0:
        after = min(last + 1, len(quats) - 1)
        out[:last] = _coasting(quats[last], quats[after], last)[::-1]
    elif last > len(quats) - 1:
        before = max(first - 1, 0)
        out[first + 1 :] = _coasting(quats[first], quats[before], len(quats) - 1 - first)
    else:
        out[first + 1 : last] = bridge_rotations(quats, first, last)


def _coasting(start: FloatArray, before: FloatArray, count: int) -> FloatArray:
    """``count`` rotations after one, that go on as from the one before and come to rest."""
    step = quat.turn(before, start)
    gone = COAST * (1.0 - np.exp(-np.arange(1.0, count + 1.0) / COAST))
    return np.asarray(quat.multiply(start, quat.exp(np.multiply.outer(gone, step))))


def _turn_on(knee: FloatArray, first: int, last: int, fps: float) -> None:
    """Lead a knee (F, 4) on over a flip of its foot, if it turns back at both of its ends.

    Solvers that fold a knee past its limit bend it back instead and turn the foot over. The knee
    goes on as fast as before and comes back as fast as after, along a cubic; if that would take it
    too far or leave a step, it stays as it is.
    """
    wide, skip = max(2, round(TURN_S * fps)), max(1, round(SKIP_S * fps))
    if first < wide or last + wide >= len(knee) or last - first < 2 * (wide + skip):
        return
    before, after = (
        turn_per_frame(knee, first - wide, first),
        turn_per_frame(knee, last, last + wide),
    )
    inside = (
        turn_per_frame(knee, first + skip, first + skip + wide),
        turn_per_frame(knee, last - skip - wide, last - skip),
    )
    for outer, inner in ((before, inside[0]), (after, inside[1])):
        size = np.linalg.norm(outer) * np.linalg.norm(inner)
        if np.linalg.norm(outer) * fps < QUICK or outer @ inner > REVERSED * size:
            return
    length = last - first
    way = turn_per_frame(knee, first, last) * length
    path = cubic_way(way, before, after, length)
    if np.linalg.norm(path, axis=-1).max() > FARTHEST:
        return
    led = np.array(knee[first - 1 : last + 2])
    led[2:-2] = quat.multiply(knee[first], quat.exp(path))
    fastest = max(np.linalg.norm(before), np.linalg.norm(after), np.linalg.norm(way) / length)
    if quat.angle_between(led[:-1], led[1:]).max() <= FASTER * fastest:
        knee[first + 1 : last] = led[2:-2]


def _over_floor(motion: Motion, ankle: int, toe: int, spans: list[tuple[int, int]]) -> Motion:
    """The motion with a foot pitched up where it would pass lower than its clearance."""
    positions, world = motion.world_pose()
    foot = positions[:, toe] - positions[:, ankle]
    length = np.maximum(np.linalg.norm(foot, axis=-1), SHORTEST_M)
    level = float(np.quantile(positions[:, toe, 1], 0.05)) + CLEARANCE_M
    inside = np.zeros(motion.n_frames, dtype=np.bool_)
    for first, last in spans:
        inside[max(first, 0) : last + 1] = True
    pitch = np.arcsin(np.clip(foot[:, 1] / length, -1.0, 1.0))
    wanted = np.arcsin(np.clip((level - positions[:, ankle, 1]) / length, -1.0, 1.0))
    lift = np.where(inside, np.clip(wanted - pitch, 0.0, HIGHEST_LIFT), 0.0)
    if not lift.any():
        return motion
    half = max(1, round(SMOOTH_S * motion.fps))
    padded = np.pad(lift, 2 * half, mode="edge")
    widest = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1).max(axis=-1)
    kernel = np.hanning(2 * half + 3)[1:-1]
    lift = np.convolve(widest, kernel / kernel.sum(), mode="valid")
    axis = np.cross(foot, np.array([0.0, 1.0, 0.0]))
    axis /= np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-9)
    turned = quat.multiply(quat.from_axis_angle(axis, lift), world[:, ankle])
    quats = np.array(motion.local_quats)
    above = world[:, motion.skeleton.parents[ankle]]
    changed = lift > 0.0
    quats[changed, ankle] = quat.multiply(quat.conjugate(above), turned)[changed]
    return motion.replace(local_quats=quat.make_continuous(quats))
