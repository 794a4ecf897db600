"""Joints that turn impossibly far from one frame to the next: marks of broken capture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
            f"{self.joint} turns {self.turn_deg:.0f} degrees ({100 * self.swing_m:.0f} cm at its "
            f"end) from frame {self.frame - 1} to {self.frame}"
        )


def find_jumps(motion: Motion) -> tuple[Jump, ...]:
    """Turns between neighbouring frames that neither people nor this joint make; worst first."""
    if motion.n_frames < 4:
        return ()
    quats = motion.local_quats
    # Half the turn's cosine; products of whole frames beat einsum by far on narrow rows.
    product = quats[1:] * quats[:-1]
    cosine = np.abs(product[..., 0] + product[..., 1] + product[..., 2] + product[..., 3])
    limit = np.radians(max(LEAST_DEG, SPEED_DEG_S / motion.fps))
    frames, joints = np.nonzero(cosine < np.cos(0.5 * min(limit, np.pi)))
    if not frames.size:
        return ()
    reach = _reach(motion.skeleton)
    found = []
    usual: dict[int, float] = {}
    for f, j in zip(frames.tolist(), joints.tolist(), strict=True):
        if j not in usual:
            usual[j] = 2.0 * float(np.arccos(np.quantile(cosine[:, j], 0.05)))
        turn = 2.0 * float(np.arccos(min(cosine[f, j], 1.0)))
        if turn > OVER_USUAL * usual[j]:
            swing = 2.0 * np.sin(0.5 * turn) * reach[j]
            found.append(Jump(f + 1, motion.skeleton.names[j], np.degrees(turn), float(swing)))
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


def _reach(skeleton: Skeleton) -> FloatArray:
    """Farthest that a point hanging on each joint can be from it, metres. Shape (J,)."""
    reach = np.zeros(skeleton.n_joints)
    np.maximum.at(reach, skeleton.end_parents, np.linalg.norm(skeleton.end_offsets, axis=1))
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    for j in range(skeleton.n_joints - 1, 0, -1):
        parent = skeleton.parents[j]
        reach[parent] = max(reach[parent], lengths[j] + reach[j])
    return reach
