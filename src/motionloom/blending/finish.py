"""A result made ready: feet held where they are planted, and checked against its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from motionloom.cleanup.footskate import clean_footskate
from motionloom.cleanup.report import CleanupReport
from motionloom.features.verify import Copied, QualityCheck, Verification
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

__all__ = ["Finished", "finish"]

GENTLER_S = 0.35
"""Where the usual clean-up fails the check, feet leave their places over this long instead."""


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """A result ready to be written."""

    motion: Motion
    footplants: Footplants
    feet: CleanupReport | None
    """What clean-up did; None where the feet are as the blend has them."""
    verification: Verification
    """Of the result, against its sources."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The failed checks, in words."""
        return tuple(f"failed check: {each}" for each in self.verification.failed)


def finish(
    motion: Motion,
    footplants: Footplants,
    check: QualityCheck,
    *,
    body: BodyMap,
    clean: bool = True,
    copied: Sequence[Copied] = (),
) -> Finished:
    """The motion with its feet held, and what the quality check says about it.

    Where the motion with held feet fails the check, a gentler clean-up is tried. Where both fail,
    the one with fewer failed checks is returned.

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
        Whether the feet are held; off, they are left as they come out.
    copied
        Frames that were taken over from a source; see :meth:`QualityCheck.verify`.
    """
    if not clean:
        found = check.verify(motion, footplants=footplants, copied=copied, held=False)
        return Finished(motion, footplants, None, found)
    best: Finished | None = None
    for blend_s in (0.2, GENTLER_S):
        cleanup = clean_footskate(motion, footplants, body=body, blend_s=blend_s)
        found = check.verify(cleanup.motion, footplants=cleanup.footplants, copied=copied)
        made = Finished(cleanup.motion, cleanup.footplants, cleanup.report, found)
        if best is None or len(found.failed) < len(best.verification.failed):
            best = made
        if found.passed:
            break
    assert best is not None
    return best
