"""Root bones that lie still while the pelvis travels: reported, moved where motion is made."""

from __future__ import annotations

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.findings import Finding
from motionloom.motion.motion import Motion

STILL_M, TRAVELS_M = 0.01, 0.2
"""A root that strays less than the first over the ground lies still; a pelvis that strays more
than the second travels."""


def root_bone_findings(motion: Motion, body: BodyMap) -> list[Finding]:
    """A note where the travel of a clip is on the pelvis and its root bone lies still.

    Parameters
    ----------
    motion
        The clip, Y up.
    body
        Roles of its joints.
    """
    moving = motion.joint_translations
    if not body.pelvis or moving is None:
        return []
    chain = list(motion.skeleton.chain(body.pelvis)[1:])
    still = np.ptp(motion.root_positions[:, [0, 2]], axis=0).max() < STILL_M
    way = float(np.ptp(moving[:, chain].sum(axis=1), axis=0).max())
    if not still or way < TRAVELS_M:
        return []
    root, pelvis = motion.skeleton.names[0], motion.skeleton.names[body.pelvis]
    return [
        Finding(
            "note",
            root,
            f"the root bone lies still and {pelvis} travels {way:.1f} m in it.",
            "Functions that make motion move travel and heading to the root bone.",
        )
    ]
