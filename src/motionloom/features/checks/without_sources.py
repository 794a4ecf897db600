"""The check of a changed motion where only the motion as it was given is known, no sources.

Compared with the given motion alone, a result would pass with all faults that this came with.
"""

from __future__ import annotations

from dataclasses import replace

from motionloom.body.body_map import BodyMap
from motionloom.features.checks.verification import Verification
from motionloom.features.checks.verify import verify
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion


def checked_alone_too(compared: Verification, alone: Verification) -> Verification:
    """A comparison with the given motion, and the check of the result alone, as one verdict.

    A failure that both report is listed once, the worse of the two.
    """
    failed = {
        (each.check, each.joint, each.frame): each
        for each in sorted((*compared.failed, *alone.failed), key=lambda each: each.ratio)
    }
    order = [(each.check, each.joint, each.frame) for each in (*compared.failed, *alone.failed)]
    return replace(
        compared,
        passed=compared.passed and alone.passed,
        failed=tuple(failed[key] for key in dict.fromkeys(order)),
    )


def mended_notes(
    given: Motion, footplants: Footplants, body: BodyMap, verification: Verification
) -> list[str]:
    """Failed checks of the given motion that the result passes, by the verdict on the result."""
    still = {(each.check, each.joint) for each in verification.failed}
    return [
        f"the given motion fails a check that the result passes: {each}"
        for each in verify(given, footplants=footplants, body=body).failed
        if (each.check, each.joint) not in still
    ]
