"""finalize(): feet and hands of a result held where they should be, and the result checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, running_maximum
from motionloom._progress import report_step
from motionloom._records import record
from motionloom.body.anatomy import SIDES
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.cleanup_report import Cleanup, CleanupReport
from motionloom.cleanup.footskate import clean_until_sound
from motionloom.cleanup.hands import HandHold, Runs, body_shift, held_until_sound
from motionloom.cleanup.legs import Pose, spread_smoothly
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.source_limits import series_of
from motionloom.features.checks.verification import Verification
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance
from motionloom.rotation import quat

SINK = 0.01
"""Soles may sink so far below the lowest of the sources, metres, before the body is lifted."""
FOLLOWED = (0.5, 0.8)
"""Parts of what held wrists need that the body does, tried where arms alone fail the check."""
LIFT_S = 0.15
"""Seconds over which the body is lifted, and comes down again."""
CONTEXT_S = 1.1
"""Captured seconds on both sides of a window in which feet are held that are looked at, too: the
floor is where the body stands within a second."""


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
    def notes(self) -> tuple[str, ...]:
        """The failed checks, in words."""
        return tuple(f"failed check: {each}" for each in self.verification.failed)


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The frames of a result that may be changed; all others stay as they were captured.

    Attributes
    ----------
    captured : Motion
        The result as its clips have it, and what changed frames ease to.
    share : array
        How much of a change every frame takes: 1 where motion is made, less and less around it,
        0 where nothing may be changed. (F,)
    loose : array
        Frames that hardly say where a foot stands: it stands where the others have it. (F,)
    """

    captured: Motion
    share: FloatArray
    loose: BoolArray

    @property
    def changed(self) -> tuple[int, int]:
        """First and last frame that may be changed."""
        frames = np.flatnonzero(self.share > 0.0)
        return int(frames[0]), int(frames[-1])


def finalize(
    motion: Motion,
    footplants: Footplants,
    check: QualityCheck,
    *,
    body: BodyMap,
    clean: bool = True,
    provenance: Provenance | None = None,
    hands: Mapping[str, Runs] | None = None,
    window: Window | None = None,
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
    provenance
        Which sources, at which times, its frames come from; see :meth:`QualityCheck.verify`.
    hands
        By role, first and last frames in which a wrist is held.
    window
        The only frames that are changed and judged; all by default.
    """
    if window is not None:
        return _within(motion, footplants, check, body, clean, provenance, window)
    verify = partial(check.verify, provenance=provenance)
    if not clean or legs_missing(body):
        verification = verify(motion, footplants=footplants, held=False)
        done = Finalized(motion, footplants, None, verification)
        return _with_hands(done, verify, body, hands if clean else None)
    lifted = above_floor(motion, check)

    def verified(cleanup: Cleanup, _: Pose) -> Verification:
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


# --- Feet held in a window


def _within(
    motion: Motion,
    footplants: Footplants,
    check: QualityCheck,
    body: BodyMap,
    clean: bool,
    provenance: Provenance | None,
    window: Window,
) -> Finalized:
    """As :func:`finalize`, changing and judging a window only.

    The window is cut out with a little around it, its feet are held, and what that changes eases
    off towards the captured frames. Contacts around the window are left as they are.
    """
    first, last = window.changed
    around = round(CONTEXT_S * motion.fps)
    low, high = max(0, first - around), min(motion.n_frames, last + around + 1)
    share, captured = window.share[low:high], window.captured[low:high]
    span = first - low, last - low
    verify = partial(check.verify, span=span)
    if provenance is not None:
        here = dataclasses.replace(provenance[low:high], changed=share > 0.0)
        verify = partial(verify, provenance=here)
    part, labels = motion[low:high], np.array(footplants.planted[low:high])
    labels[share == 0.0] = False

    def whole(done: Motion, held: BoolArray) -> tuple[Motion, Footplants]:
        planted = np.array(footplants.planted)
        planted[first : last + 1] = held[span[0] : span[1] + 1]
        return put_into(window.captured, done, low), Footplants(planted)

    if not clean or legs_missing(body):
        eased = ease_to(captured, part, share)
        found = verify(eased, footplants=Footplants(labels), held=False)
        done, planted = whole(eased, labels)
        return Finalized(done, planted, None, _later(found, low))

    def verified(cleanup: Cleanup, _: Pose) -> Verification:
        report_step("holding the feet")
        eased = ease_to(captured, cleanup.motion, share)
        return verify(eased, footplants=cleanup.footplants)

    cleanup, found = clean_until_sound(
        above_floor(part, check),
        Footplants(labels),
        verified,
        body=body,
        loose=window.loose[low:high],
    )
    eased = ease_to(captured, cleanup.motion, share)
    done, planted = whole(eased, cleanup.footplants.planted)
    return Finalized(done, planted, cleanup.report.later(low), _later(found, low))


def ease_to(captured: Motion, changed: Motion, share: FloatArray) -> Motion:
    """``changed`` where ``share`` (F,) is 1, ``captured``, bit for bit, where it is 0."""
    if changed is captured:
        return captured
    part = (share > 0.0) & (share < 1.0)
    all_of = share >= 1.0
    much = share[part, None]

    def mixed(own: FloatArray, new: FloatArray) -> FloatArray:
        values = np.array(own)
        values[all_of] = new[all_of]
        weight = much.reshape(-1, *([1] * (values.ndim - 1)))
        values[part] = own[part] + weight * (new[part] - own[part])
        return values

    quats = np.array(captured.local_quats)
    quats[all_of] = changed.local_quats[all_of]
    quats[part] = quat.slerp(captured.local_quats[part], changed.local_quats[part], much)
    own, new = captured.joint_translations, changed.joint_translations
    if own is not None and new is not None:
        own = mixed(own, new)
    return captured.replace(
        root_positions=mixed(captured.root_positions, changed.root_positions),
        local_quats=quats,
        joint_translations=own,
    )


def put_into(captured: Motion, part: Motion, low: int) -> Motion:
    """The motion with frames from ``low`` on replaced by those of a part."""
    frames = slice(low, low + part.n_frames)
    root, quats = np.array(captured.root_positions), np.array(captured.local_quats)
    root[frames], quats[frames] = part.root_positions, part.local_quats
    moving = captured.joint_translations
    if moving is not None and part.joint_translations is not None:
        moving = np.array(moving)
        moving[frames] = part.joint_translations
    return captured.replace(root_positions=root, local_quats=quats, joint_translations=moving)


def same_frames(one: Motion, other: Motion) -> BoolArray:
    """Frames that are equal to the last bit, but for the signs of whole quaternions. (F,)."""
    turned = np.einsum("fjc,fjc->fj", one.local_quats, other.local_quats)[..., None] < 0.0
    same = (np.where(turned, -one.local_quats, one.local_quats) == other.local_quats).all((1, 2))
    same &= (one.root_positions == other.root_positions).all(axis=1)
    if one.joint_translations is not None and other.joint_translations is not None:
        same &= (one.joint_translations == other.joint_translations).all((1, 2))
    return np.asarray(same)


def _later(found: Verification, by: int) -> Verification:
    """The verification of a part, with frames counted in the whole motion."""
    return dataclasses.replace(
        found,
        failed=tuple(dataclasses.replace(each, frame=each.frame + by) for each in found.failed),
        glitches=tuple(each._replace(frame=each.frame + by) for each in found.glitches),
    )


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
