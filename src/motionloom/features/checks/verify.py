"""verify(): whether an animator would accept a motion, each joint judged against itself."""

from __future__ import annotations

from collections.abc import Sequence

from motionloom._arrays import flag, of_kind
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification
from motionloom.motion.contacts import Footplants, contacts_for
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import Provenance


def verify(
    motion: Motion,
    *,
    sources: Sequence[Motion] = (),
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    held: bool = True,
    provenance: Provenance | None = None,
) -> Verification:
    """Check a motion: every joint is compared with the same joint in the sources.

    Parameters
    ----------
    motion
        The motion to check.
    sources
        The clips it was made from, on its skeleton and in its root layout. Without them the
        check covers only the data itself and motion that no body makes: knees bent backwards,
        glitches.
    footplants
        Contacts of the motion; detected by default.
    body
        Roles of the joints; guessed by default.
    held
        Pass False for motion whose feet are not held yet (a raw blend): soles, contacts and drags
        are not checked.
    provenance
        Which of the sources, at which times, its frames come from, as results give it:
        ``result.provenance``. Copied frames are then not judged, and all others are compared with
        the sources at these times: feet that carry the body, speed and direction of travel, soles.

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
    if provenance is not None:
        of_kind(provenance, Provenance, "provenance")
    body = None if body is None else roles_for(motion.skeleton, body)
    if footplants is not None:
        contacts_for(footplants, motion.n_frames)
    return QualityCheck(sources, body=body).verify(
        motion, footplants=footplants, held=held, provenance=provenance
    )
