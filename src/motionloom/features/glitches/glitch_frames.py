"""Capture glitches, found frame by frame: frames that no body could have made.

Swapped markers, gimbal flips and bad joins of takes leave a joint in one frame where it is neither
before nor after. Blends carry such frames on, and quality checks accept them, because the sources
have them too. Four finders: joints that leave their path (:func:`find_glitches`), steps that turn
far too fast (:func:`find_speed_spikes`), rotations that twitch (:func:`find_twitches`), and joints
that turn impossibly far (:func:`find_sudden_turns`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, of_kind
from motionloom._core import Record, kernel, maker
from motionloom.body.body_map import ROLES, BodyMap, roles_for
from motionloom.findings import Finding
from motionloom.motion.motion import Motion, check_rows
from motionloom.motion.skeleton import Skeleton

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
