"""Joints that turn impossibly far from one frame to the next: marks of broken capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray
from motionloom.findings import Finding
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

__all__ = ["Jump", "find_jumps", "jump_findings"]

LEADING_FRAMES = 8
"""Captures that start badly are wrong in at most so many frames."""
SPEED_DEG_S = 2000.0
"""Faster than any joint of a person turns, but for a hand or foot that hits something."""
LEAST_DEG = 20.0
OVER_USUAL = 6.0
"""A jump is also this many times what the joint does in its liveliest twentieth of frames."""
SEEN_M = 0.05
"""A joint that swings its far end by less (a thumb, a toe) earns a note, not a warning."""


@dataclass(frozen=True, slots=True)
class Jump:
    """One joint that turned too far in one frame."""

    frame: int
    """First frame after the jump."""
    joint: str
    turn_deg: float
    swing_m: float
    """How far the outermost point that hangs on the joint can have moved, metres."""

    def __str__(self) -> str:
        return (
            f"{self.joint} turns {self.turn_deg:.0f} degrees (up to {100 * self.swing_m:.0f} cm "
            f"at its end) from frame {self.frame - 1} to {self.frame}"
        )


def find_jumps(motion: Motion) -> tuple[Jump, ...]:
    """Turns between neighbouring frames that neither people nor this joint make; worst first."""
    if motion.n_frames < 4:
        return ()
    cosine = _half_turn_cosines(motion.local_quats)  # (F - 1, J)
    limit = np.radians(max(LEAST_DEG, SPEED_DEG_S / motion.fps))
    frames, joints = np.nonzero(cosine < np.cos(0.5 * min(limit, np.pi)))
    if not frames.size:
        return ()
    turns = 2.0 * np.arccos(cosine[frames, joints])
    usual = np.zeros(motion.skeleton.n_joints)
    some = cosine[:: 1 + len(cosine) // 1000]
    for j in np.unique(joints):
        usual[j] = 2.0 * np.arccos(_lower_twentieth(some[:, j]))
    real = turns > OVER_USUAL * usual[joints]
    frames, joints, turns = frames[real], joints[real], turns[real]
    swings = 2.0 * np.sin(0.5 * turns) * _reach(motion.skeleton)[joints]
    found = [
        Jump(int(f) + 1, motion.skeleton.names[j], float(np.degrees(turn)), float(swing))
        for f, j, turn, swing in zip(frames, joints, turns, swings, strict=True)
    ]
    return tuple(sorted(found, key=lambda jump: (-jump.swing_m, jump.frame)))


def jump_findings(jumps: tuple[Jump, ...]) -> list[Finding]:
    """What to say about jumps: leading ones that show are warnings, the rest one note."""
    leading = [jump for jump in jumps if jump.frame <= LEADING_FRAMES]
    findings = []
    if leading:
        last = max(jump.frame for jump in leading)
        more = f", and {len(leading) - 1} more such turns" if len(leading) > 1 else ""
        findings.append(
            Finding(
                "warning" if leading[0].swing_m >= SEEN_M else "note",
                f"frame {leading[0].frame}",
                f"the clip starts badly: {leading[0]}{more} in the first {LEADING_FRAMES} frames.",
                f"Cut them off with motion[{last}:].",
            )
        )
    later = [jump for jump in jumps if jump.frame > LEADING_FRAMES]
    if later:
        findings.append(
            Finding(
                "note",
                f"frame {later[0].frame}",
                f"{later[0]}, the worst of {len(later)} such jumps in the clip.",
                "`motionloom check` lists them.",
            )
        )
    return findings


def _lower_twentieth(values: FloatArray) -> float:
    """The value that a twentieth lies below; numpy's quantile costs ten times as much."""
    k = len(values) // 20
    return float(np.partition(values, k)[k])


@njit(cache=True, error_model="numpy")
def _fill_cosines(quats: FloatArray, out: FloatArray) -> None:
    for f in range(out.shape[0]):
        for j in range(out.shape[1]):
            dot = 0.0
            for c in range(4):
                dot += quats[f, j, c] * quats[f + 1, j, c]
            out[f, j] = min(abs(dot), 1.0)


def _half_turn_cosines(quats: FloatArray) -> FloatArray:
    """Cosine of half the turn of every joint from each frame to the next. Shape (F - 1, J)."""
    out = np.zeros((len(quats) - 1, quats.shape[1]))
    _fill_cosines(quats, out)
    return out


def half_turn_cosines_numpy(quats: FloatArray) -> FloatArray:
    """The plain form of the kernel that :func:`find_jumps` uses."""
    return np.asarray(np.minimum(np.abs(np.sum(quats[1:] * quats[:-1], axis=-1)), 1.0))


def _reach(skeleton: Skeleton) -> FloatArray:
    """Farthest that a point hanging on each joint can be from it, metres. Shape (J,)."""
    reach = np.zeros(skeleton.n_joints)
    np.maximum.at(reach, skeleton.end_parents, np.linalg.norm(skeleton.end_offsets, axis=1))
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    for j in range(skeleton.n_joints - 1, 0, -1):
        parent = skeleton.parents[j]
        reach[parent] = max(reach[parent], lengths[j] + reach[j])
    return reach
