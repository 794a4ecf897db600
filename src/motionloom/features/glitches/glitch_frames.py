"""Capture glitches: frames that no body could have made, and the repair of joints that flip.

Swapped markers, gimbal flips and bad joins of takes leave a joint in one frame where it is neither
before nor after. Blends carry such frames on, and quality checks accept them, because the sources
have them too. Four finders: joints that leave their path (:func:`find_glitches`), steps that turn
far too fast (:func:`find_speed_spikes`), rotations that twitch (:func:`find_twitches`), and joints
that turn impossibly far (:func:`find_sudden_turns`). Bad frames are bridged from the good frame
before to the good frame after (:func:`bridge_rotations`), and so are joints that turn over and back
(:func:`unflip`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, of_kind, running_maximum
from motionloom._core import Record, kernel, maker
from motionloom.body.body_map import ROLES, BodyMap, roles_for
from motionloom.findings import Finding
from motionloom.motion.motion import Motion, Skeleton, check_rows, runs_of
from motionloom.rotation import quat

_find_bends = kernel("ml_bend_find")
_new_rules = maker("ml_bends")

JUDGED_FPS = 60.0
"""Faster motion is judged over steps of frames as long as this rate's. What is slower is held to
lower limits: an impact that is over within one frame bends a way the less, the longer it lasts."""
SHARP = 200.0
"""A joint whose path bends less sharply than this does not glitch, m/s². Feet that land and hands
that hit reach half of it."""
RATIO = 5.0
"""It bends this many times as sharply as just before and after."""
CALM = 14.0
"""Added to how sharply it bends around, m/s²: what stands may start."""
NEIGHBOURS = 1.5
"""A one-frame glitch also doubles the acceleration of both neighbours; those are ignored."""
SHARPEST = 0.5
"""Over steps of several frames a glitch is seen in all of them; it is where single frames bend at
least this much of the most."""
AROUND_S = 0.1
ABOVE_ROOT = -1
FASTEST = np.radians(3000.0)
"""No joint of a body turns faster, rad/s, whatever it does around: gimbal flips of a foot last for
several frames and do not stand out from them. Toe joints, which captures invent, are left out."""


class Glitch(NamedTuple):
    """One frame in which a joint jumps to an impossible place.

    Attributes
    ----------
    frame : int
        Frame of the motion.
    joint : str
        The joint that leaves its path farthest.
    """

    frame: int
    joint: str


def find_glitches(motion: Motion, *, body: BodyMap | None = None) -> tuple[Glitch, ...]:
    """Find frames in which a joint leaves its path, or turns, far too fast; in their order.

    Where a joint jumps and stays, both frames of the step are named. The first and the last frame
    of a motion, or sixtieth of a second where frames are shorter, cannot be judged. One frame that
    is 10 cm off is found at any rate from 24 to 240 frames per second; faults of quick feet
    and hands are hard to tell from motion below 60.

    Parameters
    ----------
    motion
        F frames, at least 5: fewer have no glitches.
    body
        Roles of its joints; guessed by default. Fingers and props are not looked at: captures make
        them up, and they glitch often.

    Examples
    --------
    >>> import numpy as np
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> find_glitches(walk)
    ()
    >>> root = np.array(walk.root_positions)
    >>> root[30, 0] += 0.1
    >>> [glitch.frame for glitch in find_glitches(walk.replace(root_positions=root))]
    [30]
    """
    of_kind(motion, Motion, "motion")
    if motion.n_frames < 5:
        return ()
    positions = motion.world_positions()
    looked_at = glitch_joints(motion.skeleton, roles_for(motion.skeleton, body))
    return turns_and_glitches(motion, positions, looked_at)[1]


def glitch_joints(skeleton: Skeleton, body: BodyMap) -> tuple[list[int], set[int]]:
    """Joints that may glitch, and those of them that may turn too fast: all but toes."""
    joints = body_joints(skeleton, body)
    return joints, {each for each in joints if each not in (body.left_toe, body.right_toe)}


def glitched_frames(motion: Motion, body: BodyMap, positions: FloatArray) -> IntArray:
    """Frames of :func:`find_glitches`, of a motion with known world positions. (N,)."""
    _, glitches = turns_and_glitches(motion, positions, glitch_joints(motion.skeleton, body))
    return np.array(sorted({glitch.frame for glitch in glitches}), dtype=np.int64)


def turns_and_glitches(
    motion: Motion, positions: FloatArray, looked_at: tuple[list[int], set[int]]
) -> tuple[Turns, tuple[Glitch, ...]]:
    """As :func:`find_glitches`, of a motion with known world positions and joints; and its turns.

    ``looked_at`` are those of :func:`glitch_joints`.
    """
    turns = spikes_of(motion, FASTEST)
    if motion.n_frames < 5:
        return turns, ()
    joints, fast_joints = looked_at
    names = {motion.skeleton.names[joint] for joint in joints}
    stride = max(1, round(motion.fps / JUDGED_FPS))
    coarse = min(1.0, motion.fps / (stride * JUDGED_FPS))
    joint_of: dict[int, str] = {}
    for spike in turns.spikes:
        if spike.joint not in names or spike.ratio * coarse**0.5 < SPIKE_RATIO:
            continue
        for frame in (spike.frame, spike.frame + 1):
            joint_of.setdefault(frame, spike.joint)
    for frame, joint in turns.too_fast:
        if joint in fast_joints:
            joint_of[frame] = joint_of[frame + 1] = motion.skeleton.names[joint]
    if motion.n_frames > 2 * stride:
        bent = _bent(positions, joints, motion.fps, stride=stride, coarse=coarse)
        joint_of.update((f, motion.skeleton.names[joints[j]]) for f, j in bent.items())
    return turns, tuple(Glitch(frame, joint_of[frame]) for frame in sorted(joint_of))


def _bent(
    positions: FloatArray, joints: list[int], fps: float, *, stride: int, coarse: float
) -> dict[int, int]:
    """Frames in which a joint leaves its path, each with the joint that leaves it farthest.

    Bends are judged over ``stride`` frames; ``coarse`` is below 1 where even one frame lasts
    longer than those of :data:`JUDGED_FPS`. Joints count among ``joints``.
    """
    half = max(3, round(AROUND_S * fps / stride))
    rules = _bend_rules(stride, half, coarse)
    most = np.zeros(len(positions), dtype=np.int64)
    _find_bends(
        *positions.shape[:2], np.ascontiguousarray(positions), len(joints),
        np.array(joints, dtype=np.int64), fps, rules, np.zeros(2 * half), most,
    )  # fmt: skip
    if not len(most) or most.max() < 0:
        return {}
    return {int(f): int(most[f]) for f in np.flatnonzero(most >= 0)}


@lru_cache(maxsize=16)
def _bend_rules(stride: int, half: int, coarse: float) -> Record:
    """What a bend is, as the core takes it."""
    made: Record = _new_rules(
        stride=stride,
        half=half,
        sharp=SHARP * coarse,
        beside=NEIGHBOURS,
        sharpest=SHARPEST,
        ratio=RATIO * coarse**0.5,
        calm=CALM * coarse,
    )
    return made


def body_joints(skeleton: Skeleton, body: BodyMap) -> list[int]:
    """Joints that have a role, and those between them and the root; all where none has."""
    joints, parents = {ABOVE_ROOT}, skeleton.parents.tolist()
    for role in ROLES:
        value = getattr(body, role)
        for joint in value if isinstance(value, tuple) else (value,):
            while joint is not None and joint not in joints:
                joints.add(int(joint))
                joint = parents[joint]
    return sorted(joints - {ABOVE_ROOT}) or list(range(skeleton.n_joints))


NEIGHBOURS_S = 1.5 / 60.0
"""Frames so close to a capture glitch are as unreliable as the glitch itself, seconds."""


def glitch_mask(motion: Motion, frames: Sequence[int]) -> BoolArray:
    """Frames that are glitched or next to one. (F,)."""
    mask = np.zeros(motion.n_frames, dtype=bool)
    near = int(np.ceil(NEIGHBOURS_S * motion.fps))
    for frame in frames:
        mask[max(frame - near, 0) : frame + near + 1] = True
    return mask


# --- Spikes: steps in which a joint turns far faster than just before and after

_find_spikes = kernel("ml_spike_find")

SPIKE_RATIO = 8.0
"""A spike is this many times faster than the joint is just before and after."""
SPIKE_SPEED = 8.0
"""Nothing slower is a spike, radians per second."""
STEADY_SPEED = 1.0
"""Added to the speed around, so that a joint at rest may start, radians per second."""
MOST_SPIKES = 256
"""Spikes that are looked for at first; more only in clips of noise."""


class SpeedSpike(NamedTuple):
    """One frame in which a joint turns far too fast.

    Attributes
    ----------
    frame : int
        The step from this frame to the next.
    joint : str
        Name of the joint.
    ratio : float
        Its speed over that of the frames around it.
    """

    frame: int
    joint: str
    ratio: float


class Turns(NamedTuple):
    """How the joints of a motion turn from frame to frame."""

    spikes: tuple[SpeedSpike, ...]
    """Worst first."""
    too_fast: list[list[int]]
    """Step and joint of every turn that is too fast."""
    error: float
    flips: bool
    """Largest error of a rotation's length, and whether any sign flips, as of ``check_rows``."""


def find_speed_spikes(motion: Motion) -> tuple[SpeedSpike, ...]:
    """Steps in which a joint turns much faster than in the tenth of a second around, worst first.

    Gimbal flips, swapped markers and bad joins all look like this; motion does not, for a joint
    with mass is never fast in one frame only.
    """
    return spikes_of(motion).spikes


def spikes_of(motion: Motion, too_fast: float = math.inf) -> Turns:
    """As :func:`find_speed_spikes`, with other faults of rotations. See :class:`Turns`.

    ``too_fast`` is more than any spike must be, rad/s.
    """
    if motion.n_frames < 4:
        return Turns((), [], *check_rows(motion.local_quats))
    quats, half = motion.local_quats, max(2, round(AROUND_S * motion.fps))
    work, most = np.zeros(2 * half), MOST_SPIKES
    n_beyond, off = np.zeros(1, dtype=np.int64), np.zeros(2)
    while True:
        rows, beyond = np.zeros((most, 3)), np.zeros((most, 2), dtype=np.int64)
        n = _find_spikes(
            *quats.shape[:2], quats, motion.fps, SPIKE_SPEED, STEADY_SPEED, SPIKE_RATIO, too_fast,
            half, work, most, rows, beyond, n_beyond, off,
        )  # fmt: skip
        if max(n, n_beyond[0]) <= most:
            break
        most = max(n, int(n_beyond[0]))
    spikes = [
        SpeedSpike(int(frame), motion.skeleton.names[int(joint)], ratio)
        for frame, joint, ratio in rows[:n].tolist()
    ]
    return Turns(
        tuple(sorted(spikes, key=lambda spike: -spike.ratio)),
        beyond[: n_beyond[0]].tolist(),
        0.5 * float(off[0]),
        bool(off[1] > 0.0),
    )


# --- Twitches: rotations that leave their course for a frame or two and come straight back

TWITCH_S = 0.03
"""A twitch is over within this time, or within one frame."""
TWITCH_RATIO, TWITCH_ANGLE = 3.0, np.radians(2.0)
"""It goes this many times as far as the frames around it are apart, and this angle on top."""


def find_twitches(
    quats: FloatArray, fps: float, *, least: FloatArray | float = TWITCH_ANGLE
) -> BoolArray:
    """Frames in which rotations leave their course and come straight back. (F, ...).

    A step that stays is not a twitch: both of its sides may be right.

    Parameters
    ----------
    quats : (F, ..., 4)
        Unit quaternions.
    fps
        Their rate.
    least
        Twitches of less than about this angle are noise, radians; broadcasts.
    """
    twitching = np.zeros(quats.shape[:-1], dtype=np.bool_)
    for width in range(1, max(1, round(TWITCH_S * fps)) + 1):
        n = len(quats) - width - 1
        if n < 1:
            break
        before, after = quats[:n], quats[width + 1 :]
        limit = TWITCH_RATIO * _angles(before, after) + least
        out = np.ones(before.shape[:-1], dtype=np.bool_)
        for k in range(1, width + 1):
            inside = quats[k : k + n]
            out &= np.minimum(_angles(inside, before), _angles(inside, after)) > limit
        for k in range(1, width + 1):
            twitching[k : k + n] |= out
    return twitching


def _angles(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles between rotations (..., 4), to about 1e-8 radians: quicker than the exact ones."""
    return np.asarray(2.0 * np.arccos(np.minimum(np.abs(np.einsum("...i,...i", a, b)), 1.0)))


# --- Sudden turns: joints that turn impossibly far from one frame to the next

_find_jumps = kernel("ml_jump_find")

LEADING_FRAMES = 8
"""Captures that start badly are wrong in at most this many frames."""
SPEED_DEG_S = 2000.0
"""Faster than any joint of a person turns, but for a hand or foot that hits something."""
LEAST_DEG = 20.0
OVER_USUAL = 6.0
"""A turn is also this many times what the joint does in its liveliest twentieth of frames."""
MOST_TURNS = 1000
"""More jumps than this are not counted: a clip of noise is made of nothing else."""
SEEN_M = 0.05
"""A joint that swings its far end by less (a thumb, a toe) earns a note, not a warning."""


@dataclass(frozen=True, slots=True)
class SuddenTurn:
    """One capture glitch: a joint that turned too far in one frame."""

    frame: int
    """First frame after the turn."""
    joint: str
    turn_deg: float
    swing_m: float
    """How far the outermost point that hangs on the joint can have moved, metres."""

    def __str__(self) -> str:
        return (
            f"{self.joint} turns {self.turn_deg:.0f} degrees (up to {100 * self.swing_m:.0f} cm "
            f"at its end) from frame {self.frame - 1} to {self.frame}"
        )


def find_sudden_turns(motion: Motion) -> tuple[SuddenTurn, ...]:
    """Turns between neighbouring frames that neither people nor this joint make; worst first."""
    frames, joints, turns = _real_turns(motion)
    if not frames.size:
        return ()
    swings = 2.0 * np.sin(0.5 * turns) * _reach(motion.skeleton)[joints]
    worst = np.lexsort((frames, -swings))[:MOST_TURNS]
    return tuple(
        SuddenTurn(
            int(frames[i]) + 1,
            motion.skeleton.names[joints[i]],
            float(np.degrees(turns[i])),
            float(swings[i]),
        )
        for i in worst
    )


def sudden_turn_places(motion: Motion) -> tuple[tuple[int, str], ...]:
    """First frame after each turn of :func:`find_sudden_turns`, and its joint, in no order."""
    frames, joints, _ = _real_turns(motion)
    if len(frames) > MOST_TURNS:
        return tuple((turn.frame, turn.joint) for turn in find_sudden_turns(motion))
    names = motion.skeleton.names
    return tuple((f + 1, names[j]) for f, j in zip(frames.tolist(), joints.tolist(), strict=True))


def _real_turns(motion: Motion) -> tuple[IntArray, IntArray, FloatArray]:
    """Frames before jumps, their joints, and how far they turn, radians."""
    none = np.zeros(0, dtype=np.int64)
    if motion.n_frames < 4:
        return none, none, np.zeros(0)
    limit = np.radians(max(LEAST_DEG, SPEED_DEG_S / motion.fps))
    frames, joints = _turns_beyond(motion.local_quats, float(np.cos(0.5 * min(limit, np.pi))))
    if not frames.size:
        return none, none, np.zeros(0)
    quats = motion.local_quats
    turns = _turns_between(quats[frames, joints], quats[frames + 1, joints])
    some = np.arange(0, motion.n_frames - 1, 1 + motion.n_frames // 300)[:, None]
    odd, which = np.unique(joints, return_inverse=True)
    usual = _upper_twentieth(_turns_between(quats[some, odd], quats[some + 1, odd]))
    real = turns > OVER_USUAL * usual[which]
    return frames[real], joints[real], turns[real]


def sudden_turn_findings(turns: tuple[SuddenTurn, ...]) -> list[Finding]:
    """Findings on sudden turns: leading ones that show are warnings, the rest one note."""
    leading = [turn for turn in turns if turn.frame <= LEADING_FRAMES]
    findings = []
    if leading:
        last = max(turn.frame for turn in leading)
        others = len(leading) - 1
        more = f", and {others} more such turn{'s' * (others > 1)}" if others else ""
        findings.append(
            Finding(
                "warning" if leading[0].swing_m >= SEEN_M else "note",
                f"frame {leading[0].frame}",
                f"the clip starts badly: {leading[0]}{more} in the first {LEADING_FRAMES} frames.",
                f"Cut them off with motion[{last}:].",
            )
        )
    later = [turn for turn in turns if turn.frame > LEADING_FRAMES]
    if later:
        findings.append(
            Finding(
                "note",
                f"frame {later[0].frame}",
                f"{later[0]}, the worst of {len(later)} such jumps."
                if len(later) > 1
                else f"{later[0]}.",
                "motionloom check lists them.",
            )
        )
    return findings


def _turns_between(before: FloatArray, after: FloatArray) -> FloatArray:
    """Angles between rotations (..., 4), radians. Shape (...)."""
    product = before * after
    dots = product[..., 0] + product[..., 1] + product[..., 2] + product[..., 3]
    return np.asarray(2.0 * np.arccos(np.minimum(np.abs(dots), 1.0)))


def _upper_twentieth(values: FloatArray) -> FloatArray:
    """The value per column that a twentieth lies above; numpy's quantile is far slower."""
    k = len(values) - 1 - len(values) // 20
    return np.asarray(np.partition(values, k, axis=0)[k])


def _turns_beyond(quats: FloatArray, cosine: float) -> tuple[IntArray, IntArray]:
    """Frames and joints whose half turn to the next frame has a cosine below this.

    A kernel, because the plain form needs a quarter of the clip's own memory.
    """
    quats = np.ascontiguousarray(quats, dtype=np.float64)
    pairs = np.zeros((256, 2), dtype=np.int64)
    n = _find_jumps(*quats.shape[:2], quats, cosine, len(pairs), pairs)
    if n > len(pairs):
        pairs = np.zeros((n, 2), dtype=np.int64)
        _find_jumps(*quats.shape[:2], quats, cosine, len(pairs), pairs)
    return pairs[:n, 0], pairs[:n, 1]


def _reach(skeleton: Skeleton) -> FloatArray:
    """Farthest that a point hanging on each joint can be from it, metres. Shape (J,)."""
    reach = np.zeros(skeleton.n_joints)
    np.maximum.at(reach, skeleton.end_parents, np.linalg.norm(skeleton.end_offsets, axis=1))
    far, parents = reach.tolist(), skeleton.parents.tolist()
    lengths = np.linalg.norm(skeleton.offsets, axis=1).tolist()
    for j in range(skeleton.n_joints - 1, 0, -1):
        far[parents[j]] = max(far[parents[j]], lengths[j] + far[j])
    return np.array(far)


# --- Bridges: from a good frame to the next

LEADING = 1.5
"""Velocities at the ends lead no farther than this many times the distance between the ends, ..."""
LEAST, LEAST_M = np.radians(12.0), 0.05
"""... or this far, radians and metres: a joint that comes back to its place may swing out."""


def bridge_rotations(quats: FloatArray, before: int, after: int) -> FloatArray:
    """Rotations between two good frames. Shapes (F, ..., 4) to (after - before - 1, ..., 4).

    Parameters
    ----------
    quats : (F, ..., 4)
        Unit quaternions in time.
    before, after
        The good frames.
    """
    length, last = after - before, len(quats) - 1
    firsts, lasts = [before, max(before - 1, 0), after], [after, before, min(after + 1, last)]
    whole, leave, arrive = quat.turn(quats[firsts], quats[lasts])
    step = whole / length
    most = np.maximum(LEADING * length * _size(step), LEAST)
    leave, arrive = leave if before > 0 else step, arrive if after < last else step
    leave, arrive = _shortened(leave, length, most), _shortened(arrive, length, most)
    return np.asarray(
        quat.multiply(quats[before], quat.exp(cubic_way(length * step, leave, arrive, length)))
    )


def bridge_line(values: FloatArray, before: int, after: int) -> FloatArray:
    """Positions between two good frames. Shapes (F, ..., 3) to (after - before - 1, ..., 3)."""
    length, last = after - before, len(values) - 1
    way = values[after] - values[before]
    most = np.maximum(LEADING * _size(way), LEAST_M)
    leave = values[before] - values[before - 1] if before > 0 else way / length
    arrive = values[after + 1] - values[after] if after < last else way / length
    leave, arrive = _shortened(leave, length, most), _shortened(arrive, length, most)
    return np.asarray(values[before] + cubic_way(way, leave, arrive, length))


def cubic_way(way: FloatArray, leave: FloatArray, arrive: FloatArray, length: int) -> FloatArray:
    """Distance covered after 1 to ``length - 1`` frames along a cubic. (length - 1, ...).

    Parameters
    ----------
    way : (...)
        From end to end.
    leave, arrive : (...)
        Steps per frame at both ends.
    length
        Frames from end to end.
    """
    u = (np.arange(1, length) / length).reshape(-1, *[1] * way.ndim)
    path = (u**3 - 2.0 * u**2 + u) * length * leave + (3.0 * u**2 - 2.0 * u**3) * way
    return np.asarray(path + (u**3 - u**2) * length * arrive)


def turn_per_frame(quats: FloatArray, first: int, last: int) -> FloatArray:
    """Mean turn per frame from one frame to another, in the joint's own frame. (..., 3)."""
    return np.asarray(quat.turn(quats[first], quats[last]) / (last - first))


def _shortened(step: FloatArray, length: int, most: FloatArray) -> FloatArray:
    """A step per frame, shortened to lead at most ``most`` in ``length`` frames."""
    far = length * _size(step)
    return np.asarray(step * np.minimum(1.0, most / np.maximum(far, 1e-12)))


def _size(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=-1, keepdims=True))


# --- Repairs that are rougher than the clip

MORE, FREE = 1.1, 80.0
"""A repair may accelerate a joint this many times as much as the clip does near by or away from the
repair, and always by the second, m/s2."""
NEAR_S = 0.04
"""Captured accelerations at most this far away count as near by, seconds."""


def rougher_frames(
    captured: FloatArray, repaired: FloatArray, fps: float, changed: BoolArray
) -> BoolArray:
    """Frames in which a repair accelerates a joint more than the clip does. (F,).

    Joints of a limb that are repaired one by one may no longer move together. In a run of changed
    frames in which a joint was captured more abrupt than it is repaired, it does not count.

    Parameters
    ----------
    captured, repaired : (F, K, 3)
        Joints in the world before and after, metres.
    fps
        Of the clip.
    changed : (F,)
        Frames that may differ.
    """
    before, after = _accelerations(captured, fps), _accelerations(repaired, fps)
    own = np.max(before, axis=0, where=~changed[:, None], initial=FREE)
    near = max(1, round(NEAR_S * fps))
    worse = after > MORE * np.maximum(running_maximum(before, near), own)
    for first, last in runs_of(changed):
        run = slice(max(first - 1, 0), last + 2)
        worse[run] &= after[run].max(axis=0) > before[run].max(axis=0)
    return np.asarray(worse.any(axis=1))


def reject_if_rougher(
    captured: Motion, repaired: Motion, joints: IntArray, changed: BoolArray
) -> Motion:
    """The repaired clip, but as captured in runs of changed frames that became rougher.

    ``joints`` are those that may differ, ``changed`` (F,) the frames. See :func:`rougher_frames`.
    """
    before, after = (each.world_positions()[:, joints] for each in (captured, repaired))
    worse = rougher_frames(before, after, captured.fps, changed)
    root, quats = np.array(repaired.root_positions), np.array(repaired.local_quats)
    moving = repaired.joint_translations
    moving = None if moving is None else np.array(moving)
    for first, last in runs_of(changed):
        if not worse[max(first - 1, 0) : last + 2].any():
            continue
        run = slice(first, last + 1)
        root[run], quats[run] = captured.root_positions[run], captured.local_quats[run]
        if moving is not None and captured.joint_translations is not None:
            moving[run] = captured.joint_translations[run]
    return repaired.replace(
        root_positions=root, local_quats=quat.make_continuous(quats), joint_translations=moving
    )


def _accelerations(positions: FloatArray, fps: float) -> FloatArray:
    """Second differences of joints, m/s2. (F, K)."""
    bends = np.zeros(positions.shape[:2])
    second = np.diff(positions, 2, axis=0)
    bends[1:-1] = fps**2 * np.linalg.norm(second, axis=-1)
    return bends


# --- Flips: joints that turn over and back within a few tenths of a second, as gimbals do

FLIPPED_S = 0.4
"""A joint that flips and flips back within this time is interpolated over it, seconds."""
AGAIN_S = 0.25
"""Flips so close to one another are there and back, seconds."""
FLIP_CALM = np.radians(900.0)
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
FLIP_FPS = 50.0
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
    if fps < FLIP_FPS:
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
    while first > 0 and speeds[first - 1] > FLIP_CALM:
        first -= 1
    while last < n and speeds[last] > FLIP_CALM:
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
