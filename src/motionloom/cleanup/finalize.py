"""finalize(): feet and hands of a result held where they should be, and the result checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._filters import running_maximum
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import SIDES
from motionloom.cleanup.blend_off import spread_smoothly
from motionloom.cleanup.cleanup_report import Cleanup, CleanupReport
from motionloom.cleanup.footskate import clean_until_sound
from motionloom.cleanup.hands import HandHold, Runs, body_shift, held_until_sound
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.series import series_of
from motionloom.features.checks.verification import Copied, Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

SINK = 0.01
"""Soles may sink so far below the lowest of the sources, metres, before the body is lifted."""
FOLLOWED = (0.5, 0.8)
"""Parts of what held wrists need that the body does, tried where arms alone fail the check."""
LIFT_S = 0.15
"""Seconds over which the body is lifted, and comes down again."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Finalized:
    """A result whose feet are held and which is checked.

    Attributes
    ----------
    motion : Motion
        The result.
    footplants : Footplants
        Contacts that are held.
    cleanup : CleanupReport or None
        What clean-up changed; None where feet are left as they are.
    verification : Verification
        Of the result, against its sources.
    hands : tuple of HandHold
        Hands that are held, and how far they were moved.
    """

    motion: Motion
    footplants: Footplants
    cleanup: CleanupReport | None
    verification: Verification
    hands: tuple[HandHold, ...] = field(default=(), kw_only=True)

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
    weights: FloatArray | None = None,
    hands: Mapping[str, Runs] | None = None,
) -> Finalized:
    """The motion with its feet and hands held, and what the quality check says about it.

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
    weights : (F, K)
        How much of each source is in each frame.
    hands
        By role, first and last frames in which a wrist is held.
    """
    verify = partial(check.verify, copied=copied, weights=weights)
    if not clean or legs_missing(body):
        verification = verify(motion, footplants=footplants, held=False)
        done = Finalized(motion, footplants, None, verification)
        return _with_hands(done, verify, body, hands if clean else None)
    lifted = above_floor(motion, check)

    def verified(cleanup: Cleanup) -> Verification:
        report_step("holding the feet")
        return verify(cleanup.motion, footplants=cleanup.footplants)

    def standing(shift: FloatArray | None) -> Finalized:
        cleanup, verification = clean_until_sound(
            lifted, footplants, verified, body=body, shift=shift
        )
        return Finalized(cleanup.motion, cleanup.footplants, cleanup.report, verification)

    done = standing(None)
    best = _with_hands(done, verify, body, hands)
    for part in FOLLOWED:
        if best is done or best.verification.passed:
            break
        shifted = standing(body_shift(done.motion, hands or {}, body, part))
        tried = _with_hands(shifted, verify, body, hands)
        if len(tried.verification.failed) < len(best.verification.failed):
            best = tried
    return best


def _with_hands(
    done: Finalized,
    verify: Callable[..., Verification],
    body: BodyMap,
    hands: Mapping[str, Runs] | None,
) -> Finalized:
    """The result with its hands held, which comes last: feet move the body."""
    if not hands or not any(hands.values()):
        return done
    motion, holds, verification = held_until_sound(
        done.motion,
        hands,
        body,
        lambda motion: verify(motion, footplants=done.footplants, held=done.cleanup is not None),
    )
    return Finalized(motion, done.footplants, done.cleanup, verification, hands=holds)


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
