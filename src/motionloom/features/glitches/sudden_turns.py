"""Joints that turn impossibly far from one frame to the next: marks of broken capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.findings import Finding
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

_find = kernel("ml_jump_find")

LEADING_FRAMES = 8
"""Captures that start badly are wrong in at most so many frames."""
SPEED_DEG_S = 2000.0
"""Faster than any joint of a person turns, but for a hand or foot that hits something."""
LEAST_DEG = 20.0
OVER_USUAL = 6.0
"""A turn is also this many times what the joint does in its liveliest twentieth of frames."""
MOST = 1000
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
    worst = np.lexsort((frames, -swings))[:MOST]
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
    if len(frames) > MOST:
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
    turns = _turns(quats[frames, joints], quats[frames + 1, joints])
    some = np.arange(0, motion.n_frames - 1, 1 + motion.n_frames // 300)[:, None]
    odd, which = np.unique(joints, return_inverse=True)
    usual = _upper_twentieth(_turns(quats[some, odd], quats[some + 1, odd]))
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


def _turns(before: FloatArray, after: FloatArray) -> FloatArray:
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
    n = _find(*quats.shape[:2], quats, cosine, len(pairs), pairs)
    if n > len(pairs):
        pairs = np.zeros((n, 2), dtype=np.int64)
        _find(*quats.shape[:2], quats, cosine, len(pairs), pairs)
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
