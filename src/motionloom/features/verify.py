"""verify(): the gate that everything we write passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, of_kind
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.findings import Finding
from motionloom.motion.body import BodyMap
from motionloom.motion.kinematics import forward_kinematics_numpy
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Verification", "verify"]

STEP_ALLOWANCE = 1.05
"""A blend may step this much further per frame than its sources do, and no more."""


STILL = np.array([0.2, 0.2, 0.2])
"""Speeds (m/s, rad/s, m/s) below which a source stands: nothing is held against less."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the gate found."""

    passed: bool
    findings: tuple[Finding, ...]
    step_ratio: float
    """Largest joint step per frame against the largest in the sources; nan without sources."""
    turn_ratio: float
    """Largest joint turn per frame against the largest in the sources; nan without sources."""
    root_speed_ratio: float
    """Largest ground speed of the pelvis against the sources' largest; nan without sources."""

    def __bool__(self) -> bool:
        return self.passed


def verify(motion: Motion, *, sources: Sequence[Motion] = ()) -> Verification:
    """Whether a motion is sound: finite, unit, continuous, no faster than its sources.

    Parameters
    ----------
    motion
        What is about to be written.
    sources
        The clips it was made from; steps and speeds are held against theirs.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> bool(verify(walk, sources=[walk]))
    True
    """
    of_kind(motion, Motion, "motion")
    if not isinstance(sources, list | tuple):
        raise ArrayError(f"`sources` must be a list of motions, got {type(sources).__name__}.")
    for k, source in enumerate(sources):
        of_kind(source, Motion, f"sources[{k}]")
    findings: list[Finding] = []
    positions = motion.world_positions()
    plain, _ = forward_kinematics_numpy(
        motion.skeleton,
        motion.root_positions,
        motion.local_quats,
        joint_translations=motion.joint_translations,
    )
    off = float(np.abs(positions - plain).max())
    if not np.isfinite(positions).all() or off > 1e-9:
        findings.append(
            Finding("error", "pose", f"Joint positions differ from the pose by {off:.2g} m.")
        )
    unit = float(np.abs(np.linalg.norm(motion.local_quats, axis=-1) - 1.0).max())
    if unit > 1e-6:
        findings.append(Finding("error", "rotations", f"Not of unit length, off by {unit:.2g}."))
    if quat.check_rows(motion.local_quats)[1]:
        findings.append(Finding("error", "rotations", "Signs flip between frames."))
    ratios = [float("nan")] * 3
    if sources:
        body = BodyMap.guess(motion.skeleton)
        ours = _fastest(motion, positions, body)
        theirs = np.zeros(3)
        for source in sources:
            if not source.skeleton.same_joints(motion.skeleton):
                raise SkeletonMismatchError(
                    f"`sources` must share the motion's skeleton; {source!r} does not. "
                    "Use ml.retarget first."
                )
            theirs = np.maximum(theirs, _fastest(source, source.world_positions(), body))
        ratios = [float(a / b) for a, b in zip(ours, np.maximum(theirs, STILL), strict=True)]
        for what, ratio in zip(("joint step", "joint turn", "root speed"), ratios, strict=True):
            if ratio > STEP_ALLOWANCE:
                findings.append(
                    Finding(
                        "error",
                        what,
                        f"The largest is {ratio:.2f} times the largest in the sources.",
                        "Choose another place, a longer blend, or look at the sources' own spikes.",
                    )
                )
    return Verification(not findings, tuple(findings), *ratios)


def _fastest(motion: Motion, positions: FloatArray, body: BodyMap) -> FloatArray:
    """Largest joint speed m/s, joint turn rad/s, ground speed of the pelvis m/s."""
    if motion.n_frames < 2:
        return np.zeros(3)
    step = np.linalg.norm(np.diff(positions, axis=0), axis=-1).max()
    turn = quat.angle_between(motion.local_quats[1:], motion.local_quats[:-1]).max()
    pelvis = positions[:, 0 if body.pelvis is None else body.pelvis]
    travel = np.linalg.norm(np.diff(pelvis[:, [0, 2]], axis=0), axis=-1).max()
    return np.array([step, turn, travel]) * motion.fps
