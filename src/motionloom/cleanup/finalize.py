"""finalize(): feet of a result held where they are planted, and the result checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._filters import running_maximum
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import SIDES
from motionloom.cleanup.blend_off import spread_smoothly
from motionloom.cleanup.cleanup_report import Cleanup, CleanupReport
from motionloom.cleanup.footskate import clean_until_sound
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.series import series_of
from motionloom.features.checks.verification import Copied, Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

SINK = 0.01
"""Soles may sink so far below the lowest of the sources, metres, before the body is lifted."""
LIFT_S = 0.15
"""Seconds over which the body is lifted, and comes down again."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Finalized:
    """A result whose feet are held and which is checked."""

    motion: Motion
    footplants: Footplants
    cleanup: CleanupReport | None
    """What clean-up changed; None where feet are left as they are."""
    verification: Verification
    """Of the result, against its sources."""

    @property
    def feet(self) -> CleanupReport | None:
        """Old name of ``cleanup``."""
        return self.cleanup

    @property
    def notes(self) -> tuple[str, ...]:
        """The failed checks, in words."""
        return tuple(f"failed check: {each}" for each in self.verification.failed)


def finalize(
    motion: Motion,
    footplants: Footplants,
    check: QualityCheck,
    *,
    body: BodyMap,
    clean: bool = True,
    copied: Sequence[Copied] = (),
) -> Finalized:
    """The motion with its feet held, and what the quality check says about it.

    Contacts that cannot be held without failing the check are released; see
    :func:`~motionloom.cleanup.footskate.clean_until_sound`.

    Parameters
    ----------
    motion
        As it was blended.
    footplants
        Where its feet should stand.
    check
        Of the clips that it was made from.
    body
        Roles of its joints.
    clean
        If False, feet are left as they are; so they are on skeletons without whole legs.
    copied
        Frames that were taken over from a source; see :meth:`QualityCheck.verify`.
    """
    if not clean or legs_missing(body):
        verification = check.verify(motion, footplants=footplants, copied=copied, held=False)
        return Finalized(motion, footplants, None, verification)
    motion = above_floor(motion, check)

    def verified(cleanup: Cleanup) -> Verification:
        report_step("holding the feet")
        return check.verify(cleanup.motion, footplants=cleanup.footplants, copied=copied)

    cleanup, verification = clean_until_sound(motion, footplants, verified, body=body)
    return Finalized(cleanup.motion, cleanup.footplants, cleanup.report, verification)


def legs_missing(body: BodyMap) -> tuple[str, ...]:
    """Roles without which feet cannot be held, where the skeleton lacks them."""
    roles = (f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle"))
    return tuple(role for role in roles if getattr(body, role) is None)


def above_floor(motion: Motion, check: QualityCheck) -> Motion:
    """The motion lifted, smoothly, where a sole sinks below the lowest soles of the sources.

    Averages of bodies in different phases of a step can be lower than either; holding contacts
    does not lift feet that are in the air.
    """
    if not check.sources:
        return motion
    rig, limits = check.rig_for(motion), check.limits_for(motion)
    if not len(rig.legs):
        return motion
    soles = series_of(rig, motion).soles[..., 1]
    need = np.maximum(limits.sole - SINK - soles, 0.0).max(axis=1)  # (F,)
    if not need.any():
        return motion
    half = max(1, round(LIFT_S * motion.fps))
    lift = running_maximum(need, half)
    lift = spread_smoothly(lift, half)
    root = np.array(motion.root_positions)
    root[:, 1] += lift
    return motion.replace(root_positions=root)
