"""The quality check of a splice, and joints of the action smoothed where they fail it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.features.verify import Copied, QualityCheck, Verification
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.splicing.parts import Part
from motionloom.splicing.smoothing import smooth_rotations

__all__ = ["calm_splice", "verify_splice"]

CALMING_S = (0.05, 0.1, 0.15)
"""Half widths of the smoothing that is tried where a splice fails its check, seconds."""


def calm_splice(
    made: Motion,
    verification: Verification,
    parts: Sequence[Part],
    lower: Motion,
    upper: Motion,
    body: BodyMap,
    notes: list[str],
) -> tuple[Motion, Verification]:
    """The splice with joints of the action smoothed where they fail the check, if that helps."""
    names = made.skeleton.names
    own = {names[joint] for part in parts for joint in part.joints}
    calmed: set[str] = set()
    for half_s in CALMING_S:
        quats = np.array(made.local_quats)
        failing = [each for each in verification.failed if each.joint in own]
        for each in failing:
            joint, near = names.index(each.joint), round(3.0 * half_s * made.fps)
            whole = each.check == "head turn"
            first = 0 if whole else max(0, each.frame - near)
            stop = made.n_frames if whole else min(made.n_frames, each.frame + near + 1)
            for at in (joint, *_carrier(made, joint, own)):
                smooth = smooth_rotations(quats[:, at], made.fps, half_width_s=half_s, degree=1)
                share = _bump(stop - first) if not whole else np.ones(stop - first)
                quats[first:stop, at] = quat.slerp(quats[first:stop, at], smooth[first:stop], share)
            calmed.add(each.joint)
        if not failing:
            break
        calmer = made.replace(local_quats=quat.make_continuous(quats))
        again = verify_splice(calmer, lower, upper, body)
        if len(again.failed) < len(verification.failed):
            made, verification = calmer, again
        if verification.passed:
            notes.append(f"smoothed where too abrupt: {', '.join(sorted(calmed))}")
            break
    return made, verification


def _carrier(made: Motion, joint: int, own: set[str]) -> tuple[int, ...]:
    """The joint above, where it is the action's too: it carries what fails."""
    parent = int(made.skeleton.parents[joint])
    return (parent,) if parent >= 0 and made.skeleton.names[parent] in own else ()


def _bump(n: int) -> FloatArray:
    """0 at both ends of ``n`` frames, 1 in the middle half. (n,)."""
    return np.asarray(np.clip(2.0 - 4.0 * np.abs(np.linspace(-0.5, 0.5, n)), 0.0, 1.0))


def verify_splice(made: Motion, lower: Motion, upper: Motion, body: BodyMap) -> Verification:
    """The check against both clips. Feet are the locomotion's own and are not judged."""
    sources = [lower, upper]
    plants = [Footplants(np.zeros((each.n_frames, 4), dtype=bool)) for each in (*sources, made)]
    check = QualityCheck(sources, footplants=plants[:2], body=body, together=True)
    return check.verify(
        made,
        footplants=plants[2],
        copied=[Copied(0, made.n_frames, 0, 0)],
        held=False,
        steady_head=True,
    )
