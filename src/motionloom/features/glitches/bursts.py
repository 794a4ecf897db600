"""Bursts: steps of a joint far faster than those around it, found and spread.

Markers that are lost and found again leave a foot, a hand or the whole trunk somewhere else within
one to four frames. Each side of such a step may be right, so nothing can be interpolated: the step
is spread over the frames around it until its joint is no faster than in the rest of the clip, or
three quarters of the step are spread.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.bridge import reject_if_rougher, rougher_frames
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

SLOWEST_FPS = 50.0
"""At lower rates a burst looks like quick motion."""
LONGEST_FOOT_S, FAST_FOOT = 0.1, np.radians(1000.0)
"""A foot that turns faster than the second in its shank, rad/s, may burst for the first, seconds.
Feet that push off reach two thirds of that speed."""
LONGEST_TRUNK_S = 0.06
"""A trunk that turns faster than ``ALONE`` may burst for this long, seconds: it neither kicks nor
punches."""
JOLT, JOLT_RATIO = 75.0, 4.0
"""A trunk that is accelerated more, m/s2, and 4 times as much as around it, is jolted: landings
from jumps get to two thirds of it. At shorter steps than those of 60 Hz the limit is higher."""
FARTHEST_M, FARTHEST = 0.05, np.radians(40.0)
"""A trunk that jumps farther within one step was cut, not jolted: that cannot be spread."""
SIGMA_S = 0.016
"""Width of the kernel that spreads a burst in one round."""
ROUNDS, JOLT_ROUNDS = (8, 4, 2, 2, 2), 2
"""Rounds of smoothing in one try after another: fewer, where more made a joint rougher. After the
last try, frames that would become more abrupt are left as captured. Jolts are looked for again in
the first two rounds only."""
CHANGED, LEAST_CHANGE = 0.75, np.radians(1.5)
"""A rotation changes by at most this part of the burst, or by the second where that is more."""
SHORTEST = 12
"""Frames of the shortest clip in which bursts differ from motion."""
LISTED = 4
"""Bursts of a part that notes name."""
LEG, ARM = ("leg", "hip", "knee", "ankle"), ("arm", "shoulder", "elbow", "wrist")
FLAT_S, RAMP_S = 0.035, 0.06
"""Frames at most the first from a burst are smoothed in full, and less and less over the second."""


class Spread(NamedTuple):
    """A clip whose bursts are spread, and where they were."""

    motion: Motion
    parts: tuple[str, ...]
    """Which part of the body was smoothed, and in which frames."""


class _Part(NamedTuple):
    """Joints that are smoothed together, and the rotations that show when."""

    name: str
    kind: Literal["body", "head", "limb", "hand", "foot"]
    joints: IntArray
    shown: tuple[int, ...]
    """Joints whose rotation in the world is judged: what one joint of a chain twitches, the next
    often takes back."""
    jolted: tuple[int, ...] = ()
    """Joints whose position is judged."""
    kinks: bool = False
    """Whether rotations with a kink are bursts: in legs and feet, but not in arms that punch."""


def spread_bursts(
    motion: Motion, body: BodyMap, *, legs_only: bool = False, legs: bool = True
) -> Spread:
    """The clip with bursts of feet, hands, limbs and trunk spread over the frames around them.

    A foot or a hand is smoothed alone, an arm or a leg as a whole, and where the trunk bursts the
    whole pose is: its joints hold one another up. No rotation changes by more than three quarters
    of the burst, and frames that would become more abrupt stay as captured: quick motion with a
    little noise in it stays quick.

    Parameters
    ----------
    motion
        Any clip; below 50 frames per second it comes back as it is.
    body
        Roles of its joints.
    legs_only
        Leave feet, arms and trunk as they are.
    legs
        Whether legs and feet are smoothed too, apart from the trunk's bursts, which are the whole
        body's.
    """
    notes: list[str] = []
    if motion.fps < SLOWEST_FPS or motion.n_frames < SHORTEST:
        return Spread(motion, ())
    for part in _parts(motion, body):
        is_leg = part.kind == "limb" and part.name.endswith("leg")
        if (legs_only and not is_leg) or (not legs and (is_leg or part.kind == "foot")):
            continue
        motion, bursts = _spread_part(motion, part)
        if bursts.any():
            notes.append(f"{part.name} ({_frames_in_words(bursts)})")
    return Spread(motion, tuple(notes))


def _spread_part(motion: Motion, part: _Part) -> tuple[Motion, BoolArray]:
    """The motion with one part's bursts spread, and the steps in which they were. (F - 1,)."""
    world = motion.world_quats()
    first = _bursts_of(motion, world, part) | _jolts(motion, part)
    if not first.any():
        return motion, first
    carried = motion.skeleton.carried_by(part.joints.tolist())
    allowed = _allowed(world, part, first, motion.fps)
    envelope = _share(first, motion.fps, flat_s=2.0 * FLAT_S)
    for rounds in ROUNDS:
        slowed = _rounds(motion, part, first, envelope, allowed, rounds)
        worse = rougher_frames(motion, slowed, carried, envelope > 0.0)
        if not worse.any():
            return slowed, first & (envelope[1:] > 0.0)
        if rounds == ROUNDS[-1]:
            envelope = envelope * (1.0 - _share(worse[1:] | worse[:-1], motion.fps))
    slowed = reject_if_rougher(motion, slowed, carried, envelope > 0.0)
    return slowed, first & (envelope[1:] > 0.0)


def _rounds(
    motion: Motion,
    part: _Part,
    first: BoolArray,
    envelope: FloatArray,
    allowed: FloatArray,
    rounds: int,
) -> Motion:
    """The motion with bursts (F - 1,) spread as far as ``envelope`` and ``allowed`` (F,) let it."""
    captured = world = motion.world_quats()
    near = _share(first, motion.fps)[1:] > 0.0
    bursts = first
    for turn in range(rounds):
        share = envelope * _share(bursts, motion.fps)
        if not share.any():
            break
        motion = _smoothed(motion, world, part, share, captured, allowed)
        world = motion.world_quats()
        bursts = _still_fast(motion, world, part, near)
        if turn < JOLT_ROUNDS:
            bursts |= _jolts(motion, part) & near
        if not bursts.any():
            break
    return motion


def _frames_in_words(bursts: BoolArray) -> str:
    firsts = [first for first, _ in runs_of(bursts)]
    listed = ", ".join(str(frame) for frame in firsts[:LISTED])
    more = f" and {len(firsts) - LISTED} more" if len(firsts) > LISTED else ""
    return f"frame{'s' if len(firsts) > 1 else ''} {listed}{more}"


def _parts(motion: Motion, body: BodyMap) -> list[_Part]:
    """The body's parts, from the trunk outwards."""
    skeleton = motion.skeleton
    pelvis = 0 if body.pelvis is None else body.pelvis
    chest = body.spine[-1] if body.spine else pelvis
    jolted = tuple(joint for joint in (pelvis, chest, body.neck) if joint is not None)
    shown = tuple(dict.fromkeys((pelvis, chest)))
    parts = [_Part("the body", "body", np.arange(skeleton.n_joints), shown, jolted)]
    if body.head is not None:
        above = [j for j in skeleton.chain(body.head) if j not in skeleton.chain(chest)]
        parts.append(_Part("the head", "head", np.array(above), tuple(above)))
    for side in ("left", "right"):
        for limb, upper, lower, end in (LEG, ARM):
            top, middle, last = (getattr(body, f"{side}_{role}") for role in (upper, lower, end))
            if top is None or middle is None or last is None:
                continue
            leg = limb == "leg"
            outer = [j for j in skeleton.chain(last) if j not in skeleton.chain(top)[:-1]]
            parts.append(
                _Part(f"the {side} {limb}", "limb", np.array(outer), (top, middle), (), leg)
            )
            kind: Literal["foot", "hand"] = "foot" if leg else "hand"
            parts.append(_Part(f"the {side} {kind}", kind, np.array([last]), (last,), (), leg))
            toe = getattr(body, f"{side}_toe")
            if kind == "foot" and toe is not None:
                parts.append(_Part(f"the {side} toe", kind, np.array([toe]), (toe,), (), leg))
    return [part for part in parts if len(part.joints)]


def _bursts_of(motion: Motion, world: FloatArray, part: _Part) -> BoolArray:
    bursts = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    for joint in part.shown:
        here = find_bursts(world[:, joint], motion.fps, kinks=part.kinks)
        if part.kind == "body":
            here |= find_bursts(world[:, joint], motion.fps, longest_s=LONGEST_TRUNK_S, least=ALONE)
            here &= steps_of(world[:, joint], 1) < FARTHEST
        bursts |= here
        local = motion.local_quats[:, joint]
        if part.kind == "foot":
            bursts |= find_bursts(local, motion.fps, longest_s=LONGEST_FOOT_S, least=FAST_FOOT)
        if part.kind == "head":  # a neck that pops on a body that turns is seen in its parent
            bursts |= find_bursts(local, motion.fps, least=ALONE)
    return bursts


def _allowed(world: FloatArray, part: _Part, bursts: BoolArray, fps: float) -> FloatArray:
    """How far rotations may change in each frame, radians: part of what the burst next to it is.

    A burst is what its steps have over the steps around. (F,).
    """
    allowed = np.full(len(world), LEAST_CHANGE)
    for first, last in runs_of(bursts):
        burst = np.arange(first, last + 1)
        size = 0.0
        for joint in part.shown:
            steps = steps_of(world[:, joint], 1)
            usual, _ = around(steps, burst, 1, fps)
            size = max(size, float(np.maximum(steps[burst] - usual, 0.0).sum()))
        reach = round((2.0 * FLAT_S + RAMP_S) * fps) + 1
        zone = slice(max(0, first - reach), last + reach + 2)
        allowed[zone] = np.maximum(allowed[zone], CHANGED * size)
    return allowed


def _jolts(motion: Motion, part: _Part) -> BoolArray:
    """Steps next to frames in which a joint of the trunk is jolted. (F - 1,)."""
    jolts = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    if not part.jolted:
        return jolts
    positions = motion.world_positions()
    for joint in part.jolted:
        for stride in strides_of(motion.fps):
            path, rate = positions[:, joint], motion.fps / stride
            bends = np.zeros(len(path))
            second = path[2 * stride :] - 2.0 * path[stride:-stride] + path[: -2 * stride]
            bends[stride:-stride] = rate**2 * np.linalg.norm(second, axis=-1)
            sharp = np.flatnonzero(
                (bends > JOLT * max(1.0, rate / JUDGED_FPS)) & (bends < FARTHEST_M * rate**2)
            )
            if len(sharp):
                usual, _ = around(bends, sharp, stride, motion.fps)
                for at in sharp[bends[sharp] > JOLT_RATIO * usual]:
                    jolts[at - 1 : at + 1] = True
    return jolts


def _still_fast(motion: Motion, world: FloatArray, part: _Part, bursts: BoolArray) -> BoolArray:
    """Steps near known bursts that are faster than all steps away from them. (F - 1,)."""
    fast = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    for joint in part.shown:
        both = (world[:, joint], motion.local_quats[:, joint])
        for quats in both if part.kind in ("foot", "head") else both[:1]:
            for stride in strides_of(motion.fps):
                speeds = steps_of(quats, stride) * motion.fps / stride
                near = np.lib.stride_tricks.sliding_window_view(bursts, stride).any(axis=-1)
                own = float(np.max(speeds, where=~near, initial=FAST))
                for at in np.flatnonzero(near & (speeds > own)):
                    fast[at : at + stride] = True
    return fast


def _share(bursts: BoolArray, fps: float, flat_s: float = FLAT_S) -> FloatArray:
    """How much of each frame is smoothed: 1 near bursts, 0 away from them. (F,)."""
    steps = np.flatnonzero(bursts) + 0.5
    frames = np.arange(len(bursts) + 1)
    nearest = np.full(len(frames), np.inf)
    after = np.searchsorted(steps, frames)
    for k in (np.clip(after - 1, 0, len(steps) - 1), np.clip(after, 0, len(steps) - 1)):
        nearest = np.minimum(nearest, np.abs(frames - steps[k]))
    away = np.clip((nearest / fps - flat_s) / RAMP_S, 0.0, 1.0)
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * away))


def _smoothed(
    motion: Motion,
    world: FloatArray,
    part: _Part,
    share: FloatArray,
    captured: FloatArray,
    allowed: FloatArray,
) -> Motion:
    """The motion with a part of the body smoothed where ``share`` (F,) says, as far as it says.

    Rotations are smoothed in the world, and stay within ``allowed`` (F,) of those ``captured``
    (F, J, 4). Joints further out keep theirs in their parents.
    """
    kernel, changed = _kernel(motion.fps, motion.n_frames), np.flatnonzero(share > 0.0)
    much, parents = share[changed], motion.skeleton.parents
    turning = quat.make_continuous(world[:, part.joints])
    mean = quat.normalize(_mean_around(turning, changed, kernel))
    smooth = quat.slerp(turning[changed], mean, much[:, None])  # (C, K, 4)
    origin = captured[changed][:, part.joints]
    change = quat.angle_between(origin, smooth) / allowed[changed, None]
    smooth = quat.slerp(origin, smooth, (1.0 + change**4) ** -0.25)  # never beyond, smoothly
    quats, new = np.array(motion.local_quats), world[changed]
    new[:, part.joints] = smooth
    for joint in part.joints.tolist():
        own, parent = new[:, joint], int(parents[joint])
        quats[changed, joint] = (
            own if parent < 0 else quat.multiply(quat.conjugate(new[:, parent]), own)
        )
    quats = quat.make_continuous(quats)
    if part.kind != "body":
        return motion.replace(local_quats=quats)
    root, moving = np.array(motion.root_positions), motion.joint_translations
    root[changed] += much[:, None] * (_mean_around(root, changed, kernel) - root[changed])
    if moving is not None:
        moving = np.array(moving)
        way = _mean_around(moving, changed, kernel) - moving[changed]
        moving[changed] += much[:, None, None] * way
    return motion.replace(root_positions=root, local_quats=quats, joint_translations=moving)


def _kernel(fps: float, n_frames: int) -> FloatArray:
    """A bell of three standard deviations to both sides, or of the whole clip where it is short."""
    half = min(max(1, round(3.0 * SIGMA_S * fps)), n_frames)
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / (SIGMA_S * fps)) ** 2)
    return np.asarray(kernel / kernel.sum())


def _mean_around(values: FloatArray, frames: IntArray, kernel: FloatArray) -> FloatArray:
    """Weighted mean of the values around some frames; near the ends over fewer, evenly."""
    n, half = len(values), len(kernel) // 2
    reach = np.minimum(np.minimum(frames, n - 1 - frames), half)  # as far to both sides
    offsets = np.arange(-half, half + 1)
    weights = np.where(np.abs(offsets) <= reach[:, None], kernel, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    index = np.clip(frames[:, None] + offsets, 0, n - 1)
    return np.asarray(np.einsum("fk,fk...->f...", weights, values[index]))


# --- Bursts of one rotation

JUDGED_FPS = 60.0
"""Faster clips are judged at steps of this rate as well: two half bursts are one of theirs."""
FAST = np.radians(300.0)
"""Slower steps are no bursts, rad/s."""
RATIO = 2.8
"""A burst is this many times as fast as the median of the steps around it."""
AROUND_S = 0.1
LONGEST_S = 0.045
"""A joint that is faster than half its peak for longer kicks or punches, seconds."""
ALONE = np.radians(540.0)
"""A single step as fast as this is a jump even if the joint is as fast in other frames, rad/s."""
KINK, KINK_RATIO = np.radians(7.0), 5.0
"""A rotation so far from the mean of those before and after, and so many times as far as around,
has a kink. The angle is that of steps at 60 Hz."""


def find_bursts(
    quats: FloatArray,
    fps: float,
    *,
    longest_s: float = LONGEST_S,
    least: float = FAST,
    kinks: bool = False,
) -> BoolArray:
    """Steps of a rotation (F, 4) far faster than those around and than its others. (F - 1,).

    Parameters
    ----------
    quats : (F, 4)
        Unit quaternions.
    fps
        Their rate.
    longest_s
        What is faster than half its peak for longer is motion.
    least
        Slower steps are no bursts, rad/s.
    kinks
        Look for kinks too: feet have none, but fists that turn back at the end of a punch do.
    """
    bursts = np.zeros(len(quats) - 1, dtype=np.bool_)
    for stride in strides_of(fps):
        if len(quats) <= 4 * stride:
            continue
        speeds = steps_of(quats, stride) * fps / stride
        fast = np.flatnonzero(speeds > least)
        if not len(fast):
            continue
        usual, next_to = around(speeds, fast, stride, fps)
        outstanding = speeds[fast] > RATIO * usual
        others = np.delete(speeds, fast[outstanding])
        own = max(float(others.max(initial=0.0)), least)
        alone = speeds[fast] > np.maximum(ALONE, RATIO * np.maximum(usual, next_to))
        for at in fast[(outstanding & (speeds[fast] > own)) | alone]:
            if _duration(speeds, int(at)) <= longest_s * fps:
                bursts[at : at + stride] = True
        for at in _kinks(quats, stride, fps) if kinks else ():
            bursts[at - 1 : at + 1] = True
    return bursts


def _kinks(quats: FloatArray, stride: int, fps: float) -> IntArray:
    """Frames in which a rotation is far from the mean of those before and after."""
    if stride < round(fps / JUDGED_FPS):  # what shorter steps show is noise
        return np.zeros(0, dtype=np.int64)
    middle = quat.slerp(quats[: -2 * stride], quats[2 * stride :], 0.5)
    away = np.zeros(len(quats))
    away[stride:-stride] = quat.angle_between(quats[stride:-stride], middle)
    far = np.flatnonzero(away > KINK)
    if not len(far):
        return far
    usual, _ = around(away, far, stride, fps)
    return np.asarray(far[away[far] > KINK_RATIO * usual])


def _duration(speeds: FloatArray, at: int) -> int:
    """How many steps in a row around one are faster than half of the fastest of them."""
    first = last = at
    least = 0.5 * speeds[at]
    while first > 0 and speeds[first - 1] > least:
        first -= 1
        least = max(least, 0.5 * speeds[first])
    while last < len(speeds) - 1 and speeds[last + 1] > least:
        last += 1
        least = max(least, 0.5 * speeds[last])
    return last - first + 1


def steps_of(quats: FloatArray, stride: int) -> FloatArray:
    """Angles between rotations (F, 4) ``stride`` frames apart, radians. (F - stride,)."""
    return np.asarray(quat.angle_between(quats[:-stride], quats[stride:]))


def around(
    speeds: FloatArray, at: IntArray, stride: int, fps: float
) -> tuple[FloatArray, FloatArray]:
    """Median speed of the steps around each of ``at``, itself left out; and the faster one next."""
    n = len(speeds)
    half = max(1, min(max(3, round(AROUND_S * fps / stride)), (n - 1) // (2 * stride)))
    middle = np.clip(at, half * stride, n - 1 - half * stride)
    index = middle[:, None] + np.arange(-half, half + 1) * stride
    values = np.where(index == at[:, None], np.nan, speeds[index])
    values.sort(axis=1)  # NaN comes last
    rows, count = np.arange(len(at)), np.isfinite(values).sum(axis=1)
    usual = 0.5 * (values[rows, (count - 1) // 2] + values[rows, count // 2])
    before = np.where(at >= stride, speeds[np.maximum(at - stride, 0)], 0.0)
    after = np.where(at + stride < n, speeds[np.minimum(at + stride, n - 1)], 0.0)
    return usual, np.maximum(before, after)


def strides_of(fps: float) -> list[int]:
    """Frames between the rotations that are compared: 1, and as many as last a sixtieth."""
    return sorted({1, min(4, max(1, round(fps / JUDGED_FPS)))})
