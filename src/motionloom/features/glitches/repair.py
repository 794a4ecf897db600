"""Repair a capture: remove the defects that must not travel into new motion.

Glitched frames are bridged. Bursts are spread: markers that are lost and found again leave a foot,
a hand or the whole trunk somewhere else within one to four frames. Each side of such a step may be
right, so nothing can be interpolated: the step is spread over the frames around it until its joint
is no faster than in the rest of the clip, or three quarters of the step are spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.body.anatomy import repair_knees
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.features.glitches.glitch_frames import (
    body_joints,
    bridge_line,
    bridge_rotations,
    find_twitches,
    glitched_frames,
    reject_if_rougher,
    rougher_frames,
    unflip,
)
from motionloom.motion.edit import check_rates, resample
from motionloom.motion.motion import Motion, Skeleton, column_runs, forward_into, runs_of
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


# --- Bursts: steps of a joint far faster than those around it, spread over the frames around them

BURST_FPS = 50.0
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
    if motion.fps < BURST_FPS or motion.n_frames < SHORTEST:
        return Spread(motion, ())
    parts = []
    for part in _parts(motion.skeleton, body):
        is_leg = part.kind == "limb" and part.name.endswith("leg")
        if not ((legs_only and not is_leg) or (not legs and (is_leg or part.kind == "foot"))):
            parts.append(part)
    clip = _Clip(motion, parts)
    for k, part in enumerate(parts):
        clip, bursts = _spread_part(clip, part, parts[k + 1 :])
        if bursts.any():
            notes.append(f"{part.name} ({_frames_in_words(bursts)})")
    return Spread(clip.motion, tuple(notes))


class _Clip:
    """A clip in which parts are smoothed: its joints in the world, and how far they turn.

    Parameters
    ----------
    motion
        The clip as captured.
    parts
        Those whose joints are judged.
    arrays
        Root positions, rotations and translations of the smoothed clip, where they are not those
        of ``motion``.
    pose
        Its joints in the world, where they are known.
    """

    def __init__(
        self,
        motion: Motion,
        parts: Sequence[_Part],
        arrays: tuple[FloatArray, FloatArray, FloatArray | None] | None = None,
        pose: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        self.motion, self.fps = motion, motion.fps
        if arrays is None:
            arrays = motion.root_positions, motion.local_quats, motion.joint_translations
        self.root, self.quats, self.moving = arrays
        if pose is None:
            out = np.zeros((*self.quats.shape[:2], 3)), np.zeros(self.quats.shape)
            pose = forward_into(motion.skeleton, *arrays, out)
        self.positions, self.world = pose
        self._joints = sorted({joint for part in parts for joint in part.shown})
        self._in_parents = any(part.kind in ("foot", "head") for part in parts)

    @cached_property
    def _turns(self) -> dict[int, FloatArray]:
        """How far joints turn in the world, then in their parents where these are judged."""
        seen = [self.world[:, self._joints]]
        if self._in_parents:
            seen.append(self.quats[:, self._joints])
        return steps_between(np.concatenate(seen, axis=1), self.fps)

    @cached_property
    def _kinks(self) -> FloatArray | None:
        return kinks_of(self.world[:, self._joints], self.fps)

    def turns(self, joint: int, *, in_parent: bool = False) -> dict[int, FloatArray]:
        """How far a joint turns, by the frames between. Shapes (F - stride,)."""
        k = self._joints.index(joint) + in_parent * len(self._joints)
        return {stride: each[:, k] for stride, each in self._turns.items()}

    def kinks(self, joint: int) -> FloatArray | None:
        """How far a joint is from between its neighbours. (F,)."""
        return None if self._kinks is None else self._kinks[:, self._joints.index(joint)]

    def smoothed(self) -> Motion:
        """The smoothed clip as a motion."""
        if self.quats is self.motion.local_quats:
            return self.motion
        changed: dict[str, FloatArray | None] = {"local_quats": self.quats}
        if self.root is not self.motion.root_positions:  # the whole body is smoothed
            changed |= {"root_positions": self.root, "joint_translations": self.moving}
        return self.motion.replace(**changed)


def _spread_part(clip: _Clip, part: _Part, later: Sequence[_Part]) -> tuple[_Clip, BoolArray]:
    """The clip with one part's bursts spread, and the steps in which they were. (F - 1,).

    Of the new clip the parts ``later`` are judged.
    """
    motion = clip.motion
    first = _bursts_of(clip, part) | _jolts(clip, part)
    if not first.any():
        return clip, first
    carried = motion.skeleton.carried_by(part.joints.tolist())
    allowed = _allowed(clip, part, first)
    envelope = _share(first, motion.fps, flat_s=2.0 * FLAT_S)
    for rounds in ROUNDS:
        slowed = _rounds(clip, part, first, envelope, allowed, rounds)
        both = clip.positions[:, carried], slowed.positions[:, carried]
        worse = rougher_frames(*both, motion.fps, envelope > 0.0)
        if not worse.any():
            pose = slowed.positions, slowed.world
            return _Clip(slowed.smoothed(), later, None, pose), first & (envelope[1:] > 0.0)
        if rounds == ROUNDS[-1]:
            envelope = envelope * (1.0 - _share(worse[1:] | worse[:-1], motion.fps))
    kept = reject_if_rougher(motion, slowed.smoothed(), carried, envelope > 0.0)
    return _Clip(kept, later), first & (envelope[1:] > 0.0)


def _rounds(
    clip: _Clip,
    part: _Part,
    first: BoolArray,
    envelope: FloatArray,
    allowed: FloatArray,
    rounds: int,
) -> _Clip:
    """The clip with bursts (F - 1,) spread as far as ``envelope`` and ``allowed`` (F,) let it."""
    captured = clip.world
    near = _share(first, clip.fps)[1:] > 0.0
    bursts = first
    for turn in range(rounds):
        share = envelope * _share(bursts, clip.fps)
        if not share.any():
            break
        clip = _smoothed(clip, part, share, captured, allowed)
        bursts = _still_fast(clip, part, near)
        if turn < JOLT_ROUNDS:
            bursts |= _jolts(clip, part) & near
        if not bursts.any():
            break
    return clip


def _frames_in_words(bursts: BoolArray) -> str:
    firsts = np.flatnonzero(bursts & ~np.append(False, bursts[:-1])).tolist()
    listed = ", ".join(str(frame) for frame in firsts[:LISTED])
    more = f" and {len(firsts) - LISTED} more" if len(firsts) > LISTED else ""
    return f"frame{'s' if len(firsts) > 1 else ''} {listed}{more}"


@lru_cache(maxsize=16)
def _parts(skeleton: Skeleton, body: BodyMap) -> tuple[_Part, ...]:
    """The body's parts, from the trunk outwards."""
    pelvis = 0 if body.pelvis is None else body.pelvis
    chest = body.spine[-1] if body.spine else pelvis
    jolted = tuple(joint for joint in (pelvis, chest, body.neck) if joint is not None)
    shown = tuple(dict.fromkeys((pelvis, chest)))
    parts = [_Part("the body", "body", np.arange(skeleton.n_joints), shown, jolted)]
    if body.head is not None:
        below = skeleton.chain(chest)
        above = [joint for joint in skeleton.chain(body.head) if joint not in below]
        parts.append(_Part("the head", "head", np.array(above), tuple(above)))
    for side in ("left", "right"):
        for limb, upper, lower, end in (LEG, ARM):
            top, middle, last = (getattr(body, f"{side}_{role}") for role in (upper, lower, end))
            if top is None or middle is None or last is None:
                continue
            leg = limb == "leg"
            chain = skeleton.chain(last)
            outer = chain[chain.index(top) if top in chain else 0 :]
            parts.append(
                _Part(f"the {side} {limb}", "limb", np.array(outer), (top, middle), (), leg)
            )
            kind: Literal["foot", "hand"] = "foot" if leg else "hand"
            parts.append(_Part(f"the {side} {kind}", kind, np.array([last]), (last,), (), leg))
            toe = getattr(body, f"{side}_toe")
            if kind == "foot" and toe is not None:
                parts.append(_Part(f"the {side} toe", kind, np.array([toe]), (toe,), (), leg))
    return tuple(part for part in parts if len(part.joints))


def _bursts_of(clip: _Clip, part: _Part) -> BoolArray:
    fps, bursts = clip.fps, np.zeros(clip.motion.n_frames - 1, dtype=np.bool_)
    for joint in part.shown:
        turns = clip.turns(joint)
        here = find_bursts(turns, fps, kinks=clip.kinks(joint) if part.kinks else None)
        if part.kind == "body":
            here |= find_bursts(turns, fps, longest_s=LONGEST_TRUNK_S, least=ALONE)
            here &= turns[1] < FARTHEST
        bursts |= here
        if part.kind in ("foot", "head"):
            local = clip.turns(joint, in_parent=True)
        if part.kind == "foot":
            bursts |= find_bursts(local, fps, longest_s=LONGEST_FOOT_S, least=FAST_FOOT)
        if part.kind == "head":  # a neck that pops on a body that turns is seen in its parent
            bursts |= find_bursts(local, fps, least=ALONE)
    return bursts


def _allowed(clip: _Clip, part: _Part, bursts: BoolArray) -> FloatArray:
    """How far rotations may change in each frame, radians: part of what the burst next to it is.

    A burst is what its steps have over the steps around. (F,).
    """
    allowed = np.full(clip.motion.n_frames, LEAST_CHANGE)
    for first, last in runs_of(bursts):
        burst = np.arange(first, last + 1)
        size = 0.0
        for joint in part.shown:
            steps = clip.turns(joint)[1]
            usual, _ = around(steps, burst, 1, clip.fps)
            size = max(size, float(np.maximum(steps[burst] - usual, 0.0).sum()))
        reach = round((2.0 * FLAT_S + RAMP_S) * clip.fps) + 1
        zone = slice(max(0, first - reach), last + reach + 2)
        allowed[zone] = np.maximum(allowed[zone], CHANGED * size)
    return allowed


def _jolts(clip: _Clip, part: _Part) -> BoolArray:
    """Steps next to frames in which a joint of the trunk is jolted. (F - 1,)."""
    jolts = np.zeros(clip.motion.n_frames - 1, dtype=np.bool_)
    for joint in part.jolted:
        for stride in strides_of(clip.fps):
            path, rate = clip.positions[:, joint], clip.fps / stride
            bends = np.zeros(len(path))
            second = path[2 * stride :] - 2.0 * path[stride:-stride] + path[: -2 * stride]
            bends[stride:-stride] = rate**2 * np.linalg.norm(second, axis=-1)
            sharp = np.flatnonzero(
                (bends > JOLT * max(1.0, rate / JUDGED_FPS)) & (bends < FARTHEST_M * rate**2)
            )
            if len(sharp):
                usual, _ = around(bends, sharp, stride, clip.fps)
                for at in sharp[bends[sharp] > JOLT_RATIO * usual]:
                    jolts[at - 1 : at + 1] = True
    return jolts


def _still_fast(clip: _Clip, part: _Part, bursts: BoolArray) -> BoolArray:
    """Steps near known bursts that are faster than all steps away from them. (F - 1,)."""
    fast = np.zeros(clip.motion.n_frames - 1, dtype=np.bool_)
    for joint in part.shown:
        for in_parent in (False, True) if part.kind in ("foot", "head") else (False,):
            for stride, steps in clip.turns(joint, in_parent=in_parent).items():
                speeds = steps * clip.fps / stride
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
    clip: _Clip, part: _Part, share: FloatArray, captured: FloatArray, allowed: FloatArray
) -> _Clip:
    """The clip with a part of the body smoothed where ``share`` (F,) says, as far as it says.

    Rotations are smoothed in the world, and stay within ``allowed`` (F,) of those ``captured``
    (F, J, 4). Joints further out keep theirs in their parents.
    """
    skeleton = clip.motion.skeleton
    kernel, changed = _kernel(clip.fps, clip.motion.n_frames), np.flatnonzero(share > 0.0)
    near, weights = frames_around(changed, clip.motion.n_frames, kernel)
    much, joints, new = share[changed], part.joints, clip.world[changed]
    new[:, joints] = quat.smoothed(
        clip.world[:, joints],
        changed,
        (near, weights),
        much[:, None],
        captured[changed][:, joints],
        allowed[changed, None],
    )
    quats, root, moving = np.array(clip.quats), clip.root, clip.moving
    hanging = joints[skeleton.parents[joints] >= 0]
    quats[np.ix_(changed, hanging)] = quat.from_to(
        new[:, skeleton.parents[hanging]], new[:, hanging]
    )
    if len(hanging) < len(joints):
        quats[changed, 0] = new[:, 0]
    if part.kind == "body":
        root = np.array(root)
        root[changed] += much[:, None] * (_mean(root[near], weights) - root[changed])
        if moving is not None:
            moving = np.array(moving)
            way = _mean(moving[near], weights) - moving[changed]
            moving[changed] += much[:, None, None] * way
    return _Clip(clip.motion, [part], (root, quats, moving))


def _kernel(fps: float, n_frames: int) -> FloatArray:
    """A bell of three standard deviations to both sides, or of the whole clip where it is short."""
    half = min(max(1, round(3.0 * SIGMA_S * fps)), n_frames)
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / (SIGMA_S * fps)) ** 2)
    return np.asarray(kernel / kernel.sum())


def frames_around(frames: IntArray, n: int, kernel: FloatArray) -> tuple[IntArray, FloatArray]:
    """Frames around some of ``n``, and their weights; near the ends fewer, evenly. (C, K)."""
    half = len(kernel) // 2
    reach = np.minimum(np.minimum(frames, n - 1 - frames), half)  # as far to both sides
    offsets = np.arange(-half, half + 1)
    weights = np.where(np.abs(offsets) <= reach[:, None], kernel, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    index = np.clip(frames[:, None] + offsets, 0, n - 1)
    return index, weights


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted mean of values (C, K, ...). (C, ...)."""
    return np.asarray(np.einsum("fk,fk...->f...", weights, values))


# --- Bursts of one rotation

JUDGED_FPS = 60.0
"""Faster clips are judged at steps of this rate as well: two half bursts are one of theirs."""
FAST = np.radians(300.0)
"""Slower steps are no bursts, rad/s."""
RATIO = 2.8
"""A burst is this many times as fast as the median of the steps around it."""
AROUND_S = 0.1
LONGEST_BURST_S = 0.045
"""A joint that is faster than half its peak for longer kicks or punches, seconds."""
ALONE = np.radians(540.0)
"""A single step as fast as this is a jump even if the joint is as fast in other frames, rad/s."""
KINK, KINK_RATIO = np.radians(7.0), 5.0
"""A rotation so far from the mean of those before and after, and so many times as far as around,
has a kink. The angle is that of steps at 60 Hz."""


def find_bursts(
    turns: Mapping[int, FloatArray],
    fps: float,
    *,
    longest_s: float = LONGEST_BURST_S,
    least: float = FAST,
    kinks: FloatArray | None = None,
) -> BoolArray:
    """Steps of a rotation far faster than those around and than its others. (F - 1,).

    Parameters
    ----------
    turns
        Of the rotation, as of :func:`steps_between`.
    fps
        Its rate.
    longest_s
        What is faster than half its peak for longer is motion.
    least
        Slower steps are no bursts, rad/s.
    kinks : (F,)
        As of :func:`kinks_of`, where kinks are looked for too: feet have none, but fists that turn
        back at the end of a punch do.
    """
    bursts = np.zeros(len(turns[1]), dtype=np.bool_)
    for stride, steps in turns.items():
        if len(steps) <= 3 * stride:
            continue
        speeds = steps * fps / stride
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
        if kinks is not None and stride >= round(fps / JUDGED_FPS):
            far = np.flatnonzero(kinks > KINK)
            usual, _ = around(kinks, far, stride, fps)
            for at in far[kinks[far] > KINK_RATIO * usual]:
                bursts[at - 1 : at + 1] = True
    return bursts


def steps_between(quats: FloatArray, fps: float) -> dict[int, FloatArray]:
    """Angles between rotations (F, ..., 4) one frame apart, and a sixtieth of a second, radians.

    By the number of frames between them, in shapes (F - stride, ...).
    """
    strides = [stride for stride in strides_of(fps) if stride < len(quats)]
    angles = quat.angle_between(
        np.concatenate([quats[:-stride] for stride in strides]),
        np.concatenate([quats[stride:] for stride in strides]),
    )
    ends = np.cumsum([len(quats) - stride for stride in strides])
    return dict(zip(strides, np.split(angles, ends[:-1]), strict=True))


def kinks_of(quats: FloatArray, fps: float) -> FloatArray | None:
    """How far rotations (F, ..., 4) are from the middle of those before and after. (F, ...).

    None at rates at which the longest stride is shorter than a sixtieth of a second: what it shows
    is noise.
    """
    stride = strides_of(fps)[-1]
    if stride < round(fps / JUDGED_FPS):
        return None
    middle = quat.slerp(quats[: -2 * stride], quats[2 * stride :], 0.5)
    away = np.zeros(quats.shape[:-1])
    away[stride:-stride] = quat.angle_between(quats[stride:-stride], middle)
    return away


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
