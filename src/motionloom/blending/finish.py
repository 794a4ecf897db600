"""A result made ready: feet held where they are planted, and checked against its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from motionloom.cleanup.footskate import clean_until_sound
from motionloom.cleanup.report import Cleanup, CleanupReport
from motionloom.features.verify import Copied, QualityCheck, Verification
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

__all__ = ["Finished", "finish"]


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
        Whether the feet are held; off, they are left as they come out.
    copied
        Frames that were taken over from a source; see :meth:`QualityCheck.verify`.
    """
    if not clean:
        found = check.verify(motion, footplants=footplants, copied=copied, held=False)
        return Finished(motion, footplants, None, found)

    def verified(cleanup: Cleanup) -> Verification:
        return check.verify(cleanup.motion, footplants=cleanup.footplants, copied=copied)

    cleanup, found = clean_until_sound(motion, footplants, verified, body=body)
    return Finished(cleanup.motion, cleanup.footplants, cleanup.report, found)
