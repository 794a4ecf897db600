"""Checks outside the kernel: new glitches, a restless head, broken data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.check_rig import CheckRig
from motionloom.features.checks.compare import CHECKS
from motionloom.features.checks.failed_check import FailedCheck, failed_checks
from motionloom.features.checks.series import Series
from motionloom.features.checks.source_limits import HEAD, Limits
from motionloom.features.glitches.glitch_frames import Glitch
from motionloom.features.smoothness import Turns
from motionloom.findings import Finding
from motionloom.motion.motion import Motion

HEAD_MORE = 1.3
"""The 95th percentile of the head's rotation speed may exceed the larger source's by this."""
HEAD_FREE = np.radians(40.0)
"""A head that turns slower than this is steady, rad/s."""


def new_glitches(
    glitches: Sequence[Glitch], skipped: BoolArray, first: int, last: int
) -> list[FailedCheck]:
    """Glitches of the motion that no source passed on; one per joint."""
    failed: dict[str, FailedCheck] = {}
    for frame, joint in glitches:
        if first <= frame <= last and not skipped[frame]:
            failed.setdefault(joint, FailedCheck("capture glitch", joint, frame, 1.0, 0.0, ""))
    return list(failed.values())


def restless_head(
    rig: CheckRig, motion: Motion, series: Series, limits: Limits, skipped: BoolArray
) -> list[FailedCheck]:
    """The head's rotation speed, 95th percentile, against the larger source's."""
    good = ~skipped
    if rig.head < 0 or motion.n_frames < 8 or not good.any():
        return []
    value = float(np.quantile(series.head[good], 0.95))
    limit = max(HEAD_MORE * float(limits.body[HEAD]), HEAD_FREE)
    if value <= limit:
        return []
    row = np.array([[CHECKS.index("head turn"), -1, int(np.argmax(series.head)), value, limit]])
    return failed_checks(rig, motion.skeleton.names, row)


def _unsound(turns: Turns, positions: FloatArray) -> list[Finding]:
    """What is broken in a motion's data, whatever it was made of."""
    findings: list[Finding] = []
    if not np.isfinite(positions.sum()):
        findings.append(Finding("error", "pose", "Joint positions are not finite."))
    if turns.error > 1e-6:
        text = f"Not of unit length, off by {turns.error:.2g}."
        findings.append(Finding("error", "rotations", text))
    if turns.flips:
        findings.append(Finding("error", "rotations", "Signs flip between frames."))
    return findings
