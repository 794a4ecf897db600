"""The quality check of a splice, and joints of the action smoothed where they fail it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.features.checks.compare import TURN_FREE
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification, with_failed
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import Provenance
from motionloom.rotation import quat
from motionloom.splicing.assembly import Assembly
from motionloom.splicing.body_parts import Part
from motionloom.splicing.smoothing import smooth_rotations

Verify = Callable[[Motion], Verification]
"""The check of one try of a splice."""
MARGIN = 0.95
"""What is made to stay below a limit stays so far below it."""
STEADIER_S = (1.2, 2.0, None)
"""Seconds over which a head follows the torso that turns too fast otherwise. None, the last resort,
leaves it on the torso."""
CALMING_S = (0.05, 0.1, 0.15)
"""Half widths of the smoothing that is tried where a splice fails its check, seconds."""


def without_twist(
    assembly: Assembly,
    frames: FloatArray,
    spliced: Motion,
    verification: Verification,
    verify: Verify,
) -> tuple[Motion, Verification]:
    """The splice without the action's own twist, if that fails fewer checks."""
    plain = replace(assembly, keep_twist=False).at(frames).motion
    again = verify(plain)
    if len(again.failed) < len(verification.failed):
        return plain, again
    return spliced, verification


def steadier_head(
    assembly: Assembly,
    frames: FloatArray,
    spliced: Motion,
    verification: Verification,
    verify: Verify,
) -> tuple[Motion, Verification]:
    """The splice with a head that follows the torso more slowly, if that fails fewer checks.

    An action that twists its torso quickly keeps its head still against it. On a torso that does
    not twist, the neck must do the opposite, and the head still follows some of it. The head of a
    performer with a stiff neck sways with the torso instead. Such an action played faster turns
    that head too fast, and it stays on the torso that carries it now.
    """
    for steady_s in STEADIER_S:
        steadier = assembly.at(frames, steady_s=steady_s).motion
        again = verify(steadier)
        if len(again.failed) < len(verification.failed):
            spliced, verification = steadier, again
        if not any(each.check == "head turn" for each in verification.failed):
            break
    return spliced, verification


def calm_splice(
    spliced: Motion,
    verification: Verification,
    parts: Sequence[Part],
    verify: Verify,
    notes: list[str],
) -> tuple[Motion, Verification]:
    """The splice with joints of the action smoothed where they fail the check, if that helps."""
    names = spliced.skeleton.names
    own = {names[joint] for part in parts for joint in part.joints}
    calmed: set[str] = set()
    for half_s in CALMING_S:
        quats = np.array(spliced.local_quats)
        failing = [each for each in verification.failed if each.joint in own]
        for each in failing:
            joint, near = names.index(each.joint), round(3.0 * half_s * spliced.fps)
            whole = each.check == "head turn"
            first = 0 if whole else max(0, each.frame - near)
            stop = spliced.n_frames if whole else min(spliced.n_frames, each.frame + near + 1)
            for at in (joint, *_carrier(spliced, joint, own)):
                smooth = smooth_rotations(quats[:, at], spliced.fps, half_width_s=half_s, degree=1)
                share = _bump(stop - first) if not whole else np.ones(stop - first)
                quats[first:stop, at] = quat.slerp(quats[first:stop, at], smooth[first:stop], share)
            calmed.add(each.joint)
        if not failing:
            break
        calmer = spliced.replace(local_quats=quat.make_continuous(quats))
        again = verify(calmer)
        if len(again.failed) < len(verification.failed):
            spliced, verification = calmer, again
        if verification.passed:
            notes.append(f"smoothed where too abrupt: {', '.join(sorted(calmed))}")
            break
    return spliced, verification


def _carrier(spliced: Motion, joint: int, own: set[str]) -> tuple[int, ...]:
    """The joint above, where it is the action's too: it carries what fails."""
    parent = int(spliced.skeleton.parents[joint])
    return (parent,) if parent >= 0 and spliced.skeleton.names[parent] in own else ()


def _bump(n: int) -> FloatArray:
    """0 at both ends of ``n`` frames, 1 in the middle half. (n,)."""
    return np.asarray(np.clip(2.0 - 4.0 * np.abs(np.linspace(-0.5, 0.5, n)), 0.0, 1.0))


class SpliceCheck:
    """The quality check of a splice against both clips, which are measured once.

    Only joints of the action are judged. The others are copies of the locomotion.

    Parameters
    ----------
    lower, upper
        The locomotion and the action, on one skeleton at one rate.
    body
        Which joint is which.
    parts
        What is taken from the action.
    steady_head
        Whether the head is judged too; it is not where it stays the locomotion's own.
    """

    def __init__(
        self,
        lower: Motion,
        upper: Motion,
        body: BodyMap,
        parts: Sequence[Part],
        *,
        steady_head: bool = True,
    ) -> None:
        names = lower.skeleton.names
        self._judged = {names[joint] for part in parts for joint in part.joints}
        plants = [_no_contacts(each) for each in (lower, upper)]
        self._lower, self._steady_head = lower, steady_head
        self._check = QualityCheck([lower, upper], footplants=plants, body=body, together=True)

    def fastest_turns(self) -> FloatArray:
        """Rotation speeds of joints that the check accepts with a margin, rad/s. (J,)."""
        fastest = np.full(self._lower.skeleton.n_joints, np.inf)
        judged = self._check.rig_for(self._lower).checked
        own = self._check.limits_for(self._lower).turn
        fastest[judged] = np.maximum(own, MARGIN * TURN_FREE)
        return fastest

    def verify(self, spliced: Motion, *, provenance: Provenance) -> Verification:
        """Whether the splice passes."""
        found = self._check.verify(
            spliced,
            footplants=_no_contacts(spliced),
            provenance=provenance,
            held=False,
            steady_head=self._steady_head,
        )
        return with_failed(found, (each for each in found.failed if each.joint in self._judged))


def _no_contacts(motion: Motion) -> Footplants:
    return Footplants(np.zeros((motion.n_frames, 4), dtype=bool))
