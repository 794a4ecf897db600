"""verify(): the gate that everything we write passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from motionloom._arrays import FloatArray, of_kind
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.jumps import Jump, find_jumps
from motionloom.findings import Finding
from motionloom.motion.body import BodyMap
from motionloom.motion.kinematics import forward_kinematics_numpy
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Gate", "Verification", "verify"]

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
    jumps: tuple[Jump, ...] = ()
    """Frames in which a joint is where it cannot be. They are not held against a motion: a clip
    that was captured so has them too."""

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
    return Gate(sources).verify(motion)


class Gate:
    """The gate of all that is made of the same sources, which are measured once.

    Parameters
    ----------
    sources
        The clips that results are held against; on one skeleton.
    """

    def __init__(self, sources: Sequence[Motion] = ()) -> None:
        if not isinstance(sources, list | tuple):
            raise ArrayError(f"`sources` must be a list of motions, got {type(sources).__name__}.")
        for k, source in enumerate(sources):
            of_kind(source, Motion, f"sources[{k}]")
        self._sources = tuple(sources)
        self._limits: dict[int, FloatArray] = {}

    def verify(self, motion: Motion) -> Verification:
        """Whether a motion is sound, and no faster than the sources."""
        positions = motion.world_positions()
        held = self._held(motion, positions, _unsound(motion, positions))
        return replace(held, jumps=find_jumps(motion))

    def verify_speeds(self, motion: Motion) -> Verification:
        """Whether a motion is no faster than the sources; that it is sound is taken for granted.

        For what goes on into a further step, whose result is verified whole.
        """
        return self._held(motion, motion.world_positions(), [])

    def _held(self, motion: Motion, positions: FloatArray, findings: list[Finding]) -> Verification:
        ratios = [float("nan")] * 3
        if self._sources:
            for source in self._sources:
                if not source.skeleton.same_joints(motion.skeleton):
                    raise SkeletonMismatchError(
                        f"`sources` must share the motion's skeleton; {source!r} does not. "
                        "Use ml.retarget first."
                    )
            pelvis = BodyMap.guess(motion.skeleton).pelvis or 0
            ours = _fastest(motion, positions, pelvis)
            ratios = [float(a / b) for a, b in zip(ours, self._limit(pelvis), strict=True)]
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
        step, turn, speed = ratios
        return Verification(not findings, tuple(findings), step, turn, speed)

    def _limit(self, pelvis: int) -> FloatArray:
        """The sources' largest speeds."""
        if pelvis not in self._limits:
            theirs = [_fastest(each, each.world_positions(), pelvis) for each in self._sources]
            self._limits[pelvis] = np.max([*theirs, STILL], axis=0)
        return self._limits[pelvis]


def _unsound(motion: Motion, positions: FloatArray) -> list[Finding]:
    """What is broken in a motion, whatever it was made of."""
    findings: list[Finding] = []
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
    return findings


def _fastest(motion: Motion, positions: FloatArray, pelvis: int) -> FloatArray:
    """Largest joint speed m/s, joint turn rad/s, ground speed of the pelvis m/s."""
    if motion.n_frames < 2:
        return np.zeros(3)
    step = np.linalg.norm(np.diff(positions, axis=0), axis=-1).max()
    turn = quat.angle_between(motion.local_quats[1:], motion.local_quats[:-1]).max()
    way = np.diff(positions[:, pelvis][:, [0, 2]], axis=0)
    travel = np.linalg.norm(way, axis=-1).max()
    return np.array([step, turn, travel]) * motion.fps
