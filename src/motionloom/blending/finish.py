"""A result made ready: feet held where they are planted, and held against its sources."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom.cleanup.footskate import clean_footskate
from motionloom.cleanup.report import CleanupReport
from motionloom.features.verify import Gate, Verification
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

__all__ = ["Finished", "finish"]

SPEEDS = ("joint step", "joint turn", "root speed")
"""What the gate holds against the sources; its other findings mean a broken motion."""


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """A result ready to be written."""

    motion: Motion
    footplants: Footplants
    feet: CleanupReport | None
    """What clean-up did; None where it was left out."""
    gate: Verification
    """Of the result, against its sources."""
    before: Verification
    """Speeds before clean-up, against the same."""

    @property
    def acceptable(self) -> bool:
        """Whether it may be written: sound, and within its sources but for what clean-up adds.

        Holding a foot takes a little speed of the body; that is told, and no reason to refuse.
        """
        sound = all(finding.where in SPEEDS for finding in self.gate.findings)
        return self.gate.passed or (self.before.passed and sound)


def finish(
    motion: Motion, footplants: Footplants, gate: Gate, *, body: BodyMap, clean: bool = True
) -> Finished:
    """The motion with its feet held, and what the gate says about it.

    Parameters
    ----------
    motion
        As it was blended.
    footplants
        Where its feet should stand.
    gate
        Of the clips that it was made of.
    body
        Roles of its joints.
    clean
        Whether the feet are held; off, they are left as they come out.
    """
    if not clean:
        found = gate.verify(motion)
        return Finished(motion, footplants, None, found, found)
    before = gate.verify_speeds(motion)
    cleanup = clean_footskate(motion, footplants, body=body)
    after = gate.verify(cleanup.motion)
    return Finished(cleanup.motion, cleanup.footplants, cleanup.report, after, before)
