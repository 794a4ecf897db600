"""verify(): whether an animator would accept a motion, each joint judged against itself."""

from __future__ import annotations

from collections.abc import Sequence

from motionloom._arrays import flag, of_kind
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification
from motionloom.motion.contacts import Footplants, contacts_for
from motionloom.motion.motion import Motion


def verify(
    motion: Motion,
    *,
    sources: Sequence[Motion] = (),
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    held: bool = True,
) -> Verification:
    """Whether a motion is sound and moves as its sources do, every joint judged against itself.

    Parameters
    ----------
    motion
        What is about to be written.
    sources
        The clips it was made from, on its skeleton and in its root layout. Without them only the
        data itself is checked, and what no body does: knees bent backwards, glitches.
    footplants
        Contacts of the motion; detected by default.
    body
        Roles of the joints; guessed by default.
    held
        Off for motion whose feet are still to be held (a raw blend): soles, contacts and drags
        are not judged.

    Returns
    -------
    Verification
        ``passed``, and ``failed`` with check, joint, frame, value and limit of each failure.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> bool(verify(walk, sources=[walk]))
    True
    """
    of_kind(motion, Motion, "motion")
    held = flag(held, "held")
    body = None if body is None else roles_for(motion.skeleton, body)
    if footplants is not None:
        contacts_for(footplants, motion.n_frames)
    return QualityCheck(sources, body=body).verify(motion, footplants=footplants, held=held)
